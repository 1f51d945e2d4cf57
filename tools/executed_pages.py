"""Run the examples in the documentation, and write what they print into the pages.

`make pages` does that; a test holds the pages to it. A page that has the line `<!-- executed -->` is run from there to
its end. Blocks run in their order, in one folder and one Python session:

- ```console: after each line that begins with "$ ", what the command prints.
- ```python, and after it ```text: what the code prints, and the value of its last line, as a notebook shows it.
- ```sh: commands to paste, without their output; `pip` does nothing there, because `make test-extras` installs.
- `<!-- setup: command -->`: what a page needs before it begins, such as a simulated crowd.

`<!-- show: one; other -->` before a console block keeps the lines of output with one of these texts; "..." stands for
the others.
"""

import ast
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import polars as pl

_ROOT: Final = Path(__file__).parent.parent
_DOCS: Final = _ROOT / "docs"
_MARK: Final = "<!-- executed -->\n"
PAGES: Final = tuple(
    path for path in (_ROOT / "README.md", *sorted(_DOCS.rglob("*.md"))) if _MARK in path.read_text(encoding="utf-8")
)
# Where charts go that an example saves.
_IMAGES: Final = _DOCS / "images"
_BLOCK: Final = re.compile(
    r"<!-- setup: (?P<setup>.*?) -->\n|```sh\n(?P<script>.*?)```\n"
    r"|(?:<!-- show: (?P<show>.*?) -->\n)?```console\n(?P<console>.*?)```\n"
    r"|```python\n(?P<python>.*?)```\n(?:\n```text\n(?P<text>.*?)```\n)?",
    re.DOTALL,
)
# Said only where kernels are not compiled yet.
_NOT_SHOWN: Final = "Compiling;"
# The same shell command that a user types, run by this Python.
_SHELL: Final = 'set -e\ncrowdwise() { "$0" -m crowdwise "$@"; }\npip() { :; }\n'


def executed(path: Path, folder: Path) -> str:
    """Return a page with the output of its examples made anew.

    Args:
        path: The page.
        folder: An empty folder, which the examples write to.
    """
    before, mark, page = path.read_text(encoding="utf-8").partition(_MARK)
    session: dict[str, Any] = {}
    with chdir(folder), _narrow_tables():
        made = _BLOCK.sub(lambda block: _run(block, session), page)
    return before + mark + made


def rounded(page: str) -> str:
    """Return a page with long numbers rounded: their last digits are not the same on every machine."""
    return re.sub(r"\d+\.\d{7,}", lambda number: f"{float(number[0]):.6f}", page)


def _run(block: re.Match[str], session: dict[str, Any]) -> str:
    """Return a block with its output made anew."""
    if script := block["setup"] or block["script"]:
        _command(script)
        return block[0]
    if block["console"] is not None:
        commands = [line for line in block["console"].splitlines() if line.startswith("$ ")]
        printed_by = {command: _command(command.removeprefix("$ ")) for command in commands}
        wanted = None if block["show"] is None else block["show"].split("; ")
        _require_some([line for printed in printed_by.values() for line in printed], wanted or [])
        lines = [line for command, printed in printed_by.items() for line in (command, *_shown(printed, wanted))]
        return _with_inside(block[0], block["console"], lines)
    printed = _python(block["python"], session)
    if block["text"] is None and printed:
        raise ValueError(f"This block prints something, and no text block follows it:\n{block['python']}")
    return block[0] if block["text"] is None else _with_inside(block[0], block["text"], printed)


def _with_inside(block: str, before: str, lines: list[str]) -> str:
    """Return a block with other lines inside its last fence."""
    return block.removesuffix(f"{before}```\n") + "".join(f"{line}\n" for line in lines) + "```\n"


def _command(command: str) -> list[str]:
    """Run a command in the shell; returns the lines that it prints."""
    done = subprocess.run(
        ["/bin/sh", "-c", _SHELL + command, sys.executable],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ValueError(f"{command} failed: {done.stdout}")
    return [line for line in _lines(done.stdout) if not line.startswith(_NOT_SHOWN)]


def _python(code: str, session: dict[str, Any]) -> list[str]:
    """Run code in the session; returns the lines that it prints, and those of the value of its last line."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "page", "exec"), session)
        value = None if last is None else eval(compile(ast.Expression(last.value), "page", "eval"), session)  # type: ignore[attr-defined]
        if value is not None:
            sys.stdout.write(f"{value!r}\n")
    return _lines(printed.getvalue())


def _lines(text: str) -> list[str]:
    """Return the lines of a text without spaces at their ends, and without empty lines at its end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _require_some(lines: list[str], wanted: list[str]) -> None:
    """Raise an error if no line has one of the texts."""
    for text in wanted:
        if not any(text in line for line in lines):
            raise ValueError(f"No line of the output has {text!r}:\n" + "\n".join(lines))


def _shown(lines: list[str], wanted: list[str] | None) -> list[str]:
    """Return the lines with one of the texts, and "..." for the others; all lines if no texts are given."""
    if wanted is None:
        return lines
    kept: list[str] = []
    for line in lines:
        if any(text in line for text in wanted):
            kept.append(line)
        elif not kept or kept[-1] != "...":
            kept.append("...")
    return kept


@contextmanager
def _narrow_tables() -> Iterator[None]:
    """Show tables as wide as a page, however wide the screen is."""
    import pandas as pd

    with pl.Config(tbl_width_chars=100, tbl_rows=8), pd.option_context("display.width", 100, "display.max_columns", 20):
        yield


def main() -> None:
    """Write the pages that are named, or all, if their output has changed, and the charts that their examples save."""
    for path in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        with TemporaryDirectory() as folder:
            made = executed(path, Path(folder))
            for image in sorted(Path(folder).glob("*.png")):
                shutil.copy(image, _IMAGES / image.name)
        if rounded(made) != rounded(path.read_text(encoding="utf-8")):
            path.write_text(made, encoding="utf-8")
            print(f"wrote {path.relative_to(_DOCS.parent)}")


if __name__ == "__main__":
    main()
