"""Tests of how far long work is said to be: to a listener, on a screen, and nowhere else."""

import io
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import crowdwise as cw
from crowdwise import progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """A screen as standard error; what is shown after a second otherwise is shown at once."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    shown = Screen()
    # Not sys.stderr itself, which pytest replaces before the test begins.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=shown, modules={}))
    yield shown
    cw.show_progress(None)


def test_work_is_told_under_the_names_of_all_that_it_is_part_of() -> None:
    said: list[tuple[str, float]] = []
    with progress.told_to(lambda what, share: said.append((what, share))), progress.working("a report") as told:
        told(0.5)
        with progress.working("a fit") as within:
            within(0.25)
        told(2.0)
    assert said == [
        *[("a report", 0.0), ("a report", 0.5), ("a report, a fit", 0.0), ("a report, a fit", 0.25)],
        *[("a report", 1.0), ("a report", 1.0)],
    ]


def test_long_work_of_every_kind_is_told() -> None:
    labels = cw.simulate(60, 8, 2, labels_per_item=4, seed=1).labels
    said: set[str] = set()
    with progress.told_to(lambda what, _: said.add(what)):
        result = cw.aggregate(labels, warn=False)
        cw.next_labels(labels, budget=3, result=result)
        cw.rivals(result, labels)
        cw.plan(labels, target=0.9, result=result)
        cw.compare(labels, ["mv"])
    assert {"fitting Adjudicator", "what labels would change", "other readings of the labels"} <= said
    assert {"simulating further labels", "comparing methods", "comparing methods, fitting MajorityVote"} <= said


def test_a_screen_has_a_line_that_disappears(screen: Screen) -> None:
    with progress.working("a fit") as told:
        told(0.5)
    shown = screen.getvalue()
    assert "crowdwise: a fit 50%, 0 s" in shown
    assert shown.endswith("\r")
    assert shown.rsplit("\r", 2)[1].strip() == ""


@pytest.mark.parametrize("off", ["pipe", "CI", "variable", "call", "thread"])
def test_nothing_is_shown_where_nobody_sees_it(screen: Screen, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    def work() -> None:
        with progress.working("a fit") as told:
            told(0.5)

    if off == "pipe":
        monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=io.StringIO(), modules={}))
    elif off == "CI":
        monkeypatch.setenv("CI", "true")
    elif off == "variable":
        monkeypatch.setenv(progress.VARIABLE, "0")
    elif off == "call":
        cw.show_progress(False)
    if off == "thread":
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    assert screen.getvalue() == ""


def test_it_can_be_shown_where_standard_error_is_a_file(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=file, modules={}))
    cw.show_progress()
    with progress.working("a fit") as told:
        told(0.5)
    assert "a fit 50%" in file.getvalue()
