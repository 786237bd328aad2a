"""Finds the constants that Python code compares, as words that inputs may need.

Holds one function, which imports what it needs, as it precedes a program in the same module.
"""


def compared_constants(modules, own):
    """Returns at most 512 strings and bytes of at most 32 bytes each that the sources of modules compare.

    Those of comparisons come first, then arguments of methods that compare, keys and members of collections, and last
    the values of names. `own` says whether a file is looked at.
    """
    import ast
    import os

    MOST, SHORTEST, LONGEST, BLANKS = 512, 2, 32, 3
    SOURCE, SOURCES = 1 << 20, 1 << 22
    METHODS = frozenset(
        "startswith endswith removeprefix removesuffix get pop setdefault find rfind index rindex count split rsplit"
        " partition rpartition".split()
    )
    COMPARED, GIVEN, KEYS, NAMED = range(4)
    found = [{}, {}, {}, {}]
    matched = tuple(getattr(ast, name) for name in ("MatchValue", "MatchMapping") if hasattr(ast, name))

    def add(rank, value):
        if isinstance(value, str):
            word = value.encode("utf-8", "surrogatepass")
        elif isinstance(value, bytes):
            word = value
        else:
            return
        is_message = word.count(b" ") > BLANKS or b"\n" in word or b"\r" in word
        if SHORTEST <= len(word) <= LONGEST and not is_message and word != b"__main__":
            found[rank].setdefault(word)

    # A constant, or those in a collection; `None` stands for a dictionary that another one takes over.
    def add_all(rank, node):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            nodes = node.elts
        elif isinstance(node, ast.Dict):
            nodes = node.keys
        else:
            nodes = [node]
        for inner in nodes:
            if isinstance(inner, ast.Constant):
                add(rank, inner.value)

    def look_at(node):
        if isinstance(node, ast.Compare):
            if any(isinstance(operator, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for operator in node.ops):
                for compared in (node.left, *node.comparators):
                    add_all(COMPARED, compared)
        elif isinstance(node, matched):
            for compared in getattr(node, "keys", None) or [getattr(node, "value", None)]:
                add_all(COMPARED, compared)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and node.args:
                add_all(GIVEN, node.args[0])
        elif isinstance(node, ast.Subscript):
            add_all(KEYS, getattr(node.slice, "value", None))  # Before Python 3.9.
            add_all(KEYS, node.slice)
        elif isinstance(node, (ast.Dict, ast.Set, ast.Tuple, ast.List)):
            add_all(KEYS, node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            add_all(NAMED, node.value)

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
                for node in ast.walk(ast.parse(source)):
                    look_at(node)
        except Exception:
            continue  # Its words are not known.
    known = {}
    for words in found:
        known.update(words)
    return list(known)[:MOST]


