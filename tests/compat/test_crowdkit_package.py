"""Tests of what compat.crowdkit has besides aggregators: parameters, metrics, datasets, refusals, other names."""

import hashlib
import importlib
import re
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest

from crowdwise import CallError, DataError
from crowdwise.compat.crowdkit import datasets
from crowdwise.compat.crowdkit.aggregation import (
    GLAD,
    MACE,
    MMSR,
    BinaryRelevance,
    DawidSkene,
    GoldMajorityVote,
    MajorityVote,
    Wawa,
    ZeroBasedSkill,
)
from crowdwise.compat.crowdkit.aggregation.base import NotFittedError
from crowdwise.compat.crowdkit.aggregation.utils import get_accuracy
from crowdwise.compat.crowdkit.metrics.data import alpha_krippendorff, consistency, uncertainty
from crowdwise.compat.crowdkit.metrics.workers import accuracy_on_aggregates
from crowdwise.compat.crowdkit.postprocessing import entropy_threshold
from crowdwise.compat.crowdkit.unsupported import UNSUPPORTED
from tests.support.toy_crowd import EVERY, GOLD, frame, toy_answers


@pytest.fixture
def toy() -> Any:
    return toy_answers()


def test_not_fitted_is_scikit_learns_error_where_that_is_used(toy: Any) -> None:
    exceptions = pytest.importorskip("sklearn.exceptions")
    for method in (Wawa(), ZeroBasedSkill(), GoldMajorityVote(), MMSR()):
        with pytest.raises(NotFittedError, match="call fit first") as refused:
            method.predict(toy)
        assert isinstance(refused.value, exceptions.NotFittedError)


@pytest.mark.parametrize("method", [*(method() for method in EVERY), BinaryRelevance(DawidSkene(7))])
def test_parameters_and_scikit_learns_clone(method: Any) -> None:
    base = pytest.importorskip("sklearn.base")
    copy = base.clone(method.set_params(**method.get_params(deep=False)))
    assert type(copy) is type(method)
    assert repr(copy) == repr(method)
    with pytest.raises(CallError, match="has no parameter 'n_itre'"):
        method.set_params(n_itre=1)


def test_parameters_of_parameters() -> None:
    both = BinaryRelevance(DawidSkene(7))
    assert both.get_params()["base_aggregator__n_iter"] == 7
    assert both.set_params(base_aggregator__n_iter=8).base_aggregator.n_iter == 8
    assert DawidSkene(5, 0.1, "assign").get_params() == {"n_iter": 5, "tol": 0.1, "initial_error_strategy": "assign"}


def test_metrics_of_the_toy_crowd(toy: Any) -> None:
    assert consistency(toy) == 0.9384615384615385
    assert consistency(toy, by_task=True).index.name == "task"
    skills = MajorityVote().fit(toy).skills_
    assert uncertainty(toy, skills) == uncertainty(toy, aggregator=Wawa()) == 0.6308666201949331
    assert uncertainty(toy, compute_by="worker", aggregate=False)["w2"] == pytest.approx(0.673012, abs=1e-5)
    assert alpha_krippendorff(toy) == 0.14219114219114215
    assert alpha_krippendorff(toy, lambda one, other: float(one != other)) == 0.14219114219114215
    assert accuracy_on_aggregates(toy) == 0.7083333333333334
    assert accuracy_on_aggregates(toy, by="worker").tolist() == [0.6, 0.8, 1.0, 0.4, 0.8]
    assert get_accuracy(toy, GOLD) == 5 / 9
    with pytest.raises(AssertionError, match="first 'w2'"):
        uncertainty(toy, skills.iloc[:1])
    with pytest.raises(AssertionError, match="learns no skills"):
        consistency(toy, aggregator=GLAD())
    with pytest.raises(KeyError):
        uncertainty(toy, compute_by="nothing")
    with pytest.raises(TypeError):
        consistency([])


def test_workers_who_always_say_the_same_are_left_out() -> None:
    rows = frame(
        *((t, w, frozenset([label])) for t, said in enumerate(["dcc", "ccd", "dcc"]) for w, label in enumerate(said))
    )
    kept = entropy_threshold(rows)
    assert sorted(set(kept["worker"])) == [0, 2]
    with pytest.warns(UserWarning, match="Removed >= 1/2 of answers with entropy_threshold"):
        assert entropy_threshold(rows[rows["worker"] < 2])["worker"].tolist() == [0, 0, 0]
    pd.testing.assert_frame_equal(entropy_threshold(rows, min_answers=4), rows)  # nobody is judged


