"""Files out: every format, whole or not at all, and never over an input."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.data.targets import check_targets

from .test_files import ROWS


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst", "t.jsonl", "t.jsonl.gz", "t.parquet", "t.arrow"]
)
def test_every_format_is_written(name: str, tmp_path: Path) -> None:
    labels = cw.Labels.from_frame(ROWS)
    cw.write({tmp_path / name: cw.MajorityVote().fit(labels).to_frame()})
    assert cw.read_truth(tmp_path / name, truth="label").rows() == [("007", "x"), ("8", "x")]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_types_survive_from_parquet_to_parquet(tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {
            "item": pl.Series([date(2026, 1, 1), date(2026, 1, 2)]),
            "worker": pl.Series([2**62, 7], dtype=pl.UInt64),
            "label": [True, False],
        }
    )
    rows.write_parquet(tmp_path / "labels.parquet")
    result = cw.BWA().fit(cw.read_labels(tmp_path / "labels.parquet"))
    cw.write({tmp_path / "truth.parquet": result.to_frame(), tmp_path / "workers.parquet": result.workers_frame()})
    truth, workers = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("truth", "workers"))
    assert truth.select("item", "label").rows() == rows.select("item", "label").rows()
    assert truth.schema["item"] == pl.Date
    assert truth.schema["label"] == truth.schema["runner_up"] == pl.Boolean
    assert workers.schema["worker"] == pl.UInt64


def test_nothing_is_left_half_written(tmp_path: Path) -> None:
    table = pl.DataFrame({"item": [1]})
    nested = pl.DataFrame({"item": [[1]]})  # a CSV file cannot contain lists
    with pytest.raises(cw.DataError, match=r"two\.csv could not be written: CSV format does not support nested data"):
        cw.write({tmp_path / "one.csv": table, tmp_path / "two.csv": nested})
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(cw.CallError, match="does not say a format"):
        cw.write({tmp_path / "one.csv": table, tmp_path / "two.xyz": table})
    with pytest.raises(cw.CallError, match="There is no folder"):
        cw.write({tmp_path / "nowhere" / "one.csv": table})
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(cw.CallError, match="is a folder"):
        cw.write({tmp_path / "folder.csv": table})


def test_the_two_tables_of_a_result_need_two_files(tmp_path: Path) -> None:
    result = cw.MajorityVote().fit(cw.simulate(10, 5, 2, seed=1).labels)
    with pytest.raises(cw.CallError, match="cannot hold both the labels and the workers"):
        result.write(tmp_path / "one.csv", tmp_path / "one.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("{folder}/in", "file://{folder}/in"),
        ("file://{folder}/in", "{folder}/in"),
        ("{folder}", "{folder}/in"),
        ("{folder}/in/out", "{folder}/in"),
        ("s3a://bucket/in", "s3://bucket/in/"),
    ],
)
def test_a_folder_that_is_an_input_however_it_is_written_is_refused(target: str, source: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "_SUCCESS").touch()
    (tmp_path / "in" / "part.parquet").touch()
    with pytest.raises(cw.CallError, match="is an input; write to another folder"):
        check_targets([target.format(folder=tmp_path)], [source.format(folder=tmp_path)], folders=True)


def test_writing_keeps_links_and_permissions_and_follows_no_planted_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "truth.csv"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(target)
    cw.write({tmp_path / "link.csv": pl.DataFrame({"item": [1]})})
    assert (tmp_path / "link.csv").is_symlink()
    assert target.read_text() == "item\n1\n"
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link.csv", "real", "truth.csv"]


def test_threads_that_write_one_target_leave_it_whole(tmp_path: Path) -> None:
    tables = [pl.DataFrame({"item": [number] * 20_000}) for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda table: cw.write({tmp_path / "truth.csv": table}), tables * 5))
    written = pl.read_csv(tmp_path / "truth.csv")
    assert written.height == 20_000
    assert written["item"].n_unique() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["truth.csv"]


def test_a_target_that_cannot_be_replaced_says_what_was_written_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def refused(self: Path, target: Any) -> Path:
        if Path(target).name == "two.csv":
            raise PermissionError("Operation not permitted")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    table = pl.DataFrame({"item": [1]})
    with pytest.raises(cw.DataError, match=r"two.csv could not be written: .* Written before that: .*one.csv\.$"):
        cw.write({tmp_path / "one.csv": table, tmp_path / "two.csv": table})
    assert [path.name for path in tmp_path.iterdir()] == ["one.csv"]
