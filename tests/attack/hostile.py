"""Names and texts that have broken programs before."""

from typing import Final

from .area import Case

# Spreadsheets run these as formulas.
FORMULAS: Final = ("=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", '=HYPERLINK("http://x","y")')
# Libraries that print read these as markup.
MARKUP: Final = (
    "[red]x[/red]",
    "[/]",
    "[bold",
    "[link=http://x]y[/link]",
    "<script>alert(1)</script>",
    "{{7*7}}",
    ":fire:",
)
CONTROL: Final = ("\x1b[31mred", "\x07bell", "back\x08", "\x7f", "\x9b1m", "nul\x00nul")
DIRECTION: Final = ("\u202egnp.exe", "\u200fx", "a\u2066b\u2069", "\u200bzero", "x\ufe0f\u200d", "line\u2028line")
LETTERS: Final = ("é", "e\u0301", "İ", "ß", "ﬁ", "日本", "💥", "👩‍👩‍👧", "\U0010ffff", "\ufeffx", "\uff11\uff12")
SPACES: Final = (" lead", "trail ", " ", "\t", "two  spaces", "\u00a0", "tab\tin")
QUOTES: Final = ('quo"te', '"', '""', "'", "`", 'a,"b', '"quoted"', "back\\slash", "\\", "\\n")
BREAKS: Final = ("new\nline", "car\rriage", "crlf\r\nx", "\n", "end\n", "\rx", "a,b;c|d")
NUMBERS: Final = ("007", "1.0", "1e5", "-0", "+1", "0x1", "NaN", "nan", "inf", "1_000", "9223372036854775808", "²")
WORDS: Final = ("null", "None", "NA", "true", "False", "undefined", "item", "..", "../../x", "%s%n", "-rf", "--help")

NAMES: Final = (
    *FORMULAS,
    *MARKUP,
    *CONTROL,
    *DIRECTION,
    *LETTERS,
    *SPACES,
    *QUOTES,
    *BREAKS,
    *NUMBERS,
    *WORDS,
)
# Of these, the ones that a line of a text file can hold.
ONE_LINE: Final = tuple(name for name in NAMES if name.isprintable() or name in DIRECTION)


def name(case: Case, most: int = 300) -> str:
    """A hostile name of at most so many characters."""
    chosen = case.random.choice(NAMES)
    if case.chance(0.1):
        chosen += case.random.choice(NAMES)
    if case.chance(0.02):
        chosen *= case.random.choice((10, 100, 1000))
    return chosen[:most]
