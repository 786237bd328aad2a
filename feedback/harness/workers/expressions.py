"""Finds the regular expressions of Python code.

Holds one function, which imports what it needs, as it precedes a program in the same module.
"""


def record_expressions(own):
    """Records the regular expressions that are compiled from now on.

    Returns a function that ends this. It gets modules and returns pairs of a pattern and its flags, at most 1024 of at
    most 4096 bytes: those that files have compiled which `own` takes, then strings in the sources of the modules that
    look like regular expressions. The flag `b` is that of a pattern of bytes, which are written as Latin-1.
    """
    import ast
    import os
    import re
    import sys
    import warnings

    MOST, LONGEST, SOURCE, SOURCES, PARTS = 1024, 4096, 1 << 20, 1 << 21, 16
    FUNCTIONS = frozenset("compile match fullmatch search sub subn split findall finditer template".split())
    # A repetition of a class, a group, an escape or a full stop.
    REPEATS = re.compile(r"(?:[\])]|\\[a-zA-Z]|\.)[*+{]")
    LETTERS = {"i": re.I, "m": re.M, "s": re.S, "x": re.X}
    NAMES = {
        name: flag
        for letter, flag in LETTERS.items()
        for name in (letter.upper(), {"i": "IGNORECASE", "m": "MULTILINE", "s": "DOTALL", "x": "VERBOSE"}[letter])
    }
    found = {}
    compiled = re._compile
    recorded = []

    def add(pattern, flags):
        kind = ""
        if isinstance(pattern, (bytes, bytearray)):
            pattern, kind = pattern.decode("latin-1"), "b"
        if isinstance(pattern, str) and len(found) < MOST:
            letters = kind + "".join(letter for letter, flag in LETTERS.items() if int(flags) & flag)
            if 0 < len(pattern) and len(pattern.encode("utf-8", "replace")) + len(letters) < LONGEST:
                found.setdefault((pattern, letters))

    def recording(pattern, flags):
        try:
            if len(recorded) < 4 * MOST:
                frame = sys._getframe(1)
                while frame is not None and frame.f_globals.get("__name__") == "re":
                    frame = frame.f_back
                if frame is not None:
                    recorded.append((frame.f_code.co_filename, getattr(pattern, "pattern", pattern), flags))
        except Exception:
            pass  # It is not known.
        return compiled(pattern, flags)

    # Patterns that are pickled name it.
    recording.__module__, recording.__name__, recording.__qualname__ = "re", "_compile", "_compile"

    # A text of the source; `None` if it is another node. Before Python 3.8 texts have nodes of their own.
    def literal(node):
        value = node.s if type(node).__name__ in ("Str", "Bytes") else getattr(node, "value", None)
        return value if isinstance(value, (str, bytes)) else None

    def literals(node):
        texts, open_ = [], [node]
        while open_ and len(texts) < PARTS:
            node = open_.pop()
            if isinstance(node, ast.BinOp):
                open_ += [node.right, node.left]
            elif literal(node) is not None:
                texts.append(literal(node))
        return texts

    def flags_of(call):
        flags, open_ = 0, [*call.args[1:PARTS], *(keyword.value for keyword in call.keywords[:PARTS])]
        while open_:
            node = open_.pop()
            if isinstance(node, ast.BinOp):
                open_ += [node.right, node.left]
            else:
                flags |= int(NAMES.get(getattr(node, "attr", getattr(node, "id", None)), 0))
        return flags

    def is_expression(text):
        if len(text) > LONGEST or not REPEATS.search(text):
            return False
        try:
            # Not by `re`, whose cache is the program's.
            (getattr(re, "_compiler", None) or __import__("sre_compile")).compile(text, 0)
        except Exception:
            return False
        return True

    def look_at(source):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                if node.func.attr in FUNCTIONS:
                    flags = flags_of(node)
                    for text in literals(node.args[0]):
                        add(text, flags)
            elif isinstance(literal(node), str) and is_expression(literal(node)):
                add(literal(node), 0)

    def sources(modules):
        left = SOURCES
        for module in modules:
            try:
                file = getattr(module, "__file__", None)
                if not isinstance(file, str) or not file.endswith(".py") or not own(file) or not os.path.isfile(file):
                    continue
                with open(file, "rb") as opened:
                    source = opened.read(SOURCE + 1)
                left -= len(source)
                if left < 0:
                    break
                if len(source) <= SOURCE:
                    look_at(source)
            except Exception:
                continue  # Its expressions are not known.

    def listed(modules):
        re._compile = compiled
        for file, pattern, flags in recorded:
            try:
                if own(file):
                    add(pattern, flags)
            except Exception:
                continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sources(modules)
        return list(found)

    re._compile = recording
    return listed


