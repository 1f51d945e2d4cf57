"""Labels that are too large for memory, kept in parts on disk."""
