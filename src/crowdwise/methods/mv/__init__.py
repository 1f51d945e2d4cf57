"""Majority vote: every worker has one vote, and the class with the most votes wins."""

from .method import MajorityVote as MajorityVote
