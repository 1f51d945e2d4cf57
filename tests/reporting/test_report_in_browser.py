"""Tests of the report in a real browser, with hostile names: drawing, network, sorting, colours, printing."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis.comparison import compare
from crowdwise.reporting import comparison_page

HOSTILE = "</script><script>window.broken=1</script>"
IMAGE = '"><img src=x onerror=window.broken=1>'
CLASSES = ["<b>bold</b>", IMAGE, "{{ 7 * 7 }}"]


def crowd() -> tuple[cw.Labels, pl.DataFrame]:
    simulated = cw.simulate(120, 14, 3, accuracy=0.6, labels_per_item=4.5, seed=4)
    classes = dict(zip(["c1", "c2", "c3"], CLASSES, strict=True))
    workers = {"w01": HOSTILE, "w02": IMAGE, "w03": "datum.x + 1", "w04": "line\\nbreak \\"}
    items = {"i001": HOSTILE, "i002": "javascript:window.broken=1"}
    rows = simulated.rows.with_columns(
        pl.col("label").replace(classes), pl.col("worker").replace(workers), pl.col("item").replace(items)
    )
    truth = simulated.truth.with_columns(pl.col("truth").replace(classes), pl.col("item").replace(items))
    return cw.Labels.from_frame(rows), truth


@dataclass
class Opened:
    """An open page in the browser.

    Attributes:
        page: The page.
        complaints: The messages in its console and its errors.
        requests: The addresses that it loaded.
    """

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    labels, truth = crowd()
    target = tmp_path_factory.mktemp("report") / "report.html"
    cw.report(
        cw.DawidSkene().fit(labels),
        labels,
        truth,
        target,
        command=f"crowdwise report {HOSTILE}",
        texts=dict.fromkeys(labels.names.items, HOSTILE + IMAGE),
    )
    return target


def opened(browser: Any, path: Path, scheme: str = "light", width: int = 1200) -> Opened:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    seen = Opened(page)
    page.on("console", lambda message: seen.complaints.append(message.text))
    page.on("pageerror", lambda problem: seen.complaints.append(str(problem)))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function("() => [...document.querySelectorAll('.chart')].every(place => place.querySelector('svg'))")
    return seen


@pytest.fixture(scope="module", params=["light", "dark"])
def light(request: pytest.FixtureRequest, browser: Any, path: Path) -> Iterator[Opened]:
    seen = opened(browser, path, request.param)
    yield seen
    seen.page.close()


def test_charts_are_drawn_and_nothing_is_loaded_or_said(light: Opened, path: Path) -> None:
    marks = light.page.evaluate(
        "[...document.querySelectorAll('.chart')].map(place => "
        "place.querySelectorAll('svg .mark-rect path, svg .mark-symbol path, svg .mark-rule line').length)"
    )
    assert len(marks) == 14
    assert min(marks) > 0
    assert light.complaints == []
    assert light.requests == [path.as_uri()]


def test_hostile_names_stay_text(light: Opened) -> None:
    page = light.page
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.querySelectorAll('img, b, main script:not([type])').length") == 0
    shown = page.inner_text("body")
    for name in (HOSTILE, *CLASSES):
        assert name in shown
    assert "49" not in page.inner_text("#classes th, #classes td:first-child")
    # The names are plain text in the charts too.
    assert any(name in text for text in page.locator("#classes svg text").all_text_contents() for name in CLASSES)


def test_names_in_tooltips_are_text(light: Opened) -> None:
    page = light.page
    points = page.locator("#workers .chart").first.locator(".mark-symbol path")
    labels = points.evaluate_all("points => points.map(point => point.getAttribute('aria-label'))")
    place = next(at for at, label in enumerate(labels) if IMAGE in label)
    points.nth(place).scroll_into_view_if_needed()
    box = points.nth(place).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert IMAGE in page.inner_text("#vg-tooltip-element")
    assert page.evaluate("window.broken") is None


@pytest.mark.slow
def test_colours_follow_the_scheme(browser: Any, path: Path) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        page = opened(browser, path, scheme).page
        seen[scheme] = page.evaluate(
            "['body', '#items .chart svg .mark-rect path', '#items .chart svg .mark-text text'].map((place, at) => "
            "getComputedStyle(document.querySelector(place))[at ? 'fill' : 'backgroundColor'])"
        )
        page.emulate_media(media="print")
        seen[scheme + " on paper"] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert not page.locator("nav").is_visible()
        page.close()
    assert all(one != other for one, other in zip(seen["light"], seen["dark"], strict=True))
    assert seen["light on paper"] == seen["dark on paper"] == "rgb(255, 255, 255)"


def test_tables_sort_and_search_by_keyboard(light: Opened) -> None:
    page = light.page
    table = page.locator("#workers [data-table]").last
    button = table.locator("th button", has_text="Labels")
    column = "rows => rows.map(row => Number(row.cells[1].dataset.value))"
    button.focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    for direction in ("descending", "ascending"):
        page.keyboard.press("Enter")
        assert button.locator("..").get_attribute("aria-sort") == direction
        values = table.locator("tbody tr").evaluate_all(column)
        assert values == sorted(values, reverse=direction == "descending")
        assert len(set(values)) > 3
    field_of_search = table.locator("input")
    field_of_search.focus()
    page.keyboard.type("<IMG")
    rows = table.locator("tbody tr:visible")
    assert [rows.nth(at).locator("td").first.inner_text() for at in range(rows.count())] == [IMAGE]
    assert "1 of" in table.locator("[data-found]").inner_text()
    field_of_search.fill("")
    assert table.locator("tbody tr:visible").count() == len(values)


def test_a_phone_shows_it_without_scrolling_sideways(browser: Any, path: Path) -> None:
    seen = opened(browser, path, width=360)
    widths = seen.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths == [360, 360]
    charts = seen.page.evaluate(
        "[...document.querySelectorAll('.chart svg')].map(e => e.getBoundingClientRect().right)"
    )
    assert max(charts) <= 360
    narrow = "[...document.querySelectorAll('td.sentences')].map(e => e.getBoundingClientRect().width)"
    assert min(seen.page.evaluate(narrow)) > 250  # reasons in words can be read
    assert seen.complaints == []
    seen.page.close()


def test_long_names_and_commands_fit_on_a_phone(browser: Any, tmp_path: Path) -> None:
    crowd = cw.simulate(100, 12, 2, accuracy=0.65, seed=3)
    name = "a_long_name_of_a_file_with_the_labels_of_november_2026_final.csv"
    page = tmp_path / "report.html"
    cw.report(cw.aggregate(crowd.labels), crowd.labels, path=page, name=name, source=f"{name} --item-column item")
    seen = opened(browser, page, width=390)
    assert f"crowdwise review {name} --item-column item" in seen.page.locator(".verdict").inner_text()
    assert seen.page.evaluate("document.documentElement.scrollWidth") == 390
    seen.page.close()


def test_no_column_of_precision_and_recall_is_cut_off(browser: Any, path: Path) -> None:
    seen = opened(browser, path, width=1280)
    place = seen.page.locator("#truth .columns .scroll").first
    assert place.evaluate("e => e.scrollWidth <= e.clientWidth")
    seen.page.close()


def test_sections_stay_in_reach_and_wide_tables_say_so(browser: Any, path: Path) -> None:
    seen = opened(browser, path, width=390)
    page = seen.page
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    page.locator("nav a", has_text="Items").click()
    page.wait_for_function("() => document.querySelector('nav a[aria-current]')?.textContent == 'Items'")
    assert page.locator("nav").bounding_box()["y"] == 0
    place = page.locator("#items [data-table]").last
    assert place.locator(".swipe").is_visible()
    place.locator(".scroll").evaluate("e => { e.scrollLeft = e.scrollWidth }")
    place.locator(".swipe").wait_for(state="hidden")
    seen.page.close()


def test_the_list_to_review_is_saved(browser: Any, path: Path) -> None:
    seen = opened(browser, path)
    with seen.page.expect_download() as waiting:
        seen.page.locator("a.download").click()
    saved = pl.read_csv(waiting.value.path())
    assert waiting.value.suggested_filename == "review.csv"
    assert saved.columns == ["item", "text", "label", "confidence", "majority", "votes", "reason"]
    assert saved.height > 5
    assert set(saved["label"]) <= set(CLASSES)
    assert set(saved["text"]) == {HOSTILE + IMAGE}
    assert seen.complaints == []
    seen.page.close()


@pytest.mark.slow
def test_it_prints(browser: Any, path: Path) -> None:
    page = opened(browser, path).page
    assert len(page.pdf()) > 50_000
    page.close()


def test_the_comparison_is_drawn(browser: Any, tmp_path: Path) -> None:
    labels, truth = crowd()
    rows = compare(labels, {"mv": cw.MajorityVote(), "bwa": cw.BWA(), "ds": cw.DawidSkene()}, truth)
    comparison_page(labels, rows, tmp_path / "compare.html", "crowdwise compare")
    seen = opened(browser, tmp_path / "compare.html")
    assert [seen.page.locator(".chart").nth(at).locator(".mark-symbol path").count() for at in range(2)] == [3, 3]
    assert seen.complaints == []
    assert seen.requests == [(tmp_path / "compare.html").as_uri()]
    seen.page.close()


@pytest.mark.slow
def test_a_large_page_sorts_at_once(browser: Any, tmp_path: Path) -> None:
    large = cw.simulate(20_000, 3_000, 12, labels_per_item=3, seed=1)
    cw.report(cw.BWA().fit(large.labels), large.labels, large.truth, tmp_path / "large.html")
    seen = opened(browser, tmp_path / "large.html")
    table = seen.page.locator("#workers [data-table]").last
    table.locator("th button", has_text="Quality").click()
    values = np.array(table.locator("tbody tr").evaluate_all("rows => rows.map(row => +row.cells[2].dataset.value)"))
    assert len(values) == 300
    assert (np.diff(values) <= 0).all()
    # A page with few elements scrolls smoothly; their number must not grow with the crowd.
    assert seen.page.evaluate("document.querySelectorAll('*').length") < 20_000
    assert seen.complaints == []
    seen.page.close()
