"""What was said about an item, in a few words."""

from typing import Final

import numpy as np

from ...data.labels import Labels
from ..cells import names_as_text

# More classes than this are counted, not named.
_NAMED: Final = 6


def votes_in_words(labels: Labels, i: int) -> str:
    r"""The classes said about the item with the number `i`, each with how often; the most frequent first.

    >>> labels = Labels.from_arrays([1, 1, 1], ["ann", "bob", "eve"], ["cat", "dog", "dog"])
    >>> votes_in_words(labels, 0).split(" \N{MIDDLE DOT} ")[0] == "2\N{MULTIPLICATION SIGN} dog"
    True
    """
    classes, counts = np.unique(labels.labels[labels.item_starts[i] : labels.item_starts[i + 1]], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    called = names_as_text(labels.names.classes.gather(classes[order[:_NAMED]]))
    said = [f"{count}\N{MULTIPLICATION SIGN} {name}" for name, count in zip(called, counts[order], strict=False)]
    if len(order) > _NAMED:
        said.append(f"{len(order) - _NAMED} more classes")
    return " · ".join(said)
