"""Judges URI references by rfc3986-validator (the grammar of RFC 3986) and by rfc3986 (each component by itself).

Both read only a small v before the version of an address (IPvFuture), where the RFC allows either; a capital one is made small first.
rfc3986 refuses an empty userinfo and ports above 65535, which the RFC allows; of a URI with these, it judges the other components.
"""

import re

from judging import judge_each, need

need("rfc3986")
need("rfc3986_validator")

from rfc3986 import exceptions, uri_reference, validators
from rfc3986_validator import validate_rfc3986

COMPONENTS = validators.Validator().check_validity_of("scheme", "path", "query", "fragment")
ALL = validators.Validator().check_validity_of("scheme", "userinfo", "host", "port", "path", "query", "fragment")
REFUSED_AUTHORITY = re.compile(r"@.*|.*:(?:0*[1-9][0-9]{5,}|0*(?:6553[6-9]|655[4-9]|65[6-9]|6[6-9]|[7-9])[0-9]*)")


def rejection(document):
    try:
        text = document.decode("ascii").replace("[V", "[v")
        reference = uri_reference(text)
        refused = REFUSED_AUTHORITY.fullmatch(reference.authority or "")
        (COMPONENTS if refused else ALL).validate(reference)
    except (UnicodeDecodeError, exceptions.RFC3986Exception) as error:
        return f"{type(error).__name__}: {error}"
    return None if validate_rfc3986(text, rule="URI_reference") else "not a URI-reference of RFC 3986"


judge_each(rejection)
