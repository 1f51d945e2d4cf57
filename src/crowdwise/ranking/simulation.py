"""`simulate_comparisons`: votes of a panel of judges with known parameters, by the model that `rank` fits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..numerics import Array
from .model import probabilities


@dataclass(frozen=True)
class Panel:
    """What a simulated panel is like.

    Attributes:
        objects: The number of objects.
        judges: The number of judges.
        prompts: The number of prompts.
        pairs: How many pairs of objects are compared on each prompt.
        votes: How many judges vote on each of them.
        item_sd: How much the order of objects differs from prompt to prompt.
        judge_sd: How much it differs from judge to judge.
        one_sided: How many judges nearly always take the first.
        adversarial: How many judges prefer what the others do not.
        spammers: How many judges guess.
        copies: How many judges say what the first judge says.
        ties: Whether there are ties.
    """

    objects: int = 10
    judges: int = 20
    prompts: int = 100
    pairs: int = 5
    votes: int = 4
    item_sd: float = 0.0
    judge_sd: float = 0.0
    one_sided: int = 0
    adversarial: int = 0
    spammers: int = 0
    copies: int = 0
    ties: bool = True

    def parameters(self, seed: int) -> dict[str, Array]:
        """Return theta, d, b, c, and how much every judge likes every object besides."""
        rng = np.random.default_rng(seed)
        theta = rng.normal(0, 1, self.objects)
        d = np.abs(rng.normal(1, 0.3, self.judges))
        b, c = rng.normal(0, 0.4, self.judges), rng.normal(-0.5, 0.7, self.judges)
        odd = np.cumsum([self.one_sided, self.adversarial, self.spammers])
        d[: odd[0]], b[: odd[0]] = 0.2, 3.0
        d[odd[0] : odd[1]] *= -1
        d[odd[1] : odd[2]] = 0.0
        taste = rng.normal(0, self.judge_sd, (self.judges, self.objects))
        c = c if self.ties else np.full(self.judges, -np.inf)
        return {"theta": theta - theta.mean(), "d": d, "b": b, "c": c, "taste": taste}


def simulate_comparisons(panel: Panel, parameters: dict[str, Array], seed: int) -> pl.DataFrame:
    """Return votes with the columns prompt, judge, left, right and winner; objects are o00, o01, ..."""
    rng = np.random.default_rng(seed)
    asked = panel.prompts * panel.pairs
    first = rng.integers(panel.objects, size=asked)
    second = (first + rng.integers(1, panel.objects, size=asked)) % panel.objects
    prompt = np.repeat(np.arange(panel.prompts), panel.pairs)
    order = rng.random((asked, panel.judges)).argpartition(min(panel.votes, panel.judges) - 1, axis=1)
    judge = order[:, : panel.votes].ravel()
    votes = len(judge) // asked
    first, second, prompt, item = (np.repeat(one, votes) for one in (first, second, prompt, np.arange(asked)))
    swapped = rng.random(len(first)) < 0.5
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    on_prompt = parameters["theta"] + rng.normal(0, panel.item_sd, (panel.prompts, panel.objects))
    speaker = np.where(judge < panel.copies, 0, judge)  # copies say what the first judge says
    theta, taste = on_prompt[prompt], parameters["taste"][speaker]
    rows = np.arange(len(first))
    x = (theta + taste)[rows, first] - (theta + taste)[rows, second]
    p1, p2, _ = probabilities(parameters["d"][speaker] * x + parameters["b"][speaker], parameters["c"][speaker])
    # One draw for a judge on an item, so that copies say the same whichever order they see.
    draw = rng.random((asked, panel.judges))[item, speaker]
    lower_first = first < second
    low, high = np.where(lower_first, p1, p2), np.where(lower_first, p2, p1)
    said = np.where(draw < low, "low", np.where(draw > 1 - high, "high", "tie"))
    winner = np.where(said == "tie", "tie", np.where((said == "low") == lower_first, "left", "right"))
    names = np.array([f"o{number:02}" for number in range(panel.objects)])
    columns: dict[str, Any] = {"prompt": prompt, "judge": [f"j{one:02}" for one in judge]}
    return pl.DataFrame({**columns, "left": names[first], "right": names[second], "winner": winner})
