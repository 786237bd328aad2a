"""The strategy for Hypothesis: inputs are valid and of all sizes; failing ones shrink to small valid ones."""

import json

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

import gramjet
from gramjet.hypothesis import from_grammar

LISTS = gramjet.compile("list ::= '[' (item (',' item)*)? ']'  item ::= [0-9]{1,5} @ 2 | list")
JSON = gramjet.load("json")
# Of its own, so that what is shrunk to does not change with a shipped grammar.
STRINGS = gramjet.compile(
    r"""value ::= '"' char* '"' | '[' (value (',' value)*)? ']'  char ::= [a-z] @ 4 | '\\u' hex{4}  hex ::= [0-9a-f]"""
)

RELAXED = settings(max_examples=5000, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


def depth(text: str) -> int:
    return max(text[:end].count("[") - text[:end].count("]") for end in range(len(text) + 1))


@given(from_grammar(JSON))
def test_inputs_are_valid(text: str) -> None:
    json.loads(text)


@given(from_grammar(JSON, encoding=None), st.booleans())
def test_inputs_are_bytes_on_request(text: bytes, _other: bool) -> None:
    assert JSON.conforms(text)


def test_inputs_are_small_and_large() -> None:
    sizes: list[int] = []

    @settings(max_examples=200, database=None, deadline=None)
    @given(from_grammar(JSON))
    def record(text: str) -> None:
        sizes.append(len(text))

    record()
    assert min(sizes) <= 4 and sum(size > 200 for size in sizes) > 10


def test_failing_inputs_shrink() -> None:
    # The shortest ones are `[[[[]]]]`, `[7]` and `[0,0,0]`.
    deep = find(from_grammar(LISTS), lambda text: depth(text) >= 4, settings=RELAXED)
    assert len(deep) <= 20 and LISTS.conforms(deep)
    seven = find(from_grammar(LISTS), lambda text: "7" in text, settings=RELAXED)
    assert len(seven) <= 10 and LISTS.conforms(seven)
    three = find(from_grammar(LISTS), lambda text: text.count(",") >= 2, settings=RELAXED)
    assert len(three) <= 20 and LISTS.conforms(three)


def test_a_failing_test_shows_a_small_valid_text() -> None:
    seen: list[str] = []

    @settings(RELAXED)
    @given(from_grammar(STRINGS))
    def no_escapes(text: str) -> None:
        if "\\u" in text:
            seen.append(text)
            raise AssertionError

    with pytest.raises(AssertionError):
        no_escapes()
    json.loads(seen[-1])
    assert len(seen[-1]) <= 20 and STRINGS.conforms(seen[-1]), seen[-1]
