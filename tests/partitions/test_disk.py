"""Tests that labels on disk give the same repairs, messages and answers as labels in memory."""

import gzip
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

import crowdwise as cw
from crowdwise.cli.terminal import Terminal
from crowdwise.parallel import thread_count
from crowdwise.testing import on_threads, require_same_found
from tests.support.cases import EVERY, examples
from tests.support.commands import run
from tests.support.engines import on_disk

pytestmark = pytest.mark.usefixtures("workdir")
SWEEPING = [key for key, method in EVERY.items() if "disk" in method.limits().places]
PAPER = [
    *("CF", "CF_amt", "MS", "SP", "SP_amt", "ZC_all", "ZC_in", "ZC_us", "adult", "bird", "dog", "face", "fact", "prod"),
    *("rte", "trec", "tweet", "web"),
]


@pytest.mark.data
@pytest.mark.longest
@pytest.mark.parametrize("name", PAPER)
def test_every_sweeping_method_finds_the_same_on_real_crowds(name: str, data: Path) -> None:
    path = data / "paper" / name / "label.csv"
    for duplicates in ("first", "set"):
        memory = cw.read_labels(path, duplicates=duplicates)
        disk = on_disk(path, duplicates=duplicates, memory=memory.report.rows * 15 * thread_count())
        assert disk.n_parts >= 24
        assert disk.report == memory.report
        for key in SWEEPING if duplicates == "first" or not memory.set_valued else ["bwa"]:
            if (EVERY[key].limits().most_classes or memory.n_classes) < memory.n_classes:
                continue
            # On its way, one_coin passes a point on trec from where a rounding of 1e-13 becomes 1e-6 and then 1e-8.
            tolerance = 1e-6 if (key, name) == ("one_coin", "trec") else 1e-9
            require_same_found(EVERY[key].fit(disk), EVERY[key].fit(memory), tolerance)


@pytest.mark.data
@pytest.mark.parametrize("name", ["CF", "web"])
def test_bwa_finds_the_same_on_real_crowds(name: str, data: Path) -> None:
    path = data / "paper" / name / "label.csv"
    memory = cw.read_labels(path, duplicates="set")
    disk = on_disk(path, duplicates="set", memory=memory.n_labels * 10 * thread_count())
    require_same_found(cw.BWA().fit(disk), cw.BWA().fit(memory))


Cell = tuple[str, str, str]


@examples(60)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["1", "2", "3", "04", "", "x"]),
            st.sampled_from(["7", "8", "9", ""]),
            st.sampled_from(["yes", "no", "NA", "", "2", "10"]),
        ),
        min_size=1,
        max_size=30,
    ),
    duplicates=st.sampled_from(["error", "first", "last", "all", "samples", "set", "drop"]),
    strict=st.booleans(),
    clean=st.booleans(),
)
# The classes that are second best for the second item differ only by rounding, which depends on the order of addition.
@example(rows=[("1", "7", "2"), ("2", "8", "yes"), ("3", "7", "no")], duplicates="error", strict=False, clean=False)
def test_repairs_and_messages_are_those_of_memory(
    rows: list[Cell], duplicates: str, strict: bool, clean: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("rows") / "votes.csv"
    kept = [row for row in rows if row[0].isdigit() and row[1]] if clean else rows
    path.write_text("item,worker,label\n" + "".join(f"{i},{j},{k}\n" for i, j, k in kept))
    outcomes: list[Any] = []
    for engine in ("memory", "disk"):
        try:
            asked: dict[str, Any] = {"duplicates": duplicates, "strict": strict, "missing": ["NA"]}
            labels = cw.read_labels(path, engine=engine, memory="20KB", **asked)
        except cw.DataError as problem:
            outcomes.append(str(problem))
            continue
        result = cw.BWA().fit(labels)
        table = result.to_frame(scores=True).sort("item").with_columns(pl.selectors.float().round(9))
        names = labels.names
        outcomes.append((labels.report, names.workers.to_list(), names.classes.to_list(), table.rows(), table.schema))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("name", ["v.csv", "v.csv.gz", "v.jsonl", "v.arrow", "v.parquet", "folder", "-"])
def test_every_format_is_read_alike(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = cw.simulate(60, 6, 3, seed=4).rows
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        rows.head(100).write_parquet(path / "a.parquet")
        rows.tail(rows.height - 100).write_parquet(path / "b.parquet")
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(rows.write_csv().encode()))
    elif name == "-":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.write_csv().encode())))
    else:
        cw.write({path: rows})
    disk = on_disk("-" if name == "-" else path)
    require_same_found(cw.BWA().fit(disk), cw.BWA().fit(cw.Labels.from_frame(rows)))


def test_mixed_json_and_broken_files_are_said_as_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    for text in ('{"item": "a", "worker": 1, "label": 1}\n{"item": 2, "worker": 1, "label": 1}\n', "{nonsense\n"):
        path.write_text(text)
        with pytest.raises(cw.DataError) as one:
            cw.read_labels(path)
        with pytest.raises(cw.DataError) as other:
            on_disk(path)
        assert str(one.value) == str(other.value)


