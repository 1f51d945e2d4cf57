"""Tests of the text of the report: its sections, its reasons, and what it leaves out."""

import html
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis import charts
from crowdwise.analysis.comparison import compare
from crowdwise.analysis.unusual_workers import unusual_workers
from crowdwise.fitting.parameters import parameters_of
from crowdwise.reporting import blocks, comparison_page, numeric_sections, sections
from crowdwise.reporting.numeric_data import NumericReportData
from crowdwise.reporting.rendering import render
from crowdwise.reporting.report_data import ReportData
from crowdwise.reporting.report_page import gather, report_text
from crowdwise.testing import table
from tests.analysis.test_deciders import panel
from tests.support.cases import CASES, EVERY, each_method, each_method_few_in_a_hurry

Kind = TypeVar("Kind", bound=blocks.Block)


def about(result: cw.Result, labels: cw.Labels, truth: Any = None) -> ReportData:
    return ReportData(result, labels, None if truth is None else cw.read_truth(truth), "the command")


def found(kind: type[Kind], shown: blocks.Blocks) -> list[Kind]:
    """Return all blocks of a kind, also those inside other blocks."""
    here = [block for block in shown if isinstance(block, kind)]
    inside = [block.blocks for block in shown if isinstance(block, blocks.SideBySide | blocks.Stack)]
    return here + [block for inner in inside for block in found(kind, inner)]


def specs(gathered: list[blocks.Section]) -> list[dict[str, Any]]:
    """Return the specification of every chart; Altair validates it when it is made."""
    return [figure.spec for section in gathered for figure in found(blocks.Figure, section.blocks)]


def visible(text: str) -> str:
    """Return the text of a page and the data of its charts, without its scripts and styles."""
    without = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", without))


@pytest.fixture(scope="module")
def crowd() -> Any:
    return cw.simulate(300, 20, 3, labels_per_item=4.5, accuracy=0.6, seed=1)


