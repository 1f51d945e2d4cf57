"""Tests of where compiled kernels are kept, when they are compiled anew, and that their indices can be checked."""

import hashlib
import os
import py_compile
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from crowdwise.numerics import cache
from tests.attack.areas.kernel_caches import not_to_be_written


def doubling(folder: Path, write: bool = True) -> Any:
    """Import a module with one kernel, as a new process would, and return the kernel."""
    if write:
        folder.mkdir(exist_ok=True)
        (folder / "doubling.py").write_text(
            "from crowdwise.numerics.compilation import compiled\n\n\n@compiled\ndef double(x):\n    return 2 * x\n"
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


def test_a_cache_with_machine_code_for_other_arguments_is_not_used(tmp_path: Path) -> None:
    """Two processes that save kernels at once may leave the file of one behind the index of the other."""
    kernel = doubling(tmp_path)
    assert [kernel(21), kernel(0.25)] == [42, 0.5]
    whole, fraction = sorted((tmp_path / "__pycache__").glob("*.nbc"))
    fraction.write_bytes(whole.read_bytes())
    for is_mended in (False, True):
        again = doubling(tmp_path)
        assert again(0.25) == 0.5
        assert bool(again.stats.cache_hits) == is_mended


def test_a_cache_is_used_until_the_kernel_or_a_module_that_it_imports_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machine code has that of the kernels it calls in it, and their constants."""
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "stamped"
    (package / "nested").mkdir(parents=True)
    begin = "from crowdwise.numerics.compilation import compiled\n"
    for name, text in {
        "__init__.py": "",
        "doubling.py": f"{begin}from .nested import twice\n@compiled\ndef double(x):\n    return twice.twice(x)\n",
        "nested/__init__.py": "",
        "nested/twice.py": f"{begin}from ..factor import FACTOR\n@compiled\ndef twice(x):\n    return FACTOR * x\n",
        "factor.py": "FACTOR = 2\n",
        "stranger.py": f"{begin}from .factor import FACTOR\n@compiled\ndef halve(x):\n    return x / FACTOR\n",
    }.items():
        (package / name).write_text(text)

    def kernel() -> Any:
        for name in [name for name in sys.modules if name.partition(".")[0] == "stamped"]:
            del sys.modules[name]
        cache._read.cache_clear()
        return import_module("stamped.doubling").double

    assert [was_cached(kernel()) for _ in range(2)] == [False, True]
    with (package / "stranger.py").open("a") as file:
        file.write("# changed\n")
    assert was_cached(kernel())
    for imported in ("factor.py", "nested/twice.py", "nested/__init__.py"):
        with (package / imported).open("a") as file:
            file.write("# changed\n")
        assert [was_cached(kernel()) for _ in range(2)] == [False, True]
    py_compile.compile(os.fspath(package / "factor.py"), cfile=os.fspath(package / "factor.pyc"))
    (package / "factor.py").unlink()
    assert not was_cached(kernel())  # what the source is is not known


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_PLACES", [cache._beside_source, cache._in_temporary])
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_files)
    (tmp_path / "__pycache__").touch()  # no folder can be made here, not even by the superuser
    assert not was_cached(doubling(tmp_path))


def no_temporary_files() -> str:
    """As Python does where no folder can be written to."""
    raise FileNotFoundError("No usable temporary directory found")


def test_a_cache_that_can_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose image was warmed up."""
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.setattr(tempfile, "gettempdir", no_temporary_files)
    module = tmp_path / "module"
    assert not was_cached(doubling(module))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with not_to_be_written([module]):
        kernel = doubling(module, write=False)
        assert was_cached(kernel)
        assert kernel(0.25) == 0.5
        assert sorted(path.suffix for path in home.rglob("*.nb?")) == [".nbc", ".nbi"]  # those of the fraction
        home.rename(tmp_path / "gone")
        home.touch()
        again = doubling(module, write=False)
        assert (again(21), again(0.25)) == (42, 0.5)
        assert sum(again.stats.cache_hits.values()) == 1


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, where neither the folders of the source files nor the home may be written to."""
    monkeypatch.setattr(cache, "_PLACES", [cache._in_home, cache._in_temporary])
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_without_a_home_the_cache_is_private_among_the_temporary_files(tmp_path: Path, temporary: Path) -> None:
    kernel = doubling(tmp_path)
    assert kernel._cache.load_overload((), kernel.targetctx) is None
    assert not list(temporary.iterdir())  # looking makes no folder
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
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as where the system does not know the user
    monkeypatch.chdir(tmp_path)
    assert not was_cached(doubling(tmp_path))
    assert not (tmp_path / "~").exists()
    assert list(temporary.rglob("*.nbc"))


def test_an_index_of_types_that_are_no_more_is_thrown_away(tmp_path: Path) -> None:
    assert [was_cached(doubling(tmp_path)) for _ in range(2)] == [False, True]
    (index,) = (tmp_path / "__pycache__").glob("*.nbi")
    content = index.read_bytes()[: -cache._CHECKSUM_BYTES].replace(b"numba.core.types", b"numba.core.tapes")
    index.write_bytes(content + hashlib.sha256(content).digest())
    assert [was_cached(doubling(tmp_path)) for _ in range(2)] == [False, True]


_INTERRUPTED = """
import signal, sys
import numpy as np
from crowdwise.numerics.compilation import allocating

@allocating
def makes(size):
    return np.zeros(size), np.zeros(size)

makes(3)
outcomes = set()
for number in range(3000):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + number * 1e-8)
        while True:
            makes(3)
    except BaseException as problem:
        outcomes.add(type(problem).__name__)
print(outcomes)
"""


def test_ctrl_c_in_a_kernel_is_a_keyboard_interrupt(tmp_path: Path) -> None:
    """Numba goes on after an interrupt while it makes the arrays that a kernel returns, which is a `SystemError`."""
    program = tmp_path / "interrupted.py"
    program.write_text("import signal\nsignal.signal(signal.SIGALRM, signal.default_int_handler)\n" + _INTERRUPTED)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{'KeyboardInterrupt'}\n", "")


_CHECKED = """
import numpy as np
from crowdwise.numerics.compilation import compiled
from crowdwise.numerics.simd import gather, load, scatter, store

U, TWO = np.uint64, (0, 1)

@compiled
def loads(table, row, column):
    store(table, U(0), load(table, U(row), TWO))

@compiled
def stores(table, row, column):
    store(table, U(row), load(table, U(0), TWO))

@compiled
def gathers(table, row, column):
    store(table, U(0), gather(table, U(row), (0, column)))

@compiled
def scatters(table, row, column):
    scatter(table, U(row), (0, column), load(table, U(0), TWO))

@compiled
def looks_up(table, row, column):
    table[0, 0] = table[U(row), U(column)]

for kernel in (loads, stores, gathers, scatters, looks_up):
    kernel(np.zeros((3, 2)), 2, 1)
    for row, column in ((3, 1), (-1, 1)) + (() if kernel in (loads, stores) else ((0, 2),)):
        try:
            kernel(np.zeros((3, 2)), row, column)
        except IndexError:
            continue
        print(kernel.__name__, row, column)
"""


def test_indices_are_checked_where_numba_is_asked_to(tmp_path: Path) -> None:
    """`make test-bounds` rests on this."""
    program = tmp_path / "checked.py"
    program.write_text(_CHECKED)
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout, done.stderr) == ("", "")
