"""The examples in the documentation print what the pages show."""

import re
from pathlib import Path

import pytest

from tools.executed_pages import PAGES, executed, rounded

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
@pytest.mark.slow
def test_examples_print_what_the_page_says(path: Path, tmp_path: Path) -> None:
    assert rounded(executed(path, tmp_path)) == rounded(path.read_text(encoding="utf-8")), "run `make pages`"
    page = path.read_text(encoding="utf-8")
    for image in tmp_path.glob("*.png"):
        assert f"(../images/{image.name})" in page
        assert (ROOT / "docs" / "images" / image.name).is_file()


def test_an_example_that_prints_something_else_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    command = "```console\n$ printf 'one\\ntwo 0.12345678\\nthree\\nfour\\n'\n{}```\n"
    fenced = f"<!-- executed -->\n<!-- show: two; four -->\n{command}\n```python\n1 + 1\n```\n\n```text\n{{}}```\n"
    page.write_text(fenced.format("old\n", "3\n"))
    assert executed(page, tmp_path) == fenced.format("...\ntwo 0.12345678\n...\nfour\n", "2\n")
    assert rounded("two 0.12345678") == rounded("two 0.12345679") != rounded("two 0.12346")
    page.write_text("<!-- executed -->\n```python\n1 + 1\n```\n")
    with pytest.raises(ValueError, match="no text block follows"):
        executed(page, tmp_path)
    page.write_text("<!-- executed -->\n<!-- show: two -->\n```console\n$ echo one\n```\n")
    with pytest.raises(ValueError, match="No line of the output has 'two'"):
        executed(page, tmp_path)


def test_what_the_tutorial_tells_of_its_numbers_is_so() -> None:
    """The story of the judges, and of the gold: the sentences between the examples hold for what these print."""
    paths = {path.stem: path for path in PAGES if path.parent.name == "tutorials"}
    page = "".join(paths[name].read_text(encoding="utf-8") for name in ("manager", "notebook", "judges"))
    found = re.findall(r"^(separate|left out|majority vote) +([\d.]+) \(", page, re.M)
    accuracies = {name: float(value) for name, value in found}
    assert accuracies["separate"] < accuracies["majority vote"] < accuracies["left out"]
    (separate, left_out), *_ = re.findall(r"^│ (\d+) +┆ (\d+) +│$", page, re.M)
    assert int(separate) + int(left_out) == 10
    assert int(left_out) > 8
    ends = re.findall(r"expected accuracy .* between (\d+)\s+and (\d+) %", page)
    without_gold, with_gold, *_ = (float(high) - float(low) for low, high in ends)
    assert with_gold < without_gold / 2
    (before, after), *_ = re.findall(r"^([-+][\d.]+) without gold, ([-+][\d.]+) with gold", page, re.M)
    assert float(before) < 0
    assert abs(float(after)) < abs(float(before)) / 5
