"""What commands do with `--numeric`: labels are numbers, and every item gets a value with an interval."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import typer

from . import session
from .options import DEFAULT_METHOD, Reading
from .streams import say

if TYPE_CHECKING:
    from ..crowd.protocol import Crowd
    from ..crowd.read_options import ReadOptions
    from ..fitting.method import Method
    from .terminal import Terminal

# The key of the method for numbers that is used if none is named.
DEFAULT_NUMERIC: Final = "robust"
# The columns of workers that fit on a screen; the file has all of them.
_SHOWN: Final = (
    "worker",
    "labels",
    "bias",
    "slope",
    "spread",
    "error",
    "quality",
    "quality_low",
    "quality_high",
    "wild",
)
# What these do without where the screen is too narrow for unbroken names, the least important first.
_SPARE: Final = ("wild", "spread", "bias", "slope")


def choose(context: typer.Context, key: str, settings: list[str] | None) -> tuple[str, "Method"]:
    """Return the key of the numeric method and the method; without --method, the default for numbers."""
    source = context.get_parameter_source("method")
    named = source is not None and source.name != "DEFAULT"
    key = key if named or key != DEFAULT_METHOD else DEFAULT_NUMERIC
    return key, session.choose_method(key, settings, numbers=True)


def aggregate(
    reading: Reading,
    asked: "ReadOptions",
    chosen: tuple[str, "Method"],
    paths: tuple[str | None, str | None, str | None],
    quiet: bool,
    as_json: bool,
    bom: bool,
) -> None:
    """Infer the value of every item and the errors of every worker.

    Args:
        reading: Which labels to read.
        asked: How they are read, and where they are worked on.
        chosen: The key of the method, and the method.
        paths: The file for the values, the file for the workers, and the file with true values; None for none.
        quiet: Whether to print nothing but errors.
        as_json: Whether to print one JSON object.
        bom: Whether CSV begins with the byte-order mark.
    """
    from ..analysis.numeric_evaluation import numeric_errors
    from ..methods import NUMERIC_METHODS
    from ..output.targets import check_targets
    from .terminal import Terminal

    output, workers, truth = paths
    targets = [path for path in (output, workers) if path is not None]
    check_targets(targets, [*reading.files, truth], folders=asked.engine == "spark", bom=bom)
    terminal = Terminal(quiet)
    known = session.read_known(truth, reading, terminal)
    key, method = chosen
    with terminal.compiling():
        numbers = session.read(terminal, reading, asked, method, numeric=True)
        with closing(numbers):
            result = session.fit(terminal, method, numbers, strict=reading.strict)
            errors = {}
            if known is not None:
                errors[key] = numeric_errors(result, known)
                for other in ("mean", "median"):
                    if other != key:
                        fitted: Any = NUMERIC_METHODS[other]().fit(numbers, warn=False)
                        errors[other] = numeric_errors(fitted, known)
            result.write(output, workers, storage=reading.storage_options(), bom=bom)
            for path in targets:
                terminal.remark(f"Wrote {path}{', a folder of files' if asked.engine == 'spark' else ''}")
            if as_json:
                tables = {"values": None if output else result.to_frame()}
                tables["workers"] = None if workers else result.workers_frame()
                say(json.dumps(_json_values(result, numbers, errors, targets, tables), allow_nan=False))
            elif not quiet:
                _show(terminal, result, numbers, errors, with_values=output is None)


def _json_values(
    result: Any, numbers: "Crowd", errors: Mapping[str, Any], written: list[str], tables: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the main numbers about the crowd and the fit as values that can be written as JSON."""
    found = {name: {one: _finite(value) for one, value in asdict(error).items()} for name, error in errors.items()}
    values: dict[str, Any] = {
        "crowd": {"items": numbers.n_items, "workers": numbers.n_workers, "labels": numbers.n_labels},
        "columns": numbers.report.columns,
        "repairs": numbers.report.repairs,
        "cautions": [caution.to_dict() for caution in result.cautions],
        "method": repr(result.method),
        "converged": result.convergence.converged,
        "iterations": result.convergence.iterations,
        "change": result.convergence.change,
        "typical_error": result.workers.typical**0.5,
        "errors": found,
        "written": written,
    }
    return values | {name: json.loads(table.write_json()) for name, table in tables.items() if table is not None}


def _finite(value: float) -> float | None:
    return None if value != value else value


