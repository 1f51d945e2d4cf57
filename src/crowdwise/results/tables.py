"""What every result does with its two tables: write them to files, and find the most disputed items."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cached_property
from html import escape
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Final, Self

import polars as pl

from ..caution import Caution
from ..crowd.reading_report import several
from ..errors import CallError, did_you_mean, shown
from ..output.targets import check_distinct
from ..output.writers import has_sheets
from ..output.writing import Content, write
from ..sources.spreadsheets import MOST_ROWS

if TYPE_CHECKING:
    import pandas as pd

# What the same columns are called in the tables of cleanlab's `get_label_quality_multiannotator`.
CLEANLAB_NAMES: Final = {
    "label": "consensus_label",
    "confidence": "consensus_quality_score",
    "votes": "num_annotations",
    "worker": "annotator",
    "quality": "annotator_quality",
    "agreement": "agreement_with_consensus",
    "labels": "num_examples_labeled",
}
# The most classes that `repr` lists.
_MOST_CLASSES: Final = 6
# The most items in the sheet of the most disputed ones.
_MOST_DISPUTED: Final = 1_000


class ResultTables(ABC):
    """The base of results: a table of items and a table of workers."""

    @property
    def numeric(self) -> bool:
        """Whether answers are numbers, and not classes."""
        return False

    @property
    def disputed_columns(self) -> tuple[str, ...]:
        """The columns of `disputed`."""
        if self.numeric:
            return ("item", "value", "low", "high", "votes")
        return ("item", "label", "confidence", "score", "runner_up", "runner_up_score", "votes")

    @property
    def disputed_by(self) -> tuple[str, str]:
        """The columns whose difference says how disputed an item is: large ones of numbers, small ones of classes."""
        return ("high", "low") if self.numeric else ("score", "runner_up_score")

    # Looks for the cautions when they are first asked for.
    _look_for_cautions: Callable[[], tuple[Caution, ...]] = tuple

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know before relying on this result, the most serious first; see `Caution`.

        `fit` gives what it knows by itself. `aggregate` also looks for what only comparing workers can find: copies,
        blocks, one worker who decides, other readings of the same labels.
        """
        return self._look_for_cautions()

    def with_cautions(self: Self, look: Callable[[], tuple[Caution, ...]]) -> Self:
        """Return a copy whose `cautions` are what `look` returns; it is called when they are first asked for."""
        other = copy(self)
        vars(other).pop("cautions", None)
        vars(other)["_look_for_cautions"] = look  # results in memory are frozen
        return other

    @abstractmethod
    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return the table of the items, with a column for the score or the probability of every class if asked for."""

    @abstractmethod
    def workers_frame(self) -> pl.DataFrame:
        """Return the table of the workers."""

    def disputed(self, count: int) -> pl.DataFrame:
        """Return the rows of the `count` items whose best two classes are closest, the closest first.

        Of numbers, they are those with the widest intervals, the widest first.
        """
        check_count(count)
        above, below = self.disputed_by
        table, gap = self.lazy().select(self.disputed_columns).drop_nulls(below), pl.col(above) - pl.col(below)
        found = table.top_k(count, by=gap) if self.numeric else table.bottom_k(count, by=gap)
        return found.collect().sort(gap, descending=self.numeric, maintain_order=True)

    def write(
        self,
        truth: str | PathLike[str] | None = None,
        workers: str | PathLike[str] | None = None,
        *,
        scores: bool = False,
        probabilities: bool = False,
        reasons: pl.DataFrame | None = None,
        review: pl.DataFrame | None = None,
        provenance: pl.DataFrame | None = None,
        columns: str = "crowdwise",
        storage: Mapping[str, Any] | None = None,
        bom: bool = False,
        also: Mapping[str, Content] | None = None,
    ) -> None:
        """Write the tables to files; the extension of a file says its format.

        No file is replaced before all tables are complete, and none if one of them cannot be replaced. A workbook of
        Excel for the items has the sheets Labels, Workers, and Review or Disputed.

        Args:
            truth: The file for the rows of the items; None to write none.
            workers: The file for the rows of the workers; None to write none.
            scores: Whether to add a column `score_<class>` for every class to the rows of the items.
            probabilities: Whether to add a column `probability_<class>` for every class to the rows of the items.
            reasons: Why workers are worth a look: worker and reasons, which is a further column of the rows of the
                workers; None to add none.
            review: The items to look at again, which are the sheet Review of a workbook; None for the sheet Disputed,
                which has the items whose best two classes are closest.
            provenance: Where labels come from, as `provenance` returns it, which is a further column of the rows of the
                items; None to add none.
            columns: "crowdwise" for our names of columns, "cleanlab" for those of cleanlab, as far as it has them.
            storage: Options of a cloud storage, by name, where an address is one.
            bom: Whether CSV begins with the byte-order mark, by which Excel shows all letters right.
            also: Further files to write together with these, by path: either all are written or none.
        """
        renamed = _names(columns)
        check_distinct([*(path for path in (truth, workers) if path is not None), *(also or {})])
        tables: dict[str, Any] = {}
        if truth is not None:
            items = self._items_to_write(scores, probabilities)
            if provenance is not None:
                items = pl.concat([items, provenance.lazy().select("provenance")], how="horizontal")
            several = isinstance(items, pl.LazyFrame) and has_sheets(truth)
            tables[fspath(truth)] = self._sheets(items, reasons, review, renamed) if several else renamed(items)
        if workers is not None:
            tables[fspath(workers)] = renamed(_with_reasons(self._workers_to_write(), reasons))
        write({**tables, **(also or {})}, storage, bom=bom)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole result to one Arrow file, from which `load_result` reads it again, exactly.

        The labels are not in it. Cautions that were not looked for yet are looked for first, which may take time. To
        give the tables to others, use `write`.

        Raises:
            CallError: The result is on disk or in a cluster, or its method is none of crowdwise.
        """
        from .saving import save  # it imports results, which stand on this module

        save(self, path)

    def to_pandas(self, scores: bool = False, probabilities: bool = False) -> "pd.DataFrame":
        """Return the table of the items, as in `to_frame`, as one of pandas."""
        try:
            return self.lazy(scores, probabilities).collect().to_pandas()
        except ModuleNotFoundError as problem:
            raise CallError(f"to_pandas needs {problem.name}: pip install pandas pyarrow") from problem

    def _sheets(
        self, items: Any, reasons: pl.DataFrame | None, review: pl.DataFrame | None, renamed: Callable[[Any], Any]
    ) -> dict[str, pl.DataFrame]:
        """Return the sheets of a workbook: the items, the workers, and the items to look at; see `write`."""
        labels = items.head(MOST_ROWS + 1).collect()  # one row more than fit is refused where it is written
        tables = {"Labels": labels, "Workers": _with_reasons(self.workers_frame(), reasons)}
        if review is None:
            tables["Disputed"] = self.disputed(min(labels.height, _MOST_DISPUTED))
        else:
            tables["Review"] = review
        return {name: renamed(table) for name, table in tables.items()}

    def _items_to_write(self, scores: bool, probabilities: bool) -> Any:
        """Return the table of the items in the form that is written; that of Spark is its own."""
        return self.lazy(scores, probabilities)

    def _workers_to_write(self) -> Any:
        return self.workers_frame()


