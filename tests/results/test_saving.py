"""Tests of `save` and `load_result`: results come back exactly, and no other file makes one."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.errors import CallError, DataError
from crowdwise.results.saving import saved
from crowdwise.results.sealed import sealed

EVERY = [*cw.METHODS.values(), *cw.NUMERIC_METHODS.values()]


@pytest.fixture(scope="module")
def crowd() -> Any:
    return cw.simulate(60, 8, 2, labels_per_item=4, seed=1)


@pytest.fixture(scope="module")
def numbers() -> Any:
    return cw.simulate_numbers(40, 6, seed=1).numbers


@pytest.mark.parametrize("method", EVERY, ids=lambda method: method.__name__)
def test_a_result_comes_back_exactly(method: Any, crowd: Any, numbers: Any, tmp_path: Path) -> None:
    path = tmp_path / "result.arrow"
    result = method().fit(numbers if method.numeric else crowd.labels, warn=False)
    result.save(path)
    loaded = cw.load_result(path)
    assert type(loaded) is type(result)
    assert loaded.method == result.method
    assert loaded.cautions == result.cautions
    assert loaded.to_frame().equals(result.to_frame())
    assert loaded.workers_frame().equals(result.workers_frame())
    # Everything in it, to the last bit: saved again, it is the same file.
    assert saved(loaded) == saved(result) == path.read_bytes()


def test_what_is_made_of_a_result_is_made_of_a_loaded_one(crowd: Any, tmp_path: Path) -> None:
    result = cw.aggregate(crowd.labels, gold=crowd.truth.head(20), warn=False)
    result.save(tmp_path / "r.arrow")
    loaded = cw.load_result(tmp_path / "r.arrow")
    item = crowd.labels.names.items[30]
    assert str(cw.explain(loaded, crowd.labels, item)) == str(cw.explain(result, crowd.labels, item))
    asked, again = (cw.next_labels(crowd.labels, budget=5, result=one).to_frame() for one in (result, loaded))
    assert asked.equals(again)
    assert loaded.gold_check == result.gold_check
    monday, again = (cw.aggregate(crowd.labels, history=one.history, warn=False) for one in (result, loaded))
    assert monday.to_frame().equals(again.to_frame())
    for name, one in (("a", result), ("b", loaded)):
        cw.report(one, crowd.labels, path=tmp_path / f"{name}.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_names_of_every_type_come_back(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"item": [1, 1, 2], "worker": ["a", "b", "a"], "label": [True, False, True]},
        schema={"item": pl.Int8, "worker": pl.Enum(["b", "a"]), "label": pl.Boolean},
    )
    cw.aggregate(table, warn=False).save(tmp_path / "r.arrow")
    names = cw.load_result(tmp_path / "r.arrow").names
    assert [names.items.dtype, names.workers.dtype, names.classes.dtype] == list(table.schema.values())


def test_a_ranking_comes_back(tmp_path: Path) -> None:
    rows = [("i1", "j1", "a", "b", "a"), ("i1", "j2", "a", "b", "a"), ("i2", "j1", "b", "c", "b")] * 4
    table = pl.DataFrame(rows, schema=["item", "judge", "left", "right", "verdict"], orient="row")
    result = cw.rank(table)
    result.save(tmp_path / "rank.arrow")
    loaded = cw.load_result(tmp_path / "rank.arrow")
    assert loaded.objects.equals(result.objects)
    assert str(loaded) == str(result)


def test_damaged_and_foreign_files_are_refused(crowd: Any, tmp_path: Path) -> None:
    path = tmp_path / "r.arrow"
    cw.MajorityVote().fit(crowd.labels).save(path)
    content = path.read_bytes()
    for place in np.random.default_rng(1).integers(0, len(content), 30):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DataError, match="is damaged"):
            cw.load_result(path)
    for other in (b"", b"item,label\n", content[:1000], content * 2):
        path.write_bytes(other)
        with pytest.raises(DataError, match="is no result that"):
            cw.load_result(path)
    cw.BWA().fit(crowd.labels).history.write(path)
    with pytest.raises(DataError, match="is no result that"):
        cw.load_result(path)
    with pytest.raises(DataError, match="There is no result"):
        cw.load_result(tmp_path / "none.arrow")
    with pytest.raises(DataError, match="is no file, but a folder"):
        cw.load_result(tmp_path)


@pytest.mark.parametrize(
    "about",
    [
        {"class": "os:system", "with": {"command": "true"}},
        {"class": "crowdwise.testing:check_method", "with": {"method": None}},
        {"class": "crowdwise.results.result:Result", "with": {"what": 1}},
        {"tuple": [1, 2]},
        {"array": 7, "shape": [1], "dtype": "<f8"},
    ],
)
def test_a_file_makes_nothing_but_results(about: Any, tmp_path: Path) -> None:
    told = json.dumps({"result": about, "cautions": {"tuple": []}})
    row = pl.DataFrame({"crowdwise_result": [1], "crowdwise": ["9.9"], "about": [told]})
    (tmp_path / "r.arrow").write_bytes(sealed(row, "result"))
    with pytest.raises(DataError, match=r"crowdwise 9\.9 wrote|has no result in it"):
        cw.load_result(tmp_path / "r.arrow")


@dataclass(frozen=True)
class Elsewhere(cw.MajorityVote):
    """A method that somebody else wrote."""

    key: ClassVar[str] = "elsewhere"


def test_what_cannot_be_saved_is_said(crowd: Any, tmp_path: Path) -> None:
    result = replace(cw.MajorityVote().fit(crowd.labels), method=Elsewhere())
    with pytest.raises(CallError, match="Elsewhere is no class of crowdwise"):
        result.save(tmp_path / "r.arrow")
    crowd.rows.write_csv(tmp_path / "labels.csv")
    on_disk = cw.MajorityVote().fit(cw.read_labels(tmp_path / "labels.csv", engine="disk"))
    with pytest.raises(CallError, match="on disk or in a cluster"):
        on_disk.save(tmp_path / "r.arrow")
    assert not (tmp_path / "r.arrow").exists()


@pytest.mark.parametrize("name", ["answers.csv", "answers.XLSX"])
def test_a_name_for_a_table_is_refused(name: str, crowd: Any, tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"end the name in \.arrow, or write tables by result\.write"):
        cw.MajorityVote().fit(crowd.labels).save(tmp_path / name)


def test_votes_with_probabilities_and_sets_come_back(tmp_path: Path) -> None:
    path = tmp_path / "result.arrow"
    random = np.random.default_rng(1)
    soft = pl.DataFrame(
        {
            "item": np.repeat(np.arange(40), 4),
            "worker": np.tile(np.arange(4), 40),
            "label": random.choice(["yes", "no"], 160),
            "probability": random.uniform(0.5, 1, 160),
        }
    )
    sets = soft.with_columns(label=pl.Series(random.choice(["a;b", "a", "b", "c"], 160))).drop("probability")
    made: list[Any] = [cw.aggregate(soft, warn=False), cw.aggregate(sets, multi="each", separator=";", warn=False)]
    for result in made:
        result.save(path)
        loaded = cw.load_result(path)
        assert type(loaded) is type(result)
        assert repr(loaded) == repr(result)
        assert loaded.to_frame(probabilities=True).equals(result.to_frame(probabilities=True))
        assert loaded.workers_frame().equals(result.workers_frame())
        assert loaded.cautions == result.cautions
    assert "brier" in made[0].workers_frame().columns
