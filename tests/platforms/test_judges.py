"""Tests of reading the logs of language models that judge."""

import json
import struct
import tempfile
import zipfile
import zlib
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.analysis import cautions, compare
from crowdwise.analysis.blocks import blocks
from crowdwise.crowd.read_options import ReadOptions
from crowdwise.reading.read_answers import gathered_in, read_answers
from tests.support import judge_logs
from tests.support.cases import examples
from tests.support.commands import run
from tests.support.judge_logs import LOGS, VOTES, change, content_of, is_leaf, places, write

# Reasons in reports that count something else than answers.
NO_ANSWERS = ("files of results", "events with several right answers")
ODD: list[Any] = [
    None,
    float("nan"),
    float("inf"),
    "",
    "N/A",
    "\ud800",
    10**30,
    -1,
    0.5,
    True,
    [],
    {},
    [[]],
    {"a": None},
]


def read(log: str, paths: Any, **more: Any) -> cw.Labels:
    labels: cw.Labels = cw.read_labels(paths, **{**LOGS[log].options, **more})
    return labels


def counted(labels: cw.Labels) -> int:
    """Return how many answers were read by all accounts: votes, and what was left out by reason."""
    report = labels.report
    left_out = sum(count for what, count in report.left_out.items() if not what.startswith(NO_ANSWERS))
    return labels.n_labels + report.missing + report.repeated + left_out


def votes_in(labels: cw.Labels) -> set[tuple[Any, str, Any]]:
    names = labels.names
    of = zip(labels.item_of, labels.workers, labels.labels, strict=True)
    return {
        (names.items[int(item)], names.workers[int(worker)], names.classes[int(label)]) for item, worker, label in of
    }


def answers_in(log: str, paths: Any) -> int:
    """Return the number of answers to all questions, those that are counted by a reason among them, without truths."""
    found = gathered_in(paths, ReadOptions.of(**LOGS[log].options))
    truths = sum(int(one.table().collect()["gold"].sum()) for one in found.questions.values())
    left_out = sum(count for what, count in found.left_out.items() if not what.startswith(NO_ANSWERS))
    return sum(one.answers for one in found.questions.values()) + left_out - truths


@pytest.mark.parametrize("log", LOGS)
def test_every_vote_is_read_and_nothing_else(log: str, tmp_path: Path) -> None:
    how = LOGS[log]
    labels = read(log, write(how.files(VOTES), tmp_path))
    expected = {(how.item(item), how.worker(judge), how.yes if yes else how.no) for item, judge, yes in VOTES}
    assert votes_in(labels) == expected
    assert labels.n_labels == len(VOTES)
    assert labels.report.rows == counted(labels)
    assert "Anthropic" in log or labels.report.understood[0]


@pytest.mark.parametrize("log", LOGS)
def test_a_file_for_each_judge_is_one_crowd(log: str, tmp_path: Path) -> None:
    how = LOGS[log]
    paths = [
        path
        for judge in judge_logs.JUDGES
        for path in write(how.files([vote for vote in VOTES if vote[1] == judge]), tmp_path / judge)
    ]
    labels = read(log, paths)
    whole = read(log, write(how.files(VOTES), tmp_path / "whole"))
    assert votes_in(labels) == votes_in(whole)
    assert labels.n_labels == whole.n_labels == len(VOTES)


@pytest.mark.parametrize("log", [name for name, how in LOGS.items() if how.has_truth])
def test_what_a_log_knows_is_truth_and_no_vote(log: str, tmp_path: Path) -> None:
    how = LOGS[log]
    write(how.files(VOTES), tmp_path)
    known = dict(cw.read_truth(tmp_path).rows())
    assert known == {how.item(item): how.yes if judge_logs.truth(item) else how.no for item in range(8)}
    labels = read(log, tmp_path)
    assert labels.n_labels == len(VOTES)
    (row,) = compare(labels, {"mv": cw.MajorityVote()}, known)
    assert 0 < row["accuracy"] <= 1


@pytest.mark.parametrize("log", LOGS)
def test_each_answer_of_a_judge_asked_twice_is_a_vote(log: str, tmp_path: Path) -> None:
    again = [(item, judge, not yes if item == 0 else yes) for item, judge, yes in VOTES]
    paths = write(LOGS[log].files(VOTES), tmp_path / "one") + write(LOGS[log].files(again), tmp_path / "two")
    if log == "lm-eval":  # the folder names the judge
        paths = write({f"1/{name}": lines for name, lines in LOGS[log].files(VOTES).items()}, tmp_path)
        paths += write({f"2/{name}": lines for name, lines in LOGS[log].files(again).items()}, tmp_path)
    with pytest.raises(cw.DataError, match=r"3 .*more than one label.*duplicates"):
        read(log, paths, duplicates="error")
    labels = read(log, paths)
    assert labels.n_labels == 2 * len(VOTES)
    assert any("each answer is a vote, as with --duplicates samples" in one for one in labels.report.understood)
    assert labels.names.sampled_workers is not None
    labels = read(log, paths, duplicates="all")
    assert labels.n_labels == len(VOTES) + 3
    assert labels.report.rows == counted(labels)