def _with_reasons(workers: Any, reasons: pl.DataFrame | None) -> Any:
    """Return the table of the workers with a column that says why they are worth a look, if that is known."""
    return workers if reasons is None else workers.join(reasons, on="worker", how="left", maintain_order="left")


def check_count(count: object) -> None:
    """Raise `CallError` if this is no number of rows."""
    if not isinstance(count, int) or not 0 <= count < 2**63:
        raise CallError(f"count={shown(count)} is not a whole number from 0 on.")


def in_order(classes: pl.Series) -> str:
    """Return how many classes there are, and the first of them in their order.

    >>> in_order(pl.Series(["no", "yes"]))
    "2 classes ('no', 'yes')"
    """
    listed = [shown(one) for one in classes.head(_MOST_CLASSES).to_list()]
    listed += ["..."] if len(classes) > _MOST_CLASSES else []
    return f"{several(len(classes), 'class', 'classes')} ({', '.join(listed)})"


def shown_in_notebook(result: ResultTables, *sentences: str, **tables: pl.DataFrame) -> str:
    """Return what a notebook shows of a result: how it ended, and the first rows of its tables."""
    first = {f"{name}, the first of {table.height:,}": table.head(5) for name, table in tables.items()}
    return as_html([repr(result), *sentences], first)


def as_html(sentences: Iterable[str], tables: Mapping[str, pl.DataFrame]) -> str:
    """Return sentences, and below them tables with a title each, as HTML for a notebook; empty ones are left out."""
    said = "".join(f"<p>{escape(one)}</p>" for one in sentences if one)
    return said + "".join(
        f"<p>{escape(title)}:</p>{table._repr_html_()}" for title, table in tables.items() if table.height
    )


def _names(columns: str) -> Callable[[Any], Any]:
    """Return the function that gives the columns of a table, also of Spark's, the names of another library."""
    known = ["crowdwise", "cleanlab"]
    if columns not in known:
        hint = did_you_mean(str(columns), known)
        raise CallError(f"columns={shown(columns)} has to be 'crowdwise' or 'cleanlab'.{hint}")
    if columns == "crowdwise":
        return lambda table: table
    return lambda table: (
        table.rename(CLEANLAB_NAMES, strict=False)
        if isinstance(table, pl.DataFrame | pl.LazyFrame)
        else table.withColumnsRenamed(CLEANLAB_NAMES)
    )
