"""The page as text: sections, reasons, what is left out, what it must not say. For browsers see the next file."""

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowdwise as cw
from crowdwise.analysis.comparison import compare
from crowdwise.reporting import comparison_page, page
from crowdwise.reporting.sections.suspects import habits, suspects, words

from .cases import CASES
from .test_contract import EVERY, each_method, frame


def gathered(labels: cw.Labels, result: cw.Result, truth: Any = None) -> dict[str, Any]:
    return page.gather(labels, result, truth, "the command")


def specs(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The specification of every chart; making one validates it."""
    figures = [*content["classes"].figures, *content["workers"].figures, content["items"].figure]
    figures += content["items"].explained + (content["truth"].figures if content["truth"] else [])
    return [figure.spec for figure in figures + ([content["crowd"].figure] if content["crowd"].figure else [])]


def visible(text: str) -> str:
    """What a reader sees, and what charts are made of, without the scripts of the page itself."""
    without = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", without))


@pytest.fixture(scope="module")
def crowd() -> Any:
    return cw.simulate(300, 20, 3, labels_per_item=4.5, accuracy=0.6, seed=1)


@pytest.fixture(autouse=True)
def one_waterfall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six take most of the time of a page and are all made alike."""
    monkeypatch.setattr("crowdwise.reporting.sections.items._EXPLAINED", 1)


@each_method
def test_every_method_makes_every_section(key: str, crowd: Any) -> None:
    if EVERY[key].most_classes < crowd.labels.n_classes:
        crowd = cw.simulate(300, 20, EVERY[key].most_classes, labels_per_item=4.5, accuracy=0.6, seed=1)
    result = EVERY[key].method.fit(crowd.labels)
    content = gathered(crowd.labels, result, crowd.truth)
    assert all(spec for spec in specs(content))
    titles = [figure.title for figure in content["truth"].figures]
    assert ("Do probabilities keep their word?" in titles) == (result.scale == "probability")
    assert (len(content["items"].explained) == 1) != bool(content["items"].unexplained)
    assert [one.name for one in content["made"].parameters] == list(getattr(type(result.method), "__match_args__", ()))
    assert all(one.meaning for one in content["made"].parameters)
    assert "http" in content["made"].reference


@pytest.mark.parametrize("key", ["bwa", "iwmv"])
def test_a_method_without_probabilities_shows_none(key: str, crowd: Any, tmp_path: Path) -> None:
    cw.report(crowd.labels, CASES[key].method.fit(crowd.labels), crowd.truth, tmp_path / "report.html")
    shown, _, made = (tmp_path / "report.html").read_text(encoding="utf-8").partition('<section id="made">')
    assert made  # what a parameter means may well speak of probabilities
    assert "probab" not in visible(shown).lower()


def test_numbers_are_those_of_the_library(crowd: Any, tmp_path: Path) -> None:
    result = cw.BWA().fit(crowd.labels)
    cw.report(crowd.labels, result, crowd.truth, tmp_path / "report.html")
    text = visible((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert f"{100 * cw.accuracy(result, crowd.truth):.1f}%" in text
    assert f"{crowd.labels.n_labels:,}" in text
    best = result.workers_frame().sort("labels", descending=True).row(0, named=True)
    for shown in (best["worker"], f"{best['quality']:.3f}", f"{best['quality_low']:.3f}", f"{best['agreement']:.1%}"):
        assert shown in text


def test_the_same_data_give_the_same_page(crowd: Any, tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        cw.report(crowd.labels, cw.BWA().fit(crowd.labels), crowd.truth, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([("i0", "w0", "c0")], id="one label"),
        pytest.param([("i0", f"w{j}", "c0" if j else "c1") for j in range(5)], id="one item"),
        pytest.param([(f"i{i}", f"w{j}", "c0") for i in range(3) for j in range(3)], id="one class"),
        pytest.param([(f"i{i}", f"w{j}", f"c{i}") for i in range(50) for j in range(3)], id="fifty classes"),
        pytest.param([(f"i{i}", f"w{i}", f"c{i % 2}") for i in range(30)], id="a worker for every item"),
        pytest.param(
            [(f"i{i}", f"w{j}", f"c{i % 2}") for i in range(40) for j in range(i + 1)], id="one to forty labels an item"
        ),
    ],
)
@pytest.mark.parametrize("key", ["ds", "bwa"])
def test_odd_crowds_have_a_page(rows: Any, key: str) -> None:
    labels = cw.Labels.from_frame(frame(rows))
    content = gathered(labels, CASES[key].method.fit(labels), {"i0": "c0"})
    assert specs(content)
    assert page.render("report.html.j2", content).count("<section") == 6


def test_votes_for_several_classes_have_a_page() -> None:
    rows = [("i0", "w0", "c0"), ("i0", "w0", "c1"), ("i0", "w1", "c0"), ("i1", "w1", "c1"), ("i1", "w0", "c1")]
    labels = cw.Labels.from_frame(frame(rows), duplicates="set")
    assert specs(gathered(labels, cw.BWA().fit(labels), {"i0": "c0"}))


def test_what_was_repaired_and_what_did_not_converge_is_said(tmp_path: Path) -> None:
    rows = frame([("i0", "w0", "c0"), ("i0", "w0", "c0"), ("i0", "w1", "c1"), ("i1", "w0", "c1"), ("i1", "w1", "c1")])
    labels = cw.Labels.from_frame(rows)
    cw.report(labels, cw.BWA(max_iterations=1).fit(labels), path=tmp_path / "report.html", command="crowdwise report x")
    text = visible((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "1 row that repeats an earlier one exactly was dropped." in text
    assert "ran out of iterations after 1 iteration" in text
    assert "crowdwise report x" in text
    assert "Against the truth" not in text


def test_suspects_have_a_reason_in_words() -> None:
    random = np.random.default_rng(1)
    classes = np.array(["a", "b", "c"])
    truth = classes[random.choice(3, 400, p=[0.5, 0.3, 0.2])]
    rows = [
        (f"i{i}", f"good{j}", truth[i] if random.random() < 0.85 else random.choice(classes))
        for i in range(400)
        for j in range(4)
    ]
    rows += [(f"i{i}", "same", "a") for i in range(100)]
    rows += [(f"i{i}", "guesser", random.choice(classes, p=[0.5, 0.3, 0.2])) for i in range(150)]
    rows += [(f"i{i}", "contrary", random.choice(classes[classes != truth[i]])) for i in range(150)]
    rows += [(f"i{i}", "newcomer", truth[i]) for i in range(3)]
    labels = cw.Labels.from_frame(frame(rows))
    for method in (cw.MajorityVote(), cw.BWA(), cw.DawidSkene()):
        found = suspects(habits(labels, method.fit(labels)), labels.names.classes)
        told = {row["worker"]: " ".join(words(row, "a")) for row in found.iter_rows(named=True)}
        assert set(told) == {"same", "guesser", "contrary", "newcomer"}
        assert "Always the same answer: said a all 100 times" in told["same"]
        assert "No better than chance" in told["guesser"]
        assert "Disagrees with everyone" in told["contrary"]
        assert told["newcomer"] == "Very few labels: 3, too few to judge."


def test_large_crowds_are_binned_and_cut_and_say_so(tmp_path: Path) -> None:
    crowd = cw.simulate(3000, 2500, 30, labels_per_item=3, seed=1)
    cw.report(crowd.labels, cw.BWA().fit(crowd.labels), crowd.truth, tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = visible(written)
    workers = crowd.rows["worker"].n_unique()
    assert f"The workers with the most labels: 300 of {workers:,}; {workers - 300:,} are left out here." in text
    assert "The items whose best two classes are closest: 300 of 3,000; 2,700 are left out here." in text
    assert "The charts show the classes with the most answers: 20 of 30; 10 are left out here." in text
    assert "so a cell counts workers" in text
    assert len(written) < 3e6


def test_mistakes_leave_nothing_behind(crowd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = cw.MajorityVote().fit(crowd.labels)
    with pytest.raises(cw.CallError, match=r"end it in \.html"):
        cw.report(crowd.labels, result, path=tmp_path / "report.csv")
    with pytest.raises(cw.CallError, match="There is no folder"):
        cw.report(crowd.labels, result, path=tmp_path / "no" / "report.html")
    with pytest.raises(cw.DataError, match="shares no item"):
        cw.report(crowd.labels, result, {"nobody": "c1"}, tmp_path / "report.html")
    with pytest.raises(cw.CallError, match="These labels are not those of the result: their items differ"):
        cw.report(cw.simulate(99, 20, 3, seed=1).labels, result, path=tmp_path / "report.html")
    monkeypatch.setattr("crowdwise.errors.find_spec", lambda name: None if name == "altair" else name)
    with pytest.raises(cw.CallError, match=r"A report needs altair: pip install 'crowdwise\[report\]'"):
        cw.report(crowd.labels, result, path=tmp_path / "report.html")
    with pytest.raises(cw.CallError, match="A chart needs altair"):
        cw.explain(result, crowd.labels, "i001").chart()
    assert not list(tmp_path.iterdir())


def test_methods_side_by_side_have_a_page(crowd: Any, tmp_path: Path) -> None:
    methods = {key: CASES[key].method for key in ("mv", "bwa")}
    for name, truth in (("with.html", crowd.truth), ("without.html", None)):
        rows = compare(crowd.labels, methods, truth)
        comparison_page(crowd.labels, rows, tmp_path / name, "crowdwise compare x")
        text = visible((tmp_path / name).read_text(encoding="utf-8"))
        assert "crowdwise compare x" in text
        assert "bwa" in text
        assert ("Best first. Lines are 95% intervals" in text) == (truth is not None)


@pytest.mark.data
def test_every_real_crowd_has_a_page(data: Path, tmp_path: Path) -> None:
    folders = sorted(path for path in (data / "paper").iterdir() if (path / "label.csv").is_file())
    assert len(folders) >= 18
    for folder in folders:
        labels = cw.read_labels(folder / "label.csv", duplicates="set")
        target = tmp_path / f"{folder.name}.html"
        cw.report(labels, cw.BWA().fit(labels), folder / "truth.csv", target)
        assert target.stat().st_size < 4e6
