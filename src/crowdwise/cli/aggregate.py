"""`crowdwise aggregate`: infer the label of every item and the quality of every worker."""

import json
from contextlib import closing
from typing import Annotated, Any, Literal

import typer

from . import options
from .groups import DECISIONS, FOR_CLASSES, GOLD, OUTPUT, Alias, Needs, NotWith
from .streams import say


def aggregate(
    context: typer.Context,
    reading: options.Reading,
    method: options.MethodKey = options.DEFAULT_METHOD,
    set_: options.Settings = None,
    output: options.Output = None,
    workers: Annotated[
        str | None,
        typer.Option("--workers-output", metavar="FILE", help="Write the quality of the workers here."),
        Alias("--workers"),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Write a column of scores for every class.", rich_help_panel=OUTPUT),
        Needs("output", "as_json"),
        FOR_CLASSES,
    ] = False,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Write a column of calibrated probabilities for every class.",
            rich_help_panel=OUTPUT,
        ),
        Needs("output", "as_json"),
        FOR_CLASSES,
    ] = False,
    provenance: Annotated[
        bool,
        typer.Option(
            "--provenance",
            help="Write a column that says whether a label is unanimous, inferred or decided.",
            rich_help_panel=OUTPUT,
        ),
        Needs("output", "as_json"),
        FOR_CLASSES,
    ] = False,
    columns: Annotated[
        Literal["crowdwise", "cleanlab"],
        typer.Option(
            metavar="STYLE",
            help="Names of the columns: crowdwise (the default) or cleanlab.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
        Needs("output", "workers"),
        FOR_CLASSES,
    ] = "crowdwise",
    review: Annotated[
        str | None,
        typer.Option(
            "--review-output",
            metavar="FILE",
            help="Write the items that a person should check here, the least sure first; at most a tenth.",
            rich_help_panel=OUTPUT,
        ),
        Alias("--review"),
        FOR_CLASSES,
    ] = None,
    review_top: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many items --review-output has.", rich_help_panel=OUTPUT),
        Needs("review"),
    ] = None,
    review_below: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="--review-output has the items whose confidence is below this.",
            rich_help_panel=OUTPUT,
        ),
        Needs("review"),
    ] = None,
    bom: options.Bom = False,
    numeric: options.Numeric = False,
    truth: options.Truth = None,
    gold: options.Gold = None,
    gold_weight: options.GoldWeight = options.DEFAULT_GOLD_WEIGHT,
    history: options.History = None,
    decay: options.Decay = 1.0,
    save_state: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write what was learned about the workers here.", rich_help_panel=GOLD),
        FOR_CLASSES,
    ] = None,
    costs: options.Costs = None,
    ordinal: options.Ordinal = False,
    order: options.Order = None,
    distance: options.Distance = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="With --multi each: a class is in the set of an item from this probability on; above 0.5 if left out.",
            rich_help_panel=DECISIONS,
        ),
        Needs("multi=each"),
        NotWith("costs", "and --costs both say when a class is in the set: leave one of them out."),
    ] = None,
    engine: options.Engine = "auto",
    memory: options.Memory = None,
    workdir: options.Workdir = None,
    master: options.Master = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Infer the label of every item and the quality of every worker."""
    from ..analysis import accuracy
    from ..analysis.calibration_measures import confidence_off
    from ..analysis.cautions import cautions_in
    from ..analysis.decisions import decide
    from ..analysis.evaluation import match
    from ..analysis.findings import Findings
    from ..analysis.ordinal_errors import errors_of
    from ..analysis.planning.needs import require_in_memory
    from ..analysis.provenance import provenance as provenance_of
    from ..analysis.review import check_review, expected_errors
    from ..analysis.review import review_list as items_to_review
    from ..crowd.labels import Labels
    from ..errors import CallError
    from ..methods import METHODS
    from ..output.targets import check_state, check_targets
    from ..output.writers import has_sheets
    from ..results.history_file import file_of
    from . import numbers, predictions, session, several, summary
    from .terminal import Terminal

    read_options = reading.options(engine=engine, memory=memory, workdir=workdir, master=master, numeric=numeric)
    looks = as_json or not quiet  # otherwise nobody would see what is found
    if numeric:
        chosen_one = numbers.choose(context, method, set_)
        numbers.aggregate(reading, read_options, chosen_one, (output, workers, truth), quiet, as_json, bom)
        return
    if reading.multi == "each" and engine != "disk":  # on disk, items and classes are an ordinary crowd
        predictions.goes_back(output, reading, engine)  # which it does not
        several.refuse(
            {
                "--columns": columns != "crowdwise",
                "--history": history is not None,
                "--save-state": save_state is not None,
                "--ordinal": ordinal,
                "--order": order is not None,
                "--distance": distance is not None,
            }
        )
        paths = {"output": output, "workers": workers, "review": review, "truth": truth, "gold": gold, "costs": costs}
        wanted: dict[str, Any] = {
            "scores": scores,
            "probabilities": probabilities,
            "bom": bom,
            "gold_weight": gold_weight,
        }
        wanted |= {"provenance": provenance, "top": review_top, "below": review_below}
        several.aggregate(reading, read_options, (method, set_), paths, wanted, at_least, quiet, as_json)
        return
    if at_least is not None:
        raise CallError("--at-least is for sets of classes, which are made in memory: leave out --engine disk.")
    chosen = session.choose_method(method, set_)
    back = predictions.goes_back(output, reading, engine)
    if back and (scores or probabilities or provenance or (columns != "crowdwise" and workers is None)):
        raise CallError(
            "--scores, --probabilities, --provenance and --columns are for tables, and -o is a file of predictions."
        )
    targets = [path for path in (None if back else output, workers, review) if path is not None]
    check_targets(targets, [*reading.files, truth, gold, history, costs], folders=engine == "spark", bom=bom)
    check_review(review_top, review_below)
    terminal = Terminal(quiet)
    given = session.read_gold(gold, gold_weight, reading, of_pairs=engine == "disk").with_history(
        chosen, history, decay, reading
    )
    if save_state is not None:
        chosen.require(history=True)
        check_state(save_state, [*reading.files, truth, gold, costs, *targets], cloud=True)
    if back and output is not None:
        check_state(
            output, [*reading.files, truth, gold, history, costs, save_state, *targets], "a file of predictions"
        )
    known = given.held_out(terminal, session.read_known(truth, reading, terminal))
    known_costs = session.read_given_costs(costs, reading, engine)
    asked = session.read_order(ordinal, order, distance, costs, engine)
    with terminal.compiling():
        labels = session.read(terminal, reading, read_options, chosen, cautions=False)
        with closing(labels):
            if asked is not None:
                asked.positions(labels.names.classes)  # what cannot be ordered is refused before any work
            for option, given_one in (("--review-output", review), ("--provenance", provenance or None)):
                if given_one is not None:
                    require_in_memory(labels, option)
            result = session.fit(terminal, chosen, labels, given, cautions=False, strict=reading.strict)
            accuracies, distances, first = {}, None, None
            if known is not None:
                measured = result.about(known["item"])
                first = confidence_off(measured, match(measured, known))
                accuracies[method] = accuracy(result, known)
                if method != "mv" and not labels.set_valued:
                    accuracies["mv"] = accuracy(METHODS["mv"]().fit(labels, warn=False), known)
                distances = None if asked is None else errors_of(result, known, asked)
            decisions = None
            if known_costs is not None or asked is not None:
                decisions = decide(result, known_costs, ordinal=asked or False)
            found, about = decisions or result, Findings(result, labels)
            cautions = [
                caution
                for caution in (cautions_in(about) if looks else ())
                if not (asked is not None and caution.kind == "numbers")
            ]
            for caution in cautions:
                terminal.caution(caution)
            source = session.review_arguments(reading, gold, given, method)
            origin = provenance_of(found, labels) if provenance else None
            sheets = output is not None and not back and has_sheets(output)
            unusual = about.unusual if workers or sheets or looks else None
            can_be_reviewed = isinstance(labels, Labels) and not labels.set_valued
            again = None
            if review or (sheets and can_be_reviewed):
                again = items_to_review(result, labels, top=review_top, below=review_below)
            files: dict[str, Any] = {}
            if review is not None:
                files[review] = again
            predicted: list[Any] = []
            if back and output is not None:
                make = predictions.file_of(found, labels, method, reading)
                files[output] = lambda path: predicted.append(make(path))
            if save_state is not None:
                files[save_state] = file_of(session.state_of(result))
            # Everything is made before anything is put in place, so that a failure changes no file.
            found.write(
                None if back else output,
                workers,
                scores=scores,
                probabilities=probabilities,
                reasons=unusual,
                review=again,
                provenance=origin,
                columns=columns,
                storage=reading.storage_options(),
                bom=bom,
                also=files,
            )
            written = [path for path in (output, workers, review, save_state) if path is not None]
            for path in written:
                if predicted and path == output:
                    terminal.remark(predictions.remark(path, predicted[0]))
                elif path == save_state:
                    count = len(session.state_of(result).workers)
                    terminal.remark(f"Wrote {path}: what was learned about {count:,} workers.")
                else:
                    terminal.remark(f"Wrote {path}{', a folder of files' if engine == 'spark' else ''}")
            if review is not None and again is not None:
                terminal.remark(expected_errors(result, again))
            if as_json:
                tables = {
                    "labels": None if output else several.with_origin(found.to_frame(scores, probabilities), origin),
                    "workers": None if workers else found.workers_frame(),
                }
                if unusual is not None:
                    tables["unusual"] = unusual
                values = summary.json_values(about, cautions, accuracies, written, tables) | {"confidence_off": first}
                values["recommendation"] = about.recommend(source).to_dict()
                say(json.dumps(values | summary.cost_values(decisions) | summary.distance_values(distances)))
            elif not quiet:
                notes = [*([] if first is None else [first]), str(about.recommend(source))]
                summary.show(
                    terminal,
                    result,
                    labels,
                    accuracies,
                    decisions,
                    distances,
                    about,
                    notes,
                    with_answers=output is None,
                )
