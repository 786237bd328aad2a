"""The search for the texts on which a function costs most."""

import codecs
import contextlib
import functools
import inspect
import linecache
import math
import operator
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Literal

from ._native import COUNTING, Grammar, load
from ._native import Search as _Search

_counting: dict[str, Any] = {}
exec(compile(COUNTING, "<gramjet>", "exec"), _counting)

# There are no more edges than this; further ones are counted together.
_EDGES = 1 << 16
# A function that has executed nothing in this many calls is none whose code is counted.
_UNCOUNTED = 20
# A call that goes on after it was interrupted is interrupted again after this many seconds, or its timeout if that is
# longer.
_AGAIN = 0.5


@dataclass(frozen=True)
class Growth:
    """How the cost of a text grows when a part of it is repeated."""

    law: str
    """The law that fits best, with its confidence interval, the sizes that it is of, and the larger one whose cost it
    has predicted: `cost ~ n^2.0 (95 %: 1.99 to 2.01): 13 sizes from n = 1 to 255, checked at 511`. If none is known, a
    line that says why. Empty if calls were stopped before enough was measured for a law."""
    repeated: str
    """What is repeated, n times."""
    exponent: float
    """The exponent of n: 1 for linear growth and n log n, 2 for quadratic growth, infinity for exponential growth, NaN
    without a law."""
    low: float
    """The lower end of its interval of 95 %."""
    high: float
    """The upper end."""
    sizes: int
    """At how many different n the cost was measured. Fewer than five prove nothing."""
    stopped: int | None
    """The n at which a call was stopped, as it took longer than the timeout, or returned the limit on cost."""
    texts: list[tuple[int, bytes, int]] = field(repr=False)
    """The texts that were run: n, the text, its cost. Of a call that was stopped, the cost up to then."""
    place: str | None = None
    """The place whose count grows fastest, as `file:line (function)`."""
    proved: float = -math.inf
    """The cost is proved to grow faster than n to each power below this."""

    def grows_faster_than(self, exponent: float) -> bool:
        """Whether it is proved that the cost grows faster than n to this power: by a law of five sizes or more that
        span a factor of eight (two for exponential growth) and that has predicted the costs of larger texts, and under
        every law that the costs do not rule out, by the lower end of its interval."""
        return self.proved > exponent

    def __str__(self) -> str:
        stopped = "" if self.stopped is None else f"stopped at n = {self.stopped}"
        law = ", ".join(part for part in (self.law, stopped) if part)
        place = f"; fastest: {self.place}" if self.place else ""
        return f"{law} in the number of {self.repeated}{place}"


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    text: bytes
    """The text that costs most, of those on which the function returns."""
    cost: int
    """Its cost."""
    runs: int
    """How often the function was called to find it."""
    hot: list[tuple[str, int]]
    """The places that this text executes most, as `file:line (function)`, with their counts."""
    growth: list[Growth]
    """How cost grows when parts of the text are repeated: first where calls were stopped before any growth that
    explains it was measured, then the fastest growth first."""
    failures: dict[str, bytes]
    """The shortest text for each class of exception that the function raised."""
    stopped: list[bytes]
    """Texts on which a call took longer than the timeout, or returned the limit on cost, in the search or when growth
    was measured."""

    def __str__(self) -> str:
        lines = [f"{self.cost}: {self.text.decode('utf-8', 'backslashreplace')}"]
        lines += [f"hot: {place}, {count} times" for place, count in self.hot[:3]]
        lines += [f"growth: {growth}" for growth in self.growth[:1]]
        if self.stopped:
            text = min(self.stopped, key=len).decode("utf-8", "backslashreplace")
            lines.append(f"stopped on {len(self.stopped)} texts, such as {text[:200]}")
        return "\n".join(lines)


class SearchInterrupted(KeyboardInterrupt):
    """The search was interrupted."""

    found: Found | None
    """What it had found; None if no call had returned."""

    def __init__(self, found: Found | None) -> None:
        super().__init__("the search was interrupted" + (f"; it had found\n{found}" if found else ""))
        self.found = found


