"""The adjudicator: workers with structured confusion, items that pull, and the truth as an adjudicator's answer."""

from .method import Adjudicator
from .readings import AS_THEY_ARE, has_readings, plausible_readings

__all__ = ["AS_THEY_ARE", "Adjudicator", "has_readings", "plausible_readings"]
