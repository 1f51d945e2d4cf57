"""Tests of `crowdwise review` without a browser: a real server in a process of its own, asked as the page asks it."""

import csv
import json
import os
import random
import signal
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from uuid import uuid4

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.errors import CallError, DataError
from crowdwise.reading.decision_log import COLUMNS, read_log, settled, standing
from crowdwise.reading.read_labels import read_options
from crowdwise.reviewing.item_columns import read_contents
from crowdwise.reviewing.log import DecisionFile, Entry
from crowdwise.reviewing.plan import Plan
from tests.support import exports
from tests.support.commands import Command
from tests.support.review_server import ReviewProcess, rows_of
from tests.support.tagged_crowds import simulate

KILLS = int(os.environ.get("CROWDWISE_KILLS", "4"))


@pytest.fixture(scope="module")
def crowd() -> cw.Labels:
    return cw.simulate(120, 12, 3, accuracy=0.7, labels_per_item=5, seed=3).labels


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    rows = cw.simulate(120, 12, 3, accuracy=0.7, labels_per_item=5, seed=3).rows
    text = pl.concat_str(pl.lit("What is "), pl.col("item"), pl.lit("?"))
    rows.with_columns(text.alias("text"), pl.lit("p1").alias("project")).write_csv(path)
    return path


@pytest.fixture
def server(labels: Path) -> Iterator[ReviewProcess]:
    with ReviewProcess.start(labels, "--reviewer", "anna") as started:
        yield started


def test_decisions_are_gold_and_the_page_says_what_aggregate_says(
    server: ReviewProcess, labels: Path, run: Command
) -> None:
    truth = dict(cw.simulate(120, 12, 3, accuracy=0.7, labels_per_item=5, seed=3).truth.rows())
    classes = {one["name"]: one["code"] for one in server.get("/api/state").json["classes"]}
    for number in range(33):
        item = server.next()
        assert item["source"] == ("random" if number < 30 else "worst")  # nothing is to be settled here
        assert [one["value"] for one in item["fields"]] == [
            f"What is {item['name']}?"
        ]  # what is constant tells nothing
        answer = server.decide(item, classes[truth[item["name"]]]).json
        assert answer["reveal"]["you"] == truth[item["name"]]
        assert len(answer["reveal"]["votes"]) == 5
        rest = answer["reveal"]["difference"] - answer["reveal"]["prior"] - answer["reveal"]["limit"]
        assert sum(vote["contribution"] for vote in answer["reveal"]["votes"]) == pytest.approx(rest)
    panel = server.wait_for_fit()
    assert "33 items are decided, 30 of them drawn at random" in server.finish()
    path = labels.with_name("labels.decisions.csv")
    assert [row["source"] for row in rows_of(path)] == ["random"] * 30 + ["worst"] * 3
    result = cw.aggregate(labels, gold=path, warn=False)
    assert panel["expected"]["value"] == pytest.approx(result.expected_accuracy.value, rel=1e-9)
    assert result.gold_check is not None
    assert panel["accuracy"]["value"] == result.gold_check.accuracy.value
    assert panel["accuracy"]["items"] == 30
    ended = run("aggregate", labels, "--gold", path, "-o", labels.with_name("truth.csv"), "--provenance")
    assert ended.returncode == 0, ended.stderr
    table = pl.read_csv(labels.with_name("truth.csv"))
    assert (table["provenance"] == "decided").sum() == 33


def test_random_items_are_those_of_next(server: ReviewProcess, labels: Path) -> None:
    asked = cw.next_labels(cw.read_labels(labels), ask="expert", random=5).to_frame()["item"].to_list()
    found = []
    for _ in asked:
        found.append(server.next()["name"])
        server.decide({"code": server.next()["code"]}, 0)
    assert found == asked


def test_a_review_goes_on_after_it_was_killed(labels: Path) -> None:
    with ReviewProcess.start(labels) as first:
        for _ in range(3):
            first.decide(first.next(), 1, comment='with "quotes",\nand a line break', sure="unsure", unclear=True)
        shown = first.next()["name"]
    with ReviewProcess.start(labels) as second:
        state = second.get("/api/state").json
        assert state["plan"]["phases"][0]["done"] == 3
        assert second.next()["name"] == shown
        panel = second.wait_for_fit()
        assert [point["decisions"] for point in panel["curve"]] == [0, 3]
    row = rows_of(labels.with_name("labels.decisions.csv"))[-1]
    assert (row["comment"], row["sure"], row["guideline"]) == ('with "quotes", and a line break', "unsure", "unclear")


