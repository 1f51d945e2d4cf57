"""The judge, the oracle and the comparison notice what they are there to notice."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from .answers import compare
from .area import Case
from .majority import MustRefuseError, Row, Rules, majority
from .rule import Failure, Run, judge

PAGE = Path(__file__).parents[2] / "docs" / "contributing" / "attack.md"
REFUSED = Run(("aggregate",), 1, b"", b"Read 3 rows.\nerror: There is no file x.\n", 0.1, 0)
ROWS: list[Row] = [("1", "a", "x"), ("1", "b", "y"), ("2", "b", "y"), ("2", "c", "x"), ("2", "a", "y")]


def test_a_refusal_and_an_answer_are_told_apart() -> None:
    assert judge(REFUSED) == "refused"
    assert judge(replace(REFUSED, code=2)) == "refused"
    usage = "Usage: crowdwise [OPTIONS]\nTry 'crowdwise -h' for help.\n╭─ Error ─╮\n│ No such option: --x │\n╰─╯\n"
    assert judge(replace(REFUSED, code=2, said=usage.encode())) == "refused"
    assert judge(replace(REFUSED, code=0, said=b"", changes={"out.csv": "made"}), ["out.csv"]) == "right"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"said": b"Traceback (most recent call last)\nerror: x\n"}, "a traceback"),
        ({"said": b"thread 'main' panicked at x.rs:1:1\nerror: x\n"}, "a panic"),
        ({"said": b"/a/b.py:3: RuntimeWarning: x\nerror: x\n"}, "a warning"),
        ({"said": b"Exception ignored in: x\nerror: x\n"}, "an ignored exception"),
        ({"said": b"error: " + b"x" * 500 + b"\n"}, "refused in 507 characters"),
        ({"said": b""}, "without one sentence"),
        ({"said": b"error: x\nerror: y\n"}, "without one sentence"),
        ({"said": b"error: x\nmore\n"}, "without one sentence"),
        ({"code": -11}, "code -11"),
        ({"code": 3}, "code 3"),
        ({"changes": {"out.csv": "made"}}, "refused, and yet"),
        ({"code": 0, "changes": {"other.csv": "made"}}, "nobody asked for"),
        ({"code": 0, "changes": {"out.csv": "removed"}}, "nobody asked for"),
        ({"seconds": 61.0}, "took 61 s"),
        ({"memory": 2 << 30}, "took 2,048 MB"),
    ],
)
def test_a_broken_rule_is_noticed(broken: dict[str, object], reason: str) -> None:
    with pytest.raises(Failure, match=re.escape(reason)):
        judge(replace(REFUSED, **broken), ["out.csv"])  # type: ignore[arg-type]


def test_majority_vote_by_hand() -> None:
    answers = majority(ROWS, Rules(), is_text=True)
    assert answers.items == [(1, "x", 0.5, "y", 0.5, 2), (2, "y", 2 / 3, "x", 1 / 3, 3)]
    assert answers.workers == [("a", 2, 1.0), ("b", 2, 0.5), ("c", 1, 0.0)]
    again: Row = ("1", "a", "y")
    for policy, label in {"first": "x", "last": "y", "all": "y", "drop": "y"}.items():
        assert majority([*ROWS, again], Rules(policy), is_text=True).items[0][1] == label
    nothing_left = Rules("error", ("x", "y"))
    unusable: list[tuple[list[Row], Rules]] = [([*ROWS, again], Rules()), ([], Rules()), (ROWS, nothing_left)]
    for rows, rules in [*unusable, ([("1", None, "x")], Rules())]:
        with pytest.raises(MustRefuseError):
            majority(rows, rules, is_text=True)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("2,y", "2,x"), ("0.5,y,0.5,2", "0.6,y,0.5,2"), ("2,y,0.6,0.66", "02,y,0.6,0.66"), ("2,y,0.6,", "2,y,1.6,")],
)
def test_a_wrong_answer_is_noticed(right: str, wrong: str, tmp_path: Path) -> None:
    table = "item,label,confidence,score,runner_up,runner_up_score,votes\n1,x,0.5,0.5,y,0.5,2\n"
    table += "2,y,0.6,0.6666666666666666,x,0.3333333333333333,3\n"
    path = tmp_path / "truth.csv"
    path.write_text(table)
    compare(majority(ROWS, Rules(), is_text=True), path)
    path.write_text(table.replace(right, wrong, 1))
    with pytest.raises(Failure, match="wrong answer"):
        compare(majority(ROWS, Rules(), is_text=True), path)


def test_the_example_of_the_docs_is_an_area(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    case = Case("strangers", 1, tmp_path, Random(1))
    for folder in (case.here, case.temporary, case.home):
        folder.mkdir()
    assert names["AREA"].attack(case) == "refused"  # type: ignore[attr-defined]
