"""Encodes a host name."""
import idna


def run(text):
    try:
        idna.encode(text)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("example.com")
