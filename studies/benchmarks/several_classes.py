"""`python -m studies.benchmarks.several_classes`: models of several classes at once (docs/how-to/several-classes.md).

The first table is how well answers that were left out are predicted, which chose the model and needs no truth. The
second is how close the sets are to the true ones, which are known of simulated crowds, and of headlines by experts.
"""

import os
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.methods.adjudicator.several_classes_model import Effects, Model, Votes
from crowdwise.numerics import Array
from crowdwise.numerics.elementary import sigmoid

_EMOTIONS: Final = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
# The simulated crowds: items, workers, answers of an item, classes, how common they are, and how far the logits of
# workers are apart, for all classes and for each.
_SIMULATED: Final = {
    "simulated": (200, 20, 5, 6, 0.2, 1.0, 0.3),
    "no part for a class": (200, 20, 5, 6, 0.2, 1.0, 0.0),
    "large parts": (200, 20, 5, 6, 0.2, 0.5, 1.2),
    "rare classes": (300, 30, 5, 20, 0.05, 1.0, 0.3),
    "three answers": (300, 60, 3, 6, 0.2, 1.0, 0.3),
    "dense": (100, 10, 10, 6, 0.3, 1.0, 0.5),
}
# How many times answers are left out, and which share of them; and how many crowds of a kind are simulated.
_TIMES, _LEFT_OUT, _SEEDS = 3, 0.2, 5
# Models that are run for 30 iterations; probabilities are cut off at this.
_ITERATIONS, _LEAST = 30, 1e-6


class Tagged(NamedTuple):
    """A crowd: `answers` with item, worker and labels, a list; and the true sets by item."""

    answers: pl.DataFrame
    truth: dict[int, list[str]]


def main() -> None:
    """Print both tables in Markdown."""
    crowds = {f"emotions rated {least} or more": [_emotions(least)] for least in (10, 30, 50)}
    crowds |= {name: [simulated(seed, *of) for seed in range(_SEEDS)] for name, of in _SIMULATED.items()}
    print("| crowd | this model | no part for a class | IBCC for each class | LFC for each class |\n|:-|-:|-:|-:|-:|")
    for name, some in crowds.items():
        losses = np.mean([_losses(one.answers, seed) for one in some[:_TIMES] for seed in range(_TIMES)], axis=0)
        print(f"| {name} | {' | '.join(f'{loss:.3f}' for loss in losses)} |", flush=True)
    print("\n| crowd | sets by | micro F1 | macro F1 | Jaccard | exact | log loss |\n|:-|:-|-:|-:|-:|-:|-:|")
    for name, some in crowds.items():
        for way, method in (("this model", None), ("majority for each class", "mv"), ("IBCC for each class", "ibcc")):
            found = np.mean([_closeness(one, method) for one in some], axis=0)
            print(f"| {name} | {way} | {' | '.join(f'{value:.3f}' for value in found)} |", flush=True)
        found = np.mean([_closeness(one, "adjudicator") for one in some], axis=0)
        print(f"| {name} | adjudicator for each class | {' | '.join(f'{v:.3f}' for v in found)} |", flush=True)


def _emotions(least: float) -> Tagged:
    """The emotions of headlines that workers, and experts, rated at least so high."""
    folder = Path(os.environ["CROWDWISE_DATA"]) / "numeric"

    def sets(file: str, value: str, by: list[str]) -> pl.DataFrame:
        tables = [
            pl.read_csv(folder / f"snow_{name}" / file).with_columns(pl.lit(name).alias("class")) for name in _EMOTIONS
        ]
        named = pl.col("class").filter(pl.col(value) >= least)
        return pl.concat(tables).sort("class").group_by(by, maintain_order=True).agg(named.alias("labels"))

    truth = sets("truth.csv", "truth", ["item"])
    return Tagged(sets("label.csv", "label", ["item", "worker"]), dict(truth.iter_rows()))


def simulated(
    seed: int, items: int, workers: int, per_item: int, classes: int, common: float, ability: float, part: float
) -> Tagged:
    """Simulate workers with an ability for all classes and a part for each."""
    random = np.random.default_rng(seed)
    holds = random.random((items, classes)) < common
    logits = [
        centre + ability * random.normal(size=(workers, 1)) + part * random.normal(size=(workers, classes))
        for centre in (1.3, -2.5)
    ]
    rows = []
    for item in range(items):
        for worker in random.choice(workers, per_item, replace=False):
            named = random.random(classes) < sigmoid(np.where(holds[item], logits[0][worker], logits[1][worker]))
            rows.append((item, f"w{worker}", _names(named)))
    schema: Any = {"item": pl.Int64, "worker": pl.String, "labels": pl.List(pl.String)}
    answers = pl.DataFrame(rows, schema=schema, orient="row")
    return Tagged(answers, {item: _names(holds[item]) for item in range(items)})


def _names(chosen: Array) -> list[str]:
    return [f"c{code:02}" for code in np.flatnonzero(chosen)]