def test_a_log_given_twice_has_no_samples(tmp_path: Path) -> None:
    paths = write(LOGS["promptfoo"].files(VOTES), tmp_path / "one")
    labels = read("promptfoo", [*paths, *paths])
    assert labels.n_labels == labels.report.repeated == len(VOTES)


@examples(12)
@pytest.mark.parametrize("log", LOGS)
@given(data=st.data())
def test_damaged_values_are_refused_or_counted(log: str, data: st.DataObject) -> None:
    files = deepcopy(LOGS[log].files(VOTES[:9]))
    name = data.draw(st.sampled_from(sorted(files)))
    for _ in range(data.draw(st.integers(1, 3))):
        leaves = [place for place in places(files[name]) if is_leaf(files[name], place)]
        change(files[name], data.draw(st.sampled_from(leaves)), data.draw(st.sampled_from(ODD)))
    with tempfile.TemporaryDirectory() as folder:
        paths = write(files, Path(folder))
        try:
            assert answers_in(log, paths) == 9
            labels = read(log, paths, duplicates="all")
            assert labels.report.rows == counted(labels)
        except (cw.DataError, cw.CallError) as problem:
            assert_one_sentence(problem)


@examples(20)
@pytest.mark.parametrize("log", LOGS)
@given(data=st.data())
def test_damaged_files_never_end_in_a_traceback(log: str, data: st.DataObject) -> None:
    files = deepcopy(LOGS[log].files(VOTES[:6]))
    name = data.draw(st.sampled_from(sorted(files)))
    for _ in range(data.draw(st.integers(0, 3))):
        found = list(places(files[name]))
        place = data.draw(st.sampled_from(found)) if found else ()
        if place:
            change(files[name], place, data.draw(st.sampled_from(ODD)), remove=data.draw(st.booleans()))
    content = content_of(name, files[name])
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(content)))
        content = content[:at] + data.draw(st.sampled_from([b"", content[at + 9 :], b"\xff" + content[at:], b"NaN"]))
    with tempfile.TemporaryDirectory() as folder:
        paths = write({**files, name: content}, Path(folder))
        for how in ("auto", log.split()[0]):
            try:
                labels = read(log, paths, duplicates="all", format=how)
                assert labels.report.rows >= labels.n_labels
                read_answers(paths, format=how, **LOGS[log].options)
            except (cw.DataError, cw.CallError) as problem:
                assert_one_sentence(problem)


def assert_one_sentence(problem: Exception) -> None:
    message = str(problem)
    assert message.endswith((".", "?"))
    assert "\n" not in message
    assert len(message) < 600


def test_judges_of_one_family_are_said_to_be_no_independent_witnesses(tmp_path: Path) -> None:
    random = Random(5)
    votes: judge_logs.Votes = []
    for item in range(300):
        said = {f"model-{number}": (random.random() < 0.75) == judge_logs.truth(item) for number in range(7)}
        said["model-6-mini"] = said["model-6"] if random.random() < 0.95 else not said["model-6"]
        votes += [(item, judge, yes) for judge, yes in said.items()]
    labels = read("inspect", write(judge_logs.inspect_zip(votes), tmp_path))
    (block,) = blocks(labels).blocks
    assert block.members["worker"].to_list() == ["model_graded_qa (model-6)", "model_graded_qa (model-6-mini)"]
    sentences = cautions(cw.MajorityVote().fit(labels), labels)
    assert any(
        caution.kind == "blocks" and set(caution.workers) == set(block.members["worker"]) for caution in sentences
    )


def test_people_and_models_stay_apart_in_the_table_of_answers(tmp_path: Path) -> None:
    table = read_answers(write(judge_logs.langfuse(VOTES), tmp_path))
    kinds = dict(table.select("worker", "kind").unique().rows())
    assert kinds == {"ann": "human", "bob": "model", "cat": "model"}
    assert cw.questions(tmp_path).select("workers", "models").row(0) == (1, 2)


