"""What workers said: from files and tables into three arrays, and results back out."""
