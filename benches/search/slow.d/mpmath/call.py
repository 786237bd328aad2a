"""Reads a number."""
import mpmath


def run(text):
    try:
        mpmath.mpmathify(text)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("1 + 2j")
