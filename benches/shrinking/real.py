#!/usr/bin/env python3
"""Compares `gramjet minimise` with other tools on real files and properties that real parsers judge (holds.py): the size of what each ends
with, the number of tests, and the time.

    real.py CORPUS GRAMMARS TOOLS [--only PART] [--ways WAY,WAY] [--limit SECONDS] [--keep FOLDER]

CORPUS is the folder that `ci/corpus` fills. GRAMMARS has the grammars of https://github.com/antlr/grammars-v4. TOOLS has, as commands or links to
them: `gramjet`; `picireny` and `antlr.jar` of its version (4.9); `shrinkray`; `nappe`; and `treereduce-json`, `treereduce-css` and so on. A
tool that is missing is left out. The judges are those of `ci/judges-setup`: run this with `target/judges-venv/bin/python`, and with NODE_PATH.

Each test is a run of holds.py, which counts them and keeps the smallest text that has the property: this is the result, also of a tool that was
ended after the limit. All tools have one job. The time is that of the processors for the tool and its tests, and of the clock.
"""

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from picireny import without_code

HERE = Path(__file__).resolve().parent
XSL = "debian/docbook-xsl/usr/share/xml/docbook/stylesheet/docbook-xsl/html"
ZLIB = "crates-libz-sys-1.1.16-libz-sys-1.1.16-src-zlib"
# The property, the language, and the file.
SUBJECTS = [
    ("schema", "json", "npm/webpack@5.90.0/package/schemas/plugins/container/ModuleFederationPlugin.json"),
    ("records", "json", "debian/iso-codes/usr/share/iso-codes/json/iso_639-2.json"),
    ("stylesheet", "xml", f"{XSL}/autoidx.xsl"),
    ("media", "css", "npm/w3-css@4.1.0/package/w3.css"),
    ("keyframes", "css", "npm/animate.css@4.1.1/package/animate.compat.css"),
    ("switch", "javascript", "npm/express@4.18.2/package/lib/response.js"),
    ("varargs", "lua", "debian/lua-penlight/usr/share/lua/5.1/pl/tablex.lua"),
    ("transfer", "python", "debian/libpython3.11-stdlib/usr/lib/python3.11/ftplib.py"),
    ("index", "sql", "debian/mediawiki/usr/share/mediawiki/maintenance/sqlite/tables-generated.sql"),
    ("loop", "c", f"made/c/{ZLIB}-compress.c.i"),
]
# Grammars of grammars-v4 that need no code, or that read the file without it: the start rule and the files.
ANTLR = {
    "json": ("json", ["json/JSON.g4"]),
    "xml": ("document", ["xml/XMLLexer.g4", "xml/XMLParser.g4"]),
    "css": ("stylesheet", ["css3/css3Lexer.g4", "css3/css3Parser.g4"]),
    "javascript": ("program", ["javascript__ecmascript/ECMAScript.g4"]),
    "lua": ("chunk", ["lua/LuaLexer.g4", "lua/LuaParser.g4"]),
    "sql": ("parse", ["sql__sqlite/SQLiteLexer.g4", "sql__sqlite/SQLiteParser.g4"]),
    "c": ("compilationUnit", ["c/CLexer.g4", "c/CParser.g4"]),
}
HOISTING = ["--phase", "prune", "--phase", "hoist", "--flatten-recursion", "--build-hidden-tokens"]
WAYS = ["gramjet", "picireny", "picireny-hoisting", "treereduce", "treereduce-slow", "nappe", "shrinkray"]


def command(way: str, tools: Path, grammars: Path, language: str, text: Path, test: list[str], folder: Path) -> list | None:
    """The command that makes the text smaller, if there is one for the language."""
    script = folder / "test"
    script.write_text(f'#!/bin/sh\nexec {" ".join(test)} "$@"\n')
    script.chmod(0o755)
    match way.partition("-")[0]:
        case "gramjet":
            crash = [*test[:3], "--crash", *test[3:]]
            return [tools / "gramjet", "minimise", language, text, "--max-tests", "1M", "-o", folder / "out", "--", *crash, "@@"]
        case "picireny" if language in ANTLR:
            start, names = ANTLR[language]
            files = [folder / Path(name).name for name in names]
            for name, file in zip(names, files):
                file.write_text(without_code((grammars / name).read_text()))
            line = [tools / "picireny", "--quiet", "--antlr", tools / "antlr.jar", "-i", text, "--test", script, "-o", folder / "out"]
            line += ["--sys-recursion-limit", "100000", "--start", start]
            return [*line, *(HOISTING if "hoisting" in way else []), "-g", *files]
        case "treereduce":
            tool = tools / f"treereduce-{language}"
            slow = ["--slow"] if "slow" in way else []
            return [tool, "-q", "-j", "1", "-s", text, "-o", folder / "out", *slow, "--", script, "@@"]
        case "nappe" if language in ("c", "javascript", "python"):
            return [tools / "nappe", "reduce", "-q", "-j", "1", "--lang", language, "-o", folder / "out", "--test-cmd", script, text]
        case "shrinkray":
            line = [tools / "shrinkray", "--volume", "quiet", "--ui", "basic", "--parallelism", "1", "--no-history", "--input-type", "arg"]
            return [*line, "--formatter", "none", "--no-clang-delta", "--timeout", "10", script, text]
    return None


def run(line: list, folder: Path, limit: float) -> tuple[bool, float, float]:
    """Whether the command ended within the limit, and the seconds of the processors and of the clock."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(folder / "log", "wb") as log:
        running = subprocess.Popen([str(part) for part in line], cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        running.wait(limit)
        ended = True
    except subprocess.TimeoutExpired:
        ended = False
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended, used, time.monotonic() - start


def measure(way: str, given, name: str, language: str, file: Path) -> tuple[str, bytes]:
    """A cell of the table, and the result."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        text = folder / f"text.{'js' if language == 'javascript' else language}"
        shutil.copy(file, text)
        test = [sys.executable, "-E", str(HERE / "holds.py"), name, str(folder)]
        line = command(way, given.tools.resolve(), given.grammars.resolve(), language, text, test, folder)
        if line is None or not line[0].exists():
            return "", b""
        ended, used, elapsed = run(line, folder, given.limit)
        if not (folder / "smallest").exists():
            print((folder / "log").read_text(errors="replace")[-2000:], file=sys.stderr)
            return "no result", b""
        result, tests = (folder / "smallest").read_bytes(), (folder / "runs").stat().st_size
        seconds = f"{used:.1f} s, {elapsed:.1f} s" if ended else f"{used:.1f} s, ended"
        return f"{len(result)}, {tests}, {seconds}", result


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for folder in ("corpus", "grammars", "tools"):
        arguments.add_argument(folder, type=Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--ways", default=",".join(WAYS))
    arguments.add_argument("--limit", type=float, default=300)
    arguments.add_argument("--keep", type=Path)
    given = arguments.parse_args()
    ways = given.ways.split(",")
    print(f"| property | file | bytes | {' | '.join(ways)} |")
    print("|---" * (3 + len(ways)) + "|")
    for name, language, path in SUBJECTS:
        if given.only not in f"{language}/{name}":
            continue
        file = given.corpus / path
        cells = []
        for way in ways:
            cell, result = measure(way, given, name, language, file)
            cells.append(cell)
            print(f"{name} {way}: {cell}", file=sys.stderr, flush=True)
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{name}.{way}").write_bytes(result)
        print(f"| {language}: {name} | {file.name} | {file.stat().st_size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
