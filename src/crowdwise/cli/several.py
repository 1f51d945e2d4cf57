"""What `crowdwise aggregate` does with `--multi each`: workers name several classes at once, every item gets a set."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from . import session
from .options import Reading
from .streams import say

if TYPE_CHECKING:
    from ..analysis.set_accuracy import SetAccuracy
    from ..analysis.set_result import SetResult
    from ..crowd.labels import Labels
    from ..crowd.read_options import ReadOptions
    from .terminal import Terminal

# What tables on the screen do without where it is too narrow, the least important first.
_SPARE: Final = ("agreement", "quality_low", "quality_high", "named")


def aggregate(
    reading: Reading,
    asked: "ReadOptions",
    chosen: tuple[str, list[str] | None],
    paths: Mapping[str, str | None],
    wanted: Mapping[str, Any],
    at_least: float | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Infer the set of classes of every item and the quality of every worker.

    Args:
        reading: Which labels to read.
        asked: How they are read.
        chosen: The key of the method, and its parameters as text.
        paths: The files: output, workers and review to write; truth, gold and costs to read; None for none.
        wanted: Which columns to write (scores, probabilities), whether with a byte-order mark (bom) and with
            provenance; gold_weight; and the limits of the review list (top, below).
        at_least: The probability from which on a class is in the set; None for more probable than not.
        quiet: Whether to print nothing but errors.
        as_json: Whether to print one JSON object.
    """
    from ..analysis.provenance import provenance
    from ..analysis.review import check_review, expected_errors, review_list
    from ..analysis.set_accuracy import set_accuracy
    from ..analysis.set_result import check_at_least, sets_of
    from ..methods import METHODS
    from ..output.targets import check_targets
    from .terminal import Terminal

    key, settings = chosen
    method = session.choose_method(key, settings)
    output, workers, review = (paths[name] for name in ("output", "workers", "review"))
    targets = [path for path in (output, workers, review) if path is not None]
    check_targets(targets, [*reading.files, *(paths[name] for name in ("truth", "gold", "costs"))], bom=wanted["bom"])
    check_at_least(at_least)
    check_review(wanted["top"], wanted["below"])
    terminal = Terminal(quiet)
    truth = session.read_true_sets(paths["truth"], reading)
    given = session.read_gold(paths["gold"], wanted["gold_weight"], reading)
    truth = given.held_out(terminal, truth)
    costs = session.read_given_costs(paths["costs"], reading)
    with terminal.compiling():
        labels = session.read(terminal, reading, asked, method)
        result = session.fit(terminal, method, labels, given, strict=reading.strict)
        found = sets_of(result, labels, at_least, costs)
        measured = {}
        if truth is not None:
            measured[key] = set_accuracy(found, truth)
            if key != "mv":
                votes = METHODS["mv"]().fit(labels, warn=False)
                measured["mv"] = set_accuracy(sets_of(votes, labels), truth)
        again = None if review is None else review_list(result, labels, top=wanted["top"], below=wanted["below"])
        origin = provenance(found, labels) if wanted["provenance"] else None
        columns = {name: wanted[name] for name in ("scores", "probabilities")}
        also = {} if review is None else {review: again}
        storage = reading.storage_options()
        found.write(output, workers, **columns, bom=wanted["bom"], storage=storage, also=also, provenance=origin)
    for path in targets:
        terminal.remark(f"Wrote {path}")
    if again is not None:
        terminal.remark(expected_errors(result, again))
    if as_json:
        tables = {"labels": None if output else with_origin(found.to_frame(**columns), origin)}
        tables["workers"] = None if workers else found.workers_frame()
        values = _json_values(found, labels, measured, targets)
        say(
            json.dumps(values | {name: json.loads(one.write_json()) for name, one in tables.items() if one is not None})
        )
    elif not quiet:
        _show(terminal, found, labels, measured, with_answers=output is None)


def _json_values(
    found: "SetResult", labels: "Labels", measured: "Mapping[str, SetAccuracy]", written: list[str]
) -> dict[str, Any]:
    """Return the main numbers about the crowd and the fit as values that can be written as JSON."""
    result, sets = found.result, found.sets
    return {
        "cautions": [caution.to_dict() for caution in result.cautions],
        "crowd": {
            "items": len(sets.items),
            "workers": labels.n_workers,
            "classes": len(sets.classes),
            "answers": len(sets.workers),
            "empty_answers": sets.empty_answers,
            "named": len(sets.named),
            "pairs": labels.n_items,
        },
        "columns": labels.report.columns,
        "repairs": labels.report.repairs,
        "method": repr(result.method),
        "converged": result.convergence.converged,
        "iterations": result.convergence.iterations,
        "at_least": found.at_least,
        "gold": None if result.gold_check is None else result.gold_check.to_dict(),
        "accuracy": {name: one.to_dict() for name, one in measured.items()},
        "written": written,
    }


def _show(
    terminal: "Terminal",
    found: "SetResult",
    labels: "Labels",
    measured: "Mapping[str, SetAccuracy]",
    *,
    with_answers: bool,
) -> None:
    """Print tables: the crowd, the sets, the best and the worst workers, and the least sure pairs."""
    from ..analysis.agreement import alpha
    from .summary import few_workers

    result, sets = found.result, found.sets
    per_item = len(sets.workers) / len(sets.items)
    rows = [
        ("items", f"{len(sets.items):,}"),
        ("workers", f"{labels.n_workers:,}"),
        ("classes", f"{len(sets.classes):,}"),
        ("answers", f"{len(sets.workers):,} ({per_item:.2f} per item), {sets.empty_answers:,} of them empty"),
        ("classes named", f"{len(sets.named):,} ({len(sets.named) / len(sets.workers):.2f} per answer)"),
        ("pairs that somebody named", f"{labels.n_items:,}"),
        ("classes in the sets", f"{int(found.chosen.sum()):,} ({found.chosen.sum() / len(sets.items):.2f} per item)"),
        ("by method", f"{result.method.key or 'adjudicator'}, {result.convergence}"),
        ("agreement of workers (alpha, MASI)", f"{alpha(labels).value:.3f}"),
    ]
    for name, one in measured.items():
        rows.append((f"micro F1 of {name}", f"{one.micro_f1:.4f} (macro {one.macro_f1:.4f})"))
        rows.append((f"Jaccard of {name}", f"{one.jaccard:.4f} ({one.exact:.1%} of {one.items:,} sets are exact)"))
    terminal.table("The answers", None, rows)
    if with_answers:
        terminal.head("Inferred sets", _as_text(found), 10, len(sets.items), ())
    workers = found.workers_frame()
    title, some = few_workers(workers)
    terminal.table(title, some.columns, some.rows(), _SPARE)
    disputed = found.disputed(5)
    terminal.table("Least sure pairs", disputed.columns, disputed.rows(), ())


def _as_text(found: "SetResult") -> Any:
    """Return the table of items with sets as the screen shows them."""
    import polars as pl

    shown = pl.col("labels").cast(pl.List(pl.String)).list.join(", ")
    return found.lazy().with_columns(pl.when(shown == "").then(pl.lit("(none)")).otherwise(shown).alias("labels"))


def with_origin(table: Any, origin: Any) -> Any:
    """Return the table of items with the column `provenance`, if that is known."""
    return table if origin is None else table.with_columns(origin["provenance"])


def refuse(given: Mapping[str, bool]) -> None:
    """Raise `CallError` if an option was given that does nothing where workers name several classes at once."""
    from ..errors import CallError

    for option, is_given in given.items():
        if is_given:
            raise CallError(f"{option} does nothing with --multi each: leave one of them out.")
