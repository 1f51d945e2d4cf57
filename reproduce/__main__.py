"""`python -m reproduce`: measure, and write the tables, the figures and the page."""

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

_COMMITTED: Final = Path(__file__).parents[1] / "docs" / "reproduce"

# Whose priors the second figure varies.
_SWEPT: Final = "BWA(15 adjusted)"

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
    there = _datasets(datasets, data)
    of_paper = [name for name in there if find(name).collection == "paper"]
    accuracies, seconds, sensitivity = open_results(folder)
    if fresh:
        accuracies.forget(method=chosen, dataset=there)
        seconds.forget(method=chosen, dataset=there)
        sensitivity.forget(dataset=of_paper if _SWEPT in chosen else [])
    steps = sum(CONTESTANTS[name].seeds for name in chosen) * len(there) + len(of_paper)
    try:
        with _progress(steps) as step:
            measuring.measure(accuracies, seconds, chosen, there, data, step)
            measuring.measure_sensitivity(sensitivity, of_paper, data, step)
    except KeyboardInterrupt:
        console.print("Interrupted; what was measured is kept, and the same command goes on from there.")
        raise typer.Exit(130) from None
    write_page(out)
    console.print(f"Wrote {out / 'reproduce.md'}")
    if methods is None and datasets is None and folder.resolve() != _COMMITTED:
        console.print(_verdict(folder))


def _methods(names: str | None) -> list[str]:
    """Those that were named, in any case, or all of a name without its brackets; all if none was."""
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
    """Those that were named, or those of the paper and the extra ones that can be had; says which cannot."""
    if names:
        chosen = [find(name.strip()).name for name in names.split(",")]
        for name in chosen:
            cw.datasets.fetch(name, folder=data)
        return chosen
    there, elsewhere = [], []
    for name, dataset in cw.datasets.CATALOG.items():
        if dataset.collection == "numeric":
            continue
        try:
            cw.datasets.fetch(name, folder=data)
            there.append(name)
        except cw.DataError as problem:
            elsewhere.append(name)
            reason = problem
    if not there:
        raise reason
    if elsewhere:
        console.print(f"Without {', '.join(elsewhere)}; the last one: {reason}")
    console.print(f"{len(there)} datasets: {', '.join(there)}.")
    return there


@contextmanager
def _progress(total: int) -> Iterator[measuring.Step]:
    """A bar on a terminal, a line a dataset elsewhere."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        said = ""

        def step(what: str, known: bool) -> None:
            nonlocal said
            bar.update(task, advance=1, description="" if known else what)
            place = what.rpartition(" on ")[2]
            if not known and not console.is_terminal and place != said:
                said = place
                console.print(f"{bar.tasks[0].completed:.0f} of {total}: {what}")

        yield step


def _verdict(folder: Path) -> str:
    """Whether the results are those that are committed, apart from times."""
    for name in ("accuracies.csv", "sensitivity.csv"):
        committed = (_COMMITTED / name).read_text().splitlines() if (_COMMITTED / name).exists() else []
        measured = (folder / name).read_text().splitlines()
        if committed != measured:
            different = [line for line in measured if line not in set(committed)]
            first = f"; first here: {different[0]}" if different else ""
            return f"{name} differs from the committed {_COMMITTED / name} in {len(different)} lines{first}."
    return "Accuracies, iterations and sensitivity are the committed ones, byte for byte."


def main() -> None:
    """Run the command; a mistake of the user's is one sentence and an exit code."""
    try:
        app()
    except (cw.DataError, cw.CallError) as problem:
        console.print(f"error: {problem}")
        sys.exit(1 if isinstance(problem, cw.DataError) else 2)


if __name__ == "__main__":
    main()
