"""The steps that several commands share: choose a method, read labels, fit, and inform the user.

Modules that are slow to import are imported only where they are used, so that `--help` answers at once.
"""

import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from .options import DEFAULT_GOLD_WEIGHT, DEFAULT_METHOD, Reading

if TYPE_CHECKING:
    import polars as pl

    from ..analysis.costs import CostTable
    from ..analysis.ordinal import Ordinal
    from ..crowd.labels import Labels
    from ..crowd.protocol import Crowd
    from ..crowd.read_options import ReadOptions
    from ..fitting.method import Method
    from ..reading.read_truth import Truths
    from ..results.history import History
    from ..results.in_parts import Inferred
    from .terminal import Terminal

# The bytes of files from which on kernels are likely to be needed.
_LARGE: Final = 1 << 19


def choose_method(key: str, settings: list[str] | None, *, numbers: bool = False) -> "Method":
    """Return the method with its parameters.

    Args:
        key: The key of the method, as listed by `crowdwise methods`.
        settings: Parameters as text, such as "tolerance=1e-6".
        numbers: Whether it is a method for numeric labels.
    """
    from ..methods import choose

    return choose(key, settings or [], numbers=numbers)


def _load_compiler(files: Sequence[str]) -> None:
    """Load Numba and a first kernel in a thread while polars reads the labels, if they look like many."""
    size = 0
    for file in files:
        with suppress(OSError, ValueError):  # it is no file; who reads it says so
            size += Path(file).stat().st_size
    if size < _LARGE:
        return
    from threading import Thread

    def load() -> None:
        import numpy as np

        from ..crowd.encoding_kernel import fnv

        arrays = np.zeros(0, np.uint8), np.zeros(0, np.int64)
        for array in arrays:
            array.flags.writeable = False  # as those that polars gives, for which the kernel is compiled
        fnv(*arrays)

    Thread(target=load, daemon=True).start()


def read_known(truth: str | None, reading: Reading, terminal: "Terminal") -> "pl.DataFrame | None":
    """Read the known truths; returns None if the user gave no file. The user is told what there is to know about them.

    If the file is an export, they are those of the question that labels are read of.
    """
    if truth is None:
        return None
    found = _read_truths(truth, reading)
    for caution in found.cautions:
        terminal.caution(caution)
    return found.table


def _read_truths(path: str, reading: Reading) -> "Truths":
    """Read known truths; from an export they are read as the labels are."""
    from ..reading.read_truth import read_truths

    named = reading.format if path in reading.files else "auto"
    if named == "table" or (named == "auto" and not _is_export(path, reading)):
        return read_truths(path, **reading.truth_keywords(is_export=False))
    return read_truths(path, format=named, **reading.truth_keywords(is_export=True))


def read_true_sets(truth: str | None, reading: Reading) -> "pl.DataFrame | None":
    """Read known sets of classes, for `--multi each`; returns None if the user gave no file."""
    from ..reading.truth_sets import read_truth_sets

    return None if truth is None else read_truth_sets(truth, **_set_keywords(truth, reading))


def read_known_classes(truth: str | None, reading: Reading, terminal: "Terminal") -> "pl.DataFrame | None":
    """Read the known truths, or with `--multi each` the known sets of classes; returns None without a file."""
    return read_true_sets(truth, reading) if reading.multi == "each" else read_known(truth, reading, terminal)


def about_questions(known: "Truths | None", labels: "Crowd") -> "Truths | None":
    """Return known sets of classes as answers to the questions of labels with several classes; others as they are."""
    if known is None or getattr(labels, "sets", None) is None:
        return known
    from ..reading.truth_sets import gold_of_sets

    return gold_of_sets(known, cast("Labels", labels))


def _set_keywords(path: str, reading: Reading) -> dict[str, Any]:
    """Return how a file with known sets of classes is read."""
    is_export = _is_export(path, reading)
    keywords = {name: one for name, one in reading.truth_keywords(is_export=is_export).items() if name != "multi"}
    return keywords | ({} if is_export else {"separator": reading.separator})


def _is_export(path: str, reading: Reading) -> bool:
    """Return whether a file of truths is an export of a platform, and no table."""
    from ..crowd.read_options import ReadOptions
    from ..reading.read_answers import is_export

    return is_export(path, ReadOptions(storage=reading.storage_options()))


