"""Tests of the page of `crowdwise review` in a real browser, by keyboard: a real server, and a real Chromium."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from tests.support.review_server import ReviewProcess, rows_of

HOSTILE = "</script><script>window.broken=1</script>"
IMAGE = '"><img src=x onerror=window.broken=1>'
LONG = "x" * 10_000


@pytest.fixture(scope="module")
def simulated() -> Any:
    return cw.simulate(120, 12, 3, accuracy=0.7, labels_per_item=5, seed=3)


@pytest.fixture
def labels(tmp_path: Path, simulated: Any) -> Path:
    path = tmp_path / "labels.csv"
    text = pl.concat_str(pl.lit("What is "), pl.col("item"), pl.lit("?\nA second line."))
    simulated.rows.with_columns(text.alias("text")).write_csv(path)
    return path


class Page:
    """A tab of the browser with the page in it; waits until a view is drawn."""

    def __init__(self, browser: Any, server: ReviewProcess, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        self.page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on(
            "request",
            lambda asked: None if asked.url.startswith((server.origin, "data:")) else self.outside.append(asked.url),
        )
        self.page.goto(server.address)
        if "token" in server.address:
            self.wait("start")

    def wait(self, *views: str) -> None:
        self.page.wait_for_function("(views) => views.includes(document.body.dataset.view)", arg=list(views))

    def view(self) -> str:
        return str(self.page.evaluate("document.body.dataset.view"))

    def text(self, name: str) -> str:
        return str(self.page.locator(f"#{name}").inner_text())

    def press(self, key: str, *views: str) -> None:
        """Press a key once; the page shows one of these views then, and takes the next key."""
        assert self.view() not in views
        self.page.keyboard.press(key)
        self.wait(*views)

    def begin(self) -> None:
        self.press("Enter", "item")

    def close(self) -> None:
        assert self.complaints == []
        assert self.outside == []
        self.context.close()


@pytest.fixture
def server(labels: Path) -> Iterator[ReviewProcess]:
    with ReviewProcess.start(labels, "--reviewer", "anna") as started:
        yield started


def test_an_expert_decides_by_keyboard_alone(browser: Any, server: ReviewProcess, labels: Path, simulated: Any) -> None:
    truth = dict(simulated.truth.rows())
    page = Page(browser, server)
    assert "30 random items measure how often the answers are right" in page.text("plan-sentence")
    page.begin()
    for number in range(40):
        name = page.text("item-heading")
        assert f"What is {name}?" in page.text("fields")
        assert "voted" not in page.page.locator("main").inner_text()  # nothing of the crowd is shown before
        assert page.page.locator("#reveal").is_hidden()
        page.press(truth[name][1], "reveal")
        assert page.text("reveal-heading").endswith(truth[name])
        assert page.page.locator("#reveal-votes tr").count() == 5
        page.press("Space", "item") if number < 39 else page.press("u", "item")
    rows = rows_of(labels.with_name("labels.decisions.csv"))
    assert [row["truth"] for row in rows[:40]] == [truth[row["item"]] for row in rows[:40]]
    assert rows[-1]["action"] == "undone"
    page.page.wait_for_function("() => document.querySelector('#age').textContent.startsWith('Fit of all 39')")
    assert page.page.locator("#curve svg").count() == 1
    assert "%" in page.text("accuracy")
    page.close()


def test_everything_else_by_keys(browser: Any, server: ReviewProcess, labels: Path) -> None:
    page = Page(browser, server)
    page.begin()
    keys = page.page.keyboard
    keys.press("h")
    keys.press("g")
    keys.press("c")
    keys.type("ears 1 and 2")  # keys in a field decide nothing
    keys.press("Escape")
    page.press("1", "reveal")
    page.press("Enter", "item")
    second = page.text("item-heading")
    keys.press("s")
    page.page.wait_for_function("(name) => document.querySelector('#item-heading').textContent !== name", arg=second)
    page.press("x", "reveal")
    page.press("ArrowRight", "item")
    keys.press("v")
    page.page.wait_for_selector("#seen:not([hidden])")
    assert page.page.locator("#seen-votes tr").count() >= 1
    page.press("2", "reveal")
    page.press("Space", "item")
    keys.press("/")
    keys.type("a new class")
    page.page.wait_for_selector("#found [role=option]:has-text('Add a new class: a new class')")
    keys.press("ArrowDown")  # so that a slip of the keyboard adds none
    keys.press("Enter")
    page.wait("reveal")
    page.press("u", "item")
    keys.press("?")
    assert page.page.locator("#help").is_visible()
    keys.press("Escape")
    assert page.page.locator("#help").is_hidden()
    rows = rows_of(labels.with_name("labels.decisions.csv"))
    assert [row["action"] for row in rows] == [
        *("decided", "skipped", "cannot tell", "decided", "decided", "undone"),
    ]
    assert (rows[0]["sure"], rows[0]["guideline"], rows[0]["comment"]) == ("sure", "unclear", "ears 1 and 2")
    assert [row["visible"] for row in rows[:5]] == ["nothing", "nothing", "nothing", "votes", "nothing"]
    assert rows[4]["truth"] == "a new class"
    page.close()


# Presses a key in the first task after an item is drawn, before the browser has painted it.
PRESS_AT_ONCE = """
new MutationObserver(() => {
  if (document.body.dataset.view !== "item") return;
  setTimeout(() => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true})));
}).observe(document.body, {attributes: true, attributeFilter: ["data-view"]});
"""


def test_a_key_counts_as_soon_as_its_view_is_drawn(browser: Any, server: ReviewProcess) -> None:
    page = Page(browser, server)
    page.page.evaluate(PRESS_AT_ONCE)
    page.press("Enter", "reveal")
    assert "1 decision," in page.text("counts")
    page.close()


def test_by_mouse_a_double_click_counts_once(browser: Any, server: ReviewProcess, labels: Path) -> None:
    page = Page(browser, server)
    page.begin()
    first = page.text("item-heading")
    page.page.locator("#skip").dblclick()
    page.page.wait_for_function("(name) => document.querySelector('#item-heading').textContent !== name", arg=first)
    for _ in range(3):
        page.page.locator(".choice").first.click()
        page.wait("reveal")
        page.page.locator("#go-on").click()
        page.wait("item")
    rows = rows_of(labels.with_name("labels.decisions.csv"))
    assert [row["action"] for row in rows] == ["skipped", "decided", "decided", "decided"]
    page.close()


def test_a_decision_is_sent_again_when_the_server_is_back(browser: Any, server: ReviewProcess, labels: Path) -> None:
    page = Page(browser, server)
    page.begin()
    page.page.wait_for_function("() => document.querySelector('#item-heading').textContent")
    page.context.set_offline(True)
    page.page.keyboard.press("1")
    page.page.wait_for_selector("#lost:not([hidden])")
    assert "is kept in this page" in page.text("lost-kept")
    page.context.set_offline(False)
    page.wait("reveal")
    assert len(rows_of(labels.with_name("labels.decisions.csv"))) == 1
    page.complaints.clear()  # the browser says that it was offline
    page.close()


def test_a_password_lets_a_browser_in(browser: Any, labels: Path) -> None:
    # The browser names the origin of a form only where the policy about referrers lets it.
    env = {**os.environ, "CROWDWISE_REVIEW_PASSWORD": "open sesame"}
    with ReviewProcess.start(labels, "--host", "0.0.0.0", env=env) as server:
        page = Page(browser, server)
        page.page.fill("input[type=password]", "wrong")
        page.page.keyboard.press("Enter")
        page.page.wait_for_selector("[role=alert]")
        page.page.fill("input[type=password]", "open sesame")
        page.page.keyboard.press("Enter")
        page.wait("start")
        page.begin()
        page.complaints.clear()  # the browser reports the answer to the wrong password
        page.close()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_a_hostile_crowd_breaks_nothing(browser: Any, tmp_path: Path, simulated: Any, scheme: str) -> None:
    path = tmp_path / "labels.csv"
    classes = {"c1": HOSTILE, "c2": LONG, "c3": "‮ evil"}
    items = {"i001": HOSTILE, "i002": "javascript:window.broken=1", "i003": LONG}
    texts = ["javascript:window.broken=1", HOSTILE, IMAGE, "https://evil.example/a.png", LONG, " \n "]
    rows = simulated.rows.with_columns(
        pl.col("label").replace(classes),
        pl.col("worker").replace({"w01": HOSTILE, "w02": IMAGE, "w03": LONG}),
        pl.col("item").replace(items),
    )
    rows.write_csv(path)
    names = rows["item"].unique(maintain_order=True)
    shown = pl.DataFrame({"item": names, IMAGE: [texts[k % len(texts)] for k in range(len(names))]})
    shown.write_csv(tmp_path / "items.csv")
    with ReviewProcess.start(path, "--items", tmp_path / "items.csv", "--reviewer", IMAGE, "--plan", "worst") as server:
        page = Page(browser, server, 390, scheme)
        page.begin()
        for _ in range(8):
            assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
            page.press("1", "reveal")
            assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
            page.press("Space", "item")
        assert page.page.evaluate("window.broken") is None
        page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_screen_reader_finds_its_way(browser: Any, server: ReviewProcess, width: int, scheme: str) -> None:
    axe = os.environ.get("CROWDWISE_AXE")
    if not axe:
        pytest.skip("CROWDWISE_AXE does not name axe.min.js of axe-core")
    page = Page(browser, server, width, scheme)
    problems: dict[str, Any] = {}

    def look(view: str) -> None:
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        page.page.evaluate(Path(axe).read_text(encoding="utf-8"))
        found = page.page.evaluate("axe.run().then((result) => result.violations)")
        problems.update({f"{view}: {one['id']}": [node["html"][:200] for node in one["nodes"]] for one in found})

    look("start")
    page.begin()
    look("item")
    assert page.page.evaluate("document.activeElement.id") == "item-heading"
    page.press("1", "reveal")
    look("reveal")
    assert page.page.evaluate("document.activeElement.closest('#reveal') !== null")
    page.press("Space", "item")
    page.page.keyboard.press("v")
    page.page.wait_for_selector("#seen:not([hidden])")
    look("votes")
    page.page.keyboard.press("?")
    look("help")
    page.page.keyboard.press("Escape")
    page.page.locator("#open-end").focus()
    page.press("Enter", "end")
    look("end")
    assert problems == {}
    page.page.locator("#finish").focus()
    page.press("Enter", "finished")
    assert "crowdwise aggregate" in page.text("end-command")
    page.close()
    assert server.process.wait(60) == 0
