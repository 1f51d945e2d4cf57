"""One look for a method in all figures: a colour and a shape.

The colours are Paul Tol's muted scheme and its neighbours, told apart with any common kind of colour vision; figures
never rely on colour alone. Cool colours are methods with one number a worker, warm ones those with a confusion matrix.
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
    """The colour of a method; those published since share one."""
    return PAPER[method][0] if method in PAPER else OTHERS
