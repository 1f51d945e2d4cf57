"""A JSON array, walked byte by byte and turned into lines: one element in each."""

from ..numerics import Array
from ..numerics.twins import loop

# What `to_lines` remembers between the pieces of a text: how deep it is inside of an element, whether it is inside of
# text and behind an escape, whether the element has begun, how many there were, and which part of the array it is in.
DEPTH, IN_TEXT, ESCAPED, BEGUN, ELEMENTS, PART, MEMORY = 0, 1, 2, 3, 4, 5, 6
# The parts: before the bracket that opens the array, inside of it, and after the one that closes it.
BEFORE, INSIDE, AFTER = 0, 1, 2
# What may be wrong.
NO_ARRAY, NO_ELEMENT, MORE_TEXT = 1, 2, 3


@loop
def to_lines(text: bytearray, memory: Array) -> int:
    """Replace, in place, what is between the elements of an array by line feeds, and other line ends by spaces.

    Returns 0, or what is wrong. What the elements are is not looked at.
    """
    depth, in_text, escaped = memory[DEPTH], memory[IN_TEXT] != 0, memory[ESCAPED] != 0
    begun, elements, part = memory[BEGUN] != 0, memory[ELEMENTS], memory[PART]
    wrong = 0
    for at in range(len(text)):
        byte = text[at]
        if in_text:
            if escaped:
                escaped = False
            elif byte == ord("\\"):
                escaped = True
            elif byte == ord('"'):
                in_text = False
        elif byte == 32 or byte == 9 or byte == 10 or byte == 13:
            text[at] = 32
        elif part == BEFORE:
            if byte != ord("["):
                wrong = NO_ARRAY
                break
            text[at] = 32
            part = INSIDE
        elif part == AFTER:
            wrong = MORE_TEXT
            break
        elif depth == 0 and (byte == ord(",") or byte == ord("]")):
            if not begun and (byte == ord(",") or elements):
                wrong = NO_ELEMENT
                break
            text[at] = 10
            elements += begun
            begun = False
            if byte == ord("]"):
                part = AFTER
        else:
            begun = True
            if byte == ord("{") or byte == ord("["):
                depth += 1
            elif byte == ord("}") or byte == ord("]"):
                depth -= 1
                if depth < 0:
                    wrong = NO_ELEMENT
                    break
            elif byte == ord('"'):
                in_text = True
    memory[DEPTH], memory[IN_TEXT], memory[ESCAPED] = depth, in_text, escaped
    memory[BEGUN], memory[ELEMENTS], memory[PART] = begun, elements, part
    return wrong
