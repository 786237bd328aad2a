#!/usr/bin/env python3
"""Compares `gramjet minimise` with picireny, a hierarchical delta debugger for ANTLR grammars: the size of what each ends with, and the
number of tests.

Needs a folder of grammars like that of https://github.com/antlr/grammars-v4 (`json/JSON.g4`, `json/examples/...`), Java, picireny, and the
jar of ANTLR's tool:

    python3 -m venv target/shrink-venv && target/shrink-venv/bin/pip install picireny
    target/shrink-venv/bin/python benches/shrinking/picireny.py GRAMMARS target/debug/gramjet [--antlr JAR] [--only PART]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Folder, grammar files, start rule, example, and what has to be in the text: all of these strings.
SUBJECTS = [
    ("json", ["JSON.g4"], "json", "example1.json", ['"GML"']),
    ("json", ["JSON.g4"], "json", "example1.json", ["SGML", "SortAs"]),
    ("json", ["JSON.g4"], "json", "numbers.json", ["-0"]),
    ("xml", ["XMLLexer.g4", "XMLParser.g4"], "document", "books.xml", ["Ralls", "2000-12-16"]),
    ("xml", ["XMLLexer.g4", "XMLParser.g4"], "document", "web.xml", ["<url-pattern>", "HelloServlet"]),
    ("css3", ["css3Lexer.g4", "css3Parser.g4"], "stylesheet", "mdn-at-supports.css", ["not", "{"]),
    ("css3", ["css3Lexer.g4", "css3Parser.g4"], "stylesheet", "mdn-at-font-feature-values.css", ["@styleset"]),
    ("css3", ["css3Lexer.g4", "css3Parser.g4"], "stylesheet", "bootstrap-theme.css", ["box-shadow", "#2e6da4"]),
    ("lua", ["LuaLexer.g4", "LuaParser.g4"], "chunk", "test_TableFind_table_find.lua", ["function", "return"]),
]

# What picireny is run with: as it comes, and with all that makes its results smaller.
WAYS = {"default": [], "prune+hoist": ["--phase", "prune", "--phase", "hoist", "--flatten-recursion", "--build-hidden-tokens"]}


def without_code(text: str) -> str:
    """A grammar without target code: what parsers for Python would need base classes for."""
    text = re.sub(r"superClass\s*=\s*\w+;", "", text)
    text = re.sub(r"@(?:parser|lexer)::members \{.*?\n\}", "", text, flags=re.DOTALL)
    text = text.replace("'--' { this.HandleComment(); }", r"'--' ~[\r\n]*").replace("channel(2)", "channel(HIDDEN)")
    text = text.replace("'#' { this.IsLine1Col0() }? '!'?", "'#!'")
    # A label that Python has as a name.
    text = re.sub(r"\bobject = ", "", text)
    return re.sub(r"\{[^{}']*\w\([^{}']*\)[^{}']*\}\??|\{!?\w+\}\?", "", text)


def oracle(folder: Path, parts: list[str]) -> tuple[Path, Path]:
    """A command that is 0 for a file with all parts and 1 else, and a file with a byte for each run."""
    command, runs = folder / "holds", folder / "runs"
    greps = " && ".join(f"grep -q -F -e '{part}' \"$1\"" for part in parts)
    command.write_text(f"#!/bin/sh\nprintf x >> {runs}\n{greps}\n")
    command.chmod(0o755)
    return command, runs


def picireny(way: str, folder: Path, files: list[Path], start: str, text: Path, parts: list[str], jar: str | None):
    command, runs = oracle(folder, parts)
    grammars = []
    for file in files:
        grammars.append(folder / file.name)
        grammars[-1].write_text(without_code(file.read_text()))
    jars = ["--antlr", jar] if jar else []
    line = [Path(sys.executable).parent / "picireny", "--quiet", "-i", text, "--test", command, "-o", folder / "out", "--start", start]
    done = subprocess.run([*line, *jars, *WAYS[way], "-g", *grammars], capture_output=True, text=True, cwd=folder)
    results = [path for path in (folder / "out").glob("*") if path.is_file()]
    if done.returncode != 0 or not results:
        return done.stderr.strip().splitlines()[-1:] or ["no result"]
    return results[0].read_bytes(), runs.stat().st_size


def gramjet(command: Path, folder: Path, files: list[Path], start: str, text: Path, parts: list[str]):
    holds, runs = oracle(folder, parts)
    line = [command, "minimise", files[-1], text, "--start", start, "--max-tests", "100k"]
    done = subprocess.run([*line, "--", "sh", "-c", f'! {holds} "$0"', "@@"], capture_output=True)
    if done.returncode != 0:
        return done.stderr.decode().strip().splitlines()[-1:]
    # The first run is on the text itself.
    return done.stdout, runs.stat().st_size - 1


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("grammars", type=Path)
    arguments.add_argument("gramjet", type=Path)
    arguments.add_argument("--antlr")
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    ways = [*WAYS, "gramjet"]
    print(f"| file | asked for | bytes | {' | '.join(f'{way}: bytes, tests' for way in ways)} |")
    print("|---" * (3 + len(ways)) + "|")
    for name, files, start, example, parts in SUBJECTS:
        text = (given.grammars / name / "examples" / example).resolve()
        if given.only not in str(text):
            continue
        paths = [(given.grammars / name / file).resolve() for file in files]
        cells = []
        for way in ways:
            with tempfile.TemporaryDirectory() as folder:
                if way == "gramjet":
                    found = gramjet(given.gramjet.resolve(), Path(folder), paths, start, text, parts)
                else:
                    found = picireny(way, Path(folder), paths, start, text, parts, given.antlr and os.path.abspath(given.antlr))
            cells.append(str(found[0]) if len(found) == 1 else f"{len(found[0])}, {found[1]}")
            if len(found) == 2:
                print(way, repr(found[0]), file=sys.stderr)
        asked = " ".join(f"`{part}`" for part in parts)
        print(f"| {name}/{example} | {asked} | {text.stat().st_size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
