"""How fast the page of `crowdwise review` answers a key with 10^6 labels, in a browser: `make bench-review`.

The time goes from the event of the key to the frame in which the crowd's votes are drawn, while the method is fitted
again in the background. Beside it stands how long a fit takes with the same decisions, without the page.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
from playwright.sync_api import sync_playwright

import crowdwise as cw

_DECISIONS: Final = 40
# Measures in the page: from the event of a key to the frame in which it is seen, and to the one with the votes.
_WATCH: Final = """
window.times = {seen: [], votes: []};
let pressed = null;
let seen = false;
addEventListener("keydown", (event) => {
  if (!"123456789".includes(event.key)) return;
  pressed = event.timeStamp;
  seen = false;
}, true);
const drawn = (list, from) => requestAnimationFrame(() => setTimeout(() => list.push(performance.now() - from)));
new MutationObserver(() => {
  if (pressed === null) return;
  if (!seen) drawn(times.seen, pressed);
  seen = true;
  if (document.body.dataset.view !== "reveal") return;
  drawn(times.votes, pressed);
  pressed = null;
}).observe(document.body, {attributes: true, attributeFilter: ["data-view"]});
"""


def main() -> None:
    """Decide items of a large crowd by keys, and print how long each took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        crowd = cw.simulate(200_000, 2000, 4, labels_per_item=5, concentration=4, traps=0.3, seed=1)
        crowd.rows.write_csv(path)
        _compare_fits(path, Path(folder) / "labels.decisions.csv")


def _compare_fits(path: Path, decisions: Path) -> None:
    """Print the times of the page, and those of fits without it."""
    waits, fits = _decide(path)
    labels = cw.read_labels(path)
    begun = perf_counter()
    cw.aggregate(labels, gold=decisions, warn=False)
    once = perf_counter() - begun
    print(f"\n{labels.n_labels:,} labels, {_DECISIONS} decisions by key, in milliseconds from the key:\n")
    print("| until | median | 95 % | slowest | within 50 ms |\n|-|-:|-:|-:|-:|")
    for until, times in waits.items():
        shares = [np.median(times), np.quantile(times, 0.95), max(times)]
        words = {"seen": "the page reacts", "votes": "it is saved, and the votes are drawn"}[until]
        print(f"| {words} | {' | '.join(f'{one:.0f}' for one in shares)} | {np.mean(np.array(times) <= 50):.0%} |")
    print(f"\n{fits} fits meanwhile; one with all decisions takes {once:.1f} s without the page and without reading.")


def _decide(path: Path) -> tuple[dict[str, list[float]], int]:
    """Decide items by keys in a browser; return the times in milliseconds, and how many fits were made meanwhile."""
    command = [sys.executable, "-m", "crowdwise", "review", str(path), "--no-browser", "--plan", "random"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = address_of(server)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            page = browser.new_page()
            page.goto(address)
            page.evaluate(_WATCH)
            page.wait_for_selector("body[data-view=start]")
            press(page, "Enter", "item")
            for _ in range(_DECISIONS):
                press(page, "1", "reveal")
                page.wait_for_timeout(500)  # as long as somebody who reads nothing
                press(page, "Space", "item")
            waits: dict[str, list[float]] = page.evaluate("times")
            points: Any = page.evaluate("fetch('/api/state').then((answer) => answer.json())")
            browser.close()
        return waits, len(points["panel"]["curve"]) - 1
    finally:
        server.kill()
        server.wait()


def press(page: Any, key: str, view: str) -> None:
    """Press a key, and wait for a view."""
    page.keyboard.press(key)
    page.wait_for_selector(f"body[data-view={view}]")


def address_of(server: subprocess.Popen[str]) -> str:
    """Return the address of the page that a server prints."""
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"The page is at (\S+)", line):
            return found[1]
    raise RuntimeError("The server did not start.")


if __name__ == "__main__":
    main()
