"""`saved` and `load_result`: a result to one Arrow file and back, exactly.

What a result consists of is plain: arrays, columns, numbers, texts, and dataclasses of crowdwise that hold such. The
file has the arrays and columns as they are in memory, and a text in JSON that says how they belong together. Reading it
makes dataclasses of crowdwise and nothing else, so that no file can run code, as a pickle can.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from ..errors import CallError, DataError
from ..output.targets import check_distinct
from ..output.writing import write
from .learned import Learned
from .result import Result
from .sealed import CROWDWISE, local_bytes, sealed, unsealed
from .tables import ResultTables

_KIND: Final = "result"
_VERSION: Final = 1
_PACKAGE: Final = __name__.partition(".")[0]
# A class of crowdwise: its module and its name there.
_CLASS: Final = re.compile(rf"({_PACKAGE}(?:\.\w+)+):(\w+)")
# Names of files that hold tables; whoever saves to one expects a table.
_TABLES: Final = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".json", ".jsonl", ".html")
_PLAIN: Final = (bool, int, float, str)


class Kept(NamedTuple):
    """What a result measures when somebody asks for it, measured already."""

    value: Any

    def __call__(self, *_: Any) -> Any:
        """Return it."""
        return self.value


def save(result: Any, path: str | os.PathLike[str]) -> None:
    """Write a result to a file; see `ResultTables.save`."""
    check_distinct([path])
    if os.fspath(path).lower().endswith(_TABLES):
        raise CallError(
            f"{os.fspath(path)} is a name for a table, and `save` writes a whole result for `load_result`: "
            "end the name in .arrow, or write tables by result.write."
        )
    content = saved(result)
    write({os.fspath(path): lambda place: place.write_bytes(content)})


def saved(result: Any) -> bytes:
    """Return the file of a result. Raises `CallError` if it has something in it that cannot be saved."""
    if not is_dataclass(result):
        raise CallError(
            "A result on disk or in a cluster cannot be saved, only its tables (result.write) and what was counted "
            "(result.history.write)."
        )
    cautions = result.cautions if isinstance(result, ResultTables) else ()
    columns: list[pl.Series] = []
    about = {"result": _told(result, columns), "cautions": _told(cautions, columns)}
    row = pl.DataFrame(
        {
            "crowdwise_result": [_VERSION],
            "crowdwise": [CROWDWISE],
            "about": [json.dumps(about)],
            **{str(number): column.implode() for number, column in enumerate(columns)},
        }
    )
    return sealed(row, _KIND)


def load_result(path: str | os.PathLike[str]) -> Any:
    """Read a result that its method `save` wrote.

    Returns:
        The same `Result`, `NumericResult` or `RankResult`: all tables, scores, parameters of workers and cautions. It
        can be given to `report`, `explain` or `next_labels` together with its labels, which are not in the file.

    Raises:
        DataError: There is no such file, it is damaged or no result, or another crowdwise wrote it, whose results are
            made otherwise.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import crowdwise as cw
    >>> path = Path(tempfile.mkdtemp()) / "result.arrow"
    >>> result = cw.aggregate(cw.simulate(50, 10, seed=1).labels)
    >>> result.save(path)
    >>> cw.load_result(path).to_frame().equals(result.to_frame())
    True
    """
    try:
        row = unsealed(local_bytes(path, _KIND), _KIND)
        version, writer = row["crowdwise_result"][0], row["crowdwise"][0]
        about = json.loads(row["about"][0])
    except DataError:
        raise
    except Exception as problem:  # a damaged file can make any error
        raise DataError(f"{path} is no result that `Result.save` wrote, or it is damaged.") from problem
    try:
        if version != _VERSION:
            raise ValueError(f"version {version}")
        columns = [row[str(number)][0] for number in range(row.width - 4)]
        result, cautions = (_made(about[name], columns) for name in ("result", "cautions"))
    except Exception as problem:  # an attribute that results have no more, for example
        raise DataError(
            f"crowdwise {writer} wrote {path}, and crowdwise {CROWDWISE} makes its results otherwise: use that "
            "crowdwise, or infer again."
        ) from problem
    if not hasattr(result, "save"):
        raise DataError(f"{path} has no result in it.")
    return result.with_cautions(lambda: cautions) if isinstance(result, ResultTables) else result


def _measured(result: Result) -> Result:
    """Return a result that has already measured what it measures when somebody asks for it."""
    kept: dict[str, Any] = {
        f"measure_{name}": Kept(getattr(result, name))
        for name in ("quality", "variance", "stated")
        if getattr(result, f"measure_{name}") is not None
    }
    return replace(result, **kept)


def _told(value: Any, columns: list[pl.Series]) -> Any:
    """Return a value as what JSON can say, with its arrays and columns added to `columns`."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Result):  # also where another result, such as one of sets, holds it
        value = _measured(value)
    if isinstance(value, np.generic):
        return {"number": value.item(), "dtype": value.dtype.str}
    if isinstance(value, np.ndarray):
        columns.append(pl.Series(str(len(columns)), value.ravel()))
        return {"array": len(columns) - 1, "shape": value.shape, "dtype": value.dtype.str}
    if isinstance(value, pl.Series):
        columns.append(value)
        return {"column": len(columns) - 1, "name": value.name}
    if isinstance(value, pl.DataFrame):
        return {"table": [_told(column, columns) for column in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[_told(key, columns), _told(one, columns)] for key, one in value.items()]}
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return {type(value).__name__: [_told(one, columns) for one in value]}
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    if _class_of(name) is not type(value):
        raise CallError(
            f"{type(value).__qualname__} is no class of crowdwise, so that this result cannot be saved: write its "
            "tables with result.write(...)."
        )
    declared = fields(value) if is_dataclass(value) else ()
    names = getattr(value, "_fields", None) or [one.name for one in declared if one.init]
    return {"class": name, "with": {one: _told(getattr(value, one), columns) for one in names}}


def _made(told: Any, columns: list[pl.Series]) -> Any:
    """Return the value that `_told` was told of."""
    if not isinstance(told, dict):
        return told
    if "class" in told:
        kind = _class_of(told["class"])
        if kind is None:
            raise ValueError(told["class"])
        return kind(**{name: _made(one, columns) for name, one in told["with"].items()})
    if "array" in told:
        # A copy, because the memory of a column cannot be written to.
        return np.array(columns[told["array"]].to_numpy(), told["dtype"]).reshape(told["shape"])
    if "column" in told:
        return columns[told["column"]].alias(told["name"])
    if "table" in told:
        return pl.DataFrame([_made(one, columns) for one in told["table"]])
    if "mapping" in told:
        return {_made(key, columns): _made(one, columns) for key, one in told["mapping"]}
    if "number" in told:
        return np.dtype(told["dtype"]).type(told["number"])
    ((kind_of_list, items),) = told.items()
    return {"tuple": tuple, "list": list}[kind_of_list](_made(one, columns) for one in items)


def _class_of(name: str) -> Any:
    """Return the dataclass or named tuple of crowdwise with this name; None if there is none."""
    found = _CLASS.fullmatch(name)
    if found is None:
        return None
    kind = getattr(import_module(found[1]), found[2], None)
    if kind is Learned:  # which has nothing in it
        return kind
    plain = isinstance(kind, type) and (is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields")))
    return kind if plain else None
