"""Labels that are numbers."""
