"""KOS: items and workers send each other messages about what their other labels say; for two classes."""

from .method import KOS

__all__ = ["KOS"]