def test_each_model_of_a_panel_votes_for_itself_where_the_log_says_how(tmp_path: Path) -> None:
    scorers = [{"name": "model_graded_qa", "options": {"model": ["a", "b"]}}]
    panel = {"votes": ["C", None], "size": 2}
    samples = [
        {"id": 1, "scores": {"model_graded_qa": {"value": "C", "metadata": {"panel": panel}}}},
        {"id": 2, "scores": {"model_graded_qa": {"value": "I"}}},
        {"id": 3, "scores": {}, "error": "it broke"},
    ]
    log = {"eval": {"task": "t", "model": "m", "scorers": scorers}, "samples": samples}
    labels = cw.read_labels(write({"log.json": log}, tmp_path))
    assert votes_in(labels) == {("m / 1 / 1", "model_graded_qa (a)", "C"), ("m / 2 / 1", "model_graded_qa", "I")}
    assert "a scorer of its own" in labels.report.understood[1]
    assert labels.report.left_out == {"samples that failed, and have no score": 1, "unscored answer not used": 1}


def test_scorers_of_inspect_answer_the_question_that_their_values_fit(tmp_path: Path) -> None:
    scorers = [{"name": name} for name in ("includes", "safety", "f1", "parts")]
    samples = [
        {
            "id": number,
            "target": target,
            "scores": {
                "includes": {"value": "C"},
                "safety": {"value": target},
                "f1": {"value": 0.25},
                "parts": {"value": {"kind": 1.0, "short": float("nan")}},
            },
        }
        for number, target in enumerate(["safe", "unsafe"])
    ]
    log = {"eval": {"task": "t", "model": "m", "scorers": scorers}, "samples": samples}
    paths = write({"log.json": log}, tmp_path)
    found = {row["question"]: row for row in cw.questions(paths).to_dicts()}
    assert {name: row["type"] for name, row in found.items()} == {
        "correct": "choice",
        "safety": "choice",
        "f1": "numbers",
        "kind": "choice",
        "short": "choice",
    }
    # A target is what the answer should be. It is a truth only where judges say the same words.
    assert {name for name, row in found.items() if row["gold"]} == {"safety"}
    assert cw.read_truth(paths[0]).rows() == [("m / 0 / 1", "safe"), ("m / 1 / 1", "unsafe")]
    with pytest.raises(cw.CallError, match="--question"):
        cw.read_labels(paths)


def test_logs_of_other_answers_by_the_same_name_are_not_mixed(tmp_path: Path) -> None:
    log = judge_logs.inspect_json(VOTES)["log.json"]
    again = deepcopy(log)
    for sample in again["samples"]:
        sample["uuid"] = f"again {sample['uuid']}"
    paths = write({"a.json": log, "b.json": again}, tmp_path)
    with pytest.raises(cw.DataError, match=r"different answers as item 'solver / 0 / 1'.*--item-column uuid"):
        cw.read_labels(paths)
    assert cw.read_labels(paths, item="uuid").n_items == 16
    again["eval"]["task"] = "chess"
    assert cw.read_labels(write({"a.json": log, "b.json": again}, tmp_path)).n_items == 16


def test_an_unfinished_log_of_inspect_is_read_from_its_samples(tmp_path: Path) -> None:
    about, samples = judge_logs.inspect_parts(VOTES)
    files = {f"samples/{sample['id']}_epoch_1.json": sample for sample in samples}
    path = write({"log.eval": {"_journal/start.json": {"eval": about}, **files}}, tmp_path)
    whole = write(judge_logs.inspect_zip(VOTES), tmp_path / "whole")
    assert votes_in(cw.read_labels(path)) == votes_in(cw.read_labels(whole))


def test_a_zip_packed_by_zstd_is_read_in_any_python(tmp_path: Path) -> None:
    (path,) = write(judge_logs.inspect_zip(VOTES), tmp_path)
    packed = tmp_path / "packed.eval"
    packed.write_bytes(packed_by_zstd(Path(path)))
    assert votes_in(cw.read_labels(packed)) == votes_in(cw.read_labels(path))
    content = bytearray(packed.read_bytes())
    content[content.index(b"\x28\xb5\x2f\xfd") + 20] ^= 255
    packed.write_bytes(content)
    with pytest.raises(cw.DataError, match=r"damaged|does not unpack"):
        cw.read_labels(packed)


