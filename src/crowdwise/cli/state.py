"""`crowdwise state`: merge files with what was learned about workers, and show what is in one."""

from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .groups import Command, CommandGroup

if TYPE_CHECKING:
    from ..results.history import History

app = typer.Typer(
    cls=CommandGroup,
    help="Merge or show files that `aggregate --save-state` wrote.",
    add_completion=False,
)


@app.command(cls=Command)
def merge(
    files: Annotated[list[str], typer.Argument(help="States of the same method.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Write the sum of them here.")],
    quiet: options.Quiet = False,
) -> None:
    """Add states up, as if all labels had been aggregated one batch after the other."""
    from ..output.targets import check_state
    from ..results.history import History, shared_items
    from ..results.history import merge as merge_all
    from .terminal import Terminal

    check_state(output, list(files), cloud=True)
    terminal = Terminal(quiet)
    states = [History.read(path) for path in files]
    total = merge_all(states)
    total.write(output)
    if sentence := shared_items(states):
        terminal.remark(sentence)
    terminal.remark(f"Wrote {output}: what was learned about {len(total.workers):,} workers.")


@app.command(cls=Command)
def show(file: Annotated[str, typer.Argument(help="A state.")]) -> None:
    """Show what is in a state: the method, the classes, how many workers, and what else it knows."""
    from ..results.history import CONFIDENCE, History
    from ..results.recalibration import Recalibration
    from .terminal import Terminal

    found = History.read(file)
    classes = ", ".join(map(str, found.classes.head(20).to_list())) + (" ..." if len(found.classes) > 20 else "")
    rows = [("method", found.method), ("classes", f"{len(found.classes):,}: {classes}")]
    rows += [("workers", f"{len(found.workers):,}"), ("items", _items(found))]
    taught = found.shared.get(CONFIDENCE)
    rows.append(
        (
            "gold",
            "none" if taught is None else f"confidence is fitted to {Recalibration.known(taught).items:,.0f} items",
        )
    )
    pairs = [f"{one} copies {other}" for one, other in found.copies.head(5).select("follower", "leader").rows()]
    rows.append(("copies", ", ".join(pairs) + (" ..." if found.copies.height > 5 else "") or "none are known"))
    Terminal(False).table("The state", None, rows)


def _items(state: "History") -> str:
    """Return how many items a state was counted from, as far as its sketch of them says."""
    from ..crowd.item_sketch import count

    if len(state.items) == 0:
        return "not known: an older crowdwise wrote this state"
    number, exact = count(state.items)
    return f"{number:,}" if exact else f"about {number:,}"
