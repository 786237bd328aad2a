"""A strategy for Hypothesis: inputs of a grammar, which shrink to small inputs of the grammar.

>>> from hypothesis import given
>>> import gramjet
>>> from gramjet.hypothesis import from_grammar
>>> @given(from_grammar(gramjet.load("json")))
... def test_reads_what_it_wrote(text: str) -> None:
...     ...
"""

from typing import Literal, overload

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from . import Grammar

__all__ = ["from_grammar"]


@overload
def from_grammar(
    grammar: Grammar, *, encoding: str = "utf-8", max_choices: int = 2048
) -> SearchStrategy[str]: ...
@overload
def from_grammar(grammar: Grammar, *, encoding: None, max_choices: int = 2048) -> SearchStrategy[bytes]: ...
def from_grammar(
    grammar: Grammar, *, encoding: str | None = "utf-8", max_choices: int = 2048
) -> SearchStrategy[str] | SearchStrategy[bytes]:
    """Inputs of a grammar as `str`, or as `bytes` if `encoding` is None.

    Hypothesis draws the choice bytes, at most `max_choices`. After them the input is completed in the shortest way.
    Smaller choice bytes mean simpler inputs, so shrinking the bytes shrinks the input, and every input on the way is
    valid.
    """
    # Hypothesis draws few bytes more than it must. Sizes shrink without the bytes: a size is a minimum only.
    sizes = [0] + [1 << bits for bits in range(2, 11) if 1 << bits <= max_choices // 2]

    def choices(size: int) -> SearchStrategy[bytes]:
        return st.binary(min_size=size, max_size=max_choices)

    drawn = st.sampled_from(sizes).flatmap(choices)
    # Drawn bytes are no file: they have no header.
    if encoding is None:
        return drawn.map(lambda choices: grammar.render(choices, raw=True))
    return drawn.map(lambda choices: grammar.render(choices, raw=True).decode(encoding))