def test_undo_skip_and_cannot_tell(server: ReviewProcess, labels: Path) -> None:
    path = labels.with_name("labels.decisions.csv")
    first = server.next()
    server.decide(first, 0)
    again = server.post("/api/undo").json
    assert again["item"]["name"] == first["name"]
    assert server.decide(again["item"], 2).status == 200
    second = server.next()
    assert server.decide(second, None, "skipped").json["reveal"] is None
    assert server.post("/api/undo").json["item"]["name"] == second["name"]  # a skip is only shown again
    server.decide(second, None, "cannot tell")
    third = server.next()
    server.post("/api/votes", code=third["code"])
    server.decide(third, 1)
    rows = rows_of(path)
    assert [row["action"] for row in rows] == ["decided", "undone", "decided", "skipped", "cannot tell", "decided"]
    # What the crowd said was seen before the second decision, and before the last one.
    assert [row["visible"] for row in rows] == ["nothing", "", "votes", "nothing", "nothing", "votes"]
    held, _ = settled(standing(read_log(path)))
    assert held.select("item", "truth").rows() == [(first["name"], "c3"), (third["name"], "c2")]
    phases = server.get("/api/state").json["plan"]["phases"]
    assert phases[0]["done"] == 2  # an item that nobody can tell measures nothing


def test_two_tabs_and_two_reviewers_never_get_the_same_item(server: ReviewProcess, labels: Path) -> None:
    tabs = [{"tab": "one", "reviewer": "anna"}, {"tab": "two", "reviewer": "ben"}]
    for _ in range(10):
        items = [server.next(**tab) for tab in tabs]
        assert items[0]["code"] != items[1]["code"]
        assert items == [server.next(**tab) for tab in tabs]  # asked again, a tab gets the same
        for item, tab in zip(items, tabs, strict=True):
            assert server.decide(item, 0, **tab).status == 200
    rows = rows_of(labels.with_name("labels.decisions.csv"))
    assert len({row["item"] for row in rows}) == 20
    assert [row["reviewer"] for row in rows] == ["anna", "ben"] * 10


def test_the_same_entry_is_written_once(server: ReviewProcess, labels: Path) -> None:
    item, entry = server.next(), str(uuid4())
    answers = [server.decide(item, 0, entry=entry).json["reveal"] for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert len(rows_of(labels.with_name("labels.decisions.csv"))) == 1


def test_a_class_that_nobody_named_can_be_decided(server: ReviewProcess, labels: Path) -> None:
    for _ in range(3):
        assert server.decide(server.next(), None, text="another one").status == 200
    assert [one["name"] for one in server.get("/api/state").json["classes"]] == ["c1", "c2", "c3", "another one"]
    assert server.wait_for_fit()["fitted"] == 3
    server.kill()
    with ReviewProcess.start(labels) as again:
        state = again.get("/api/state").json
        assert state["classes"][-1]["name"] == "another one"
        assert any("No worker named the class 'another one'" in one for one in state["panel"]["remarks"])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"truth": 99}, "names no class"),
        ({"truth": True}, "names no class"),
        ({"action": "erased"}, "nothing that can be done"),
        ({"code": 10**9}, "was not shown"),
        ({"code": "1"}, "was not shown"),
        ({"truth": 0, "sure": "very"}, "is not one of"),
        ({"truth": 0, "comment": "x" * 20_000}, "20,000 characters"),
    ],
)
def test_wrong_decisions_are_refused_and_not_written(
    server: ReviewProcess, labels: Path, values: dict[str, object], words: str
) -> None:
    item = server.next()
    answer = server.post("/api/decide", **{"entry": "e", "code": item["code"], "action": "decided", **values})
    assert answer.status == 400
    assert words in answer.json["error"]
    assert rows_of(labels.with_name("labels.decisions.csv")) == []


