"""Judges Python modules by Python's own compiler (`compile`); nothing runs.

With `--syntax` by its parser alone (`ast.parse`), which does not ask where `return` stands or what is assigned twice.
"""

import ast
import sys
import warnings

from judging import judge_each, not_installed

warnings.simplefilter("ignore")


def rejection(document):
    try:
        text = document.decode("utf-8")
        if "--syntax" in sys.argv[1:]:
            ast.parse(text)
        else:
            compile(text, "document", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError, SystemError) as error:
        return f"{type(error).__name__}: {error}"
    return None


if sys.version_info < (3, 10):
    not_installed("Python 3.10 or later")
judge_each(rejection)
