"""Judges what the grammars of RFCs derive, by Python's own parsers: `text` (JSON), `uri`, `date`, `mailbox` or `fields` (of HTTP)."""

import email.utils
import http.client
import io
import json
import sys
import urllib.parse

from judging import judge_each


def uri(document):
    # Python knows the literals of future versions by a small letter only.
    text = document.decode("ascii").replace("[V", "[v")
    parts = urllib.parse.urlsplit(text)
    if not text.lower().startswith(parts.scheme + ":"):
        return f"the scheme is read as {parts.scheme!r}"
    rest = text[len(parts.scheme) + 1:]
    if (rest.startswith("//")) != (parts.netloc != "" or rest[2:3] in ("", "/", "?", "#") and rest.startswith("//")):
        return f"the authority is read as {parts.netloc!r}"
    if urllib.parse.unquote(parts.path).count("\0") > text.count("%00"):
        return "the path is read with other bytes"
    return None


def date(document):
    unfolded = document.decode("ascii").replace("\r\n", "")
    return None if email.utils.parsedate_tz(unfolded) else "no date"


def mailbox(document):
    found = email.utils.getaddresses([document.decode("ascii").replace("\r\n", "")])
    return None if len(found) == 1 and "@" in found[0][1] else f"read as {found}"


def text(document):
    # Unlike the judge of the shipped grammar: numbers may be beyond what a float holds, and surrogates may stand alone.
    json.loads(document.decode("utf-8"))


def fields(document):
    read = http.client.parse_headers(io.BytesIO(document + b"\r\n\r\n"))
    if read.defects or len(read) != 1:
        return f"{len(read)} fields, {read.defects}"
    return None


def judged(document):
    try:
        return globals()[sys.argv[1]](document)
    except Exception as error:  # Whatever the parser raises is its verdict.
        return f"{type(error).__name__}: {error}"


judge_each(judged)
