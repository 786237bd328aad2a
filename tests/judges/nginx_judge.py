"""Judges configurations of nginx by crossplane: each directive is known, allowed in its context, and has its arguments.

With `--syntax` by its reading of words and blocks alone.
"""

import sys
import tempfile

from judging import judge_each, need

crossplane = need("crossplane")
need("crossplane.analyzer")
CHECKED = "--syntax" not in sys.argv[1:]
# Their blocks have keys in place of directives.
TABLES = ("charset_map", "geo", "map", "split_clients", "types")


def unknown(block):
    """The first directive of a block that crossplane does not know; its own strict mode refuses the keys of tables, too."""
    for statement in block:
        name = statement["directive"]
        if name not in crossplane.analyzer.DIRECTIVES:
            return name
        if name not in TABLES and (inner := unknown(statement.get("block", []))):
            return inner
    return None


def rejection(document):
    with tempfile.NamedTemporaryFile(suffix=".conf") as file:
        file.write(document)
        file.flush()
        result = crossplane.parse(file.name, single=True, check_ctx=CHECKED, check_args=CHECKED)
    if result["errors"]:
        return result["errors"][0]["error"]
    parsed = result["config"][0]["parsed"]
    if not parsed:
        return "no directive"
    name = CHECKED and unknown(parsed)
    return f"unknown directive {name}" if name else None


judge_each(rejection)
