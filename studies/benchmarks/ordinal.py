"""`python -m studies.benchmarks.ordinal`: ordered classes on seven real crowds (docs/how-to/ordered-classes.md).

The first table is how far labels are from the truth, which is used to measure alone. The second is how well labels that
were left out are predicted, with the centre of the adjudicator as it is and with a banded one, and needs no truth.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

import crowdwise as cw
from crowdwise.analysis.ordinal_errors import Errors, errors
from crowdwise.crowd.ids import codes_of
from crowdwise.methods.adjudicator import few_classes
from crowdwise.numerics import Array
from crowdwise.reading.read_truth import read_truth

CROWDS: Final = (
    *(
        "extra/age",
        "extra/valence5",
        "extra/valence7",
        "extra/factcheck6",
        "extra/metaphor",
        "paper/web",
        "paper/adult",
    ),
)
# How many times labels are left out, and which share of them.
_TIMES, _LEFT_OUT = 5, 0.15


def main() -> None:
    """Print both tables in Markdown."""
    folder = Path(os.environ["CROWDWISE_DATA"])
    print("| crowd | labels of | alpha: nominal, ordinal, interval | accuracy | MAE | RMSE | quadratic kappa |")
    print("|:-|:-|-:|-:|-:|-:|-:|")
    totals: dict[str, list[tuple[float, ...]]] = {}
    for name in CROWDS:
        for kind, found in _print_errors(name, folder / name).items():
            totals.setdefault(kind, []).append(astuple(found))
    for kind, values in totals.items():
        print(f"| mean | {kind} | | | {_cells(Errors(*np.mean(values, axis=0)))} |")
    print("\n| crowd | as it is | banded, 1 | banded, 10 | banded, 100 |\n|:-|-:|-:|-:|-:|")
    for name in CROWDS:
        labels = cw.read_labels(folder / name / "label.csv", duplicates="last")
        losses = [_left_out_losses(labels)]
        for precision in (1.0, 10.0, 100.0):
            with _banded(precision):
                losses.append(_left_out_losses(labels))
        cells = [f"{losses[0].mean():.4f}", *(_difference(one - losses[0]) for one in losses[1:])]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _print_errors(name: str, folder: Path) -> dict[str, Errors]:
    """Print how far labels of several kinds are from the truth of a crowd, and return it by kind."""
    every: dict[str, Errors] = {}
    labels = cw.read_labels(folder / "label.csv", duplicates="last")
    levels: Any = ("nominal", "ordinal", "interval")
    alphas = ", ".join(f"{cw.alpha(labels, level).value:.2f}" for level in levels)
    for key in ("mv", "ds", "adjudicator"):
        result = cw.METHODS[key]().fit(labels)
        share = f"{100 * cw.accuracy(result, folder / 'truth.csv'):.1f}"
        absolute = cw.ordinal_errors(result, folder / "truth.csv")
        squared = cw.ordinal_errors(result, folder / "truth.csv", distance="squared")
        kinds = {"most probable": absolute.most_probable, "absolute": absolute.decided, "squared": squared.decided}
        for kind, found in kinds.items():
            right = share if kind == "most probable" else ""
            print(f"| {name} | {key}, {kind} | {alphas} | {right} | {_cells(found)} |")
            every[f"{key}, {kind}"] = found
    for kind, middle in (
        ("median of labels", np.median),
        ("mean of labels, rounded", lambda said: np.rint(np.mean(said))),
    ):
        found = _errors_of_middles(labels, folder, middle)
        print(f"| {name} | {kind} | {alphas} | | {_cells(found)} |", flush=True)
        every[kind] = found
    return every


def _cells(found: Errors) -> str:
    return f"{found.mae:.3f} | {found.rmse:.3f} | {found.quadratic_kappa:.3f}"


def _errors_of_middles(labels: cw.Labels, folder: Path, middle: Any) -> Errors:
    """Return how far the median or mean of the labels of every item is from its truth."""
    values = labels.names.classes.cast(float).to_numpy()[labels.labels]
    ends = zip(labels.item_starts[:-1], labels.item_starts[1:], strict=True)
    said = np.array([middle(values[first:last]) for first, last in ends])
    truth = read_truth(folder / "truth.csv")
    items = codes_of(truth["item"], labels.names.items)
    return errors(said[items[items >= 0]], truth["truth"].cast(float).to_numpy()[items >= 0])


class _Band:
    """In the place of a multiple of the unit matrix: the means of the centre's logits at each distance of classes."""

    def __init__(self, centre: Array) -> None:
        places = np.arange(len(centre))
        apart = np.abs(places[:, None] - places)
        self._matrix: Array = (np.bincount(apart.ravel(), centre.ravel()) / np.bincount(apart.ravel()))[apart]

    def __mul__(self, _: Array) -> Array:
        return self._matrix


@contextmanager
def _banded(precision: float) -> Iterator[None]:
    """Draw the centre of the adjudicator to a band that is learned, with this precision; it is 1 otherwise."""
    with patch.object(few_classes, "spread", _Band), patch.object(few_classes, "CENTRE_PRECISION", precision):
        yield


def _left_out_losses(labels: cw.Labels) -> Array:
    """Return the mean negative log probability of labels that were left out, each time."""
    return np.array([_loss(labels, _left_out(labels, seed)) for seed in range(_TIMES)])


def _left_out(labels: cw.Labels, seed: int) -> Array:
    """Return which labels are left out: some, but never the last one of an item."""
    left, out, items = np.diff(labels.item_starts), np.zeros(labels.n_labels, bool), labels.item_of
    for e in np.random.default_rng(seed).permutation(labels.n_labels):
        if out.sum() >= _LEFT_OUT * labels.n_labels:
            break
        out[e] = left[items[e]] > 1
        left[items[e]] -= out[e]
    return out


def _loss(labels: cw.Labels, out: Array) -> float:
    """Return the mean negative log probability of the labels that are left out, by what the others say."""
    names, items = labels.names, labels.item_of
    columns = names.items.gather(items[~out]), names.workers.gather(labels.workers[~out])
    rest = cw.Labels.from_arrays(*columns, names.classes.gather(labels.labels[~out])).with_classes(names.classes)
    result = cw.Adjudicator().fit(rest)
    item_at = {name: at for at, name in enumerate(result.names.items.to_list())}
    worker_at = {name: at for at, name in enumerate(result.names.workers.to_list())}
    total = 0.0
    for e in np.flatnonzero(out):
        at = item_at[names.items[int(items[e])]]
        one = rest.slice(at, at + 1)
        found = result.workers.types(one)
        logs = found.log_prior + found.log_said[:, np.arange(one.n_labels), one.labels].sum(axis=1)
        chances = np.exp(logs - logs.max())
        worker = worker_at.get(names.workers[int(labels.workers[e])])
        logits = result.workers.centre if worker is None else result.workers.logits[worker]
        said = result.workers.item_types.log_said(logits)[:, labels.labels[e]]
        total -= np.log(chances @ np.exp(said) / chances.sum())
    return total / int(out.sum())


def _difference(losses: Array) -> str:
    """Return the mean of differences with its standard error."""
    return f"{losses.mean():+.4f} ± {losses.std(ddof=1) / np.sqrt(len(losses)):.4f}"


if __name__ == "__main__":
    main()
