"""Tests of the catalog of datasets, and of downloads from a real server on this machine."""

import contextlib
import errno
import hashlib
import json
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise import datasets
from crowdwise.cli.app import app
from crowdwise.datasets.downloading import UnreachableError
from crowdwise.datasets.locations import cache_folder

LABELS = b"item,worker,label\n" + b"".join(b"%d,%d,%d\n" % (i, j, (i + j) % 2) for i in range(300) for j in range(3))
TRUTH = b"item,truth\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(300))
FILES = {"/some%20where/tiny/label.csv": LABELS, "/some%20where/tiny/truth.csv": TRUTH}

Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


@dataclass
class Server:
    """The state of the server.

    Attributes:
        address: Its web address.
        mishaps: How it answers the next requests. When the list is empty, it answers correctly.
        requests: The path of every request so far.
        released: Set at the end of the test, so that answers that wait for it can end.
    """

    address: str = ""
    mishaps: list[Answer] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


def whole(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def truncated(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[:1000])


def wrong(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    whole(handler, content.replace(b"1", b"0", 1))


def absent(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.send_error(404)


def broken(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.send_error(503)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with one dataset that is in the catalog; the cache is empty and CROWDWISE_DATA is not set."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(self.path)
            content = FILES.get(self.path)
            answer = absent if content is None else state.mishaps.pop(0) if state.mishaps else whole
            answer(self, content or b"")

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setitem(datasets.CATALOG, "tiny", tiny())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CROWDWISE_DATA", raising=False)
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda _: None))  # between attempts
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))  # looks so often whether it shall end
        thread.start()
        state.address = f"http://127.0.0.1:{listening.server_port}"
        monkeypatch.setenv("CROWDWISE_DATASETS_URL", state.address)
        yield state
        state.released.set()
        listening.shutdown()
        thread.join()


def tiny() -> datasets.Dataset:
    return datasets.Dataset(
        name="tiny",
        collection="paper",
        question="Is it odd?",
        citation="none",
        source="a test",
        licence="none",
        items=300,
        workers=3,
        classes=2,
        labels=900,
        truths=300,
        duplicates="error",
        duplicates_reason="Nobody gave one item two labels.",
        label_sha256=hashlib.sha256(LABELS).hexdigest(),
        truth_sha256=hashlib.sha256(TRUTH).hexdigest(),
        path="some where/tiny",
    )


def cached() -> set[str]:
    return {path.name for path in cache_folder().rglob("*")} if cache_folder().exists() else set()


def test_a_dataset_is_downloaded_once_and_then_cached(server: Server) -> None:
    seen: list[tuple[str, int, int]] = []
    labels, truth = cw.datasets.load("tiny", progress=lambda *step: seen.append(step))
    assert (labels.n_items, labels.n_labels, truth.height) == (300, 900, 300)
    assert seen[-1] == ("tiny/truth.csv", len(TRUTH), len(TRUTH))
    assert cached() == {"paper", "tiny", "label.csv", "truth.csv"}
    cw.datasets.load("tiny")
    assert len(server.requests) == 2


@pytest.mark.parametrize("file", ["label.csv", "truth.csv"])
def test_a_file_in_the_cache_that_was_changed_is_noticed_and_downloaded_again(file: str, server: Server) -> None:
    path = datasets.fetch("tiny") / file
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *rows[1:], rows[0].replace(",0", ",1")]) + "\n")  # the counts are the same
    for call in (datasets.load, datasets.fetch):
        with pytest.raises(cw.DataError, match=rf"{file} was changed.*`crowdwise datasets fetch tiny --again`"):
            call("tiny")
    (path.parent / "notes.txt").touch()  # of the user, who may want to keep it
    assert datasets.fetch("tiny", again=True) == path.parent
    assert datasets.load("tiny")[0].n_labels == 900
    assert (path.parent / "notes.txt").exists()


