"""What a release needs: one version everywhere, and a recipe and a workflow that follow pyproject.toml and .ci/run."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import crowdwise as cw
from crowdwise.cli import version as version_module
from crowdwise.cli.version import version_and_commit

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [cw.__version__]
    assert re.findall(r'^  version: "(.+)"$', RECIPE, re.MULTILINE) == [cw.__version__]
    assert f"## {cw.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [re.sub(r"(?=[<>=])", " ", one.partition(";")[0].strip(), count=1) for one in project["dependencies"]]
    section = RECIPE.partition("  run:\n")[2].partition("  run_constraints:")[0]
    assert re.findall(r"- (.+)", section) == [f"python {project['requires-python']}", *wanted]


def test_the_workflow_names_tests_that_are_there() -> None:
    named = re.findall(r"tests/\S+\.py", WORKFLOW)
    assert named
    assert all((ROOT / name).is_file() for name in named)
    assert re.findall(r"python -m (tools\.\w+)", WORKFLOW) == ["tools.generate", "tools.packages"]


def test_a_checkout_says_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "src" / "crowdwise" / "cli" / "version.py"
    copy.parent.mkdir(parents=True)
    monkeypatch.setattr(version_module, "__file__", str(copy))
    assert version_and_commit() == cw.__version__

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    copy.write_text("")
    git("init", "-q")
    assert version_and_commit() == cw.__version__  # no commit yet
    git("add", ".")
    git("commit", "-qm", "first")
    git("tag", "v9")
    commit = git("rev-parse", "--short=7", "HEAD").strip()
    assert version_and_commit() == f"{cw.__version__} (commit {commit})"
    copy.write_text("changed")
    assert version_and_commit() == f"{cw.__version__} (commit {commit}, changed since)"