def packed_by_zstd(path: Path) -> bytes:
    """Return a zip with the same files, packed by zstd; the library of zips writes none before Python 3.14."""
    files, directory = b"", b""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            plain = archive.read(name)
            data = pa.compress(plain, "zstd", asbytes=True)
            about = struct.pack("<HHHHHLLLHH", 63, 0, 93, 0, 0, zlib.crc32(plain), len(data), len(plain), len(name), 0)
            entry = struct.pack("<4sH", b"PK\1\2", 63) + about + struct.pack("<HHHLL", 0, 0, 0, 0, len(files))
            directory += entry + name.encode()
            files += b"PK\3\4" + about + name.encode() + data
        count = len(archive.namelist())
    return files + directory + struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, count, count, len(directory), len(files), 0)


def test_promptfoo_counts_what_no_model_decides(tmp_path: Path) -> None:
    (row, other) = judge_logs.promptfoo_rows(VOTES[:6])
    judged = row["gradingResult"]["componentResults"]
    judged[0]["metadata"] = {"graderError": True}
    judged += [{"pass": True, "assertion": {"type": "contains", "value": "x"}}, {"componentResults": judged[:1]}]
    other["gradingResult"] = None
    opposite = deepcopy(judge_logs.promptfoo_rows(VOTES[:1])[0])
    opposite["gradingResult"]["componentResults"][0]["assertion"] = {"type": "not-llm-rubric", "value": "rude"}
    paths = write({"out.jsonl": [row, other, opposite]}, tmp_path)
    assert cw.questions(paths)["question"].to_list() == ["polite", "not-rude"]
    assert votes_in(cw.read_labels(paths, question="not-rude")) == {("0 / 0", "default grader", True)}
    labels = cw.read_labels(paths, question="polite")
    assert labels.n_labels == 2
    assert labels.report.left_out == {
        "results of assertions that no model decides": 1,
        "sets of assertions, whose members count by themselves": 1,
        "results that failed, or have no assertion": 1,
        "failed answer not used": 1,
    }


def test_texts_without_a_verdict_are_counted_and_shown(tmp_path: Path) -> None:
    lines = judge_logs.openai_batch(VOTES)["batch.jsonl"]
    lines[0]["response"]["body"]["choices"][0]["message"]["content"] = "Yes, of course!"
    lines[1]["response"]["body"]["choices"][0]["message"]["content"] = "Verdict: yes? No. Verdict: no"
    lines[2]["error"] = {"code": "rate_limit"}
    lines[3]["response"]["body"]["choices"][0]["message"]["content"] = None
    paths = write({"batch.jsonl": lines}, tmp_path)
    labels = cw.read_labels(paths, verdict=r"Verdict: (\w+)")
    assert labels.n_labels == len(VOTES) - 4
    assert labels.report.left_out == {
        "requests that failed, expired or were cancelled": 1,
        "empty answer not used": 1,
        "undecided answers not used": 2,
    }
    assert labels.report.understood[1].startswith("2 texts have no verdict")
    assert "'Yes, of course!' of 'i0'" in labels.report.understood[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "--verdict"),
        ({"verdict": "x", "verdict_field": "y"}, "not both"),
        ({"verdict": "(("}, "no regular expression"),
        ({"verdict": "yes|no"}, "0 groups"),
        ({"verdict": "(yes)", "id": "(.*)"}, r"\?P<item>"),
        ({"verdict": "(yes)", "id": "(?P<item>x.*)"}, "does not match 'i0'"),
        ({"verdict": "(never)"}, "no vote in it"),
        ({"verdict": "(yes)", "pairs": "a=b"}, "does nothing"),
    ],
)
def test_a_batch_says_what_it_needs(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises((cw.CallError, cw.DataError), match=said):
        cw.read_labels(write(judge_logs.openai_batch(VOTES), tmp_path), **options)


def test_answers_by_tools_and_by_other_interfaces_are_read(tmp_path: Path) -> None:
    answer = json.dumps({"verdict": "no"})
    messages: list[dict[str, Any]] = [
        {"choices": [{"message": {"content": None, "tool_calls": [{"function": {"arguments": answer}}]}}]},
        {"output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": answer}]}]},
        {"output": [{"type": "function_call", "arguments": answer}]},
        {"choices": [{"text": f"```json\n{answer}\n```"}]},
    ]
    lines = [
        {"custom_id": str(number), "response": {"status_code": 200, "body": {"model": "m", **body}}}
        for number, body in enumerate(messages)
    ]
    tool = {"type": "tool_use", "input": {"verdict": "no"}}
    lines.append({"custom_id": "4", "result": {"type": "succeeded", "message": {"model": "m", "content": [tool]}}})
    lines.append({"custom_id": "5", "result": {"type": "expired"}})
    labels = cw.read_labels(write({"batch.jsonl": lines}, tmp_path), verdict_field="verdict")
    assert votes_in(labels) == {(str(number), "m", "no") for number in range(5)}
    assert labels.report.rows == counted(labels) == 6


