"""Judges nested values, each with its length in one byte: `S<length>` and values, `A<length>` and letters.

The documents have their length before them, as 32 bits: they may have any byte.
"""

from judging import read_documents_with_lengths


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


documents = read_documents_with_lengths()
print(f"accepted {sum(map(is_value, documents))} of {len(documents)}")
