"""Judges Python modules by Python's own compiler (`compile`); nothing runs."""

import sys
import warnings

from judging import judge_each, not_installed

warnings.simplefilter("ignore")


def rejection(document):
    try:
        compile(document.decode("utf-8"), "document", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError, SystemError) as error:
        return f"{type(error).__name__}: {error}"
    return None


if sys.version_info < (3, 10):
    not_installed("Python 3.10 or later")
judge_each(rejection)
