"""What the package promises of its functions."""

import json
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import gramjet

LISTS = "list ::= '[' (item (',' item)*)? ']'  item ::= [0-9]{1,5} @ 2 | list"
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def lists() -> gramjet.Grammar:
    return gramjet.compile(LISTS)


def depth(text: bytes) -> int:
    return max(text[:end].count(b"[") - text[:end].count(b"]") for end in range(len(text) + 1))


def test_inputs_depend_on_the_seed_alone(lists: gramjet.Grammar) -> None:
    inputs = lists.generate(1000, seed=7)
    assert len(inputs) == 1000 and len(set(inputs)) > 300
    assert inputs == lists.generate(1000, seed=7) != lists.generate(1000, seed=8)
    run = lists.inputs(seed=7)
    assert [next(run) for _ in range(1000)] == inputs
    assert all(lists.conforms(text) for text in inputs)
    assert lists.generate(0) == []
    assert lists.min_len == 2 and lists.engine in ("jit", "vm") and lists.warnings == ""


def test_large_amounts_come_in_several_batches() -> None:
    inputs = gramjet.load("json").generate(20_000, seed=1)
    assert len(inputs) == 20_000 and sum(map(len, inputs)) > 1 << 21
    for text in inputs[::1000]:
        json.loads(text)


def test_every_byte_string_renders(lists: gramjet.Grammar) -> None:
    assert lists.render(b"") == b"[]"
    assert lists.render(bytearray(b"\xff\x00")) == lists.render(memoryview(b"\xff\x00")) == lists.render(b"\xff\x00")
    assert lists.conforms(lists.render(b"\xc0" * 5000))


def test_parsing_is_the_inverse() -> None:
    lists = gramjet.compile(LISTS, max_depth=None)
    for text in ["[]", "[1,[22,[]],333]", "[" * 100 + "]" * 100]:
        choices = lists.parse(text)
        assert lists.render(choices) == text.encode()
        assert lists.parse(text.encode()) == choices


def test_what_does_not_conform_is_told_with_the_place(lists: gramjet.Grammar) -> None:
    with pytest.raises(gramjet.ParseError, match=r'^1:4: byte 3: expected \[0-9\], "," or "\]"') as caught:
        lists.parse("[12;3]")
    assert (caught.value.offset, caught.value.line, caught.value.column) == (3, 1, 4)
    assert caught.value.rule == "list" and str(caught.value).endswith("\n  in `list`, which begins at 1:1")
    lines = gramjet.compile("lines ::= (line '\\n')*  line ::= [a-zäöü]*")
    with pytest.raises(gramjet.ParseError) as caught:
        lines.parse("ab\näöü!")
    assert (caught.value.offset, caught.value.line, caught.value.column) == (9, 2, 4)
    assert not lists.conforms(b"[1") and isinstance(caught.value, ValueError)


def test_texts_of_others_have_hidden_matches_anywhere() -> None:
    grammar = r"grammar Calls; call : 'call' NAME ';' EOF ; NAME : [a-z]+ ; WS : [ \n]+ -> skip ;"
    assert not gramjet.compile(grammar).conforms(" call  a ;\n")
    others = gramjet.compile(grammar, separator_policy="any", max_depth=None)
    assert others.render(others.parse(" call  a ;\n")) == b" call  a ;\n"
    with pytest.raises(gramjet.GrammarError, match="unknown separator policy `some` \\(known: auto, space, none, any\\)"):
        gramjet.compile(grammar, separator_policy="some")  # type: ignore[arg-type]
    with pytest.raises(gramjet.GrammarError, match="unknown alphabet `latin`"):
        gramjet.compile(grammar, alphabet="latin")  # type: ignore[arg-type]


