"""`ClassReader`: labels as classes, as they are written, folded to one spelling each, or declared by the user.

Labels that are not one class a vote are refused: numbers, free text, and several classes in a cell. Declared classes
are never refused.
"""

import json
import re
from collections import Counter
from contextlib import suppress
from typing import Final

import numpy as np
import polars as pl

from ..errors import CallError, DataError, did_you_mean, shown
from ..numerics import Array
from .encoding import Dictionary, typed
from .ids import as_series, codes_of
from .number_reader import NumberReader
from .read_options import ReadOptions

# More different numbers than this measure something, if some are not whole.
_MOST_FLOATS: Final = 50
# Labels are free text if so many are different, and more than this share of all labels.
_LEAST_TEXTS: Final = 50
_TEXT_SHARE: Final = 0.8
# What stands between several classes in one cell, and the most classes that are looked at for it.
_SEPARATORS: Final = (";", "|", ",")
_MOST_CLASSES: Final = 20_000
_DECIMAL_COMMA: Final = re.compile(r"[+-]?[0-9]+,[0-9]+")
_SURE: Final = "If each different value is a class, declare all classes with classes= (--classes)."


class ClassReader:
    """Gives codes to labels that name classes. The table is given whole or in batches."""

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
        """Return the classes in the order of their values, and the class of each code. See `classes_of`."""
        names = self._dictionary.names
        return classes_of(names, self._options, self._column, self._labels, self._counts, integers_in_text)


def label_reader(options: ReadOptions, column: str) -> ClassReader | NumberReader:
    """Return what reads the labels of this column: as numbers, or as classes."""
    return NumberReader(column) if options.numeric else ClassReader(options, column)


def classes_of(
    names: pl.Series, options: ReadOptions, column: str, labels: int, counts: Array, integers_in_text: bool
) -> tuple[pl.Series, Array]:
    """Return the classes in the order of their values, and the code of the class of each name.

    `names` are the different labels, and `counts` how many labels have each; counts are needed only to fold case.

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
    _refuse_unless_classes(distinct, labels, column)
    ordered = distinct.sort()
    return ordered, _smallest(codes_of(spelled, ordered), ordered)


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
    """Do as `classes_of` does, where the user declared the classes."""
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
    return classes, _smallest(codes, classes)


def _smallest(codes: Array, classes: pl.Series) -> Array:
    """Return codes of classes in the smallest unsigned integer type that fits."""
    return codes.astype(np.min_scalar_type(max(len(classes) - 1, 0)))


def _in_type(classes: pl.Series, names: pl.Series, integers_in_text: bool) -> pl.Series:
    """Return declared classes in the dtype of the labels: integers, if labels and classes are written so."""
    if names.dtype == pl.String or (integers_in_text and names.dtype == pl.Int64):
        return typed(classes.cast(pl.String), integers_in_text)
    with suppress(pl.exceptions.PolarsError):
        if classes.dtype == pl.String and names.dtype == pl.Boolean:
            return classes.str.to_lowercase().replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
        return classes.cast(names.dtype)
    raise CallError(
        f"classes= (--classes) has values that cannot be labels, which are {names.dtype.base_type()} in this table."
    )


def _refuse_unless_classes(names: pl.Series, labels: int, column: str) -> None:
    """Raise `DataError` if the different labels look like something else than the names of classes."""
    if len(names) > _MOST_FLOATS and _are_fractions(names):
        raise DataError(
            f"Column {column!r} has {len(names):,} different numbers, such as {shown(names[0])}, which look like "
            f"measurements and not like classes: numeric=True (--numeric) takes them as numbers. {_SURE}"
        )
    if len(names) >= _LEAST_TEXTS and len(names) > _TEXT_SHARE * labels and _are_texts(names):
        raise DataError(
            f"Column {column!r} has {len(names):,} different values in {labels:,} labels, such as {shown(names[0])}, "
            "which look like free text and not like classes: nothing can be counted where nobody says the same. Sort "
            f"the texts into classes first. {_SURE}"
        )
    cell = _several_in_a_cell(names)
    if cell is not None:
        raise DataError(_several_classes(column, cell))


def _several_classes(column: str, cell: str) -> str:
    """Return the message about a cell that looks like several classes, or is a number as it is written in Europe."""
    between = "" if cell.startswith("[") else next((one for one in _SEPARATORS if one in cell), ";")
    each = 'multi="each" (--multi each)'
    each += f" and separator=\"{between}\" (--separator '{between}')" if between else ""
    said = f"Column {column!r} has {shown(cell)}, which looks like several classes in one cell: "
    if _DECIMAL_COMMA.fullmatch(cell):
        point = cell.replace(",", ".")
        return f"{said}if so, say {each}. If it is a number, write {point} and say numeric=True (--numeric). {_SURE}"
    return (
        f'{said}say {each}; or write a row for each class and say duplicates="set" (--duplicates set) '
        f"to count them as one vote for all of them. {_SURE}"
    )


def _are_texts(names: pl.Series) -> bool:
    """Return whether names are text, and not all of them whole numbers, which may be ids of classes."""
    return names.dtype == pl.String and names.cast(pl.Int64, strict=False).null_count() > 0


def _are_fractions(names: pl.Series) -> bool:
    """Return whether all names are numbers, and some of them are not whole."""
    if not (names.dtype.is_float() or names.dtype.is_decimal() or names.dtype == pl.String):
        return False
    numbers = names.cast(pl.Float64, strict=False)
    return not numbers.null_count() and bool((numbers != numbers.floor()).any())


def _several_in_a_cell(names: pl.Series) -> str | None:
    """Return the first name that is several classes: a list of JSON, or parts that are classes elsewhere too.

    >>> _several_in_a_cell(pl.Series(["cat", "cat;dog", "dog"])), _several_in_a_cell(pl.Series(["yes, surely", "no"]))
    ('cat;dog', None)
    """
    if names.dtype != pl.String or not 0 < len(names) <= _MOST_CLASSES:
        return None
    ordered: list[str] = names.drop_nulls().sort().to_list()
    for name in ordered:
        if name.startswith("[") and name.endswith("]") and _is_list(name):
            return name
    for separator in _SEPARATORS:
        parts = {name: {part.strip() for part in name.split(separator)} for name in ordered}
        seen = Counter(part for found in parts.values() for part in found)
        for name, found in parts.items():
            if len(found) > 1 and all(part and seen[part] > 1 for part in found):
                return name
    return None


def _is_list(name: str) -> bool:
    """Return whether a text is a list, as JSON or Python write it."""
    for text in (name, name.replace("'", '"')):
        try:
            return isinstance(json.loads(text), list)
        except (ValueError, RecursionError):
            continue
    return False
