"""The options that several commands share, with their types and help texts; and `Reading`, those of reading labels."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import typer

from ..addresses import without_secrets
from ..errors import CallError
from .groups import (
    CLEANING,
    COLUMNS,
    DECISIONS,
    ENGINE,
    EXPORTS,
    FOR_CLASSES,
    GOLD,
    OUTPUT,
    TABLES,
    Alias,
    Brief,
    Needs,
    Only,
    flags_of,
)

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


def _methods(incomplete: str) -> list[str]:
    """Return the keys of methods that begin so, for completion in a shell."""
    from ..methods import METHODS, NUMERIC_METHODS

    return sorted(key for key in {*METHODS, *NUMERIC_METHODS} if key.startswith(incomplete))


def complete_methods(incomplete: str) -> list[str]:
    """Return keys of methods, separated by commas, that begin so, for completion in a shell."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{key}" for key in _methods(last)]


def _formats(incomplete: str) -> list[str]:
    """Return what --format takes and begins so, for completion in a shell."""
    from ..platforms import PLATFORMS

    return sorted(key for key in ("auto", "table", *(one.key for one in PLATFORMS)) if key.startswith(incomplete))


# The key of the method that is used if none is named; the same one as `crowdwise.aggregate` uses.
DEFAULT_METHOD: Final = "adjudicator"
# The same as `GOLD_WEIGHT` in fitting/gold.py, which is slow to import.
DEFAULT_GOLD_WEIGHT: Final = 5.0

