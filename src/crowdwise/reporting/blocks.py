"""The blocks that every page is made of, such as a paragraph, a figure or a table.

A section is a list of blocks. The block holds what is shown, and a macro in assets/blocks.html.j2 turns it into HTML;
the `kind` of the block is the name of that macro. To add a kind of block, add a class here and a macro there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias
from urllib.parse import quote


class Block:
    """The base class of all blocks."""

    # The name of the macro that turns the block into HTML.
    kind: ClassVar[str]


Blocks: TypeAlias = Sequence[Block]


@dataclass(frozen=True)
class Section:
    """A part of a page with its own heading.

    Attributes:
        id: The name of the section in links, such as "workers" in #workers.
        title: The heading.
        blocks: The blocks of the section, from top to bottom.
        navigation: The name of the section in the list of sections at the top of the page; "" to leave it out there.
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
    """A word inside a paragraph that is shown like code."""

    text: str


@dataclass(frozen=True)
class Paragraph(Block):
    """A few sentences.

    Attributes:
        text: The sentences; a list of parts if some words are shown like code.
        style: "intro" is for a paragraph that introduces what follows; "note" for an explanation in small print of what
            is above; "warning" has a frame.
        links: Whether web addresses become links. Only for text of this library: text from data must not have links.
    """

    kind = "paragraph"

    text: str | Sequence[str | Keyword]
    style: Literal["plain", "intro", "note", "warning"] = "plain"
    links: bool = False

    @property
    def parts(self) -> Sequence[str | Keyword]:
        """The text as a list of parts, even if there is only one part."""
        return [self.text] if isinstance(self.text, str) else self.text


@dataclass(frozen=True)
class Bullets(Block):
    """A list of sentences with bullets."""

    kind = "bullets"

    sentences: Sequence[str]


@dataclass(frozen=True)
class Code(Block):
    """A command or program code, shown as a block of its own."""

    kind = "code"

    text: str


@dataclass(frozen=True)
class Verdict(Block):
    """The first thing that a reader has to know: what to do with the answers, and the numbers that say so.

    Attributes:
        what: "ship": use the answers. "review": look at some of them first. "gold": get known answers first.
        title: What to do, in a few words.
        sentences: The numbers, and what to do next.
    """

    kind = "verdict"

    what: Literal["ship", "review", "gold"]
    title: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Download(Block):
    """A file inside the page, for readers to save.

    Attributes:
        label: What the link says.
        name: The name of the file.
        content: The text of the file.
    """

    kind = "download"

    label: str
    name: str
    content: str

    @property
    def address(self) -> str:
        """The file as an address, in which every character of the content is safe."""
        return f"data:text/csv;charset=utf-8,{quote(self.content, safe='')}"


@dataclass(frozen=True)
class Tile:
    """One number in a frame.

    Attributes:
        name: The name of the number.
        value: The number as it is shown.
        remark: An additional remark in small print.
        strong: Whether the tile is emphasised.
        light: Whether the tile is smaller than others: a number for reference.
    """

    name: str
    value: str
    remark: str = ""
    strong: bool = False
    light: bool = False


@dataclass(frozen=True)
class Tiles(Block):
    """Several tiles.

    Attributes:
        tiles: The tiles.
        narrow: Whether the tiles are narrow because another block is beside them.
    """

    kind = "tiles"

    tiles: Sequence[Tile]
    narrow: bool = False


@dataclass(frozen=True)
class Figure(Block):
    """A chart with a title above and a sentence below.

    Attributes:
        title: The title of the chart.
        chart: An Altair chart.
        caption: A sentence that says how to read the chart.
        tall: Whether the figure is as high as two blocks beside it.
    """

    kind = "figure"

    title: str
    chart: Any
    caption: str = ""
    tall: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as a Vega-Lite specification."""
        spec: dict[str, Any] = self.chart.to_dict(validate=False)  # which would take a second for a page
        del spec["$schema"]  # a web address; nothing would load it, but the page should contain no such address
        return spec


@dataclass(frozen=True)
class HeatMap:
    """A square of shaded cells, small enough for a cell of a table.

    Attributes:
        size: The number of rows, which is also the number of columns.
        shades: For each shade that occurs, its number (1 is the lightest) and the SVG path of the cells with it.
        description: A description in words, for readers who cannot see it.
    """

    size: int
    shades: Sequence[tuple[int, str]]
    description: str


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: The text of the cell.
        value: The number to sort by; None to sort by the text.
        picture: A picture that is shown instead of the text, or None.
    """

    text: str
    value: float | None = None
    picture: HeatMap | None = None


@dataclass(frozen=True)
class Table(Block):
    """A table that readers can sort and search.

    Attributes:
        label: The name of what the rows are, for the search field and for readers who cannot see the table.
        columns: The names of the columns; "#" at the beginning means that the column contains numbers, and "_" that it
            contains sentences, which are below the rest of the row on small screens.
        rows: The rows, with one cell for each column.
        left_out: A sentence that says which rows are left out; "" if none are.
    """

    kind = "table"

    label: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left_out: str = ""


@dataclass(frozen=True)
class ParameterRow:
    """The name, the value and the meaning of a parameter of a method."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Parameters(Block):
    """A table of the parameters of a method, without sorting and searching."""

    kind = "parameters"

    rows: Sequence[ParameterRow]


@dataclass(frozen=True)
class SideBySide(Block):
    """Blocks in two columns, filled row by row; on a phone, in one column."""

    kind = "side_by_side"

    blocks: Blocks


@dataclass(frozen=True)
class Stack(Block):
    """Blocks below each other, to be used as one block of a `SideBySide`.

    Attributes:
        blocks: The blocks, from top to bottom.
        small: Whether the text is smaller than elsewhere.
    """

    kind = "stack"

    blocks: Blocks
    small: bool = False
