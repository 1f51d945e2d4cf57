"""The adjudicator: workers with structured confusion, items that pull, and the truth as an adjudicator's answer."""

from .about_followers import in_words
from .copies import FEWEST_WORKERS, can_follow
from .copying import Suspects
from .followers import look_for_followers
from .method import Adjudicator
from .readings import AS_THEY_ARE, has_readings, plausible_readings

__all__ = [
    "AS_THEY_ARE",
    "FEWEST_WORKERS",
    "Adjudicator",
    "Suspects",
    "can_follow",
    "has_readings",
    "in_words",
    "look_for_followers",
    "plausible_readings",
]
