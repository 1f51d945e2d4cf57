"""`crowdwise methods`: list the methods."""

import json

import typer

from . import options


def methods(as_json: options.Json = False) -> None:
    """List the methods there are, one line each."""
    from ..methods import METHODS

    rows = [(key, method.summary) for key, method in METHODS.items()]
    if as_json:
        typer.echo(json.dumps(dict(rows)))
        return
    for key, sentence in rows:
        typer.echo(f"{key:<18}{sentence}")
