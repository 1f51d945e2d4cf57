"""`Wawa`: votes weigh how often their workers agree with the majority."""

from dataclasses import dataclass
from typing import Any

from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import MajorityVote
from crowdwise.compat.crowdkit.aggregation.classification.skilled_vote import SelfSkilledVote


@dataclass(eq=False)
class Wawa(SelfSkilledVote):
    """Worker agreement with aggregate: the skill of a worker is the share of its answers that majority vote gives."""

    def fit(self, data: Any) -> "Wawa":
        """Learn the skills."""
        self.skills_ = MajorityVote().fit(data).skills_
        return self