def test_who_may_not_use_the_page(server: ReviewProcess) -> None:
    body = json.dumps({"tab": "t"}).encode()
    host = server.origin.removeprefix("http://")
    inside = {"Cookie": server.cookie, "Origin": server.origin}
    cases = [
        ("GET", "/", {}),  # no token
        ("GET", "/?token=wrong", {}),
        ("GET", "/api/state", {}),
        ("POST", "/api/next", {"Origin": server.origin}),  # no cookie
        ("POST", "/api/next", {"Cookie": server.cookie}),  # no origin
        ("POST", "/api/next", {**inside, "Origin": "https://evil.example"}),
        ("POST", "/api/next", {**inside, "Origin": "null"}),
        ("GET", "/api/state", {**inside, "Origin": "https://evil.example"}),
        ("GET", "/api/state", {**inside, "Host": "evil.example"}),  # another name for this machine
        ("GET", "/?" + server.address.partition("?")[2], {"Host": f"evil.example:{host.partition(':')[2]}"}),
    ]
    for method, path, headers in cases:
        answer = server.ask(method, path, body if method == "POST" else None, headers)
        assert answer.status == 403, (method, path, headers)
        assert b"labels" not in answer.body.replace(b"`crowdwise review`", b"")
    allowed = server.get("/")
    assert allowed.status == 200
    assert "default-src 'none'; script-src 'self'" in allowed.headers["content-security-policy"]
    assert allowed.headers["referrer-policy"] == "same-origin"
    assert server.ask("GET", server.address.removeprefix(server.origin)).headers["set-cookie"].count("HttpOnly") == 1
    assert server.ask("POST", "/api/decide", b"x" * 2_000_000, inside).status == 413
    assert server.ask("POST", "/api/decide", b"[" * 100_000, inside).status == 400


