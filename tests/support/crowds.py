"""A Hypothesis strategy that makes small random crowds, as rows of item, worker and label."""

from typing import Any

from hypothesis import strategies as st

Rows = list[tuple[str, str, str]]


@st.composite
def crowds(draw: st.DrawFn) -> Rows:
    """Draw a small crowd in which a worker labels an item at most once."""
    n_items, n_workers, n_classes = draw(st.integers(1, 8)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    pairs = [(i, j) for i in range(n_items) for j in range(n_workers)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=len(pairs), unique=True))
    said = draw(st.lists(st.integers(0, n_classes - 1), min_size=len(chosen), max_size=len(chosen)))
    return [(f"i{i}", f"w{j}", f"c{k}") for (i, j), k in zip(chosen, said, strict=True)]


def fitting(method: Any, rows: Rows) -> Rows:
    """Merge classes, so that there are no more than the method can take."""
    most = method.limits().most_classes or 1000
    return [(i, j, f"c{int(k[1:]) % most}") for i, j, k in rows]


def votes(labels: Any) -> list[tuple[Any, Any, Any]]:
    """The labels of a crowd in memory, as rows."""
    names = labels.names
    return [
        (names.items[int(item)], names.workers[int(worker)], names.classes[int(label)])
        for item, worker, label in zip(labels.item_of, labels.workers, labels.labels, strict=True)
    ]
