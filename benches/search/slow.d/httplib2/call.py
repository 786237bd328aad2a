"""Reads the header of a challenge."""
import httplib2


def run(text):
    try:
        httplib2._parse_www_authenticate({"www-authenticate": text})
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run('Basic realm="a"')
