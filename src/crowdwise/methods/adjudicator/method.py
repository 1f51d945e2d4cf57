"""The adjudicator: workers with structured confusion, items that pull, and the truth as an adjudicator's answer.

model.py has the formulas, and docs/explanation/adjudicator.md says why. Workers make the same errors on the same items,
because the items pull them. What is true is not the class that explains the votes best: it is what a competent member
of the crowd would answer to the item, who also feels its pull. So twenty equal votes are worth no more than the
reliability of this adjudicator. How sure the answer is follows from it, the votes and the latent class; see
results/calibration.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final, Literal, TypeAlias

import numpy as np

from ...caution import Caution
from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.votes import powers_of_shares, raised, shares, soft_if, votes_by_class
from ...errors import DataError, require_room
from ...families import MATRIX_CLASSES
from ...families.dependence.blocks import suspicious_pairs
from ...families.dependence.pairs import PairCounts, count_pairs, is_quick_to_compare
from ...fitting.engines.base import Engine, open_engine
from ...fitting.iterations import Progress
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter
from ...fitting.sweeping import Finished, Statistics, SweepingMethod
from ...numerics import Array
from ...results.any_method import Outlook
from ...results.calibration import pool_weights, pooled, votes_alone
from ...results.contributions import Contributions
from ...results.ending import Ending
from ...results.gold import clamped_scores
from ...results.in_parts import Inferred
from ...results.quality import count_right_by
from ...results.recalibration import tempered
from . import few_classes, many_classes, model
from .about_followers import caution_about
from .copies import Copies, can_follow, count_blocks_once, count_exact_copies_once, count_samples
from .copying import Suspects
from .explaining import explain
from .few_classes import FewClasses, PullCounts
from .followers import leave_out_followers
from .joint_counts import still_following, with_agreements
from .many_classes import NamedCounts
from .model import pad, unpad
from .readings import (
    Reading,
    Start,
    best_reading,
    has_readings,
    is_doubtful,
    other_readings,
    plausible_readings,
    read_votes,
)
from .structure import ITEMS, MOVED, SQUARED_LABELS, TAUGHT, StructuredWorkers, count_votes

# So many votes on an item are taken for unlimited labels.
_WITHOUT_END: Final = 1e9
# What is counted of pulls, whose last axis is pairs of classes.
_OF_PULLS: Final = frozenset({"exposure", "pulled"})
# What a sweep counts; it depends on the number of classes.
Counts: TypeAlias = PullCounts | NamedCounts
# What a sweep is given: workers, or where the iterations begin; None for the shares of the votes.
Given: TypeAlias = StructuredWorkers | Start | None


@dataclass(frozen=True)
class Adjudicator(SweepingMethod[StructuredWorkers, Counts]):
    """Workers with structured confusion, items that pull, and the truth as an adjudicator's answer. The default.

    Use it if nothing speaks for another method: on real crowds it is as accurate as the best, and its probabilities are
    far closer to how often it is right. It runs in memory, on disk and in Spark.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(Adjudicator().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "adjudicator"
    summary: ClassVar[str] = (
        "Adjudicator: structured worker confusion, items that pull towards a class, and the truth as the answer of a "
        "competent adjudicator."
    )
    paper: ClassVar[Reference] = Reference("", "The adjudicator", "crowdwise 2026", "docs/explanation/adjudicator.md")

    least_iterations: ClassVar[int] = 5
    has_difficulties: ClassVar[bool] = True
    difficulty_is: ClassVar[str] = "the probability that the item pulls workers to one wrong class"
    work_per_label: ClassVar[int] = 8
    renamed: ClassVar[Mapping[str, str]] = {
        "temperature": "temperature was the inverse of what is called so elsewhere, and is gone: use power, which is 1 "
        "by default, and below 1 makes answers less sure."
    }

    read_out: Literal["answer", "latent"] = parameter(
        "answer",
        "What the scores are: the answer of a competent adjudicator, pooled with the votes and the latent class "
        "(docs/studies/confidence.md); or the latent class alone, which explains the votes.",
    )
    power: float = parameter(
        1.0,
        "What the logarithms of the probabilities are multiplied by before they are normalised: below 1, answers are "
        "less sure.",
        above=0,
        at_most=10,
    )
    copies: Literal["evidence", "separate", "once"] = parameter(
        "evidence",
        "How workers count who agree more often than a common truth explains: those who follow others are left out if "
        "the labels clearly say so, among 4 to 30 workers in up to 16 classes (evidence); each for itself, except for "
        "exact copies (separate); or all of a block as one (once).",
    )
    tolerance: float = parameter(
        1e-3,
        "Stop when the probabilities of the latent classes move by no more than this, in the mean of the items.",
        at_least=0,
        tiny=True,
    )
    max_iterations: int = most_iterations(30)

    @property
    def calibrated_as(self) -> str:
        """The answers of an adjudicator and the latent classes are sure in different ways.

        With another power than the default, they are as sure as the user wants: nobody calibrated that.
        """
        name = self.key if self.read_out == "answer" else "adjudicator-latent"
        return name if self.power == 1 else f"{name} with power={self.power:g}"

    def limits(self) -> Limits:
        """Votes may have a probability or a weight."""
        return replace(super().limits(), takes_soft=True)

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, and more than fits in memory."""
        super().check(labels)
        if labels.soft_valued and labels.n_classes > MATRIX_CLASSES:
            raise DataError(
                f"Adjudicator takes votes with a probability or a weight in at most {MATRIX_CLASSES} classes, and here "
                f'are {labels.n_classes}: use bwa or lfc, or read the votes without: votes="hard" (--votes hard).'
            )
        n_workers, n_classes = labels.n_workers, labels.n_classes
        few = n_classes <= MATRIX_CLASSES
        size = 8 * (20 * n_workers * n_classes**2 if few else 30 * n_workers * n_classes + 8 * n_classes**2)
        require_room(
            size,
            f"Adjudicator needs {'a matrix' if few else 'some numbers'} for every worker: {n_workers:,} workers with "
            f"{n_classes:,} classes",
            "Use a method with a number per worker instead, such as bwa.",
        )

    def count_size(self, labels: Labels) -> int:
        """Workers times classes, although the counts are larger: counting a label takes the longer, too."""
        return labels.n_workers * labels.n_classes

    def empty_counts(self, labels: Labels, workers: Given) -> Counts:
        """Counts of no items."""
        kind = PullCounts if labels.n_classes <= MATRIX_CLASSES else NamedCounts
        return kind.empty(labels, not isinstance(workers, StructuredWorkers))

    def sweep(self, labels: Labels, scores: Array, workers: Given, counts: Counts) -> Array:
        """E step: score the items by the probabilities of their latent classes, and count classes and pulls."""
        count_votes(labels, None if workers is None else workers.copies, counts.totals)
        if isinstance(workers, StructuredWorkers):
            return workers.sweep(labels, scores, counts)
        if workers is not None:
            scores[:] = workers.scores(labels)
        return _count_scores(labels, scores, workers, counts)

    def sweep_known(self, labels: Labels, scores: Array, known: int, workers: Given, counts: Counts) -> None:
        """Count items whose latent class is known; all pulls are possible."""
        count_votes(labels, None if workers is None else workers.copies, counts.totals)
        counts.totals[TAUGHT] += labels.n_items
        if isinstance(workers, StructuredWorkers):
            workers.sweep(labels, scores, counts, known)
        else:
            _count_scores(labels, scores, workers, counts)

    def add_earlier(self, counts: Counts, earlier: Mapping[str, Array], workers: Given) -> None:
        """Add what was counted in earlier labels; only matrices of workers can be gone on from."""
        if isinstance(counts, NamedCounts):
            raise DataError(
                f"There are {len(counts.classes):,} classes, so that workers have no matrices here, and the state has: "
                "use bwa with a state of its own."
            )
        pulls = {name: pad(earlier[name]) for name in _OF_PULLS if name in earlier}
        super().add_earlier(counts, {**earlier, **pulls}, workers)
        counts.totals[TAUGHT] += earlier["classes"].sum()

    def statistics(self, ending: Ending) -> Statistics:
        """Return what was counted, if workers have matrices: other counts depend on what was known of the workers."""
        if isinstance(ending.counts, NamedCounts):
            return Statistics.nothing()
        kept = super().statistics(ending)
        for part in (kept.per_worker, kept.shared):
            for name in part.keys() & _OF_PULLS:
                part[name] = unpad(part[name], len(ending.counts.classes))
        return kept

    def estimate(self, counts: Counts, previous: Given, change: Array) -> StructuredWorkers:
        """M step: learn the workers' logits and what they share."""
        if isinstance(previous, StructuredWorkers):
            return previous.m_step(counts)
        votes = counts.classes if previous is None or previous.vote_classes is None else previous.vote_classes
        copies = Copies.none(len(counts.given)) if previous is None else previous.copies
        if isinstance(counts, PullCounts):
            return few_classes.first_workers(counts, votes, copies)
        return many_classes.first_workers(counts, votes, copies)

    def moved(self, counts: Counts, change: Array) -> float:
        """Half of the absolute changes of an item's scores, in the mean of the items."""
        return float(counts.totals[MOVED] / max(counts.totals[ITEMS], 1.0))

    def infer(self, labels: Crowd, progress: Progress | None) -> Inferred:
        """Run the loop; where workers name several classes at once, these share the workers: see `SeveralClasses`."""
        if isinstance(labels, Labels) and labels.sets is not None:
            from .several_classes import SeveralClasses

            return SeveralClasses().infer(labels, progress)
        return super().infer(labels, progress)

    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Iterate from the votes, and from elsewhere if that reading is doubtful."""
        from threadpoolctl import threadpool_limits  # imported here because it is slow to import

        # The last bits of products of matrices depend on how many threads make them.
        with threadpool_limits(1, "blas"):
            return self._iterate(engine, progress)

    def start(self, labels: Labels) -> tuple[Array, StructuredWorkers | None]:
        """The shares of the votes, and the workers of the reading that gold speaks for, if it speaks for one."""
        return raised(shares(labels), powers_of_shares(labels)), labels.known.initial_workers

    def solutions(self, labels: Crowd) -> list[StructuredWorkers]:
        """Return the workers of this method's own reading of the labels, and of others, which keep ever fewer votes."""
        if not (has_readings(labels) and is_quick_to_compare(labels)):
            return []
        with open_engine(self, labels.numbered if isinstance(labels, Labels) else labels) as engine:
            own = self.iterate(engine, None).workers
            others = [reading for _, reading in plausible_readings(self, engine)]
        # A reading in which some workers always lie may fit the gold as well, and leaves most votes.
        others.sort(key=lambda reading: -reading.kept)
        return [own, *(reading.workers for reading in others)]

    def _iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        if engine.initial_workers is not None:
            return self.iterate_from(engine.initial_workers, engine, progress)
        votes, _ = engine.sweep(None)
        ending = self.read(engine, votes, progress).ending
        return with_agreements(engine, ending) if len(ending.workers.copies.pairs) else ending

    def read(self, engine: Engine, votes: Counts, progress: Progress | None) -> Reading:
        """Read the labels as this method does; `votes` are the counts of the shares of the votes."""
        pairs: PairCounts | None = None
        looks = self.copies == "evidence" and engine.known.earlier is None and engine.sample_of is None
        if looks and can_follow(len(votes.given), engine.n_classes):
            pairs = engine.add_labels(count_pairs, "comparing workers")
        copies = self.count_copies(engine, votes, pairs)
        if self.copies == "evidence" and engine.known.followers is not None:
            copies = copies.with_known(still_following(engine))
        plain = read_votes(self, engine, votes, copies, progress)
        if engine.known.earlier is not None:  # the evidence is about these labels, not earlier ones
            return plain
        if plain.can_be_compared and is_doubtful(plain):
            plain = best_reading(plain, list(other_readings(self, engine, plain, pairs, progress)))
            engine.sweep(plain.workers)  # the engine has the scores of the reading that was tried last
        suspects = None if pairs is None else Suspects(*suspicious_pairs(pairs))
        if suspects is None or not suspects.pairs.any():
            return plain
        return leave_out_followers(self, engine, plain, suspects, progress)

    def count_copies(self, engine: Engine, votes: Counts, pairs: PairCounts | None = None) -> Copies:
        """Which workers count as less than one, before any reading; `pairs` are their comparisons, if counted."""
        if self.copies == "once":
            return count_blocks_once(engine, len(votes.given), pairs)
        if engine.sample_of is not None:
            return count_samples(engine.sample_of)
        return count_exact_copies_once(engine, votes.given, float(votes.totals[SQUARED_LABELS]), pairs)

    def finish(self, labels: Labels, scores: Array, workers: StructuredWorkers | None) -> Finished:
        """The pool of the adjudicator's answers, or the latent classes; and how likely every item is a trap."""
        if workers is None:
            return Finished(scores, np.zeros(len(scores)))
        answers, traps = workers.answers(labels)
        of_shares = powers_of_shares(labels, workers.copies.counted(labels))
        return Finished(self.pool(workers, answers, self.votes(labels, workers), scores, of_shares), traps)

    def pool(
        self, workers: StructuredWorkers, answers: Array, votes: Array, latent: Array, of_shares: Array | None = None
    ) -> Array:
        """(items, classes), the scores of the result, given the parts of the pool; see results/calibration.py."""
        if self.read_out == "latent":
            return tempered(latent, self.power)
        if workers.lone:
            return votes_alone(votes, self.power)
        return pooled((answers, votes, latent), workers.density, pool_weights(self.key), self.power, of_shares)

    def expected_right(self, labels: Labels, workers: StructuredWorkers) -> tuple[Array, Array]:
        """(workers), how many labels name the latent class of their item, as is expected; and the variance of that."""
        scores = self.rescore(labels, workers)
        if labels.gold is not None:
            scores = clamped_scores(labels.gold, scores)
        return count_right_by(labels, scores)

    def cautions(self, result: Any, labels: Crowd) -> list[Caution]:
        """Say who follows whom, besides what else was found out about the workers."""
        about = caution_about(result, labels) if (result.workers.follows >= 0).any() else []
        return [*about, *super().cautions(result, labels)]

    def contributions(self, one: Labels, item: int, workers: StructuredWorkers) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of every class; see explaining.py."""
        return explain(self, one, workers, partial(self._scores_if, one, workers))

    def outlook(self, labels: Labels, workers: StructuredWorkers, asked: Array) -> Outlook | None:
        """What is expected of further labels: an item may pull, so that workers err together.

        With many classes, or votes that state probabilities, this is left to what is expected of any method.
        """
        if not isinstance(workers, FewClasses) or labels.soft is not None:
            return None
        n_classes = labels.n_classes

        def states(first: int, last: int) -> Array:
            part = labels.slice(first, last)
            return model.posterior(part, workers.copies.weights(part), workers.parameters)[1]

        def read(means: Array, votes: Array) -> Array:
            return self.pool(workers, means[:, :n_classes], votes, means[:, n_classes:])

        answers, said = np.exp(workers.log_answer), np.exp(workers.log_said(asked))
        latent = np.eye(n_classes)[workers.item_types.true]
        dense = replace(workers, density=np.inf)  # as unlimited labels are
        return Outlook(
            states=states,
            said=said,
            answers=np.hstack([answers, latent]),
            read=read,
            votes=self.votes(labels, workers),
            ends=self.pool(dense, answers, _WITHOUT_END * said.mean(axis=0), latent),
        )

    def votes(self, labels: Labels, workers: StructuredWorkers) -> Array:
        """(items, classes), how many votes name each class, without those that are left out; copies count in full."""
        return votes_by_class(labels, workers.copies.counted(labels))

    def _scores_if(self, one: Labels, workers: StructuredWorkers, said: Array) -> Array:
        """(classes), the scores of one item if the workers had said these classes."""
        changed = replace(one, labels=said.astype(one.labels.dtype), soft=soft_if(one, said))
        return np.asarray(self.finish(changed, self.rescore(changed, workers), workers).scores[0])


def _count_scores(labels: Labels, scores: Array, start: Start | None, counts: Counts) -> Array:
    """Count the scores of these items as they are, without the labels that are left out."""
    if isinstance(counts, NamedCounts):
        return many_classes.count_scores(labels, scores, counts)
    return few_classes.count_scores(
        labels, scores, np.zeros(0) if start is None else start.copies.weights(labels), counts
    )
