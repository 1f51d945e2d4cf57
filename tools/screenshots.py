"""Makes the images in docs/images from a simulated crowd, with a browser; run by `make screenshots`."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from playwright.sync_api import sync_playwright

import crowdwise as cw
from crowdwise.analysis.comparison import compare
from crowdwise.reporting import comparison_page
from studies.benchmarks.review_page import address_of, press

_IMAGES: Final = Path(__file__).parent.parent / "docs" / "images"
_TEXTS: Final = (
    "The room was clean, but the street kept us awake until three.",
    "Exactly as described. Would stay again.",
    "It arrived a week late and the box was open. The support answered within an hour, though.",
    "Fine.",
)
_CLASSES: Final = {"c1": "neutral", "c2": "positive", "c3": "negative", "c4": "unclear"}


def crowd() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the labels and the truth of a simulated crowd.

    The classes have names that everybody understands, and three of the workers do not look at the items.
    """
    simulated = cw.simulate(
        1500, 70, 4, labels_per_item=4.6, concentration=4, workload=0.8, balance=[0.4, 0.3, 0.2, 0.1], traps=0.3, seed=3
    )
    renamed = simulated.rows.with_columns(pl.col("label").replace(_CLASSES))
    truth = simulated.truth.with_columns(pl.col("truth").replace(_CLASSES))
    random = np.random.default_rng(1)
    names, known = np.array(list(_CLASSES.values())), truth["truth"].to_numpy()
    extra = [(int(i), "w71", "neutral") for i in random.choice(1500, 45, replace=False)]
    extra += [(int(i), "w72", random.choice(names)) for i in random.choice(1500, 90, replace=False)]
    extra += [(int(i), "w73", random.choice(names[names != known[i]])) for i in random.choice(1500, 60, replace=False)]
    items = truth["item"]
    rows = pl.DataFrame(
        [(items[i], worker, str(label)) for i, worker, label in extra], schema=renamed.schema, orient="row"
    )
    return pl.concat([renamed, rows]), truth


def shoot(page: Any, path: Path, name: str, selector: str | None = None) -> None:
    """Save one image of a page: of the part that the CSS selector names, or of what the window shows.

    Args:
        page: The page of the browser.
        path: The HTML file.
        name: The name of the image.
        selector: A CSS selector, or None.
    """
    page.goto(path.as_uri())
    page.wait_for_function("() => [...document.querySelectorAll('.chart')].every(place => place.querySelector('svg'))")
    target = _IMAGES / f"{name}.png"
    if selector is None:
        page.screenshot(path=target)
    else:
        page.locator(selector).first.screenshot(path=target)
    print(f"{target.relative_to(_IMAGES.parent.parent)}  {target.stat().st_size / 1000:.0f} kB")


def shoot_review(browser: Any, labels: Path, truth: pl.DataFrame) -> None:
    """Save images of the page of `crowdwise review`: an item after some decisions, and the votes on it."""
    texts = [f"{_TEXTS[number % len(_TEXTS)]}" for number in range(truth.height)]
    truth.select("item").with_columns(pl.Series("text", texts)).write_csv(labels.with_name("texts.csv"))
    options = ["--items", str(labels.with_name("texts.csv")), "--reviewer", "anna", "--no-browser"]
    command = [sys.executable, "-m", "crowdwise", "review", str(labels), *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    known = dict(truth.rows())
    try:
        page = browser.new_page(viewport={"width": 1160, "height": 860})
        page.goto(address_of(server))
        page.wait_for_selector("body[data-view=start]")
        press(page, "Enter", "item")
        keys = {one: str(number) for number, one in enumerate(sorted(_CLASSES.values()), 1)}
        for number in range(13):
            page.wait_for_timeout(400)  # as somebody who reads
            name = page.locator("#item-heading").inner_text()
            if number == 12:
                page.wait_for_function("() => document.querySelector('#age').textContent.startsWith('Fit of all')")
                page.screenshot(path=_IMAGES / "review-item.png")
            press(page, keys[known[name]], "reveal")
            if number == 12:
                page.wait_for_timeout(400)
                page.locator("#reveal").screenshot(path=_IMAGES / "review-votes.png")
            press(page, "Space", "item")
        page.close()
    finally:
        server.kill()
        server.wait()


def main() -> None:
    """Make all images, and print the explanation of an item for the documentation."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        sys.exit("There is no chromium: apt-get install chromium")
    _IMAGES.mkdir(parents=True, exist_ok=True)
    rows, truth = crowd()
    labels = cw.Labels.from_frame(rows)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report, comparison, votes = (Path(folder) / name for name in ("report.html", "compare.html", "labels.csv"))
        command = "crowdwise report labels.csv -o report.html --method bwa --truth truth.csv"
        cw.report(cw.aggregate(labels), labels, truth, report, command=command)
        methods = {key: method() for key, method in cw.METHODS.items()}
        comparison_page(labels, compare(labels, methods, truth), comparison, "crowdwise compare labels.csv")
        rows.write_csv(votes)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1160, "height": 860}, color_scheme=scheme)
            shoot(page, report, f"report-{scheme}")
            if scheme == "light":
                shoot(page, report, "report-workers", "#workers")
                shoot(page, report, "report-why", "#items .columns >> nth=1")
                shoot(page, comparison, "compare", "#methods")
            page.close()
        page = browser.new_page(viewport={"width": 360, "height": 780})
        shoot(page, report, "report-phone")
        shoot_review(browser, votes, truth)
        browser.close()
        disputed = cw.aggregate(labels).to_frame()
        item = disputed.sort(pl.col("score") - pl.col("runner_up_score"))["item"][3]
        subprocess.run([sys.executable, "-m", "crowdwise", "explain", str(votes), "--item", item], check=True)


if __name__ == "__main__":
    main()
