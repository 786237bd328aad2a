"""Finds the tokens of properties."""
import pygments.lexers

LEXER = pygments.lexers.get_lexer_by_name("properties")


def run(text):
    try:
        list(LEXER.get_tokens(text))
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("a = b\n# c\n")
