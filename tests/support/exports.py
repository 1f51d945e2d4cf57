"""Small exports of annotation platforms, written by hand as the platforms write them, and what is in them."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Who said what about which item: the votes that every export below has in it, besides things that are no votes.
VOTES = [
    (item, worker, label)
    for item, said in enumerate(["aab", "abb", "bbb", "aaa"], 1)
    for worker, label in zip(["ann", "bob", "cat"], said, strict=True)
]


@dataclass(frozen=True, repr=False)
class Example:
    """An export.

    Attributes:
        key: The platform, as `--format` names it.
        data: What is in it, as lists, objects and values; a table is a list of rows, the first of which has the names.
        pack: Makes the files of the data: their content by path.
        count: Counts the answers in the data, simply and by itself.
        votes: The votes.
        truths: The known truths.
        options: What the user has to say to read it.
    """

    key: str
    data: Any
    pack: Callable[[Any], dict[str, bytes]]
    count: Callable[[Any], int]
    votes: list[tuple[Any, str, Any]]
    truths: Mapping[Any, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: Path, data: Any = None) -> Path:
        """Write the files to a folder, and return the path to read: that of the only file, or of the folder."""
        files = self.pack(self.data if data is None else data)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / next(iter(files)) if len(files) == 1 else folder


def in_json(name: str) -> Callable[[Any], dict[str, bytes]]:
    """Pack data as JSON."""
    return lambda data: {name: json.dumps(data).encode()}


def in_lines(name: str) -> Callable[[Any], dict[str, bytes]]:
    """Pack a list as JSON lines."""
    return lambda data: {name: as_lines(data)}


def as_lines(data: Any) -> bytes:
    """Return a list as JSON lines."""
    return "".join(json.dumps(one) + "\n" for one in data).encode()


def in_table(name: str, delimiter: str = ",") -> Callable[[Any], dict[str, bytes]]:
    """Pack rows as CSV or TSV."""

    def pack(rows: Any) -> dict[str, bytes]:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
        return {name: text.getvalue().encode()}

    return pack


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, inner in files.items():
            archive.writestr(name, inner)
    return content.getvalue()


def by_item(votes: list[tuple[Any, str, Any]] = VOTES) -> dict[Any, list[tuple[str, Any]]]:
    """Return the votes on each item."""
    found: dict[Any, list[tuple[str, Any]]] = {}
    for item, worker, label in votes:
        found.setdefault(item, []).append((worker, label))
    return found


def result(value: Any, kind: str = "choices", question: str = "mood", **more: Any) -> dict[str, Any]:
    """One result of Label Studio."""
    key = {"pairwise": "selected", "textarea": "text"}.get(kind, kind)
    chosen = [value] if kind == "choices" and not isinstance(value, list) else value
    return {"id": "r", "from_name": question, "to_name": "text", "type": kind, "value": {key: chosen}, **more}


def annotation(worker: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One annotation of Label Studio."""
    fixed = {
        "id": 31,
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": 4.5,
        "updated_at": "2026-01-02T10:00Z",
    }
    return {**fixed, "completed_by": worker, "result": list(results), **more}


def label_studio() -> Example:
    tasks: list[dict[str, Any]] = []
    for item, said in by_item().items():
        people = {"ann": {"id": 1, "email": "ann"}, "bob": "bob", "cat": {"id": 7, "email": "cat"}}
        annotations = [annotation(people[worker], result(label, origin="manual")) for worker, label in said]
        predictions: list[Any] = [{"id": 5, "model_version": "m1", "score": 0.5, "result": [result("a")]}, 17]
        tasks.append(
            {
                "id": item,
                "annotations": annotations,
                "drafts": [],
                "predictions": predictions,
                "data": {"text": "Nice", "url": f"u{item}"},
            }
        )
    tasks[0]["annotations"] += [annotation(8, was_cancelled=True), annotation(9, result("a"), ground_truth=True)]
    tasks[1]["annotations"] += [annotation(8, result("b"), was_cancelled=True), annotation(9)]
    tasks[2]["drafts"] = [{"user": "dan", "result": [result("a")]}]
    tasks[3]["annotations"][0]["result"].append(result(["why not"], "textarea", "reason"))

    def count(data: Any) -> int:
        made = [one for task in data for key in ("annotations", "predictions", "drafts") for one in task.get(key) or []]
        return sum(max(1, len(one.get("result") or [])) for one in made if isinstance(one, dict))

    return Example("label-studio", tasks, in_json("export.json"), count, VOTES, {1: "a"})


