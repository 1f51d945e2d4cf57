"""`review`: an expert decides items on a page in the browser, and the decisions are gold."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from typing import Any, Final, overload

import numpy as np
import polars as pl

from ..analysis.ordinal import Ordinal
from ..analysis.ordinal import ordinal as ordinal_of
from ..analysis.pairing import require_order
from ..analysis.planning.needs import require_in_memory, require_whole
from ..analysis.review import review_list
from ..crowd.labels import Labels
from ..crowd.protocol import is_crowd
from ..errors import CallError, require_extra, require_kind
from ..fitting.method import Method
from ..methods import as_method
from ..methods.adjudicator import Adjudicator
from ..methods.numeric.robust import NumericRobust
from ..reading.read_labels import read_labels, read_options
from ..results.result import Result
from ..results.tables import ResultTables
from .contents import Contents
from .desk import Desk, Setting
from .feedback import feedback
from .item_columns import read_contents
from .log import DecisionFile, default_path
from .plan import DEFAULT_PLAN, Plan

HOST: Final = "127.0.0.1"
# A thread that fits must give way to one that answers the page after so many seconds; Python's own are 5 ms, and an
# answer waits several times.
_SWITCH: Final = 0.0001
# Where the password of a server that other machines reach is taken from.
PASSWORD: Final = "CROWDWISE_REVIEW_PASSWORD"


@overload
def review(labels: Result, items: Labels, *, top: int | None = ..., below: float | None = ...) -> pl.DataFrame: ...


@overload
def review(
    labels: Any,
    items: Any = ...,
    *,
    show: str | Sequence[str] | None = ...,
    media: str | os.PathLike[str] | None = ...,
    remote: bool = ...,
    reviewer: str | None = ...,
    plan: str | int = ...,
    decisions: str | os.PathLike[str] | None = ...,
    method: str | Method | None = ...,
    numeric: bool = ...,
    ordinal: bool = ...,
    order: Sequence[Any] | None = ...,
    host: str = ...,
    port: int = ...,
    browser: bool = ...,
    seed: int = ...,
    say: Callable[[str], None] = ...,
    **options: Any,
) -> pl.DataFrame: ...


def review(
    labels: Any,
    items: Any = None,
    *,
    show: str | Sequence[str] | None = None,
    media: str | os.PathLike[str] | None = None,
    remote: bool = False,
    reviewer: str | None = None,
    plan: str | int = DEFAULT_PLAN,
    decisions: str | os.PathLike[str] | None = None,
    method: str | Method | None = None,
    numeric: bool = False,
    ordinal: bool = False,
    order: Sequence[Any] | None = None,
    host: str = HOST,
    port: int = 0,
    browser: bool = True,
    seed: int = 0,
    say: Callable[[str], None] = print,
    top: int | None = None,
    below: float | None = None,
    **options: Any,
) -> pl.DataFrame:
    """Let an expert decide items on a page in the browser, one by one; the decisions are gold.

    The page shows an item without the votes, and after the decision what the crowd said. Every decision is in the file
    before the page goes on. The method is fitted again in the background. The call returns when the page is finished,
    or at Ctrl-C; called again, the review goes on. Needs the extra `review`: pip install 'crowdwise[review]'.

    Called with a result and its labels, `review(result, labels)` is `review_list`.

    Args:
        labels: Labels in memory, or what `read_labels` takes: a path or a table.
        items: What is shown of the items: a table or a path with a column of items and other columns. Columns of the
            labels' own table that are constant within an item are shown too.
        show: The columns to show, in this order: a list, or text such as "text,image"; None for all.
        media: The folder of pictures, sound and video that columns name; no file elsewhere is shown.
        remote: Whether the page may load these from addresses on other machines.
        reviewer: Who decides; None for the name of the user. The page can change it.
        plan: Which items, in which order: a text such as "random:30,settle:10,worst", or the number of random items.
        decisions: The file of decisions; None for labels.decisions.csv beside labels.csv.
        method: The method, or its key; None for the default.
        numeric: Whether labels are numbers. Decisions then measure the inferred numbers, and do not change them.
        ordinal: Whether classes are numbers in their order.
        order: The same for other classes: all of them, from the lowest to the highest.
        host: The address of the server. Other machines can reach it only if this is no loopback address; then the
            variable CROWDWISE_REVIEW_PASSWORD must hold a password, and nothing is encrypted.
        port: The port; 0 for a free one.
        browser: Whether to open the page in a browser.
        seed: The seed of what is drawn at random.
        say: Is called with sentences for the user, such as the address of the page.
        top: For `review_list`.
        below: For `review_list`.
        options: What `read_labels` takes, if labels are to be read.

    Returns:
        The decisions that were not undone: item, truth, reviewer, time, seconds, visible, source, sure, guideline,
        comment and action. `gold=` of `aggregate` and of every method takes this table, and the file.

    Raises:
        CallError: An argument is not allowed, a port is in use, or the file is open elsewhere.
        DataError: Something cannot be read, or the file is about another crowd.
    """
    if isinstance(items, ResultTables):
        require_order(labels)
    if isinstance(labels, ResultTables):
        return review_list(labels, items, top=top, below=below)  # type: ignore[arg-type]  # it refuses others
    if top is not None or below is not None:
        raise CallError("top and below are for a list of items: call review_list(result, labels).")
    require_extra("review", "A review")
    asked = read_options(**options, numeric=numeric)
    source = None if is_crowd(labels) else labels
    if source is not None:
        labels = read_labels(source, numeric=numeric, **options)
    ordered = ordinal_of(ordinal, order, None)
    contents = read_contents(labels, source, asked, items, show, media, remote)
    path = default_path(source) if decisions is None else Path(decisions)
    chosen: Any = NumericRobust() if labels.numeric else Adjudicator()
    chosen = chosen if method is None else as_method(method, numbers=labels.numeric)
    title = Path(source).name if isinstance(source, str | os.PathLike) else "labels"
    command = f"cw.aggregate(labels, gold={str(path)!r})"
    restart = f"cw.review(labels, decisions={str(path)!r})"
    about = Setting(title, reviewer or user_name(), command, restart, seed, class_order(labels, ordered))
    with opened_desk(labels, chosen, path, contents, str(plan), about) as desk:
        serve(desk, host=host, port=port, browser=browser, say=say)
        return desk.decisions()


@contextmanager
def opened_desk(
    labels: Labels, method: Any, path: Path, contents: Contents, plan: str, about: Setting, first: Any = None
) -> Iterator[Desk]:
    """Open the file of decisions, fit the method without them, and return what the page is about, until it is closed.

    `first` is the result of that fit, if there is one already.
    """
    if not labels.numeric:
        require_in_memory(labels, "review")
    require_whole("seed", about.seed, 0, 10**18)
    planned = Plan.of(plan)
    with DecisionFile(path) as file:
        fitted = method.fit(labels, warn=False) if first is None else first
        desk = Desk(labels, method, fitted, file, contents, planned, about)
        try:
            yield desk
        finally:
            desk.close()


def serve(
    desk: Desk,
    *,
    host: str,
    port: int,
    browser: bool,
    say: Callable[[str], None],
    show: Callable[[str], None] | None = None,
    ask: Callable[[], str] | None = None,
) -> None:
    """Serve the page until it is finished, or until Ctrl-C.

    `show` is called with its address, which has the token; `ask` for a password, if other machines are let in and no
    variable has one.
    """
    from .access import is_loopback  # imported here because they need the extra
    from .server import ReviewServer, open_browser

    require_kind("port", port, int, "a number")
    password = os.environ.get(PASSWORD)
    if not password and not is_loopback(host) and ask is not None:
        password = ask()
    server = ReviewServer(desk, host, port, password)
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    server.start()
    try:
        (show or say)(f"The page is at {server.address}")
        if browser and not open_browser(server.address):
            say("No browser could be opened: open this address yourself.")
        if host != HOST and "token" not in server.address:
            say("Other machines reach it with the password. Nothing is encrypted: use it in a network that you trust.")
        say(f"Every decision is saved to {desk.state()['file']} at once. Finish on the page, or press Ctrl-C.")
        server.wait()
    except (KeyboardInterrupt, SystemExit):  # by Ctrl-C, or another signal that the command line turns into an exit
        say("Stopped. Every decision is saved.")
    finally:
        server.close()
        sys.setswitchinterval(before)
    say(desk.summary())


def write_feedback(labels: Labels, path: Path, contents: Contents, folder: Path) -> str:
    """Write a file for each worker with the items that were decided against them, and return a sentence about it."""
    if not path.is_file():
        raise CallError(f"There are no decisions yet: {path} is not there.")
    with DecisionFile(path) as file:
        found = feedback(labels, file, contents.columns, folder)
    told = int((found["against"] > 0).sum())
    return f"Wrote {folder}: files for {told:,} of {found.height:,} workers, and workers.csv."


def class_order(labels: Labels, ordered: Ordinal | None) -> list[int] | None:
    """Return the codes of the classes from the lowest to the highest; None if they have no order."""
    if ordered is None:
        return None
    return [int(code) for code in np.argsort(ordered.positions(labels.names.classes), kind="stable")]


def user_name() -> str:
    """Return the name of the user of this machine."""
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return "reviewer"
