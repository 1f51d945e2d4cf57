"""The classes that labels name: as they are written, folded to one spelling each, or declared by the user."""

from contextlib import suppress

import numpy as np
import polars as pl

from ..errors import CallError, DataError, did_you_mean, shown
from ..numerics import Array
from .encoding import Dictionary, rank, typed
from .ids import as_series, codes_of
from .not_classes import refuse_unless_classes
from .number_reader import NumberReader
from .read_options import ReadOptions


class ClassReader:
    """Gives codes to labels that name classes. The table is given whole or in batches.

    Args:
        options: How labels are read.
        column: The name of the column of labels, for messages.
    """

    def __init__(self, options: ReadOptions, column: str) -> None:
        self._options, self._column = options, column
        self._dictionary = Dictionary()
        self._labels = 0
        self._counts = np.zeros(0, np.int64)

    def read(self, labelled: pl.DataFrame) -> Array:
        """Return the codes of the labels of rows that all have a label."""
        codes = self._dictionary.encode(labelled["label"])
        self._labels += len(codes)
        if self._options.fold_case:
            counts = np.bincount(codes, minlength=len(self._dictionary.names))
            counts[: len(self._counts)] += self._counts
            self._counts = counts
        return codes

    def finish(self, integers_in_text: bool) -> tuple[pl.Series, Array]:
        """Return the classes in the order of their values, and the number of the class of each code."""
        names = self._dictionary.names
        return classes_of(names, self._options, self._column, self._labels, self._counts, integers_in_text)


def label_reader(options: ReadOptions, column: str) -> ClassReader | NumberReader:
    """Return what reads the labels of this column: as numbers, or as classes."""
    return NumberReader(column) if options.numeric else ClassReader(options, column)


def classes_of(
    names: pl.Series, options: ReadOptions, column: str, labels: int, counts: Array, integers_in_text: bool
) -> tuple[pl.Series, Array]:
    """Return the classes in the order of their values, and the number of the class of each name.

    Args:
        names: The different labels, in the order of first appearance.
        options: Whether the case of letters is folded, and which classes the user declared.
        column: The name of the column of labels, for messages.
        labels: The number of labels.
        counts: (names), how many labels have each name; it is needed only if the case of letters is folded.
        integers_in_text: Whether classes that are integers written as text become integers.

    Raises:
        DataError: A label is none of the declared classes; or none are declared, and the labels do not look like
            classes.
    """
    spelled = names
    if options.fold_case and names.dtype == pl.String:
        spelled = _commonest(names, counts)
    if options.classes is not None:
        return _declared(spelled, options, column, integers_in_text)
    spelled = typed(spelled, integers_in_text)
    distinct = spelled.unique(maintain_order=True) if options.fold_case else spelled
    refuse_unless_classes(distinct, labels, column)
    ordered = distinct.sort()
    if not options.fold_case:
        return ordered, rank(spelled)
    return ordered, codes_of(spelled, ordered).astype(np.min_scalar_type(max(len(ordered) - 1, 0)))


def _commonest(names: pl.Series, counts: Array) -> pl.Series:
    """Return for each name the commonest one that differs from it in nothing but the case of letters.

    Of names that are equally common, it is the smallest.

    >>> _commonest(pl.Series(["Yes", "no", "yes", "YES"]), np.array([2, 1, 3, 3])).to_list()
    ['YES', 'no', 'YES', 'YES']
    """
    table = pl.DataFrame({"name": names, "count": counts}).with_columns(folded=names.str.to_lowercase())
    best = pl.col("name").sort_by(pl.col("count"), pl.col("name"), descending=[True, False]).first()
    return table.select(best.over("folded")).to_series()


def _declared(names: pl.Series, options: ReadOptions, column: str, integers_in_text: bool) -> tuple[pl.Series, Array]:
    """Return the declared classes in the order of their values, and the number of the class of each name."""
    classes = _in_type(as_series("classes", list(options.classes or ())), names, integers_in_text).sort()
    if options.fold_case and classes.dtype == pl.String:
        twice = classes.filter(classes.str.to_lowercase().is_duplicated())
        if len(twice):
            raise CallError(
                f"classes= (--classes) has {shown(twice[0])} and {shown(twice[1])}, which are one class if the case of "
                "letters is folded (--fold-case): name it once."
            )
    codes = codes_of(names, classes, options.fold_case)
    if (codes < 0).any():
        first = names[int(np.argmax(codes < 0))]
        listed = ", ".join(map(shown, classes.head(10).to_list())) + (" ..." if len(classes) > 10 else "")
        hint = did_you_mean(str(first), classes.cast(pl.String).to_list())
        raise DataError(
            f"Column {column!r} has the label {shown(first)}, which is none of the declared classes ({listed}).{hint} "
            "Name it in classes= (--classes) too, or in missing= (--missing) if it means no label."
        )
    return classes, codes.astype(np.min_scalar_type(max(len(classes) - 1, 0)))


def _in_type(classes: pl.Series, names: pl.Series, integers_in_text: bool) -> pl.Series:
    """Return declared classes in the data type of the labels: integers, if labels and classes are written so."""
    if names.dtype == pl.String or (integers_in_text and names.dtype == pl.Int64):
        return typed(classes.cast(pl.String), integers_in_text)
    with suppress(pl.exceptions.PolarsError):
        if classes.dtype == pl.String and names.dtype == pl.Boolean:
            return classes.str.to_lowercase().replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
        return classes.cast(names.dtype)
    raise CallError(
        f"classes= (--classes) has values that cannot be labels, which are {names.dtype.base_type()} in this table."
    )
