"""Runs the methods on the crowds, and keeps the scores of the items whose truth is known."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import crowdwise as cw
from crowdwise.analysis.evaluation import hits, match
from crowdwise.crowd.read_options import Duplicates
from crowdwise.fitting.method import Method
from crowdwise.numerics import Array
from crowdwise.results.calibration import constant
from crowdwise.results.result import Scale

from .contestants import duplicates
from .crowds import family


@dataclass(frozen=True, eq=False)
class Measured:
    """What a method says of the items of a crowd whose truth is known.

    Attributes:
        crowd: The name of the crowd.
        scale: What the scores mean; see `Result.scale`.
        scores: (items, classes), the scores of the result.
        votes: (items), the number of votes.
        answers: (items), the code of the inferred label.
        truths: (items), the code of the true class; -1 if nobody ever named it.
        hits: (items), 1 if the label is right and 0 if it is not; of m tied classes, each counts 1/m.
        density: How many labels an item of the crowd has; n in results/calibration.py.
        parts: Three arrays (items, classes), what a pool is made of; None for methods without one.
    """

    crowd: str
    scale: Scale
    scores: Array
    votes: Array
    answers: Array
    truths: Array
    hits: Array
    density: float
    parts: tuple[Array, Array, Array] | None = None

    @property
    def family(self) -> str:
        """The family of the crowd."""
        return family(self.crowd)


def measure(
    methods: Mapping[str, Method],
    crowds: Mapping[str, Path],
    work: Path,
    begin: Callable[[str], None],
    *,
    fresh: bool = False,
) -> dict[str, list[Measured]]:
    """Run every method on every crowd, and return what each says, by the name of its constant.

    What was measured before by the same method with the same parameters is read from the folder `work`.

    Args:
        methods: The methods, by the name of the constant.
        crowds: The folders of the crowds, by name.
        work: Where the scores are kept.
        begin: Called with a few words before anything is run.
        fresh: Whether to run everything again.
    """
    found: dict[str, list[Measured]] = {name: [] for name in methods}
    for crowd, folder in crowds.items():
        for name, method in methods.items():
            path = work / name / f"{crowd}.npz"
            if fresh or not _is_of(path, method):
                begin(f"{name} on {crowd}")
                path.parent.mkdir(parents=True, exist_ok=True)
                np.savez(path, method=repr(method), **_run(method, folder))
            found[name] += _read(path, crowd)
    return found


def _is_of(path: Path, method: Method) -> bool:
    """Return whether a file is what this method, with these parameters, was measured to say."""
    if not path.exists():
        return False
    with np.load(path) as kept:
        return str(kept["method"]) == repr(method) and ("scores" not in kept or "density" in kept)


def _run(method: Method, folder: Path) -> dict[str, Any]:
    """Return the arrays of `Measured`; none if the method refuses the crowd."""
    labels = _labels(folder, duplicates(method))
    try:
        result = method.fit(labels, warn=False)
    except cw.DataError:
        return {}
    known = match(result, folder / "truth.csv")
    at = known.items
    return {
        "scale": result.scale,
        "scores": result.scores[at],
        "votes": result.votes[at],
        "answers": result.answers[at],
        "truths": known.truths,
        "hits": hits(result, known),
        "density": result.density,
        **_parts(method, labels, result, at),
    }


def _parts(method: Any, labels: cw.Labels, result: Any, at: Array) -> dict[str, Any]:
    """Return what the pool of the adjudicator is made of, for some items; nothing for other methods."""
    if constant(method.calibrated_as).form != "pool":
        return {}
    workers = result.workers
    parts = workers.read_out(labels)[0], method.votes(labels, workers), method.rescore(labels, workers)
    return {"density": workers.density, "parts": np.stack([part[at] for part in parts])}


def _read(path: Path, crowd: str) -> Iterator[Measured]:
    with np.load(path) as kept:
        if "scores" in kept:
            arrays = {name: kept[name] for name in ("scores", "votes", "answers", "truths", "hits")}
            arrays |= {"parts": tuple(kept["parts"]) if "parts" in kept else None, "density": float(kept["density"])}
            yield Measured(crowd, str(kept["scale"]), **arrays)  # type: ignore[arg-type]  # it was a Scale


@lru_cache(maxsize=3)
def _labels(folder: Path, policy: Duplicates) -> cw.Labels:
    """Read the labels of a crowd; the last three are kept, because all methods use them in turn."""
    return cw.read_labels(folder / "label.csv", duplicates=policy)
