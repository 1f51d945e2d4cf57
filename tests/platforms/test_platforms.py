"""Exports that the platforms' own code made: label-studio-sdk, argilla and toloka-kit, in another environment."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import crowdwise as cw
from tests.platforms.test_importing import votes_in
from tests.support.commands import run as crowdwise
from tests.support.exports import VOTES, label_studio

PLATFORMS = os.environ.get("CROWDWISE_PLATFORMS")
pytestmark = pytest.mark.skipif(
    not PLATFORMS, reason="CROWDWISE_PLATFORMS names no Python with the platforms' packages: make test-platforms"
)
NUMBERS = {"ann": 1, "bob": 2, "cat": 3}


def run(*arguments: Any) -> str:
    """Run a function of `platform_exports` in the other environment; returns what it prints."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [str(PLATFORMS), "-m", "tests.support.platform_exports", *map(str, arguments)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root), "HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_votes(folder: Path) -> None:
    (folder / "votes.json").write_text(json.dumps([(item, NUMBERS[worker], label) for item, worker, label in VOTES]))


def test_label_studio_and_its_small_exports_agree(tmp_path: Path) -> None:
    label_studio().write(tmp_path)
    run("label_studio", tmp_path)
    whole = votes_in(cw.read_labels(tmp_path / "export.json"))
    assert votes_in(cw.read_labels(tmp_path / "json")) == whole
    # The small exports do not mark what is gold, so that it is a vote there.
    with_gold = sorted([*whole, (1, "9", "a")], key=str)
    as_text = [(str(item), worker, label) for item, worker, label in with_gold]
    assert votes_in(cw.read_labels(tmp_path / "min", question="mood")) == with_gold
    for folder in ("csv", "tsv"):
        (path,) = (tmp_path / folder).iterdir()
        labels = cw.read_labels(path, question="mood")
        assert votes_in(labels) == as_text
        assert labels.report.understood[0].startswith(f"{path} is a small Label Studio export")


def test_label_studio_takes_the_predictions(tmp_path: Path) -> None:
    path = label_studio().write(tmp_path)
    out = tmp_path / "predictions.json"
    assert crowdwise("aggregate", path, "--format", "label-studio", "-o", out).returncode == 0
    assert json.loads(run("label_studio_check", out)) == []


def test_argilla_in_every_form(tmp_path: Path) -> None:
    write_votes(tmp_path)
    run("argilla", tmp_path)
    votes = sorted(
        (f"r{item}", f"00000000-0000-0000-0000-{NUMBERS[worker]:012}", label) for item, worker, label in VOTES
    )
    for name in ("flat.json", "columns.json", "train.parquet"):
        labels = cw.read_labels(tmp_path / name, question="q")
        assert votes_in(labels) == votes
        assert labels.report.left_out["discarded answers not used"] == 4
        models = cw.read_labels(tmp_path / name, question="q", models=True)
        assert ("r1", "gpt", "b") in votes_in(models)
    nested = cw.read_labels(tmp_path / "disk")  # the settings say that the other question asks for text
    assert nested.n_labels == len(VOTES) + 4  # nested records do not say what was discarded


def test_toloka(tmp_path: Path) -> None:
    write_votes(tmp_path)
    run("toloka", tmp_path)
    labels = cw.read_labels(tmp_path / "pool.tsv")
    assert votes_in(labels) == sorted((f"i{item}", f"w{NUMBERS[worker]}", label) for item, worker, label in VOTES)
    assert labels.report.repeated == 4  # submitted and approved
    assert sum(labels.report.left_out.values()) == 4 * 4
