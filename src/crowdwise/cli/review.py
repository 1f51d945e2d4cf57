"""`crowdwise review`: an expert decides items on a page in the browser, and the decisions are gold."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from . import options
from .groups import NotWith
from .streams import say
from .text import printable

# A command to copy is cut only where it has more characters.
_LONGEST: Final = 10_000


def review(
    context: typer.Context,
    reading: options.Labelled,
    items: Annotated[
        str | None, typer.Option(metavar="FILE", help="A table with more about the items, such as texts and images.")
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Which columns to show, as in text,image; all if left out.",
            callback=options.in_utf8,
        ),
    ] = None,
    media: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where the images, sound and video are that columns name.")
    ] = None,
    remote: Annotated[
        bool, typer.Option("--remote", help="Let the page load images, sound and video from other machines.")
    ] = False,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who decides; your user name if left out.", callback=options.in_utf8),
    ] = None,
    plan: Annotated[
        str, typer.Option(metavar="PLAN", help="Which items, in which order; or a number of random items.")
    ] = "random:30,settle:10,worst",
    decisions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Where decisions are written; labels.decisions.csv beside labels.csv if left out."
        ),
    ] = None,
    method: options.MethodKey = options.DEFAULT_METHOD,
    set_: options.Settings = None,
    numeric: options.Numeric = False,
    ordinal: options.Ordinal = False,
    order: options.Order = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address of the server; others than 127.0.0.1 need a password.")
    ] = ("127.0.0.1"),
    port: Annotated[
        int, typer.Option(metavar="N", help="The port of the server; a free one if left out.", show_default=False)
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only, as for `ssh -L`.")] = False,
    seed: Annotated[int, typer.Option(help="The seed of what is drawn at random.")] = 0,
    feedback: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Open no page: write a file for each worker here, with the items decided otherwise."
        ),
        NotWith("port", "writes files and opens no page, so --port does nothing."),
        NotWith("host", "writes files and opens no page, so --host does nothing."),
        NotWith("plan", "writes files and opens no page, so --plan does nothing."),
        NotWith("reviewer", "writes files and opens no page, so --reviewer does nothing."),
        NotWith("no_browser", "writes files and opens no page, so --no-browser does nothing."),
        NotWith("seed", "writes files and opens no page, so --seed does nothing."),
        NotWith("remote", "writes files and opens no page, so --remote does nothing."),
        NotWith("media", "writes files and opens no page, so --media does nothing."),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Decide items yourself, on a page in the browser; every decision improves the answers."""
    from ..errors import CallError, require_extra
    from ..reviewing import review as reviewing
    from ..reviewing.desk import Setting
    from ..reviewing.item_columns import read_contents
    from ..reviewing.log import DecisionFile, default_path
    from ..reviewing.plan import Plan
    from ..sources.paths import is_stream
    from . import numbers, session
    from .terminal import Terminal

    Plan.of(plan)
    if feedback is None:
        require_extra("review", "A review")
    chosen = numbers.choose(context, method, set_)[1] if numeric else session.choose_method(method, set_)
    asked = session.read_order(ordinal, order, None)
    terminal = Terminal(quiet)
    with terminal.compiling():
        labels = session.read(terminal, reading, numeric=numeric, ordered=asked is not None)
        if decisions is None and not Path(reading.files[0]).is_file():
            raise CallError(
                "Name the file that decisions are written to (--decisions): the labels are in no single file."
            )
        path = default_path(reading.files[0]) if decisions is None else Path(decisions)
        files = None if any(is_stream(one) for one in reading.files) else reading.files  # a stream is read only once
        contents = read_contents(labels, files, reading.options(numeric=numeric), items, show, media, remote)
        if feedback is not None:
            terminal.remark(reviewing.write_feedback(labels, path, contents, Path(feedback)))
            return
        title = reading.shown_name
        gold = "--numeric --truth" if numeric else "--gold"
        more = "" if numeric else " --provenance"
        command = f"crowdwise aggregate {reading.arguments()} {gold} {shlex.quote(str(path))} -o truth.csv{more}"
        who = reviewer or reviewing.user_name()
        about = Setting(title, who, command, session.command_line(), seed, reviewing.class_order(labels, asked))
        with DecisionFile(path):  # a file that cannot be used is refused before the fit
            pass
        first = session.fit(terminal, chosen, labels, strict=reading.strict)
        with reviewing.opened_desk(labels, chosen, path, contents, plan, about, first) as desk:
            ask = partial(typer.prompt, "Password for the page", hide_input=True) if sys.stdin.isatty() else None
            reviewing.serve(desk, host=host, port=port, browser=not no_browser, say=terminal.remark, show=say, ask=ask)
            if desk.decisions().height and not quiet:
                say(f"Use them: {printable(command, _LONGEST)}")