def _show(terminal: "Terminal", result: Any, numbers: "Crowd", errors: Mapping[str, Any], *, with_values: bool) -> None:
    """Print what was inferred; then values, the best and the worst workers, and the items with the widest intervals."""
    from ..crowd.reading_report import several as several_of
    from .summary import few_workers

    by = several_of(numbers.n_workers, "worker", "workers")
    several = numbers.n_labels > numbers.n_items
    rows = [
        ("inferred", several_of(numbers.n_items, "value", "values")),
        ("from labels", f"{numbers.n_labels:,} ({numbers.n_labels / numbers.n_items:.2f} per item) by {by}"),
        ("by method", f"{result.method.key}, {result.convergence}"),
        ("error of a label", f"{result.workers.typical**0.5:.4g}" if several else "unknown: no item has two labels"),
    ]
    if result.workers.outlier_share:
        rows.append(("outliers", f"{result.workers.outlier_share:.2%}"))
    for name, one in errors.items():
        words = (
            f"MAE {one.mae:.4g}, RMSE {one.rmse:.4g}, correlation {one.correlation:.4f}, coverage {one.coverage:.3f}"
        )
        rows.append((f"errors of {name}", words))
    terminal.table("The answers", None, rows)
    if with_values:
        terminal.head("Inferred values", result.lazy(), 10, numbers.n_items)
    workers = result.workers_frame()
    workers = workers.select(name for name in _SHOWN if name in workers.columns)
    if several:
        title, some = few_workers(workers)
        terminal.table(title, some.columns, some.rows(), _SPARE)
        widest = result.disputed(5)
        terminal.table("Widest intervals", widest.columns, widest.rows())


def compare(
    reading: Reading, methods: str | None, truth: str | None, output: str | None, quiet: bool, as_json: bool
) -> None:
    """Run numeric methods side by side: errors against the truth, seconds; all of them if `methods` is None."""
    from ..analysis import compare_numbers
    from ..errors import quoted
    from ..methods import NUMERIC_METHODS
    from ..methods import choose as choose_method
    from ..output.targets import check_targets
    from ..reporting import comparison_page
    from .terminal import Terminal

    if output is not None:
        check_targets([output], [*reading.files, truth], page=True)
    keys = list(NUMERIC_METHODS) if methods is None else [key.strip() for key in methods.split(",")]
    chosen = {key: choose_method(key, numbers=True) for key in keys}
    terminal = Terminal(quiet)
    with terminal.compiling():
        numbers = session.read(terminal, reading, numeric=True)
        known = session.read_known(truth, reading, terminal)
        with terminal.steps(len(chosen)) as begin, session.warnings_said(terminal):
            rows = compare_numbers(numbers, chosen, known, begin)
    session.require_convergence(rows, reading)
    if output is not None:
        comparison_page(numbers, rows, output, session.command_line())
        terminal.remark(f"Wrote {output}")
    if as_json:
        say(json.dumps({"methods": rows}))
        return
    header = [name for name in rows[0] if name != "ending"]
    measured = [row for row in rows if row.get("rmse") is not None]
    if measured:
        best = min(measured, key=lambda row: row["rmse"])
        terminal.notes([f"{quoted(best['method'])} has the smallest error (RMSE {best['rmse']:.4g})."])
    else:
        terminal.notes(["Which method is best is unknown without known values: --truth FILE measures errors."])
    terminal.table("Methods", header, [[row[name] for name in header] for row in rows])
    for row in rows:
        if row["ending"] != "converged":
            terminal.remark(f"{quoted(row['method'])}: {row['ending']}")


def report(
    reading: Reading, chosen: tuple[str, "Method"], truth: str | None, output: str, title: str, quiet: bool
) -> None:
    """Write a page about a crowd with numeric labels."""
    from pathlib import Path

    from ..output.targets import check_targets
    from ..reporting import report as write_report
    from ..reviewing.item_columns import item_texts
    from .terminal import Terminal

    check_targets([output], [*reading.files, truth], page=True)
    terminal = Terminal(quiet)
    known = session.read_known(truth, reading, terminal)
    with terminal.compiling():
        numbers = session.read(terminal, reading, numeric=True)
        result = session.fit(terminal, chosen[1], numbers, strict=reading.strict)
        command = session.command_line()
        texts = item_texts(numbers, reading.files, reading.options(numeric=True))
        write_report(result, numbers, known, output, command=command, title=title, name=reading.shown_name, texts=texts)
    terminal.remark(f"Wrote {output} ({Path(output).stat().st_size / 1e6:.1f} MB)")
