"""Runs one study by its short name: `python -m studies gold` is `python -m studies.benchmarks.gold`.

Without a name, it lists the studies.
"""

import ast
import runpy
import sys
from pathlib import Path

_HERE = Path(__file__).parent


def studies() -> dict[str, Path]:
    """Return the file that each study starts with, by the study's name."""
    folders = {file.parent.name: file for file in sorted(_HERE.glob("**/__main__.py")) if file.parent != _HERE}
    text = '__name__ == "__main__"'
    files = {
        file.stem: file
        for file in sorted(_HERE.glob("*/*.py"))
        if file.stem != "__main__" and text in file.read_text(encoding="utf-8")
    }
    return folders | files


def main() -> None:
    """Run the study that is named, or list all."""
    found = studies()
    if len(sys.argv) < 2:
        for name, file in found.items():
            about = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            print(f"{name:12}  {about.splitlines()[0]}")
        return
    name = sys.argv[1]
    if name not in found:
        sys.exit(f"There is no study {name!r}; there are {', '.join(found)}.")
    file = found[name].relative_to(_HERE).with_suffix("")
    module = ".".join(["studies", *(part for part in file.parts if part != "__main__")])
    del sys.argv[1]  # so that the study finds its own arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
