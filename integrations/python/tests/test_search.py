"""The search for costly texts."""

import math
import sys
import time

import gramjet
import pytest

WORDS = gramjet.compile("words ::= word (' ' word)*  word ::= [a-z]+")


def repeated(text: str) -> list[str]:
    """The words that came before: each is looked for in a list."""
    seen: list[str] = []
    again = []
    for word in text.split():
        known = False
        for other in seen:
            if other == word:
                known = True
        if known:
            again.append(word)
        seen.append(word)
    return again


def steps(text: str) -> int:
    """The same in the number of comparisons."""
    words = text.split()
    return sum(1 for one in words for other in words if one == other or one != other)


def test_the_costliest_text_and_its_growth_are_found() -> None:
    found = gramjet.search(WORDS, repeated, max_len=40, runs=600, time=None, seed=1)
    # Twenty words of one letter are the most.
    assert len(found.text.split()) >= 18, found
    assert found.runs == 600 and found.failures == {} and found.stopped == []
    assert found.growth[0].exponent == pytest.approx(2, abs=0.1), found.growth
    assert "cost ~ n^2.0" in str(found) and "words" in found.growth[0].repeated
    place, count = found.hot[0]
    assert place.startswith(f"{__file__}:") and place.endswith("(repeated)") and count > 100
    assert found.growth[0].place and found.growth[0].place.endswith("(repeated)")
    sizes = [size for size, _, _ in found.growth[0].texts]
    assert sizes == sorted(sizes) and len(sizes) >= 5
    for _, text, _ in found.growth[0].texts:
        assert WORDS.conforms(text)


def test_equal_seeds_and_runs_give_equal_results() -> None:
    one, other = (gramjet.search(WORDS, repeated, runs=200, time=None, seed=3, proof=0) for _ in range(2))
    assert (one.text, one.cost, one.hot) == (other.text, other.cost, other.hot)
    assert one.growth == []


def test_the_function_may_return_the_cost() -> None:
    found = gramjet.search(WORDS, steps, cost="returned", max_len=30, runs=400, time=None)
    assert found.cost == steps(found.text.decode())
    assert found.growth[0].exponent == pytest.approx(2, abs=0.1)
    assert found.hot == []
    with pytest.raises(TypeError, match="returns a number that is not negative, not 'x'"):
        gramjet.search(WORDS, lambda text: "x", cost="returned", runs=2, time=None)


def test_modules_of_the_standard_library_are_counted_if_their_function_is_searched() -> None:
    import json

    found = gramjet.search("json", json.JSONDecoder().decode, runs=50, time=None, proof=0)
    assert any("json" in place for place, _ in found.hot), found.hot
    json.loads(found.text)


def test_exceptions_are_results_and_texts_that_take_too_long_are_set_aside() -> None:
    def picky(text: str) -> None:
        if "aa" in text:
            raise KeyError(text)
        if "b" in text:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                pass

    letters = gramjet.compile("s ::= ('a' | 'b' | 'c')+")
    found = gramjet.search(letters, picky, max_len=6, runs=30, time=None, timeout=0.05, proof=0)
    assert found.failures == {"KeyError": b"aa"} or b"aa" in found.failures["KeyError"]
    assert found.stopped and all(b"b" in text for text in found.stopped)
    assert b"aa" not in found.text and b"b" not in found.text

    def refuses(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="each of 5 calls ended in ValueError"):
        gramjet.search(letters, refuses, runs=5, time=None)


def test_bytes_are_given_on_request() -> None:
    kinds = set()
    gramjet.search(WORDS, lambda text: kinds.add(type(text)), runs=3, time=None, encoding=None, proof=0)
    assert kinds == {bytes}


def test_searches_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(ValueError, match="no strategy `fast`; there are portfolio"):
        gramjet.search(WORDS, len, strategy="fast", runs=1)
    with pytest.raises(ValueError, match="cost is"):
        gramjet.search(WORDS, len, cost="time", runs=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a maximum length of 0 is too small"):
        gramjet.search(WORDS, len, max_len=0, runs=1)
    with pytest.raises(ValueError, match="give a limit"):
        gramjet.search(WORDS, len, time=None)


def test_an_interrupt_ends_the_search_and_nothing_is_counted_after_it() -> None:
    def interrupted(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gramjet.search(WORDS, interrupted, runs=5)
    if hasattr(sys, "monitoring"):
        assert all(sys.monitoring.get_tool(tool) != "gramjet" for tool in range(6))
    assert sys.gettrace() is None or "gramjet" not in str(sys.gettrace())


def test_exponential_growth_is_told_apart() -> None:
    # Nested brackets, each read twice.
    nested = gramjet.compile("s ::= '[' s ']' | 'x'")

    def read(text: str, at: int = 0) -> int:
        if text[at] == "x":
            return at + 1
        read(text, at + 1)
        return read(text, at + 1) + 1

    found = gramjet.search(nested, read, max_len=20, runs=100, time=None)
    assert found.growth[0].exponent == math.inf, found.growth