@pytest.fixture(autouse=True)
def one_waterfall(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explain one item instead of six, because the explanations take most of the time."""
    monkeypatch.setattr("crowdwise.reporting.sections.items._MAX_EXPLAINED", 1)


@each_method_few_in_a_hurry
def test_every_method_makes_every_section(key: str, crowd: Any) -> None:
    if EVERY[key].limits().most_classes is not None:
        crowd = cw.simulate(300, 20, EVERY[key].limits().most_classes, labels_per_item=4.5, accuracy=0.6, seed=1)
    result = EVERY[key].fit(crowd.labels)
    gathered = gather(about(result, crowd.labels, crowd.truth))
    assert all(spec for spec in specs(gathered))
    shown = {section.id: section.blocks for section in gathered}
    assert list(shown) == ["summary", "glance", "classes", "workers", "items", "truth", "made"]
    titles = [figure.title for figure in found(blocks.Figure, shown["truth"])]
    assert "Is confidence right?" in titles
    explained = [figure for figure in found(blocks.Figure, shown["items"]) if figure.title.startswith("Item ")]
    refusals = [one for one in found(blocks.Paragraph, shown["items"]) if one.style == "note"]
    assert len(explained) + len(refusals) == 1
    weighed = "How much a worker's vote weighs" in [one.title for one in found(blocks.Figure, shown["workers"])]
    assert weighed == (result.workers.trust() is not None)
    columns = found(blocks.Table, shown["classes"])[0].columns
    assert ("#Prior" in columns) == (result.workers.class_prior is not None)


@each_method
def test_the_method_tells_what_it_is(key: str, crowd: Any) -> None:
    method: Any = EVERY[key]
    result = replace(cw.MajorityVote().fit(crowd.labels), method=method)
    shown = sections.provenance.gather(about(result, crowd.labels))
    texts = [paragraph.text for paragraph in found(blocks.Paragraph, shown)]
    assert texts[:2] == [method.summary, f"{method.paper}."]
    rows = [row for table in found(blocks.Parameters, shown) for row in table.rows]
    assert [(row.name, row.value) for row in rows] == [(name, str(getattr(method, name))) for name in vars(method)]
    kind: Any = type(method)
    assert [row.meaning for row in rows] == [one.meaning for one in parameters_of(kind).values()]
    assert all(row.meaning for row in rows)
    assert [code.text for code in found(blocks.Code, shown)] == ["the command"]


def test_a_section_is_a_function_and_a_row(crowd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def toy(data: ReportData) -> list[blocks.Block]:
        return [blocks.Paragraph(f"There are {data.labels.n_items} items & <b>toys</b>.")]

    rows = [
        sections.SectionRow("toy", "Toys", "About toys", toy),
        sections.SectionRow("nothing", "Nothing", "About nothing", lambda data: None),
    ]
    monkeypatch.setattr(sections, "SECTIONS", (*sections.SECTIONS, *rows))
    cw.report(cw.MajorityVote().fit(crowd.labels), crowd.labels, path=tmp_path / "report.html")
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    navigation = re.findall(r'<a href="#(\w+)">(.*?)</a>', written.partition("<nav")[2].partition("</nav>")[0])
    assert [name for name, _ in navigation] == ["summary", "glance", "classes", "workers", "items", "made", "toy"]
    assert navigation[-1] == ("toy", "Toys")
    assert re.findall(r'<section id="(\w+)">', written) == [name for name, _ in navigation]
    section = written.partition('<section id="toy">')[2].partition("</section>")[0]
    assert " ".join(visible(section).split()) == "About toys There are 300 items & <b>toys</b>."


def test_every_kind_of_block_is_drawn_and_escaped() -> None:
    text = "<i>&"
    cell = blocks.Cell("", picture=blocks.HeatMap(1, [(1, text)], text))
    simple: list[blocks.Block] = [
        blocks.Heading(text),
        blocks.Paragraph([text, blocks.Keyword(text)], "warning"),
        blocks.Paragraph(text, links=True),
        blocks.Bullets([text]),
        blocks.Code(text),
        blocks.Verdict("ship", text, [text]),
        blocks.Download(text, text, '"><script>'),
        blocks.Tiles([blocks.Tile(text, text, text)]),
        blocks.Figure(text, charts.bars(pl.DataFrame({"value": [text], "count": [1]}), text, text, charts.PAGE), text),
        blocks.Table(text, [text], [[blocks.Cell(text)], [cell]], text),
        blocks.Parameters([blocks.ParameterRow(text, text, text)]),
    ]
    shown = [blocks.SideBySide([blocks.Stack(simple)])]
    assert {type(block) for block in found(blocks.Block, shown)} == set(blocks.Block.__subclasses__())
    written = render(text, text, text, [blocks.Section("all", text, shown, text)])
    drawn = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", written, flags=re.DOTALL)
    assert text not in drawn
    assert drawn.count(html.escape(text)) == 31


def test_a_paragraph_links_addresses_only_where_told() -> None:
    address = "https://example.org/paper"
    shown = [blocks.Paragraph(address), blocks.Paragraph(address, links=True)]
    assert render("", "", "", [blocks.Section("one", "", shown)]).count(f'<a href="{address}"') == 1


@pytest.mark.parametrize(("key", "sources"), [("ds", 2), ("bwa", 2), ("iwmv", 1), ("adjudicator", 1)])
def test_reliability_is_drawn_of_confidence_and_scores_but_not_of_margins(key: str, sources: int, crowd: Any) -> None:
    result = CASES[key].fit(crowd.labels)
    shown = {section.id: section.blocks for section in gather(about(result, crowd.labels, crowd.truth))}
    reliability = next(one for one in found(blocks.Figure, shown["truth"]) if one.title.startswith("Is confidence"))
    drawn = [row for rows in reliability.chart.to_dict()["datasets"].values() for row in rows if "source" in row]
    assert {row["source"] for row in drawn} == set(["confidence", "score"][:sources])
    assert sum(row["items"] for row in drawn) == sources * 300
    sure = sum(row["sure"] * row["items"] for row in drawn if row["source"] == "confidence") / 300
    right = sum(row["accuracy"] * row["items"] for row in drawn if row["source"] == "confidence") / 300
    assert sure - right == pytest.approx(cw.overconfidence(result, crowd.truth))
    assert f"log loss {cw.log_loss(result, crowd.truth):.3f}" in reliability.caption


def test_the_page_says_the_expected_accuracy_and_why_not_to_trust_it(tmp_path: Path) -> None:
    labels = cw.simulate(30, 6, 2, seed=1).labels
    result = cw.BWA().fit(labels)
    cw.report(result, labels, None, tmp_path / "report.html")
    text = visible((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Expected accuracy" in text
    assert f"{100 * result.expected_accuracy.value:.1f}%" in text
    assert "Confidence is rough: there are 30 items" in text


def test_the_summary_says_who_decides_and_who_spams(tmp_path: Path) -> None:
    crowd = cw.simulate(300, 12, 3, accuracy=0.8, seed=1)
    spam = crowd.truth.head(200).select("item", worker=pl.lit("spammer"), label=pl.lit("c2"))
    labels = cw.Labels.from_frame(pl.concat([crowd.rows, spam]))
    shown = gather(about(cw.BWA().fit(labels), labels, None))
    (bullets,) = found(blocks.Bullets, shown[0].blocks)
    told = " ".join(map(str, bullets.sentences))
    assert len(bullets.sentences) == 2
    assert "worker spammer. Nearly always the same answer: said 'c2' 200 of 200 times" in told
    rows, _ = panel([0.8] * 3, 1000, 1)
    labels = cw.Labels.from_frame(rows)
    cw.report(cw.BWA().fit(labels), labels, None, tmp_path / "report.html")
    text = visible((tmp_path / "report.html").read_text(encoding="utf-8"))
    said = "The answers follow worker w1 nearly always"
    assert text.count(said) == 1
    assert text.index(said) < text.index("The crowd at a glance")


@pytest.mark.parametrize(
    ("accuracy", "items", "truth", "what"),
    [(0.97, 400, False, "ship"), (0.6, 400, False, "gold"), (0.97, 400, True, "ship"), (0.6, 400, True, "review")],
)
def test_the_verdict_is_first_and_has_numbers(accuracy: float, items: int, truth: bool, what: str) -> None:
    crowd = cw.simulate(items, 20, 3, labels_per_item=7, accuracy=accuracy, seed=1)
    data = about(cw.Adjudicator().fit(crowd.labels), crowd.labels, crowd.truth if truth else None)
    verdict = gather(data)[0].blocks[0]
    assert isinstance(verdict, blocks.Verdict)
    assert verdict.what == what
    measured = f"Of {items} items with known truth, {cw.accuracy(data.result, crowd.truth):.1%} are right"
    assert (measured in verdict.sentences[0]) == truth
    assert ("confidence said" in verdict.sentences[0]) == truth
    if not truth:
        assert f"About {data.result.expected_accuracy.value:.0%} of the answers" in verdict.sentences[0]


def test_a_worse_measurement_than_expected_is_no_reason_to_ship() -> None:
    """Workers who err together look sure: the truth has the last word."""
    random = np.random.default_rng(1)
    truth = random.integers(2, size=300)
    wrong = random.random(300) < 0.3
    rows = [(f"i{i}", f"w{j}", "ab"[truth[i] ^ wrong[i]]) for i in range(300) for j in range(3)]
    labels = cw.Labels.from_frame(table(rows))
    known = {f"i{i}": "ab"[k] for i, k in enumerate(truth)}
    verdict: Any = gather(about(cw.BWA().fit(labels), labels, known))[0].blocks[0]
    assert verdict.what == "review"
    assert "points too high" in verdict.sentences[0]


def test_the_heading_names_the_data_and_the_date(crowd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = cw.MajorityVote().fit(crowd.labels)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    for path in ("1.html", "2.html"):
        cw.report(result, crowd.labels, path=tmp_path / path, title="Reviews & stars", name="<b>votes.csv")
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()
    written = (tmp_path / "1.html").read_text(encoding="utf-8")
    assert "<title>Reviews &amp; stars · MajorityVote</title>" in written
    assert "<h1>Reviews &amp; stars</h1>" in written
    assert '<p class="lead">&lt;b&gt;votes.csv, 1 January 1970. 20 workers, 300 items. Labels inferred by' in written
    cw.report(result, crowd.labels, path=tmp_path / "3.html", date=date(2027, 2, 3))
    assert '<p class="lead">3 February 2027. 20 workers' in (tmp_path / "3.html").read_text(encoding="utf-8")


def test_few_workers_are_drawn_by_name() -> None:
    crowd = cw.simulate(100, 5, 3, labels_per_item=3, seed=1)
    shown = {one.id: one.blocks for one in gather(about(cw.BWA().fit(crowd.labels), crowd.labels))}
    titles = [one.title for one in found(blocks.Figure, shown["workers"])]
    assert titles[0] == "Quality of each worker"
    assert "How much a worker's vote weighs" not in titles


def test_judges_of_unknown_classes_do_not_repeat_the_quality_of_workers() -> None:
    crowd = cw.simulate(100, 5, 2, labels_per_item=5, seed=1)
    result = cw.BWA().fit(crowd.labels)
    for truth, repeated in ((None, False), (crowd.truth, True)):
        shown = {one.id: one.blocks for one in gather(about(result, crowd.labels, truth))}
        judges = next(one for one in found(blocks.Table, shown["judges"]) if one.label == "judges")
        assert ("#Right" in judges.columns) == repeated


def test_the_verdict_about_numbers_says_how_far_off_values_are() -> None:
    crowd = cw.simulate_numbers(100, 12, seed=1)
    result = cw.NumericRobust().fit(crowd.numbers)
    half = f"{np.median(result.high - result.values):.4g}"

    def verdict(truth: Any) -> Any:
        known = None if truth is None else cw.read_truth(truth)
        return numeric_sections.summary.gather(NumericReportData(result, crowd.numbers, known, "the command"))[0]

    assert verdict(None).what == "review"
    assert half in verdict(None).title
    assert verdict(crowd.truth).what == "ship"
    far = crowd.truth.with_columns(pl.col("truth") + 1e6)
    assert verdict(far).what == "review"
    assert "0% of the 95% intervals hold" in verdict(far).sentences[0]


def test_the_list_to_review_can_be_saved(crowd: Any) -> None:
    result = cw.BWA().fit(crowd.labels)
    shown = {section.id: section.blocks for section in gather(about(result, crowd.labels))}
    (download,) = found(blocks.Download, shown["items"])
    head, _, content = download.address.partition(",")
    assert head == "data:text/csv;charset=utf-8"
    assert re.fullmatch(r"[\w.~%-]+", content)
    saved = pl.read_csv(unquote(content).encode(), schema_overrides={"item": pl.String})
    listed = cw.review_list(result, crowd.labels)
    assert saved.drop("confidence").equals(listed.drop("confidence"))
    assert download.label == f"Save the list ({listed.height} items, CSV)"


def test_a_column_that_repeats_another_is_left_out(crowd: Any) -> None:
    for method, repeats in ((cw.IBCC(), True), (cw.DawidSkene(), False)):
        result = method.fit(crowd.labels)
        same = [f"{one:.3f}" for one in result.confidence] == [f"{one:.3f}" for one in result.best_scores]
        shown = {section.id: section.blocks for section in gather(about(result, crowd.labels))}
        disputed = next(one for one in found(blocks.Table, shown["items"]) if one.label == "disputed items")
        assert ("#Score" in disputed.columns) == (not same), repeats
        assert all(len(row) == len(disputed.columns) for row in disputed.rows)


def test_many_workers_are_drawn_as_bands(tmp_path: Path) -> None:
    crowd = cw.simulate(900, 300, 3, labels_per_item=5, seed=1)
    shown = {one.id: one.blocks for one in gather(about(cw.MajorityVote().fit(crowd.labels), crowd.labels))}
    figure = found(blocks.Figure, shown["workers"])[0]
    assert "half of the workers with about so many labels are in the dark band" in figure.caption
    spec = figure.spec
    (bands,) = [rows for rows in spec["datasets"].values() if "q50" in rows[0]]
    assert sum(band["len"] for band in bands) == crowd.rows["worker"].n_unique()
    for band in bands:
        assert band["labels_from"] < band["labels_to"]
        assert band["q5"] <= band["q25"] <= band["q50"] <= band["q75"] <= band["q95"]
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "rect", "rule", "circle"]
    # Everybody has as many labels as everybody else: one band.
    same = cw.Labels.from_frame(
        table([(f"i{i}", f"w{j}", "ab"[(i + j) % 3 == 0]) for i in range(9) for j in range(130)])
    )
    figure = found(blocks.Figure, sections.workers.gather(about(cw.MajorityVote().fit(same), same)))[0]
    assert [len(rows) for rows in figure.spec["datasets"].values() if "q50" in rows[0]] == [1]


def test_workers_worth_a_look_have_a_matrix(crowd: Any) -> None:
    spam = crowd.truth.head(200).select("item", worker=pl.lit("spammer"), label=pl.lit("c2"))
    labels = cw.Labels.from_frame(pl.concat([crowd.rows, spam]))
    shown = sections.workers.gather(about(cw.BWA().fit(labels), labels))
    figure = next(one for one in found(blocks.Figure, shown) if one.title == "Worker spammer: 200 labels")
    (cells,) = figure.spec["datasets"].values()
    assert {cell["row"] for cell in cells} == {"c1", "c2", "c3"}
    assert sum(cell["count"] for cell in cells) == 200
    assert all(cell["share"] == (cell["column"] == "c2") for cell in cells)


def test_the_command_shows_what_items_say(tmp_path: Path, run: Any) -> None:
    crowd = cw.simulate(60, 6, 2, labels_per_item=4, accuracy=0.7, seed=1)
    page = tmp_path / "page.html"
    crowd.rows.with_columns(
        pl.format("batch {}", pl.col("item").str.slice(1, 1)).alias("batch"),
        pl.format('Guest {} wrote, <b>"fine"', pl.col("item")).alias("comment"),
        pl.col("worker").alias("said by"),
    ).write_csv(tmp_path / "votes.csv")
    crowd.truth.write_csv(tmp_path / "truth.csv")
    command = ("report", tmp_path / "votes.csv", "--truth", tmp_path / "truth.csv", "-o", page, "-m", "one_coin")
    assert run(*command, "--title", "Hotels").returncode == 0
    written = page.read_text(encoding="utf-8")
    assert "<h1>Hotels</h1>" in written
    assert '<p class="lead">votes.csv, ' in written
    for section in ("items", "truth"):
        shown = visible(written.partition(f'<section id="{section}">')[2].partition("</section>")[0])
        assert 'wrote, <b>"fine"' in shown
        assert "batch" not in shown
    content = unquote(re.findall(r'href="data:text/csv;charset=utf-8,([^"]+)"', written)[0])
    saved = pl.read_csv(content.encode())
    assert saved.columns[:2] == ["item", "text"]
    assert saved["text"][0] == f'Guest {saved["item"][0]} wrote, <b>"fine"'
    # Numbers, too; and a stream is read once, so that there is no text.
    crowd.rows.with_columns(
        label=pl.col("worker").str.slice(1).cast(pl.Int64), say=pl.lit("a ") + pl.col("item")
    ).write_csv(tmp_path / "numbers.csv")
    assert run("report", tmp_path / "numbers.csv", "--numeric", "-o", page, "--title", "N").returncode == 0
    assert '<td class="text">a i' in page.read_text(encoding="utf-8")


def test_reasons_are_whole(crowd: Any) -> None:
    spam = crowd.truth.head(200).select("item", worker=pl.lit("spammer"), label=pl.lit("c2"))
    labels = cw.Labels.from_frame(pl.concat([crowd.rows, spam]))
    text = visible(report_text(about(cw.BWA().fit(labels), labels, None)))
    assert "other workers do that" in text.split("Worth a look")[1]


def test_numbers_are_those_of_the_library(crowd: Any, tmp_path: Path) -> None:
    result = cw.BWA().fit(crowd.labels)
    cw.report(result, crowd.labels, crowd.truth, tmp_path / "report.html")
    text = visible((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert f"{100 * cw.accuracy(result, crowd.truth):.1f}%" in text
    assert f"{crowd.labels.n_labels:,}" in text
    best = result.workers_frame().sort("labels", descending=True).row(0, named=True)
    for shown in (best["worker"], f"{best['quality']:.3f}", f"{best['quality_low']:.3f}", f"{best['agreement']:.1%}"):
        assert shown in text


def test_the_same_data_give_the_same_page(crowd: Any, tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        cw.report(cw.BWA().fit(crowd.labels), crowd.labels, crowd.truth, tmp_path / name)
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
    labels = cw.Labels.from_frame(table(rows))
    data = about(CASES[key].fit(labels), labels, {"i0": "c0"})
    assert specs(gather(data))
    # Fifty items that each of three workers labelled are those of a panel of judges, which has a section.
    assert report_text(data).count("<section") == (8 if labels.n_items == 50 else 7)


def test_votes_for_several_classes_have_a_page() -> None:
    rows = [("i0", "w0", "c0"), ("i0", "w0", "c1"), ("i0", "w1", "c0"), ("i1", "w1", "c1"), ("i1", "w0", "c1")]
    labels = cw.Labels.from_frame(table(rows), duplicates="set")
    assert specs(gather(about(cw.BWA().fit(labels), labels, {"i0": "c0"})))


def test_what_was_repaired_and_what_did_not_converge_is_said(tmp_path: Path) -> None:
    rows = table([("i0", "w0", "c0"), ("i0", "w0", "c0"), ("i0", "w1", "c1"), ("i1", "w0", "c1"), ("i1", "w1", "c1")])
    labels = cw.Labels.from_frame(rows)
    cw.report(cw.BWA(max_iterations=1).fit(labels), labels, path=tmp_path / "report.html", command="crowdwise report x")
    text = visible((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "1 row that repeats an earlier one exactly was dropped." in text
    assert "ran out of iterations after 1 iteration" in text
    assert "crowdwise report x" in text
    assert "Against the truth" not in text


def test_unusual_workers_have_a_reason_in_words() -> None:
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
    labels = cw.Labels.from_frame(table(rows))
    for method in (cw.MajorityVote(), cw.BWA(), cw.DawidSkene()):
        told = dict(unusual_workers(method.fit(labels), labels).rows())
        assert set(told) == {"same", "guesser", "contrary", "newcomer"}
        assert "Nearly always the same answer: said 'a' 100 of 100 times" in told["same"]
        assert "No better than chance" in told["guesser"]
        assert "Disagrees with everyone" in told["contrary"]
        assert told["newcomer"] == "Very few labels: 3, too few to judge."


def test_a_reason_quotes_the_interval_of_the_table_of_workers() -> None:
    random = np.random.default_rng(1)
    rows = [(f"i{i}", f"good{j}", "ab"[(i + (random.random() > 0.8)) % 2]) for i in range(200) for j in range(5)]
    rows += [(f"i{i}", "guesser", "ab"[i // 2 % 2]) for i in range(200)]
    labels = cw.Labels.from_frame(table(rows))
    for method in (cw.Adjudicator(), cw.BWA(), cw.MajorityVote()):
        result = method.fit(labels)
        (reason,) = unusual_workers(result, labels).filter(pl.col("worker") == "guesser")["reasons"]
        table_row = result.workers_frame().row(by_predicate=pl.col("worker") == "guesser", named=True)
        quality, low, high = (table_row[name] for name in ("quality", "quality_low", "quality_high"))
        ends = "" if low is None else f" ({low:.0%} to {high:.0%})"
        assert f"right about {quality:.0%} of the time{ends}; guessing would give" in reason


def test_large_crowds_are_binned_and_cut_and_say_so(tmp_path: Path) -> None:
    crowd = cw.simulate(3000, 2500, 30, labels_per_item=3, seed=1)
    cw.report(cw.BWA().fit(crowd.labels), crowd.labels, crowd.truth, tmp_path / "report.html")
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
        cw.report(result, crowd.labels, path=tmp_path / "report.csv")
    with pytest.raises(cw.CallError, match="There is no folder"):
        cw.report(result, crowd.labels, path=tmp_path / "no" / "report.html")
    with pytest.raises(cw.DataError, match="shares no item"):
        cw.report(result, crowd.labels, {"nobody": "c1"}, tmp_path / "report.html")
    with pytest.raises(cw.CallError, match="These labels are not those of the result: their items differ"):
        cw.report(result, cw.simulate(99, 20, 3, seed=1).labels, path=tmp_path / "report.html")
    monkeypatch.setattr("crowdwise.errors.find_spec", lambda name: None if name == "altair" else name)
    with pytest.raises(cw.CallError, match=r"A report needs altair: pip install 'crowdwise\[report\]'"):
        cw.report(result, crowd.labels, path=tmp_path / "report.html")
    with pytest.raises(cw.CallError, match="A chart needs altair"):
        cw.explain(result, crowd.labels, "i001").chart()
    assert not list(tmp_path.iterdir())


def test_methods_side_by_side_have_a_page(crowd: Any, tmp_path: Path) -> None:
    methods = {key: CASES[key] for key in ("mv", "bwa")}
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
        cw.report(cw.BWA().fit(labels), labels, folder / "truth.csv", target)
        assert target.stat().st_size < 4e6
