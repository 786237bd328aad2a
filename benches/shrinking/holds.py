#!/usr/bin/env python3
"""Says whether a text has the property that a subject of real.py is about: exit code 0 if so, and 1 else; with --crash it is the other way
round. Adds a byte to FOLDER/runs, and keeps the smallest text that has the property as FOLDER/smallest. Without FILE it reads the text from
standard input.

Usage: holds.py [--crash] PROPERTY FOLDER [FILE]
"""

import os
import subprocess
import sys


def schema(text: bytes) -> bool:
    """JSON with an `anyOf` of which one item refers to a type and another is an array."""
    import json

    def found(value) -> bool:
        if isinstance(value, list):
            return any(found(item) for item in value)
        if not isinstance(value, dict):
            return False
        items = [item for item in value.get("anyOf") or [] if isinstance(item, dict)]
        both = any("$ref" in item for item in items) and any(item.get("type") == "array" for item in items)
        return both or any(found(item) for item in value.values())

    return found(json.loads(text))


def records(text: bytes) -> bool:
    """JSON with an array of records: one has two names, the other a name that is not ASCII."""
    import json

    array = next(iter(json.loads(text).values()))
    is_named = [isinstance(item.get("name"), str) and not item["name"].isascii() for item in array]
    return any(is_named) and any("bibliographic" in item and not named for item, named in zip(array, is_named))


def stylesheet(text: bytes) -> bool:
    """XML with a `choose` that has two cases, in a template with a mode."""
    from xml.etree import ElementTree

    of = "{http://www.w3.org/1999/XSL/Transform}"
    templates = [element for element in ElementTree.fromstring(text).iter(f"{of}template") if "mode" in element.attrib]
    chooses = [choose for template in templates for choose in template.iter(f"{of}choose")]
    return any(choose.find(f"{of}when[@test]") is not None and choose.find(f"{of}otherwise") is not None for choose in chooses)


def css_rules(content) -> list:
    """The rules of a style sheet or a block, each with what is in it; an error raises ValueError."""
    import tinycss2

    found = []
    for rule in tinycss2.parse_rule_list(content, skip_comments=True, skip_whitespace=True):
        if rule.type == "error":
            raise ValueError(rule.message)
        if rule.type == "at-rule" and rule.lower_at_keyword in ("media", "keyframes") and rule.content:
            found.append((rule, css_rules(rule.content)))
        elif rule.content is not None:
            inner = tinycss2.parse_declaration_list(rule.content, skip_comments=True, skip_whitespace=True)
            found.append((rule, [part for part in inner if part.type == "declaration" and is_some(part.value)]))
    return found


def is_some(tokens) -> bool:
    return any(token.type not in ("whitespace", "comment") for token in tokens)


def css_blocks(text: bytes, keyword: str) -> list:
    """The blocks of at-rules with this keyword: the at-rule, and the rules in it that have declarations."""
    all_rules = [(rule, inner) for rule, inner in css_rules(text.decode()) if rule.type == "at-rule" and rule.lower_at_keyword == keyword]
    return [(rule, [one for one in inner if one[1]]) for rule, inner in all_rules]


def has_list(rule) -> bool:
    return any(part.type == "literal" and part.value == "," for part in rule.prelude)


def media(text: bytes) -> bool:
    """CSS with a media query for a least width, with two rules: one has a list of selectors."""
    for query, rules in css_blocks(text, "media"):
        features = [part.content[0] for part in query.prelude if part.type == "() block" and part.content]
        is_wide = any(part.type == "ident" and part.value == "min-width" for part in features)
        if is_wide and len(rules) > 1 and any(has_list(rule) for rule, _ in rules):
            return True
    return False


def keyframes(text: bytes) -> bool:
    """CSS with keyframes: one stands for two times, and another has a function of four numbers."""

    def is_timed(declarations) -> bool:
        calls = [part for declaration in declarations for part in declaration.value if part.type == "function"]
        return any(sum(part.type == "number" for part in call.arguments) == 4 for call in calls)

    blocks = [rules for at, rules in css_blocks(text, "keyframes") if is_some(at.prelude)]
    return any(a is not b and has_list(a[0]) and is_timed(b[1]) for rules in blocks for a in rules for b in rules)