def test_files_elsewhere_are_never_served(tmp_path: Path, labels: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    (photos / "cat.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>window.broken=1</script></svg>")
    (photos / "link.png").symlink_to(tmp_path / "secret.png")
    names = ["cat.svg", "../secret.png", str(tmp_path / "secret.png"), "link.png", "nothing.png", "..\\secret.png"]
    items = cw.read_labels(labels).names.items.to_list()
    table = pl.DataFrame({"item": items, "photo": [names[k % len(names)] for k in range(len(items))]})
    table.write_csv(tmp_path / "items.csv")
    options = ("--items", tmp_path / "items.csv", "--show", "photo", "--media", photos)
    with ReviewProcess.start(labels, *options) as server:
        seen = set()
        for _ in range(40):
            item = server.next()
            (field,) = item["fields"]
            number = items.index(item["name"])
            answer = server.get(f"/media/{item['code']}/0")
            if names[number % len(names)] == "cat.svg":
                assert (field["kind"], answer.status) == ("image", 200)
                assert "sandbox" in answer.headers["content-security-policy"]
            else:
                assert (field["kind"], answer.status) == ("missing", 404)
                assert "There is no file" in field["problem"]
            seen.add(names[number % len(names)])
            server.decide(item, 0)
        assert seen == set(names)
        for path in ("/media/0/7", "/media/999999/0", "/media/../secret.png", "/media/0/0/../../secret.png"):
            assert server.get(path).status == 404
        assert server.get("/media/-1/0").status == 404


def test_a_long_text_is_sent_when_it_is_asked_for(tmp_path: Path, labels: Path) -> None:
    items = cw.read_labels(labels).names.items
    text = "word " * 2_000_000  # 10 MB
    pl.DataFrame({"item": items, "body": [text] + ["short"] * (len(items) - 1)}).write_parquet(
        tmp_path / "items.parquet"
    )
    with ReviewProcess.start(
        labels, "--items", tmp_path / "items.parquet", "--show", "body", "--plan", "120"
    ) as server:
        while True:
            item = server.next()
            (field,) = item["fields"]
            if field["length"] > 100:
                break
            server.decide(item, 0)
        assert (field["whole"], len(field["value"]), field["length"]) == (False, 20_000, len(text))
        assert server.get(field["address"]).body.decode() == text


def test_numbers_are_measured(tmp_path: Path, run: Command) -> None:
    crowd = cw.simulate_numbers(60, 8, seed=1)
    path = tmp_path / "ratings.csv"
    crowd.rows.write_csv(path)
    truth = dict(crowd.truth.rows())
    with ReviewProcess.start(path, "--numeric") as server:
        state = server.get("/api/state").json
        assert state["kind"] == "numbers"
        assert state["range"]["low"] < state["range"]["high"]
        item = server.next()
        assert "is no number" in server.decide(item, None, text="many").json["error"]
        for _ in range(5):
            item = server.next()
            assert (
                "The crowd's answer was"
                in server.decide(item, None, text=str(truth[item["name"]])).json["reveal"]["sentence"]
            )
        assert "On 5 random items" in server.wait_for_fit()["expected"]["sentence"]
    ended = run("aggregate", path, "--numeric", "--truth", tmp_path / "ratings.decisions.csv")
    assert ended.returncode == 0, ended.stderr


def test_ordered_classes_come_in_their_order(tmp_path: Path) -> None:
    rows = cw.simulate(40, 6, 3, seed=1).rows
    words = {"c1": "bad", "c2": "good", "c3": "fair"}
    rows.with_columns(pl.col("label").replace(words)).write_csv(tmp_path / "labels.csv")
    with ReviewProcess.start(tmp_path / "labels.csv", "--order", "bad,fair,good") as server:
        assert [one["name"] for one in server.get("/api/state").json["classes"]] == ["bad", "fair", "good"]
        item = server.next()
        assert server.decide(item, 1).json["reveal"]["you"] == "fair"


def test_several_classes_at_once_are_yes_or_no(tmp_path: Path) -> None:
    joined = simulate(3, items=40).answers.with_columns(pl.col("labels").list.join(";"))
    joined.write_csv(tmp_path / "tags.csv")
    with ReviewProcess.start(tmp_path / "tags.csv", "--multi", "each", "--separator", ";") as server:
        state = server.get("/api/state").json
        assert state["kind"] == "questions"
        assert [one["name"] for one in state["classes"]] == ["no", "yes"]
        item = server.next()
        assert item["name"].endswith(f": {item['asked']}")
        assert "is yes or no" in server.decide(item, None, text="maybe").json["error"]
        assert server.decide(item, 1).status == 200


def test_many_classes_are_searched(tmp_path: Path) -> None:
    cw.simulate(60, 6, 40, seed=1).rows.write_csv(tmp_path / "labels.csv")
    with ReviewProcess.start(tmp_path / "labels.csv") as server:
        state = server.get("/api/state").json
        assert (len(state["classes"]), state["classes_total"]) == (28, 40)
        found = server.get("/api/classes?search=C4").json["classes"]
        assert [one["name"] for one in found][:1] == ["c40"]


def test_a_second_server_on_the_same_file_is_refused(server: ReviewProcess, labels: Path, run: Command) -> None:
    ended = run("review", labels, "--no-browser")
    assert ended.returncode == 2
    assert "is open in another `crowdwise review`" in ended.stderr
    port = server.origin.rpartition(":")[2]
    ended = run("review", labels, "--no-browser", "--decisions", labels.with_name("other.csv"), "--port", port)
    assert ended.returncode == 2
    assert f"Port {port} of 127.0.0.1 cannot be used" in ended.stderr


def test_bad_input_is_refused_in_one_sentence(labels: Path, tmp_path: Path, run: Command) -> None:
    (tmp_path / "other.csv").write_text("item,text\nq1,x\n")
    (tmp_path / "decided.csv").write_text(f"{','.join(COLUMNS)}\nq1,c1,anna,,,,random,,,,decided\n")
    (tmp_path / "gold.csv").write_text("item,truth\ni001,c1\n")
    cases = [
        (("--items", tmp_path / "other.csv"), 1, "has no item of the labels: it has 'q1'"),
        (("--items", tmp_path / "absent.csv"), 1, "absent.csv"),
        (("--show", "txt"), 2, "There is no column 'txt' to show; the columns are: 'text'. Did you mean 'text'?"),
        (("--media", tmp_path / "absent"), 2, "is no folder"),
        (("--plan", "random:0"), 2, "is no plan"),
        (("--plan", "best"), 2, "is no plan"),
        (("--plan", "worst,worst"), 2, "twice"),
        (("--decisions", tmp_path / "decided.csv"), 1, "has decisions about other items: about 'q1'"),
        (("--decisions", tmp_path / "gold.csv"), 1, "is no file of decisions"),
        (("--decisions", tmp_path), 2, "cannot be written to"),
        (("--host", "0.0.0.0"), 2, "give a password"),
        (("--port", "70000"), 2, "There is no port 70000"),
        (("--feedback", tmp_path / "f"), 2, "There are no decisions yet"),
        (("--feedback", tmp_path / "f", "--port", "1"), 2, "--port does nothing"),
    ]
    for options, code, words in cases:
        ended = run("review", labels, "--no-browser" if "--feedback" not in options else "-q", *options)
        assert (ended.returncode, words in ended.stderr) == (code, True), (options, ended)
        assert len(ended.stderr.strip().splitlines()) <= 2
    ended = run("review", tmp_path / "absent.csv")
    assert (ended.returncode, "There is no file" in ended.stderr) == (1, True), ended.stderr
    assert (tmp_path / "gold.csv").read_text() == "item,truth\ni001,c1\n"  # nothing was added to a file that is none


def test_feedback_names_no_other_votes(tmp_path: Path, run: Command) -> None:
    rows = [
        ("i1", "../ann", "cat"),
        ("i1", "bob", "dog"),
        ("i1", "CON", "dog"),
        ("i2", "../ann", "dog"),
        ("i2", "bob", "dog"),
    ]
    table = pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row")
    table.with_columns(text=pl.col("item") + "?").write_csv(tmp_path / "labels.csv")
    log = (
        f"{','.join(COLUMNS)}\ni1,dog,eve,,,nothing,random,,,look at the ears,decided\ni2,dog,eve,,,,worst,,,,decided\n"
    )
    (tmp_path / "labels.decisions.csv").write_text(log)
    ended = run("review", tmp_path / "labels.csv", "--feedback", tmp_path / "told")
    assert ended.returncode == 0, ended.stderr
    assert "files for 1 of 3 workers" in ended.stderr
    index = pl.read_csv(tmp_path / "told" / "workers.csv")
    assert index.rows() == [("../ann", "ann-1.csv", 2, 1), ("bob", None, 2, 0), ("CON", None, 1, 0)]
    with (tmp_path / "told" / "ann-1.csv").open() as file:
        told = list(csv.DictReader(file))
    assert told == [{"item": "i1", "text": "i1?", "you_said": "cat", "decided": "dog", "comment": "look at the ears"}]
    assert sorted(path.name for path in (tmp_path / "told").iterdir()) == ["ann-1.csv", "workers.csv"]


@pytest.mark.parametrize(
    ("end", "count", "repaired"),
    [
        ("i2,c2,anna,,,,random,,,,decided\n", 2, False),
        ("i2,c2,anna,,,,random,,,,decided", 2, False),  # as some editors leave it
        ("i2,c2,anna,,,,random,,,,deci", 1, True),
        ("i2,c2,an", 1, True),
    ],
)
def test_a_half_line_is_removed_and_a_whole_one_is_kept(tmp_path: Path, end: str, count: int, repaired: bool) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{','.join(COLUMNS)}\ni1,c1,anna,,,,random,,,,decided\n{end}")
    with DecisionFile(path) as file:
        assert len(file.entries) == count
        assert bool(file.remarks) == repaired
        file.append(Entry("i3", "c1", "anna", "", "", "", "random", "", "", "", "decided"))
    assert [row["item"] for row in rows_of(path)] == [f"i{k}" for k in range(1, count + 1)] + ["i3"]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.csv"
    with DecisionFile(path) as file:
        before = path.read_bytes()
        real = os.write
        monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:5]))
        with pytest.raises(DataError, match="could not be saved"):
            file.append(Entry("i3", "c1", "anna", "", "", "", "random", "", "", "", "decided"))
        assert path.read_bytes() == before
        assert file.entries == []


