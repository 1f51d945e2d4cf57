"""Belief propagation: for two classes; items and workers tell each other what they believe, each without the other."""

from .method import BeliefPropagation

__all__ = ["BeliefPropagation"]
