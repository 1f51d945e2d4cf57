"""One self-contained page about a crowd, and one that compares methods. Needs the extra `report`."""

from .comparing import comparison_page
from .page import report

__all__ = ["comparison_page", "report"]
