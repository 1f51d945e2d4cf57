"""Files out: every format, whole or not at all, and never over an input."""

import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise.cli.app import app
from crowdwise.output.replacing import temporary_files
from crowdwise.output.targets import check_targets
from tests.sources.test_files import ROWS


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.csv.zst", "t.jsonl", "t.jsonl.gz", "t.parquet", "t.arrow"]
)
def test_every_format_is_written(name: str, tmp_path: Path) -> None:
    result = cw.MajorityVote().fit(cw.Labels.from_frame(ROWS))
    not_utf8 = tmp_path / os.fsdecode(b"\xff")
    not_utf8.mkdir()
    cw.write({tmp_path / name: result.to_frame(), not_utf8 / name: result.to_frame()})
    assert cw.read_truth(tmp_path / name, truth="label").rows() == [("007", "x"), ("8", "x")]
    assert (not_utf8 / name).read_bytes() == (tmp_path / name).read_bytes()
    assert {path.name for path in tmp_path.rglob("*")} == {name, not_utf8.name}


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
    nested = pl.DataFrame({"item": [{"a": 1}]})  # a CSV file cannot contain structs
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
    with pytest.raises(cw.CallError, match="one file cannot hold both tables"):
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


def test_if_one_target_cannot_be_replaced_the_others_are_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def refused(self: Path, target: Any) -> Path:
        if Path(target).name == "two.csv":
            raise PermissionError("Operation not permitted")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    (tmp_path / "one.csv").write_text("before")
    (tmp_path / "one.csv").chmod(0o640)
    table = pl.DataFrame({"item": [1]})
    with pytest.raises(cw.DataError, match=r"two.csv could not be written: Operation not permitted\."):
        cw.write({tmp_path / name: table for name in ("new.csv", "one.csv", "two.csv")})
    assert [path.name for path in tmp_path.iterdir()] == ["one.csv"]
    assert (tmp_path / "one.csv").read_text() == "before"
    monkeypatch.undo()
    cw.write({tmp_path / name: table for name in ("one.csv", "two.csv")})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "two.csv"]
    assert (tmp_path / "one.csv").stat().st_mode & 0o777 == 0o640


def _dangling(folder: Path) -> Path:
    (folder / "link.csv").symlink_to(folder / "nowhere" / "file.csv")
    return folder / "link.csv"


def _loop(folder: Path) -> Path:
    (folder / "link.csv").symlink_to(folder / "link.csv")
    return folder / "link.csv"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.csv")
    return folder / "pipe.csv"


def _device(folder: Path) -> Path:
    (folder / "full.csv").symlink_to("/dev/full")
    return folder / "full.csv"


def _in_file(folder: Path) -> Path:
    (folder / "file").touch()
    return folder / "file" / "two.csv"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (_dangling, "There is no folder .*nowhere to write file.csv to"),
        (_loop, "link.csv cannot be written to: Too many levels of symbolic links"),
        (_pipe, "pipe.csv is a device, a pipe or a socket"),
        (_device, "full.csv is a device, a pipe or a socket"),
        (_in_file, "There is no folder .*file to write two.csv to"),
        (lambda folder: folder / f"{'x' * 300}.csv", "cannot be written to: File name too long"),
        (lambda folder: folder / "a\0b.csv", "cannot be written to: .*null"),
    ],
)
def test_no_output_is_written_if_one_of_them_cannot_be(
    make: Callable[[Path], Path], sentence: str, tmp_path: Path
) -> None:
    impossible = make(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    result = cw.MajorityVote().fit(cw.Labels.from_frame(ROWS))
    with pytest.raises(cw.CallError, match=sentence):
        result.write(tmp_path / "one.csv", impossible)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_dangling_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to("file.csv")
    cw.write({tmp_path / "link.csv": pl.DataFrame({"item": [1]})})
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "file.csv").read_text() == "item\n1\n"


