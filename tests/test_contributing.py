"""The three examples of CONTRIBUTING.md: a method, a file format and a section, as a stranger adds them."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import crowdwise as cw
from crowdwise.data import formats
from crowdwise.reporting import sections
from crowdwise.testing import check_method

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the examples define, each as a module of its own."""
    modules = []
    monkeypatch.syspath_prepend(str(tmp_path))
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)):
        (tmp_path / f"example_{number}.py").write_text(code)
        monkeypatch.delitem(sys.modules, f"example_{number}", raising=False)
        modules.append(__import__(f"example_{number}"))
    return modules


def test_a_method_is_a_file(examples: list[Any]) -> None:
    method = examples[0].CautiousVote()
    check_method(method)
    assert method.places() == ["memory", "disk", "spark"]
    assert "caution: How many imagined labels" in (examples[0].CautiousVote.__doc__ or "")
    with pytest.raises(cw.CallError, match="caution=0 is not a number above 0"):
        examples[0].CautiousVote(caution=0)


def test_a_file_format_is_a_row(examples: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, examples[1].JSON_ARRAY))
    rows = cw.simulate(30, 6, 3, seed=1).rows
    cw.write({tmp_path / "votes.json": rows})
    labels = cw.read_labels(tmp_path / "votes.json")
    assert labels.n_labels == rows.height
    result = cw.BWA().fit(labels)
    result.write(tmp_path / "truth.json")
    assert cw.accuracy(result, tmp_path / "truth.json") == 1.0


def test_a_section_of_the_report_is_a_row(examples: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "SECTIONS", (*sections.SECTIONS, examples[2].BUSIEST))
    crowd = cw.simulate(30, 6, 3, seed=1)
    cw.report(crowd.labels, cw.BWA().fit(crowd.labels), path=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<a href="#busiest">Busiest</a>' in page
    assert "labels, the most of all." in page
