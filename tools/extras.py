"""Try every extra in a clean environment of its own: `make test-extras`, or `python -m tools.extras spark excel`.

Each environment has crowdwise with one extra and what that installs, and nothing else. A program then does what the
extra is for. The extra `spark` needs Java 17, as Spark does.
"""

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
    """Try the extras that are named, or all."""
    for extra in sys.argv[1:] or _PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            environment = Path(folder, "environment")
            subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
            python = str(environment / "bin" / "python")
            wanted = f"{_ROOT}[{extra}]" if extra else str(_ROOT)
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", wanted]
            subprocess.run(pip, check=True)
            subprocess.run([python, "-c", _BEGIN + _PROGRAMS[extra], folder], check=True, cwd=folder)
        print(f"{extra or 'no extra'}: works")


if __name__ == "__main__":
    main()