def test_a_table_of_items_may_have_an_id_and_an_image(crowd: cw.Labels) -> None:
    table = pl.DataFrame({"id": crowd.names.items, "image": "a.png", "doc": crowd.names.items.reverse()})
    assert list(read_contents(crowd, None, read_options(), table).columns) == ["image", "doc"]
    assert list(read_contents(crowd, None, read_options(), table, "doc, image").columns) == ["doc", "image"]
    # The column that the labels have, where the table has it too.
    assert list(read_contents(crowd, None, read_options(item="doc"), table).columns) == ["id", "image"]


def test_a_table_with_several_rows_for_an_item_shows_no_votes(crowd: cw.Labels) -> None:
    items = crowd.names.items
    twice = pl.DataFrame(
        {"item": [*items, *items], "text": [*items, *items], "who": ["ann"] * len(items) + ["bob"] * len(items)}
    )
    shown = read_contents(crowd, None, read_options(), twice)
    assert list(shown.columns) == ["text"]
    assert "not shown are the columns in which they differ: 'who'" in shown.remarks[0]
    assert list(read_contents(crowd, None, read_options(), twice, "who").columns) == ["who"]


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_a_review_without_a_decision_names_no_file(labels: Path) -> None:
    with ReviewProcess.start(labels) as server:
        server.process.send_signal(signal.SIGINT)
        said, _ = server.process.communicate(timeout=60)
    assert "Nothing is decided." in said
    assert "Use them" not in said
    assert not labels.with_name("labels.decisions.csv").exists()


