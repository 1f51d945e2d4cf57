"""Threads: outcomes are used in order, and after an error no thread starts another part."""

import threading
import time

import pytest

from crowdwise.errors import CallError
from crowdwise.parallel import Threads, thread_count


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_THREADS", "2")


def test_outcomes_are_used_in_the_order_of_the_parts() -> None:
    used: list[int] = []
    with Threads(50) as threads:
        threads.run(lambda part: time.sleep(0.001 * (part % 3)) or part, used.append)  # type: ignore[func-returns-value]
    assert used == list(range(50))


@pytest.mark.parametrize("in_pool", [True, False])
def test_an_error_on_any_thread_ends_the_work(in_pool: bool) -> None:
    begun: list[int] = []

    def step(part: int) -> None:
        begun.append(part)
        if (threading.current_thread() is threading.main_thread()) != in_pool:
            raise ValueError("broken")
        time.sleep(0.01)

    with Threads(1000) as threads, pytest.raises(ValueError, match="broken"):
        threads.run(step)
    assert len(begun) < 100


@pytest.mark.parametrize("given", ["²", "-1", "0", "2.5", "x", "9" * 50])
def test_a_number_of_threads_that_is_none_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_THREADS", given)
    with pytest.raises(CallError, match="is not a number of threads"):
        thread_count()


@pytest.mark.parametrize("given", ["", " "])
def test_no_number_of_threads_means_all_cores(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_THREADS", given)
    assert thread_count() >= 1
