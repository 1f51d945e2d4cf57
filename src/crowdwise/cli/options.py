"""The options that several commands share, with their types and help texts."""

from typing import Annotated, Any

import typer

from ..errors import CallError


def in_utf8(value: Any) -> Any:
    """Return the text of an option, or the texts of a list, as it is in files: in UTF-8, whatever the locale is."""
    if isinstance(value, list):
        return [in_utf8(one) for one in value]
    try:
        # Bytes that the locale cannot read are surrogates in Python.
        return None if value is None else value.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as problem:
        raise CallError(f"{value!r} is not text in UTF-8, as all text in files is.") from problem


Files = Annotated[list[str], typer.Argument(help="Files with one label a row, a glob, or - for standard input.")]
Item = Annotated[str | None, typer.Option(help="The column of items, if its name does not say so.", callback=in_utf8)]
Worker = Annotated[str | None, typer.Option(help="The column of workers.", callback=in_utf8)]
Label = Annotated[str | None, typer.Option(help="The column of labels.", callback=in_utf8)]
Duplicates = Annotated[
    str, typer.Option(help="Several labels of one worker on one item: error, first, last, all, set or drop.")
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A value that means no label, such as NA or -1; repeatable.", callback=in_utf8),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse data that need repair.")]
Truth = Annotated[str | None, typer.Option(help="A file with the true label of some items.")]
Engine = Annotated[
    str, typer.Option(help="Where the labels are worked on: memory, disk, spark, or auto: disk if they do not fit.")
]
Master = Annotated[str | None, typer.Option(help="The master of a Spark cluster, for --engine spark.")]
Memory = Annotated[str | None, typer.Option(help="What may be taken, such as 4GB; what is free, if left out.")]
Workdir = Annotated[str | None, typer.Option(help="The folder for temporary files of --engine disk.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
MethodKey = Annotated[str, typer.Option("--method", "-m", help="See `crowdwise methods`.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the method, as name=value; repeatable.")
]
