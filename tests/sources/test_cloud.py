"""Labels from a cloud storage and back, against a server on this machine that speaks as S3 does."""

import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise.cli.app import app
from tests.support.commands import Command
from tests.support.exports import label_studio

# boto3, which moto and this test use, warns of Pythons that it will leave behind.
pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = cw.simulate(60, 8, 3, seed=1).rows


@pytest.fixture(scope="module")
def storage() -> Iterator[dict[str, str]]:
    """The options of a storage with the bucket `crowd`."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed")
    import boto3

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    address = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": "hush"}
    client = boto3.client("s3", endpoint_url=address, region_name="us-east-1", **keys)
    client.create_bucket(Bucket="crowd")
    half = ROWS.height // 2
    options = {**keys, "aws_region": "us-east-1", "aws_endpoint_url": address, "aws_allow_http": "true"}
    tables: dict[str, Any] = {"s3://crowd/v/1.parquet": ROWS[:half], "s3://crowd/v/2.parquet": ROWS[half:]}
    tables |= {"s3://crowd/c/1.csv": ROWS[:half], "s3://crowd/c/2.csv.gz": ROWS[half:], "s3://crowd/j.jsonl": ROWS}
    cw.write(tables, storage=options)
    for name, body in {
        "ragged.csv": b"item,worker,label\n1,a,x\n2,b\n",
        "nul.csv": b"item,worker,label\n1,a\0,x\n",
        "latin.csv": b"item,worker,label\n1,caf\xe9,x\n",
        "empty.csv": b"",
        "not.parquet": b"PAR1PAR1",
        "two.csv": b'item,worker,label\r\n1,a,"x\ny"\r\n',
    }.items():
        client.put_object(Bucket="crowd", Key=name, Body=body)
    yield options
    server.stop()


@pytest.mark.parametrize("engine", ["memory", "auto", "disk"])
@pytest.mark.parametrize("path", ["v/*.parquet", "c/*.csv*", "j.jsonl"])
def test_tables_in_a_bucket_are_one_crowd(storage: dict[str, str], engine: str, path: str) -> None:
    labels = cw.read_labels(f"s3://crowd/{path}", storage=storage, engine=engine)
    local = cw.MajorityVote().fit(cw.Labels.from_frame(ROWS)).to_frame().sort("item")
    assert labels.n_labels == ROWS.height
    assert cw.MajorityVote().fit(labels).to_frame().sort("item").equals(local)
    labels.close()


def test_results_are_written_to_a_bucket(storage: dict[str, str]) -> None:
    for engine in ("memory", "disk"):
        with_known = cw.read_labels("s3://crowd/v/*.parquet", storage=storage, engine=engine)
        result = cw.MajorityVote().fit(with_known)
        result.write(f"s3://crowd/out/{engine}.parquet", f"s3://crowd/out/{engine}.csv.gz", storage=storage)
        written = pl.read_parquet(f"s3://crowd/out/{engine}.parquet", storage_options=storage)
        assert written["item"].sort().to_list() == ROWS["item"].unique().sort().to_list()
        assert pl.read_csv(f"s3://crowd/out/{engine}.csv.gz", storage_options=storage).height == 8


def test_the_command_line_takes_the_storage_from_the_environment(storage: dict[str, str], monkeypatch: Any) -> None:
    for name, value in storage.items():
        monkeypatch.setenv(name.upper(), value)
    output = "s3://crowd/truth.parquet"
    done = CliRunner().invoke(app, ["aggregate", "s3://crowd/v/*.parquet", "-m", "mv", "-o", output])
    assert done.exit_code == 0, done.output
    assert pl.read_parquet(output, storage_options=storage).height == 60
    done = CliRunner().invoke(app, ["aggregate", "s3://crowd/v/*.parquet", "-o", "s3://crowd/v/3.parquet"])
    assert isinstance(done.exception, cw.CallError)
    assert "is an input" in str(done.exception)


def test_every_file_of_a_command_may_be_in_a_bucket(storage: dict[str, str], run: Command, tmp_path: Path) -> None:
    items = ROWS["item"].unique().sort()
    truth = pl.DataFrame({"item": items, "truth": ["c1"] * len(items)})
    costs = pl.DataFrame({"truth": ["c1", "c2", "c3"] * 2, "label": ["c2", "c3", "c1", "c3", "c1", "c2"], "cost": 1})
    tables: dict[str, Any] = {"s3://crowd/gold.csv": truth[:9], "s3://crowd/truth.csv.gz": truth[9:]}
    cw.write({**tables, "s3://crowd/costs.csv": costs}, storage=storage)
    words = [word for name, value in storage.items() for word in ("--storage", f"{name}={value}")]
    inputs = "--gold s3://crowd/gold.csv --truth s3://crowd/truth.csv.gz --costs s3://crowd/costs.csv"
    outputs = (
        "-o s3://crowd/o.csv --workers s3://crowd/w.csv --review s3://crowd/r.csv --save-state s3://crowd/day.state"
    )
    command = f"aggregate s3://crowd/c/*.csv* -m one_coin {inputs} {outputs}"
    ended = run(*command.split(), *words)
    assert ended.returncode == 0, ended.stderr
    assert pl.read_csv("s3://crowd/o.csv", storage_options=storage).height == 60
    assert pl.read_csv("s3://crowd/r.csv", storage_options=storage).height
    state = cw.History.read("s3://crowd/day.state", storage=storage)
    assert len(state.workers) == 8
    copy = tmp_path / "copy.state"
    pl.read_parquet("s3://crowd/day.state", storage_options=storage).write_parquet(copy)
    assert cw.History.read(copy).workers.equals(state.workers)
    words += ["-m", "one_coin"]
    again = run("aggregate", "s3://crowd/j.jsonl", "--history", "s3://crowd/day.state", "--json", *words)
    assert again.returncode == 0, again.stdout
    asked = run("next", "s3://crowd/j.jsonl", "--budget", "3", "-o", "s3://crowd/next.csv", *words)
    assert asked.returncode == 0, asked.stderr
    assert pl.read_csv("s3://crowd/next.csv", storage_options=storage).height == 3
    assert "hush" not in ended.stderr + again.stderr + asked.stderr


def test_an_export_in_a_bucket_is_recognised(storage: dict[str, str], run: Command, tmp_path: Path) -> None:
    import boto3

    address = storage["aws_endpoint_url"]
    keys = {name: storage[name] for name in ("aws_access_key_id", "aws_secret_access_key")}
    client = boto3.client("s3", endpoint_url=address, region_name="us-east-1", **keys)
    export = label_studio().write(tmp_path)
    client.put_object(Bucket="crowd", Key="export.json", Body=export.read_bytes())
    words = [word for name, value in storage.items() for word in ("--storage", f"{name}={value}")]
    there = run("aggregate", "s3://crowd/export.json", "--question", "mood", "-m", "mv", "--json", *words)
    here = run("aggregate", export, "--question", "mood", "-m", "mv", "--json")
    assert json.loads(there.stdout)["labels"] == json.loads(here.stdout)["labels"]
    assert run("questions", "s3://crowd/export.json", *words).returncode == 0


def test_files_are_put_in_place_after_the_cloud(storage: dict[str, str], run: Command, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(ROWS.write_csv())
    (tmp_path / "truth.csv").write_text("before")
    words = [word for name, value in storage.items() for word in ("--storage", f"{name}={value}")]
    targets = ["-o", tmp_path / "truth.csv", "--workers", "s3://crowd/w2.csv", "--review", "s3://nobody/r.csv"]
    ended = run("aggregate", tmp_path / "labels.csv", "-m", "mv", *targets, *words)
    assert ended.returncode == 1
    assert "there is no such bucket" in ended.stderr
    assert "Written before that: s3://crowd/w2.csv." in ended.stderr
    assert (tmp_path / "truth.csv").read_text() == "before"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.parquet", "There is no file s3://crowd/none.parquet"),
        ("none/*.parquet", "There is no file s3://crowd/none/"),
        ("none.csv", "There is no file s3://crowd/none.csv"),
        ("none/*.csv", "no file matches"),
        ("empty.csv", "is empty"),
        ("ragged.csv", "s3://crowd/ragged.csv .* line 3 has 2 fields"),
        ("nul.csv", "s3://crowd/nul.csv .* line 2 has a NUL byte"),
        ("latin.csv", "invalid utf8"),
        ("not.parquet", "s3://crowd/not.parquet cannot be read"),
        ("labels.xlsx", "fetch a file of Excel first"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(storage: dict[str, str], path: str, message: str) -> None:
    with pytest.raises((cw.DataError, cw.CallError), match=message) as problem:
        cw.read_labels(f"s3://crowd/{path}", storage=storage)
    assert "hush" not in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_quoted_field_may_go_over_several_lines(storage: dict[str, str]) -> None:
    assert cw.read_labels("s3://crowd/two.csv", storage=storage).names.classes.to_list() == ["x\ny"]


def test_a_storage_that_does_not_answer(storage: dict[str, str]) -> None:
    dead = {**storage, "aws_endpoint_url": "http://127.0.0.1:9", "max_retries": "0"}
    with pytest.raises(cw.DataError, match=r"s3://crowd/x\.parquet cannot be read: nobody answers there"):
        cw.read_labels("s3://crowd/x.parquet", storage=dead)
    with pytest.raises(cw.DataError, match=r"s3://crowd/x\.csv could not be written: nobody answers there"):
        cw.write({"s3://crowd/x.csv": ROWS}, storage=dead)
    with pytest.raises(cw.DataError, match="there is no such bucket"):
        cw.write({"s3://nobody/x.csv": ROWS}, storage=storage)
    with pytest.raises(cw.CallError, match="max_retries='many'"):
        cw.read_labels("s3://crowd/x.csv", storage={"max_retries": "many"})
    with pytest.raises(cw.CallError, match="foo:// is no address"):
        cw.read_labels("foo://crowd/x.csv")
    with pytest.raises(cw.CallError, match="not to the web"):
        cw.write({"https://host/x.csv": ROWS})


def test_a_page_of_the_web_is_read(tmp_path: Path) -> None:
    ROWS.write_csv(tmp_path / "votes.csv")
    ROWS.write_parquet(tmp_path / "votes.parquet")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Give a file, or a part of it."""
            path = tmp_path / self.path.partition("?")[0].lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            content = path.read_bytes()
            first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
            start = int(first) if first else max(len(content) - int(last), 0)
            end = min(int(last) + 1, len(content)) if first and last else len(content)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(end - start))
            self.end_headers()
            self.wfile.write(content[start:end])

        def do_HEAD(self) -> None:
            """Say how large a file is."""
            path = tmp_path / self.path.partition("?")[0].lstrip("/")
            self.send_response(200 if path.is_file() else 404)
            self.send_header("Content-Length", str(path.stat().st_size if path.is_file() else 0))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    assert cw.read_labels(f"{address}/votes.csv?key=secret").n_labels == ROWS.height
    assert cw.read_labels(f"{address}/votes.parquet", engine="disk").n_labels == ROWS.height
    with pytest.raises(cw.DataError, match="There is no file") as problem:
        cw.read_labels(f"{address}/none.csv?key=secret")
    assert "secret" not in str(problem.value)
    server.shutdown()
    server.server_close()
