from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Literal

from typing_extensions import Buffer

Limit = int | Literal["grammar"] | None
SeparatorPolicy = Literal["auto", "space", "none", "any"]
Alphabet = Literal["readable", "ascii", "unicode", "bytes", "all"]
ZeroWeights = Literal["drop", "keep"]

class GrammarError(ValueError):
    """A grammar that does not compile, or settings that cannot be used. The message says what is wrong, where,
    and what to do."""

class ChoicesError(ValueError):
    """Choice bytes whose header cannot be read, belongs to another grammar, or to the same grammar read in
    another way."""

class ParseError(ValueError):
    """A text that does not conform to its grammar, or costs too much to parse."""

    offset: int | None
    """The place of the error, in bytes."""
    line: int | None
    """The line of the error, counted from 1."""
    column: int | None
    """The place of the error within its line, in characters, counted from 1."""
    rule: str | None
    """The innermost rule that was being derived there."""

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
    """Compiles the grammar in `text`. `format` names its notation; without it the notation is found from the text.

    Inputs have at most `max_depth` nested rule references below the start rule, and at most `max_len` bytes.
    "grammar" takes the limits of the grammar, or a depth of 32 if it sets none; `None` is no limit.

    In notations with a lexer (ANTLR's), `separator_policy` says where separators stand between tokens. Use "any"
    to parse and vary texts from elsewhere. `alphabet` names the characters that complemented sets draw from; by
    default "all" with "any", and "readable" with other policies. Choice bytes are valid under one policy only.

    If the lexer of a grammar leaves indentation to code, `indent` says how the tokens for it are read, as the
    command's `--indent` does: "auto", "none", or settings such as "unit=2,levels=5". `tokens` is the path of a
    file with rules for the tokens that the grammar only names.

    With `zero_weights="keep"`, texts may have alternatives of weight 0, as for the command's `parse`. Use it for
    texts from elsewhere. With "drop", these alternatives do not exist, as for the command's `gen`. Choice bytes
    are valid under one of the two only.

    `shape` sets the distribution of inputs: "uniform", "balanced", "deep" or "target-size=BYTES". Without it a
    grammar keeps its own weights. A grammar without weights and without a limit on the length gets
    "target-size=1000" if its inputs would otherwise be far too long, too short or too often the same;
    `Grammar.warnings` says so.
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
    """Compiles the grammar in a file, or the shipped grammar of this name, such as json. See `compile`."""

class Grammar:
    """A compiled grammar. It can be used from many threads; long calls release the GIL."""

    @property
    def min_len(self) -> int:
        """The length of the shortest input in bytes, which is the least possible `max_len`."""

    @property
    def engine(self) -> str:
        """The engine that runs the grammar: "jit" is machine code, "vm" the table interpreter. Inputs do
        not depend on it."""

    @property
    def warnings(self) -> str:
        """Warnings about the grammar: rules that cannot be reached, parts that a context-free grammar
        cannot express, and so on. Empty if there are none."""

    def generate(self, n: int, *, seed: int = 0) -> list[bytes]:
        """The first `n` inputs of the run with this seed. They are the same on every machine."""

    def inputs(self, *, seed: int = 0) -> Inputs:
        """The inputs of the run with this seed. There is no last one."""

    def render(self, choices: Buffer, *, raw: bool = False) -> bytes:
        """The input of these choice bytes, within the limits in their header, or those of the grammar if they
        have none.

        Every byte string that does not begin as a header is a choice string, also the empty one. With `raw`,
        every byte string is one. Raises `ChoicesError` if the header belongs to another grammar.
        """

    def parse(self, text: str | Buffer, *, raw: bool = False) -> bytes:
        """The choice bytes that produce this text. `render` gives the text again, whatever its depth, as they
        have a header.

        With `raw` they have none. Raises `ParseError` if the text does not conform.
        """

    def conforms(self, text: str | Buffer) -> bool:
        """Whether the text conforms to the grammar."""

    def mutate(
        self, texts: str | Buffer | Sequence[str | Buffer], n: int, *, seed: int = 0, max_len: int | None = None
    ) -> list[bytes]:
        """`n` valid variants of the texts in turn, with parts of all of them. Raises `ParseError` if a text does not
        conform."""

    def minimise(
        self, text: str | Buffer, test: Callable[[bytes], object], *, max_tests: int = 10_000
    ) -> bytes:
        """The simplest text found for which `test` is true. `test` must be true for `text`, and is only
        called with texts that conform."""

class Inputs(Iterator[bytes]):
    """The inputs of a run."""

    def __next__(self) -> bytes: ...

class Session:
    """Makes variants of texts one by one, with parts of all texts that it has seen."""

    def __new__(cls, grammar: Grammar, *, seed: int = 0) -> Session: ...
    def mutate(self, text: str | Buffer, *, max_len: int | None = None) -> bytes:
        """A valid variant of the text. If the text does not conform, a random input."""

    def splice(self, text: str | Buffer, other: str | Buffer, *, max_len: int | None = None) -> bytes:
        """The text with one of its parts replaced by a part of the other."""

COUNTING: str

class Search:
    """A search for costly texts, of which the caller runs each. `gramjet.search` does that."""

    def __new__(cls, grammar: Grammar, *, strategy: str, max_len: int, seed: int) -> Search: ...
    def run(
        self,
        measure: Callable[[bytes], tuple[int, bytes, bool | None]],
        *,
        runs: int | None,
        seconds: float | None,
    ) -> None: ...
    def best(self) -> tuple[bytes, int] | None: ...
    def prove(
        self,
        measure: Callable[[bytes], tuple[int, bytes, bool | None]],
        max_len: int,
        runs: int,
        seconds: float,
        cost_limit: int | None,
    ) -> list[
        tuple[
            str, str, tuple[float, float, float, float], int, int | None, list[tuple[int, bytes, int]], int | None
        ]
    ]: ...
    @property
    def runs(self) -> int: ...
    @property
    def repeats(self) -> int: ...
