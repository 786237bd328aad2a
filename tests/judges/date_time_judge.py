"""Judges dates and times by dateutil's parser of ISO 8601; those of RFC 3339 also by Python's `datetime`.

Neither reads the small t and z that RFC 3339 allows; these are made capital first. With `--syntax` a leap second may be there.
"""

import datetime
import re
import sys

from judging import judge_each, need

isoparser = need("dateutil.parser").isoparse

# Section 5.6 of RFC 3339.
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def rejection(document):
    try:
        text = document.decode("ascii").upper()
        if "--syntax" in sys.argv:
            text = text.replace(":59:60", ":59:59")
        isoparser(text)
        if TIMESTAMP.fullmatch(text):
            datetime.datetime.fromisoformat(text)
    except (UnicodeDecodeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


judge_each(rejection)
