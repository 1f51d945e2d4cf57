"""Toloka: the TSV file with the assignments of a pool."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..crowd.read_options import ReadOptions
from ..sources.formats import rows_of
from ..sources.input import Input
from .fields import Location, entries, path_of, text_or_none
from .platform import Answer, Finding, Platform, Remark

_INPUT, _OUTPUT, _GOLDEN, _HINT = "INPUT:", "OUTPUT:", "GOLDEN:", "HINT:"
_WORKER, _STATUS, _TASK = "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:task_id"
_TIMES: Final = ("ASSIGNMENT:submitted", "ASSIGNMENT:accepted", "ASSIGNMENT:started")


def _recognises(file: Input) -> bool:
    return _WORKER in file.header and any(name.startswith(_OUTPUT) for name in file.header)


def _read(files: Sequence[Input], options: ReadOptions) -> Iterator[Finding]:
    golden: set[tuple[Any, ...]] = set()
    for file in files:
        inputs = [name for name in file.header if name.startswith(_INPUT)]
        if options.item is None and len(inputs) > 1 and _TASK not in file.header:
            yield Remark(f"The item is all of {', '.join(inputs)}, joined; --item-column names one column.")
        for at, row in entries([file], "row", rows_of):
            item = _item(at, row, inputs, options)
            for name, value in row.items():
                question = name.partition(":")[2]
                if name.startswith(_OUTPUT):
                    yield _answer(row, item, question, _choices(at, value, name))
                elif name.startswith(_GOLDEN) and value:
                    truth = (item, question, _choices(at, value, name))
                    if truth not in golden:  # it stands in the row of every worker
                        golden.add(truth)
                        yield Answer(item, "golden", question, truth[2], gold=True)


def _item(at: Location, row: Mapping[str, Any], inputs: Sequence[str], options: ReadOptions) -> Any:
    """Return the item of a row: the field that the user names, the only input, the task, or all inputs."""
    if options.item is not None or len(inputs) == 1:
        return at.field(row, options.item or inputs[0])
    if _TASK in row or not inputs:
        return at.field(row, _TASK)
    return path_of(row[name] or "" for name in inputs)


def _answer(row: Mapping[str, Any], item: Any, question: str, choices: tuple[Any, ...]) -> Answer:
    """Return what a worker said in one column of output."""
    status = (text_or_none(row.get(_STATUS)) or "approved").lower()
    if any(value for name, value in row.items() if name.startswith(_HINT)):
        status = "training"
    time = next((row[name] for name in _TIMES if row.get(name)), None)
    status = "" if status in ("approved", "submitted") else status
    return Answer(item, text_or_none(row.get(_WORKER)), question, choices, status, time=time)


def _choices(at: Location, value: str | None, name: str) -> tuple[Any, ...]:
    """Return the classes in a cell: none, one, or a list of them in JSON."""
    if not value:
        return ()
    listed = at.parsed(value, repr(name)) if value.startswith("[") else value
    return at.classes(listed if isinstance(listed, list) else [listed], repr(name))


TOLOKA: Final = Platform("toloka", "a Toloka pool", _recognises, _read, uses=("item",))
