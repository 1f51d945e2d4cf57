"""Workers who agree more often than one common truth explains."""
