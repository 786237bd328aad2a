"""Judges expressions of cron by croniter: each must name a date.

With `--syntax` it need not, and there may be fields for seconds and years: a sixth one is for seconds, either the first or the last, a
seventh one for years.
"""

import sys

from judging import judge_each, need

croniter = need("croniter")

SYNTAX = "--syntax" in sys.argv


def rejection(document):
    reasons = []
    for second_at_beginning in (False, True) if SYNTAX else (False,):
        try:
            text = document.decode("ascii")
            options = {"hash_id": b"gramjet"} if SYNTAX and "@" not in text else {"strict": not SYNTAX}
            croniter.croniter.expand(text, second_at_beginning=second_at_beginning, **options)
            return None if SYNTAX or len(text.split()) in (1, 5) else "not five fields"
        except (UnicodeDecodeError, croniter.CroniterError) as error:
            reasons.append(f"{type(error).__name__}: {error}")
    return reasons[0]


judge_each(rejection)
