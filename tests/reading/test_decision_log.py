"""Tests of files of decisions: which rows stand, and what they are as gold."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.reading.decision_log import ACTIONS, COLUMNS, read_log, settled, standing
from tests.support.commands import Command

HEADER = ",".join(COLUMNS)


def row(item: str, truth: str, reviewer: str = "anna", source: str = "random", action: str = "decided") -> str:
    return f"{item},{truth},{reviewer},2026-11-18T11:20:03Z,2.5,nothing,{source},,,,{action}"


def write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from(["x", "y", ""]),
            st.sampled_from(["ann", "ben"]),
            st.sampled_from(ACTIONS),
        ),
        max_size=20,
    )
)
def test_what_stands_is_what_a_stack_leaves(entries: list[tuple[str, str, str, str]]) -> None:
    stacks: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for item, truth, reviewer, action in entries:
        stack = stacks.setdefault((reviewer, item), [])
        if action == "undone":
            stack[-1:] = []
        elif action == "cannot tell" or (action == "decided" and truth):
            stack.append((action, truth if action == "decided" else ""))
    log = pl.DataFrame(entries, schema=dict.fromkeys(["item", "truth", "reviewer", "action"], pl.String), orient="row")
    found = {
        (one["reviewer"], one["item"]): (one["action"], one["truth"] if one["action"] == "decided" else "")
        for one in standing(log).iter_rows(named=True)
    }
    assert found == {key: stack[-1] for key, stack in stacks.items() if stack}


def test_gold_takes_the_file_as_it_is(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log.csv",
        row("i1", "c1"),
        row("i2", "c1", source="settle"),
        row("i3", "c2", source="worst"),
        row("i3", "", action="undone"),
        row("i4", "", action="cannot tell"),
        row("i5", "", action="skipped"),
        row("i2", "c2", source="settle"),  # decided again
        row("i6", "c1", "anna"),
        row("i6", "c1", "ben", "worst"),  # two who agree
    )
    assert cw.read_truth(path).rows() == [("i1", "c1", "random"), ("i2", "c2", "chosen"), ("i6", "c1", "random")]
    assert cw.read_truth(read_log(path)).rows() == cw.read_truth(path).rows()  # the table is as good as the file


def test_reviewers_who_differ_leave_no_truth_and_that_is_said(tmp_path: Path, run: Command) -> None:
    path = write(tmp_path / "log.csv", row("i1", "c1"), row("i1", "c2", "ben"), row("i2", "c1"), row("i3", "c2"))
    with pytest.warns(cw.Caution, match="Reviewers differ on 1 item"):
        assert cw.read_truth(path)["item"].to_list() == ["i2", "i3"]
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "item,worker,label\n" + "".join(f"i{k},w{j},c{1 + (k + j) % 2}\n" for k in range(9) for j in range(4))
    )
    ended = run("aggregate", labels, "--gold", path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("Reviewers differ on 1 item") == 1
    held, differ = settled(standing(read_log(path)))
    assert (held.height, differ) == (2, ["i1"])


@pytest.mark.parametrize("ids", [[7, 8, 9], ["007", "008", "009"], ["7", "8", "9"], [True, False, None]])
def test_ids_and_classes_of_any_type_are_found_again(tmp_path: Path, ids: list[object]) -> None:
    names = [str(one).lower() if isinstance(one, bool) else str(one) for one in ids if one is not None]
    rows = [(one, worker, number % 2) for number, one in enumerate(ids) if one is not None for worker in "abc"]
    labels = cw.Labels.from_frame(pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row"))
    path = write(tmp_path / "log.csv", *(row(name, "1") for name in names))
    gold = cw.MajorityVote().fit(labels, gold=path, warn=False).gold
    assert gold is not None
    assert (gold == 1).all()


def test_a_log_without_decisions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cw.DataError, match="has no decision that stands"):
        cw.read_truth(write(tmp_path / "log.csv", row("i1", "", action="cannot tell")))
    with pytest.raises(cw.DataError, match="is no file of decisions"):
        read_log(write_gold(tmp_path))


def write_gold(folder: Path) -> Path:
    path = folder / "gold.csv"
    path.write_text("item,truth\ni1,c1\n")
    return path


def test_a_half_written_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{HEADER}\n{row('i1', 'c1')}\ni2,c")
    assert cw.read_truth(path)["item"].to_list() == ["i1"]


def test_ordinary_gold_is_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("item,truth,source\ni1,c1,random\ni2,c2,chosen\n")
    assert cw.read_truth(path).rows() == [("i1", "c1", "random"), ("i2", "c2", "chosen")]
    path.write_text("item,truth,source,action\ni1,c1,web,undone\n")  # columns that only have the same names
    assert cw.read_truth(path).rows() == [("i1", "c1")]


def test_provenance_of_answers_by_costs_and_of_gold(tmp_path: Path, run: Command) -> None:
    crowd = cw.simulate(60, 8, 3, accuracy=0.7, seed=1)
    result = cw.aggregate(crowd.labels, gold=dict(crowd.truth.head(5).rows()), warn=False)
    found = cw.provenance(result, crowd.labels)
    votes = crowd.rows.group_by("item").agg(pl.col("label").n_unique() == 1)
    one_class = dict(votes.rows())
    answers = dict(result.to_frame().select("item", "label").rows())
    said = dict(crowd.rows.group_by("item").agg(pl.col("label").first()).rows())
    for item, origin in found.rows():
        if item in crowd.truth["item"].head(5).to_list():
            assert origin == "decided"
        else:
            assert origin == ("unanimous" if one_class[item] and said[item] == answers[item] else "inferred")
    path = tmp_path / "labels.csv"
    crowd.rows.with_columns(pl.col("label").str.slice(1)).write_csv(path)
    for name in ("t.csv", "t.xlsx"):
        ended = run(
            "aggregate", path, "-o", tmp_path / name, "--provenance", "--ordinal", "--columns", "cleanlab", "-q"
        )
        assert ended.returncode == 0, ended.stderr
    assert set(pl.read_csv(tmp_path / "t.csv")["provenance"]) == {"unanimous", "inferred"}
    ended = run("aggregate", path, "-o", tmp_path / "t.csv", "--provenance", "--engine", "disk")
    assert (ended.returncode, "--provenance needs all labels in memory" in ended.stderr) == (1, True)


def test_the_report_says_who_decided_what(tmp_path: Path, run: Command) -> None:
    crowd = cw.simulate(80, 8, 3, accuracy=0.6, seed=2)
    path = tmp_path / "labels.csv"
    crowd.rows.write_csv(path)
    truths = crowd.truth.rows()
    log = write(
        tmp_path / "labels.decisions.csv",
        *(row(item, truth) for item, truth in truths[:20]),
        *(row(item, truth, "<b>ben</b>", "worst") for item, truth in truths[20:24]),
        row(truths[30][0], "", action="cannot tell"),
    )
    ended = run("report", path, "--gold", log, "-o", tmp_path / "report.html")
    assert ended.returncode == 0, ended.stderr
    page = (tmp_path / "report.html").read_text()
    assert "2 reviewers decided 24 items" in page
    assert "On 1 item they could not tell." in page
    assert "&lt;b&gt;ben&lt;/b&gt;" in page
    assert f"crowdwise review {path}" in page
    ended = run("report", path, "-o", tmp_path / "report.html")
    assert 'id="reviewed"' not in (tmp_path / "report.html").read_text()
