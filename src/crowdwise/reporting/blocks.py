"""Blocks: the pieces that every page is made of, such as a paragraph, a figure or a table.

A section is a list of blocks. It says what is shown; the template says how: a block's `kind` is the name of the macro
in assets/blocks.html.j2 that draws it. A new kind of block is a class here and a macro there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias


class Block:
    """The base of all blocks: anything that a section can show."""

    # The name of the macro that draws it.
    kind: ClassVar[str]


Blocks: TypeAlias = Sequence[Block]


@dataclass(frozen=True)
class Section:
    """A part of a page with a title of its own.

    Attributes:
        id: What links to it name, as in #workers.
        title: Its heading.
        blocks: What it shows, from top to bottom.
        navigation: What the list of sections at the top of the page calls it; "" to leave it out of that list.
    """

    id: str
    title: str
    blocks: Blocks
    navigation: str = ""


@dataclass(frozen=True)
class Heading(Block):
    """A heading inside a section."""

    kind = "heading"

    text: str


@dataclass(frozen=True)
class Keyword:
    """A word of a program inside a paragraph, set like code."""

    text: str


@dataclass(frozen=True)
class Paragraph(Block):
    """A few sentences.

    Attributes:
        text: The sentences; in parts where some words are set like code.
        style: An "intro" says what the following is about, a "note" explains in small print what is above it, and a
            "warning" is framed.
        links: Whether web addresses become links. For text of this library only: text from data never links anywhere.
    """

    kind = "paragraph"

    text: str | Sequence[str | Keyword]
    style: Literal["plain", "intro", "note", "warning"] = "plain"
    links: bool = False

    @property
    def parts(self) -> Sequence[str | Keyword]:
        """The text as a list of parts, also where there is only one."""
        return [self.text] if isinstance(self.text, str) else self.text


@dataclass(frozen=True)
class Bullets(Block):
    """Sentences in a list, each with a bullet."""

    kind = "bullets"

    sentences: Sequence[str]


@dataclass(frozen=True)
class Code(Block):
    """A command or a piece of a program, on lines of its own."""

    kind = "code"

    text: str


@dataclass(frozen=True)
class Tile:
    """One number in a frame.

    Attributes:
        name: What the number is.
        value: The number as it is shown.
        remark: What else there is to say about it, in small print.
        strong: Whether the tile stands out from the others.
    """

    name: str
    value: str
    remark: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Tiles(Block):
    """Several numbers, each in a frame; narrower if they share a row with something else."""

    kind = "tiles"

    tiles: Sequence[Tile]
    narrow: bool = False


@dataclass(frozen=True)
class Figure(Block):
    """A chart with a title above and a sentence below.

    Attributes:
        title: What the chart shows.
        chart: An Altair chart.
        caption: How to read it.
        tall: Whether it is as high as two other blocks beside it.
    """

    kind = "figure"

    title: str
    chart: Any
    caption: str = ""
    tall: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as Vega-Lite wants it."""
        spec: dict[str, Any] = self.chart.to_dict()
        del spec["$schema"]  # an address, though nothing would load it
        return spec


@dataclass(frozen=True)
class HeatMap:
    """A square of shaded cells, small enough for a cell of a table.

    Attributes:
        size: How many cells it has across and down.
        shades: For each shade in use, its number (1 is the palest) and the SVG path around the cells that have it.
        description: What it shows, in words, for those who cannot see it.
    """

    size: int
    shades: Sequence[tuple[int, str]]
    description: str


@dataclass(frozen=True)
class Cell:
    """What one cell of a table shows.

    Attributes:
        text: What is shown.
        value: What to sort by where the text does not sort by itself.
        picture: Shown instead of the text.
    """

    text: str
    value: float | None = None
    picture: HeatMap | None = None


@dataclass(frozen=True)
class Table(Block):
    """A table that readers can sort and search.

    Attributes:
        label: What the rows are, for the search field and for those who cannot see the table.
        columns: Names of the columns; a leading "#" says that a column holds numbers.
        rows: One cell for each column.
        left_out: A sentence that says which rows are left out, "" if none are.
    """

    kind = "table"

    label: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left_out: str = ""


@dataclass(frozen=True)
class ParameterRow:
    """A parameter of a method: its name, its value, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Parameters(Block):
    """The parameters of a method in a plain table."""

    kind = "parameters"

    rows: Sequence[ParameterRow]


@dataclass(frozen=True)
class SideBySide(Block):
    """Blocks in two columns, filled row by row; one below the other on a phone."""

    kind = "side_by_side"

    blocks: Blocks


@dataclass(frozen=True)
class Stack(Block):
    """Blocks one below the other that take one place in a `SideBySide`; in smaller type if they are mostly text."""

    kind = "stack"

    blocks: Blocks
    small: bool = False
