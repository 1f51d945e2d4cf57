"""Sets of classes: what is inferred, how close it is to the truth, and how far workers agree."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis import set_agreement
from tests.support.tagged_crowds import Tagged, inferred, simulate

VOTES = pl.DataFrame(
    {
        "item": [1, 1, 1, 2, 2, 2, 3, 3],
        "worker": list("abcabcab"),
        "labels": [["x", "y"], ["x"], ["x", "z"], ["y"], [], [], [], []],
    }
)


def majority() -> cw.SetResult:
    return cw.aggregate(VOTES, multi="each", method="mv", warn=False)


def test_sets_of_items_and_pairs() -> None:
    found = majority()
    assert found.to_frame()["labels"].to_list() == [["x"], [], []]
    assert found.to_frame()["votes"].to_list() == [3, 3, 2]
    assert found.to_frame()["confidence"][2] is None
    table = found.to_frame(probabilities=True)
    assert table["probability_y"].is_null().to_list() == [False, False, True]
    assert found.pairs().select("item", "class", "yes", "votes").rows() == [
        (1, "x", 3, 3),
        (1, "y", 1, 3),
        (1, "z", 1, 3),
        (2, "y", 1, 3),
    ]


def test_thresholds_and_costs() -> None:
    labels = cw.read_labels(VOTES, multi="each")
    p = majority().pairs()["probability"]
    loose = inferred(labels, method="mv", at_least=float(p[1]))
    assert loose.to_frame()["labels"].to_list() == [["x", "y", "z"], ["y"], []]
    costs = {("yes", "no"): 9, ("no", "yes"): 1}
    assert inferred(labels, method="mv", costs=costs).at_least == pytest.approx(0.1)
    with pytest.raises(cw.CallError, match="probability, from 0 to 1"):
        cw.aggregate(labels, at_least=2)
    with pytest.raises(cw.CallError, match="for several classes at once"):
        cw.aggregate(cw.simulate(10, 5, seed=1).labels, at_least=0.3)


def test_workers_have_precision_and_recall() -> None:
    found = majority()
    p = dict(zip(zip(*found.pairs().select("item", "class"), strict=True), found.pairs()["probability"], strict=True))
    first = found.workers_frame().filter(worker="a").row(0, named=True)
    hit = p[1, "x"] + p[1, "y"] + p[2, "y"]
    assert first["precision"] == pytest.approx(hit / 3)
    assert first["recall"] == pytest.approx(hit / sum(p.values()))
    assert first["f1"] == pytest.approx(2 * hit / (3 + sum(p.values())))
    assert first["named"] == pytest.approx(3 / 3)
    assert found.workers_frame().filter(worker="b")["precision"].is_not_null().all()


def test_files_have_sets_as_json_and_are_read_again(tmp_path: Path) -> None:
    found = majority()
    for name in ("sets.csv", "sets.parquet", "sets.jsonl"):
        found.write(tmp_path / name)
        assert cw.read_truth_sets(tmp_path / name)["truth"].to_list() == [["x"], [], []]
    assert '"[""x""]"' in (tmp_path / "sets.csv").read_text()
    found.write(tmp_path / "sets.xlsx")


def test_accuracy_of_sets_against_counting() -> None:
    crowd = simulate(1, items=40)
    found = cw.aggregate(crowd.answers, multi="each", warn=False)
    truth = crowd.truth | {0: [*crowd.truth[0], "nobody named it"]}
    del truth[5]
    measured = cw.set_accuracy(found, truth)
    sets_of = {row["item"]: set(row["labels"]) for row in found.to_frame().to_dicts() if row["item"] != 5}
    true = {item: set(named) for item, named in truth.items()}
    hits = sum(len(sets_of[i] & true[i]) for i in sets_of)
    sizes = sum(len(sets_of[i]) + len(true[i]) for i in sets_of)
    assert measured.items == 39
    assert measured.micro_f1 == pytest.approx(2 * hits / sizes)
    assert measured.exact == pytest.approx(np.mean([sets_of[i] == true[i] for i in sets_of]))
    alike = [len(sets_of[i] & true[i]) / len(sets_of[i] | true[i]) if sets_of[i] | true[i] else 1 for i in sets_of]
    assert measured.jaccard == pytest.approx(np.mean(alike))
    of_classes = []
    for name in set().union(*sets_of.values(), *true.values()):
        one, other = ({i for i in sets_of if name in sets[i]} for sets in (sets_of, true))
        of_classes.append(2 * len(one & other) / (len(one) + len(other)))
    assert measured.macro_f1 == pytest.approx(np.mean(of_classes))


def alpha_by_pairs(crowd: Tagged, distance: str) -> float:
    """Krippendorff's alpha from all pairs of answers."""
    by_item: dict[int, list[frozenset[str]]] = {}
    for item, _, named in crowd.answers.rows():
        by_item.setdefault(item, []).append(frozenset(named))
    several = [answers for answers in by_item.values() if len(answers) > 1]

    def apart(one: frozenset[str], other: frozenset[str]) -> float:
        if one == other:
            return 0.0
        shared = len(one & other) / len(one | other)
        if distance == "masi":
            shared *= 2 / 3 if one <= other or other <= one else 1 / 3
        return 1 - shared

    everything = [one for answers in several for one in answers]
    observed = sum(sum(apart(a, b) for a in answers for b in answers) / (len(answers) - 1) for answers in several)
    return 1 - observed / (sum(apart(a, b) for a in everything for b in everything) / (len(everything) - 1))


@pytest.mark.parametrize("distance", ["jaccard", "masi"])
def test_alpha_of_sets_is_that_of_all_pairs(distance: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = simulate(2, items=50)
    alone = pl.DataFrame({"item": [99], "worker": ["w1"], "labels": [["c00"]]})
    labels = cw.read_labels(pl.concat([crowd.answers, alone]), multi="each")
    found = cw.alpha(labels, distance)
    assert found.value == pytest.approx(alpha_by_pairs(crowd, distance), abs=1e-10)
    assert found.low < found.value < found.high
    monkeypatch.setattr(set_agreement, "_MOST_COMPARED", 10)  # as if there were too many different sets
    assert cw.alpha(labels, distance).value == pytest.approx(found.value, abs=0.1)


def test_alpha_is_for_what_labels_are() -> None:
    labels = cw.read_labels(VOTES, multi="each")
    assert cw.alpha(labels) == cw.alpha(labels, "masi")
    with pytest.raises(cw.CallError, match="'nominal' is for one class a label"):
        cw.alpha(labels, "nominal")
    with pytest.raises(cw.CallError, match="'masi' is for sets of classes"):
        cw.alpha(cw.simulate(10, 5, seed=1).labels, "masi")