def test_progress_is_shown_if_asked(toy: Any, capsys: pytest.CaptureFixture[str]) -> None:
    GLAD(2, silent=False).fit(toy)
    MACE(2, 2, verbose=1).fit(toy)
    assert "GLAD" in (shown := capsys.readouterr().out)
    assert "MACE" in shown


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, row in UNSUPPORTED.items() for name in row.classes])
def test_classes_that_we_do_not_have_can_be_imported_and_refuse_when_made(path: str, name: str) -> None:
    module = importlib.import_module(f"crowdwise.compat.crowdkit.{path}")
    package = importlib.import_module(f"crowdwise.compat.crowdkit.{path.split('.')[0]}")
    made = getattr(module, name)
    assert getattr(package, name) is made  # `learning` is its own package
    assert issubclass(made, UNSUPPORTED[path].base)
    with pytest.raises(CallError, match=f"crowdwise has no {name}: it aggregates labels, not .*use crowd-kit"):
        made(n_iter=10)


class Handler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_datasets_are_read_from_crowd_kits_folder_or_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = dict(datasets.get_datasets_list())
    assert {"relevance-2", "relevance-5", "nist-trec-relevance"} <= set(names)
    with ZipFile(tmp_path / "there.zip", "w") as archive:
        archive.writestr("inside/crowd_labels.csv", "worker,task,label\nw1,t1,1\nw2,t1,0\n")
        archive.writestr("inside/gt.csv", "task,label\nt1,1\n")
    (tmp_path / "there.md5").write_text(hashlib.md5((tmp_path / "there.zip").read_bytes()).hexdigest() + "\n")
    (tmp_path / "damaged.zip").write_bytes((tmp_path / "there.zip").read_bytes()[:-1])
    (tmp_path / "damaged.md5").write_bytes((tmp_path / "there.md5").read_bytes())
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        names = {"relevance-2": "there", "relevance-5": "absent", "netease_crowd": "damaged"}
        sources = {name: datasets._Source("", f"{address}/{file}") for name, file in names.items()}
        monkeypatch.setattr(datasets, "_SOURCES", sources)
        for _ in range(2):  # the second time it is there
            labels, truth = datasets.load_dataset("relevance-2", tmp_path / "home")
            assert list(labels.columns) == ["worker", "task", "label"]
            assert (truth.name, truth.index.name, truth.to_dict()) == ("true_label", "task", {"t1": 1})
            (tmp_path / "there.zip").unlink(missing_ok=True)
        for name, sentence in (("relevance-5", "404"), ("netease_crowd", "MD5 hash of downloaded file .* not match")):
            with pytest.raises(DataError, match=f"could not be downloaded: {sentence}.* by hand"):
                datasets.load_dataset(name, tmp_path / "home")
        server.shutdown()
        thread.join()
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["relevance-2"]
    with pytest.raises(ValueError, match="There is no dataset 'relevance-3'"):
        datasets.load_dataset("relevance-3")
    with pytest.raises(CallError, match="segmentations"):
        datasets.load_dataset("mscoco")


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_modules_work_under_the_name_crowdkit() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "how-to" / "from-crowdkit.md").read_text(encoding="utf-8")
    alias = next(code for code in re.findall("```python\n(.*?)```", guide, re.DOTALL) if "sys.modules" in code)
    done = run(
        f"{alias}\n"
        "from crowdkit.aggregation import BinaryRelevance, DawidSkene, MajorityVote\n"
        "from crowdkit.aggregation.classification.majority_vote import MajorityVote as by_its_module\n"
        "from crowdkit.aggregation.multilabel.binary_relevance import BinaryRelevance as by_its_module_too\n"
        "from crowdkit.aggregation.base import BaseClassificationAggregator\n"
        "from crowdkit.metrics.workers import accuracy_on_aggregates\n"
        "from crowdkit.aggregation.texts import ROVER\n"
        "import crowdkit.postprocessing, crowdkit.datasets, crowdkit.learning, crowdkit.metrics.data\n"
        # No class may be there twice, or `isinstance` says no.
        "assert MajorityVote is by_its_module and BinaryRelevance is by_its_module_too\n"
        "assert isinstance(MajorityVote(), BaseClassificationAggregator)\n"
        "class Own(BaseClassificationAggregator): pass\n"
        "BinaryRelevance(Own())\n"
        "print(DawidSkene.__module__)"
    )
    assert done.stdout.strip() == "crowdwise.compat.crowdkit.aggregation.classification.dawid_skene", done.stderr


def test_without_pandas_one_sentence_names_the_extra() -> None:
    done = run(
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'pandas' else find(name, *rest)\n"
        "import crowdwise.compat.crowdkit"
    )
    assert "crowdwise.compat.crowdkit needs pandas: pip install 'crowdwise[crowdkit]'" in done.stderr
    assert run("import sys, crowdwise.cli, crowdwise.methods; assert 'pandas' not in sys.modules").returncode == 0
