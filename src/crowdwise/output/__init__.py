"""Writing tables and pages to files, all or none."""
