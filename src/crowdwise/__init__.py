"""crowdwise: infer the truth from what many workers said.

>>> import crowdwise as cw
>>> crowd = cw.simulate(200, 20, classes=3, seed=1)
>>> result = cw.aggregate(crowd.labels)
>>> cw.accuracy(result, crowd.truth) > 0.85
True
"""

TYPE_CHECKING = False  # instead of importing it: this file imports nothing, so that the command line answers at once
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

# Where the public names live, besides those of the methods, which `methods` finds by itself. Names are imported when
# they are first used, so that `crowdwise --help` needs none of them. For editors and type checkers, all of them are in
# __init__.pyi, which `make generated` writes.
_HOMES = {
    "CallError": "errors",
    "Caution": "caution",
    "DataError": "errors",
    "History": "results.history",
    "JudgesResult": "analysis.panels.result",
    "Labels": "crowd.labels",
    "METHODS": "methods",
    "NUMERIC_METHODS": "methods",
    "Numbers": "crowd.labels",
    "NumericResult": "results.numeric_result",
    "RankResult": "ranking.result",
    "RateResult": "analysis.rates.result",
    "Result": "results.result",
    "SetResult": "analysis.set_result",
    "accuracy": "analysis",
    "aggregate": "analysis.aggregation",
    "alpha": "analysis",
    "blocks": "analysis.blocks",
    "brier": "analysis",
    "cautions": "analysis",
    "compare": "analysis",
    "datasets": "datasets",
    "decide": "analysis.decisions",
    "explain": "analysis",
    "judges": "analysis.panels.judges",
    "log_loss": "analysis",
    "numeric_errors": "analysis.numeric_evaluation",
    "load_result": "results.saving",
    "next_labels": "analysis.planning.asking",
    "ordinal_errors": "analysis.ordinal_errors",
    "overconfidence": "analysis",
    "plan": "analysis.planning.plan",
    "plot": "analysis.plot",
    "provenance": "analysis.provenance",
    "questions": "reading.read_answers",
    "rank": "ranking.rank",
    "rate": "analysis.rates.rate",
    "read_answers": "reading.read_answers",
    "read_labels": "reading.read_labels",
    "read_numbers": "reading.read_labels",
    "read_truth": "reading.read_truth",
    "read_truth_sets": "reading.truth_sets",
    "report": "reporting",
    "review": "reviewing.review",
    "review_list": "analysis.review",
    "set_accuracy": "analysis.set_accuracy",
    "sets_of": "analysis.set_result",
    "rivals": "analysis.rivals",
    "show_progress": "progress",
    "simulate": "crowd.simulation",
    "simulate_numbers": "crowd.simulation",
    "unusual_workers": "analysis.unusual_workers",
    "warm_up": "reporting.warming",
    "write": "output.writing",
    "write_predictions": "output.label_studio_predictions",
}


def __getattr__(name: str) -> "Any":
    if name == "__all__":
        return sorted([*_HOMES, *_method_names()])
    if name in _HOMES:
        from importlib import import_module

        home = import_module(f".{_HOMES[name]}", __name__)
        return home if _HOMES[name] == name else getattr(home, name)  # a subpackage is its own home
    # Methods are classes; for the name of a subpackage, the table of methods may be only half made.
    if name[0].isupper() and name in (methods := _method_names()):
        return methods[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_method_names()])


def _method_names() -> dict[str, type]:
    """The classes of all methods by their own names."""
    from importlib import import_module

    methods = import_module(".methods", __name__)
    return {one.__name__: one for table in (methods.METHODS, methods.NUMERIC_METHODS) for one in table.values()}
