"""Logs of language models that judge, as each tool writes them, made of any votes; and a way to damage them."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

JUDGES = ("ann", "bob", "cat")
# Votes: the item, the judge, and whether it says yes.
Votes = list[tuple[int, str, bool]]
VOTES: Votes = [
    (item, judge, (item * 7 + number * 3) % 5 < 3) for item in range(8) for number, judge in enumerate(JUDGES)
]


class Log(NamedTuple):
    """How a tool writes votes: the files by their names, what its labels and items are called, and how to read it."""

    files: Callable[[Votes], dict[str, Any]]
    yes: Any
    no: Any
    item: Callable[[int], Any]
    worker: Callable[[str], str] = lambda judge: judge
    options: Mapping[str, Any] = MappingProxyType({})
    has_truth: bool = False


def by_item(votes: Votes) -> dict[int, dict[str, bool]]:
    """Return what each judge says about each item."""
    found: dict[int, dict[str, bool]] = {}
    for item, judge, yes in votes:
        found.setdefault(item, {})[judge] = yes
    return found


def judges_of(votes: Votes) -> list[str]:
    """Return the judges in the order of first appearance."""
    return list(dict.fromkeys(judge for _, judge, _ in votes))


def truth(item: int) -> bool:
    """Return what is known about an item, in the logs of tools that say it."""
    return item % 3 == 0


def inspect_parts(votes: Votes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what a log of Inspect is about, and the summaries of its samples."""
    judges = judges_of(votes)
    scorers = [{"name": "model_graded_qa", "options": {"model": {"model": judge}}} for judge in judges]
    keys = {judge: f"model_graded_qa{number or ''}" for number, judge in enumerate(judges)}
    samples = [
        {
            "id": item,
            "epoch": 1,
            "input": "?",
            "target": "Paris",
            "uuid": f"u{item}",
            "completed_at": "2026-01-01T00:00:00Z",
            "scores": {keys[judge]: {"value": "C" if yes else "I"} for judge, yes in said.items()},
        }
        for item, said in by_item(votes).items()
    ]
    return {"task": "trivia", "model": "solver", "scorers": scorers}, samples


def inspect_zip(votes: Votes) -> dict[str, Any]:
    about, samples = inspect_parts(votes)
    return {"log.eval": {"header.json": {"version": 2, "eval": about}, "summaries.json": samples}}


def inspect_json(votes: Votes) -> dict[str, Any]:
    about, samples = inspect_parts(votes)
    return {"log.json": {"version": 2, "eval": about, "results": {"accuracy": float("nan")}, "samples": samples}}


def promptfoo_rows(votes: Votes) -> list[dict[str, Any]]:
    return [
        {
            "testIdx": item,
            "promptIdx": 0,
            "vars": {"x": item},
            "response": {"output": f"answer {item}"},
            "gradingResult": {
                "pass": False,
                "componentResults": [
                    {
                        "pass": yes,
                        "score": 1,
                        "assertion": {
                            "type": "llm-rubric",
                            "metric": "polite",
                            "provider": {"id": "p", "label": judge},
                        },
                    }
                    for judge, yes in said.items()
                ],
            },
        }
        for item, said in by_item(votes).items()
    ]


def promptfoo_json(votes: Votes) -> dict[str, Any]:
    return {"out.json": {"evalId": "e", "results": {"version": 3, "prompts": [], "results": promptfoo_rows(votes)}}}


def deepeval(votes: Votes) -> dict[str, Any]:
    cases = [
        {
            "name": f"case_{item}",
            "input": f"q{item}",
            "actualOutput": "a",
            "order": item,
            "metricsData": [
                {"name": "good [GEval]", "success": yes, "score": 0.7, "evaluationModel": judge}
                for judge, yes in said.items()
            ],
        }
        for item, said in by_item(votes).items()
    ]
    return {"test_run_1.json": {"testCases": cases, "conversationalTestCases": []}}


def langfuse(votes: Votes) -> dict[str, Any]:
    scores = [
        {
            "id": f"{item}-{judge}",
            "traceId": f"t{item}",
            "observationId": None,
            "name": "helpful",
            "source": "ANNOTATION" if judge == JUDGES[0] else "API",
            "authorUserId": judge if judge == JUDGES[0] else None,
            "metadata": {"model": judge},
            "dataType": "CATEGORICAL",
            "stringValue": "yes" if yes else "no",
            "value": float(yes),
            "timestamp": "2026-01-01T00:00:00Z",
        }
        for item, judge, yes in votes
    ]
    return {"scores.json": {"data": scores, "meta": {"page": 1}}}


def langfuse_blob(votes: Votes) -> dict[str, Any]:
    rows = [
        {
            "trace_id": f"t{item}",
            "name": "helpful",
            "source": "EVAL",
            "evaluator_id": judge,
            "data_type": "BOOLEAN",
            "string_value": "True" if yes else "False",
            "value": int(yes),
        }
        for item, judge, yes in votes
    ]
    return {"scores.jsonl": rows}