def test_files_that_were_put_into_the_cache_by_hand_must_be_the_published_ones(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(datasets.CATALOG, "tiny", replace(tiny(), path=None))
    folder = cache_folder() / "paper/tiny"
    folder.mkdir(parents=True)
    (folder / "label.csv").write_bytes(LABELS)
    (folder / "truth.csv").write_bytes(TRUTH)
    assert datasets.load("tiny")[0].n_labels == 900
    (folder / "truth.csv").write_bytes(TRUTH.replace(b"0,0", b"0,1", 1))
    with pytest.raises(cw.DataError, match=r"truth\.csv was changed .*; replace it by the published file"):
        datasets.load("tiny")


def test_labels_whose_git_blob_is_known_are_checked_by_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = subprocess.run(["git", "hash-object", "--stdin"], input=LABELS, capture_output=True, check=True).stdout
    row = replace(tiny(), label_sha256="", label_git_blob=blob.decode().strip())
    monkeypatch.setitem(datasets.CATALOG, "tiny", row)
    server.mishaps = [wrong]
    with pytest.raises(cw.DataError, match="is another file than the catalog's: its git blob is"):
        datasets.fetch("tiny")
    file = datasets.fetch("tiny") / "label.csv"
    file.write_bytes(LABELS.replace(b"0,0,0", b"0,0,1"))
    with pytest.raises(cw.DataError, match=r"label\.csv was changed .*: its git blob is not"):
        datasets.load("tiny")
    assert datasets.CATALOG["senti"].files["label.csv"] == "7398ef02356888562b9e612149059a2e5d121ee1"


def test_a_truncated_answer_is_started_again(server: Server) -> None:
    server.mishaps = [truncated]
    seen: list[tuple[str, int, int]] = []
    datasets.fetch("tiny", progress=lambda *step: seen.append(step))
    assert len(server.requests) == 3
    assert (cache_folder() / "paper/tiny/label.csv").read_bytes() == LABELS
    assert all(came <= total for _, came, total in seen)


def test_a_server_in_trouble_is_asked_again(server: Server) -> None:
    server.mishaps = [broken, broken]
    assert datasets.fetch("tiny") == cache_folder() / "paper/tiny"


def silent(server: Server) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[:10])
        handler.wfile.flush()
        server.released.wait()

    return answer


def endless(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """More bytes than are allowed, in an answer without a length."""
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):  # the other side does not wait for all of them
        while True:
            handler.wfile.write(b"0" * 65536)


