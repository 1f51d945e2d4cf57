"""Reading labels from files and tables, keeping them as arrays, and writing results."""
