#!/usr/bin/env python3
"""Compares the search of gramjet with `hypothesis.extra.lark.from_lark`: the same thirty properties, the same grammars (the shipped ones,
without weights, as Lark), and the same failing texts to begin with, which Hypothesis has found.

    python3 -m venv target/shrink-venv && target/shrink-venv/bin/pip install 'hypothesis[lark]'
    cargo build -p gramjet-cli && cargo build -p gramjet-session --example shrinking
    target/shrink-venv/bin/python benches/shrinking/from_lark.py target/debug/gramjet target/debug/examples/shrinking [GRAMMAR ...]

Hypothesis searches in a process of its own for each property and seed, for at most 60 seconds of processor time and in at most 1 GiB:
what it remembers of large texts would otherwise fill the memory. A search that ends by these bounds is left out, and reported.
"""

import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import lark
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import HypothesisException
from hypothesis.extra.lark import from_lark

SEEDS = 5
SECONDS = 60
MEMORY = 1 << 30
TOKEN = re.compile(r'%s"([^"]*)"|"([^"]*)"|%x([0-9A-Fa-f]+(?:-[0-9A-Fa-f]+|(?:\.[0-9A-Fa-f]+)+)?)|(\d*\*\d*|\d+)(?=[%"(\[A-Za-z])|([A-Za-z][\w-]*)|([()\[\]/=])')


def name(text: str) -> str:
    return "r_" + text.lower().replace("-", "_")


def character(code: int) -> str:
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"


def literal(text: str) -> str:
    return '"' + "".join(c if c.isalnum() else character(ord(c)) for c in text) + '"' if text else ""


def rules(abnf: str) -> str:
    """The rules of `gramjet convert` in ABNF, as Lark."""
    lines, groups = [], []
    for line in abnf.splitlines():
        left, right = line.split(" = ", 1)
        lines.append(f"{name(left)}: {alternatives(tokens(right), groups)}")
    return "\n".join(lines + [f"g_{number}: {group}" for number, group in enumerate(groups)]) + "\n"


def tokens(text: str) -> list[tuple[str, str]]:
    found = []
    for match in TOKEN.finditer(text):
        kind = ["literal", "literal", "characters", "repeat", "rule", "mark"][match.lastindex - 1]
        found.append((kind, match.group(match.lastindex)))
    return found[::-1]


def alternatives(left: list[tuple[str, str]], groups: list[str]) -> str:
    options = [sequence(left, groups)]
    while left and left[-1] == ("mark", "/"):
        left.pop()
        options.append(sequence(left, groups))
    return " | ".join(options)


def sequence(left: list[tuple[str, str]], groups: list[str]) -> str:
    parts = []
    while left and left[-1] not in [("mark", "/"), ("mark", ")"), ("mark", "]")]:
        parts.append(repetition(left, groups))
    return " ".join(parts)


def repetition(left: list[tuple[str, str]], groups: list[str]) -> str:
    if left[-1][0] != "repeat":
        return element(left, groups)
    times = left.pop()[1]
    least, _, most = times.partition("*") if "*" in times else (times, "*", times)
    item = f"({element(left, groups)})"
    if (most or int(least or 0) > 1) and "|" in item:
        # Lark writes out bounded repetitions: four alternatives, fifteen times, would be a billion.
        groups.append(item)
        item = f"g_{len(groups) - 1}"
    if most:
        return f"{item}~{least or 0}..{most}"
    return item + ("*" if int(least or 0) == 0 else "+" if least == "1" else f"~{least} {item}*")


def element(left: list[tuple[str, str]], groups: list[str]) -> str:
    kind, text = left.pop()
    if kind == "literal":
        return literal(text)
    if kind == "rule":
        return name(text)
    if kind == "characters":
        if "-" in text:
            low, high = (int(part, 16) for part in text.split("-"))
            return f"/[{character(low)}-{character(high)}]/"
        return literal("".join(chr(int(part, 16)) for part in text.split(".")))
    inner = alternatives(left, groups)
    left.pop()
    return f"({inner})" + ("?" if text == "[" else "")


