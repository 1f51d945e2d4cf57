"""`Opening`: how a source is opened, as the user says: which table of a database, which sheet, and in which shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from ..errors import CallError, require_kind, shown

# What each option is for, in the message about a source that does not take it.
_FOR: Final = {
    "query": "a database",
    "table": "a database",
    "sheet": "a workbook of Excel",
    "transposed": "a JSON object of objects, or a matrix",
    "encoding": "text",
}


@dataclass(frozen=True)
class Opening:
    """How a source is opened.

    Attributes:
        query: The query whose rows are the table, for a database.
        table: The table to read, for a database; the same as the query "select * from table".
        sheet: The name of the sheet to read, for a workbook; None for the first.
        storage: Options of a cloud storage, such as its region, by name.
        wide: Whether a table has a column for each worker: True for all columns but the item's, or a pattern such as
            "r*", or the names of these columns. None to find out.
        transposed: Whether rows are workers and columns are items, where the source does not say.
        label_names: The names of the classes 0, 1, 2, ..., if labels are these numbers; None if not.
        missing: Values that mean "no label", which a matrix needs to know; empty for -1.
        encoding: How text is stored, such as "cp1252"; None for UTF-8.
        named_by: The options of the command line that name the columns, where they are not called as their roles are.
    """

    query: str | None = None
    table: str | None = None
    sheet: str | None = None
    storage: Mapping[str, Any] = field(default_factory=dict)
    wide: bool | str | Sequence[str] | None = None
    transposed: bool = False
    label_names: Sequence[str] | None = None
    missing: Sequence[Any] = ()
    encoding: str | None = None
    named_by: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.encoding is not None:
            _require_encoding(self.encoding)
        for name in ("query", "table", "sheet"):
            require_kind(name, getattr(self, name), str | None, "text, or None")
        require_kind("storage", self.storage, Mapping, "a mapping from names to values")
        require_kind("transposed", self.transposed, bool, "True or False")
        if self.query is not None and self.table is not None:
            raise CallError("Give either a query or a table (--query or --table), not both.")
        if self.label_names is not None:
            if isinstance(self.label_names, str) or not all(isinstance(name, str) for name in self.label_names):
                raise CallError("label_names has to be a list of texts, one for each class.")
            if len(set(self.label_names)) < len(self.label_names):
                raise CallError("label_names has a name twice; each class needs one of its own.")

    def require_export(self, name: str, label: str | None) -> None:
        """Raise `CallError` if the user names something that only tables have, and the files are an export.

        Args:
            name: What the export is, for the message.
            label: The column of labels, if one is named.
        """
        if label is not None:
            raise CallError(f"label= (--label) does nothing for {name}: question= (--question) does.")
        for option in ("query", "table", "sheet", "wide", "transposed", "label_names"):
            if getattr(self, option) not in (None, False):
                raise CallError(f"{option}= (--{option.replace('_', '-')}) does nothing for {name}: it is for tables.")

    def options(self, names: Sequence[str], *, text: bool = False) -> dict[str, Any]:
        """Return the options of these names, for the function that opens a format; `text` if it is stored as text.

        Raises:
            CallError: Another option was given, which this source does not take.
        """
        for one in fields(self):
            if one.name == "encoding" and text:
                continue
            if one.name in _FOR and one.name not in names and getattr(self, one.name) != one.default:
                option = one.name.replace("_", "-")
                raise CallError(f"{one.name} (--{option}) is for {_FOR[one.name]}, which this is not.")
        return {name: getattr(self, name) for name in names}


def _require_encoding(name: str) -> None:
    """Raise `CallError` if there is no encoding of text with this name."""
    require_kind("encoding", name, str | None, "the name of an encoding, or None")
    try:
        "".encode(name)
    except (LookupError, ValueError) as problem:
        raise CallError(f"There is no encoding {shown(name)}; usual ones are utf-16, cp1252 and latin-1.") from problem


PLAIN: Final = Opening()