def label_studio_small(extension: str) -> Example:
    rows = [
        {
            "text": "Nice",
            "id": item,
            "mood": label,
            "annotator": worker,
            "annotation_id": 3,
            "created_at": "x",
            "updated_at": "y",
            "lead_time": 4.5,
        }
        for item, worker, label in VOTES
    ]
    if extension == "json":
        rows.append({**rows[0], "id": 99, "annotator": None, "annotation_id": None, "mood": None})

        def count(data: Any) -> int:
            others = [
                {name: row[name] for name in row if name not in ("id", "annotator", "annotation_id", "mood")}
                for row in data
            ]
            if any(one != others[0] for one in others):
                raise LookupError  # other columns may then be questions too
            return sum(row.get("annotation_id") is not None or row.get("annotator") is not None for row in data)

        return Example("label-studio-min", rows, in_json("min.json"), count, VOTES)
    table = [list(rows[0]), *(list(row.values()) for row in rows)]
    votes = [(str(item), worker, label) for item, worker, label in VOTES]
    return Example(
        "label-studio-min", table, in_table("min.csv"), lambda data: len(data) - 1, votes, {}, {"question": "mood"}
    )


def argilla_flat() -> Example:
    records: list[dict[str, Any]] = [
        {
            "id": f"r{item}",
            "status": "completed",
            "text": "Nice",
            "q.responses": [label for _, label in said],
            "q.responses.users": [worker for worker, _ in said],
            "q.responses.status": ["submitted"] * len(said),
            "q.suggestion": "a",
            "q.suggestion.score": 0.9,
            "q.suggestion.agent": "gpt",
        }
        for item, said in by_item().items()
    ]
    for key, value in (("", "b"), (".users", "dan"), (".status", "discarded")):
        records[0][f"q.responses{key}"].append(value)
    records[1]["q.responses.status"] = [None, "submitted", None]
    records.append({**dict.fromkeys(records[0]), "id": "r9"})

    def count(data: Any) -> int:
        return sum(len(one.get("q.responses") or []) + (one.get("q.suggestion") is not None) for one in data)

    votes = [(f"r{item}", worker, label) for item, worker, label in VOTES]
    return Example("argilla", records, in_json("records.json"), count, votes)


def argilla_nested() -> Example:
    records = [
        {
            "id": f"r{item}",
            "fields": {"text": "Nice"},
            "metadata": {},
            "suggestions": {"q": {"value": "a", "score": 0.9, "agent": "gpt"}},
            "responses": {"q": [{"value": label, "user_id": worker} for worker, label in said]},
            "vectors": {},
            "status": "completed",
        }
        for item, said in by_item().items()
    ]
    questions = [{"name": "q", "settings": {"type": "label_selection"}}]

    def pack(data: Any) -> dict[str, bytes]:
        settings = json.dumps({"questions": questions}).encode()
        return {"records.json": json.dumps(data).encode(), ".argilla/settings.json": settings}

    def count(data: Any) -> int:
        responses = sum(len(listed or []) for one in data for listed in (one["responses"] or {}).values())
        return responses + sum(one is not None for record in data for one in (record.get("suggestions") or {}).values())

    votes = [(f"r{item}", worker, label) for item, worker, label in VOTES]
    return Example("argilla", records, pack, count, votes)


