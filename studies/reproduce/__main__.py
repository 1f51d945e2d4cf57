"""The command `python -m studies.reproduce`: runs the methods and writes the tables, the figures and the page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import crowdwise as cw
from crowdwise.datasets.catalog import find

from . import measuring
from .contestants import CONTESTANTS
from .evidence import open_results
from .page import write_page

_COMMITTED: Final = Path(__file__).parents[2] / "docs" / "studies" / "reproduce"

# The method whose prior strength varies in the second figure.
_SENSITIVITY_METHOD: Final = "BWA(15 adjusted)"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
console = Console(stderr=True, highlight=False, soft_wrap=True)


@app.command()
def reproduce(
    data: Annotated[
        Path | None, typer.Option(help="A folder of datasets, instead of the one that CROWDWISE_DATA names.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Write reproduce.md and a folder reproduce here.")] = Path("reproduced"),
    methods: Annotated[
        str | None,
        typer.Option(help="As in the tables, separated by commas; BWA is all that begin so. All if left out."),
    ] = None,
    datasets: Annotated[
        str | None, typer.Option(help="Separated by commas; the paper's and the extra ones if left out.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure these methods and datasets again.")] = False,
) -> None:
    """Run all methods on all datasets, resuming where an earlier run stopped, and write the page."""
    folder = out / "reproduce"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = _methods(methods)
    available = _datasets(datasets, data)
    of_paper = [name for name in available if find(name).collection == "paper"]
    accuracies, seconds, sensitivity = open_results(folder)
    if fresh:
        accuracies.forget(method=chosen, dataset=available)
        seconds.forget(method=chosen, dataset=available)
        sensitivity.forget(dataset=of_paper if _SENSITIVITY_METHOD in chosen else [])
    steps = sum(CONTESTANTS[name].seeds for name in chosen) * len(available) + len(of_paper)
    try:
        with _progress(steps) as step:
            measuring.measure(accuracies, seconds, chosen, available, data, step)
            measuring.measure_sensitivity(sensitivity, of_paper, data, step)
    except KeyboardInterrupt:
        console.print("Interrupted; what was measured is kept, and the same command goes on from there.")
        raise typer.Exit(130) from None
    write_page(out)
    console.print(f"Wrote {out / 'reproduce.md'}")
    if methods is None and datasets is None and folder.resolve() != _COMMITTED:
        console.print(_verdict(folder))


def _methods(names: str | None) -> list[str]:
    """Return the names of the chosen methods; all if `names` is None.

    Args:
        names: Names separated by commas, in upper or lower case. A name without brackets, such as "BWA", means all
            methods that have this name before their brackets.

    Raises:
        CallError: There is no such method.
    """
    if names is None:
        return list(CONTESTANTS)
    chosen = []
    for name in (given.strip() for given in names.split(",")):
        found = [known for known in CONTESTANTS if name.lower() in (known.lower(), known.lower().partition("(")[0])]
        if not found:
            raise cw.CallError(f"There is no method {name!r}; there are {', '.join(CONTESTANTS)}.")
        chosen += found
    return list(dict.fromkeys(chosen))


def _datasets(names: str | None, data: Path | None) -> list[str]:
    """Return the names of the chosen datasets, after fetching them.

    Args:
        names: Names separated by commas. If None, all datasets of the paper and the extra ones that can be fetched; the
            others are printed.
        data: A folder of datasets, or None.

    Raises:
        DataError: A dataset in `names` cannot be fetched, or no dataset at all.
    """
    if names:
        chosen = [find(name.strip()).name for name in names.split(",")]
        for name in chosen:
            cw.datasets.fetch(name, folder=data)
        return chosen
    available, unavailable = [], []
    for name, dataset in cw.datasets.CATALOG.items():
        if dataset.collection == "numeric":
            continue
        try:
            cw.datasets.fetch(name, folder=data)
            available.append(name)
        except cw.DataError as problem:
            unavailable.append(name)
            reason = problem
    if not available:
        raise reason
    if unavailable:
        console.print(f"Without {', '.join(unavailable)}; the last one: {reason}")
    console.print(f"{len(available)} datasets: {', '.join(available)}.")
    return available


@contextmanager
def _progress(total: int) -> Iterator[measuring.Step]:
    """Show the progress: a bar on a terminal, otherwise one line for each dataset.

    Args:
        total: The number of steps.

    Yields:
        A function to call before each step.
    """
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        last_dataset = ""

        def step(what: str, known: bool) -> None:
            nonlocal last_dataset
            bar.update(task, advance=1, description="" if known else what)
            dataset = what.rpartition(" on ")[2]
            if not known and not console.is_terminal and dataset != last_dataset:
                last_dataset = dataset
                console.print(f"{bar.tasks[0].completed:.0f} of {total}: {what}")

        yield step


def _verdict(folder: Path) -> str:
    """Return a sentence that says whether the results, except for the times, equal those in the repository."""
    for name in ("accuracies.csv", "sensitivity.csv"):
        committed = (_COMMITTED / name).read_text().splitlines() if (_COMMITTED / name).exists() else []
        measured = (folder / name).read_text().splitlines()
        if committed != measured:
            different = [line for line in measured if line not in set(committed)]
            first = f"; first here: {different[0]}" if different else ""
            return f"{name} differs from the committed {_COMMITTED / name} in {len(different)} lines{first}."
    return "Accuracies, iterations and sensitivity are the committed ones, byte for byte."


def main() -> None:
    """Run the command; for an error in the data or the call, print one sentence and exit with code 1 or 2."""
    try:
        app()
    except (cw.DataError, cw.CallError) as problem:
        console.print(f"error: {problem}")
        sys.exit(1 if isinstance(problem, cw.DataError) else 2)


if __name__ == "__main__":
    main()
