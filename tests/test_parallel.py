"""Threads: outcomes are used in order, and after an error no thread starts another part."""

import threading
import time

import pytest

from crowdwise.parallel import Threads


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