def doccano(extension: str) -> Example:
    members: dict[str, list[Any]] = {"ann": [], "bob": [], "cat": []}
    for item, worker, label in VOTES:
        members[worker].append({"id": item, "text": "Nice", "label": [label], "Comments": []})
    members["ann"].append({"id": 9, "text": "Nice", "label": [], "Comments": []})
    members["dan"] = []

    def pack(data: Any) -> dict[str, bytes]:
        packed = {
            f"{name}.{extension}": as_lines(rows) if extension == "jsonl" else json.dumps(rows).encode()
            for name, rows in data.items()
        }
        return {"doccano.zip": zipped(packed)}

    def count(data: Any) -> int:
        rows = [row for member in data.values() for row in member]
        if not all(isinstance(row, dict) for row in rows):
            raise LookupError  # a line may then be an array of rows
        return len(rows)

    return Example("doccano", members, pack, count, VOTES)


def prodigy() -> Example:
    lines: list[dict[str, Any]] = [
        {
            "text": "Nice",
            "_input_hash": item,
            "_task_hash": 7,
            "options": [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}],
            "accept": [label],
            "config": {"choice_style": "single"},
            "answer": "accept",
            "_view_id": "choice",
            "_timestamp": 1707211049,
            "_annotator_id": worker,
            "_session_id": worker,
        }
        for item, worker, label in VOTES
    ]
    lines += [{**lines[0], "_annotator_id": "dan", "answer": answer} for answer in ("reject", "ignore")]
    lines += [{**lines[0], "_annotator_id": "dan", "accept": []}, {**lines[0], "versions": [], "sessions": []}]
    return Example("prodigy", lines, in_lines("dataset.jsonl"), len, VOTES, {1: "a"})


def mturk() -> Example:
    names = ["HITId", "Title", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "SubmitTime"]
    table = [[*names, "Input.url", "Answer.mood.label", "Approve", "Reject"]]
    for item, worker, label in VOTES:
        time = "Thu Oct 09 07:30:20 UTC 2025"
        table.append([f"H{item}", "A title, long", worker, "Approved", "17", time, "u", label, "", ""])
    table += [
        ["H1", "", "dan", "Rejected", "1", "", "u", "a", "", "x"],
        ["H1", "", "eve", "Submitted", "", "", "u", "", "", ""],
    ]
    votes = [(f"H{item}", worker, label) for item, worker, label in VOTES]
    return Example("mturk", table, in_table("batch.csv"), lambda data: len(data) - 1, votes)


def ground_truth() -> Example:
    responses = {
        str(item): {
            "answers": [
                {
                    "workerId": worker,
                    "submissionTime": "2026-01-01T00:00:00Z",
                    "timeSpentInSeconds": 10.3,
                    "answerContent": {"species": {"label": label}},
                }
                for worker, label in said
            ]
        }
        for item, said in by_item().items()
    }

    def pack(data: Any) -> dict[str, bytes]:
        return {f"iteration-1/{item}/2026.json": json.dumps(one).encode() for item, one in data.items()}

    def count(data: Any) -> int:
        return sum(max(1, len(one["answerContent"])) for file in data.values() for one in file["answers"])

    votes = [(str(item), worker, label) for item, worker, label in VOTES]
    return Example("ground-truth", responses, pack, count, votes)


def consolidation() -> Example:
    entries = [
        {
            "datasetObjectId": str(item),
            "dataObject": {"s3Uri": "s3://x"},
            "annotations": [
                {"workerId": worker, "annotationData": {"content": json.dumps({"species": {"label": label}})}}
                for worker, label in said
            ],
        }
        for item, said in by_item().items()
    ]
    votes = [(str(item), worker, label) for item, worker, label in VOTES]
    return Example(
        "ground-truth", entries, in_json("request.json"), lambda data: sum(len(e["annotations"]) for e in data), votes
    )


