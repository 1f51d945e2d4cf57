"""What was found: the answer to every item, how good every worker is, and why."""
