"""Abilities of workers and difficulties of items."""

from .method import GLAD

__all__ = ["GLAD"]
