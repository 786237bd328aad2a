"""The code that docs/python.md shows runs."""

import json
import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_code_of_the_page_runs(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The page's name for what its reader tests.
    monkeypatch.setitem(sys.modules, "my_parser", json)
    code = re.sub(r"^(from gramjet.hypothesis .*)$", r"\1\nimport gramjet, json as my_parser", block, flags=re.MULTILINE)
    names: dict[str, object] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_") and callable(value)]
    assert tests or "hypothesis" not in block
    for test in tests:
        test()


def test_what_the_page_says_of_results() -> None:
    names: dict[str, object] = {}
    assertions = 0
    for line in BLOCKS[0].splitlines():
        code, _, comment = line.partition("#")
        if code.strip() and "=" not in code.split("(")[0] and not code.startswith(("import", "session.")):
            value = eval(code, names)
            for expected, holds in [("False", value is False), ('b"[x]"', value == b"[x]")]:
                if comment.strip() == expected:
                    assert holds, line
                    assertions += 1
        else:
            exec(code, names)
        # The last results of the page: what does not conform, and what is smallest.
    assert "lists" in names and assertions >= 1
