"""Renders Markdown by Python-Markdown."""
import markdown


def render(text):
    markdown.markdown(text)


# What is loaded and made by the first call is no cost of a text.
render("*a*")
