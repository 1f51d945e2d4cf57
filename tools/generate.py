"""Write the files that follow from the code: `make generated` runs this, and a test holds the files to it.

- `src/crowdwise/__init__.pyi`: the public names, for editors and type checkers.
- `docs/reference`: the table of methods, the commands with their options, and the public names.
"""

import ast
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import crowdwise as cw
from crowdwise import _HOMES
from crowdwise.fitting.method import Method
from crowdwise.fitting.parameters import Parameter, parameters_of
from crowdwise.methods import METHODS, NUMERIC_METHODS

from .api_page import api_page
from .command_line_page import command_line_page

_ROOT: Final = Path(__file__).parent.parent
_PACKAGE: Final = _ROOT / "src" / "crowdwise"
# A parameter that means the same in so many methods is described once.
_SHARED: Final = 3

# For some methods, the file and the function of the E step and of the M step.
STEPS: Final = {
    "adjudicator": ("methods/adjudicator/model.py e_step", "methods/adjudicator/model.py m_step"),
    "bwa": ("methods/bwa/model.py e_step", "methods/bwa/model.py m_step"),
    "ds": ("families/confusion_matrices/model.py e_step", "families/confusion_matrices/model.py m_step"),
    "glad": ("methods/glad/model.py e_step", "methods/glad/model.py m_step_objective"),
    "mace": ("families/confusion_matrices/model.py e_step", "methods/mace.py MACE.estimate"),
    "one_coin": ("families/coins/model.py e_step", "methods/one_coin.py OneCoin.estimate"),
}


def generated() -> dict[Path, str]:
    """Every generated file, and what must be in it."""
    reference = _ROOT / "docs" / "reference"
    return {
        _PACKAGE / "__init__.pyi": _stub(),
        reference / "methods.md": _table_of_methods(),
        reference / "command-line.md": command_line_page(),
        reference / "api.md": api_page(),
    }


def _stub() -> str:
    """The public names with their homes."""
    homes = {name: f".{home}" for name, home in _HOMES.items() if home != name}
    every = (*METHODS.values(), *NUMERIC_METHODS.values())
    homes |= {method.__name__: f".{_home(method)}" for method in every}
    lines = ["# The public names, for editors and type checkers; written by tools/generate.py.", ""]
    lines += ["from . import " + ", ".join(f"{name} as {name}" for name, home in _HOMES.items() if home == name)]
    lines += [f"from {home} import {name} as {name}" for name, home in sorted(homes.items(), key=lambda one: one[::-1])]
    return "\n".join([*lines, "", "_HOMES: dict[str, str]", "__version__: str", ""])


def _home(method: type) -> str:
    """The module that a method is to be imported from: its file, or its package."""
    parts = method.__module__.removeprefix("crowdwise.").split(".")
    return ".".join(parts[: 3 if parts[1] == "numeric" else 2])


def _table_of_methods() -> str:
    """One row per method: key, class, what it does, where it runs, and its parameters."""
    lines = [
        "# Methods",
        "",
        "Written by `make generated`. [Choose a method](../how-to/choose-a-method.md) says which to take.",
        "",
        "| key | class | what it does | engines | paper |",
        "|---|---|---|---|---|",
    ]
    lines += _rows(METHODS)
    lines += [
        "",
        "## Methods for numbers",
        "",
        "With `--numeric`: [numeric labels](../how-to/numbers.md).",
    ]
    lines += ["", "| key | class | what it does | engines | paper |", "|---|---|---|---|---|", *_rows(NUMERIC_METHODS)]
    lines += ["", "## E steps and M steps", "", "Where the formulas of some methods are, in NumPy:", ""]
    lines += ["| key | E step | M step |", "|---|---|---|"]
    lines += [f"| `{key}` | {_link(e_step)} | {_link(m_step)} |" for key, (e_step, m_step) in STEPS.items()]
    lines += ["", "## Parameters", "", "On the command line: `--set name=value`. In Python: `cw.BWA(name=value)`."]
    every = (*METHODS.values(), *NUMERIC_METHODS.values())
    uses = Counter(_meaning(one) for method in every for one in parameters_of(method).values())
    shared = {row for row, count in uses.items() if count >= _SHARED}
    lines += ["", "### Shared parameters", "", "| name | allowed | meaning |", "|---|---|---|"]
    lines += [row for row in uses if row in shared]
    lines += _parameters(METHODS, "", shared)
    lines += _parameters(NUMERIC_METHODS, " for numbers", shared)
    return "\n".join([*lines, ""])


def lines_of(step: str) -> tuple[Path, int, int]:
    """The file, the first and the last line of a function, given as "file function" or "file class.function"."""
    file, name = step.split()
    path = _PACKAGE / file
    found: ast.AST = ast.parse(path.read_text(encoding="utf-8"))
    for part in name.split("."):
        found = next(
            node
            for node in ast.iter_child_nodes(found)
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == part
        )
    assert isinstance(found, ast.FunctionDef)
    return path, found.lineno, found.end_lineno or found.lineno


def _link(step: str) -> str:
    """A link to the lines of a function."""
    path, first, last = lines_of(step)
    return f"[{path.relative_to(_PACKAGE)}](../../{path.relative_to(_ROOT)}#L{first}-L{last})"


def _rows(methods: Mapping[str, type[Method]]) -> list[str]:
    """One row of the table per method."""
    lines = []
    for key, method in methods.items():
        engines = ", ".join(method().limits().places)
        address = re.sub("^docs/", "../", method.paper.address)
        paper = f"[{method.paper.title}]({address}), {method.paper.published}"
        lines.append(f"| `{key}` | `{method.__name__}` | {method.summary} | {engines} | {paper} |")
    return lines


def _parameters(methods: Mapping[str, type[Method]], kind: str, shared: set[str]) -> list[str]:
    """One table of parameters per method that has some; `kind` is added to the headings, shared ones are only named."""
    lines = []
    for key, method in methods.items():
        declared = parameters_of(method).values()
        own = [one for one in declared if _meaning(one) not in shared]
        also = [f"`{one.name}` ({one.default})" for one in declared if _meaning(one) in shared]
        if own or also:
            lines += ["", f"### `{key}`{kind}"]
        if own:
            lines += ["", "| name | default | allowed | meaning |", "|---|---|---|---|"]
            lines += [f"| `{one.name}` | {one.default} | {one.allowed} | {one.meaning} |" for one in own]
        if also:
            lines += ["", f"[Shared](#shared-parameters), with their defaults: {', '.join(also)}."]
    return lines


def _meaning(parameter: Parameter) -> str:
    """The row of the table of shared parameters that describes a parameter."""
    return f"| `{parameter.name}` | {parameter.allowed} | {parameter.meaning} |"


def main() -> None:
    """Write every file whose content has changed."""
    for path, text in generated().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(_ROOT)} (crowdwise {cw.__version__})")


if __name__ == "__main__":
    main()
