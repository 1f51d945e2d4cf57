"""Bayesian Weighted Average."""

from .method import BWA

__all__ = ["BWA"]