def read_given_costs(costs: str | None, reading: Reading, engine: str = "memory") -> "CostTable | None":
    """Read the costs; returns None if the user gave no file. Refuses a file that also holds the labels, and Spark."""
    if costs is None:
        return None
    from ..analysis.costs import read_costs
    from ..errors import CallError
    from ..output.targets import check_other_file

    if engine == "spark":
        raise CallError(
            "--costs does not go with --engine spark: let it write --probabilities, and decide by these columns."
        )
    check_other_file("--costs", costs, reading.files)
    return read_costs(costs, reading.storage_options())


def read_order(
    ordinal: bool, order: str | None, distance: str | None, costs: str | None = None, engine: str = "memory"
) -> "Ordinal | None":
    """Return how classes are ordered; None if the user said nothing of that. Refuses costs beside it, and Spark."""
    if not ordinal and order is None and distance is None:
        return None
    from ..analysis.decisions import one_of
    from ..analysis.ordinal import ordinal as ordinal_of
    from ..errors import CallError

    classes = None if order is None else [one.strip() for one in order.split(",")]
    asked = one_of(costs, ordinal_of(ordinal, classes, distance))
    if asked is not None and engine == "spark":
        raise CallError(
            "Ordered classes do not go with --engine spark: let it write --probabilities, and decide by these columns."
        )
    return asked


def read(
    terminal: "Terminal",
    reading: Reading,
    options: "ReadOptions | None" = None,
    method: "Method | None" = None,
    *,
    numeric: bool = False,
    ordered: bool = False,
    cautions: bool = True,
) -> Any:
    """Read the labels, and tell the user which columns were recognised, and where the labels are.

    Args:
        terminal: Where to tell the user.
        reading: Which labels to read.
        options: How to read them, with where to work on them; None for what `reading` says, in memory.
        method: The method that will be fitted. If it cannot run on the engine, this is refused before anything is read.
        numeric: Whether labels are numbers.
        ordered: Whether the user said that classes have an order.
        cautions: Whether to tell the user what was repaired and what looks like a slip; otherwise the caller does.
    """
    from ..reading.read_labels import read_with

    _load_compiler(reading.files)
    options = options or reading.options(numeric=numeric)
    labels: Crowd = read_with(options, reading.files, method, terminal.phases(), warn=False)
    for sentence in labels.report.understood:
        terminal.remark(sentence)
    recognised = ", ".join(f"{role} = {column!r}" for role, column in labels.report.columns.items())
    terminal.remark(f"Read {labels.report.rows:,} rows: {recognised}.")
    for caution in labels.cautions if cautions else ():
        if not (ordered and caution.kind == "numbers"):
            terminal.caution(caution)
    if options.engine == "auto" and labels.place == "disk":
        terminal.remark("The labels may not fit in memory (--engine memory tries).")
    for sentence in labels.remarks:
        terminal.remark(sentence)
    return labels


class Given(NamedTuple):
    """What is known besides the labels, as given by the options of a command.

    Attributes:
        gold: The known classes of items; None if there are none.
        gold_weight: How many items each of these counts as.
        history: What was counted in earlier labels; None if there is nothing.
        decay: What these counts are multiplied by.
    """

    gold: "Truths | None" = None
    gold_weight: float = DEFAULT_GOLD_WEIGHT
    history: "History | None" = None
    decay: float = 1.0

    def with_history(self, method: "Method", history: str | None, decay: float, reading: Reading) -> "Given":
        """Return the same with a state; raise `CallError` if the method takes none."""
        if history is None:
            return self
        from ..results.history import History

        method.require(history=True)
        return self._replace(history=History.read(history, reading.storage_options()), decay=decay)

    def held_out(self, terminal: "Terminal", known: "pl.DataFrame | None") -> "pl.DataFrame | None":
        """Return the truths of items that are not gold; the user is told how many are left out."""
        from ..crowd.ids import codes_of
        from ..errors import DataError

        if known is None or self.gold is None:
            return known
        given = codes_of(known["item"], self.gold.table["item"]) >= 0
        if given.all():
            raise DataError("Every item of --truth is in --gold too, so none is left to evaluate by.")
        if given.any():
            terminal.remark(f"{given.sum():,} items of the truth are gold, and so left out of the evaluation.")
        return known.filter(~given)


