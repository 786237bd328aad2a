"""The search for costly texts."""

import linecache
import math
import signal
import sys
import threading
import time
from typing import Any

import gramjet
import pytest

HAS_MONITORING = hasattr(sys, "monitoring")
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
    growth = found.growth[0]
    assert growth.exponent == pytest.approx(2, abs=0.1), found.growth
    assert growth.low <= growth.exponent <= growth.high and growth.sizes >= 5 and growth.stopped is None
    assert growth.grows_faster_than(1.5) and not growth.grows_faster_than(2.5)
    assert "cost ~ n^2.0" in str(found) and "words" in found.growth[0].repeated
    place, count = found.hot[0]
    assert place.startswith(f"{__file__}:") and place.endswith("(repeated)") and count > 100
    # A place may have several branches.
    assert len({place for place, _ in found.hot}) == len(found.hot)
    counts = [count for _, count in found.hot]
    assert counts == sorted(counts, reverse=True)
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
    for value in ("x", -1, 0.5, math.inf, math.nan, None):
        with pytest.raises(TypeError, match="returns a whole number from 0 on, not "):
            gramjet.search(WORDS, lambda text, value=value: value, cost="returned", runs=2, time=None)
    assert gramjet.search(WORDS, lambda text: 2.0, cost="returned", runs=2, time=None, proof=0).cost == 2


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


def test_calls_that_go_on_after_the_timeout_are_stopped() -> None:
    goes_on = []

    def stubborn(text: str) -> None:
        if "b" not in text:
            return
        for _ in range(2):
            try:
                while True:
                    pass
            except:  # noqa: E722
                goes_on.append(text)

    letters = gramjet.compile("s ::= 'a' | 'b'")
    found = gramjet.search(letters, stubborn, max_len=1, runs=4, time=None, timeout=0.05, proof=0)
    assert len(goes_on) >= 2
    # It has returned, and is slow all the same.
    assert found.stopped and all(b"b" in text for text in found.stopped) and b"b" not in found.text
    assert found.failures == {}


def test_a_timer_of_the_caller_goes_on() -> None:
    handled = []
    earlier = signal.signal(signal.SIGALRM, lambda number, frame: handled.append(number))
    signal.setitimer(signal.ITIMER_REAL, 3600, 5)
    try:
        gramjet.search(WORDS, repeated, runs=5, time=None, proof=0)
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 3000 < left <= 3600 and interval == 5 and handled == []
        signal.raise_signal(signal.SIGALRM)
        assert handled == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


def test_growth_that_stops_the_function_comes_first() -> None:
    nested = gramjet.compile("s ::= 'a'* n  n ::= '(' n ')' | 'x'")

    def read(text: str) -> int:
        depth = text.count("(")
        while depth > 3:
            pass
        return len(text) + 10 * depth

    found = gramjet.search(nested, read, cost="returned", max_len=9, runs=40, time=None, timeout=0.1)
    first = found.growth[0]
    assert first.stopped is not None and "`n`" in first.repeated and not first.grows_faster_than(1)
    assert f"stopped at n = {first.stopped}" in str(found) and found.stopped
    others = [growth.exponent for growth in found.growth[1:] if growth.stopped is None]
    assert others and others[0] == pytest.approx(1, abs=0.1), found.growth


def test_texts_that_are_not_utf_8_are_searched() -> None:
    given = []
    texts = gramjet.compile("s ::= ('a' | #bFF)+")
    gramjet.search(texts, lambda text: given.append(text), runs=30, time=None, proof=0)
    assert any("\ufffd" in text for text in given), given


def test_code_that_cannot_be_counted_is_refused() -> None:
    for runs in (5, 50):
        with pytest.raises(ValueError, match="nothing that the function executes is counted: it is written in C"):
            gramjet.search(WORDS, len, runs=runs, time=None)


def test_code_of_other_cells_of_a_notebook_is_counted() -> None:
    helper, user = "def helper(text):\n    for _ in text:\n        pass\n", "def main(text):\n    helper(text)\n"
    cells = {"<cell 1>": helper, "<cell 2>": user}
    space: dict[str, Any] = {"__name__": "__main__"}
    for name, source in cells.items():
        exec(compile(source, name, "exec"), space)
    found = gramjet.search(WORDS, space["main"], max_len=20, runs=20, time=None, proof=0)
    assert found.hot[0][0].startswith("<cell 1>"), found.hot
    # One that is found by its source alone.
    main: dict[str, Any] = {"helper": space["helper"], "__name__": "other"}
    exec(compile(cells["<cell 2>"], "<cell 2>", "exec"), main)
    linecache.cache["<cell 1>"] = (1, None, [], "<cell 1>")
    try:
        found = gramjet.search(WORDS, main["main"], max_len=20, runs=20, time=None, proof=0)
    finally:
        del linecache.cache["<cell 1>"]
    assert found.hot[0][0].startswith("<cell 1>"), found.hot


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
    with pytest.raises(ValueError, match='cost_limit needs cost="returned"'):
        gramjet.search(WORDS, repeated, cost_limit=9)


