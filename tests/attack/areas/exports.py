"""Exports of annotation platforms, whole, with wrong things in them, and damaged."""

import copy
from typing import Any

from tests.support.exports import EXAMPLES
from tests.support.mutations import damage, mutate

from ..answering import check_majority
from ..area import Area, Case
from ..majority import Rules
from ..rule import Verdict


def attack(case: Case) -> Verdict:
    """Read an export; if nothing is changed in it, compare with the votes that are in it."""
    random = case.random
    example = EXAMPLES[random.choice(list(EXAMPLES))]
    data = copy.deepcopy(example.data)
    kind = random.choice(("whole", "wrong", "wrong", "damaged"))
    for _ in range(random.randint(1, 4) if kind == "wrong" else 0):
        mutate(data, random.randrange)
    try:
        files = example.pack(data)
    except Exception:  # nothing that could be written
        files, kind = example.pack(example.data), "whole"
    if kind == "damaged":
        name = random.choice(list(files))
        files[name] = damage(files[name], random.randrange)
    folder = case.here / "export"
    for name, content in files.items():
        path = folder / name
        if "\0" in name or not path.resolve().is_relative_to(folder.resolve()):
            return "refused"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    options: list[object] = [text for key, value in example.options.items() for text in (f"--{key}", value)]
    rows: list[Any] | None = list(example.votes) if kind == "whole" else None
    source = folder if len(files) > 1 else folder / next(iter(files))
    return check_majority(case, [source, *options], Rules(), rows, is_text=False, may_refuse=kind != "whole")


AREA = Area("exports", "exports of annotation platforms, whole, wrong and damaged", attack, tested=150)
