"""Renders Markdown by commonmark."""
import commonmark


def render(text):
    commonmark.commonmark(text)


# What is loaded and made by the first call is no cost of a text.
render("*a*")
