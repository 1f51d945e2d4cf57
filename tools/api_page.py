"""The page about the public names, made of the names themselves and of their docstrings."""

from typing import Final

import crowdwise as cw
from crowdwise import _HOMES

# The public names in the order of the page; names that are in no group come last.
GROUPS: Final = {
    "Read": (
        "read_labels",
        "read_numbers",
        "read_truth",
        "read_truth_sets",
        "questions",
        "read_answers",
        "Labels",
        "Numbers",
    ),
    "Infer": (
        "aggregate",
        "METHODS",
        "NUMERIC_METHODS",
        "Result",
        "NumericResult",
        "History",
        "decide",
        "SetResult",
        "sets_of",
    ),
    "Look at a result": (
        *("explain", "review_list", "review", "provenance", "cautions", "Caution", "unusual_workers"),
        *("blocks", "rivals", "alpha", "plot", "report"),
    ),
    "Measure against a truth": (
        *(
            "accuracy",
            "compare",
            "log_loss",
            "brier",
            "overconfidence",
            "ordinal_errors",
            "numeric_errors",
            "set_accuracy",
        ),
    ),
    "Plan more labels": ("next_labels", "plan"),
    "Rank systems, pass rates, judges": ("rank", "RankResult", "rate", "RateResult", "judges", "JudgesResult"),
    "Write": ("write", "write_predictions"),
    "Data": ("datasets", "simulate", "simulate_numbers"),
    "Errors and set-up": ("DataError", "CallError", "warm_up"),
}
# The members that users need, of classes that have more.
_MEMBERS: Final = {
    "Labels": ("from_frame", "from_arrays", "from_wide", "from_matrix"),
    "Numbers": ("from_frame", "from_arrays"),
    "Result": (
        *("labels", "confidence", "probabilities", "quality", "expected_accuracy", "difficulty", "confusion"),
        *("gold_check", "history", "classes", "to_frame", "to_pandas", "workers_frame", "write", "save"),
    ),
    "NumericResult": ("to_frame", "to_pandas", "workers_frame", "write"),
    "History": ("read", "write", "plus"),
    "RankResult": ("summary", "sentences", "positions", "chart", "report", "to_dict"),
}
_CONSTANTS: Final = {
    "METHODS": 'A mapping from the key of each method to its class: `cw.METHODS["ds"]` is `cw.DawidSkene`.',
    "NUMERIC_METHODS": 'The same for numeric labels: `cw.NUMERIC_METHODS["robust"]`.',
    "datasets": '[Real crowds](../studies/datasets.md) by name: `labels, truth = cw.datasets.load("web")`.',
}


def api_page() -> str:
    """Return the page: every public name in its group, and the classes of methods."""
    named = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in _HOMES if name not in named)
    lines = ["# API", "", "Every public name of `import crowdwise as cw`, from the docstrings."]
    for group, names in (GROUPS | ({"More": others} if others else {})).items():
        lines += ["", f"## {group}", ""]
        for name in names:
            lines += _entry(name)
    methods = sorted(set(dir(cw)) - set(_HOMES))
    lines += ["", "## Methods", "", "Frozen dataclasses with a method `fit`. [Keys and parameters](methods.md)."]
    lines += ["", ", ".join(f"`{name}`" for name in methods) + ".", ""]
    lines += _entry("Method", "crowdwise.fitting.method.Method", ("fit",))
    lines += ["", "## Test a method of your own", "", *_entry("check_method", "crowdwise.testing.check_method", ())]
    return "\n".join([*lines, ""])


def _entry(name: str, path: str = "", members: tuple[str, ...] | None = None) -> list[str]:
    """Return what mkdocstrings is asked to show of a name."""
    if name in _CONSTANTS:
        return [f"### `{name}` {{ #{name} }}", "", _CONSTANTS[name], ""]
    if not path:
        found = getattr(cw, name)
        path = f"{found.__module__}.{found.__qualname__}"
    members = _MEMBERS.get(name, ()) if members is None else members
    shown = f"[{', '.join(members)}]" if members else "false"
    return [f"::: {path}", "    options:", f"      members: {shown}", ""]
