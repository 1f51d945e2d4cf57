"""`crowdwise methods`: the methods there are."""

import json
import sys
from typing import Any

import typer

from . import options


def methods(as_json: options.Json = False) -> None:
    """List the methods there are, one line each."""
    from ..methods import METHODS

    rows = [(key, _sentence(method)) for key, method in METHODS.items()]
    if as_json:
        typer.echo(json.dumps(dict(rows)))
        return
    for key, sentence in rows:
        typer.echo(f"{key:<18}{sentence}")


def _sentence(method: Any) -> str:
    """The first sentence of the module that defines a method."""
    return str(sys.modules[method.__module__].__doc__).splitlines()[0]
