"""The reader's functions: they take JSON as bytes, and HTML as text."""

import json
from html.parser import HTMLParser


def parse(text):
    if isinstance(text, bytes):
        json.loads(text)
    else:
        HTMLParser().feed(text)
