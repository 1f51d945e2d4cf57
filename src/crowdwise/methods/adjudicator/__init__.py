"""The adjudicator: workers with structured confusion, items that pull, and the truth as an adjudicator's answer."""

from .copies import Copies, count_blocks_once
from .method import Adjudicator
from .readings import Reading, other_readings

__all__ = ["Adjudicator", "Copies", "Reading", "count_blocks_once", "other_readings"]
