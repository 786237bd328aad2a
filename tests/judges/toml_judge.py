"""Judges TOML documents by Python's `tomllib`, which implements TOML 1.0.0.

With `--syntax` keys may be defined twice, and tables too.
"""

import sys

from judging import judge_each, need

tomllib = need("tomllib")

if "--syntax" in sys.argv:
    from tomllib import _parser

    # Nothing has been defined before, whatever is asked.
    _parser.Flags.is_ = lambda self, key, flag: False
    _parser.NestedDict.get_or_create_nest = lambda self, key, *, access_lists=True: {}


def rejection(document):
    try:
        tomllib.loads(document.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None


judge_each(rejection)