def test_advice_goes_on_with_the_decisions_that_are_gold(labels: Path, run: Command) -> None:
    other, usual = labels.with_name("anna.csv"), labels.with_name("labels.decisions.csv")
    log = f"{','.join(COLUMNS)}\ni001,c1,anna,,,,random,,,,decided\n"
    for path, words in ((other, f"labels.csv --decisions {other} --plan"), (usual, "labels.csv --plan")):
        path.write_text(log)
        ended = run("aggregate", labels, "--gold", path)
        assert words in " ".join(ended.stdout.split()), ended.stdout


def test_plans() -> None:
    assert str(Plan.of("random:5 , settle , worst:3")) == "random:5,settle,worst:3"
    with pytest.raises(CallError, match="is no plan"):
        Plan.of("")
    assert (
        Plan.of("random:30,settle:10,worst")
        .sentence()
        .startswith("30 random items measure how often the answers are right (about 15 minutes). Then 10 items at most")
    )
    assert Plan.of("settle:10,worst").sentence(0) == "The items whose answers most likely are wrong, until you stop."
    assert "of which there are several" in Plan.of("settle:10").sentence(7)


def test_a_result_gives_the_list(crowd: cw.Labels) -> None:
    result = cw.aggregate(crowd)
    assert cw.review(result, crowd, top=3).equals(cw.review_list(result, crowd, top=3))
    with pytest.raises(CallError, match="review_list"):
        cw.review(crowd, top=3)


def test_from_python_it_serves_until_it_is_finished(crowd: cw.Labels, tmp_path: Path) -> None:
    said: list[str] = []
    opened = threading.Event()

    def say(sentence: str) -> None:
        said.append(sentence)
        if sentence.startswith("Every decision"):
            opened.set()

    def use() -> None:
        assert opened.wait(60)
        client = ReviewProcess(None, said[0].removeprefix("The page is at "), [])  # type: ignore[arg-type]
        client.log_in()
        client.decide(client.next(), 0)
        client.post("/api/finish")

    using = threading.Thread(target=use)
    using.start()
    items = pl.DataFrame({"item": crowd.names.items, "text": "x"})
    path = tmp_path / "d.csv"
    found = cw.review(crowd, items=items, reviewer="eve", decisions=path, plan=3, browser=False, say=say)
    using.join()
    assert found.select("truth", "reviewer", "source").rows() == [("c1", "anna", "random")]
    assert cw.aggregate(crowd, gold=found, warn=False).gold is not None


def test_a_password_is_needed_from_other_machines(labels: Path) -> None:
    env = {**os.environ, "CROWDWISE_REVIEW_PASSWORD": "open sesame"}
    with ReviewProcess.start(labels, "--host", "0.0.0.0", env=env) as server:
        assert "token" not in server.address
        assert server.ask("GET", "/api/state").status == 303
        headers = {"Origin": server.origin, "Content-Type": "application/x-www-form-urlencoded"}
        assert server.ask("POST", "/login", b"password=wrong", headers).status == 403
        answer = server.ask("POST", "/login", b"password=open+sesame", headers)
        assert answer.status == 303
        server.cookie = answer.headers["set-cookie"].partition(";")[0]
        assert server.get("/api/state").status == 200