@pytest.mark.parametrize(
    "name, value",
    [
        *[("time", value) for value in (0, -1, math.inf, math.nan, "1")],
        *[("timeout", value) for value in (0, -1, math.inf)],
        *[("proof", value) for value in (-1, math.inf, math.nan, None)],
        *[("runs", value) for value in (0, -1, 1.5)],
        *[("proof_len", value) for value in (-1, 1.5, 2**70)],
        *[("max_len", value) for value in (-1, "60")],
        *[("seed", value) for value in (-1, 2**64)],
        *[("cost_limit", value) for value in (0, 1.5)],
    ],
)
def test_arguments_are_checked_before_anything_is_called(name: str, value: object) -> None:
    def never(text: str) -> None:
        raise AssertionError

    with pytest.raises(ValueError, match=f"^{name} is .* not "):
        gramjet.search(WORDS, never, **{name: value})  # type: ignore[arg-type]


def test_arguments_of_other_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="count is a tuple of modules"):
        gramjet.search(WORDS, len, count=("json",))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="function is something that can be called"):
        gramjet.search(WORDS, "parse")  # type: ignore[arg-type]
    with pytest.raises(LookupError, match="utf-9"):
        gramjet.search(WORDS, len, encoding="utf-9")


def test_an_interrupt_ends_the_search_and_nothing_is_counted_after_it() -> None:
    calls = []

    def interrupted(text: str) -> None:
        calls.append(text)
        if len(calls) == 3:
            raise KeyboardInterrupt

    def tracer(frame: Any, event: str, argument: Any) -> None:
        return None

    before = sys.gettrace()
    threading.settrace(tracer)
    try:
        with pytest.raises(KeyboardInterrupt) as interrupt:
            gramjet.search(WORDS, interrupted, runs=5)
        assert threading.gettrace() is tracer
    finally:
        threading.settrace(None)  # type: ignore[arg-type]
    assert isinstance(interrupt.value, gramjet.SearchInterrupted)
    assert interrupt.value.found is not None and interrupt.value.found.runs == 2
    assert interrupt.value.found.text.decode() in calls
    assert sys.gettrace() is before
    if HAS_MONITORING:
        assert all(sys.monitoring.get_tool(tool) != "gramjet" for tool in range(6))


@pytest.mark.skipif(not HAS_MONITORING, reason="sys.monitoring is there from Python 3.12 on")
def test_tools_that_are_all_in_use_are_reported() -> None:
    free = [tool for tool in range(6) if sys.monitoring.get_tool(tool) is None]
    for tool in free:
        sys.monitoring.use_tool_id(tool, "a test")
    try:
        with pytest.raises(RuntimeError, match="all six tools of sys.monitoring are in use"):
            gramjet.search(WORDS, repeated, runs=1, time=None)
    finally:
        for tool in free:
            sys.monitoring.free_tool_id(tool)


def test_exponential_growth_is_told_apart() -> None:
    # Nested brackets, each read twice.
    nested = gramjet.compile("s ::= '[' s ']' | 'x'")

    def read(text: str, at: int = 0) -> int:
        if text[at] == "x":
            return at + 1
        read(text, at + 1)
        return read(text, at + 1) + 1

    # From a short text on, growth is followed over many doublings before calls take long.
    found = gramjet.search(nested, read, max_len=9, runs=100, time=None)
    assert found.growth[0].exponent == math.inf and found.growth[0].grows_faster_than(9), found.growth


def test_a_function_may_give_up_at_a_limit_on_cost() -> None:
    limit = 10_000

    def twice(text: str) -> int:
        """Reads what is in brackets twice, as long as there are steps left."""
        steps = 0

        def read(at: int) -> None:
            nonlocal steps
            steps += 1
            if text[at] == "[" and steps < limit:
                read(at + 1)
                read(at + 1)

        read(0)
        return min(steps, limit)

    nested = gramjet.compile("s ::= '[' s ']' | 'x'")
    found = gramjet.search(nested, twice, cost="returned", cost_limit=limit, max_len=60, runs=100, time=None)
    assert found.stopped and found.cost < limit, found
    assert any(growth.grows_faster_than(9) for growth in found.growth), found.growth

    # Slow growth comes to the limit as well, which its law explains.
    def length(text: str) -> int:
        return min(10 + len(text), 1000)

    found = gramjet.search(nested, length, cost="returned", cost_limit=1000, max_len=20, runs=20, time=None)
    growth = found.growth[0]
    assert growth.stopped is not None and growth.exponent == pytest.approx(1, abs=0.1), growth
    assert all(len(text) >= 990 for text in found.stopped), found.stopped
    with pytest.raises(ValueError, match="there is no result: each of 2 calls ended in a timeout or the limit on cost"):
        gramjet.search(nested, length, cost="returned", cost_limit=5, runs=2, time=None)
