"""`Labels` and `Numbers`: the labels of a crowd in memory, as three arrays sorted by item and worker."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, Unpack, cast

import numpy as np
import polars as pl

from ..caution import Caution
from ..errors import CallError, DataError
from ..numerics import Array
from ..numerics.twins import is_small
from ..parallel import Sum, Threads, require_threads, slices
from . import matrices
from .classes import label_reader
from .cleaning import Cleaning, finish, tidied
from .encoding import encode_column, require_codes
from .ids import as_series, require_frame
from .item_sketch import sketch
from .knowledge import NOTHING_KNOWN, GoldSplit, PriorKnowledge, gold_classes
from .label_cautions import alike_classes, alike_workers, cautions_of
from .names import Names
from .numbering import Numbering, hash_ranks, inverse
from .protocol import Place, describe
from .read_options import LabelKeywords, ReadKeywords, ReadOptions, RowKeywords, shows_options
from .reading_report import ReadingReport
from .samples import Samples, most_answers
from .soft_votes import SOFT_ROLES, SoftRows, sharpened, with_more_classes
from .sorting import sort_rows
from .times import moments

if TYPE_CHECKING:  # class_sets.py makes labels
    from .class_sets import ClassSets

Added = TypeVar("Added", bound=tuple[Any, ...])
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels that workers gave to items, in memory.

    Build one with `Labels.from_frame`, `Labels.from_arrays` or `read_labels`. Items and workers are numbered in the
    order of their first appearance, classes in the order of their values.

    Attributes:
        item_starts: Where the labels of each item start (int64); one entry more than there are items.
        workers: The worker of every label (int32), ascending within an item.
        labels: The class of every label (the smallest unsigned integer type that fits).
        names: The names that the codes stand for.
        report: What was read, and which rows were dropped or changed.
        continued: Which rows continue the vote of the row before them, because with `duplicates="set"` one worker may
            name several classes for one item; None if every row is a vote of its own.
        is_numbered: Whether items and workers are in the order of their numbers; see `numbered`.
        gold: (items), the known class of every item, -1 where it is not known; None if no class is known.
        known: Other knowledge that was given, such as a history.
        crowd_labels: How many labels the crowd has that these are a part of; None if these are all.
        soft: (labels, classes + 1), what votes say of every class, and how much they weigh; see crowd/soft_votes.py.
            None if all are plain votes.
        sets: Which classes each worker named at once, where items are questions about these; see `ClassSets`. None if
            items are no such questions.

    >>> labels = Labels.from_arrays([1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "cat"])
    >>> labels
    Labels(3 labels of 2 items by 2 workers in 2 classes)
    >>> labels.names.classes.to_list(), labels.labels.tolist()
    (['cat', 'dog'], [0, 1, 0])
    """

    item_starts: Array
    workers: Array
    labels: Array
    names: Names
    report: ReadingReport
    continued: Array | None = None
    is_numbered: bool = False
    gold: Array | None = None
    known: PriorKnowledge = NOTHING_KNOWN
    crowd_labels: int | None = None
    soft: Array | None = None
    sets: "ClassSets | None" = None

    place: ClassVar[Place] = "memory"
    # Whether labels are numbers instead of codes of classes; see `Numbers`.
    numeric: ClassVar[bool] = False

    @classmethod
    @shows_options
    def from_frame(cls, frame: Any, **options: Unpack[ReadKeywords]) -> Self:
        """Read a table in memory; the same as `read_labels(frame, **options)`, without warnings.

        Args:
            frame: A polars, pandas or pyarrow table, a duckdb relation, a polars LazyFrame, or anything else with the
                Arrow C stream interface: a row for each label, or a column for each worker.
            options: The options of `read_labels`, such as item, duplicates and missing.

        Raises:
            DataError: The table cannot be used; the message says why and what to do.
            CallError: There is no such option, or no such value of it.

        >>> Labels.from_frame(pl.DataFrame({"task": [1, 1], "rater": ["a", "b"], "vote": [True, None]})).report
        ReadingReport(rows=2, missing=1, repeated=0, conflicts=0, duplicates='error', unlabelled=0,
                      columns={'item': 'task', 'worker': 'rater', 'label': 'vote'}, left_out={})
        """
        from .. import read_labels  # the public name, because packages import only those below them

        require_frame(frame)
        return cast(Self, read_labels(frame, numeric=cls.numeric, warn=False, **options))

    @classmethod
    @shows_options
    def from_arrays(
        cls,
        item: Any,
        worker: Any,
        label: Any,
        *,
        time: Any = None,
        probability: Any = None,
        weight: Any = None,
        **options: Unpack[LabelKeywords],
    ) -> Self:
        """Read three sequences of equal length: lists, NumPy arrays, polars or pandas series.

        `time` is a fourth one, for `duplicates="latest"`; `probability` is how probable the worker calls its label, and
        `weight` how often the vote counts. The options are described in `read_labels`.

        >>> Labels.from_arrays(np.array([7, 7]), ["a", "b"], [0, 1]).names.items.to_list()
        [7]
        """
        given = {"item": item, "worker": worker, "label": label}
        further = {"time": time, "probability": probability, "weight": weight}
        given |= {role: values for role, values in further.items() if values is not None}
        series = {
            role: pl.Series(role, values, strict=False) if role in SOFT_ROLES else as_series(role, values)
            for role, values in given.items()
        }
        lengths = {role: len(values) for role, values in series.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"item, worker and label differ in length: {lengths}.")
        found = {role: role for role in given}
        asked = ReadOptions.of(**{**options, "numeric": cls.numeric})
        for name in options:
            if name not in LabelKeywords.__annotations__:
                raise CallError(f"{name} does nothing for arrays; {', '.join(LabelKeywords.__annotations__)} do.")
        if asked.policy == "latest" and time is None:
            raise CallError('duplicates="latest" needs the time of every label.')
        return cls.from_columns(tidied(pl.LazyFrame(series), asked).collect(), found, asked)

    @classmethod
    @shows_options
    def from_wide(
        cls,
        frame: Any,
        item: str | None = None,
        workers: bool | str | Sequence[str] | None = None,
        **options: Unpack[RowKeywords],
    ) -> Self:
        """Read a table with a row for each item and a column for each worker; cells without a value are no labels.

        Args:
            frame: A table as in `Labels.from_frame`.
            item: The column of items; None to recognise it, or to number the rows from 0 if there is none.
            workers: The columns of workers: their names, or a pattern such as "r*"; None for all other columns, but
                those called truth or gold.
            options: The options of `read_labels`; `duplicates` matters if an item is in several rows.

        >>> Labels.from_wide(pl.DataFrame({"id": [7, 8], "ann": ["cat", "dog"], "bob": ["dog", None]}))
        Labels(3 labels of 2 items by 2 workers in 2 classes)
        """
        options["wide"] = True if workers is None else workers
        return cls.from_frame(frame, item=item, **options)

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        missing: Any = -1,
        items: Any = None,
        workers: Any = None,
        *,
        strict: bool = False,
        classes: Sequence[Any] | None = None,
    ) -> Self:
        """Read a matrix of labels with a row for each item and a column for each worker, as Snorkel's are.

        Args:
            matrix: The matrix, of numbers or text.
            missing: The value that means "no label", or several; besides NaN and empty text.
            items: The names of the items; None to number them from 0.
            workers: The names of the workers; None to number them from 0.
            strict: As in `read_labels`.
            classes: As in `read_labels`.

        >>> Labels.from_matrix(np.array([[0, 1, -1], [1, 1, 1]]), workers=["ann", "bob", "cy"])
        Labels(5 labels of 2 items by 3 workers in 2 classes)
        """
        table, found = matrices.named_cells(matrix, missing, items, workers)
        return cls.from_columns(table, found, ReadOptions(strict=strict, numeric=cls.numeric, classes=classes))

    @classmethod
    def from_columns(
        cls, table: pl.DataFrame, found: dict[str, str], options: ReadOptions, *, integers_in_text: bool = False
    ) -> Self:
        """Clean, encode and sort the columns `item`, `worker` and `label`. All other constructors end here.

        `found` has the name of each column in the user's table. With `integers_in_text`, text that holds only integers
        becomes integers, as formats such as CSV store everything as text.
        """
        require_threads()
        require_codes(table.height, "rows")
        cleaning = Cleaning(found, options)
        has_label = cleaning.labelled(table)
        cleaning.check()
        labelled = table if has_label is None else table.filter(has_label)
        reader = label_reader(options, found["label"])
        with ThreadPoolExecutor(2) as pool:  # hashing and encoding release Python's interpreter lock
            ids = [pool.submit(encode_column, labelled[role], integers_in_text) for role in ("item", "worker")]
            labels = reader.read(labelled)
            item, worker = (one.result() for one in ids)
        classes, ranks = reader.finish(integers_in_text)
        samples = None
        if options.policy == "samples":
            samples = Samples.of(worker.names, most_answers(item.codes, worker.codes, len(worker.names)))
        ordered = sort_rows(
            item,
            worker.codes,
            labels if ranks is None else ranks[labels],
            len(worker.names),
            options.policy,
            all_items=None if has_label is None else table["item"].n_unique(),
            times=moments(labelled["time"]) if options.policy == "latest" else None,
            samples=samples,
            soft=SoftRows.of(labelled) if {*SOFT_ROLES} & {*found} else None,
            n_classes=len(classes),
        )
        names = Names.read(worker.names, classes, samples, options.fold_case, items=ordered.items)
        report = finish(cleaning, ordered.counts, ordered.conflict, names)
        starts, workers, labels, continued, soft = ordered.arrays
        soft = soft if ordered.counts.soft else None
        return cls(starts, workers, labels, names, report, continued, soft=soft)

    @property
    def n_items(self) -> int:
        """The number of items that have a label."""
        return len(self.item_starts) - 1

    @property
    def n_workers(self) -> int:
        """The number of workers; in a slice, of the whole crowd."""
        return len(self.names.workers)

    @property
    def n_classes(self) -> int:
        """The number of classes; in a slice, of the whole crowd."""
        return len(self.names.classes)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.labels)

    @property
    def is_small(self) -> bool:
        """Whether NumPy does the work: for a small crowd (numerics/twins.py), and for one with soft votes."""
        return self.soft is not None or is_small(self._crowd_size, self.n_classes)

    @property
    def _crowd_size(self) -> int:
        return self.crowd_labels or self.n_labels

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The three arrays that all kernels take: `item_starts`, `workers` and `labels`."""
        return self.item_starts, self.workers, self.labels

    @property
    def set_valued(self) -> bool:
        """Whether some vote names several classes."""
        return self.continued is not None

    @property
    def soft_valued(self) -> bool:
        """Whether some vote has a probability or a weight."""
        return self.soft is not None

    @cached_property
    def chances(self) -> Array:
        """(labels, classes), what every vote says of every class, as sharp as is known of its worker; see `soft`."""
        assert self.soft is not None, "these votes are plain"
        power = self.known.sharpness
        return self.soft[:, :-1] if power is None else sharpened(self.soft[:, :-1], power[self.workers])

    @property
    def vote_weights(self) -> Array | None:
        """(labels), how much every vote weighs; None if all weigh one."""
        return None if self.soft is None else self.soft[:, -1]

    @cached_property
    def numbering(self) -> Numbering:
        """The numbers that items and workers have while a method works."""
        return Numbering(hash_ranks(self.names.items), hash_ranks(self.names.workers))

    @cached_property
    def numbered(self) -> Self:
        """The same labels with items and workers in the order of `numbering`, which does not depend on the rows."""
        if self.is_numbered:
            return self
        starts, workers, labels, continued, soft = self.numbering.apply(
            self.item_starts, self.workers, self.labels, self.continued, self.soft
        )
        names = self.names.numbered(self.numbering)
        gold = None if self.gold is None else self.gold[inverse(self.numbering.item_numbers)]
        sets = None if self.sets is None else self.sets.numbered(self.numbering)
        return type(self)(
            starts, workers, labels, names, self.report, continued, True, gold, self.known, sets=sets, soft=soft
        )

    def slice(self, first: int, last: int) -> Self:
        """Return the items from `first` up to, but not including, `last`; the labels are shared, not copied.

        >>> Labels.from_arrays([1, 1, 2], ["a", "b", "a"], ["x", "y", "x"]).slice(1, 2)
        Labels(1 labels of 1 items by 2 workers in 2 classes)
        """
        low, high = int(self.item_starts[first]), int(self.item_starts[last])
        return self._part(self.item_starts[first : last + 1] - low, slice(low, high), slice(first, last))

    def select(self, items: Array) -> Self:
        """Return a copy of these items, which are given by their codes and may be in any order.

        >>> Labels.from_arrays([1, 1, 2], ["a", "b", "a"], ["x", "y", "x"]).select(np.array([1])).names.items.to_list()
        [2]
        """
        sizes = np.diff(self.item_starts)[items]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(starts[-1]) + np.repeat(self.item_starts[items] - starts[:-1], sizes)
        return self._part(starts, rows, items)

    def _part(self, starts: Array, rows: Any, items: Any) -> Self:
        """Return some labels and their items, each given by a slice or by positions."""
        # In a part on disk or in a cluster, the names of items are elsewhere.
        names = replace(self.names, items=self.names.items[items]) if len(self.names.items) else self.names
        return replace(
            self,
            item_starts=starts,
            workers=self.workers[rows],
            labels=self.labels[rows],
            continued=None if self.continued is None else self.continued[rows],
            soft=None if self.soft is None else self.soft[rows],
            names=names,
            gold=None if self.gold is None else self.gold[items],
            crowd_labels=self._crowd_size,
            sets=None if self.sets is None else self.sets.part(items),
        )

    def with_classes(self, classes: pl.Series) -> "Labels":
        """Return the same labels with these classes, which are all that the labels name and perhaps more."""
        codes = self.names.codes_in(classes).astype(np.min_scalar_type(len(classes) - 1))
        soft = None if self.soft is None else with_more_classes(self.soft, codes, len(classes))
        return replace(self, labels=codes[self.labels], names=replace(self.names, classes=classes), soft=soft)

    def with_report(self, report: ReadingReport) -> "Labels":
        """Return the same labels with another report of what was read."""
        return replace(self, report=report)

    def first_item(self) -> Any:
        """Return the name of the first item."""
        return self.names.items[0]

    def item_sketch(self) -> Array:
        """Return a sketch of the ids of the items; see crowd/item_sketch.py."""
        return sketch(self.names.items)

    def with_known(self, gold: pl.DataFrame | None, known: PriorKnowledge) -> "Labels":
        """Return the same labels with what is known beforehand; see `Crowd.with_known`."""
        return replace(self, gold=None if gold is None else gold_classes(self.names.items, gold), known=known)

    @cached_property
    def gold_split(self) -> "GoldSplit":
        """The items whose class is known, apart from the others."""
        return GoldSplit.of(self)

    @property
    def item_of(self) -> Array:
        """(labels), the code of the item of every label."""
        return np.repeat(np.arange(self.n_items), np.diff(self.item_starts))

    def map_slices(
        self, step: "Callable[[int, int, Labels], Outcome]", count_size: int = 0, work: int = 1
    ) -> "Iterator[Outcome]":
        """Yield what `step` returns for each slice of the items, in order; threads work on the slices.

        `step` takes the first item, the item after the last one, and the slice. See `parallel.slices` for the others.
        """
        ends = slices(self.item_starts, count_size, work)
        with Threads(len(ends)) as threads:
            yield from threads.map(lambda part: step(*ends[part], self.slice(*ends[part])))

    def add_slices(self, count_size: int, count: "Callable[[int, int, Labels], Added]") -> "Added":
        """Return the sum of the tuples of arrays that `count` returns for each slice; see `map_slices`."""
        total = Sum()
        for counts in self.map_slices(count, count_size):
            total.add(counts)
        return cast(Added, total.value)

    @cached_property
    def slips(self) -> list[Caution]:
        """What looks like one class or one worker, written in several ways, or like no label at all."""
        given = np.bincount(self.workers, minlength=self.n_workers)
        of_workers = alike_workers(self.names.workers, pl.Series(given))
        if self.numeric:
            return of_workers
        said = np.bincount(self.labels, minlength=self.n_classes)
        return alike_classes(self.names.classes, pl.Series(said)) + of_workers

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about these labels: rows that were dropped, numbers as classes, names that look alike."""
        return (*cautions_of(self.report, self.names.classes), *self.slips)

    @property
    def remarks(self) -> list[str]:
        """Empty: only labels on disk and in a cluster have any."""
        return []

    def close(self) -> None:
        """Do nothing: Python frees memory by itself."""

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the sizes, and the first labels as a table."""
        first = self.slice(0, min(self.n_items, 3))
        said = first.labels if self.numeric else self.names.classes.gather(first.labels)
        columns = [first.names.items.gather(first.item_of), self.names.workers.gather(first.workers)]
        table = pl.DataFrame([*columns, pl.Series("label", said)]).head(10)
        return f"<p>{escape(describe(self))}; the first:</p>{table._repr_html_()}"


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Labels):
    """The numbers that workers gave to items, in memory.

    Build one with `Numbers.from_frame`, `Numbers.from_arrays` or `read_numbers`; the arguments are those of `Labels`.
    It differs from `Labels` in that `labels` has the numbers themselves (float64), and that there are no classes.

    >>> numbers = Numbers.from_arrays([1, 1, 2], ["ann", "bob", "ann"], [2.5, 3.0, 1.0])
    >>> numbers
    Numbers(3 labels of 2 items by 2 workers as numbers)
    >>> numbers.labels.tolist()
    [2.5, 3.0, 1.0]
    """

    numeric: ClassVar[bool] = True
