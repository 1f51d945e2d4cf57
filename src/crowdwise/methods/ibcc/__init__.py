"""Independent Bayesian classifier combination."""

from .method import IBCC

__all__ = ["IBCC"]