SWITCH = """
const inside = (node, seen) => {
  if (!node || typeof node !== "object") return false;
  if (Array.isArray(node)) return node.some((item) => inside(item, seen));
  if (node.type === "SwitchStatement" && seen && node.cases.length > 1 && node.cases.some((one) => !one.test)) return true;
  const isArgument = node.type === "CallExpression" && node.arguments.find((item) => item.type === "FunctionExpression");
  if (isArgument && inside(isArgument.body, true)) return true;
  return Object.values(node).some((item) => inside(item, seen));
};
const text = require("fs").readFileSync(0, "utf8");
process.exit(inside(require("acorn").parse(text, { ecmaVersion: "latest" }), false) ? 0 : 1);
"""


def switch(text: bytes) -> bool:
    """JavaScript with a `switch` that has a case and a default, in a function that is an argument."""
    return subprocess.run(["node", "-e", SWITCH], input=text, stderr=subprocess.DEVNULL).returncode == 0


def varargs(text: bytes) -> bool:
    """Lua with a function that reads its variable arguments in a generic `for`."""
    done = subprocess.run(["luac5.4", "-p", "-l", "-"], input=text, capture_output=True)
    functions = done.stdout.decode().split("\nfunction ")[1:]
    return done.returncode == 0 and any(
        "\tVARARG " in of[of.find("\tTFORPREP ") : of.find("\tTFORCALL ")] for of in functions if "\tTFORCALL " in of
    )


def transfer(text: bytes) -> bool:
    """Python with a `while` that an `if` leaves, in a `with`, in a method."""
    import ast

    path = [ast.ClassDef, ast.FunctionDef, ast.With, ast.While, ast.If, ast.Break]

    def found(node, kinds) -> bool:
        rest = kinds[1:] if isinstance(node, kinds[0]) else kinds
        return not rest or any(found(child, rest) for child in ast.iter_child_nodes(node))

    compile(text, "text", "exec")
    return found(ast.parse(text), path)


def index(text: bytes) -> bool:
    """SQL with a unique index of two columns on a table that has a default value."""
    import sqlite3

    base = sqlite3.connect(":memory:")
    base.executescript(text.decode())
    for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        has_default = any(row[4] is not None for row in base.execute(f'PRAGMA table_info("{table}")'))
        made = [row[1] for row in base.execute(f'PRAGMA index_list("{table}")') if row[2] == 1 and row[3] == "c"]
        if has_default and any(len(base.execute(f'PRAGMA index_info("{name}")').fetchall()) > 1 for name in made):
            return True
    return False


def loop(text: bytes) -> bool:
    """C that compiles, with calls of the declared functions `deflate`, in a loop, and `deflateEnd`, after it."""
    line = ["gcc", "-Wsystem-headers", "-Werror=implicit", "-Werror=int-conversion", "-fpreprocessed", "-x", "c", "-O0", "-S", "-o", "-", "-"]
    done = subprocess.run(line, input=text, capture_output=True)
    if done.returncode != 0:
        return False
    lines = done.stdout.decode().splitlines()
    calls = [number for number, line in enumerate(lines) if "\tdeflate@" in line or line.endswith("\tdeflate")]
    jumps = [(number, line.split()[-1] + ":") for number, line in enumerate(lines) if line.startswith("\tj")]
    in_loop = [call for call in calls if any(end > call and label in lines[:call] for end, label in jumps)]
    return any("deflateEnd" in line and "\tcall" in line for call in in_loop for line in lines[call:])


def main() -> None:
    arguments = sys.argv[1:]
    crash = arguments[0] == "--crash"
    name, folder, *files = arguments[crash:]
    text = open(files[0], "rb").read() if files else sys.stdin.buffer.read()
    with open(f"{folder}/runs", "ab") as runs:
        runs.write(b"x")
    try:
        holds = globals()[name](text)
    except Exception:
        holds = False
    smallest = f"{folder}/smallest"
    if holds and (not os.path.exists(smallest) or len(text) < os.path.getsize(smallest)):
        open(smallest, "wb").write(text)
    sys.exit(holds if crash else not holds)


if __name__ == "__main__":
    main()
