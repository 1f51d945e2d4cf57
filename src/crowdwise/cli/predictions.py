"""Give inferred labels back to the platform that the labels came from, as predictions of a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CallError
from .options import Reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..crowd.protocol import Crowd
    from ..output.label_studio_predictions import Written

_FORMAT = "label-studio"


def goes_back(output: str | None, reading: Reading, engine: str) -> bool:
    """Return whether the output is a file for Label Studio, and no table.

    Raises:
        CallError: It is a .json file, but the input is not said to be an export of Label Studio, or cannot be read
            twice; or the labels are elsewhere, or no answers to a question of the export.
    """
    if output is None or Path(output).suffix.lower() != ".json":
        return False
    if reading.format != _FORMAT:
        raise CallError(
            f"{output}: tables are written as .jsonl, .csv or .parquet. A .json file is for an export of Label Studio, "
            f"to which predictions go back: say so by --format {_FORMAT}."
        )
    if reading.multi == "each":
        raise CallError("--multi each asks for every class by itself, which is no answer that Label Studio imports.")
    if engine == "spark":
        raise CallError("Predictions for Label Studio are not written with --engine spark.")
    if "-" in reading.files:
        raise CallError("Tasks are read a second time to write predictions, so name a file, and not standard input.")
    return True


def file_of(found: Any, labels: "Crowd", method: str, reading: Reading) -> "Callable[[Path], Written]":
    """Return the function that writes the tasks of an export, with what was inferred about them, to a path.

    Args:
        found: The result, or the decisions made of it.
        labels: The labels.
        method: The key of the method.
        reading: Where the labels are from.
    """
    from ..output.label_studio_predictions import predictions_file

    question = labels.report.columns["label"]
    return predictions_file(
        reading.files, found, question=question, version=f"crowdwise {method}", options=reading.options()
    )


def remark(output: str, written: "Written") -> str:
    """Return the sentence that says what was written."""
    without = f"; {written.without:,} have no vote, and so no prediction" if written.without else ""
    return f"Wrote {output}: {written.tasks:,} tasks with predictions for Label Studio{without}."
