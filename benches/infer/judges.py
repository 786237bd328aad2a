"""What the subjects of this benchmark accept. A function accepts a text by returning."""
import csv
import io

import rfc3986_validator


def strict_csv(data):
    """Tables as Python reads them in strict mode."""
    for _ in csv.reader(io.StringIO(data.decode(), newline=""), strict=True):
        pass


def uri(data):
    """Absolute URIs, RFC 3986."""
    if not rfc3986_validator.validate_rfc3986(data.decode(), rule="URI"):
        raise ValueError("not a URI")


def s_expression(data):
    """One S-expression: symbols, numbers, strings, lists, quotes, comments."""
    end = datum(data.decode(), 0)
    if blanks(data.decode(), end) != len(data.decode()):
        raise ValueError("something follows")


def blanks(text, at):
    while at < len(text) and (text[at].isspace() or text[at] == ";"):
        if text[at] == ";":
            while at < len(text) and text[at] != "\n":
                at += 1
        else:
            at += 1
    return at


def datum(text, at):
    at = blanks(text, at)
    first = text[at]
    if first == "(":
        at = blanks(text, at + 1)
        while text[at] != ")":
            at = blanks(text, datum(text, at))
        return at + 1
    if first == "'":
        return datum(text, at + 1)
    if first == '"':
        at += 1
        while text[at] != '"':
            at += 2 if text[at] == "\\" else 1
        return at + 1
    start = at
    while at < len(text) and not text[at].isspace() and text[at] not in "()\"';":
        at += 1
    if at == start:
        raise ValueError(f"unexpected {first!r}")
    return at
