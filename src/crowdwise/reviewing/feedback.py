"""`feedback`: a file for each worker with the items that were decided against them, without the votes of others."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from ..crowd.ids import codes_of
from ..crowd.labels import Labels
from ..errors import CallError
from ..output.writing import write
from ..reading.decision_log import settled, standing
from .log import DecisionFile

# What a file may be called; other characters are left out of its name.
_SAFE: Final = re.compile(r"[^\w.@-]+")
_LONGEST: Final = 60


def feedback(labels: Labels, file: DecisionFile, columns: Mapping[str, pl.Series], folder: Path) -> pl.DataFrame:
    """Write a file for each worker who said something else than was decided, and a list of these files.

    Args:
        labels: The labels.
        file: The decisions.
        columns: What is shown of every item, by the name of the column.
        folder: Where to write; it may be there already, and must have no file that would be replaced by another.

    Returns:
        The list, workers.csv: worker, file, decided (how many of the worker's items were decided) and against.
    """
    held, _ = settled(standing(file.table()))
    codes = codes_of(held["item"], labels.names.items)
    held = held.with_columns(pl.Series("code", codes)).filter(pl.col("code") >= 0)
    votes = _votes(labels, held, columns)
    if votes.height == 0:
        raise CallError(
            f"{file.path} has no decision about an item of these labels, so there is nothing to say to anybody."
        )
    listed: list[tuple[str, str | None, int, int]] = []
    tables = {}
    names = labels.names.workers.cast(pl.String)
    for (worker,), rows in votes.sort("worker", maintain_order=True).group_by("worker", maintain_order=True):
        against = rows.filter("against").drop("worker", "against")
        name = f"{_file_name(str(names[int(worker)]))}-{len(listed) + 1}.csv"
        listed.append((str(names[int(worker)]), name if against.height else None, rows.height, against.height))
        if against.height:
            tables[folder / name] = against
    index = pl.DataFrame(listed, schema=["worker", "file", "decided", "against"], orient="row")
    folder.mkdir(parents=True, exist_ok=True)
    write({**tables, folder / "workers.csv": index})
    return index


def _votes(labels: Labels, held: pl.DataFrame, columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return a row for each vote on a decided item: worker (its code), item, what is shown, said, decided, against."""
    rows = [(int(row), code) for code in held["code"].to_list() for row in range(*labels.item_starts[code : code + 2])]
    places = pl.Series([row for row, _ in rows], dtype=pl.Int64).to_numpy()
    items = pl.Series([code for _, code in rows], dtype=pl.Int64)
    about = pl.DataFrame({"code": items}).join(held, on="code", how="left", maintain_order="left")
    given: Any = labels.labels[places]
    said = (
        pl.Series(given).cast(pl.String)
        if labels.numeric
        else labels.names.classes.gather(pl.Series(given).cast(pl.Int64)).cast(pl.String)
    )
    decided = about["truth"]
    if not labels.numeric:
        known = labels.names.class_codes(decided)
        against = pl.Series(known != given.astype("int64"))
    else:
        against = said.cast(pl.Float64) != decided.cast(pl.Float64, strict=False)
    return pl.DataFrame(
        {
            "worker": labels.workers[places].astype("int64"),
            "item": about["item"],
            **{name: column.gather(items) for name, column in columns.items() if name not in ("item", "you_said")},
            "you_said": said,
            "decided": decided,
            "comment": about["comment"],
            "against": against,
        }
    )


def _file_name(worker: str) -> str:
    r"""Return the beginning of a file's name that says which worker it is for, whatever its name is.

    >>> _file_name("../ann b"), _file_name("Jörg"), _file_name("\u2603")
    ('ann-b', 'Jörg', 'worker')
    """
    return _SAFE.sub("-", worker).strip(".-")[:_LONGEST] or "worker"
