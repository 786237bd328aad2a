"""Judges CSV files by Python's `csv`, strict: as many fields in each record, and nothing lost.

The module takes more than RFC 4180 allows, so the records are also written again by it, quoting what needs it; after
that and the reading of the result, the fields must be the same. Outside of quotation marks, characters that the RFC
does not allow there are refused: quotation marks inside a field, and line ends other than CRLF between records.

With `--columns` the module says how many fields a record has, and a record of one empty field counts; lines may end with
a line feed.

With `--syntax` the module alone decides, strict, and fields may be separated by semicolons or tabs.
"""

import csv
import io
import re
import sys

from judging import judge_each

# A field as section 2 of the RFC has it, up to what may follow it; TEXTDATA with characters beyond ASCII.
FIELD = re.compile(r'(?:"(?:[^"]|"")*"|[ !#-+\--~\u0080-\U0010ffff]*)(,|\r\n|\Z)')

csv.field_size_limit(1 << 30)


def layout(text):
    """The number of fields in each record by the grammar of the RFC, or None."""
    counts, count, place = [], 0, 0
    while True:
        field = FIELD.match(text, place)
        if field is None:
            return None
        count, place = count + 1, field.end()
        if field[1] != ",":
            counts.append(count)
            count = 0
            if place == len(text):
                return counts


def rejection(document):
    try:
        text = document.decode("utf-8")
        records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        return f"{type(error).__name__}: {error}"
    widths = {len(record) for record in records}
    if len(widths) != 1 or 0 in widths:
        return f"records of different numbers of fields: {sorted(widths)}"
    if layout(text) != [len(record) for record in records]:
        return "not the grammar of RFC 4180"
    written = io.StringIO(newline="")
    csv.writer(written).writerows(records)
    again = list(csv.reader(io.StringIO(written.getvalue(), newline=""), strict=True))
    return None if again == records else "not the same when written and read again"


def rejection_by_syntax(document):
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return str(error)
    reasons = []
    for delimiter in ",;\t":
        try:
            for _ in csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter):
                pass
            return None
        except csv.Error as error:
            reasons.append(str(error))
    return reasons[0]


def rejection_by_columns(document):
    try:
        records = list(csv.reader(io.StringIO(document.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        return f"{type(error).__name__}: {error}"
    widths = {len(record) or 1 for record in records}
    return None if len(widths) == 1 else f"records of different numbers of fields: {sorted(widths)}"


if "--columns" in sys.argv:
    judge_each(rejection_by_columns)
judge_each(rejection_by_syntax if "--syntax" in sys.argv else rejection)
