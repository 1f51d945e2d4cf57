"""iBCC: every worker has a confusion matrix with a prior, fitted by Bayesian inference."""

from .method import IBCC

__all__ = ["IBCC"]
