//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Nautilus;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Nautilus, text));
}

#[test]
fn calls() {
    check(
        r#"
'''A comment.'''
# Another.
ctx.rule("START","<doc>{XML}</doc>")
ctx.rule('XML', u"{XML:left}\\{x\\}" "{TAG-1}", weight=2.5)
ctx.rule("XML", b"\x89\xff{TAG-1}\n" +
         r"\n")
ctx.rule("XML", "")
ctx.script("XML",["TAG-1","ATTR"], lambda tag,attr: b"<%s %s>100%%</%s>"%(tag,attr,tag) )
ctx.script("ATTR", ["TAG-1"], lambda x: x)
ctx.regex("TAG-1", "[a-c]+|(?:x|y)?")
"#,
        expect![[r#"
            %start START
            START ::= "<doc>" XML "</doc>"
            XML ::= XML "{x}" TAG-1 @ 2.5 | "\x89\xFF" TAG-1 "\n\\n" | "" | "<" TAG-1 " " ATTR ">100%</" TAG-1 ">"
            ATTR ::= TAG-1
            TAG-1 ::= [a-c]+ | [xy]?
            g:9:1: warning[not-context-free]: a script repeats one of its arguments
              | ctx.script("XML",["TAG-1","ATTR"], lambda tag,attr: b"<%s %s>100%%</%s>"%(tag,attr,tag) )
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: the script puts the same text into several places, a grammar draws each on its own
        "#]],
    );
}

#[test]
fn code_is_reported() {
    check(
        r#"
import struct
def f(x):
    return ("ctx.rule(",
        x)
for x in ["a"]:
    ctx.rule("START", x)
ctx.rule("START", "ok")
ctx.script("START", ["A"], f)
ctx.rule("A", "x")
"#,
        expect![[r#"
            %start START
            START ::= "ok"
            A ::= "x"
            g:2:1: warning[not-context-free]: Python code is left out
              | import struct
              | ^^^^^^^^^^^^^
              help: calls of `ctx.rule`, `ctx.regex` and `ctx.script` with literals are read, other code is not run
            g:7:5: warning[not-context-free]: a call with computed arguments is left out
              |     ctx.rule("START", x)
              |     ^^^^^^^^^^^^^^^^^^^^
              help: its arguments are not literals, and code is not run
            g:9:1: warning[not-context-free]: a script is left out
              | ctx.script("START", ["A"], f)
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: write a rule in its place; only `lambda a, b: b"%s%s" % (a, b)` is understood
        "#]],
    );
}

#[test]
fn json() {
    check(
        r#"[["A", "x{B}"], ["B", "\u00e9\\{"], ["A", ""]]"#,
        expect![[r#"
        A ::= "x" B | ""
        B ::= "é{"
    "#]],
    );
    check(
        r#"[["START", "{a}"], ["b", "x"], ["C"], 5, ["D", "{"]]"#,
        expect![[r#"
        %start START
        START ::= ()
        D ::= "{"
        g:1:12: error[syntax]: this brace begins no reference
          | [["START", "{a}"], ["b", "x"], ["C"], 5, ["D", "{"]]
          |            ^^^^^
          help: a reference is `{NAME}`, where the name begins with a capital letter; a brace itself is `\{`
        g:1:21: error[syntax]: `b` is no name
          | [["START", "{a}"], ["b", "x"], ["C"], 5, ["D", "{"]]
          |                     ^^^
          help: names begin with a capital letter and go on with letters, digits, `_` and `-`
        g:1:32: error[syntax]: a rule is a list of two strings
          | [["START", "{a}"], ["b", "x"], ["C"], 5, ["D", "{"]]
          |                                ^^^^^
          help: a rule is written `["NAME", "text {OTHER} text"]`
        g:1:39: error[syntax]: a rule is a list of two strings, this is a number
          | [["START", "{a}"], ["b", "x"], ["C"], 5, ["D", "{"]]
          |                                       ^
          help: a rule is written `["NAME", "text {OTHER} text"]`
        g:1:48: warning[not-context-free]: a brace begins no reference
          | [["START", "{a}"], ["b", "x"], ["C"], 5, ["D", "{"]]
          |                                                ^^^
          help: Nautilus leaves such a brace out; here it is text, which `\{` is in both
    "#]],
    );
}

#[test]
fn braces_that_begin_no_reference_are_text() {
    check(
        "ctx.rule(\"VAL\", \"{}\")\nctx.rule(u'VAL', u'a{VAL}{b\\\\{c\\\\}}{')\n",
        expect![[r#"
            VAL ::= "{}" | "a" VAL "{b{c}}{"
            g:1:17: warning[not-context-free]: a brace begins no reference
              | ctx.rule("VAL", "{}")
              |                 ^^^^
              help: Nautilus leaves such a brace out; here it is text, which `\{` is in both
        "#]],
    );
}

#[test]
fn errors() {
    check(
        "ctx.rule(\"A\", \"x\nctx.rule(\"B\", \"y\")\nctx.regex(\"C\", \"(\")\nctx.rule(\"D\"",
        expect![[r#"
        g:1:1: error[syntax]: this call is not closed
          | ctx.rule("A", "x
          | ^^^^^^^^
          help: close it with `)`
    "#]],
    );
}
