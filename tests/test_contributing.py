"""The examples of docs/contributing/adding.md, put where the page says: a method, a format, a platform, a section."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import crowdwise as cw

PAGE = Path(__file__).parents[1] / "docs" / "contributing" / "adding.md"
METHOD, CHECK, FORMAT, DATABASE, WRITER, PLATFORM, SECTION = re.findall(
    r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, to be changed as a contributor would."""
    copy = tmp_path / "src" / "crowdwise"
    shutil.copytree(Path(cw.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    # Kernels need not be compiled anew for the copy.
    for cache in Path(cw.__file__).parent.glob("**/__pycache__"):
        shutil.copytree(cache, copy / cache.relative_to(Path(cw.__file__).parent))
    return copy


def run(package: Path, code: str) -> str:
    """Run code in a process of its own that imports the copy; returns what it prints."""
    where = f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
    return start(package, "-c", where + code)


def command(package: Path, *arguments: str) -> str:
    """Run the copy's command line; returns what it prints."""
    return start(package, "-m", "crowdwise", *arguments)


def start(package: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYSPARK_PYTHON": sys.executable}  # for executors
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=package.parent.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def append(path: Path, pattern: str, replacement: str) -> None:
    """Change one place in a file."""
    text = path.read_text(encoding="utf-8")
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    path.write_text(changed, encoding="utf-8")


@pytest.mark.slow
def test_a_method_is_a_file(package: Path) -> None:
    (package / "methods" / "cautious_vote.py").write_text(METHOD)
    assert len(METHOD.splitlines()) < 60
    run(package, CHECK)
    said = run(
        package,
        "import crowdwise as cw; from crowdwise.methods import choose\n"
        "assert cw.__file__.startswith(sys.path[0])\n"
        "assert cw.METHODS['cautious_vote'] is cw.CautiousVote and 'CautiousVote' in dir(cw)\n"
        "assert choose('cautious_vote', ['caution=3']).caution == 3\n"
        "print(cw.CautiousVote().limits().places, cw.CautiousVote.__doc__)\n"
        "try: cw.CautiousVote(caution=0)\n"
        "except cw.CallError as refusal: print(refusal)\n",
    )
    assert "['memory', 'disk', 'spark']" in said
    assert "caution: How many imagined labels" in said
    assert "caution=0 is not a number above 0." in said


@pytest.mark.parametrize("engine", ["disk", pytest.param("spark", marks=pytest.mark.spark)])
@pytest.mark.slow
def test_the_method_runs_on_every_engine(package: Path, engine: str) -> None:
    (package / "methods" / "cautious_vote.py").write_text(METHOD)
    run(
        package,
        "import numpy as np, crowdwise as cw\n"
        "cw.simulate(60, 8, 3, seed=1).rows.write_csv('votes.csv')\n"
        "method = cw.CautiousVote(max_iterations=3)\n"
        "memory = method.fit(cw.read_labels('votes.csv'), warn=False).to_frame().sort('item')\n"
        f"labels = cw.read_labels('votes.csv', engine={engine!r})\n"
        "there = method.fit(labels, warn=False).lazy().collect().sort('item')\n"
        "assert there['label'].to_list() == memory['label'].to_list()\n"
        "assert np.allclose(there['score'], memory['score'], rtol=0, atol=1e-9)\n",
    )


@pytest.mark.slow
def test_a_file_format_is_a_row(package: Path) -> None:
    append(
        package / "sources" / "formats.py",
        r"FORMATS: (.*) = \(\n",
        rf"{FORMAT}\n{DATABASE}\nFORMATS: \1 = (\n    PROPERTY_LIST,\n    SQLITE_ADDRESS,\n",
    )
    append(package / "output" / "writers.py", r"\Z", f"\n{WRITER}")
    run(
        package,
        "import sqlite3, crowdwise as cw\n"
        "rows = cw.simulate(30, 6, 3, seed=1).rows\n"
        "cw.write({'votes.plist': rows})\n"
        "for engine in ('memory', 'auto', 'disk'):\n"
        "    labels = cw.read_labels('votes.plist', engine=engine)\n"
        "    assert labels.n_labels == rows.height\n"
        "assert cw.read_labels(open('votes.plist', 'rb')).n_labels == rows.height\n"
        "rows.to_pandas().to_sql('votes', sqlite3.connect('votes.db'), index=False)\n"
        "assert cw.read_labels('sqlite:///votes.db', table='votes').n_labels == rows.height\n",
    )
    command(package, "aggregate", "votes.plist", "-o", "truth.plist")
    said = command(package, "aggregate", "sqlite:///votes.db", "--truth", "truth.plist", "-o", "again.plist")
    assert "Of 30 items with known truth, 100.0% are right" in said, said


@pytest.mark.slow
def test_a_platform_is_a_file_and_a_row(package: Path) -> None:
    platforms = package / "platforms"
    (platforms / "thumbs.py").write_text(PLATFORM)
    append(platforms / "__init__.py", r"from \.toloka", "from .thumbs import THUMBS\nfrom .toloka")
    append(platforms / "__init__.py", r"PLATFORMS: (.*) = \(\n", r"PLATFORMS: \1 = (\n    THUMBS,\n")
    lines = ['{"picture": 1, "viewer": "ann", "thumb": "up"}', '{"picture": 1, "viewer": "bob", "thumb": null}']
    (package.parent.parent / "thumbs.jsonl").write_text("\n".join(lines))
    said = run(
        package,
        "import crowdwise as cw\n"
        "labels = cw.read_labels('thumbs.jsonl')\n"
        "assert labels.n_labels == 1 and labels.report.rows == 2\n"
        "print(*labels.report.understood, *labels.report.repairs)\n",
    )
    assert "thumbs.jsonl is a Thumbs export; labels are the answers to the question 'thumb'." in said
    assert "1 pictures were looked at without a word." in said
    assert "thumb" in command(package, "questions", "thumbs.jsonl")
    said = command(package, "aggregate", "thumbs.jsonl", "--format", "thumbs", "-o", "truth.csv")
    assert "is a Thumbs export" in said, said


@pytest.mark.slow
def test_a_section_of_the_report_is_a_file_and_a_row(package: Path) -> None:
    (package / "reporting" / "sections" / "busiest.py").write_text(SECTION)
    (row,) = re.findall(r"its row is `(.*?)`", PAGE.read_text(encoding="utf-8"))
    sections = package / "reporting" / "sections" / "__init__.py"
    append(sections, r"from \. import ", "from . import busiest, ")
    append(sections, r"SECTIONS: (.*) = \(\n", rf"SECTIONS: \1 = (\n    {row},\n")
    run(
        package,
        "import crowdwise as cw\n"
        "crowd = cw.simulate(30, 6, 3, seed=1)\n"
        "cw.report(cw.BWA().fit(crowd.labels), crowd.labels, path='report.html')\n",
    )
    page = (package.parent.parent / "report.html").read_text(encoding="utf-8")
    assert '<a href="#busiest">Busiest</a>' in page
    assert "labels, the most of all." in page
