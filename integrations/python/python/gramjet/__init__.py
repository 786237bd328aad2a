"""Valid inputs from context-free grammars.

>>> import gramjet
>>> sums = gramjet.compile("sum ::= number ('+' number)*  number ::= [1-9] [0-9]*")
>>> sums.render(b"")
b'1'
>>> sums.render(sums.parse("12+3"))
b'12+3'
"""

from ._native import ChoicesError, Grammar, GrammarError, Inputs, ParseError, Session, compile, load
from ._search import Found, Growth, SearchInterrupted, search

__all__ = [
    "ChoicesError",
    "Found",
    "Grammar",
    "GrammarError",
    "Growth",
    "Inputs",
    "ParseError",
    "SearchInterrupted",
    "Session",
    "compile",
    "load",
    "search",
]
