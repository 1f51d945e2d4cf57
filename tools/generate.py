"""Write the files that follow from the code: `make generated` runs this, and a test holds the files to it.

- `src/crowdwise/__init__.pyi`: the public names, for editors and type checkers.
- `docs/methods.md`: the table of methods.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import crowdwise as cw
from crowdwise import _HOMES
from crowdwise.fitting.method import Method
from crowdwise.fitting.parameters import parameters_of
from crowdwise.methods import METHODS, NUMERIC_METHODS

_ROOT: Final = Path(__file__).parent.parent
_PACKAGE: Final = _ROOT / "src" / "crowdwise"


def generated() -> dict[Path, str]:
    """Every generated file, and what must be in it."""
    return {_PACKAGE / "__init__.pyi": _stub(), _ROOT / "docs" / "methods.md": _table_of_methods()}


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
        "Written by `make generated` from the methods themselves; [choosing.md](choosing.md) says which to take when.",
        "",
        "| key | class | what it does | engines | paper |",
        "|---|---|---|---|---|",
    ]
    lines += _rows(METHODS)
    lines += ["", "## Methods for numbers", "", "With `--numeric`; [numeric.md](numeric.md) says which to take when."]
    lines += ["", "| key | class | what it does | engines | paper |", "|---|---|---|---|---|", *_rows(NUMERIC_METHODS)]
    lines += ["", "## Parameters", "", "On the command line: `--set name=value`. In Python: `cw.BWA(name=value)`."]
    lines += _parameters(METHODS, "")
    lines += _parameters(NUMERIC_METHODS, " for numbers")
    return "\n".join([*lines, ""])


def _rows(methods: Mapping[str, type[Method]]) -> list[str]:
    """One row of the table per method."""
    lines = []
    for key, method in methods.items():
        engines = ", ".join(method().limits().places)
        address = method.paper.address.removeprefix("docs/")  # this page is in the same folder
        paper = f"[{method.paper.title}]({address}), {method.paper.published}"
        lines.append(f"| `{key}` | `{method.__name__}` | {method.summary} | {engines} | {paper} |")
    return lines


def _parameters(methods: Mapping[str, type[Method]], kind: str) -> list[str]:
    """One table of parameters per method that has some; `kind` is added to the headings."""
    lines = []
    for key, method in methods.items():
        declared = parameters_of(method)
        if not declared:
            continue
        lines += ["", f"### `{key}`{kind}", "", "| name | default | allowed | meaning |", "|---|---|---|---|"]
        lines += [f"| `{one.name}` | {one.default} | {one.allowed} | {one.meaning} |" for one in declared.values()]
    return lines


def main() -> None:
    """Write every file whose content has changed."""
    for path, text in generated().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(_ROOT)} (crowdwise {cw.__version__})")


if __name__ == "__main__":
    main()
