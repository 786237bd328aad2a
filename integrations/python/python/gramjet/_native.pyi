from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Literal

from typing_extensions import Buffer

Limit = int | Literal["grammar"] | None
SeparatorPolicy = Literal["auto", "space", "none", "any"]
Alphabet = Literal["readable", "ascii", "unicode", "bytes", "all"]
ZeroWeights = Literal["drop", "keep"]

class GrammarError(ValueError):
    """A grammar that does not compile, or settings that cannot be used; says what is wrong, where, and what to do."""

class ChoicesError(ValueError):
    """Choice bytes whose header cannot be read, or is another grammar's, or of one that was read in another way."""

class ParseError(ValueError):
    """A text that does not conform to its grammar, or costs too much to parse."""

    offset: int | None
    """Where, in bytes."""
    line: int | None
    """Where, counted from 1."""
    column: int | None
    """Where, in characters, counted from 1."""
    rule: str | None
    """The innermost rule that has begun before."""

def compile(
    text: str,
    *,
    format: str | None = None,
    start: str | None = None,
    max_depth: Limit = "grammar",
    max_len: Limit = "grammar",
    separator_policy: SeparatorPolicy = "auto",
    alphabet: Alphabet | None = None,
    shape: str | None = None,
    indent: str = "auto",
    tokens: str | None = None,
    zero_weights: ZeroWeights = "drop",
) -> Grammar:
    """Compiles the grammar that `text` holds; its notation is found from the text, or is `format`.

    What is generated and rendered keeps within `max_depth` rule references below the start rule and `max_len` bytes: those of the
    grammar, where it sets none a depth of 32; `None` is no limit.

    In notations with a lexer (ANTLR's), `separator_policy` says where separators stand between tokens. Texts that others have made
    are parsed and varied with "any". `alphabet` says what sets that are written as complements draw from: else "all" with "any", and
    "readable" with the others. Choice bytes mean something under one policy only.

    Where a grammar's lexer leaves indentation to code, `indent` says how its tokens are read, as the command's `--indent` does: "auto",
    "none", or settings such as "unit=2,levels=5". `tokens` is the path of a file that says what tokens
    derive which the grammar only names.

    With `zero_weights="keep"` texts may have alternatives of weight 0, as for the command's `parse`; take it for texts that others
    have made. With "drop" these alternatives do not exist, as for the command's `gen`. Choice bytes mean something under one of
    the two only.

    `shape` says what inputs look like: "uniform", "balanced", "deep" or "target-size=BYTES". Without it a grammar keeps its own
    weights; one without weights and without a limit on the length, whose inputs would be far too long, too short or too often the
    same, gets "target-size=1000", and `Grammar.warnings` says so.
    """

def load(
    grammar: str | PathLike[str],
    *,
    format: str | None = None,
    start: str | None = None,
    max_depth: Limit = "grammar",
    max_len: Limit = "grammar",
    separator_policy: SeparatorPolicy = "auto",
    alphabet: Alphabet | None = None,
    shape: str | None = None,
    indent: str = "auto",
    tokens: str | None = None,
    zero_weights: ZeroWeights = "drop",
) -> Grammar:
    """Compiles the grammar in a file, or the one that ships under this name, such as json. See `compile`."""

class Grammar:
    """A compiled grammar. It can be used from many threads; long calls release the GIL."""

    @property
    def min_len(self) -> int:
        """The length of the shortest input in bytes: the least that `max_len` can be."""

    @property
    def engine(self) -> str:
        """The engine that runs it: "jit" is machine code, "vm" the table interpreter. What is made does not depend on it."""

    @property
    def warnings(self) -> str:
        """What there is to say about the grammar though it compiles: rules that cannot be reached, what its notation says beyond a
        context-free grammar, and so on. Empty if there is nothing."""

    def generate(self, n: int, *, seed: int = 0) -> list[bytes]:
        """The first `n` inputs of the run with this seed: the same on every machine."""

    def inputs(self, *, seed: int = 0) -> Inputs:
        """The inputs of the run with this seed, without end."""

    def render(self, choices: Buffer, *, raw: bool = False) -> bytes:
        """The input of these choice bytes, within the limits that their header says, or those of the grammar without one.

        Every byte string that does not begin as a header is a choice string, also the empty one; with `raw` every one is. Raises
        `ChoicesError` if the header is another grammar's.
        """

    def parse(self, text: str | Buffer, *, raw: bool = False) -> bytes:
        """The choice bytes that produce this text, behind a header with which `render` gives the text again whatever its depth.

        With `raw` they have no header. Raises `ParseError` if the text does not conform.
        """

    def conforms(self, text: str | Buffer) -> bool:
        """Whether the text conforms to the grammar."""

    def mutate(
        self, texts: str | Buffer | Sequence[str | Buffer], n: int, *, seed: int = 0, max_len: int | None = None
    ) -> list[bytes]:
        """`n` valid variants of the texts, in turn, with parts of all of them. Raises `ParseError` if one does not conform."""

    def minimise(
        self, text: str | Buffer, test: Callable[[bytes], object], *, max_tests: int = 10_000
    ) -> bytes:
        """The simplest text found for which `test` is true, as it must be for `text`. All that it is asked for conform."""

class Inputs(Iterator[bytes]):
    """The inputs of a run."""

    def __next__(self) -> bytes: ...

class Session:
    """Makes variants of texts one by one and remembers the parts of all texts that it was shown."""

    def __new__(cls, grammar: Grammar, *, seed: int = 0) -> Session: ...
    def mutate(self, text: str | Buffer, *, max_len: int | None = None) -> bytes:
        """A valid variant of the text; of a text that does not conform, an input made at random."""

    def splice(self, text: str | Buffer, other: str | Buffer, *, max_len: int | None = None) -> bytes:
        """The text with a part of the other in place of one of its own."""

COUNTING: str

class Search:
    """A search for costly texts: it proposes texts, and the caller runs them. `gramjet.search` does both."""

    def __new__(cls, grammar: Grammar, *, strategy: str, max_len: int, seed: int) -> Search: ...
    def propose(self) -> bytes: ...
    def observe(self, reading: tuple[int, bytes, bool | None], seconds: float) -> bool: ...
    def best(self) -> tuple[bytes, int] | None: ...
    def prove(
        self,
        measure: Callable[[bytes], tuple[int, bytes, bool | None]],
        max_len: int,
        runs: int,
        seconds: float,
    ) -> list[tuple[str, str, float, list[tuple[int, bytes, int]], int | None]]: ...
    @property
    def is_exhausted(self) -> bool: ...
    @property
    def repeats(self) -> int: ...