class _Late(BaseException):
    """A call takes longer than the timeout."""


class _Meter:
    """Runs the function on texts."""

    def __init__(
        self,
        function: Callable[[Any], object],
        is_returned: bool,
        encoding: str | None,
        timeout: float | None,
        cost_limit: int | None,
    ) -> None:
        self.function, self.is_returned, self.encoding = function, is_returned, encoding
        self.cost_limit = cost_limit
        # The system's timer interrupts the main thread only.
        can_stop = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        self.timeout = timeout if can_stop else None
        # A call is running that may be interrupted; it was.
        self.is_armed = self.is_late = False
        self.counters = memoryview(bytearray(4 * _EDGES)).cast("I")
        self.zeros = bytes(4 * _EDGES)
        self.places: list[str] = ["elsewhere"]
        self.numbers: dict[tuple[str, str, int, str], int] = {}
        self.failures: dict[str, bytes] = {}
        self.stopped: list[bytes] = []
        # Calls that returned, up to the first one that has executed something that is counted.
        self.uncounted = 0
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
        beside = _files_beside(self.function)

        def is_counted(file: str) -> bool:
            return file != __file__ and (file in beside or bool(own(file)) or _is_cell(file))

        self.start, self.stop, end = _counting["count_executed"](self.counters, self.number_of, is_counted)
        try:
            yield
        finally:
            end()

    @contextlib.contextmanager
    def interrupted(self) -> Iterator[None]:
        """Takes the signal of the timer, if there is a timeout. A timer of the caller goes on afterwards."""
        if self.timeout is None:
            yield
            return

        def late(number: int, frame: FrameType | None) -> None:
            if self.is_armed:
                self.is_late = True
                raise _Late

        begin = time.monotonic()
        left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
        earlier = signal.signal(signal.SIGALRM, late)
        try:
            yield
        finally:
            # None is a handler that was not set in Python.
            signal.signal(signal.SIGALRM, signal.SIG_DFL if earlier is None else earlier)
            if left > 0:
                signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - begin), 1e-3), interval)

    def call(self, given: object) -> object:
        """Calls the function, and interrupts it after the timeout: again and again, as it may go on."""
        if self.timeout is None:
            return self.function(given)
        self.is_armed = True
        try:
            signal.setitimer(signal.ITIMER_REAL, self.timeout, max(self.timeout, _AGAIN))
            return self.function(given)
        finally:
            self.is_armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)

    def run(self, text: bytes) -> tuple[int, bytes, bool | None]:
        """The cost, the counts, and whether the function has returned: not if it raised, unknown if it was stopped."""
        given = text if self.encoding is None else text.decode(self.encoding, "replace")
        used = len(self.places)
        self.counters[:used] = memoryview(self.zeros).cast("I")[:used]
        value: object = 0
        ended: bool | None = False
        self.is_late = False
        try:
            try:
                self.start()
                value = self.call(given)
                ended = True
            finally:
                self.is_armed = False
                self.stop()
        except _Late:
            self.is_late = True
        except (Exception, SystemExit) as error:
            # It may be what became of an interrupt.
            if not self.is_late:
                self.remember(type(error), text)
        if self.is_late:
            # The function may have swallowed the interrupt, and returned.
            value, ended = 0, None
            if self.timeout is not None:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self.remember_stopped(text)
        counts = self.counters[: len(self.places)]
        if self.is_returned:
            returned = self.cost(value)
            if ended and self.cost_limit is not None and returned >= self.cost_limit:
                self.remember_stopped(text)
                ended = None
            return returned, counts.tobytes(), ended
        cost = sum(counts)
        if ended:
            self.look_at(cost)
        return cost, counts.tobytes(), ended

    def remember_stopped(self, text: bytes) -> None:
        if len(self.stopped) < 100:
            self.stopped.append(text)

    def look_at(self, cost: int) -> None:
        """Refuses a function of which nothing is counted."""
        if self.uncounted < 0:
            return
        self.uncounted = -1 if cost > 0 else self.uncounted + 1
        if self.uncounted >= _UNCOUNTED:
            self.refuse()

    def refuse(self) -> None:
        raise ValueError(
            "nothing that the function executes is counted: it is written in C, or part of the standard library. "
            'Name its modules in `count`, or let the function return its cost, with cost="returned"'
        )

    def cost(self, value: object) -> int:
        """The cost that the function has returned."""
        whole: int | None = None
        if isinstance(value, float):
            whole = int(value) if value.is_integer() else None
        else:
            with contextlib.suppress(TypeError):
                whole = operator.index(value)  # type: ignore[arg-type]
        if whole is None or whole < 0:
            raise TypeError(f'with cost="returned" the function returns a whole number from 0 on, not {value!r}')
        return min(whole, 2**63)

    def remember(self, kind: type[BaseException], text: bytes) -> None:
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        known = self.failures.get(name)
        if known is None or len(text) < len(known):
            self.failures[name] = text

    def hot(self, text: bytes) -> list[tuple[str, int]]:
        """The places that a text executes most. A place may have several edges."""
        self.run(text)
        counted: dict[str, int] = {}
        for number, place in enumerate(self.places):
            counted[place] = counted.get(place, 0) + self.counters[number]
        hot = sorted(counted.items(), key=lambda each: -each[1])[:10]
        return [(place, count) for place, count in hot if count > 0]


