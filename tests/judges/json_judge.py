"""Judges JSON texts by Python's `json`, made strict: UTF-8, no NaN or Infinity, no overflow, no lone surrogates.

With `--syntax` these two may be there, and a byte order mark.
"""

import json
import math
import sys

from judging import judge_each

SYNTAX = "--syntax" in sys.argv


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def finite(digits):
    value = float(digits)
    if math.isinf(value) and not SYNTAX:
        raise ValueError(f"{digits} is out of range")
    return value


def rejection(document):
    try:
        text = document.decode("utf-8-sig" if SYNTAX else "utf-8")
        value = json.loads(text, parse_constant=refuse_constant, parse_float=finite)
        # Fails on a lone surrogate, which Python reads without complaint.
        if not SYNTAX:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None


judge_each(rejection)
