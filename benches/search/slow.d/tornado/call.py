"""Reads the header of cookies."""
import tornado.httputil


def run(text):
    try:
        tornado.httputil.parse_cookie(text)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run('a=b; c="d"')
