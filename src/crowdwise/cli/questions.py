"""`crowdwise questions`: list the questions that an export of an annotation platform holds."""

from . import options
from .streams import say


def questions(reading: options.ExportReading, as_json: options.Json = False) -> None:
    """List the questions in an export, with their types, items, workers and answers."""
    import json

    from ..platforms.questions import questions_frame
    from ..reading.read_answers import gathered_in
    from .terminal import Terminal

    gathered = gathered_in(reading.files, reading.options())
    found = questions_frame(gathered)
    if as_json:
        say(json.dumps(found.to_dicts()))
        return
    terminal = Terminal(False)
    for sentence in gathered.remarks:
        terminal.remark(sentence)
    terminal.table(f"The questions in {gathered.platform.name}", found.columns, found.rows())
