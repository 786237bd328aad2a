"""Judges JSON texts by Python's `json`, made strict: UTF-8, no NaN or Infinity, no overflow, no lone surrogates."""

import json
import math

from judging import judge_each


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def finite(digits):
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits} is out of range")
    return value


def rejection(document):
    try:
        value = json.loads(document.decode("utf-8"), parse_constant=refuse_constant, parse_float=finite)
        # Fails on a lone surrogate, which Python reads without complaint.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None


judge_each(rejection)
