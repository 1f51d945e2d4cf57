"""Dawid-Skene: every worker has a confusion matrix, fitted by expectation-maximisation."""

from .method import DawidSkene, row_frequencies

__all__ = ["DawidSkene", "row_frequencies"]
