"""Judges nested values, each with its length in one byte: `S<length>` and values, `A<length>` and letters.

The documents have their length before them, as 32 bits: they may have any byte.
"""

import struct
import sys


def read(data, place, end):
    """Returns where the value at `place` ends."""
    kind, inside = data[place], place + 2
    stop = inside + data[place + 1]
    if kind not in b"SA" or stop > end:
        raise ValueError(f"at {place}")
    while kind == ord("S") and inside < stop:
        inside = read(data, inside, stop)
    if kind == ord("A") and not set(data[inside:stop]) <= set(b"\0SAabcdefghijklmnopqrstuvwxyz"):
        raise ValueError(f"at {inside}")
    return stop


def is_value(document):
    try:
        return read(document, 0, len(document)) == len(document)
    except (IndexError, ValueError, RecursionError):
        return False


text, documents, place = sys.stdin.buffer.read(), [], 0
while place < len(text):
    (length,) = struct.unpack_from("<I", text, place)
    documents.append(text[place + 4 : place + 4 + length])
    place += 4 + length
print(f"accepted {sum(map(is_value, documents))} of {len(documents)}")
