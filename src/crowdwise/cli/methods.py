"""`crowdwise methods`: list the methods."""

import json

from . import options
from .streams import say


def methods(as_json: options.Json = False) -> None:
    """List the methods there are, one line each."""
    from ..methods import METHODS

    rows = [(key, method.summary) for key, method in METHODS.items()]
    if as_json:
        say(json.dumps(dict(rows)))
        return
    for key, sentence in rows:
        say(f"{key:<18}{sentence}")