def toloka() -> Example:
    table = [
        [
            "INPUT:image",
            "OUTPUT:result",
            "GOLDEN:result",
            "HINT:text",
            "ASSIGNMENT:link",
            "ASSIGNMENT:assignment_id",
            "ASSIGNMENT:worker_id",
            "ASSIGNMENT:status",
            "ASSIGNMENT:started",
        ]
    ]
    for item, worker, label in VOTES:
        table.append([f"i{item}", label, "a" if item == 1 else "", "", "", "x", worker, "APPROVED", "2026-01-01"])
    table.append(["i1", "a", "", "", "", "x", "dan", "REJECTED", ""])
    table.append(["i1", "a", "", "look here", "", "x", "eve", "APPROVED", ""])

    def count(data: Any) -> int:
        golden = [(row[0], row[2]) for row in data[1:] if row[2] != ""]
        if any(not isinstance(value, str) or value.startswith("[") for _, value in golden):
            raise LookupError  # other ways to write the same truth
        return len(data) - 1 + len(set(golden))

    votes = [(f"i{item}", worker, label) for item, worker, label in VOTES]
    return Example("toloka", table, in_table("pool.tsv", "\t"), count, votes, {"i1": "a"})


def labelbox() -> Example:
    def label(worker: str, chosen: str, **more: Any) -> dict[str, Any]:
        classification = {"name": "Mood", "value": "mood", "radio_answer": {"name": chosen, "value": chosen}}
        annotations = {"objects": [], "classifications": [classification]}
        return {"label_details": {"created_by": worker, "created_at": "x"}, "annotations": annotations, **more}

    lines: list[Any] = [
        {
            "data_row": {"id": f"d{item}", "global_key": f"k{item}", "row_data": f"About {item}"},
            "projects": {"p1": {"name": "P", "labels": [label(worker, chosen) for worker, chosen in said]}},
        }
        for item, said in by_item().items()
    ]
    lines[0]["projects"]["p1"]["labels"].append(label("dan", "a", performance_details={"skipped": True}))
    lines.append({"data_row": {"id": "d9", "global_key": None}, "projects": {}})

    def count(data: Any) -> int:
        projects = [project for line in data for project in (line.get("projects") or {}).values()]
        found = [one.get("annotations") or {} for project in projects for one in project.get("labels") or []]
        return sum(max(1, sum(len(one.get(key) or []) for key in ("classifications", "objects"))) for one in found)

    votes = [(f"k{item}", worker, chosen) for item, worker, chosen in VOTES]
    return Example("labelbox", lines, in_lines("export.ndjson"), count, votes)


def qualtrics() -> Example:
    items = sorted({item for item, _, _ in VOTES})
    names = ["StartDate", "Status", "Finished", "ResponseId", "PROLIFIC_PID", *(f"Q{item}" for item in items), "Notes"]
    table = [names, ["Start\nDate", *names[1:]], [json.dumps({"ImportId": name}) for name in names]]
    for worker in ("ann", "bob", "cat"):
        said = [label for _, one, label in VOTES if one == worker]
        table.append(["2026", "IP Address", "True", f"R_{worker}", worker, *said, "none"])
    table.append(["2026", "IP Address", "False", "R_9", "dan", "a", "", "", "", ""])

    votes = [(str(item), worker, label) for item, worker, label in VOTES]
    return Example(
        "qualtrics",
        table,
        in_table("survey.csv"),
        lambda data: (len(data) - 3) * len([name for name in data[0] if re.fullmatch(r"Q\d+", str(name))]),
        votes,
        {},
        {"items": r"Q(\d+)"},
    )


EXAMPLES: Mapping[str, Example] = {
    "label-studio": label_studio(),
    "label-studio-min": label_studio_small("json"),
    "label-studio-csv": label_studio_small("csv"),
    "argilla-flat": argilla_flat(),
    "argilla-nested": argilla_nested(),
    "doccano-jsonl": doccano("jsonl"),
    "doccano-json": doccano("json"),
    "prodigy": prodigy(),
    "mturk": mturk(),
    "ground-truth": ground_truth(),
    "consolidation": consolidation(),
    "toloka": toloka(),
    "labelbox": labelbox(),
    "qualtrics": qualtrics(),
}