def _python_function(function: object) -> FunctionType | None:
    """The Python function that a callable calls, if that can be known."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = getattr(type(function), "__call__", None)
    function = inspect.unwrap(function) if callable(function) else function
    function = getattr(function, "__func__", function)
    return function if isinstance(function, FunctionType) else None


def _files_beside(function: object) -> set[str]:
    """The files of the function and of those beside it: in a notebook each cell is a file, which does not exist."""
    itself = _python_function(function)
    if itself is None:
        return set()
    around = itself.__globals__
    beside = [itself]
    for value in list(around.values()):
        inner = list(vars(value).values()) if isinstance(value, type) else [value]
        beside += [each for each in map(_python_function, inner) if each is not None]
    return {each.__code__.co_filename for each in beside if each.__globals__ is around}


def _is_cell(file: str) -> bool:
    """Whether a file is none, but the source of code that was entered: a cell of a notebook."""
    return file in linecache.cache and not file.startswith("<frozen ") and not os.path.exists(file)


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
    cost_limit: int | None = None,
    encoding: str | None = "utf-8",
    count: tuple[ModuleType, ...] = (),
    strategy: str = "portfolio",
    seed: int = 0,
    proof: float = 20.0,
    proof_len: int = 16384,
) -> Found:
    """Searches the texts of a grammar for the one on which `function` costs most, and measures how its cost grows.

    `grammar` is a compiled one, or a file or name for `load`. It is used with its own weights and, unless it was
    compiled with another limit, without one on depth: costly texts are often deep. The function gets a text as `str`,
    with U+FFFD where it is not in the encoding, or as bytes with `encoding=None`.

    The cost is what the function executes: branches and calls (before Python 3.12 lines) of its own package, of all
    code that is not the standard library's, and of the modules of `count`. What is written in C counts nothing. With
    `cost="returned"` it is the number that the function returns: steps, allocations, queries. A function that gives up
    at some number and returns it needs that as `cost_limit`: such a call counts as stopped. Else equal costs of all
    texts that reach it look like no growth at all.

    The search ends after `time` seconds or `runs` calls; then the growth is measured for at most `proof` seconds (0
    for none) by texts of at most `proof_len` bytes. A call that takes longer than `timeout` seconds is stopped by
    SIGALRM, if the search is in the main thread and the call is one of Python code; it counts as stopped even if the
    function goes on. Exceptions of the function are kept in the result; the text that costs most is one on which it
    returns. An interrupt raises `SearchInterrupted`, a `KeyboardInterrupt` with what was found.

    The same seed and number of runs give the same result, if nothing else ends the search and the function is
    deterministic.
    """
    if cost not in ("executed", "returned"):
        raise ValueError(f'cost is "executed" or "returned", not {cost!r}')
    if not callable(function):
        raise TypeError(f"function is something that can be called, not {function!r}")
    if time is None and runs is None:
        raise ValueError("give a limit: `time` in seconds, or a number of `runs`")
    if encoding is not None:
        codecs.lookup(encoding)
    for module in count:
        if not isinstance(module, ModuleType):
            raise TypeError(f"count is a tuple of modules, and {module!r} is none")
    for name, seconds in (("time", time), ("timeout", timeout)):
        if seconds is not None and (not _is_seconds(seconds) or seconds == 0):
            most = f"{_MOST_SECONDS:.0f}"
            raise ValueError(f"{name} is None or a number of seconds above 0, at most {most}, not {seconds!r}")
    if not _is_seconds(proof):
        raise ValueError(f"proof is a number of seconds from 0 to {_MOST_SECONDS:.0f}, not {proof!r}")
    wholes = (
        ("runs", runs, 1), ("max_len", max_len, 0), ("proof_len", proof_len, 1), ("seed", seed, 0),
        ("cost_limit", cost_limit, 1),
    )
    for name, value, least in wholes:
        greatest = 2**64 - 1 if name == "seed" else sys.maxsize
        if value is not None and not (isinstance(value, int) and least <= value <= greatest):
            raise ValueError(f"{name} is a whole number from {least} to {greatest}, not {value!r}")
    if cost_limit is not None and cost != "returned":
        raise ValueError('cost_limit needs cost="returned"; what is executed is limited by `timeout`')
    if not isinstance(grammar, Grammar):
        grammar = load(grammar)
    return _search(
        _Search(grammar, strategy=strategy, max_len=max_len, seed=seed),
        _Meter(function, cost == "returned", encoding, timeout, cost_limit),
        count, time, runs, (proof, proof_len),
    )


# Beyond this, timers of the system are no longer exact.
_MOST_SECONDS = 1e8


def _is_seconds(value: object) -> bool:
    # NaN is not within any bounds.
    return isinstance(value, (int, float)) and 0 <= value <= _MOST_SECONDS


def _search(
    search: _Search,
    meter: _Meter,
    modules: tuple[ModuleType, ...],
    seconds: float | None,
    most: int | None,
    proof: tuple[float, int],
) -> Found:
    def found(grown: list[Any], hot: list[tuple[str, int]]) -> Found | None:
        best = search.best()
        if best is None:
            return None
        growth = [_growth(each, meter) for each in grown]
        return Found(best[0], best[1], search.runs, hot, growth, meter.failures, meter.stopped)

    with meter.counting(modules), meter.interrupted():
        try:
            search.run(meter.run, runs=most, seconds=seconds)
            best = search.best()
            if best is None:
                stop = "a timeout" if meter.cost_limit is None else "a timeout or the limit on cost"
                raised = ", ".join([*meter.failures, *([stop] if meter.stopped else [])])
                raise ValueError(f"there is no result: each of {search.runs} calls ended in {raised}")
            if best[1] == 0 and not meter.is_returned:
                meter.refuse()
            grown: list[Any] = []
            if proof[0] > 0:
                grown = search.prove(
                    meter.run, max_len=proof[1], runs=2000, seconds=proof[0], cost_limit=meter.cost_limit
                )
            hot = meter.hot(best[0]) if not meter.is_returned else []
        except KeyboardInterrupt as interrupt:
            raise SearchInterrupted(found([], [])) from interrupt
    result = found(grown, hot)
    assert result is not None
    return result


def _growth(grown: Any, meter: _Meter) -> Growth:
    law, repeated, (exponent, low, high, proved), sizes, stopped, texts, place = grown
    where = None if place is None else meter.places[place]
    return Growth(law, repeated, exponent, low, high, sizes, stopped, texts, where, proved)
