"""The command line: one file per command, and what commands share."""

from .app import main

__all__ = ["main"]
