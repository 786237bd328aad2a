"""Reads a URL."""
import urllib3.util


def run(text):
    try:
        urllib3.util.parse_url(text)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("http://user@example.com:80/a?b#c")
