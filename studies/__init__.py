"""What was measured, and how to measure it again: `make study NAME=...`, or `python -m studies` for the list."""