def test_indentation_and_tokens_of_others(tmp_path: pathlib.Path) -> None:
    grammar = """grammar B; tokens { INDENT, DEDENT } s : l+ EOF ; l : ID NEWLINE | 'if' ':' NEWLINE INDENT l+ DEDENT ;
        ID : [a-z]+ ; NEWLINE : '\\n' ; WS : ' ' -> skip ;"""
    two = gramjet.compile(grammar, indent="unit=2")
    assert two.conforms("if:\n  b\n") and not two.conforms("if:\n    b\n")
    with pytest.raises(gramjet.GrammarError, match="says nothing about indentation"):
        gramjet.compile(grammar, indent="wide")
    (tmp_path / "tokens.ebnf").write_text("A ::= 'x' 'y'\n")
    declared = "start: A A\n%declare A\n"
    assert gramjet.compile(declared, tokens=str(tmp_path / "tokens.ebnf")).render(b"") == b"xyxy"
    with pytest.raises(gramjet.GrammarError, match="the file of tokens"):
        gramjet.compile(declared, tokens="nowhere")


def test_variants_conform(lists: gramjet.Grammar) -> None:
    variants = lists.mutate(["[1,[2,3]]", b"[[[44]]]"], 300, seed=1, max_len=100)
    assert len(variants) == 300 and len(set(variants)) > 100
    assert all(lists.conforms(variant) and len(variant) <= 100 for variant in variants)
    assert variants == lists.mutate(["[1,[2,3]]", b"[[[44]]]"], 300, seed=1, max_len=100)
    assert lists.mutate("[1]", 1)
    with pytest.raises(gramjet.ParseError):
        lists.mutate(["[1]", "[1"], 1)
    with pytest.raises(ValueError, match="there are no texts"):
        lists.mutate([], 1)
    with pytest.raises(ValueError, match="maximum length of 1 is too small: the shortest input has 2 bytes"):
        lists.mutate("[1]", 1, max_len=1)


def test_choice_bytes_have_a_header(lists: gramjet.Grammar) -> None:
    deep = b"[" * 100 + b"]" * 100
    recorded, raw = lists.parse(deep), lists.parse(deep, raw=True)
    assert recorded.startswith(b"\x8aGJC\r\n\x1a\n") and recorded.endswith(raw) and len(raw) < len(recorded)
    assert lists.render(recorded) == deep
    assert lists.render(raw) != deep and lists.render(raw) == lists.render(raw, raw=True)
    assert lists.render(recorded, raw=True) != deep
    other = gramjet.compile(LISTS, start="item")
    with pytest.raises(gramjet.ChoicesError, match="the start rule was the grammar's own, and is `item` here"):
        other.render(recorded)
    with pytest.raises(gramjet.ChoicesError, match="damaged or cut off"):
        lists.render(recorded[:20])


def test_grammars_without_weights_make_inputs_of_sensible_sizes() -> None:
    sums = "sum ::= sum '+' sum | sum '-' sum | sum '*' sum | '(' sum ')' | [0-9]+"
    grammar = gramjet.compile(sums)
    assert "in the mean: taking the shape target-size=1000" in grammar.warnings
    lengths = [len(text) for text in grammar.generate(2000)]
    assert 800 < sum(lengths) / len(lengths) < 1250
    assert grammar.generate(9) == gramjet.compile(sums, shape="target-size=1000").generate(9)
    # The line about the shape comes after the warnings.
    lines = gramjet.compile(sums + "  other ::= 'x'").warnings.splitlines()
    assert "cannot be reached" in lines[0] and len(lines) > 1 and lines[-1].startswith("equally probable"), lines
    assert "taking the shape" not in gramjet.compile(sums, shape="uniform", max_depth=4).warnings
    assert "taking the shape" not in gramjet.compile(sums, max_len=100).warnings
    with pytest.raises(gramjet.GrammarError, match="a shape is uniform, balanced"):
        gramjet.compile(sums, shape="round")


def test_sessions_remember(lists: gramjet.Grammar) -> None:
    session = gramjet.Session(lists, seed=3)
    variants = {session.mutate("[1,[2,3]]") for _ in range(100)}
    assert len(variants) > 30
    spliced = {session.splice("[1]", "[77777]") for _ in range(100)}
    assert any(b"77777" in text for text in spliced)
    assert all(lists.conforms(text) for text in variants | spliced)
    assert lists.conforms(session.mutate("what is no list gives an input made at random"))


