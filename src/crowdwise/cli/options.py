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
    from ..crowd.read_options import ReadOptions


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
    bool, typer.Option("--bom", help="Begin CSV with the byte-order mark, by which Excel shows all letters right.")
]
MethodKey = Annotated[str, typer.Option("--method", "-m", help="See `crowdwise methods`.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the method, as name=value; repeatable.")
]

_TABLES: Final = "Other tables, databases and clouds"
_IMPORT: Final = "Exports of platforms and logs of judges"
# Options that find labels, items and workers in texts.
_FOR_TEXTS: Final = ("verdict", "verdict_field", "id", "items", "pairs")
# The options that only some engines use, and these engines.
_FOR_ENGINES: Final = {"memory": ("disk", "auto"), "workdir": ("disk", "auto"), "master": ("spark",)}
# Fields of `Reading` that are no options of `read_labels`.
_NOT_OF_READING: Final = ("files", "truth_item", "truth_label", "wide_columns")


class Reading(NamedTuple):
    """Which labels a command reads, and how: a group of options, see `groups.py` and `ReadOptions`."""

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

    def options(self, **more: Any) -> "ReadOptions":
        """Return what the user says about reading; `more` are options that other groups declare."""
        from ..reading.read_labels import read_options

        options = read_options(**self.keywords(), **more)
        for name, engines in _FOR_ENGINES.items():
            if getattr(options, name) and options.engine not in engines:
                raise CallError(
                    f"--{name} does nothing with --engine {options.engine}: it is for {' or '.join(engines)}."
                )
        return options

    def keywords(self) -> dict[str, Any]:
        """Return what the user says about reading as `read_labels` takes it."""
        given = {name: value for name, value in self._asdict().items() if name not in _NOT_OF_READING}
        given |= {"missing": self.missing or (), "status": tuple(self.status or ())}
        wide = self.wide_columns or self.wide or None
        return given | {"wide": wide, "classes": self.declared_classes(), "storage": self.storage_options()}

    def truth_keywords(self, *, is_export: bool) -> dict[str, Any]:
        """Return how a file of known truths is read, as `read_truth` takes it: as the labels are."""
        given = self.keywords()
        kept = {name: given[name] for name in ("missing", "strip", "fold_case", "encoding", "storage")}
        if is_export:
            names = ("item", "question", "multi", "models", "status", "worker_from", *_FOR_TEXTS)
            return kept | {name: given[name] for name in names}
        likely = {"item": self.item, "truth": self.label}
        return kept | {"item": self.truth_item, "truth": self.truth_label, "likely": likely}

    def storage_options(self) -> dict[str, str]:
        """Return the options of a cloud storage. Raises `CallError` if one is not of the form key=value."""
        options = {}
        for one in self.storage or []:
            key, equals, value = one.partition("=")
            if not key or not equals:
                raise CallError("--storage takes key=value, such as aws_region=eu-central-1.")
            options[key] = value
        return options


# What commands take that list or write all answers of an export.
ExportReading = Annotated[
    Reading,
    Only(
        *("files", "item", "worker", "format", "encoding", "storage", "question", "worker_from", *_FOR_TEXTS),
    ),
]
