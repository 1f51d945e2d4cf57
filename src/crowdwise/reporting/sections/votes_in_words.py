"""`votes_in_words`: the votes on an item as a short text, for a cell of a table."""

from typing import Final

import numpy as np

from ...analysis.condensing import names_as_text
from ...crowd.labels import Labels

# At most this many classes are named; the text says how many others there are.
_MAX_NAMED: Final = 6


def votes_in_words(labels: Labels, i: int) -> str:
    r"""Return the classes that were said about the item with the code `i`, with their counts, the most frequent first.

    >>> labels = Labels.from_arrays([1, 1, 1], ["ann", "bob", "eve"], ["cat", "dog", "dog"])
    >>> votes_in_words(labels, 0).split(" \N{MIDDLE DOT} ")[0] == "2\N{MULTIPLICATION SIGN} dog"
    True
    """
    classes, counts = np.unique(labels.labels[labels.item_starts[i] : labels.item_starts[i + 1]], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    class_names = names_as_text(labels.names.classes.gather(classes[order[:_MAX_NAMED]]))
    said = [f"{count}\N{MULTIPLICATION SIGN} {name}" for name, count in zip(class_names, counts[order], strict=False)]
    if len(order) > _MAX_NAMED:
        said.append(f"{len(order) - _MAX_NAMED} more classes")
    return " · ".join(said)
