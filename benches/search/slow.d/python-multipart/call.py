"""Reads the header of a media type."""
import multipart.multipart


def run(text):
    try:
        multipart.multipart.parse_options_header(text.encode())
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run('form-data; name="a"')
