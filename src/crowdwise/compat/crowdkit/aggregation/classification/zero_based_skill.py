"""`ZeroBasedSkill`: skills that move step by step to how often workers agree with the votes weighted by them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdwise.compat.crowdkit.aggregation.classification.majority_vote import agreement, weighted_shares, winners
from crowdwise.compat.crowdkit.aggregation.classification.skilled_vote import SelfSkilledVote
from crowdwise.compat.crowdkit.encoded_answers import Answers


@dataclass(eq=False)
class ZeroBasedSkill(SelfSkilledVote):
    """Skills that move in steps to the share of a worker's answers that win, when votes weigh these skills.

    Args:
        n_iter: How many steps; there are always so many.
        lr_init: How far the first steps go: 1 is all the way.
        lr_steps_to_reduce: After so many steps they get shorter.
        lr_reduce_factor: By this factor.
        eps: How much more than guessing all skills are at the start.
    """

    n_iter: int = 100
    lr_init: float = 1.0
    lr_steps_to_reduce: int = 20
    lr_reduce_factor: float = 0.5
    eps: float = 1e-5

    def fit(self, data: Any) -> "ZeroBasedSkill":
        """Learn the skills."""
        answers = Answers.of(data)
        skill = np.full(len(answers.workers), 1 / max(len(answers.classes), 1) + self.eps)
        rate = self.lr_init
        for step in range(1, self.n_iter + 1):
            if step % self.lr_steps_to_reduce == 0:
                rate *= self.lr_reduce_factor
            best = winners(weighted_shares(answers.labels, skill))
            skill = skill + rate * (agreement(answers, best) - skill)
        self.skills_ = answers.per_worker(skill, "skill", None if self.n_iter else answers.first_workers)
        return self
