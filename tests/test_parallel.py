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


def test_after_an_error_in_the_pool_no_other_part_begins() -> None:
    begun: list[int] = []

    def step(part: int) -> None:
        begun.append(part)
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("broken")
        assert threads._pool is not None
        threads._pool.submit(int).result()  # the pool has one thread, which does this once its work has ended

    with Threads(1000) as threads, pytest.raises(ValueError, match="broken"):
        threads.run(step)
    assert sorted(begun) in ([0], [0, 1])


def test_after_an_error_in_the_calling_thread_no_other_part_begins() -> None:
    begun: list[int] = []
    in_pool, over = threading.Event(), threading.Event()

    def step(part: int) -> None:
        begun.append(part)
        if threading.current_thread() is threading.main_thread():
            in_pool.wait()
            raise ValueError("broken")
        in_pool.set()
        over.wait()

    with Threads(1000) as threads:
        with pytest.raises(ValueError, match="broken"):
            threads.run(step)
        over.set()
    assert sorted(begun) == [0, 1]


@pytest.mark.parametrize("given", ["²", "-1", "0", "2.5", "x", "9" * 50])
def test_a_number_of_threads_that_is_none_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_THREADS", given)
    with pytest.raises(CallError, match="is not a number of threads"):
        thread_count()


@pytest.mark.parametrize("given", ["", " "])
def test_no_number_of_threads_means_all_cores(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_THREADS", given)
    assert thread_count() >= 1
