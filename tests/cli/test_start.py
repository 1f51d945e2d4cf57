"""Tests of how a command starts: what it imports, and that nothing is compiled after `crowdwise warm-up`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.numerics import announcing

# So many modules may be imported for a small file, those of Python, NumPy and polars included. It was 897 when this was
# written, and 1,156 with Numba; an import too many shows here, and not in a time, which depends on the machine.
MOST_MODULES = 920

NEVER = (
    "numba",
    "llvmlite",
    "scipy",
    "numpy.f2py",
    "unittest",
    "altair",
    "jinja2",
    "pandas",
    "pyarrow",
)

PROGRAM = """
import json, sys
from crowdwise.cli import main
try: main()
except SystemExit as ending: assert not ending.code
print(json.dumps(list(sys.modules)))
"""


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    cw.simulate(60, 8, 3, seed=1).rows.write_csv(path)
    return path


def imported(*arguments: object) -> list[str]:
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names: list[str] = json.loads(done.stdout)
    return names


@pytest.mark.parametrize("method", ["adjudicator", "bwa", "mv"])
def test_a_small_file_needs_few_modules(method: str, labels: Path, tmp_path: Path) -> None:
    modules = imported("aggregate", labels, "-o", tmp_path / "truth.csv", "--quiet", "-m", method)
    assert len(modules) < MOST_MODULES
    assert not set(NEVER) & set(modules)
    methods = {name.split(".")[2] for name in modules if name.startswith("crowdwise.methods.")} - {"numeric"}
    assert not [name for name in modules if name.startswith("crowdwise.methods.numeric.")]
    assert methods == {"adjudicator", "mv", method}  # the default, with which others are compared, and majority vote


@pytest.mark.parametrize("method", ["adjudicator", "bwa", "mv", "ds"])
def test_python_compiles_nothing_for_a_small_crowd(method: str, labels: Path) -> None:
    program = f"""
import sys, polars as pl, crowdwise as cw
path, method = {str(labels)!r}, {method!r}
for result in (cw.aggregate(pl.read_csv(path), method=method), cw.METHODS[method]().fit(cw.read_labels(path))):
    result.to_frame(), result.workers_frame(), result.cautions
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("form", ["ndjson", "json", "parquet"])
def test_a_small_file_of_another_form_compiles_nothing(form: str, labels: Path, tmp_path: Path) -> None:
    path = tmp_path / f"labels.{form}"
    write: Any = getattr(pl.read_csv(labels), f"write_{form}")
    write(path)
    assert "numba" not in imported("aggregate", path, "-m", "mv", "--quiet")


def test_the_table_of_methods_imports_a_method_when_it_is_asked_for() -> None:
    said = "'bwa' in cw.METHODS, len(cw.METHODS), 'crowdwise.methods.bwa' in sys.modules"
    program = f"import sys, crowdwise as cw; print({said})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", str(len(cw.METHODS)), "False"]
    with pytest.raises(KeyError):
        cw.METHODS["no_such_method"]


def crowdwise(*arguments: object, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of a copy of the package that has no machine code anywhere but in `cache`."""
    copy = cache.parent / "copy"
    if not copy.exists():
        shutil.copytree(Path(cw.__file__).parent, copy / "crowdwise", ignore=shutil.ignore_patterns("__pycache__"))
    home = {"HOME": str(copy), "XDG_CACHE_HOME": str(copy), "TMPDIR": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = os.environ | home | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", "crowdwise", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.slow
def test_after_a_warm_up_nothing_is_compiled(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    cw.simulate(25_000, 80, 3, seed=1).rows.write_csv(labels)  # so many that all of it needs kernels
    cold = crowdwise("aggregate", labels, "-m", "mv", cache=tmp_path / "cold")
    assert "Compiling" in cold.stderr
    warming = crowdwise("warm-up", "--methods", "mv", cache=tmp_path / "warm")
    assert warming.returncode == 0, warming.stderr
    assert "Compiling for 2 classes (1 of 8)." in warming.stderr
    assert f"Compiled for mv, and kept in {tmp_path / 'warm'}" in warming.stderr
    for command in (
        ("aggregate", labels, "-m", "mv"),
        ("compare", labels, "--methods", "mv"),
        ("report", labels, "-m", "mv", "-o", tmp_path / "report.html"),
    ):
        done = crowdwise(*command, cache=tmp_path / "warm")
        assert done.returncode == 0, done.stderr
        assert "Compiling" not in done.stderr


@pytest.mark.slow
def test_a_warm_up_covers_numbers(tmp_path: Path) -> None:
    warming = crowdwise("warm-up", "--methods", "median", cache=tmp_path / "warm")
    assert "Compiling for numbers (1 of 1)." in warming.stderr
    cw.simulate_numbers(25_000, 80, seed=2).rows.write_csv(tmp_path / "numbers.csv")
    done = crowdwise("aggregate", tmp_path / "numbers.csv", "--numeric", "-m", "median", cache=tmp_path / "warm")
    assert done.returncode == 0, done.stderr
    assert "Compiling" not in done.stderr


@pytest.mark.slow
def test_python_warms_up_too() -> None:
    steps: list[tuple[int, int, str]] = []
    folder = cw.warm_up(["mv", "mean"], progress=lambda *step: steps.append(step))
    assert list(Path(folder).glob("*.nbi"))
    assert [what for *_, what in steps[-2:]] == ["40 classes", "numbers"]
    with pytest.raises(cw.CallError, match="There is no method 'x'"):
        cw.warm_up(["x"])


def test_a_warm_up_refuses_what_is_no_method(tmp_path: Path) -> None:
    done = crowdwise("warm-up", "--methods", "mv,x", cache=tmp_path)
    assert done.returncode == 2
    assert "There is no method 'x'" in done.stderr


def test_compiling_is_said_at_first_and_then_every_five_seconds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """To the log; and from the first five seconds on as warnings, which Python shows to everybody."""
    now = 0.0
    monkeypatch.setattr("crowdwise.numerics.announcing.time.monotonic", lambda: now)
    told = announcing._Announcer(announcing._LOG.info, announcing._LOG.warning)
    with caplog.at_level("INFO", "crowdwise"):
        for seconds in (1, 2, 3, 4, 5):  # each compiles two functions, of which one calls the other
            told.begin()
            told.begin()
            now += seconds
            told.end()
            told.end()
            now += 100  # in which nothing is compiled
    first, *later = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert first == ("INFO", "Compiling; this takes some seconds, once for each method and kind of crowd.")
    assert later == [
        ("WARNING", f"Compiled {functions} functions in {seconds} seconds, once for this kind of crowd.")
        for functions, seconds in ((5, 6), (9, 15))
    ]
