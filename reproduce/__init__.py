"""The paper's tables and figures, and the methods published since, by one command: `python -m reproduce`."""