@pytest.mark.parametrize(
    ("name", "document", "said"),
    [
        ("a.json", {"eval": {"task": "t"}, "samples": []}, "Inspect AI, but .*eval.model"),
        ("a.json", {"testCases": [{"metricsData": []}]}, "DeepEval, but .*test case 1 has no 'name'"),
        ("a.jsonl", [{"run_id": "r", "event_id": 1}], "OpenAI Evals, but .*no 'spec'"),
        ("a.jsonl", [{"spec": {}}, {"run_id": "r"}], "OpenAI Evals, but .*completion_fns"),
        ("a.jsonl", [{"gradingResult": {}, "testIdx": 1}], "promptfoo output, but .*promptIdx"),
        ("a.json", {"data": [{"dataType": "BOOLEAN", "value": 1, "name": "x"}]}, "Langfuse, but .*traceId"),
        ("a.jsonl", [{"doc_id": None, "filtered_resps": []}], "Harness, but .*'doc_id'"),
    ],
)
def test_a_bad_log_gets_a_sentence_that_says_what_is_missing(
    name: str, document: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(cw.DataError, match=said):
        cw.read_labels(write({name: document}, tmp_path))


def test_lm_eval_has_a_question_for_each_task_and_filter(tmp_path: Path) -> None:
    def sample(filtered: str, said: Any) -> dict[str, Any]:
        return {"doc_id": 1, "doc_hash": "h", "target": " 7", "filter": filtered, "filtered_resps": said}

    name = "samples_{}_2026-01-01T00-00-00.5.jsonl"
    lines = [sample("strict", ["[invalid]"]), sample("loose", [" 7\n"])]
    (one,) = write({name.format("math"): lines}, tmp_path / "gpt")
    assert cw.questions(one)["question"].to_list() == ["strict", "loose"]
    assert votes_in(cw.read_labels(one, question="loose")) == {("h", "gpt", "7")}
    assert cw.read_truth(one, question="loose").rows() == [("h", "7")]
    with pytest.raises(cw.DataError, match="1 invalid answer not used"):
        cw.read_labels(one, question="strict")
    write({name.format("chess"): [sample("none", [["x", "y"]])]}, tmp_path / "gpt")
    write({"results_2026.json": {"results": {}, "configs": {}}}, tmp_path / "gpt")
    assert cw.questions(tmp_path)["question"].to_list() == ["chess", "math / strict", "math / loose"]


def test_lm_eval_has_every_repeat_of_a_request(tmp_path: Path) -> None:
    sample = {"doc_id": 1, "doc_hash": "h", "target": "x", "filter": "none", "filtered_resps": [["x", " y", "x"]]}
    (path,) = write({"samples_chess_2026-01-01T00-00-00.5.jsonl": [sample]}, tmp_path / "gpt")
    labels = cw.read_labels(path)
    assert sorted(worker for _, worker, _ in votes_in(labels)) == ["gpt", "gpt#2", "gpt#3"]
    assert sorted(label for _, _, label in votes_in(labels)) == ["x", "x", "y"]


def test_the_command_line_reads_a_glob_of_logs_as_one_crowd(tmp_path: Path) -> None:
    for judge in judge_logs.JUDGES:
        votes = [vote for vote in VOTES if vote[1] == judge]
        write({f"{judge}.eval": judge_logs.inspect_zip(votes)["log.eval"]}, tmp_path / "logs")
    out = tmp_path / "out.csv"
    done = run("aggregate", tmp_path / "logs" / "*.eval", "--question", "correct", "-m", "mv", "-o", out)
    assert done.returncode == 0, done.stderr
    assert len(out.read_text().splitlines()) == 9
    assert "is a log of Inspect AI; labels are the answers to the question 'correct'" in done.stderr
    write(judge_logs.lm_eval(VOTES), tmp_path / "harness")
    done = run("compare", tmp_path / "harness", "--truth", tmp_path / "harness", "--methods", "mv")
    assert "accuracy" in done.stdout, done.stderr
    (batch,) = write(judge_logs.anthropic_batch(VOTES), tmp_path)
    apart = "(?P<item>.+)::(?P<worker>.+)"
    done = run("aggregate", batch, "--id", apart, "--verdict-field", "verdict", "-m", "mv")
    assert done.returncode == 0, done.stderr
    done = run("aggregate", batch)
    assert done.returncode == 2
    assert "--verdict" in done.stderr
