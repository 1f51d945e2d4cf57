"""What to ask next, and when to stop: which items need a label or an expert, and what a target takes."""
