"""Community-based Bayesian classifier combination."""

from .method import CBCC

__all__ = ["CBCC"]
