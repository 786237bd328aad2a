"""Judges Internet messages by Python's `email` package, strict: no defect in the structure, nor in any field.

The package says nothing of line ends and lengths, fields that stand twice, or dates that it cannot read, so that is looked at too.

With `--structure`, only the structure is judged, of mail with any line ends and bytes: header, body, parts.
"""

import email
import email.policy
import re
import sys

from judging import judge_each

POLICY = email.policy.SMTP.clone(raise_on_defect=False)
ONCE = ("date", "from", "sender", "reply-to", "to", "cc", "bcc", "message-id", "in-reply-to", "references", "subject")
BARE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n)")


def rejection(document):
    if BARE_LINE_END.search(document) or not document.isascii():
        return "a line end other than CRLF, or not ASCII"
    if max(map(len, document.split(b"\r\n"))) > 998:
        return "a line of more than 998 characters"
    message = email.message_from_bytes(document, policy=POLICY)
    for part in message.walk():
        if part.defects:
            return f"{part.get_content_type()}: {part.defects[0]!r}"
        for name, value in part.items():
            if value.defects:
                return f"{name}: {value.defects[0]!r}"
            if name.lower() in ("from", "sender", "reply-to", "to", "cc") and not value.groups:
                return f"{name}: no address"
            if name.lower() == "date" and value.datetime is None:
                return f"{name}: no date"
    twice = [name for name in ONCE if len(message.get_all(name, [])) > 1]
    if twice or not message["date"] or not message["from"]:
        return f"fields twice: {twice}" if twice else "no date or no originator"
    return None


def rejection_of_structure(document):
    message = email.message_from_bytes(document, policy=email.policy.compat32)
    defects = [defect for part in message.walk() for defect in part.defects]
    return repr(defects[0]) if defects else None


def rejection_or_failure(document):
    try:
        return (rejection_of_structure if "--structure" in sys.argv[1:] else rejection)(document)
    except (AttributeError, IndexError, ValueError, TypeError) as error:
        return f"the package fails: {type(error).__name__}: {error}"


judge_each(rejection_or_failure)
