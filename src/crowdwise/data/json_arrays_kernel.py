"""A JSON array, walked byte by byte and turned into lines: one element in each."""

from ..numerics import Array
from ..numerics.compilation import compiled

# What `to_lines` remembers between the pieces of a text: how deep it is inside of an element, whether it is inside of
# text and behind an escape, whether the element has begun, how many there were, and which part of the array it is in.
DEPTH, IN_TEXT, ESCAPED, BEGUN, ELEMENTS, PART, MEMORY = 0, 1, 2, 3, 4, 5, 6
# The parts: before the bracket that opens the array, inside of it, and after the one that closes it.
BEFORE, INSIDE, AFTER = 0, 1, 2
# What may be wrong.
NO_ARRAY, NO_ELEMENT, MORE_TEXT = 1, 2, 3


@compiled
def to_lines(text: Array, memory: Array) -> int:
    """Replace, in place, what is between the elements of an array by line feeds, and other line ends by spaces.

    Returns 0, or what is wrong. What the elements are is not looked at.
    """
    for at in range(text.size):
        byte = text[at]
        if memory[IN_TEXT]:
            if memory[ESCAPED]:
                memory[ESCAPED] = 0
            elif byte == ord("\\"):
                memory[ESCAPED] = 1
            elif byte == ord('"'):
                memory[IN_TEXT] = 0
        elif byte == 32 or byte == 9 or byte == 10 or byte == 13:
            text[at] = 32
        elif memory[PART] == BEFORE:
            if byte != ord("["):
                return NO_ARRAY
            text[at] = 32
            memory[PART] = INSIDE
        elif memory[PART] == AFTER:
            return MORE_TEXT
        elif memory[DEPTH] == 0 and (byte == ord(",") or byte == ord("]")):
            if not memory[BEGUN] and (byte == ord(",") or memory[ELEMENTS]):
                return NO_ELEMENT
            text[at] = 10
            memory[ELEMENTS] += memory[BEGUN]
            memory[BEGUN] = 0
            if byte == ord("]"):
                memory[PART] = AFTER
        else:
            memory[BEGUN] = 1
            if byte == ord("{") or byte == ord("["):
                memory[DEPTH] += 1
            elif byte == ord("}") or byte == ord("]"):
                memory[DEPTH] -= 1
                if memory[DEPTH] < 0:
                    return NO_ELEMENT
            elif byte == ord('"'):
                memory[IN_TEXT] = 1
    return 0
