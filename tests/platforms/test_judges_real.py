"""Tests of logs that the tools' own code writes; they need an environment with the tools, see support/judges_real.py.

`CROWDWISE_PLATFORMS` names the python of that environment (inspect-ai, deepeval, lm-eval), and `CROWDWISE_PROMPTFOO`
the command promptfoo.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

import crowdwise as cw
from tests.platforms.test_judges import counted, votes_in
from tests.support.judges_real import GRADES, ITEMS

PYTHON = os.environ.get("CROWDWISE_PLATFORMS")
PROMPTFOO = os.environ.get("CROWDWISE_PROMPTFOO")


def make(tool: str, folder: Path) -> Path:
    """Have a tool write its logs into a folder; skips the test if the tool is not installed."""
    if PYTHON is None:
        pytest.skip("CROWDWISE_PLATFORMS names no python with the tools")
    package = {"inspect": "inspect_ai", "lm-eval": "lm_eval"}.get(tool, tool)
    if subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{package} is not installed in the environment of CROWDWISE_PLATFORMS")
    script = Path(__file__).parents[1] / "support" / "judges_real.py"
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [PYTHON, script, tool, folder], cwd=folder, env=outside, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def test_a_real_log_of_inspect(tmp_path: Path) -> None:
    folder = make("inspect", tmp_path)
    expected = {
        (f"mockllm/solver / {number + 1} / 1", f"model_graded_qa (mockllm/{judge})", grades[number])
        for judge, grades in GRADES.items()
        for number in range(ITEMS)
    }
    by_rule = {(f"mockllm/solver / {number + 1} / 1", "includes", "C") for number in range(ITEMS)}
    for place in (folder / "logs", folder / "json" / "log.json"):
        labels = cw.read_labels(place, question="correct")
        assert votes_in(labels) == expected | by_rule
        assert labels.report.left_out == {f"{ITEMS} unscored answers not used"[2:]: ITEMS}
        assert labels.report.rows == counted(labels)
    types = dict(cw.questions(folder / "logs").select("question", "type").rows())
    assert types == {"correct": "choice", "f1": "numbers"}
    # One judge graded the same answers once more, in another log.
    both = cw.read_labels([folder / "logs", folder / "later" / "later.eval"], question="correct")
    assert votes_in(both) == expected | by_rule
    assert both.report.repeated == ITEMS


def test_a_real_test_run_of_deepeval(tmp_path: Path) -> None:
    labels = cw.read_labels(make("deepeval", tmp_path))
    assert votes_in(labels) == {
        (f"test_case_{number}", judge, grades[number] == "C")
        for judge, grades in GRADES.items()
        for number in range(ITEMS)
    }
    assert labels.report.rows == counted(labels)


def test_real_samples_of_lm_eval(tmp_path: Path) -> None:
    folder = make("lm-eval", tmp_path) / "out"
    found = {row["question"]: row for row in cw.questions(folder).to_dicts()}
    assert set(found) == {"tiny_choice", "tiny_text / first", "tiny_text / digits"}
    labels = cw.read_labels(folder, question="tiny_choice")
    assert (labels.n_items, labels.n_workers) == (ITEMS, 1)
    truths = dict(cw.read_truth(folder, question="tiny_choice").rows())
    assert sorted(truths.values()) == [0, 0, 0, 1, 1, 1]
    # The harness itself says how many are right.
    (summary,) = folder.glob("*/results_*.json")
    accuracy = json.loads(summary.read_text())["results"]["tiny_choice"]["acc,none"]
    assert sum(truths[item] == label for item, _, label in votes_in(labels)) / ITEMS == pytest.approx(accuracy)
    with pytest.raises(cw.DataError, match="6 invalid answers"):
        cw.read_labels(folder, question="tiny_text / digits")


def test_a_real_output_of_promptfoo(tmp_path: Path) -> None:
    if PROMPTFOO is None:
        pytest.skip("CROWDWISE_PROMPTFOO names no command promptfoo")
    (tmp_path / "judge.js").write_text(
        "module.exports = class { constructor(o) { this.o = o } id() { return this.o.id || 'judge' }\n"
        "async callApi() { const pass = !this.o.config.fails\n"
        "return { output: JSON.stringify({ pass, score: pass ? 1 : 0, reason: '...' }) } } }\n"
    )
    judges = [
        {
            "type": "llm-rubric",
            "value": "{{x}} is polite",
            "metric": "polite",
            "provider": {"id": "file://judge.js", **one},
        }
        for one in ({"label": "ann", "config": {}}, {"label": "bob", "config": {"fails": True}})
    ]
    asserted = [*judges[:1], {"type": "contains", "value": "one"}, {"type": "assert-set", "assert": judges[1:]}]
    tests = [{"vars": {"x": word}, "assert": asserted} for word in ("one", "two")]
    config = {"prompts": ["Say {{x}}", "Tell {{x}}"], "providers": ["echo"], "tests": tests}
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    outside = os.environ | {
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "config"),
    }
    command = [PROMPTFOO, "eval", "-c", "promptfooconfig.json", "--no-cache", "-o", "out.json", "-o", "out.jsonl"]
    subprocess.run(command, cwd=tmp_path, env=outside, capture_output=True, check=False)  # it fails where a test does
    for name in ("out.json", "out.jsonl"):
        labels = cw.read_labels(tmp_path / name, question="polite")
        assert votes_in(labels) == {
            (f"{test} / {prompt}", judge, judge == "ann")
            for test in (0, 1)
            for prompt in (0, 1)
            for judge in ("ann", "bob")
        }
        assert labels.report.left_out == {
            "results of assertions that no model decides": 4,
            "sets of assertions, whose members count by themselves": 4,
        }
