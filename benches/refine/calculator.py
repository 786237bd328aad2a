"""The calculator of the example: a product may be several sums in parentheses, one after the other."""

import sys


def calculates(text):
    """Whether the whole text is a sum."""
    at = sum_from(text, 0)
    return at == len(text)


def sum_from(text, at):
    at = product_from(text, at)
    while at is not None and text[at : at + 1] in ("+", "-") and at < len(text):
        at = product_from(text, at + 1)
    return at


def product_from(text, at):
    at = factor_from(text, at)
    while at is not None and text[at : at + 1] in ("*", "/") and at < len(text):
        at = factor_from(text, at + 1)
    return at


def factor_from(text, at):
    begin = at
    while text[at : at + 1] == "(":
        at = sum_from(text, at + 1)
        if at is None or text[at : at + 1] != ")":
            return None
        at += 1
    if at > begin:
        return at
    while at < len(text) and text[at] in "0123456789":
        at += 1
    return at if at > begin else None


def check(data):
    """Raises an error for a text that is none."""
    if not calculates(data.decode()):
        raise ValueError("not a sum")


if __name__ == "__main__":
    sys.exit(0 if calculates(sys.stdin.read()) else 1)
