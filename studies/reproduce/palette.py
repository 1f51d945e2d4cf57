"""The colour and the shape of each method, the same in all figures.

The colours are Paul Tol's muted scheme and similar ones, which people with any common kind of colour vision can
distinguish; no figure uses colour alone. Methods with one number per worker have cool colours, methods with a confusion
matrix per worker have warm ones.
"""

from typing import Final

# Method: (colour, shape).
PAPER: Final = {
    "MV": ("#000000", "circle"),
    "ZC": ("#88ccee", "square"),
    "GLAD": ("#44aa99", "triangle-up"),
    "DS": ("#ddaa33", "diamond"),
    "Minimax": ("#ee7733", "cross"),
    "iBCC": ("#882255", "triangle-down"),
    "CBCC": ("#aa4499", "triangle-right"),
    "LFC": ("#cc6677", "triangle-left"),
    "CATD": ("#117733", "cross"),
    "CRH": ("#999933", "diamond"),
    "BWA(30 original)": ("#4477cc", "circle"),
    "BWA(15 adjusted)": ("#332288", "square"),
}

OTHERS: Final = "#999999"


def colour(method: str) -> str:
    """Return the colour of a method; all methods that are not in the paper have the same colour."""
    return PAPER[method][0] if method in PAPER else OTHERS
