"""HTML pages: the report about one crowd, and the comparison of methods. Needs the extra `report`."""

from .comparison_page import comparison_page
from .report_page import report

__all__ = ["comparison_page", "report"]
