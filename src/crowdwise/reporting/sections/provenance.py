"""The section "How it was made": the method, its paper, its parameters and the command."""

from ... import __version__
from ...fitting.method import Method
from ...fitting.parameters import parameters_of
from ..blocks import Block, Code, Heading, Paragraph, ParameterRow, Parameters
from ..numeric_data import NumericReportData
from ..report_data import ReportData


def gather(data: ReportData | NumericReportData) -> list[Block]:
    """Make the description of the method, its paper, its parameters, and the command that makes the report again."""
    method = data.method
    rows = _parameters(method)
    columns = ", ".join(f"{role}: {column}" for role, column in data.labels.report.columns.items())
    return [
        Paragraph(method.summary, "intro"),
        Paragraph(f"{method.paper}.", links=True),
        *([Parameters(rows)] if rows else []),
        Heading("To make this report again"),
        Code(data.command),
        Paragraph(f"crowdwise {__version__}. The method {data.result.convergence}. Columns read: {columns}.", "note"),
    ]


def _parameters(method: Method) -> list[ParameterRow]:
    """Return every parameter of the method with its value."""
    declared = parameters_of(type(method)).values()
    return [ParameterRow(one.name, str(getattr(method, one.name)), one.meaning) for one in declared]
