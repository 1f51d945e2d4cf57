"""Labels that do not fit in memory: parts in a folder."""
