"""Cuts a text into sentences."""
import nltk.tokenize.punkt

TOKENIZER = nltk.tokenize.punkt.PunktSentenceTokenizer()


def run(text):
    try:
        TOKENIZER.tokenize(text)
    except Exception:
        # Texts may be wrong.
        pass


# What is loaded and made by the first call is no cost of a text.
run("It is. Is it?")