@pytest.mark.slow
def test_results_are_the_same_to_the_bit_for_any_number_of_threads(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    cw.simulate(500, 30, 3, seed=5).rows.write_parquet(path)
    labels = on_disk(path)
    tables = []
    for threads in (1, 2, 7):
        with on_threads(threads):
            result = cw.BWA().fit(labels)
            tables.append((result.to_frame(scores=True), result.workers_frame()))
    for table, workers in tables[1:]:
        assert table.equals(tables[0][0])
        assert workers.equals(tables[0][1])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"memory": "lots"}, "memory='lots' is no size; write it as 4GB"),
        ({"engine": "tape"}, "engine='tape' is not one of 'memory', 'disk', 'auto', 'spark'"),
        ({"workdir": "/no/such/folder"}, "There is no folder /no/such/folder to work in"),
    ],
)
def test_wrong_calls_get_a_sentence(more: dict[str, str], message: str, tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,worker,label\n1,a,x\n")
    with pytest.raises(cw.CallError, match=message):
        on_disk(tmp_path / "votes.csv", **more)


def test_memory_that_would_make_parts_useless_is_refused(tmp_path: Path, workdir: Path) -> None:
    path = tmp_path / "votes.parquet"
    cw.simulate(400, 20, 3, labels_per_item=5, seed=2).rows.write_parquet(path)
    with pytest.raises(cw.CallError, match=r"about 2,000 rows, .* at least 0.002 MB \(--memory\), a byte a row"):
        on_disk(path, memory="1KB")
    assert not list(workdir.iterdir())


def test_the_command_line_chooses_the_disk_by_itself_and_says_so(tmp_path: Path, workdir: Path) -> None:
    crowd = cw.simulate(500, 20, 3, seed=7)
    cw.write({tmp_path / "votes.csv": crowd.rows, tmp_path / "gold.csv": crowd.truth})
    outputs = {}
    for engine in ("auto", "memory", "disk"):
        truth, workers = tmp_path / f"{engine}.parquet", tmp_path / f"{engine}.csv"
        files = (tmp_path / "votes.csv", "--truth", tmp_path / "gold.csv", "-o", truth, "--workers", workers)
        limit = () if engine == "memory" else ("--memory", "50KB")
        done = run("aggregate", *files, "-m", "bwa", "--engine", engine, *limit)
        assert done.returncode == 0, done.stderr
        assert ("The labels may not fit in memory" in done.stderr) == (engine == "auto")
        assert ("Working on disk: " in done.stderr) == (engine != "memory")
        table = pl.read_parquet(truth).sort("item").with_columns(pl.selectors.float().round(9))
        # Workers are looked at in memory only, and items are decided there.
        before, _, disputed = done.stdout.partition("Least sure items")
        before, _, _ = before.partition("Workers: the best")[0].partition("Best and worst workers")
        assert ("worth a look" in done.stdout) == (engine == "memory")
        shown = [re.sub(r" `crowdwise review.*", "", before), disputed]
        outputs[engine] = table.rows(), pl.read_csv(workers).select("worker", "labels", "agreement").rows(), shown
        assert not list(workdir.iterdir())
    assert outputs["auto"] == outputs["memory"] == outputs["disk"]


def test_a_large_item_and_an_empty_part_do_no_harm(tmp_path: Path) -> None:
    """One item has all labels, so its part is larger than the limit, and the other parts are empty."""
    path = tmp_path / "votes.parquet"
    count = 5000
    pl.DataFrame({"item": [7] * count, "worker": np.arange(count), "label": np.arange(count) % 3}).write_parquet(path)
    disk, memory = on_disk(path), cw.read_labels(path)
    assert disk.n_parts == 1
    require_same_found(cw.BWA().fit(disk), cw.BWA().fit(memory))


def test_phases_draw_a_bar_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdwise.cli.terminal._MOMENT", -1.0)
    screen, drawn = Terminal(quiet=False), io.StringIO()
    screen._err = Console(file=drawn, force_terminal=True, width=100)
    show = screen.phases()
    for share in (0.1, 0.5, 1.0):
        show("reading", share)
    show("sorting", 0.5)
    show("sorting", 1.0)
    assert re.search(r"reading .*\d:\d\d:\d\d", drawn.getvalue())
    assert "sorting" in drawn.getvalue()


def test_another_report_does_not_change_the_labels_it_is_asked_of(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    cw.write({path: cw.simulate(20, 5, 2, seed=1).rows})
    with cw.read_labels(path, engine="disk") as labels:
        before = labels.report
        other = labels.with_report(replace(before, understood=("Another report.",)))
        assert labels.report is before
        assert other.report.understood == ("Another report.",)
        assert cw.MajorityVote().fit(other).to_frame().equals(cw.MajorityVote().fit(labels).to_frame())
