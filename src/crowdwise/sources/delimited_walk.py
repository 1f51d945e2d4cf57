"""Rows of delimited text (CSV and TSV), walked byte by byte: are quotes as in RFC 4180, and rows of one length?"""

import numpy as np

from ..numerics import Array
from ..numerics.twins import loop

# Where in a field the walk is.
START, PLAIN, QUOTED, CLOSED, AFTER_RETURN, AFTER_EMPTY_RETURN = 0, 1, 2, 3, 4, 5
# What is wrong with a text, if anything.
FINE, UNCLOSED, AFTER_QUOTE, QUOTE_INSIDE, LONE_RETURN, WRONG_LENGTH = 0, 1, 2, 3, 4, 5
# The entries of `walk`, which a text that comes in pieces is walked with: where in a field it is; the line; the fields
# and bytes of this row before this piece; the line where the last quote opened; how many fields are quoted; the line
# of the first quote inside a field without quotes; the rows so far; how many line feeds are in quoted fields.
STATE, LINE, FIELDS, BYTES, OPENED, IN_QUOTES, INSIDE, ROWS, MULTILINE = 0, 1, 2, 3, 4, 5, 6, 7, 8

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34


def new_walk(lines: int) -> Array:
    """The walk at the start of a text, before which there are some empty lines."""
    walk = np.zeros(9, np.int64)
    walk[LINE] = lines + 1
    return walk


@loop
def walk_rows(text: bytes, delimiter: int, fields: int, longest: int, walk: Array) -> tuple[int, int]:
    """Walk over a piece of text, and stop at the first thing that is wrong; `walk` goes on where it was.

    A row has `fields` fields; if that is 0, the walk stops behind the first row, whose fields are then in `walk`. Rows
    longer than `longest` bytes are wrong if a quoted field goes over several lines. Empty lines are no rows.

    Returns what is wrong, and how many bytes the walk is over.
    """
    state, line, found = walk[STATE], walk[LINE], walk[FIELDS]
    row_start = -walk[BYTES]
    wrong, at = FINE, 0
    for at in range(len(text)):
        byte = text[at]
        if state == QUOTED:
            if byte == _QUOTE:
                state = CLOSED
            elif byte == _NEWLINE:
                line += 1
                walk[MULTILINE] += 1
                if at - row_start > longest:
                    wrong = UNCLOSED
                    break
        elif byte == _NEWLINE:
            if found or (state != START and state != AFTER_EMPTY_RETURN):
                found += 1
                if fields and found != fields:
                    wrong = WRONG_LENGTH
                    break
                walk[ROWS] += 1
                if not fields:
                    break
            state, found, row_start = START, 0, at + 1
            line += 1
        elif state >= AFTER_RETURN:
            wrong = LONE_RETURN
            break
        elif byte == delimiter:
            found += 1
            state = START
        elif byte == _RETURN:
            state = AFTER_EMPTY_RETURN if state == START and not found else AFTER_RETURN
        elif byte == _QUOTE:
            if state == START:
                state = QUOTED
                walk[OPENED] = line
                walk[IN_QUOTES] += 1
            elif state == CLOSED:
                state = QUOTED
            elif not walk[INSIDE]:
                walk[INSIDE] = line
            if walk[INSIDE] and walk[IN_QUOTES]:
                wrong = QUOTE_INSIDE
                break
        elif state == CLOSED:
            wrong = AFTER_QUOTE
            break
        else:
            state = PLAIN
    walk[STATE], walk[LINE], walk[FIELDS] = state, line, found
    walk[BYTES] = len(text) - row_start
    return wrong, at + 1
