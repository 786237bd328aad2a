"""Judges XPath 1.0 expressions by libxml2, as lxml: compiles and evaluates them, for each node of a document; with `--syntax` only compiles them."""

import sys

from judging import judge_each, need

etree = need("lxml.etree")

NAMESPACES = {"n": "urn:example:n"}
DOCUMENT = etree.fromstring(
    b"""<list xmlns:n="urn:example:n" id="a"><!-- text --><?pi data?><item id="b" xml:lang="en"><title>One</title><n:p>2</n:p></item>
<item><title>Two</title><book a="1" b="x">text <p>3</p> more</book></item></list>"""
)
VARIABLES = {"a": 1.5, "b": "text", "c": True, "nodes": DOCUMENT.xpath("//item")}
SYNTAX = "--syntax" in sys.argv[1:]


def rejection(document):
    try:
        text = document.decode("utf-8")
        etree.XPath(text, namespaces=NAMESPACES)
        if not SYNTAX:
            # In a predicate there is a position.
            etree.XPath(f"//node()[{text}]", namespaces=NAMESPACES)(DOCUMENT, **VARIABLES)
    except (UnicodeDecodeError, ValueError, etree.XPathError) as error:
        return f"{type(error).__name__}: {error}"
    return None


judge_each(rejection)