class Judge:
    """The program that knows the properties."""

    def __init__(self, program: str) -> None:
        self.program = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *words: str) -> str:
        self.program.stdin.write(("\t".join(words) + "\n").encode())
        self.program.stdin.flush()
        return self.program.stdout.readline().decode().rstrip("\n")

    def stop(self) -> None:
        self.program.kill()
        self.program.communicate()

    def holds(self, number: int, text: bytes) -> bool:
        return self.ask("holds", str(number), text.hex()) == "1"


def shrunk(strategy, judge: Judge, number: int, seed: int) -> tuple[bytes, int, int]:
    """The first failing text, the length of the last, and how many calls Hypothesis makes after the first failing one."""
    first, last, calls = None, b"", 0

    def holds(text: str) -> bool:
        nonlocal first, last, calls
        encoded = text.encode()
        calls += first is not None
        if len(encoded) > 2000 or not judge.holds(number, encoded):
            return False
        first, last = first or encoded, encoded
        return True

    relaxed = settings(
        max_examples=5000, deadline=None, database=None, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
    )
    found = find(strategy, holds, settings=relaxed, random=random.Random(seed))
    return first, len(found.encode()), calls


def bounded(strategy, judge: Judge, number: int, seed: int) -> tuple[bytes, int, int] | str:
    """The same in a process of its own, or why it has no result."""
    results, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        try:
            first, length, calls = shrunk(strategy, judge, number, seed)
            answer = [first.hex(), length, calls]
        except (HypothesisException, MemoryError) as error:
            answer = type(error).__name__
        os.write(theirs, json.dumps(answer).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(results, "rb") as results:
        text = results.read()
    os.waitpid(child, 0)
    answer = json.loads(text) if text else f"more than {SECONDS} seconds"
    return answer if isinstance(answer, str) else (bytes.fromhex(answer[0]), *answer[1:])


def main() -> None:
    gramjet, program = sys.argv[1:3]
    only = sys.argv[3:]
    judge = Judge(program)
    properties = [line.split("\t") for line in judge.ask("properties").split("\x1f")]
    ours_all, theirs_all = [], []
    print("| grammar | property | smallest | `from_lark`: bytes; tests, median | here: bytes; tests, median |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        strategies = {}
        for number, (grammar, title, smallest) in enumerate(properties):
            if only and grammar not in only:
                continue
            path = Path(folder) / f"{grammar}.lark"
            if grammar not in strategies:
                abnf = subprocess.run([gramjet, "convert", grammar, "-", "--to", "abnf", "--drop-weights"], capture_output=True, check=True)
                text = rules(abnf.stdout.decode())
                start = text.split(":", 1)[0]
                path.write_text(text.replace(f"{start}:", "start:", 1).replace(f" {start} ", " start "))
                # The same rules. As Lark, a lexer would keep literals out of classes; `from_lark` has no lexer.
                path.with_suffix(".abnf").write_bytes(abnf.stdout)
                strategies[grammar] = from_lark(lark.Lark(path.read_text(), start="start"), start="start")
            theirs, ours = [], []
            for seed in range(SEEDS):
                # A search that was ended may leave an answer unread.
                judge = Judge(program)
                found = bounded(strategies[grammar], judge, number, seed)
                if isinstance(found, str):
                    print(f"{grammar}, {title}, seed {seed}: {found}", file=sys.stderr)
                    judge.stop()
                    continue
                first, length, calls = found
                answer = judge.ask("minimise", str(path.with_suffix(".abnf")), str(number), first.hex())
                judge.stop()
                if "\t" not in answer:
                    print(f"{grammar}, {title}, seed {seed}: {answer}", file=sys.stderr)
                    continue
                theirs.append((length, calls))
                ours.append(tuple(map(int, answer.split("\t"))))
            theirs_all += theirs
            ours_all += ours
            print(f"| {grammar} | {title} | {smallest} | {shown(theirs)} | {shown(ours)} |", flush=True)
    print(f"\n{len(ours_all)} runs; median of tests: `from_lark` {median(theirs_all)}, here {median(ours_all)}")
    print(f"here as short or shorter in {sum(a[0] <= b[0] for a, b in zip(ours_all, theirs_all))}")


def median(runs: list[tuple[int, int]]) -> float:
    return statistics.median(calls for _, calls in runs) if runs else 0


def shown(runs: list[tuple[int, int]]) -> str:
    return f"{' '.join(str(length) for length, _ in runs)}; {median(runs):g}" if runs else "none"


if __name__ == "__main__":
    main()
