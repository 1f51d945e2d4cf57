"""The command for which there are all others: the label of every item, on this machine or in a cluster."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options

if TYPE_CHECKING:
    from .terminal import Screen


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
    from ..analysis.evaluation import accuracy
    from ..data.writing import check_output, write
    from ..methods import METHODS
    from . import summary
    from .terminal import Screen

    given = {"--memory": memory, "--workdir": workdir, "--master": master, "--truth": truth, "--json": as_json}
    options.check_engine(engine, given)
    chosen = options.choose_method(method, set_)
    source = options.Source(files, item, worker, label, duplicates, missing, strict)
    if engine == "spark":
        _in_a_cluster(Screen(quiet), chosen, source, master, output, workers, scores)
        return
    targets = [path for path in (output, workers) if path is not None]
    options.check_targets(targets, files, truth)
    for path in targets:
        check_output(path)
    screen = Screen(quiet)
    known = options.read_known(truth)
    with screen.compiling():
        labels = options.read(screen, source, engine=engine, memory=memory, workdir=workdir, method=chosen)
        result = options.fit(screen, method, chosen, labels)
        accuracies = {}
        if known is not None:
            accuracies[method] = accuracy(result, known)
            if method != "mv" and not labels.set_valued:
                accuracies["mv"] = accuracy(METHODS["mv"]().fit(labels), known)
    truth_table = result.lazy(scores=scores)
    tables: dict[str, Any] = {} if output is None else {output: truth_table}
    if workers is not None:
        tables[workers] = result.workers_frame()
    write(tables)
    if as_json:
        unwritten = {
            "truth": None if output else truth_table.collect(),
            "quality": None if workers else result.workers_frame(),
        }
        typer.echo(json.dumps(summary.summary(labels, result, accuracies, targets, unwritten)))
    elif not quiet:
        screen.table("The crowd", None, summary.crowd_rows(labels, result, accuracies))
        if output is None:
            screen.head("Inferred labels", truth_table, 10, labels.n_items)
        worker_table = result.workers_frame()
        best, worst = summary.ranked_workers(worker_table, 5)
        screen.table("Best workers", worker_table.columns, best)
        screen.table("Worst workers", worker_table.columns, worst)
        disputed = summary.disputed_items(truth_table, 5)
        screen.table("Most disputed items", disputed.columns, disputed.rows())
    for path in targets:
        screen.remark(f"Wrote {path}")


def _in_a_cluster(
    screen: "Screen",
    method: Any,
    source: options.Source,
    master: str | None,
    output: str | None,
    workers: str | None,
    scores: bool,
) -> None:
    """The same in a cluster, which reads and writes the files itself."""
    from ..errors import CallError
    from . import summary

    try:
        from ..data.spark import files as spark_files
        from ..data.spark.labels import LabelsOnSpark
        from ..data.spark.partitioning import deal
    except ImportError as problem:
        raise CallError("--engine spark needs the extra spark: pip install 'crowdwise[spark]'.") from problem
    if output is None:
        raise CallError("--engine spark needs a place to write to: -o.")
    method.require_place("spark")
    session = spark_files.connect(master)
    try:
        votes, found = spark_files.read(session, source.files, source.columns)
        labels = LabelsOnSpark(*deal(votes, found, partitions=None, **source.rules))
        options.say_what_was_read(screen, labels)
        with screen.progress(getattr(method, "tolerance", 1.0)) as progress:
            result = method.fit(labels, progress=progress)
        spark_files.write(result.truth(scores), output)
        if workers is not None:
            spark_files.write(result.workers_table(), workers)
        screen.table("The crowd", None, summary.crowd_rows(labels, result, {}))
        for path in (output, workers):
            if path is not None:
                screen.remark(f"Wrote {path}, a folder of files")
    finally:
        session.stop()
