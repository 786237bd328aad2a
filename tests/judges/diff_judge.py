"""Judges unified diffs by unidiff: it finds a file, and each hunk has the lines that it promises.

With `--hunks` git's own headers are left out: their names may differ from those in the lines after them.
"""

import re
import sys

from judging import judge_each, need

unidiff = need("unidiff")
GIT_HEADERS = re.compile(r"^(diff --git|(new|deleted) file|rename|copy|similarity|GIT binary) .*\n", re.MULTILINE)


def rejection(document):
    try:
        text = document.decode("utf-8")
        if "--hunks" in sys.argv[1:]:
            text = GIT_HEADERS.sub("", text)
        patch = unidiff.PatchSet(text)
    except (UnicodeDecodeError, unidiff.errors.UnidiffParseError) as error:
        return f"{type(error).__name__}: {error}"
    return None if patch else "no difference"


judge_each(rejection)
