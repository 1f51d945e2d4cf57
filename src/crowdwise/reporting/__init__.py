"""HTML pages: the report about one crowd, the comparison of methods, and judges. Needs the extra `report`."""

from .comparison_page import comparison_page
from .judges_page import judges_page
from .report_page import report

__all__ = ["comparison_page", "judges_page", "report"]
