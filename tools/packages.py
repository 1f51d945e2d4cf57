"""Build the sdist and the wheel, install them in clean environments, and try what they promise.

`make test-package` tries both without any extra. `make test-extras`, or `python -m tools.packages spark excel`, tries
the wheel with each extra: what the extra is for works with what it installs, and nothing else. Spark needs Java 17.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parent.parent
_BEGIN: Final = """
import sys
from pathlib import Path
import crowdwise as cw
folder = Path(sys.argv[1])
crowd = cw.simulate(60, 8, 3, seed=1)
result = cw.aggregate(crowd.labels, warn=False)
assert cw.accuracy(result, crowd.truth) > 0.5
"""
# What an extra is for.
_PROGRAMS: Final = {
    "": 'cw.write({folder / "labels.csv": crowd.rows})\nassert cw.read_labels(folder / "labels.csv").n_items == 60',
    "report": 'cw.report(result, crowd.labels, crowd.truth, folder / "report.html")\ncw.plot(result, "workers")',
    "review": """
from crowdwise.reviewing.review import opened_desk, serve
from crowdwise.reviewing.contents import Contents
from crowdwise.reviewing.desk import Setting
about = Setting("labels", "anna", "", "")
with opened_desk(crowd.labels, cw.Adjudicator(), folder / "d.csv", Contents(), "random", about) as desk:
    def stop(sentence):
        if sentence.startswith("Every decision"):
            raise KeyboardInterrupt  # as the user does
    serve(desk, host="127.0.0.1", port=0, browser=False, say=stop)
""",
    "sql": """
try:
    cw.read_labels("postgresql://nobody@127.0.0.1:9/nothing", table="labels")  # no program listens on this port
except cw.DataError as problem:
    assert "refused" in str(problem), problem
""",
    "duckdb": """
import duckdb
with duckdb.connect(folder / "labels.duckdb") as database:
    rows = crowd.rows
    database.execute("CREATE TABLE labels AS SELECT * FROM rows")
assert cw.read_labels(folder / "labels.duckdb").n_items == 60
""",
    "excel": 'cw.write({folder / "l.xlsx": crowd.rows})\nassert cw.read_labels(folder / "l.xlsx").n_items == 60',
    "crowdkit": """
import pandas
from crowdwise.compat.crowdkit.aggregation import DawidSkene
rows = pandas.DataFrame(crowd.rows.rename({"item": "task"}).to_dict(as_series=False))
assert len(DawidSkene(n_iter=10).fit_predict(rows)) == 60
""",
    "spark": """
cw.write({folder / "labels.parquet": crowd.rows})
labels = cw.read_labels(folder / "labels.parquet", engine="spark")
assert cw.MajorityVote().fit(labels).to_frame().height == 60
""",
}


def main() -> None:
    """Try the extras that are named, `extras` for all of them; nothing for both packages without extras."""
    asked = sys.argv[1:]
    extras = [extra for extra in _PROGRAMS if extra] if asked == ["extras"] else asked
    with tempfile.TemporaryDirectory() as folder:
        sdist, wheel = _build(Path(folder))
        if not extras:
            _try(sdist, "")
        for extra in extras or [""]:
            _try(wheel, extra)


def _build(folder: Path) -> tuple[Path, Path]:
    """Return the sdist, and the wheel that is made from it."""
    python = _environment(folder / "build")
    _install(python, "build")
    subprocess.run([python, "-m", "build", "--outdir", str(folder / "dist"), str(_ROOT)], check=True, stdout=sys.stderr)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return sdist, wheel


def _try(package: Path, extra: str) -> None:
    """Install a package with an extra into an environment of its own, and run the extra's program there."""
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(Path(folder, "environment"))
        _install(python, f"crowdwise{f'[{extra}]' if extra else ''} @ {package.as_uri()}")
        subprocess.run([python, "-c", _BEGIN + _PROGRAMS[extra], folder], check=True, cwd=folder)
        said = subprocess.run([python, "-m", "crowdwise", "--version"], check=True, cwd=folder, capture_output=True)
    print(f"{package.name}, {extra or 'no extra'}: works ({said.stdout.decode().strip()})", flush=True)


def _environment(folder: Path) -> str:
    """Make a virtual environment, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def _install(python: str, wanted: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted], check=True)


if __name__ == "__main__":
    main()