def lm_eval(votes: Votes) -> dict[str, Any]:
    return {
        f"{judge}/samples_polite_2026-01-01T00-00-00.5.jsonl": [
            {
                "doc_id": item,
                "doc": {},
                "target": "yes" if truth(item) else "no",
                "arguments": {
                    "gen_args_0": {"arg_0": "?", "arg_1": " no"},
                    "gen_args_1": {"arg_0": "?", "arg_1": " yes"},
                },
                "filtered_resps": [["-2.5", "False"], ["-1.5" if yes else "-3.5", "False"]],
                "filter": "none",
                "doc_hash": f"h{item}",
                "acc": float("nan"),
            }
            for item, one, yes in votes
            if one == judge
        ]
        for judge in judges_of(votes)
    }


def openai_evals(votes: Votes) -> dict[str, Any]:
    return {
        f"{judge}.jsonl": [
            {"spec": {"completion_fns": ["solver", judge], "eval_name": "polite.v0", "run_id": "r"}},
            *(
                {
                    "run_id": "r",
                    "event_id": item,
                    "sample_id": f"polite.{item}",
                    "type": "match",
                    "data": {"picked": "yes" if yes else "no", "expected": "yes" if truth(item) else "no"},
                    "created_at": "2026-01-01",
                }
                for item, one, yes in votes
                if one == judge
            ),
            {"final_report": {"accuracy": 0.5}},
        ]
        for judge in judges_of(votes)
    }


def openai_batch(votes: Votes) -> dict[str, Any]:
    def line(item: int, judge: str, yes: bool) -> dict[str, Any]:
        message = {"role": "assistant", "content": f"I think.\nVerdict: {'yes' if yes else 'no'}"}
        body = {"model": judge, "choices": [{"index": 0, "message": message}]}
        return {"custom_id": f"i{item}", "response": {"status_code": 200, "body": body}, "error": None}

    return {"batch.jsonl": [line(*vote) for vote in votes]}


def anthropic_batch(votes: Votes) -> dict[str, Any]:
    def line(item: int, judge: str, yes: bool) -> dict[str, Any]:
        text = json.dumps({"why": "...", "verdict": "yes" if yes else "no"})
        message = {"model": "claude", "content": [{"type": "text", "text": text}]}
        return {"custom_id": f"i{item}::{judge}", "result": {"type": "succeeded", "message": message}}

    return {"results.jsonl": [line(*vote) for vote in votes]}


def _of_solver(item: int) -> str:
    return f"solver / {item} / 1"


def _graded_by(judge: str) -> str:
    return f"model_graded_qa ({judge})"


LOGS: dict[str, Log] = {
    "inspect": Log(inspect_zip, "C", "I", _of_solver, _graded_by),
    "inspect json": Log(inspect_json, "C", "I", _of_solver, _graded_by),
    "promptfoo": Log(promptfoo_json, True, False, "{} / 0".format),
    "promptfoo lines": Log(lambda votes: {"out.jsonl": promptfoo_rows(votes)}, True, False, "{} / 0".format),
    "deepeval": Log(deepeval, True, False, "case_{}".format),
    "langfuse": Log(langfuse, "yes", "no", "t{}".format),
    "langfuse blob": Log(langfuse_blob, "True", "False", "t{}".format),
    "lm-eval": Log(lm_eval, 1, 0, "h{}".format, has_truth=True),
    "openai-evals": Log(openai_evals, "yes", "no", "polite.{}".format, has_truth=True),
    "batch": Log(openai_batch, "yes", "no", "i{}".format, options={"verdict": r"Verdict: (\w+)"}),
    "batch of Anthropic": Log(
        anthropic_batch,
        "yes",
        "no",
        "i{}".format,
        options={"verdict_field": "verdict", "id": "(?P<item>.+)::(?P<worker>.+)"},
    ),
}


def content_of(name: str, document: Any) -> bytes:
    """Return what is in a file: a zip, lines, or one document."""
    if name.endswith(".eval"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in document.items():
                archive.writestr(member, json.dumps(content))
        return packed.getvalue()
    if name.endswith(".jsonl"):
        return "".join(f"{json.dumps(line)}\n" for line in document).encode()
    return json.dumps(document).encode()


def write(files: dict[str, Any], folder: Path) -> list[str]:
    """Write files into a folder, and return their paths."""
    for name, document in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(document if isinstance(document, bytes) else content_of(name, document))
    return [str(folder / name) for name in files]


def places(document: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to everything in a document."""
    keys = document.keys() if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        yield (*above, key)
        yield from places(document[key], (*above, key))


def is_leaf(document: Any, place: tuple[Any, ...]) -> bool:
    """Return whether there is no list or object at a place."""
    for key in place:
        document = document[key]
    return not isinstance(document, dict | list)


def change(document: Any, place: tuple[Any, ...], value: Any, *, remove: bool = False) -> None:
    """Put a value at a place of a document, or remove what is there."""
    for key in place[:-1]:
        document = document[key]
    if remove:
        del document[place[-1]]
    else:
        document[place[-1]] = deepcopy(value)