def test_minimised_texts_are_small_and_keep_what_is_asked(lists: gramjet.Grammar) -> None:
    asked: list[bytes] = []

    def test(text: bytes) -> bool:
        asked.append(text)
        return b"7" in text and depth(text) >= 3

    assert lists.minimise("[1,[2,[33,778,[4]],5],[[6]]]", test) == b"[[[7]]]"
    assert len(asked) > 3 and all(lists.conforms(text) for text in asked)
    with pytest.raises(ValueError, match="not true for the text itself"):
        lists.minimise("[]", lambda text: False)
    with pytest.raises(ZeroDivisionError):
        lists.minimise("[1]", lambda text: 1 / (len(text) - 2))
    few: list[bytes] = []
    lists.minimise("[1,[2,[33,778,[4]],5],[[6]]]", lambda text: not few.append(text), max_tests=3)
    assert len(few) <= 4


def test_grammars_come_from_files_and_by_name(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lists.ebnf"
    path.write_text(LISTS)
    assert gramjet.load(path).generate(5, seed=1) == gramjet.load(str(path)).generate(5, seed=1)
    assert gramjet.load("xml").min_len > 3
    assert gramjet.load(path, start="item").render(b"") == b"0"
    assert gramjet.compile('s = "ab" / "c"', format="abnf").min_len == 1


def test_limits_are_kept(lists: gramjet.Grammar) -> None:
    small = gramjet.compile(LISTS, max_depth=4, max_len=20)
    inputs = small.generate(500)
    assert all(len(text) <= 20 and depth(text) <= 4 for text in inputs) and any(depth(text) == 3 for text in inputs)
    with pytest.raises(TypeError, match="a limit is"):
        gramjet.compile(LISTS, max_depth="deep")  # type: ignore[arg-type]
    with pytest.raises(gramjet.GrammarError, match="too small"):
        gramjet.compile(LISTS, max_len=1)


def test_wrong_grammars_are_told_with_the_place() -> None:
    with pytest.raises(gramjet.GrammarError) as caught:
        gramjet.compile('list ::= "[" itms "]"\nitems ::= "x"\n')
    said = str(caught.value)
    assert "rule `itms` is not defined" in said and "<grammar>:1:14" in said and "did you mean `items`" in said
    with pytest.raises(gramjet.GrammarError, match="did you mean `json`"):
        gramjet.load("jsn")
    with pytest.raises(gramjet.GrammarError, match=", json, "):
        gramjet.load("cobol")
    with pytest.raises(gramjet.GrammarError, match="did you mean `lark`"):
        gramjet.compile(LISTS, format="larkk")
    with pytest.raises(gramjet.GrammarError, match="did you mean `item`"):
        gramjet.compile(LISTS, start="itme")
    with pytest.raises(gramjet.GrammarError, match="did you mean `space`"):
        gramjet.compile(LISTS, separator_policy="spaces")  # type: ignore[arg-type]
    with pytest.raises(gramjet.GrammarError, match="unknown grammar format `xyz`"):
        gramjet.compile(LISTS, format="xyz")
    assert "cannot be reached" in gramjet.compile(LISTS + "  other ::= 'x'").warnings
    with pytest.raises(TypeError, match="a text is str, bytes, bytearray or memoryview, not int"):
        gramjet.compile(LISTS).parse(1)  # type: ignore[arg-type]


def test_long_calls_let_other_threads_run() -> None:
    grammar = gramjet.load("json")
    text = b"[" + b",".join(grammar.generate(4000, seed=1)[1:]) + b"]"
    done = threading.Event()

    def work() -> None:
        grammar.conforms(text)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while not done.is_set():
        turns += 1
        time.sleep(0.0005)
    thread.join()
    assert turns > 5


def test_a_grammar_serves_many_threads(lists: gramjet.Grammar) -> None:
    expected = [lists.render(bytes([number] * 2000)) for number in range(64)]
    wrong: list[int] = []

    def work() -> None:
        for number in range(64):
            if lists.render(bytes([number] * 2000)) != expected[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_type_hints_hold() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "-p", "gramjet"], capture_output=True, text=True, cwd=ROOT
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
