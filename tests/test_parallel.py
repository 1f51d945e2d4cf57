"""Threads: outcomes come in order, few are waiting, and after an error no other part begins."""

import subprocess
import sys
import time

import pytest

from crowdwise.errors import CallError
from crowdwise.parallel import Threads, thread_count


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDWISE_THREADS", "2")


def test_outcomes_come_in_the_order_of_the_parts() -> None:
    with Threads(50) as threads:
        outcomes = list(threads.map(lambda part: time.sleep(0.001 * (part % 3)) or part))  # type: ignore[func-returns-value]
    assert outcomes == list(range(50))


def test_after_an_error_in_a_part_few_others_begin() -> None:
    begun: list[int] = []

    def step(part: int) -> None:
        begun.append(part)
        if part == 0:
            raise ValueError("broken")

    with Threads(1000) as threads, pytest.raises(ValueError, match="broken"):
        threads.run(step)
    assert set(begun) <= {0, 1, 2, 3}  # twice as many parts as threads


def test_after_an_error_where_outcomes_are_used_no_other_part_begins() -> None:
    begun: list[int] = []

    def use(_: None) -> None:
        raise KeyboardInterrupt

    with Threads(1000) as threads, pytest.raises(KeyboardInterrupt):
        list(map(use, threads.map(begun.append)))
    assert set(begun) <= {0, 1, 2, 3}


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
