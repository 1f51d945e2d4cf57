"""JSON is read value by value as the standard library reads it whole, however the text is cut."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.sources import json_stream
from crowdwise.sources.json_stream import beginning, objects_of, values_at
from crowdwise.sources.unpacking import UnsoundError
from tests.support.cases import examples

# What a reader of JSON stumbles over: words that are no numbers, quotes, escapes, brackets and commas in strings.
WORDS = st.sampled_from(["NaN", "-Infinity", 'a"', "\\", '\\"', "},{", "[", "]}", "", "é😀", "\ud800", "\n"])
LEAVES = st.sampled_from([float("nan"), float("inf"), float("-inf"), -1, 2.5, 10**20, 1e300, None, True]) | WORDS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner), max_leaves=8)
OBJECTS = st.lists(st.dictionaries(WORDS, VALUES, max_size=3), max_size=6)


class Slow(io.BytesIO):
    """A stream that gives few bytes at once, as one from a network may."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(3 if size == 3 else min(size or 0, 11))


def null_for_constants(text: str) -> Any:
    return json.loads(text, parse_constant=lambda _: None)


@examples(150)
@given(OBJECTS, st.sampled_from([None, 0, 2]), st.booleans(), VALUES)
def test_objects_are_the_same_however_the_text_is_cut(
    objects: list[Any], indent: int | None, escaped: bool, other: Any
) -> None:
    def written(value: Any) -> bytes:
        return json.dumps(value, indent=indent, ensure_ascii=escaped).encode(errors="surrogatepass")

    texts = [written(one) for one in objects]
    if any(b"\xed\xa0\x80" in text for text in [*texts, written(other)]):
        return  # half of a surrogate pair that is not escaped is no UTF-8
    expected = [null_for_constants(text.decode()) for text in texts]
    assert list(objects_of(Slow(written(objects)), "f")) == expected
    assert list(objects_of(Slow(b"\xef\xbb\xbf" + b"\n".join(texts)), "f")) == expected
    whole = written({"other": other, "results": {"n": 1, "list": objects}, "after": other})
    assert list(values_at(Slow(whole), "f", "results.list.item")) == expected
    assert list(values_at(Slow(whole), "f", "other")) == [null_for_constants(written(other).decode())]
    assert list(values_at(Slow(whole), "f", "results.no.item")) == []


@examples(150)
@given(OBJECTS, st.integers(0))
def test_a_beginning_is_a_part_of_the_whole(objects: list[Any], cut: int) -> None:
    text = json.dumps({"objects": objects, "more": 1})
    whole = null_for_constants(text)
    assert beginning(text) == whole
    found = beginning(text[: cut % len(text)])

    def is_part(part: Any, of: Any) -> bool:
        if isinstance(part, dict):
            return part.keys() <= of.keys() and all(is_part(value, of[key]) for key, value in part.items())
        if isinstance(part, list):
            return len(part) <= len(of) and all(map(is_part, part, of))
        return bool(part == of)

    assert found is None or is_part(found, whole)
    assert cut % len(text) == 0 or found is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1}, {"b": ]', "entry 2"),
        ('[{"a": 1} {"b": 1}]', "entry 2|after entry 1"),
        ('[{"a": 1}, {"b": 1}', "after entry 2 is nothing, and no comma"),
        ('[{"a": 1}] []', "after its array is"),
        ('{"a": 1}\n{"a": tru}', "entry 2"),
        ('{"a": "', "entry 1"),
    ],
)
def test_what_is_no_json_is_refused_with_its_number(text: str, message: str) -> None:
    with pytest.raises(cw.DataError, match=message):
        list(objects_of(io.BytesIO(text.encode()), "f"))


def test_a_value_longer_than_what_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [{"text": "},{" * 700_000}, {"n": [{"a": 1}] * 100_000}, {"last": 1}]
    text = json.dumps(objects).encode()
    assert list(objects_of(io.BytesIO(text), "f")) == objects
    monkeypatch.setattr(json_stream, "LONGEST_OBJECT", 2**20)
    with pytest.raises(UnsoundError, match="more than 1 MB"):
        list(objects_of(io.BytesIO(text), "f"))
