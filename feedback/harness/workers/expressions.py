"""Finds the regular expressions of Python code.

Holds one function, which imports what it needs, as it precedes a program in the same module.
"""


def record_expressions(own):
    """Records the regular expressions that are compiled from now on by files that `own` takes.

    Returns a function that gets modules and returns pairs of a pattern and its flags, at most 1024: those that were
    compiled, then strings in the sources of the modules that look like regular expressions.
    """
    import ast
    import os
    import re
    import sys

    MOST, SOURCE, SOURCES = 1024, 1 << 20, 1 << 22
    FUNCTIONS = frozenset("compile match fullmatch search sub subn split findall finditer template".split())
    # A repetition of a class, a group, an escape or a full stop.
    REPEATS = re.compile(r"(?:[\])]|\\[a-zA-Z]|\.)[*+{]")
    LETTERS = (("i", re.I), ("m", re.M), ("s", re.S), ("x", re.X))
    found = {}
    compiled = re._compile

    def add(pattern, flags):
        if isinstance(pattern, (bytes, bytearray)):
            pattern = pattern.decode("latin-1")
        if isinstance(pattern, str) and len(found) < MOST:
            try:
                pattern.encode("utf-8")
                flags = int(flags)
            except Exception:
                return
            found.setdefault((pattern, "".join(letter for letter, flag in LETTERS if flags & flag)))

    def recording(pattern, flags):
        frame = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__") == "re":
            frame = frame.f_back
        if frame is not None and own(frame.f_code.co_filename):
            add(getattr(pattern, "pattern", pattern), flags)
        return compiled(pattern, flags)

    def flags_of(call):
        # The flags are not known before the program runs; that of a pattern over lines shows in the pattern.
        named = [node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)]
        return sum(int(flag) for letter, flag in LETTERS if {letter.upper(), flag.name} & set(named))

    def look_at(source):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                if node.func.attr in FUNCTIONS:
                    for part in ast.walk(node.args[0]):
                        add(getattr(part, "value", None), flags_of(node))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and REPEATS.search(node.value):
                try:
                    compiled(node.value, 0)
                except Exception:
                    continue
                add(node.value, 0)

    def listed(modules):
        left = SOURCES
        for module in modules:
            file = getattr(module, "__file__", None)
            try:
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
        return list(found)

    re._compile = recording
    return listed


