"""The adjudicator: workers with structured confusion, items that pull, and the truth as an adjudicator's answer."""

from .method import Adjudicator
from .readings import has_readings, plausible_readings

__all__ = ["Adjudicator", "has_readings", "plausible_readings"]
