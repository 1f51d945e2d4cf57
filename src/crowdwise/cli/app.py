"""The command line program: registers all commands, and turns errors into messages and exit codes.

Modules that are slow to import are imported only inside the commands, so that `--help` answers at once.
"""

import gc
import json
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import takewhile
from typing import Annotated, Any, Final

import typer

from ..errors import CallError, DataError, shortened
from . import datasets, state
from .advice import begin, commands_with, origin_of
from .aggregate import aggregate
from .blocks import blocks
from .compare import compare
from .convert import convert
from .explain import explain
from .groups import Command, CommandGroup, with_groups
from .init import init
from .judges import judges
from .methods import methods
from .next import next_
from .panics import panics_hidden
from .plan import plan
from .questions import questions
from .rank import rank
from .rate import rate
from .report import report
from .review import review
from .signals import EXIT_CODES, code_of_signal
from .simulate import simulate
from .streams import prepare_streams, say
from .text import safe
from .warm_up import warm_up

app = typer.Typer(
    cls=CommandGroup,
    help="Infer the truth from what many workers said.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from .version import version_and_commit

        say(f"crowdwise {version_and_commit()}")
        raise typer.Exit


# What Typer says of wrong values, in plain words.
_PLAIN: Final = {
    ": Value error, ": ": ",
    "Input should be a valid integer, unable to parse string as an integer": "this is not a whole number",
    "Input should be a valid number, unable to parse string as a number": "this is not a number",
}

# The commands, by what they are for, in the order of the help.
_COMMANDS: Final[Mapping[str, Mapping[str, Callable[..., None] | typer.Typer]]] = {
    "Infer": {"aggregate": aggregate, "rate": rate, "compare": compare},
    "Look": {"report": report, "explain": explain, "blocks": blocks, "judges": judges},
    "Decide": {"review": review, "next": next_, "plan": plan},
    "Rank": {"rank": rank},
    "Data": {"init": init, "questions": questions, "convert": convert, "simulate": simulate, "datasets": datasets.app},
    "Housekeeping": {"methods": methods, "state": state.app, "warm-up": warm_up},
}
for panel, commands in _COMMANDS.items():
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            app.command(name, cls=Command, rich_help_panel=panel)(with_groups(command))


def run() -> None:
    """Run the command that the arguments of the process name, and end the process with an exit code.

    A mistake by the user ends it with a one-sentence message: exit code 1 for `DataError`, 2 for `CallError`.
    """
    prepare_streams()
    begin(None)
    code = 0
    try:
        with panics_hidden():
            code = app(prog_name="crowdwise", standalone_mode=False) or 0
        begin(None)
        sys.stdout.flush()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException as problem:  # a panic of Rust is no Exception
        code = code_of_signal() or _answer(problem)
    if code in EXIT_CODES:
        _say_error("Interrupted; no file was left half-written.", code, prefix="")
    # The interpreter would look through all objects for garbage before it ends. DuckDB complains if nobody does.
    if "duckdb" not in sys.modules:
        gc.freeze()
    sys.exit(code)


def _answer(problem: BaseException) -> int:
    """Say what is wrong, and return the exit code. Raises the exception again if it is a fault of crowdwise."""
    match problem:
        case DataError():
            return _say_error(problem, 1)
        case CallError():
            return _say_error(problem, 2)
        case typer.TyperException():  # an option that does not exist, and the like
            return _say_error(_usage_error(problem), problem.exit_code)
        case MemoryError():
            return _say_error("There is not enough memory for this.", 1)
        case OSError():
            return _say_error(f"The operating system refused: {problem}.", 1)
    raise problem


def _say_error(problem: object, code: int, prefix: str = "error: ") -> int:
    """Print an error message, and return the exit code.

    With --json the message is one JSON object on standard output, with `error` and `code`, the exit code.
    """
    message = safe(str(problem))
    message += origin_of(message)
    if message and _wants_json():
        say(json.dumps({"error": message, "code": code}))
    elif message:
        say(f"{prefix}{message}", sys.stderr)
    return code


def _wants_json() -> bool:
    """Return whether --json is among the arguments, also where they cannot be parsed."""
    return "--json" in takewhile(lambda word: word != "--", sys.argv[1:])


def _no_option(problem: typer.TyperException, context: Any) -> str:
    """Return what is wrong with an option that the command does not have: a similar one, or commands that have it."""
    option = str(getattr(problem, "option_name", ""))
    own = [one for param in context.command.get_params(context) for one in param.opts if one.startswith("--")]
    longer = [one for one in own if one.startswith(option) or one.endswith(option[1:])]  # as --for-worker for --worker
    others = commands_with(option, context)
    close = longer[:3] or get_close_matches(option, own, 1, 0.85 if others else 0.6)
    elsewhere = f" It is an option of {', '.join(f'`crowdwise {name}`' for name in others[:3])}." if others else ""
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    return f"No such option: {option}.{elsewhere}{meant}"


def _usage_error(problem: typer.TyperException) -> str:
    """Return what is wrong with the arguments, and where to read about them; empty if that has been printed."""
    message = problem.format_message().strip()
    context = getattr(problem, "ctx", None)
    if not message or context is None:
        return message
    if hasattr(problem, "possibilities"):
        message = _no_option(problem, context)
    end = "" if message.endswith(("?", "!")) else "."
    for of_python, plain in _PLAIN.items():
        message = message.replace(of_python, plain)
    return f"{shortened(message, 300).rstrip('.')}{end} See `{context.command_path} --help`."
