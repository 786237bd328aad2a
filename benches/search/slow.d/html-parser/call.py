"""Reads HTML."""
import html.parser


def run(text):
    try:
        parser = html.parser.HTMLParser()
        parser.feed(text)
        parser.close()
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run('<p a="b">&amp;</p>')
