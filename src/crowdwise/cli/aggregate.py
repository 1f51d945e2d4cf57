"""`crowdwise aggregate`: infer the label of every item and the quality of every worker."""

import json
from contextlib import closing
from typing import Annotated

import typer

from . import options
from .streams import say


def aggregate(
    files: options.Files,
    item: options.Item = None,
    worker: options.Worker = None,
    label: options.Label = None,
    method: options.MethodKey = "bwa",
    set_: options.Settings = None,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write the inferred labels here.")] = None,
    workers: Annotated[str | None, typer.Option(help="Write the workers' quality here.")] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Write a column of scores for every class.")] = False,
    truth: options.Truth = None,
    duplicates: options.Duplicates = "error",
    missing: options.Missing = None,
    strict: options.Strict = False,
    engine: options.Engine = "auto",
    memory: options.Memory = None,
    workdir: options.Workdir = None,
    master: options.Master = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Infer the label of every item and the quality of every worker."""
    from ..analysis import accuracy
    from ..data.targets import check_targets
    from ..methods import METHODS
    from . import session, summary
    from .terminal import Terminal

    where = session.EngineOptions(engine, memory, workdir, master)
    where.check()
    chosen = session.choose_method(method, set_)
    targets = [path for path in (output, workers) if path is not None]
    check_targets(targets, [*files, truth], folders=engine == "spark")
    terminal = Terminal(quiet)
    known = session.read_known(truth)
    request = session.Request(files, item, worker, label, duplicates, missing, strict)
    with terminal.compiling():
        labels = session.read(terminal, request, where, chosen)
        with closing(labels):
            result = session.fit(terminal, method, chosen, labels)
            accuracies = {}
            if known is not None:
                accuracies[method] = accuracy(result, known)
                if method != "mv" and not labels.set_valued:
                    accuracies["mv"] = accuracy(METHODS["mv"]().fit(labels), known)
            result.write(output, workers, scores=scores)
            for path in targets:
                terminal.remark(f"Wrote {path}{', a folder of files' if engine == 'spark' else ''}")
            if as_json:
                tables = {
                    "truth": None if output else result.to_frame(scores),
                    "quality": None if workers else result.workers_frame(),
                }
                say(json.dumps(summary.json_values(labels, result, accuracies, targets, tables)))
            elif not quiet:
                summary.show(terminal, labels, result, accuracies, with_answers=output is None)
