"""Dawid-Skene: every worker has a confusion matrix, fitted by expectation-maximisation."""

from .method import DawidSkene as DawidSkene
from .method import row_frequencies as row_frequencies
