"""The types of the public interface, as mypy --strict sees them in a user's script."""

from pathlib import Path

import pytest
from mypy import api

# What a data scientist might write; every `reveal_type` is followed by what it has to say.
SCRIPT = """
import polars as pl

import crowdwise as cw
from crowdwise.partitions.on_disk import LabelsOnDisk

labels = cw.read_labels("labels.csv")
reveal_type(labels)  # crowdwise.crowd.labels.Labels
reveal_type(cw.METHODS["bwa"])  # type[crowdwise.fitting.method.Method]
result = cw.METHODS["bwa"](prior_strength=30).fit(labels)
reveal_type(result)  # crowdwise.results.result.Result
reveal_type(cw.BWA(prior_strength=30).fit(labels))  # crowdwise.results.result.Result
reveal_type(result.method.summary)  # str
reveal_type(result.method.key)  # str | None
reveal_type(result.workers.confusion)  # numpy.ndarray[Any, numpy.dtype[Any]] | None
reveal_type(result.workers.trust())  # crowdwise.results.learned.Trust | None
reveal_type(result.workers.weight)  # Any
if isinstance(result.method, cw.BWA):
    reveal_type(result.method.prior_strength)  # float
reveal_type(result.cautions)  # tuple[crowdwise.caution.Caution, ...]
reveal_type(result.to_frame())  # polars.dataframe.frame.DataFrame
found = cw.accuracy(result, "truth.csv")
reveal_type(found)  # crowdwise.analysis.evaluation.Accuracy
reveal_type(found + 1)  # float
reveal_type(found.low)  # float
reveal_type(cw.explain(result, labels, "i1").votes)  # polars.dataframe.frame.DataFrame
reveal_type(cw.rivals(result, labels))  # crowdwise.analysis.rivals.Rivals | None
reveal_type(cw.cautions(result, labels))  # tuple[crowdwise.caution.Caution, ...]
reveal_type(cw.compare(labels, ["mv", cw.BWA()], "truth.csv")[0])  # Any
cw.report(result, labels, truth="truth.csv", path="report.html")
cw.plot(result, "confusion", labels, worker="w1")
numbers = cw.Numbers.from_arrays([1], ["a"], [2.0])
reveal_type(numbers)  # crowdwise.crowd.labels.Numbers
values = cw.NUMERIC_METHODS["mean"]().fit(numbers)
reveal_type(values)  # crowdwise.results.numeric_result.NumericResult
reveal_type(cw.NumericMean().fit(pl.DataFrame()))  # crowdwise.results.numeric_result.NumericResult
reveal_type(cw.aggregate(labels))  # crowdwise.results.result.Result
reveal_type(cw.aggregate(labels, method="bwa", gold="gold.csv", costs=None))  # crowdwise.results.result.Result
reveal_type(cw.aggregate("labels.csv", item="task").labels)  # polars.series.series.Series
reveal_type(cw.aggregate(pl.DataFrame(), missing=[-1], numeric=False))  # crowdwise.results.result.Result
reveal_type(cw.aggregate(numbers))  # crowdwise.results.numeric_result.NumericResult
reveal_type(cw.aggregate(pl.DataFrame(), numeric=True))  # crowdwise.results.numeric_result.NumericResult
reveal_type(cw.aggregate(labels, costs={("a", "b"): 2}))  # crowdwise.analysis.decisions.Decisions
reveal_type(cw.aggregate(labels, ordinal=True, distance="squared"))  # crowdwise.analysis.decisions.Decisions
reveal_type(cw.aggregate("labels.csv", order=["low", "high"]))  # crowdwise.analysis.decisions.Decisions
reveal_type(cw.aggregate(labels, ordinal=len("x") > 1))  # crowdwise.results.result.Result | crowdwise.results.numeric_result.NumericResult | crowdwise.analysis.decisions.Decisions | crowdwise.results.in_parts.ResultInParts | crowdwise.analysis.set_result.SetResult
reveal_type(cw.aggregate(cw.read_labels("labels.csv", engine="disk")))  # Any
on_disk: LabelsOnDisk
reveal_type(cw.aggregate(on_disk))  # crowdwise.results.result.Result | crowdwise.results.in_parts.ResultInParts | crowdwise.results.numeric_result.NumericResult
reveal_type(cw.BWA().fit(pl.DataFrame()))  # crowdwise.results.result.Result
reveal_type(cw.aggregate("labels.csv", fold_case=True, warn=False))  # crowdwise.results.result.Result
cw.report(values, numbers)
cw.plot(values, "workers")
"""  # noqa: E501
# What mypy has to refuse, and a part of what it says.
WRONG = """
import crowdwise as cw

labels = cw.read_labels("labels.csv")
result = cw.BWA().fit(labels)
cw.report(labels, result)  # Argument 1 to "report" has incompatible type "Labels"
cw.plot(result, "workrs")  # incompatible type "Literal['workrs']"
cw.BWA(prior=3)  # Unexpected keyword argument "prior" for "BWA"
result.method.sumary  # "AnyMethod" has no attribute "sumary"
cw.aggregate(labels, strct=True)  # Unexpected keyword argument "strct"
cw.aggregate(labels).labls  # "Result" has no attribute "labls"
cw.METHODS["bwa"].sumary  # "type[Method]" has no attribute "sumary"
"""


@pytest.mark.slow
def test_a_script_of_a_user_is_understood(tmp_path: Path) -> None:
    scripts = {"right": (SCRIPT, "note: Revealed type is"), "wrong": (WRONG, "error:")}
    for name, (script, _) in scripts.items():
        (tmp_path / f"{name}.py").write_text(script)
    options = ["--strict", "--no-error-summary", "--no-incremental", "--config-file="]
    said, problem, _ = api.run([str(tmp_path / f"{name}.py") for name in scripts] + options)
    assert not problem
    for name, (script, kind) in scripts.items():
        lines = [line for line in said.splitlines() if f"{name}.py:" in line and kind in line]
        told = [line.partition(f"{name}.py:")[2] for line in lines]
        first = {line.partition(":")[0]: line for line in reversed(told)}  # of each line of the script
        wanted = {str(number): line.partition("  # ")[2] for number, line in enumerate(script.splitlines(), 1)}
        wanted = {number: what for number, what in wanted.items() if what}
        assert set(first) == set(wanted), said
        for number, what in wanted.items():
            assert (f'"{what}"' if name == "right" else what) in first[number], said
    assert "right.py" not in "".join(line for line in said.splitlines() if "error:" in line), said
