"""`crowdwise methods`: list the methods, or say what one of them does and takes."""

import json
from typing import Annotated, Any, Final

import typer

from . import options
from .streams import say

_COLUMNS: Final = ("name", "default", "allowed", "meaning")


def methods(
    key: Annotated[
        str | None,
        typer.Argument(metavar="METHOD", help="A method, to read about it.", autocompletion=options.complete_methods),
    ] = None,
    numeric: Annotated[
        bool, typer.Option("--numeric", help="Only methods for numbers; some have the same key.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """List the methods, or describe one and its parameters."""
    from ..methods import METHODS, NUMERIC_METHODS, choose

    if key is not None:
        only_numeric = key in NUMERIC_METHODS and key not in METHODS
        _about(key, type(choose(key, numbers=numeric or only_numeric)), as_json)
        if key in NUMERIC_METHODS and key in METHODS and not numeric and not as_json:
            say(f"There is a method {key} for numbers too: `crowdwise methods {key} --numeric`.")
        return
    classes = {} if numeric else {key: method.summary for key, method in METHODS.items()}
    numbers = {key: method.summary for key, method in NUMERIC_METHODS.items()}
    if as_json:
        say(json.dumps(classes | {"numeric": numbers}))
        return
    for name, sentence in classes.items():
        say(f"{name:<18}{sentence}")
    say("For numbers, with --numeric:" if numeric else "\nFor numbers, with --numeric:")
    for name, sentence in numbers.items():
        say(f"{name:<18}{sentence}")


def _about(key: str, method: Any, as_json: bool) -> None:
    """Print what a method does, where it is from, where it runs, and its parameters."""
    from dataclasses import asdict

    from ..fitting.parameters import parameters_of
    from .terminal import Terminal

    parameters = [(one.name, repr(one.default), one.allowed, one.meaning) for one in parameters_of(method).values()]
    if as_json:
        about = {"key": key, "summary": method.summary, "paper": asdict(method.paper)}
        rows = [dict(zip(_COLUMNS, row, strict=True)) for row in parameters]
        say(json.dumps({**about, "parameters": rows}))
        return
    say(f"{key} ({method.__name__} in Python)\n\n{method.summary}\n")
    say(f"{method.paper}\n")
    terminal = Terminal(False)
    if parameters:
        terminal.table("Parameters, for --set name=value", _COLUMNS, parameters)
