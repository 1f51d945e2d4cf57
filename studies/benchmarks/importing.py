"""Reading exports of Label Studio and Argilla, beside how their own packages read them.

    make study NAME=importing

Each export has 200,000 answers. Label Studio's package iterates over the annotations of a file, as its converters do;
Argilla's makes its records of a file. They run in an environment of their own, whose Python CROWDWISE_PLATFORMS names.
Times are seconds of processors, the median of three after one that does not count, which other programs on the machine
disturb little. Also measured is how much memory a process takes at most, above what it has before it reads.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from .timing import show

_ITEMS, _PER_ITEM, _WORKERS = 50_000, 4, 300
_CLASSES = ("positive", "negative", "neutral")
_TEXT = "A text of some words, which is as long as a short review is. "
# Programs that read a file by the platform's own package, and print the seconds of processors that it takes.
_TIMED = """
import sys, time
read(sys.argv[1])
taken = []
for _ in range(3):
    began = time.process_time()
    read(sys.argv[1])
    taken.append(time.process_time() - began)
print(sorted(taken)[1])
"""
_CONVERTER = (
    """
from label_studio_sdk.converter import Converter
config = (
    '<View><Text name="text" value="$text"/><Choices name="sentiment" toName="text"><Choice value="positive"/>'
    '<Choice value="negative"/><Choice value="neutral"/></Choices></View>'
)
converter = Converter(config, ".", download_resources=False)
def read(path):
    assert sum(1 for _ in converter.iter_from_json_file(path)) == 200_000
"""
    + _TIMED
)
_OURS = (
    """
import crowdwise as cw
read = cw.read_labels
"""
    + _TIMED
)
_RECORDS = (
    """
from argilla.records._io import JsonIO
def read(path):
    assert len(JsonIO._records_from_json(path)) == 50_000
"""
    + _TIMED
)
# A program that reads a small file, and then says how much more memory a large one takes at most.
_MEMORY = """
import sys
import crowdwise as cw
def peak():  # unlike what `resource` says, this is not that of the process that started this one
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
cw.read_labels(sys.argv[1])
before = peak()
cw.read_labels(sys.argv[2])
print((peak() - before) / 1024)
"""


def write_label_studio(path: Path, items: int) -> None:
    """Write an export of Label Studio."""
    random = Random(1)
    with path.open("w") as file:
        for item in range(items):
            annotations = [_annotation(random, item, number) for number in range(_PER_ITEM)]
            rest = {"file_upload": "x.csv", "drafts": [], "predictions": [], "data": {"text": _TEXT}, "project": 1}
            file.write(("," if item else "[") + json.dumps({"id": item, "annotations": annotations, **rest}))
        file.write("]")


def _annotation(random: Random, item: int, number: int) -> dict[str, Any]:
    worker = (item * 7 + number * 31) % _WORKERS
    value = {"choices": [random.choice(_CLASSES)]}
    result = {"id": f"r{item}", "from_name": "sentiment", "to_name": "text", "type": "choices", "value": value}
    return {
        "id": item * _PER_ITEM + number,
        "completed_by": {"id": worker, "email": f"worker{worker}@example.org", "first_name": "", "last_name": ""},
        "was_cancelled": False,
        "ground_truth": False,
        "lead_time": round(random.random() * 30, 3),
        "updated_at": "2026-01-02T10:00:00.123456Z",
        "result": [{**result, "origin": "manual"}],
    }


def _argilla(path: Path, items: int) -> None:
    """Write records of Argilla, as `to_json` does."""
    random = Random(1)
    with path.open("w") as file:
        for item in range(items):
            users = [str(UUID(int=(item * 7 + number * 31) % _WORKERS)) for number in range(_PER_ITEM)]
            responses = [{"value": random.choice(_CLASSES), "user_id": user} for user in users]
            record = {
                "id": f"r{item}",
                "fields": {"text": _TEXT},
                "metadata": {},
                "suggestions": {},
                "responses": {"sentiment": responses},
                "vectors": {},
                "status": "completed",
                "_server_id": str(UUID(int=item)),
            }
            file.write(("," if item else "[") + json.dumps(record))
        file.write("]")


def main() -> None:
    """Measure both."""
    platforms = os.environ.get("CROWDWISE_PLATFORMS")
    if not platforms:
        sys.exit("CROWDWISE_PLATFORMS names no Python with the platforms' packages: make study NAME=importing")
    with tempfile.TemporaryDirectory() as folder:
        for name, write, program in (("Label Studio", write_label_studio, _CONVERTER), ("Argilla", _argilla, _RECORDS)):
            path, small = Path(folder) / f"{name}.json", Path(folder) / f"{name} small.json"
            write(path, _ITEMS)
            write(small, 100)
            size = f"{path.stat().st_size / 1e6:.0f} MB"
            ours = _printed(sys.executable, _OURS, path)
            theirs = _printed(platforms, program, path)
            ratio = f"{theirs:.1f} s / {ours:.1f} s = {theirs / ours:.1f} x"
            show(f"{name}, {size}: its package / read_labels", ratio, ">= 1 x")
            memory = _printed(sys.executable, _MEMORY, small, path)
            show(f"{name}, {size}: the most memory, with the labels", f"{memory:.0f} MB", "< 50 MB")


def _printed(python: str, program: str, *arguments: Path) -> float:
    """Run a program, and return the number that it prints last."""
    command = [python, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
