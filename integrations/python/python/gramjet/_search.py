"""The search for the texts on which a function costs most."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from types import CodeType, FrameType, ModuleType
from typing import Any, Literal

from ._native import COUNTING, Grammar, load
from ._native import Search as _Search

_counting: dict[str, Any] = {}
exec(compile(COUNTING, "<gramjet>", "exec"), _counting)

# There are no more edges than this; further ones are counted together.
_EDGES = 1 << 16


@dataclass(frozen=True)
class Growth:
    """How the cost of a text grows when a part of it is repeated."""

    law: str
    """The law that fits best, with its confidence interval: `cost ~ n^2.0 (95 %: 1.99 to 2.01)`."""
    repeated: str
    """What is repeated, n times."""
    exponent: float
    """The exponent of n: 1 for linear growth and n log n, 2 for quadratic growth, infinity for exponential growth."""
    texts: list[tuple[int, bytes, int]] = field(repr=False)
    """The texts that were measured: n, the text, its cost."""
    place: str | None = None
    """The place whose count grows fastest, as `file:line (function)`."""

    def __str__(self) -> str:
        place = f"; fastest: {self.place}" if self.place else ""
        return f"{self.law} in the number of {self.repeated}{place}"


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    text: bytes
    """The text that costs most."""
    cost: int
    """Its cost."""
    runs: int
    """How often the function was called to find it."""
    hot: list[tuple[str, int]]
    """The places that this text executes most, as `file:line (function)`, with their counts."""
    growth: list[Growth]
    """How cost grows when parts of the text are repeated, the fastest growth first."""
    failures: dict[str, bytes]
    """The shortest text for each class of exception that the function raised."""
    stopped: list[bytes]
    """Texts on which a call took longer than the timeout."""

    def __str__(self) -> str:
        lines = [f"{self.cost}: {self.text.decode('utf-8', 'backslashreplace')}"]
        lines += [f"hot: {place}, {count} times" for place, count in self.hot[:3]]
        lines += [f"growth: {growth}" for growth in self.growth[:1]]
        return "\n".join(lines)


class _Late(BaseException):
    """A call takes longer than the timeout."""


class _Meter:
    """Runs the function on texts."""

    def __init__(
        self, function: Callable[[Any], object], is_returned: bool, encoding: str | None, timeout: float | None
    ) -> None:
        self.function, self.is_returned, self.encoding = function, is_returned, encoding
        # The system's timer interrupts the main thread only.
        can_stop = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self.timeout = timeout if can_stop else None
        self.counters = memoryview(bytearray(4 * _EDGES)).cast("I")
        self.zeros = bytes(4 * _EDGES)
        self.places: list[str] = ["elsewhere"]
        self.numbers: dict[tuple[str, str, int, str], int] = {}
        self.failures: dict[str, bytes] = {}
        self.stopped: list[bytes] = []
        # Calls without effect: nothing is counted yet.
        self.start: Callable[[], object] = bool
        self.stop: Callable[[], object] = bool

    def number_of(self, code: CodeType, line: int | None, mark: str) -> int:
        name = getattr(code, "co_qualname", code.co_name)
        key = (code.co_filename, name, code.co_firstlineno, mark)
        number = self.numbers.get(key)
        if number is None:
            if len(self.places) == _EDGES:
                return 0
            number = self.numbers[key] = len(self.places)
            self.places.append(f"{code.co_filename}:{line or code.co_firstlineno} ({name})")
        return number

    @contextlib.contextmanager
    def counting(self, modules: tuple[ModuleType, ...]) -> Iterator[None]:
        """Counts what is executed."""
        if self.is_returned:
            yield
            return
        own, name_own = _counting["own_code"]()
        for module in (_package_of(self.function), *modules):
            name_own(module)
        # Code of a notebook has a file that does not exist.
        itself = getattr(getattr(self.function, "__code__", None), "co_filename", None)

        def is_counted(file: str) -> bool:
            return file != __file__ and (file == itself or bool(own(file)))

        self.start, self.stop, end = _counting["count_executed"](self.counters, self.number_of, is_counted)
        try:
            yield
        finally:
            end()

    @contextlib.contextmanager
    def interrupted(self) -> Iterator[None]:
        """Takes the signal of the timer, if there is a timeout."""
        if self.timeout is None:
            yield
            return

        def late(number: int, frame: FrameType | None) -> None:
            raise _Late

        earlier = signal.signal(signal.SIGALRM, late)
        try:
            yield
        finally:
            signal.signal(signal.SIGALRM, earlier)

    def run(self, text: bytes) -> tuple[int, bytes, bool | None]:
        """The cost, the counts, and whether the function has returned: not if it raised, unknown if it was stopped."""
        given = text if self.encoding is None else text.decode(self.encoding)
        used = len(self.places)
        self.counters[:used] = memoryview(self.zeros).cast("I")[:used]
        value: object = 0
        ended: bool | None = False
        try:
            if self.timeout is not None:
                signal.setitimer(signal.ITIMER_REAL, self.timeout)
            try:
                self.start()
                value = self.function(given)
                ended = True
            finally:
                self.stop()
                if self.timeout is not None:
                    signal.setitimer(signal.ITIMER_REAL, 0)
        except _Late:
            ended = None
            if len(self.stopped) < 100:
                self.stopped.append(text)
        except (Exception, SystemExit) as error:
            self.remember(type(error), text)
        counts = self.counters[: len(self.places)].tobytes()
        return self.cost(value) if self.is_returned else sum(self.counters[: len(self.places)]), counts, ended

    def cost(self, value: object) -> int:
        """The cost that the function has returned."""
        if isinstance(value, (int, float)) and value >= 0:
            return min(int(value), 2**63)
        raise TypeError(f"with cost=\"returned\" the function returns a number that is not negative, not {value!r}")

    def remember(self, kind: type[BaseException], text: bytes) -> None:
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        known = self.failures.get(name)
        if known is None or len(text) < len(known):
            self.failures[name] = text

    def hot(self, text: bytes) -> list[tuple[str, int]]:
        """The places that a text executes most."""
        self.run(text)
        counted = [(place, self.counters[number]) for number, place in enumerate(self.places) if self.counters[number]]
        return sorted(counted, key=lambda each: -each[1])[:10]


def _package_of(function: Callable[[Any], object]) -> ModuleType | None:
    name = getattr(function, "__module__", None) or type(function).__module__
    package = name.partition(".")[0]
    # A program or a test is no package.
    return sys.modules.get(package if package != "builtins" else "")


def search(
    grammar: Grammar | str | PathLike[str],
    function: Callable[[Any], object],
    *,
    cost: Literal["executed", "returned"] = "executed",
    max_len: int = 60,
    time: float | None = 60.0,
    runs: int | None = None,
    timeout: float | None = 10.0,
    encoding: str | None = "utf-8",
    count: tuple[ModuleType, ...] = (),
    strategy: str = "portfolio",
    seed: int = 0,
    proof: float = 20.0,
    proof_len: int = 16384,
) -> Found:
    """Searches the texts of a grammar for the one on which `function` costs most, and measures how its cost grows.

    `grammar` is a compiled one, or a file or name for `load`. It is used with its own weights and, unless it was
    compiled with another limit, without one on depth: costly texts are often deep. The function gets a text as
    `str`, or as bytes with `encoding=None`.

    The cost is the number of branches and calls (before Python 3.12: lines) that are executed, in the function's
    own package, in all code outside of the standard library, and in the modules of `count`. With `cost="returned"`
    the cost is the number that the function returns: steps, allocations, queries.

    The search ends after `time` seconds or `runs` calls. Then growth is measured for at most `proof` seconds (0
    for none) by texts of at most `proof_len` bytes. A call that takes longer than `timeout` seconds is stopped if
    the search runs in the main thread. Exceptions of the function are kept in the result. The costliest text is
    one on which it returns.

    The same seed and number of runs give the same result, if nothing else ends the search and the function is
    deterministic.
    """
    if cost not in ("executed", "returned"):
        raise ValueError(f'cost is "executed" or "returned", not {cost!r}')
    if time is None and runs is None:
        raise ValueError("give a limit: `time` in seconds, or a number of `runs`")
    if not isinstance(grammar, Grammar):
        grammar = load(grammar)
    return _search(
        _Search(grammar, strategy=strategy, max_len=max_len, seed=seed),
        _Meter(function, cost == "returned", encoding, timeout),
        count, time, runs, (proof, proof_len),
    )


def _search(
    search: _Search,
    meter: _Meter,
    modules: tuple[ModuleType, ...],
    seconds: float | None,
    most: int | None,
    proof: tuple[float, int],
) -> Found:
    begin = time.monotonic()
    runs = 0
    with meter.counting(modules), meter.interrupted():
        while (most is None or runs < most) and (seconds is None or time.monotonic() - begin < seconds):
            text = search.propose()
            if search.is_exhausted:
                break
            before = time.perf_counter()
            reading = meter.run(text)
            search.observe(reading, time.perf_counter() - before)
            runs += 1
        found = search.best()
        if found is None:
            raised = ", ".join(meter.failures) or "a timeout"
            raise ValueError(f"there is no result: each of {runs} calls ended in {raised}")
        best, cost = found
        grown = search.prove(meter.run, max_len=proof[1], runs=2000, seconds=proof[0]) if proof[0] > 0 else []
        hot = meter.hot(best) if not meter.is_returned else []
    growth = [
        Growth(law, repeated, exponent, texts, None if place is None else meter.places[place])
        for law, repeated, exponent, texts, place in grown
    ]
    return Found(best, cost, runs, hot, growth, meter.failures, meter.stopped)
