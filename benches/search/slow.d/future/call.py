"""Reads a date of HTTP."""
import future.backports.http.cookiejar


def run(text):
    try:
        future.backports.http.cookiejar.http2time(text)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("Wed, 09 Feb 1994 22:23:32 GMT")
