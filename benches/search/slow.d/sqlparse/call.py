"""Parses statements of SQL."""
import sqlparse


def run(text):
    try:
        sqlparse.parse(text)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("select 1")