def read_gold(gold: str | None, gold_weight: float, reading: Reading, *, of_pairs: bool = False) -> Given:
    """Read the known classes of items, if the user gave a file with them.

    With `--multi each` these are sets; or with `of_pairs`, as on disk, answers about items such as "7: cat".
    Raises `CallError` if it is a table that is also read as labels; an export may have both in it.
    """
    from ..output.targets import check_other_file

    if gold is None:
        return Given(None, gold_weight)
    if not _is_export(gold, reading):
        check_other_file("--gold", gold, reading.files)
    if reading.multi == "each" and not of_pairs:
        from ..reading.truth_sets import read_gold_sets

        return Given(read_gold_sets(gold, **_set_keywords(gold, reading)), gold_weight)
    return Given(_read_truths(gold, reading), gold_weight)


def review_arguments(reading: Reading, gold: str | None, given: Given, method: str) -> str:
    """Return what follows `crowdwise review` to go on with these labels, and with the decisions that are gold.

    Gold that `crowdwise review` did not write is named as --gold, which it does not take.
    """
    from ..reviewing.log import default_path

    words = reading.arguments()
    if gold is not None and given.gold is not None:
        if given.gold.log is None:
            columns = {"--truth-item-column": reading.truth_item, "--truth-label-column": reading.truth_label}
            named = [word for option, name in columns.items() if name is not None for word in (option, name)]
            words = f"{words} {shlex.join(['--gold', gold, *named])}"
        elif Path(gold) != default_path(reading.files[0]):
            words = f"{words} --decisions {shlex.quote(gold)}"
    return words if method == DEFAULT_METHOD else f"{words} -m {method}"


@contextmanager
def warnings_said(terminal: "Terminal") -> Iterator[None]:
    """Tell the user what is warned of, each sentence once, when the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for sentence in dict.fromkeys(str(one.message) for one in caught):
        terminal.remark(sentence)


def fit(
    terminal: "Terminal",
    method: "Method",
    labels: "Crowd",
    given: Given | None = None,
    *,
    cautions: bool = True,
    strict: bool = False,
) -> Any:
    """Fit a method while showing a progress bar; tell the user what gold says about it.

    Args:
        terminal: Where to tell the user.
        method: The method.
        labels: The labels.
        given: What is known besides the labels.
        cautions: Whether to tell the user what the fit found, such as that it did not converge; otherwise the caller
            does. What `read` told is not told again.
        strict: Whether to raise `DataError` if the method did not converge.
    """
    from ..errors import DataError

    if given is not None:
        given = given._replace(gold=about_questions(given.gold, labels))
    known: Any = {} if given is None else given._asdict()
    with terminal.progress(method.tolerance) as progress:
        result: Any = method.fit(labels, **known, progress=progress, warn=False)
    if strict and not result.convergence.converged:
        raise DataError(f"{method.key} {result.convergence}, which --strict does not allow.")
    told = set(labels.cautions)
    for caution in result.cautions if cautions else ():
        if caution not in told:
            terminal.caution(caution)
    if given is not None and given.gold is not None:
        what = "Fewer than two gold items were drawn at random, so gold does not calibrate confidence here."
        terminal.remark(what if result.gold_check is None else str(result.gold_check))
    return result


def require_convergence(rows: Iterable[Mapping[str, Any]], reading: Reading) -> None:
    """Raise `DataError` if a method of a comparison ran out of iterations, and --strict was given."""
    from ..errors import DataError
    from ..results.ending import RAN_OUT

    late = [row["method"] for row in rows if row["ending"] == RAN_OUT]
    if reading.strict and late:
        raise DataError(f"{', '.join(late)} {RAN_OUT}, which --strict does not allow.")


def state_of(result: "Inferred") -> "History":
    """Return what was counted, to be saved. Raises `DataError` if there is nothing."""
    from ..errors import DataError

    if result.history is None:
        raise DataError(
            f"{type(result.method).__name__} has no counts to save for these labels, because there are too many "
            "classes, or votes that name several."
        )
    return result.history


def command_line() -> str:
    """Return the command that the user typed, in a form that can be pasted into a shell, without secrets.

    The passwords of addresses and the values of --storage, which may be keys, are left out.
    """
    from ..addresses import shown_words

    return shlex.join(["crowdwise", *shown_words(sys.argv[1:])])
