"""`crowdwise state`: merge files with what was learned about workers, and show what is in one."""

from typing import Annotated

import typer

from . import options

app = typer.Typer(
    help="Files that `aggregate --save-state` wrote: add them up, or show one.",
    add_completion=False,
)


@app.command()
def merge(
    files: Annotated[list[str], typer.Argument(help="States of the same method and classes.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Write the sum of them here.")],
    quiet: options.Quiet = False,
) -> None:
    """Add states up, as if all labels had been aggregated one batch after the other."""
    from ..data.targets import check_state
    from ..results.history import History
    from ..results.history import merge as merge_all
    from .terminal import Terminal

    check_state(output, list(files))
    total = merge_all([History.read(path) for path in files])
    total.write(output)
    Terminal(quiet).remark(f"Wrote {output}: what was learned about {len(total.workers):,} workers.")


@app.command()
def show(file: Annotated[str, typer.Argument(help="A state.")]) -> None:
    """Show what is in a state: the method, the classes, and how many workers."""
    from ..results.history import History
    from .terminal import Terminal

    found = History.read(file)
    classes = ", ".join(map(str, found.classes.head(20).to_list())) + (" ..." if len(found.classes) > 20 else "")
    rows = [("method", found.method), ("classes", f"{len(found.classes):,}: {classes}")]
    Terminal(False).table("The state", None, [*rows, ("workers", f"{len(found.workers):,}")])
