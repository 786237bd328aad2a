"""Formats a statement of SQL, as the command `sqlformat` does."""
import sqlparse


def reindent(text):
    sqlparse.format(text, reindent=True)


# What is loaded and made by the first call is no cost of a text.
reindent("select 1")
