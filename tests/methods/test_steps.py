"""Tests that the page of methods leads to the lines of E steps and M steps, and that these can be read at once."""

import ast
import re
from pathlib import Path

import pytest

from tools.generate import STEPS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("key", STEPS)
def test_a_link_leads_to_the_lines_of_each_step(key: str) -> None:
    page = (ROOT / "docs" / "reference" / "methods.md").read_text(encoding="utf-8")
    row = next(line for line in page.partition("## E steps")[2].splitlines() if line.startswith(f"| `{key}` |"))
    links = re.findall(r"\]\((?:\.\./)+(\S+)#L(\d+)-L(\d+)\)", row)
    for word, (file, first, last) in zip(("E step", "M step"), links, strict=True):
        lines = (ROOT / file).read_text(encoding="utf-8").splitlines()[int(first) - 1 : int(last)]
        assert len(lines) < 60
        (function,) = ast.parse("\n".join(line.removeprefix(lines[0].partition("def")[0]) for line in lines)).body
        assert isinstance(function, ast.FunctionDef)
        assert word in (ast.get_docstring(function) or "")