@pytest.mark.slow
def test_no_decision_that_was_acknowledged_is_lost_by_a_kill(labels: Path) -> None:
    """SIGKILL at random moments; CROWDWISE_KILLS says how often."""
    chance = random.Random(1)
    path = labels.with_name("labels.decisions.csv")
    acknowledged: list[tuple[str, str]] = []
    for _ in range(KILLS):
        with ReviewProcess.start(labels, "--plan", "worst") as server:
            timer = threading.Timer(chance.uniform(0.0, 0.4), server.process.kill)
            timer.start()
            sent = 0
            try:
                while True:
                    item, truth = server.next(), chance.randrange(3)
                    if item is None:
                        break
                    if sent and chance.random() < 0.2:
                        server.post("/api/undo")
                        acknowledged.pop()
                        sent -= 1
                        continue
                    if server.decide(item, truth, comment=str(uuid4())).status == 200:
                        acknowledged.append((item["name"], f"c{truth + 1}"))
                        sent += 1
            except (OSError, HTTPException):
                pass
            timer.join()
        content = path.read_bytes()
        assert content.endswith(b"\n")
        assert all(len(row) == len(COLUMNS) for row in csv.reader(content.decode().splitlines()))
        held, _ = settled(standing(read_log(path)))
        written = held.select("item", "truth").rows()
        # Beside what was acknowledged, at most one row: written, and killed before the answer.
        assert set(acknowledged) - set(written) == set() or path.read_text().splitlines()[-1].endswith("undone")
        acknowledged = list(written)


@pytest.mark.parametrize("platform", ["label_studio", "argilla_nested", "prodigy", "doccano", "labelbox"])
def test_what_an_export_says_of_an_item_is_shown(tmp_path: Path, platform: str) -> None:
    make = getattr(exports, platform)
    path = (make(".jsonl") if platform == "doccano" else make()).write(tmp_path)
    options = read_options()
    labels = cw.read_labels(path, warn=False)
    shown = read_contents(labels, path, options)
    assert shown.columns
    assert all(len(shown.fields(code)) == len(shown.columns) for code in range(labels.n_items))


def test_a_connection_that_is_pulled_breaks_nothing(server: ReviewProcess, labels: Path) -> None:
    host, _, port = server.origin.removeprefix("http://").partition(":")
    given = {"tab": server.tab, "entry": str(uuid4()), "code": server.next()["code"], "action": "decided", "truth": 0}
    body = json.dumps(given)
    head = f"POST /api/decide HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {server.origin}\r\n"
    sent = f"{head}Cookie: {server.cookie}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    for cut in (20, len(head), len(sent) - 1, len(sent)):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(sent[:cut])
    while server.get("/api/state").json["panel"]["decisions"] < 1:  # the last one was sent whole
        pass
    assert [row["action"] for row in rows_of(labels.with_name("labels.decisions.csv"))] == ["decided"]
    assert server.decide(server.next(), 1).status == 200


@pytest.mark.skipif(os.name != "posix", reason="signals are those of Unix")
def test_an_interrupt_ends_it_and_says_what_to_do(labels: Path) -> None:
    with ReviewProcess.start(labels) as server:
        server.decide(server.next(), 0)
        server.process.send_signal(signal.SIGINT)
        said, _ = server.process.communicate(timeout=60)
        assert server.process.returncode == 0
    assert "1 item is decided" in said
    path = labels.with_name("labels.decisions.csv")
    assert f"Use them: crowdwise aggregate {labels} --gold {path} -o truth.csv --provenance\n" in said


def test_a_file_that_is_none_of_decisions_stays_as_it_is(labels: Path, run: Command) -> None:
    other = labels.with_name("other.csv")
    other.write_text("item,worker,label\ni1,w1,c1\ni2,w1,c2")  # its last line has no end
    before = other.read_bytes()
    ended = run("review", labels, "--no-browser", "--decisions", other)
    assert (ended.returncode, "is no file of decisions" in ended.stderr) == (1, True)
    assert other.read_bytes() == before
