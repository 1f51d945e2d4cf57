"""Names of classes that are stored as the numbers 0, 1, 2, ...: given by the user, or kept beside the table.

The library `datasets` stores classes as numbers, and what they are called in the metadata of the Parquet file.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from ..crowd.ids import is_present, text
from ..errors import DataError, require_no_address
from .table import each_batch
from .unpacking import UnsoundError, whole_lines

# The key of the metadata, and the number that means "no label" there.
_METADATA_KEY: Final = "huggingface"
UNLABELLED: Final = -1


def read_label_names(path: str | os.PathLike[str]) -> list[str]:
    """Read the names of classes from a text file with one in each line. Raises `DataError` if it cannot be read."""
    require_no_address(path, "The file of names of classes")
    try:
        text = b"".join(piece.text for piece in whole_lines(os.fspath(path))).decode()
    except (OSError, UnsoundError) as problem:
        raise DataError(f"{path} does not read as names of classes: {problem}.") from problem
    names = [line.strip() for line in text.splitlines()]
    if not all(names) or len(set(names)) < len(names):
        raise DataError(f"{path} is to have one name of a class in each line, all different, and none empty.")
    return names


def features_in(metadata: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what the library `datasets` says of the columns in the metadata of a Parquet file; empty if nothing."""
    try:
        features = json.loads(metadata.get(_METADATA_KEY, "{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def names_of(features: Mapping[str, Any], path: str) -> list[str] | None:
    """Return the names of the classes of a column, or of a field in it as in "column.field"; None if it has none.

    >>> names_of({"votes": {"feature": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}, "votes.label")
    ['no', 'yes']
    """
    feature = _feature(features, path)
    if feature is None and "." in path:
        column, _, field = path.partition(".")
        feature = _feature(_feature(features, column), field)
    names = feature.get("names") if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" else None
    usable = isinstance(names, list) and all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return names if usable else None


def _feature(features: Any, name: str) -> Any:
    """Return what is said of a column or field, without the lists around it."""
    feature = features.get(name) if isinstance(features, Mapping) else None
    while True:
        if isinstance(feature, list) and feature:
            feature = feature[0]
        elif isinstance(feature, dict) and isinstance(feature.get("feature"), list | dict):
            feature = feature["feature"]
        else:
            return feature


def with_class_names(lazy: pl.LazyFrame, names: Sequence[str], missing: Sequence[Any] = ()) -> pl.LazyFrame:
    """Return the table with the names of the classes 0, 1, 2, ... in the place of their numbers in the column label.

    Values in `missing` mean "no label". Reading the table raises `UnsoundError` if a label is no number of a class.
    """
    of_class = pl.Series("label", names, pl.String)

    def name(table: pl.DataFrame) -> pl.DataFrame:
        labels = table["label"]
        labels = labels.cast(pl.Int8) if labels.dtype == pl.Boolean else labels
        labels = labels.set(~is_present(labels, missing), None)
        # By way of text, because a cast from a float to an integer cuts off what is after the point.
        numbers = pl.select(text(pl.lit(labels), labels.dtype).cast(pl.Int64, strict=False)).to_series()
        wrong = labels.is_not_null() & ~numbers.is_between(0, len(of_class) - 1).fill_null(False)
        if wrong.any():
            first = labels.filter(wrong)[0]
            raise UnsoundError(f"the label {first!r} has no name: there are names for 0 to {len(of_class) - 1}")
        return table.with_columns(of_class.gather(numbers).alias("label"))

    return each_batch(lazy, name, {**lazy.collect_schema(), "label": pl.String()})