def _losses(answers: pl.DataFrame, seed: int) -> list[float]:
    """Return how improbable each model calls an answer that was left out: -log p, the mean of the answers."""
    out = np.random.default_rng(seed).random(answers.height) < _LEFT_OUT
    kept, left = answers.filter(pl.Series(~out)), answers.filter(pl.Series(out))
    left = left.join(kept.select("item").unique(), on="item").join(kept.select("worker").unique(), on="worker")
    classes = kept["labels"].explode().drop_nulls().unique().sort().to_list()
    said = np.array([[name in named for name in classes] for named in left["labels"].to_list()])
    items, workers = left["item"].to_list(), left["worker"].to_list()
    predicted = [_by_model(kept, classes, items, workers, kind) for kind in (Model, _WithoutParts)]
    predicted += [_by_class(kept, classes, items, workers, method) for method in ("ibcc", "lfc")]
    of_said = (np.where(said, p, 1 - p) for p in predicted)
    return [float(-np.log(np.clip(p, _LEAST, 1)).sum(axis=1).mean()) for p in of_said]


class _WithoutParts(Model):
    """The same model where workers are as good in each class."""

    def _newton(self, effects: Effects, *counted: Array) -> Effects:
        found = super()._newton(effects, *counted)
        return found._replace(of_cell=np.zeros_like(found.of_cell))


def _by_model(kept: pl.DataFrame, classes: list[str], items: list[Any], workers: list[Any], kind: type[Model]) -> Array:
    """(answers, classes), the probability that this worker names the class for this item."""
    labels = cw.read_labels(kept, multi="each", classes=classes, warn=False).numbered
    sets = labels.sets
    assert sets is not None
    model = kind(Votes.of(labels, sets))
    steps = model.iterate()
    for _ in range(_ITERATIONS):
        next(steps)
    code = {name: at for at, name in enumerate(sets.classes.to_list())}
    item_of, worker_of = (
        {name: at for at, name in enumerate(names.to_list())} for names in (sets.items, labels.names.workers)
    )
    named_by_none = model.log_odds_unnamed()[:, np.searchsorted(model.votes.sizes, sets.answers_per_item)].T
    holds = sigmoid(named_by_none)  # (items, classes)
    holds[sets.item_of, sets.class_of] = sigmoid(model.log_odds())
    rates = []
    for effects in model.effects:
        logits = effects.of_class + effects.of_worker[:, None]
        logits[model.cell_worker, model.cell_class] += effects.of_cell
        rates.append(sigmoid(logits))
    rows, columns = [item_of[one] for one in items], [code[name] for name in classes]
    by = [worker_of[one] for one in workers]
    p = holds[rows] * rates[0][by] + (1 - holds[rows]) * rates[1][by]
    return np.asarray(p[:, columns])


def _by_class(kept: pl.DataFrame, classes: list[str], items: list[Any], workers: list[Any], method: str) -> Array:
    """The same by a fit for each class, to yes and no."""
    found = []
    for name in classes:
        result: Any = cw.aggregate(_of_class(kept, name), method=method, warn=False)
        item_of, worker_of = (
            {one: at for at, one in enumerate(names.to_list())} for names in (result.names.items, result.names.workers)
        )
        scores = result.scores[[item_of[one] for one in items]]
        rates = result.workers.confusion[[worker_of[one] for one in workers], :, 1]
        found.append((scores * rates).sum(axis=1))
    return np.stack(found, axis=1)


def _of_class(answers: pl.DataFrame, name: str) -> cw.Labels:
    """Return the answers to the question whether a class holds."""
    said = pl.when(pl.col("labels").list.contains(name)).then(pl.lit("yes")).otherwise(pl.lit("no"))
    table = answers.select("item", "worker", said.alias("label"))
    labels: cw.Labels = cw.read_labels(table, classes=["no", "yes"], warn=False)
    return labels


def _closeness(crowd: Tagged, method: str | None) -> list[float]:
    """Return micro F1, macro F1, Jaccard, the share of exact sets, and the log loss of the pairs of item and class."""
    items = crowd.answers["item"].unique(maintain_order=True).to_list()
    classes = sorted({name for named in [*crowd.truth.values(), *crowd.answers["labels"].to_list()] for name in named})
    truth = np.array([[name in crowd.truth[item] for name in classes] for item in items])
    p = np.zeros(truth.shape)
    if method is None:
        result: Any = cw.aggregate(crowd.answers, multi="each", warn=False)
        place = {item: at for at, item in enumerate(items)}
        for item, name, one in result.pairs().select("item", "class", "probability").iter_rows():
            p[place[item], classes.index(name)] = one
    else:
        for at, name in enumerate(classes):
            found: Any = cw.aggregate(_of_class(crowd.answers, name), method=method, warn=False)
            p[:, at] = found.probabilities[:, 1]
    chosen = p > 0.5
    both, either = chosen & truth, chosen | truth
    f1 = [2 * both[:, k].sum() / max(chosen[:, k].sum() + truth[:, k].sum(), 1) for k in range(len(classes))]
    jaccard = np.where(either.any(axis=1), both.sum(axis=1) / np.maximum(either.sum(axis=1), 1), 1.0)
    of_truth = np.clip(np.where(truth, p, 1 - p), 1e-3, 1)
    return [
        float(2 * both.sum() / (chosen.sum() + truth.sum())),
        float(np.mean(f1)),
        float(jaccard.mean()),
        float((chosen == truth).all(axis=1).mean()),
        float(-np.log(of_truth).mean()),
    ]


if __name__ == "__main__":
    main()
