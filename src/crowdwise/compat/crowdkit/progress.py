"""`shown_steps`: numbers from 0 on, with a progress bar if it is wanted."""

from collections.abc import Iterable


def shown_steps(count: int, title: str, shown: bool) -> Iterable[int]:
    """Return the numbers from 0 up to, not including, `count`; if `shown`, a bar in the terminal moves with them."""
    if not shown:
        return range(count)
    from rich.progress import track

    return track(range(count), title)
