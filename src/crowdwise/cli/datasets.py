"""`crowdwise datasets`: list the datasets, show one of them, and download them."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import CallError
from .groups import Command, CommandGroup
from .options import Json, Quiet
from .streams import say

if TYPE_CHECKING:
    from ..datasets import Dataset

app = typer.Typer(cls=CommandGroup, help="Public crowds by name: list, show and download them.", add_completion=False)


@app.callback(invoke_without_command=True)
def catalog(context: typer.Context, as_json: Json = False) -> None:
    """List the datasets."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise CallError(f"--json does nothing before {context.invoked_subcommand}: put it at the end.")
        return
    from dataclasses import asdict

    from ..datasets import CATALOG
    from .terminal import Terminal

    if as_json:
        say(json.dumps({name: asdict(dataset) for name, dataset in CATALOG.items()}))
        return
    header = ["name", "items", "workers", "classes", "labels", "truths", "per item", "licence"]
    titles = {
        "paper": "The BWA paper's",
        "extra": "Further crowds",
        "numeric": "Labels are numbers (--numeric)",
    }
    terminal = Terminal(quiet=False)
    for collection, title in titles.items():
        rows = [_row(dataset) for dataset in CATALOG.values() if dataset.collection == collection]
        terminal.table(title, header, rows)
    for remedy, names in _missing_datasets().items():
        terminal.remark(f"Not on this machine, to be {remedy}: {', '.join(names)}.")
    terminal.remark("`crowdwise datasets show NAME` says what was asked, by whom and where it is from.")


@app.command(cls=Command)
def show(name: str, as_json: Json = False) -> None:
    """Say all that is known of one dataset."""
    from dataclasses import asdict

    from ..datasets.catalog import find
    from .terminal import Terminal

    known = {what: value for what, value in asdict(find(name)).items() if value not in (None, "")}
    if as_json:
        say(json.dumps(known))
        return
    Terminal(quiet=False).table(name, None, [(what, str(value)) for what, value in known.items() if what != "name"])


@app.command(cls=Command)
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names of datasets, or all.")],
    again: Annotated[bool, typer.Option("--again", help="Replace those that are in the cache.")] = False,
    quiet: Quiet = False,
) -> None:
    """Download datasets into the cache, unless they are on this machine already."""
    from ..datasets import CATALOG
    from ..datasets import fetch as fetch_one
    from ..datasets.catalog import find
    from ..datasets.downloading import UnreachableError
    from ..datasets.locations import complete_folder
    from ..errors import DataError
    from .terminal import Terminal

    terminal = Terminal(quiet)
    if names == ["all"]:
        names = [name for name, dataset in CATALOG.items() if dataset.path]
        provided = _missing_datasets().get("provided", [])
        if provided:
            terminal.remark(f"Cannot be downloaded, see `crowdwise datasets show NAME`: {', '.join(provided)}.")
    failures = []
    unreachable = ""
    for name in names:
        there = None if again else complete_folder(find(name))
        if unreachable and there is None and find(name).path:
            failures.append(name)
            continue
        try:
            with terminal.downloading() as progress:
                folder = fetch_one(name, progress=progress, again=again)
            terminal.remark(f"{name}: {'was already' if there else 'is now'} in {folder}")
        except DataError as problem:
            if len(names) == 1:
                raise
            failures.append(name)
            if isinstance(problem, UnreachableError):
                unreachable = problem.reason
            else:
                terminal.remark(str(problem))
    if failures:
        summary = f"{len(failures)} of {len(names)} datasets could not be fetched: {', '.join(failures)}"
        if unreachable:
            raise DataError(
                f"{unreachable}. No other dataset was tried after that. {summary}; name a folder with "
                f"paper/NAME/label.csv and paper/NAME/truth.csv by CROWDWISE_DATA, or a mirror that can be reached by "
                f"CROWDWISE_DATASETS_URL."
            )
        raise DataError(f"{summary}.")


def _row(dataset: "Dataset") -> list[object]:
    """Return the row of a dataset in the table of the catalog."""
    counts = [dataset.items, dataset.workers, dataset.classes, dataset.labels, dataset.truths]
    return [dataset.name, *counts, f"{dataset.labels / dataset.items:8.2f}", dataset.licence.split(" (")[0]]


def _missing_datasets() -> dict[str, list[str]]:
    """Return the names of the datasets that are not on this machine: those to be fetched, and those to be provided."""
    from ..datasets import CATALOG
    from ..datasets.locations import complete_folder

    missing: dict[str, list[str]] = {}
    for dataset in CATALOG.values():
        if complete_folder(dataset) is None:
            missing.setdefault("fetched" if dataset.path else "provided", []).append(dataset.name)
    return missing
