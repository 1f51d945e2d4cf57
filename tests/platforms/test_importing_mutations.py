"""Exports with something changed in them: they are read without a loss, or refused in a sentence."""

import copy
import csv
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.crowd.read_options import ReadOptions
from crowdwise.platforms.platform import CHOICE
from crowdwise.platforms.questions import long_table, questions_frame, vote_rows
from crowdwise.reading.registry import platform_of, read_export
from crowdwise.sources.paths import inputs_of
from tests.support.cases import examples
from tests.support.exports import EXAMPLES, Example
from tests.support.mutations import damage, mutate

each_example = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES.keys())


def read(folder: Path, example: Example, data: Any) -> int | None:
    """Read an export in every way; returns how many answers it has, or None if it is refused."""
    try:
        path = example.write(folder, data)
    except (TypeError, ValueError, AttributeError, LookupError, OSError, csv.Error):  # no platform can write this
        return None
    options = ReadOptions.of(**example.options)
    try:
        inputs = inputs_of(path, options)
        recognised = platform_of(inputs, "auto")
        if recognised is None:
            return None
        gathered = read_export(*recognised, options)
        long_table(gathered)
        questions_frame(gathered)
    except (cw.DataError, cw.CallError) as refusal:
        check(refusal)
        return None
    total = sum(one.answers for one in gathered.questions.values()) + sum(gathered.left_out.values())
    for name, question in gathered.questions.items():
        if question.type == CHOICE:
            try:
                votes = vote_rows(gathered, inputs, ReadOptions.of(**{**example.options, "question": name}))
            except (cw.DataError, cw.CallError):
                continue
            assert votes.answers == votes.lazy.collect().height + sum(votes.left_out.values())
    return total


def check(refusal: Exception) -> None:
    """A refusal is one short sentence or two."""
    assert len(str(refusal)) < 600
    assert "\n" not in str(refusal)


@each_example
@examples(60)
@given(drawn=st.data())
def test_changed_exports_are_read_without_a_loss_or_refused(example: Example, drawn: st.DataObject) -> None:
    data = copy.deepcopy(example.data)
    for _ in range(drawn.draw(st.integers(1, 3))):
        mutate(data, chooser(drawn))
    with tempfile.TemporaryDirectory() as folder:
        total = read(Path(folder), example, data)
        if total is not None and (count := counted(example, data)) is not None:
            assert total == count


def chooser(drawn: st.DataObject) -> Callable[[int], int]:
    """Lets hypothesis choose numbers."""
    return lambda count: drawn.draw(st.integers(0, count - 1))


def counted(example: Example, data: Any) -> int | None:
    """How many answers there are, counted by itself; None where changes left nothing that can be counted simply."""
    if isinstance(example.data, list) and isinstance(example.data[0], list):
        data = [row for row in data if row]  # the others are empty lines
        if data[0] != example.data[0]:
            return None  # other columns are other questions
    try:
        return example.count(data)
    except (TypeError, AttributeError, LookupError):
        return None


@each_example
@examples(40)
@given(drawn=st.data())
def test_damaged_exports_are_read_or_refused(example: Example, drawn: st.DataObject) -> None:
    files = example.pack(example.data)
    name = drawn.draw(st.sampled_from(sorted(files)))
    files[name] = damage(files[name], chooser(drawn))
    with tempfile.TemporaryDirectory() as folder:
        for path, changed in files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(changed)
        source = Path(folder) if len(files) > 1 else Path(folder) / name
        for way in (cw.read_labels, cw.read_truth, cw.questions):
            try:
                way(source, **example.options)
            except (cw.DataError, cw.CallError) as refusal:
                check(refusal)
