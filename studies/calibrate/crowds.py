"""The crowds that constants are fitted to, and the families that they belong to."""

from pathlib import Path
from typing import Final

# The folders of development crowds. Every crowd is a folder with label.csv and truth.csv.
_COLLECTIONS: Final = ("paper", "extra", "judges")

# Crowds of one project, of the same workers or the same items, are a family: those whose names begin alike. All other
# crowds are a family each.
_FAMILIES: Final = ("css_", "llmbar", "ZC_", "cub_", "valence", "CF", "SP", "medical_")


def crowds(data: Path) -> dict[str, Path]:
    """Return the folders of all crowds that have labels and a truth, by name."""
    found = [path.parent for part in _COLLECTIONS for path in sorted((data / part).glob("*/label.csv"))]
    return {folder.name: folder for folder in found if (folder / "truth.csv").exists()}


def family(crowd: str) -> str:
    """Return the family of a crowd.

    >>> family("css_ibc"), family("SP_amt"), family("rte")
    ('css', 'SP', 'rte')
    """
    return next((start.rstrip("_") for start in _FAMILIES if crowd.startswith(start)), crowd)
