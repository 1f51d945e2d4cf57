"""Threads: outcomes are used in order, and after an error no thread starts another part."""

import subprocess
import sys
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


_FORKED = """
import multiprocessing as mp, os, sys
import crowdwise as cw
crowd = cw.simulate(20, 5, 3, seed=1)
cw.read_labels(crowd.rows)  # polars starts its threads
def refused(work):
    try: work()
    except cw.CallError as problem: return "spawn" in str(problem)
works = [lambda: cw.BWA().fit(crowd.labels), lambda: cw.read_labels(crowd.rows), lambda: cw.read_truth(crowd.truth)]
child = os.fork()
if child == 0:
    os._exit(0 if all(map(refused, works)) else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux names the threads of a process")
def test_a_forked_process_is_refused_in_a_sentence_and_does_not_hang() -> None:
    done = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, text=True, timeout=600, check=False)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


def test_a_process_forked_before_polars_was_used_works() -> None:
    code = "import os, crowdwise as cw\nchild = os.fork()\nif child == 0: cw.simulate(20, 5, 3, seed=1); os._exit(0)\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "print(os.waitpid(child, 0)[1])"], capture_output=True, text=True
    )
    assert done.stdout == "0\n", done.stderr
