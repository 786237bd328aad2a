"""Judges Python modules by Python's own compiler (`compile`); nothing runs."""

import sys
import warnings

from judging import judge_each

warnings.simplefilter("ignore")


def rejection(document):
    try:
        compile(document.decode("utf-8"), "document", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None


if sys.version_info < (3, 10):
    print("python_judge.py: Python 3.10 or later is needed for match statements")
    sys.exit(77)
judge_each(rejection)