# Run by a user who owns nothing: writes one.csv and two.csv to every folder that is given.
AS_NOBODY = """
import os, sys, polars as pl, crowdwise as cw
cw.write({})  # imports everything before the user may read nothing
os.setuid(65534)
for folder in sys.argv[1:]:
    os.chdir(folder)
    try:
        cw.write({name: pl.DataFrame({"item": [1]}) for name in ("one.csv", "two.csv")})
        print("written")
    except cw.CallError as problem:
        print(problem)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as two users")
def test_files_of_others_are_not_replaced_and_nothing_else_is_written() -> None:
    cases = [  # the rights of the folder, the owner and the rights of two.csv, and what is said
        (0o1777, 0, 0o666, "two.csv is another user's, and . lets only owners replace a file; name another."),
        (0o777, 0, 0o644, "two.csv is protected against writing; name another file, or allow to write to it."),
        (0o755, 65534, 0o666, "The folder . may not be written to."),
        (0o1777, 65534, 0o666, "written"),
    ]
    with tempfile.TemporaryDirectory() as made:  # the folders of pytest are closed to other users
        Path(made).chmod(0o755)
        folders = [Path(made) / str(number) for number in range(len(cases))]
        for folder, (rights, owner, file_rights, _) in zip(folders, cases, strict=True):
            folder.mkdir()
            (folder / "two.csv").write_text("old")
            (folder / "two.csv").chmod(file_rights)
            os.chown(folder / "two.csv", owner, -1)
            folder.chmod(rights)
        command = [sys.executable, "-c", AS_NOBODY, *map(str, folders)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == [sentence for *_, sentence in cases]
        for folder, (*_, sentence) in zip(folders, cases, strict=True):
            names = ["one.csv", "two.csv"] if sentence == "written" else ["two.csv"]
            assert sorted(path.name for path in folder.iterdir()) == names
            assert ((folder / "two.csv").read_text() == "old") == (sentence != "written")


@pytest.mark.parametrize("link", ["symbolic", "hard", "spelled"])
def test_one_file_under_two_names_is_refused_as_two_targets_and_as_an_input(link: str, tmp_path: Path) -> None:
    target, other = tmp_path / "a.csv", tmp_path / "b.csv"
    target.write_text("old")
    if link == "symbolic":
        other.symlink_to(target)
    elif link == "hard":
        other.hardlink_to(target)
    else:
        other = tmp_path / ".." / tmp_path.name / "a.csv"
    with pytest.raises(cw.CallError, match="one file cannot hold both tables"):
        cw.write({target: pl.DataFrame({"item": [1]}), other: pl.DataFrame({"item": [2]})})
    with pytest.raises(cw.CallError, match="is an input; write to another file"):
        check_targets([str(other)], [str(target)])
    assert target.read_text() == "old"


def test_a_file_that_is_standard_input_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").touch()
    before = os.dup(0)
    try:
        with (tmp_path / "votes.csv").open() as votes:
            os.dup2(votes.fileno(), 0)
            with pytest.raises(cw.CallError, match=r"votes\.csv is an input; write to another file"):
                check_targets([str(tmp_path / "votes.csv")], ["-"])
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_what_killed_runs_left_is_removed_and_what_others_write_is_not(tmp_path: Path) -> None:
    target = tmp_path / "truth.csv"
    killed = (
        "import os, sys, signal; from crowdwise.output.replacing import temporary_files\n"
        "with temporary_files([sys.argv[1]]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", killed, target], check=False)
    (left,) = tmp_path.iterdir()
    kept = [".truth.csv.part", ".truth.csv.old.part", ".other.csv.0123456789abcdef.part"]
    for name in kept:
        (tmp_path / name).touch()
    (tmp_path / ".truth.csv.0123456789abcdef.part").symlink_to(tmp_path / kept[0])
    with temporary_files([target]) as (alive,):
        cw.write({target: pl.DataFrame({"item": [1]})})
        assert alive.exists()
        assert not left.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*kept, ".truth.csv.0123456789abcdef.part", "truth.csv"]
    )


def test_a_long_name_in_another_script_is_written(tmp_path: Path) -> None:
    target = tmp_path / f"{'真' * 80}.csv"  # 244 bytes
    cw.write({target: pl.DataFrame({"item": [1]})})
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("wrong", [["--items", "0"], ["--format", "xyz"]])
def test_folders_that_were_made_for_nothing_are_removed(wrong: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = CliRunner().invoke(app, ["simulate", "-o", str(tmp_path / "mine" / "a" / "b"), *wrong])
    assert isinstance(done.exception, cw.CallError)
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz"])
def test_the_mark_of_utf_8_is_written_and_read_again(name: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"item": ["1"], "label": ["größe"]})
    cw.write({tmp_path / name: table, tmp_path / "t.jsonl": table}, bom=True)
    content = (tmp_path / name).read_bytes()
    text = gzip.decompress(content) if name.endswith("gz") else content
    assert text.startswith(b"\xef\xbb\xbfitem")
    assert (tmp_path / "t.jsonl").read_bytes().startswith(b"{")
    assert cw.read_truth(tmp_path / name, truth="label").rows() == [("1", "größe")]


@pytest.mark.parametrize("command", ["aggregate", "blocks", "next"])
def test_every_csv_of_a_command_has_the_mark(command: str, tmp_path: Path) -> None:
    crowd = cw.simulate(60, 6, labels_per_item=6, seed=1)
    cw.write({tmp_path / "labels.csv": crowd.rows})
    given = [command, str(tmp_path / "labels.csv"), "--bom", *(("--budget", "5") if command == "next" else ())]
    names = ["out.csv", "workers.csv", "review.csv"] if command == "aggregate" else ["out.csv"]
    options = ["-o", "--workers", "--review"][: len(names)]
    outputs = [part for option, name in zip(options, names, strict=True) for part in (option, str(tmp_path / name))]
    said = CliRunner().invoke(app, [*given, *outputs])
    assert said.exit_code == 0, said.stderr
    assert all((tmp_path / name).read_bytes().startswith(b"\xef\xbb\xbf") for name in names)
    refused = CliRunner().invoke(app, given)
    assert isinstance(refused.exception, cw.CallError)
    assert "--bom) does nothing here" in str(refused.exception)
