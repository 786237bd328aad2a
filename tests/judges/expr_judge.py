"""Judges arithmetic expressions by Python's own parser (`ast`).

Python refuses decimal integers that begin with zeros, which the language allows, so zeros at the beginning of a
number are taken off first. What Python allows beyond the language (`**`, `//`, names, white space, `1_000`, `1.`)
is rejected by the tokens: digits with at most one point between them, and the signs.
"""

import ast
import re
import warnings

from judging import judge_each

warnings.simplefilter("ignore")

TOKEN = re.compile(r"[0-9]+(?:\.[0-9]+)?|[-+*/()]")
LEADING_ZEROS = re.compile(r"(?<![0-9.])0+(?=[0-9])")
NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.UAdd, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div)


def rejection(document):
    try:
        text = document.decode("ascii")
    except UnicodeDecodeError as error:
        return str(error)
    if TOKEN.sub("", text):
        return f"not a token: {TOKEN.sub('', text)!r}"
    try:
        tree = ast.parse(LEADING_ZEROS.sub("", text), mode="eval")
    except (SyntaxError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    strange = [node for node in ast.walk(tree) if not isinstance(node, NODES)]
    return f"not in the language: {ast.dump(strange[0])}" if strange else None


judge_each(rejection)
