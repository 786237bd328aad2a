"""Checks a value."""
import validate

VALIDATOR = validate.Validator()


def run(text):
    try:
        VALIDATOR.check(text, "1")
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("integer(0, 9, default=1)")
