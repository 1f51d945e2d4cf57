"""Hostile options and paths for every command."""

import os
from typing import Any, Final

from typer.main import get_command

from crowdwise.cli.app import app

from .. import hostile
from ..area import Area, Case
from ..containment import contained
from ..rule import Verdict, judge
from ..running import in_process

_PATHS: Final = (
    *("labels.csv", "truth.csv", "nowhere.csv", "folder", ".", "", " ", "-", "*", "*.csv", "[", "folder/*"),
    *("dangling.csv", "loop.csv", "unreadable.csv"),
    *("x" * 300 + ".csv", "a/" * 3000, "nul\x00.csv", os.fsdecode(b"\xff.csv"), "\n.csv", "empty.csv", "~", "$HOME"),
    *("http://127.0.0.1:9/x.csv", "s3://bucket/x.csv", "labels.csv/x", "--", "-x.csv"),
)
# Places outside the folder, for reading only.
_ELSEWHERE: Final = ("/", "..", "/dev/null", "/proc/self/environ", "/proc/self/mem", "/nowhere", "file:///nowhere")
_NUMBERS: Final = (
    "-1",
    "0",
    "1",
    "3",
    "1.5",
    "nan",
    "inf",
    "9" * 20,
    "9" * 400,
    "1e3",
    "\u00b2",
    "",
    "x",
)
_SIZES: Final = ("4GB", "0", "-1", "1B", "20KB", "9" * 400, "\u00b2GB", "1e9", "inf", "GB", "1.5.5MB", "")
# Hostile values by option; options that are not here take any text.
_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "--output": ("out.csv", "out.html", "out.parquet", "out", *_PATHS),
    "--workers": ("out2.csv", "out.csv", "out2.jsonl.gz", *_PATHS),
    "--truth": ("truth.csv", *_PATHS, *_ELSEWHERE),
    "--workdir": ("folder", *_PATHS),
    "--memory": _SIZES,
    "--duplicates": ("first", "last", "latest", "all", "samples", "set", "drop", "error", "FIRST", ""),
    "--engine": ("memory", "disk", "auto", "DISK", "", "\x00"),
    "--method": ("mv", "bwa", "ds", "nothing", "", "BWA", "mv,bwa"),
    "--methods": ("mv", "mv,bwa", "mv,,bwa", ",", "nothing", "", "mv,mv"),
    "--set": ("tolerance=1", "=", "tolerance", "x=1", "tolerance=", "=1", "a=b=c"),
    "--item": ("item", "nothing", "", "label", *hostile.NAMES[:12]),
    "--missing": ("x", "-1", "", "NaN", *hostile.NAMES[:12]),
    "--format": ("csv", "parquet", "jsonl.gz", "xyz", "", "../csv", "csv/x", "html"),
    "--seed": _NUMBERS,
    **dict.fromkeys(("--accuracy", "--concentration", "--workload", "--labels-per-item"), _NUMBERS),
    **dict.fromkeys(("--items", "--classes"), tuple(value for value in _NUMBERS if value != "1e3")),
}
# What every command needs so that some cases get past its first check.
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "aggregate": ("labels.csv",),
    "compare": ("labels.csv", "--methods", "mv,bwa"),
    "report": ("labels.csv", "-o", "page.html"),
    "explain": ("labels.csv", "--item", "1"),
    "blocks": ("labels.csv",),
    "simulate": ("-o", "folder", "--items", "3", "--workers", "2"),
}
_NEVER: Final = frozenset({"--help", "-h", "--master"})  # a cluster takes long to start


def _commands() -> dict[tuple[str, ...], Any]:
    """All commands with their subcommands, by the words that call them."""
    found: dict[tuple[str, ...], Any] = {}
    group: Any = get_command(app)
    for name, command in group.commands.items():
        found[(name,)] = command
        found |= {(name, inner): one for inner, one in getattr(command, "commands", {}).items()}
    del found[("warm-up",)]  # which compiles for longer than a case may take, where nothing is compiled yet
    return found


def attack(case: Case) -> Verdict:
    """Call a command with hostile options."""
    random = case.random
    _furnish(case)
    words, command = random.choice(list(_commands().items()))
    arguments = [*words, *_NEEDED.get(words[0], ())]
    if words[0] == "datasets" and len(words) > 1:
        arguments += random.sample(("web", "nothing", "", "all", hostile.name(case)), random.randint(0, 2))
    options = [one for one in command.params if hasattr(one, "is_flag") and not set(one.opts) & _NEVER]
    for option in random.sample(options, min(len(options), random.randint(0, 3))):
        name = max(option.opts, key=len)
        arguments += [name] if option.is_flag else [name, _value(case, words[0], name)]
    if case.chance(0.15):
        strays = [value for value in (*_PATHS, *hostile.NAMES, "--nonsense") if contained(case, value)]
        arguments.insert(random.randint(0, len(arguments)), random.choice(strays))
    if case.chance(0.1):
        arguments.append(random.choice(_ELSEWHERE))
    run = in_process(case, *arguments, stdin=random.choice((b"", b"\xff", b"item\n1\n")))
    # What a call may write is checked in the area of outputs; here, that it stays in its folder and harms no input.
    written = {path for path, change in run.changes.items() if change == "made" and not path.endswith(".part")}
    return judge(run, written if run.code == 0 else ())


def _value(case: Case, command: str, option: str) -> str:
    """A hostile value for an option."""
    random = case.random
    if command == "simulate" and option == "--workers":
        return random.choice(_NUMBERS)
    if case.chance(0.1):
        value = random.choice((hostile.name(case), "x" * 100_000, "é" * 3000))
        return value if contained(case, value) else "x"
    return random.choice(_VALUES.get(option, hostile.NAMES))


def _furnish(case: Case) -> None:
    """Put files into the folder: labels, truth, and things that are no files."""
    (case.here / "labels.csv").write_text("item,worker,label\n1,a,x\n1,b,y\n1,c,x\n2,a,y\n2,b,y\n")
    (case.here / "truth.csv").write_text("item,truth\n1,x\n2,y\n")
    (case.here / "empty.csv").touch()
    (case.here / "folder").mkdir()
    (case.here / "dangling.csv").symlink_to("nothing")
    (case.here / "loop.csv").symlink_to("loop.csv")
    (case.here / "unreadable.csv").write_text("item,worker,label\n1,a,x\n")
    (case.here / "unreadable.csv").chmod(0)


AREA = Area("options", "hostile options and paths for every command", attack, tested=200)
