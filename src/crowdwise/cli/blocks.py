"""`crowdwise blocks`: find workers who are not independent."""

import json
from contextlib import closing
from typing import Annotated

import typer

from . import options
from .streams import say


def blocks(
    reading: options.Labelled,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the workers of each group here.")
    ] = None,
    engine: options.Engine = "auto",
    memory: options.Memory = None,
    workdir: options.Workdir = None,
    master: options.Master = None,
    bom: options.Bom = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Find workers who agree too often to be independent, such as copies; no truth is needed."""
    from ..analysis.blocks import blocks as find_blocks
    from ..output.targets import check_targets
    from ..output.writing import write
    from . import session
    from .terminal import Terminal

    read_options = reading.options(engine=engine, memory=memory, workdir=workdir, master=master)
    targets = [] if output is None else [output]
    check_targets(targets, reading.files, bom=bom)
    terminal = Terminal(quiet)
    with terminal.compiling():
        labels = session.read(terminal, reading, read_options)
        with closing(labels):
            found = find_blocks(labels)
    write(dict.fromkeys(targets, found.to_frame()), reading.storage_options(), bom=bom)
    for target in targets:
        terminal.remark(f"Wrote {target}")
    if as_json:
        say(json.dumps({**found.to_dict(), "written": targets}, default=str))
        return
    terminal.notes([found.summary])
    shown = found.blocks_frame()
    rest = "-o FILE writes them all" if output is None else f"all are in {output}"
    terminal.head("Blocks of workers who are not independent", shown.lazy(), 10, shown.height, rest=rest)
    terminal.notes(found.cautions)
