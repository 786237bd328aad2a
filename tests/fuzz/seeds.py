#!/usr/bin/env python3
"""Makes the first corpus of a fuzz target: tests/fuzz/seeds.py TARGET CORPUS FOLDER...

Each grammar file of up to 4096 bytes in the folders becomes a seed of the target that reads its format, and longer ones give
their beginning. The first byte chooses the format, as in fuzz_targets/; the target `any` takes texts as they are.
"""

import pathlib
import re
import sys

MAX_LEN = 4096
TARGETS = {
    "specifications": ["abnf", "bnf", "iso-ebnf", "ebnf", "regex", "gbnf"],
    "parser_generators": ["w3c", "lark", "pest", "tree-sitter", "yacc", "peggy", "peg"],
    "fuzzers": ["fuzzingbook", "nautilus", "gramatron", "gram"],
    "antlr": ["g4"],
}
EXTENSIONS = {
    ".abnf": ["abnf"], ".bnf": ["bnf"], ".ebnf": ["ebnf", "iso-ebnf", "bnf"], ".iso": ["iso-ebnf"], ".regex": ["regex"], ".gbnf": ["gbnf"],
    ".lark": ["lark"], ".pest": ["pest"], ".peggy": ["peggy"], ".pegjs": ["peggy"], ".peg": ["peg"], ".json": ["tree-sitter", "fuzzingbook", "nautilus", "gramatron"], ".y": ["yacc"],
    ".py": ["nautilus"], ".gram": ["gram"], ".g4": ["g4"],
}


def texts(folder):
    """The grammars in a folder: files by their extension, and the string literals of Rust tests for every format."""
    for file in sorted(pathlib.Path(folder).rglob("*")):
        if "target" in file.parts or not file.is_file():
            continue
        if file.suffix in EXTENSIONS:
            yield EXTENSIONS[file.suffix], file.read_bytes()[:MAX_LEN - 1]
        elif file.suffix == ".rs" and "tests" in file.as_posix():
            text = file.read_text(encoding="utf-8", errors="replace")
            for literal in re.findall(r'r#+"(.*?)"#+|"((?:[^"\\]|\\.){16,}?)"', text, re.S):
                plain = literal[0] or literal[1].encode().decode("unicode_escape", "replace").encode("latin-1", "replace").decode("utf-8", "replace")
                if 16 <= len(plain) < MAX_LEN:
                    yield [name for names in TARGETS.values() for name in names], plain.encode()


def main():
    target, corpus, *folders = sys.argv[1:]
    corpus = pathlib.Path(corpus)
    seeds = set()
    for folder in folders:
        for names, text in texts(folder):
            if target == "any":
                seeds.add(text)
                continue
            formats = TARGETS[target]
            seeds.update(bytes([formats.index(name)]) + text for name in names if name in formats)
    for number, seed in enumerate(sorted(seeds)):
        (corpus / f"seed-{number}").write_bytes(seed)


main()
