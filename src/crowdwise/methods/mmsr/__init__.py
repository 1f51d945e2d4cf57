"""M-MSR: the skills of workers from how often any two of them agree, robust against conspiracies."""

from .method import MMSR

__all__ = ["MMSR"]
