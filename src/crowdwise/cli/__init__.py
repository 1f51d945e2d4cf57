"""The command line: one file for each command, and the code that commands share."""

from .app import main

__all__ = ["main"]
