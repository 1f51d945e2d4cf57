"""Log-probabilities in the logs of judges: the votes count by them, and that is said."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowdwise as cw


def batch(folder: Path) -> Path:
    """A batch of OpenAI with two judges, of which one logs the probabilities of its tokens."""
    lines = []
    for item in range(6):
        for judge, chance in (("gpt", 0.9), ("llama", None)):
            said = "yes" if (item + len(judge)) % 2 else "no"
            tokens = [{"token": "Verdict:", "logprob": -0.01}]
            tokens.append({"token": f" {said}", "logprob": math.log(chance or 1)})
            choice: dict[str, Any] = {"message": {"content": f"Verdict: {said}"}}
            choice |= {"logprobs": {"content": tokens}} if chance else {}
            body = {"model": judge, "choices": [choice]}
            lines.append({"custom_id": f"i{item}", "response": {"status_code": 200, "body": body}, "error": None})
    path = folder / "batch.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_the_verdict_of_a_batch_is_as_probable_as_its_tokens(tmp_path: Path) -> None:
    labels = cw.read_labels(batch(tmp_path), verdict="Verdict: (yes|no)")
    assert labels.soft is not None
    assert np.allclose(labels.soft[:, :2].max(axis=1), [0.9, 1.0] * 6)
    assert any("--votes hard" in sentence for sentence in labels.report.understood)
    assert cw.read_labels(batch(tmp_path), verdict="Verdict: (yes|no)", votes="hard").soft is None


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_likelihoods_of_choices_are_a_distribution(engine: str, tmp_path: Path) -> None:
    samples = [{"doc_id": item, "doc_hash": f"h{item}", "target": "0", "filter": "none"} for item in range(5)]
    likelihoods = [["-1.0", "True"], ["-2.0", "False"], ["-3.0", "False"]]
    for judge in ("ann", "bob"):
        (tmp_path / judge).mkdir()
        path = tmp_path / judge / "samples_quiz_2026-01-01T00-00-00.jsonl"
        path.write_text("\n".join(json.dumps(one | {"filtered_resps": likelihoods}) for one in samples))
    labels = cw.read_labels(sorted(tmp_path.glob("*/*.jsonl")), engine=engine)
    expected = np.exp([-1.0, -2.0, -3.0]) / np.exp([-1.0, -2.0, -3.0]).sum()
    result = cw.MajorityVote().fit(labels, warn=False).to_frame(scores=True)
    assert np.allclose(result.select("score_0", "score_1", "score_2").to_numpy(), expected)
