"""`warm_up`: compiles the kernels that fits, comparisons and reports need, so that the first of them need not wait."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ..analysis import cautions, compare, compare_numbers
from ..crowd.simulation import simulate, simulate_numbers
from ..errors import CallError, DataError
from ..methods import METHODS, NUMERIC_METHODS, choose
from ..numerics.compilation import machine_code_folder
from ..numerics.twins import kernels_only
from ..output.writing import write
from ..reading.read_labels import read_labels
from .report_page import report

# Some kernels are compiled for each small number of classes, others for few and for many.
_CLASSES: Final = (*range(2, 9), 40)
# Each format has kernels of its own.
_FORMATS: Final = ("csv", "jsonl", "parquet")


def warm_up(
    methods: Sequence[str] | None = None, *, progress: Callable[[int, int, str], None] = lambda *_: None
) -> str:
    """Compile what `aggregate`, `compare` and `report` need, and return the folder where the machine code is kept.

    Machine code is for this kind of processor and these versions of Numba and crowdwise. It is read by every later
    process that may read the folder; "no folder" is returned if none can be written to.

    Args:
        methods: The keys of methods, for classes or for numbers; None for all of them.
        progress: Called before each step with its number from 0 on, how many there are, and what is compiled.

    Raises:
        CallError: There is no method with such a key.
    """
    keys = [*METHODS, *NUMERIC_METHODS] if methods is None else list(methods)
    labelling = {key: choose(key) for key in keys if key in METHODS or key not in NUMERIC_METHODS}
    numeric = {key: choose(key, numbers=True) for key in keys if key in NUMERIC_METHODS}
    steps = [*(_CLASSES if labelling else ()), *([None] if numeric else [])]
    with TemporaryDirectory() as folder, kernels_only():
        for number, count in enumerate(steps):
            progress(number, len(steps), "numbers" if count is None else f"{count} classes")
            if count is None:
                _numbers(Path(folder), numeric)
            else:
                _classes(Path(folder), count, labelling)
    return machine_code_folder()


def _classes(folder: Path, count: int, methods: dict[str, Any]) -> None:
    """Do everything with labels of so many classes."""
    crowd = simulate(60, 8, count, seed=1)
    labels = _read_again(folder, crowd.rows)
    compare(labels, methods, crowd.truth)
    for method in methods.values():
        with suppress(DataError):  # some methods refuse so many classes
            result = method.fit(labels, warn=False)
            result.workers_frame()
            cautions(result, labels)
    _report(next(iter(methods.values())), labels, crowd.truth, folder)


def _numbers(folder: Path, methods: dict[str, Any]) -> None:
    """Do everything with labels that are numbers."""
    crowd = simulate_numbers(60, 8, seed=1)
    numbers = _read_again(folder, crowd.rows, numeric=True)
    compare_numbers(numbers, methods, crowd.truth)
    for method in methods.values():
        method.fit(numbers, warn=False).workers_frame()
    _report(next(iter(methods.values())), numbers, crowd.truth, folder)


def _read_again(folder: Path, rows: Any, **more: Any) -> Any:
    """Write labels to a file of every format, read all of them, and return those of the last."""
    files = [folder / f"labels.{extension}" for extension in _FORMATS]
    write(dict.fromkeys(files, rows))
    *_, labels = (read_labels(file, warn=False, **more) for file in files)
    return labels


def _report(method: Any, labels: Any, truth: Any, folder: Path) -> None:
    with suppress(CallError, DataError):  # the extra for reports is not installed, or the method refuses the labels
        report(method.fit(labels, warn=False), labels, truth, folder / "report.html")