Files = Annotated[
    list[str],
    typer.Argument(metavar="FILES", help="Files with one vote a row, a pattern such as 'day*.csv', or - for stdin."),
]
Item = Annotated[
    str | None,
    typer.Option("--item-column", metavar="COLUMN", help="The column of items.", callback=in_utf8),
    Alias("--item"),
]
Worker = Annotated[
    str | None,
    typer.Option("--worker-column", metavar="COLUMN", help="The column of workers.", callback=in_utf8),
    Alias("--worker"),
]
Label = Annotated[
    str | None,
    typer.Option("--label-column", metavar="COLUMN", help="The column of labels.", callback=in_utf8),
    Alias("--label"),
]
Duplicates = Annotated[
    Literal["error", "first", "last", "latest", "all", "samples", "set", "drop"] | None,
    typer.Option(
        metavar="RULE",
        help="Several labels of one worker on one item: error (the default), first, last, latest (by --time-column), "
        "all (each is a vote), samples (as if by several workers; the default in logs of judges), set (one vote for "
        "all classes named), or drop.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="VALUE", help="A value that means no label, such as NA; repeatable.", callback=in_utf8),
]
Numeric = Annotated[
    bool, typer.Option("--numeric", help="Labels are numbers: infer a value and an interval for each item.")
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Stop at blank or repeated rows, and if the method does not converge.",
        rich_help_panel=CLEANING,
    ),
]
Truth = Annotated[str | None, typer.Option(metavar="FILE", help="True labels of some items, to measure accuracy by.")]
Gold = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="True labels of some items, to learn from."),
    FOR_CLASSES,
]
GoldWeight = Annotated[
    float,
    typer.Option(
        help="How many items a gold item counts as when workers are judged; 5 if left out.",
        show_default=False,
        rich_help_panel=GOLD,
    ),
    Needs("gold"),
]
History = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Start from a file that --save-state wrote.", rich_help_panel=GOLD),
    FOR_CLASSES,
]
Decay = Annotated[
    float,
    typer.Option(
        help="The weight of the counts in --history, from 0 to 1 (the default).",
        show_default=False,
        rich_help_panel=GOLD,
    ),
    Needs("history"),
]
Costs = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Costs of errors (columns truth, label, cost): decide for the least expected cost.",
        rich_help_panel=DECISIONS,
    ),
    FOR_CLASSES,
]
Ordinal = Annotated[
    bool,
    typer.Option(
        "--ordinal",
        help="Classes are numbers on a scale: decide for the least expected distance.",
        rich_help_panel=DECISIONS,
    ),
    FOR_CLASSES,
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="CLASSES",
        help="Classes have this order, as in low,medium,high: decide as with --ordinal.",
        callback=in_utf8,
        rich_help_panel=DECISIONS,
    ),
    FOR_CLASSES,
]
Distance = Annotated[
    Literal["absolute", "squared"] | None,
    typer.Option(
        metavar="KIND",
        help="The distance of ordered classes: absolute (the default) or squared.",
        rich_help_panel=DECISIONS,
    ),
    FOR_CLASSES,
]
Engine = Annotated[
    Literal["auto", "memory", "disk", "spark"],
    typer.Option(
        metavar="ENGINE",
        help="Where to work: memory, disk, spark, or auto (the default): disk if labels do not fit in memory.",
        show_default=False,
        rich_help_panel=ENGINE,
    ),
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="The master of the Spark cluster.", rich_help_panel=ENGINE)
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="How much memory to use, such as 4GB; else all that is free.", rich_help_panel=ENGINE
    ),
]
Workdir = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Where --engine disk puts temporary files.", rich_help_panel=ENGINE)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the inferred labels here.")]
Bom = Annotated[
    bool,
    typer.Option(
        "--bom", help="Begin CSV with a byte-order mark, so that Excel shows all letters.", rich_help_panel=OUTPUT
    ),
]
MethodKey = Annotated[
    str,
    typer.Option(
        "--method", "-m", metavar="METHOD", help="One of those that `crowdwise methods` lists.", autocompletion=_methods
    ),
]
MethodKeys = Annotated[
    str | None,
    typer.Option(
        metavar="METHODS", help="Which methods, as in mv,ds; all if left out.", autocompletion=complete_methods
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable.", rich_help_panel=ENGINE),
]

# Options that find labels, items and workers in texts.
_FOR_TEXTS: Final = ("verdict", "verdict_field", "id", "items", "pairs")
# The options that only some engines use, and these engines.
_FOR_ENGINES: Final = {"memory": ("disk", "auto"), "workdir": ("disk", "auto"), "master": ("spark",)}
# Fields of `Reading` that are no options of `read_labels`.
_NOT_OF_READING: Final = ("files", "truth_item", "truth_label", "wide_columns")


def _text(*spellings: str, metavar: str, help_: str, panel: str) -> Any:
    """Return an option that takes text in UTF-8."""
    return typer.Option(*spellings, metavar=metavar, help=help_, rich_help_panel=panel, callback=in_utf8)


class Reading(NamedTuple):
    """Which labels a command reads, and how: a group of options, see `groups.py` and `ReadOptions`."""

    files: Files
    item: Item = None
    worker: Worker = None
    label: Label = None
    duplicates: Duplicates = None
    missing: Missing = None
    time: Annotated[
        str | None,
        _text("--time-column", metavar="COLUMN", help_="The column of times, for --duplicates latest.", panel=COLUMNS),
        Alias("--time"),
    ] = None
    probability: Annotated[
        str | None,
        _text(
            "--probability-column",
            metavar="COLUMN",
            help_="The column of the probability of the label; or those of all classes, as in 'p_*'.",
            panel=COLUMNS,
        ),
        Alias("--probability"),
        FOR_CLASSES,
    ] = None
    weight: Annotated[
        str | None,
        _text("--weight-column", metavar="COLUMN", help_="The column of how much a vote weighs.", panel=COLUMNS),
        Alias("--weight"),
        FOR_CLASSES,
    ] = None
    log: Annotated[
        bool, typer.Option("--log", help="Probabilities are logarithms.", rich_help_panel=COLUMNS), FOR_CLASSES
    ] = False
    votes: Annotated[
        Literal["soft", "hard"],
        typer.Option(metavar="KIND", help="soft, or hard: ignore probabilities and weights.", rich_help_panel=COLUMNS),
        FOR_CLASSES,
    ] = "soft"
    truth_item: Annotated[
        str | None,
        _text(
            "--truth-item-column",
            metavar="COLUMN",
            help_="The column of items in the files of --truth and --gold.",
            panel=COLUMNS,
        ),
        Alias("--truth-item"),
        Needs("truth", "gold"),
    ] = None
    truth_label: Annotated[
        str | None,
        _text(
            "--truth-label-column",
            metavar="COLUMN",
            help_="The column of true labels in the files of --truth and --gold.",
            panel=COLUMNS,
        ),
        Alias("--truth-label"),
        Needs("truth", "gold"),
    ] = None
    strip: Annotated[
        bool, typer.Option("--strip", help="Leave out spaces around labels.", rich_help_panel=CLEANING)
    ] = False
    fold_case: Annotated[
        bool,
        typer.Option(
            "--fold-case", help="Yes and yes are one class, in its commonest spelling.", rich_help_panel=CLEANING
        ),
        FOR_CLASSES,
    ] = False
    classes: Annotated[
        str | None,
        _text(
            metavar="CLASSES",
            help_="All classes, as in yes,no, or a file with one a line: other labels are refused.",
            panel=CLEANING,
        ),
        FOR_CLASSES,
    ] = None
    strict: Strict = False
    wide: Annotated[
        bool, typer.Option("--wide", help="A row is an item, and each other column a worker.", rich_help_panel=TABLES)
    ] = False
    wide_columns: Annotated[
        list[str] | None,
        _text(
            metavar="PATTERN",
            help_="As --wide, but only these columns are workers, as in 'rater*'; repeatable.",
            panel=TABLES,
        ),
    ] = None
    transposed: Annotated[
        bool, typer.Option("--transposed", help="The rows of a matrix are workers.", rich_help_panel=TABLES)
    ] = False
    label_names: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The names of the classes 0, 1, 2, ..., one a line.", rich_help_panel=TABLES),
        FOR_CLASSES,
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The encoding of text, such as cp1252; else UTF-8.", rich_help_panel=TABLES),
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The sheet of an Excel workbook; else the first.", rich_help_panel=TABLES),
    ] = None
    query: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="The query whose rows are read from a database.", rich_help_panel=TABLES),
    ] = None
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table of a database.", rich_help_panel=TABLES)
    ] = None
    storage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="An option of a cloud storage, such as a region; repeatable.",
            rich_help_panel=TABLES,
        ),
    ] = None
    format: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="What the files are: auto (the default), table, or a platform such as label-studio.",
            show_default=False,
            autocompletion=_formats,
            rich_help_panel=EXPORTS,
        ),
    ] = "auto"
    question: Annotated[
        str | None,
        _text(
            metavar="NAME",
            help_="The question whose answers are the labels; `crowdwise questions` lists them.",
            panel=EXPORTS,
        ),
    ] = None
    multi: Annotated[
        Literal["refuse", "set", "each"],
        typer.Option(
            metavar="RULE",
            help="Several classes in an answer: refuse (the default), each (a yes or no to each class), or for exports "
            "set (one vote for all).",
            show_default=False,
            rich_help_panel=COLUMNS,
        ),
    ] = "refuse"
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="With --multi each: what stands between the classes of a cell, such as ';'.",
            callback=in_utf8,
            rich_help_panel=COLUMNS,
        ),
    ] = None
    models: Annotated[
        bool, typer.Option("--models", help="Count predictions of models as votes.", rich_help_panel=EXPORTS)
    ] = False
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Count answers of this status too, such as cancelled; repeatable.",
            rich_help_panel=EXPORTS,
        ),
    ] = None
    worker_from: Annotated[
        Literal["file", "folder"] | None,
        typer.Option(
            metavar="PLACE", help="Workers are named by their file or folder: file or folder.", rich_help_panel=EXPORTS
        ),
    ] = None
    verdict: Annotated[
        str | None,
        _text(
            metavar="REGEX", help_="The label in a model's text: a regular expression with one group.", panel=EXPORTS
        ),
    ] = None
    verdict_field: Annotated[
        str | None, _text(metavar="KEY", help_="The key of the label in a model's JSON.", panel=EXPORTS)
    ] = None
    id: Annotated[
        str | None,
        _text(
            "--id-pattern",
            metavar="REGEX",
            help_="Item and worker in the id of a request: a regular expression with groups of these names.",
            panel=EXPORTS,
        ),
        Alias("--id"),
    ] = None
    items: Annotated[
        str | None,
        _text(
            "--item-pattern",
            metavar="REGEX",
            help_="The item in the name of a column: a regular expression with one group.",
            panel=EXPORTS,
        ),
        Alias("--items"),
    ] = None
    pairs: Annotated[
        str | None,
        _text(
            "--column-pairs",
            metavar="PATTERN",
            help_="Columns that belong together, as in 'Input.text{n}=Answer.q{n}'.",
            panel=EXPORTS,
        ),
        Alias("--pairs"),
    ] = None

    def declared_classes(self) -> list[str] | str | None:
        """Return the classes that the user declares, or the file with them; None if there are none."""
        if self.classes is None or ("," not in self.classes and Path(self.classes).is_file()):
            return self.classes
        return [one.strip() for one in self.classes.split(",")]

    @property
    def shown_name(self) -> str:
        """Return the names of the files, for a heading."""
        return without_secrets(", ".join(Path(name).name for name in self.files))

    def arguments(self) -> str:
        """Return the files and options as they would be typed after another command, without secrets.

        The columns of --truth and --gold are left out, as the other command may have neither.
        """
        words = list(self.files)
        for name, option in flags_of(Reading).items():
            given = getattr(self, name)
            if name in ("files", "truth_item", "truth_label") or given == self._field_defaults.get(name) or not given:
                continue
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


# What commands take that do more with labels than `aggregate`, whose help explains the options in these panels.
Labelled = Annotated[Reading, Brief(COLUMNS, CLEANING, TABLES, EXPORTS)]
# What commands take that list or write all answers of an export.
ExportReading = Annotated[
    Reading,
    Only(
        *("files", "item", "worker", "format", "encoding", "storage", "question", "worker_from", *_FOR_TEXTS),
    ),
]
