"""Tests that kernels give the same numbers as another way to compute them, wherever they are kept or not."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdwise import kernels
from crowdwise.kernels import Array, cache
from crowdwise.kernels.compilation import compiled
from crowdwise.kernels.simd.exponential import exponential
from crowdwise.kernels.simd.lanes import load, store
from crowdwise.methods.cbcc.softmax_scores import score_posterior, softmax_message

THREE = (0, 1, 2)


@compiled
def exponentials(x: Array, out: Array) -> None:
    for i in range(np.uint64(len(x))):
        store(out, i, exponential(load(x, i, THREE), THREE))


def test_exponentials_are_right_to_the_last_bits() -> None:
    random = np.random.default_rng(1)
    x = -np.concatenate(
        [random.exponential(1e-3, 30_000), random.uniform(0, 50, 30_000), random.uniform(0, 700, 30_000)]
    )
    out = np.empty((30_000, 3))
    exponentials(x.reshape(-1, 3), out)
    expected = np.exp(x)
    assert (np.abs(out.ravel() - expected) <= 2 * np.spacing(expected)).all()


def test_exponentials_of_zero_and_of_next_to_nothing() -> None:
    x = np.array([[0.0, -0.0, -1e-300], [-708.5, -720.0, -744.9], [-746.0, -1e300, -np.inf]])
    out = np.empty_like(x)
    exponentials(x, out)
    assert out[0].tolist() == [1, 1, 1]
    assert out[1] == pytest.approx(np.exp(x[1]), rel=1e-12)
    assert out[2].tolist() == [0, 0, 0]


@pytest.mark.parametrize("negligible", [np.inf, 3.0])
@pytest.mark.parametrize("scored", [True, False])
def test_few_classes_are_swept_as_many_are(negligible: float, scored: bool) -> None:
    random = np.random.default_rng(2)
    starts, workers = np.arange(0, 601, 3), random.integers(5, size=600).astype(np.int32)
    labels = random.integers(3, size=600).astype(np.uint8)
    evidence = np.log(random.dirichlet(np.ones(3), (5, 3)))
    evidence[0] = -np.inf  # a label of this worker makes every class impossible
    evidence[1, 0, 2] = -np.inf
    swept = []
    for block in (THREE, None):
        scores, changes = np.full((200, 3), 0.25), np.zeros(3)
        counts = np.zeros((5, 3, 3)), np.zeros(3), np.zeros(1)
        prior = np.log([0.5, 0.3, 0.2])
        given = (evidence.reshape(-1, 3), prior) if scored else None
        kernels.sweep_confusions(starts, workers, labels, block, given, negligible, scores, changes, *counts)
        swept.append((scores, changes, *counts))
    for few, many in zip(*swept, strict=True):
        np.testing.assert_allclose(few, many, rtol=1e-13)
    scores = swept[0][0]
    assert scores.sum(axis=1) == pytest.approx(np.ones(200) if scored else np.full(200, 0.75))
    if scored:
        impossible = (workers.reshape(200, 3) == 0).any(axis=1)
        assert impossible.any()
        assert scores[impossible] == pytest.approx(1 / 3)
        assert ((scores == 0).any(axis=1)[~impossible]).any()


@pytest.mark.parametrize("classes", [1, 2, 5, 20])
def test_scores_after_a_message_are_those_of_the_inverted_matrix(classes: int) -> None:
    random = np.random.default_rng(3)
    mean, centre = random.normal(size=(2, 30, classes))
    variance = random.uniform(0.1, 1, (30, classes))
    said = random.gamma(1, 5, (30, classes))
    said[0] = 0  # no label
    message, linear = softmax_message(mean, variance, said)
    covariance = np.linalg.inv(message + 5 * np.eye(classes))
    found_mean, found_variance = score_posterior(mean, variance, said, centre, 5.0)
    assert found_mean == pytest.approx(np.einsum("jlm,jm->jl", covariance, linear + 5 * centre), abs=1e-12)
    assert found_variance == pytest.approx(np.diagonal(covariance, axis1=1, axis2=2), abs=1e-12)


def doubling(folder: Path) -> Any:
    """Import a module with one kernel, as a new process would, and return the kernel."""
    folder.mkdir(exist_ok=True)
    (folder / "doubling.py").write_text(
        "from crowdwise.kernels.compilation import compiled\n\n\n@compiled\ndef double(x):\n    return 2 * x\n"
    )
    spec = spec_from_file_location("doubling", folder / "doubling.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


def was_cached(kernel: Any) -> bool:
    assert kernel(21) == 42
    return bool(kernel.stats.cache_hits)


@pytest.mark.parametrize("extension", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: b"", id="empty"),
        pytest.param(lambda content: content[: len(content) // 2], id="truncated"),
        pytest.param(lambda content: content[:-40] + b"?" + content[-39:], id="changed"),
    ],
)
def test_a_damaged_cache_is_thrown_away(damage: Callable[[bytes], bytes], extension: str, tmp_path: Path) -> None:
    assert [was_cached(doubling(tmp_path)) for _ in range(2)] == [False, True]
    (file,) = (tmp_path / "__pycache__").glob(f"*.{extension}")
    file.write_bytes(damage(file.read_bytes()))
    assert [was_cached(doubling(tmp_path)) for _ in range(2)] == [False, True]


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    kernel = doubling(tmp_path)
    shutil.rmtree(tmp_path / "__pycache__")
    (tmp_path / "__pycache__").touch()  # no folder can be made here, not even by the superuser
    assert not was_cached(kernel)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, where neither the folders of the source files nor the home may be written to."""
    monkeypatch.setattr(cache._Kernels, "_locator_classes", [cache._HomeLocator, cache._TemporaryLocator])
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_without_a_home_the_cache_is_private_among_the_temporary_files(tmp_path: Path, temporary: Path) -> None:
    assert [was_cached(doubling(tmp_path)) for _ in range(2)] == [False, True]
    (folder,) = temporary.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert next(folder.rglob("*.nbc"))


@pytest.mark.parametrize("planted", ["link", "open to all", "file", "of another"])
def test_a_cache_that_others_could_have_planted_is_not_used(
    planted: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = temporary / f"crowdwise-kernels-{os.getuid()}"
    if planted == "link":
        folder.symlink_to(tmp_path)
    elif planted == "file":
        folder.touch()
    else:
        folder.mkdir(mode=0o700)
        folder.chmod(0o777 if planted == "open to all" else 0o700)
    if planted == "of another":
        another = os.getuid() + 1
        folder.rename(temporary / f"crowdwise-kernels-{another}")
        monkeypatch.setattr(os, "getuid", lambda: another)
    assert not was_cached(doubling(tmp_path))
    assert not list(tmp_path.rglob("*.nb?"))


def test_a_home_that_is_unknown_is_no_folder_of_that_name(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "~/.cache")
    monkeypatch.chdir(tmp_path)
    assert not was_cached(doubling(tmp_path))
    assert not (tmp_path / "~").exists()
    assert list(temporary.rglob("*.nbc"))
