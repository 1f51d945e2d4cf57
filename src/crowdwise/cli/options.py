"""The options that several commands share, with their types and help texts; and `Reading`, those of reading labels."""

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from ..addresses import without_secrets
from ..errors import CallError
from .groups import FOR_CLASSES, Needs, Only

if TYPE_CHECKING:
    from ..crowd.opening import Opening


def in_utf8(value: Any) -> Any:
    """Return the text of an option, or the texts of a list, as it is in files: in UTF-8, whatever the locale is."""
    if isinstance(value, list):
        return [in_utf8(one) for one in value]
    try:
        # Bytes that the locale cannot read are surrogates in Python.
        return None if value is None else value.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as problem:
        raise CallError(f"{value!r} is not text in UTF-8, as all text in files is.") from problem


# The key of the method that is used if none is named; the same one as `crowdwise.aggregate` uses.
DEFAULT_METHOD: Final = "adjudicator"
# The same as `GOLD_WEIGHT` in fitting/gold.py, which is slow to import.
DEFAULT_GOLD_WEIGHT: Final = 5.0

Files = Annotated[list[str], typer.Argument(help="Files with one label a row, a glob, or - for standard input.")]
Item = Annotated[str | None, typer.Option(help="The column of items, if its name does not say so.", callback=in_utf8)]
Worker = Annotated[str | None, typer.Option(help="The column of workers.", callback=in_utf8)]
Label = Annotated[str | None, typer.Option(help="The column of labels.", callback=in_utf8)]
Duplicates = Annotated[
    Any,
    typer.Option(
        help="Several labels of one worker on one item: error; first or last row; latest, by --time; all, each other "
        "label is a vote and exact repeats are dropped; samples, each answer is a vote, the second that of worker#2; "
        "set, one vote for all of them; drop. If left out: error, but samples in logs of judges."
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A value that means no label, such as NA or -1; repeatable.", callback=in_utf8),
]
Numeric = Annotated[bool, typer.Option("--numeric", help="Labels are numbers: a value with an interval per item.")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Stop if rows are blank or repeated; end with 1 if a method does not converge."),
]
Truth = Annotated[str | None, typer.Option(help="A file with the true label of some items.")]
Gold = Annotated[
    str | None,
    typer.Option(help="A file with the true label of some items, which then are known: columns item and truth."),
    FOR_CLASSES,
]
GoldWeight = Annotated[
    float,
    typer.Option("--gold-weight", help="How many items each gold item counts as where workers are judged."),
    Needs("gold"),
]
History = Annotated[
    str | None,
    typer.Option(help="A state that `aggregate --save-state` wrote: the fit starts from its counts."),
    FOR_CLASSES,
]
Decay = Annotated[float, typer.Option(help="What the counts of --history are multiplied by."), Needs("history")]
Costs = Annotated[
    str | None,
    typer.Option(help="Go by least expected cost, not by errors: a file with columns truth, label, cost."),
    FOR_CLASSES,
]
Ordinal = Annotated[
    bool,
    typer.Option("--ordinal", help="Classes are numbers in order: decide the label of least expected distance."),
    FOR_CLASSES,
]
Order = Annotated[
    str | None,
    typer.Option(
        help="The same for other classes: all of them, from low to high, separated by commas.", callback=in_utf8
    ),
    FOR_CLASSES,
]
Distance = Annotated[
    str | None,
    typer.Option(help="For ordered classes, what is to be small: absolute (the default) or squared."),
    FOR_CLASSES,
]
Engine = Annotated[
    str, typer.Option(help="Where the labels are worked on: memory, disk, spark, or auto: disk if they do not fit.")
]
Master = Annotated[str | None, typer.Option(help="The master of a Spark cluster, for --engine spark.")]
Memory = Annotated[str | None, typer.Option(help="What may be taken, such as 4GB; what is free, if left out.")]
Workdir = Annotated[str | None, typer.Option(help="The folder for temporary files of --engine disk.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Bom = Annotated[
    bool, typer.Option("--bom", help="Begin CSV with the mark of UTF-8, by which Excel shows all letters right.")
]
MethodKey = Annotated[str, typer.Option("--method", "-m", help="See `crowdwise methods`.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the method, as name=value; repeatable.")
]

_TABLES: Final = "Other tables, databases and clouds"
_IMPORT: Final = "Exports of platforms and logs of judges"


class Reading(NamedTuple):
    """Which labels a command reads, and how: a group of options, see `groups.py`.

    Attributes:
        files: The files.
        item: The column of items; None to recognise it.
        worker: The column of workers; None to recognise it.
        label: The column of labels; None to recognise it.
        time: The column of times; None to recognise it.
        duplicates: What to do where one worker gave one item several labels; None for what is usual for the files.
        missing: Values that mean "no label".
        strict: Whether to refuse rows that would otherwise be dropped silently.
        strip: Whether to leave out spaces around labels.
        fold_case: Whether labels that differ only in the case of letters are one class.
        classes: All classes that a label may name, separated by commas, or a file of them; None for those named.
        truth_item: The column of items in files of known truths.
        truth_label: The column of true labels in files of known truths.
        format: What the files are.
        wide: Whether each column but the item's is a worker.
        wide_columns: The patterns of the columns that are workers.
        transposed: Whether the rows of a matrix are workers.
        label_names: The file with the names of classes that are numbers.
        sheet: The sheet of a workbook.
        query: The query of a database.
        table: The table of a database.
        encoding: How text is stored.
        storage: Options of a cloud storage.
        question: The question of an export whose answers are the labels.
        multi: What to do with questions where several classes may be chosen.
        models: Whether predictions of models count as votes.
        status: Marks of answers that count as votes all the same.
        worker_from: Where the worker's name is, if not in the rows.
        verdict: Finds the label in the text of a language model.
        verdict_field: The key of the label in an answer that is JSON.
        id: Takes an id apart.
        items: Finds the item in the name of a column.
        pairs: Which columns belong together.
    """

    files: Files
    item: Item = None
    worker: Worker = None
    label: Label = None
    time: Annotated[
        str | None, typer.Option(help="The column of times, for --duplicates latest.", callback=in_utf8)
    ] = None
    duplicates: Duplicates = None
    missing: Missing = None
    strict: Strict = False
    strip: Annotated[bool, typer.Option("--strip", help="Leave out spaces around labels.")] = False
    fold_case: Annotated[
        bool,
        typer.Option("--fold-case", help="Yes and yes are one class, which is written in its commonest spelling."),
        FOR_CLASSES,
    ] = False
    classes: Annotated[
        str | None,
        typer.Option(
            help="All classes that a label may name, separated by commas, or a file with one a line.", callback=in_utf8
        ),
        FOR_CLASSES,
    ] = None
    truth_item: Annotated[
        str | None,
        typer.Option(help="The column of items in the files of --truth and --gold.", callback=in_utf8),
        Needs("truth", "gold"),
    ] = None
    truth_label: Annotated[
        str | None,
        typer.Option(help="The column of true labels in the files of --truth and --gold.", callback=in_utf8),
        Needs("truth", "gold"),
    ] = None
    format: Annotated[
        str, typer.Option(help="What the files are: auto, table, or a platform such as label-studio.")
    ] = "auto"
    wide: Annotated[
        bool, typer.Option("--wide", help="A row is an item, and each other column a worker.", rich_help_panel=_TABLES)
    ] = False
    wide_columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Like --wide, but only columns of this pattern are workers, as in 'r*'; repeatable.",
            callback=in_utf8,
            rich_help_panel=_TABLES,
        ),
    ] = None
    transposed: Annotated[
        bool, typer.Option("--transposed", help="The rows of a matrix are workers.", rich_help_panel=_TABLES)
    ] = False
    label_names: Annotated[
        str | None,
        typer.Option(help="A file with the names of the classes 0, 1, 2, ..., one a line.", rich_help_panel=_TABLES),
        FOR_CLASSES,
    ] = None
    sheet: Annotated[
        str | None, typer.Option(help="The sheet of a workbook of Excel; else the first.", rich_help_panel=_TABLES)
    ] = None
    query: Annotated[
        str | None, typer.Option(help="The query of a database whose rows are the labels.", rich_help_panel=_TABLES)
    ] = None
    table: Annotated[str | None, typer.Option(help="The table of a database.", rich_help_panel=_TABLES)] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            help="How text is stored: utf-16, cp1252, ...; else UTF-8. Files of --truth and --gold may be in either."
        ),
    ] = None
    storage: Annotated[
        list[str] | None,
        typer.Option(help="An option of a cloud storage, as key=value; repeatable.", rich_help_panel=_TABLES),
    ] = None
    question: Annotated[
        str | None,
        typer.Option(
            help="The question whose answers are the labels; see `crowdwise questions`.",
            callback=in_utf8,
            rich_help_panel=_IMPORT,
        ),
    ] = None
    multi: Annotated[
        str,
        typer.Option(
            help="Where several classes may be chosen: refuse, set (one vote for all of them), or each (a yes or no).",
            rich_help_panel=_IMPORT,
        ),
    ] = "refuse"
    models: Annotated[
        bool, typer.Option("--models", help="Predictions of models are votes too.", rich_help_panel=_IMPORT)
    ] = False
    status: Annotated[
        list[str] | None,
        typer.Option(
            help="Answers of this status, such as cancelled, are votes too; repeatable.", rich_help_panel=_IMPORT
        ),
    ] = None
    worker_from: Annotated[
        str | None, typer.Option(help="The worker is named by the file or the folder.", rich_help_panel=_IMPORT)
    ] = None
    verdict: Annotated[
        str | None,
        typer.Option(
            help="A regular expression with one group: the label in a model's text.",
            callback=in_utf8,
            rich_help_panel=_IMPORT,
        ),
    ] = None
    verdict_field: Annotated[
        str | None,
        typer.Option(
            help="The key of the label where a model answers in JSON.", callback=in_utf8, rich_help_panel=_IMPORT
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(
            help="A regular expression with the groups item and worker, which takes an id apart.",
            callback=in_utf8,
            rich_help_panel=_IMPORT,
        ),
    ] = None
    items: Annotated[
        str | None,
        typer.Option(
            help="A regular expression with one group: the item in the name of a column.",
            callback=in_utf8,
            rich_help_panel=_IMPORT,
        ),
    ] = None
    pairs: Annotated[
        str | None,
        typer.Option(
            help="Columns that belong together, as in 'Input.text{n}=Answer.q{n}'.",
            callback=in_utf8,
            rich_help_panel=_IMPORT,
        ),
    ] = None

    def declared_classes(self) -> list[str] | str | None:
        """Return the classes that the user declares, or the file with them; None if there are none."""
        if self.classes is None or ("," not in self.classes and Path(self.classes).is_file()):
            return self.classes
        return [one.strip() for one in self.classes.split(",")]

    def arguments(self, renamed: Collection[str] = ()) -> str:
        """Return the files and options as they would be typed after another command, without secrets.

        Args:
            renamed: Options that are called `--<name>-column` there; see `groups.py`.
        """
        words = list(self.files)
        for name, default in self._field_defaults.items():
            given = getattr(self, name)
            if given == default or not given:
                continue
            option = f"--{name}{'-column' if name in renamed else ''}".replace("_", "-")
            for one in given if isinstance(given, list) else [given]:
                words += [option] if one is True else [option, str(one)]
        return without_secrets(shlex.join(words))

    def truth_columns(self) -> dict[str, Any]:
        """Return how a file of known truths is read, as `read_truth` takes it."""
        likely = {"item": self.item, "truth": self.label}
        return {"item": self.truth_item, "truth": self.truth_label, "likely": likely}

    def rules_of_truth(self) -> dict[str, Any]:
        """Return how truths are opened and tidied, which is as labels are; see `read_truth`."""
        tidied = {"missing": self.missing or (), "strip": self.strip, "fold_case": self.fold_case}
        return {**tidied, "encoding": self.encoding, "storage": self.storage_options()}

    def opening(self) -> dict[str, Any]:
        """Return how tables, databases and clouds are opened, as `read_labels` takes it."""
        names = ("transposed", "label_names", "sheet", "query", "table", "encoding")
        wide = self.wide_columns or self.wide or None
        return {**{name: getattr(self, name) for name in names}, "wide": wide, "storage": self.storage_options()}

    def storage_options(self) -> dict[str, str]:
        """Return the options of a cloud storage. Raises `CallError` if one is not of the form key=value."""
        options = {}
        for one in self.storage or []:
            key, equals, value = one.partition("=")
            if not key or not equals:
                raise CallError("--storage takes key=value, such as aws_region=eu-central-1.")
            options[key] = value
        return options

    def exports(self) -> "tuple[dict[str, Any], Opening]":
        """Return what is asked of an export all of whose answers are wanted, and how its files are opened."""
        from ..crowd.opening import Opening

        how = Opening(encoding=self.encoding, storage=self.storage_options())
        return {"item": self.item, "worker": self.worker, "question": self.question, **self.imports()}, how

    def imports(self) -> dict[str, Any]:
        """Return what is asked of an export besides the question, as `read_labels` takes it."""
        names = ("multi", "models", "worker_from", "verdict", "verdict_field", "id", "items", "pairs")
        return {**{name: getattr(self, name) for name in names}, "status": tuple(self.status or ())}


# What commands take that list or write all answers of an export.
ExportReading = Annotated[
    Reading,
    Only(
        *("files", "item", "worker", "format", "encoding", "storage", "question", "worker_from"),
        *("verdict", "verdict_field", "id", "items", "pairs"),
    ),
]