def dripping(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """A few bytes every hundredth of a second: each comes in time, and all of them never."""
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        while True:
            handler.wfile.write(b"0" * 200)
            time.sleep(0.01)


def with_length(length: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def redirected(to: str | None) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, content: bytes) -> None:
        handler.send_response(302)
        handler.send_header("Location", to or handler.path)
        handler.end_headers()

    return answer


def reset(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def no_status(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.wfile.write(b"x" * 20_000 + b"\r\n\r\n")


def negative_chunk(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n" + content)


@pytest.mark.parametrize("length", ["abc", "9" * 5000, ""])
def test_a_length_that_is_none_is_ignored(server: Server, length: str) -> None:
    server.mishaps = [with_length(length)] * 2
    datasets.fetch("tiny")
    assert (cache_folder() / "paper/tiny/label.csv").read_bytes() == LABELS


@pytest.mark.parametrize(
    ("mishap", "sentence"),
    [
        pytest.param(endless, "sends more than 0.1 MB, which no file", id="endless"),
        pytest.param(with_length("9999999999"), "sends more than 0.1 MB, which no file", id="huge length"),
        pytest.param(with_length("100"), "another file than the catalog's", id="longer than said"),
        pytest.param(dripping, "took longer than", id="dripping"),
        pytest.param(redirected(None), "sent an invalid answer", id="loop"),
        pytest.param(redirected("http://[junk/"), "sent an invalid answer", id="junk address"),
        pytest.param(redirected("http://127.0.0.1:99999/"), "an invalid answer|not be reached", id="impossible port"),
        pytest.param(redirected("file:///etc/passwd"), "an invalid answer: No connection adapters", id="local file"),
        pytest.param(reset, "could not be reached in 3 attempts: .*reset", id="reset"),
        pytest.param(no_status, "could not be reached in 3 attempts", id="no status"),
        pytest.param(negative_chunk, "sent an invalid answer|another file", id="negative chunk"),
    ],
)
def test_whatever_a_server_does_has_an_end_and_a_short_sentence(
    server: Server, mishap: Answer, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdwise.datasets.transfer._MAX_BYTES", 100_000)
    if "longer" in sentence:
        monkeypatch.setattr("crowdwise.datasets.transfer._PATIENCE", 0.01)  # times 30 seconds for the whole answer
    server.mishaps = [mishap] * 100
    with pytest.raises(cw.DataError, match=sentence) as refusal:
        datasets.fetch("tiny")
    assert len(str(refusal.value)) < 500 + len(str(cache_folder()))  # the folders of tests have long names
    assert "\n" not in str(refusal.value)
    assert cached() == {"paper"}


@pytest.mark.parametrize(
    "address",
    [
        "mirror.org/data",
        "ftp://mirror.org/data",
        "data:text/csv,1",
        "http://",
        "http:///data",
        "http://mir ror.org/data",
        "http://[::1/data",
        "http://[junk]/data",
        "http://mirror.org:99999/data",
        "http://mirror.org:port/data",
        "http://user:secret@mirror.org/data",
        f"http://{'x' * 70}.org/data",
        "http://\u2028.org/data",
        "file://",
        "file://mirror/data",
    ],
)
def test_an_address_that_is_none_is_a_wrong_call(server: Server, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_DATASETS_URL", address)
    with pytest.raises(cw.CallError, match=r"CROWDWISE_DATASETS_URL is .*, which is no address to download from") as no:
        datasets.fetch("tiny")
    assert len(str(no.value)) < 500
    assert cached() == set()


def test_what_a_killed_download_left_is_removed_by_the_next(server: Server) -> None:
    (cache_folder() / "paper").mkdir(parents=True)
    killed = (
        "import os, signal, sys; from crowdwise.partitions.workspace import Workspace; place = Workspace(sys.argv[1]); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", killed, cache_folder() / "paper"], check=False)
    assert len(cached()) == 3
    datasets.fetch("tiny")
    assert cached() == {"paper", "tiny", "label.csv", "truth.csv"}


def test_a_full_disk_is_said_as_such(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.move", full)
    with pytest.raises(cw.DataError, match=r"tiny could not be kept in .*: .*No space left on device"):
        datasets.fetch("tiny")
    assert cached() == {"paper"}


@pytest.mark.parametrize(
    ("mishap", "sentence"),
    [
        (truncated, "IncompleteRead(1000 bytes read"),
        (wrong, "is another file than the catalog's: its SHA-256 is"),
        (absent, "answered 404 Not Found"),
        (broken, "answered 503"),
        pytest.param(None, "timed out", id="silent"),
    ],
)
def test_a_failure_says_what_was_tried_and_leaves_nothing(
    server: Server, mishap: Answer | None, sentence: str, tmp_path: Path
) -> None:
    server.mishaps = [mishap or silent(server)] * 3
    with pytest.raises(cw.DataError) as refusal:
        datasets.fetch("tiny", folder=tmp_path, timeout=0.2)
    told = str(refusal.value)
    assert sentence in told
    assert server.address in told
    assert len(told) <= 500  # a long message is cut in its middle
    assert "CROWDWISE_DATA" in told
    assert cached() == {"paper"}


def test_without_a_network_the_error_says_how_to_provide_the_files(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDWISE_DATASETS_URL", "http://127.0.0.1:9")  # no program listens on this port
    with pytest.raises(cw.DataError, match=r"refused.*name a folder with paper/tiny/label\.csv"):
        datasets.load("tiny")


def test_an_interrupted_download_leaves_nothing_that_looks_whole(server: Server) -> None:
    def interrupt(file: str, came: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.fetch("tiny", progress=interrupt)
    assert cached() == {"paper"}
    assert datasets.fetch("tiny").is_dir()


def test_two_downloads_at_once_do_not_disturb_each_other(server: Server) -> None:
    with ThreadPoolExecutor(2) as pool:
        folders = list(pool.map(datasets.fetch, ["tiny", "tiny"]))
    assert len(server.requests) in (2, 4)  # the second may find what the first has downloaded
    assert datasets.load("tiny")[0].n_labels == 900
    assert folders == [cache_folder() / "paper/tiny"] * 2
    assert cached() == {"paper", "tiny", "label.csv", "truth.csv"}


def test_a_folder_of_the_users_comes_first(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine/paper/tiny"
    folder.mkdir(parents=True)
    (folder / "label.csv").write_bytes(LABELS)
    (folder / "truth.csv").write_bytes(TRUTH)
    monkeypatch.setenv("CROWDWISE_DATA", str(tmp_path / "mine"))
    assert datasets.fetch("tiny") == folder
    assert datasets.load("tiny", folder=tmp_path / "mine")[0].n_labels == 900
    assert not server.requests
    (folder / "truth.csv").write_bytes(TRUTH[: TRUTH.index(b"\n", len(TRUTH) // 2) + 1])
    with pytest.raises(cw.DataError, match=r"is not tiny as published: it has \d+ truths and should have 300"):
        datasets.load("tiny")


def test_senti_loads_when_its_labels_are_provided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real file is not available, so the test makes a file with the same counts."""
    row = datasets.CATALOG["senti"]
    position = np.arange(row.labels)
    items = position % row.items
    workers = (items + position // row.items) % row.workers  # a different worker for each label of an item
    columns = {"item": items, "worker": workers, "label": position % row.classes}
    folder = tmp_path / "paper/senti"
    folder.mkdir(parents=True)
    pl.DataFrame(columns).write_csv(folder / "label.csv")
    pl.DataFrame({"item": np.arange(row.truths), "truth": np.arange(row.truths) % 5}).write_csv(folder / "truth.csv")
    monkeypatch.setenv("CROWDWISE_DATA", str(tmp_path))
    labels, truth = datasets.load("senti")
    assert (labels.n_labels, truth.height) == (569_282, 1_000)


def test_what_has_no_public_address_must_be_provided(server: Server) -> None:
    with pytest.raises(cw.DataError, match="no public address has it in this form"):
        datasets.load("cub_bill")


def test_a_name_that_is_not_known_is_a_wrong_call() -> None:
    with pytest.raises(cw.CallError, match="Did you mean 'ZC_all'"):
        datasets.load("zc_al")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "crowdwise", "datasets", *arguments], capture_output=True, text=True)


def test_the_command_line_lists_shows_and_fetches(server: Server) -> None:
    listed = run()
    assert re.search(r"web +2665 +177 +5 +15567 +2653 +5\.84", listed.stdout)
    assert "to be provided: BarzanMozafari" in listed.stderr
    assert json.loads(run("show", "web", "--json").stdout)["licence"].startswith("MIT")
    failed = run("fetch", "web", "rte")
    assert failed.returncode == 1
    assert failed.stderr.count("answered 404") == 2
    assert "2 of 2 datasets could not be fetched: web, rte." in failed.stderr


def test_without_a_network_the_command_line_says_so_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_DATASETS_URL", "http://127.0.0.1:9")  # no program listens on this port
    refusal = str(CliRunner().invoke(app, ["datasets", "fetch", "all"]).exception)
    names = [name for name, dataset in datasets.CATALOG.items() if dataset.path]
    assert refusal.count("127.0.0.1:9") == refusal.count("could not be reached in 3 attempts: [Errno ") == 1
    assert f"{len(names)} of {len(names)} datasets could not be fetched: {', '.join(names)}; name a" in refusal
    assert "CROWDWISE_DATA," in refusal
    assert "CROWDWISE_DATASETS_URL" in refusal
    assert cached() == {"paper"}


def test_without_a_network_what_needs_none_is_still_done(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDWISE_DATASETS_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CROWDWISE_DATA", str(tmp_path))
    folder = tmp_path / "paper/rte"
    folder.mkdir(parents=True)
    for file in datasets.CATALOG["rte"].files:
        (folder / file).touch()
    failed = CliRunner().invoke(app, ["datasets", "fetch", "web", "rte", "cub_bill", "bird"])
    assert f"rte: was already in {folder}" in failed.stderr
    assert failed.stderr.count("no public address has it in this form") == 1
    assert "3 of 4 datasets could not be fetched: web, cub_bill, bird;" in str(failed.exception)


@pytest.mark.parametrize("answered", [True, False])
def test_only_a_server_that_never_answers_is_out_of_reach(
    server: Server, answered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mute(handler: BaseHTTPRequestHandler, content: bytes) -> None:
        server.released.wait()

    monkeypatch.setattr("crowdwise.datasets.transfer._ATTEMPTS", 1)
    server.mishaps = [silent(server) if answered else mute]
    with pytest.raises(cw.DataError, match="timed out") as refusal:
        datasets.fetch("tiny", timeout=1.0 if answered else 0.1)  # a busy machine answers late
    assert isinstance(refusal.value, UnreachableError) != answered
    assert cached() == {"paper"}


def test_a_mirror_that_is_a_folder_may_lack_a_single_dataset(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDWISE_DATASETS_URL", tmp_path.as_uri())
    with pytest.raises(cw.DataError, match="No such file") as refusal:
        datasets.fetch("tiny")
    assert not isinstance(refusal.value, UnreachableError)


def test_every_row_is_complete() -> None:
    collections = [dataset.collection for dataset in datasets.CATALOG.values()]
    assert {name: collections.count(name) for name in set(collections)} == {"paper": 19, "extra": 15, "numeric": 10}
    for dataset in datasets.CATALOG.values():
        assert all([dataset.question, dataset.citation, dataset.source, dataset.licence]), dataset.name
        assert re.fullmatch("[0-9a-f]{64}", dataset.truth_sha256), dataset.name
        assert (dataset.path is not None) == (dataset.collection == "paper"), dataset.name


@pytest.mark.data
def test_the_catalog_is_the_papers_table(golden: Path) -> None:
    for row in pl.read_csv(golden / "paper_table_datasets.csv").iter_rows(named=True):
        dataset = datasets.CATALOG[row["dataset"]]
        for count in ("items", "workers", "classes", "labels", "truths"):
            assert getattr(dataset, count) == row[count], (row["dataset"], count)


@pytest.mark.data
def test_every_dataset_that_is_there_loads_and_has_its_checksum(data: Path) -> None:
    for dataset in datasets.CATALOG.values():
        if dataset.name == "senti":  # its labels are not available
            continue
        datasets.load(dataset.name, folder=data)  # this checks the counts
        for file, sha256 in dataset.files.items():
            assert hashlib.sha256((data / dataset.folder / file).read_bytes()).hexdigest() == sha256, dataset.name
