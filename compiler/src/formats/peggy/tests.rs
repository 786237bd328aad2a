//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Peggy;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Peggy, text));
}

#[test]
fn the_whole_notation() {
    check(
        "{{ const a = { b: 1 }; }}\n{ let c; }\n// comment\nstart \"the start\"\n  = first:word rest:(_ \",\" _ @word)* tail:$(\"!\"i / '?')? { return [first, rest]; }\n\
         / [^\\n\\]a-c]i \"\\x41\\u0042\\u{43}\\\n\" . ;\nword = [a-z]+ /* c */ \"(\" word|2| word|1..| word|..3| word|2..4, \",\" _| \")\"\n_ = [ \\t]*\n",
        expect![[r#"
            %start start
            start ::= word (_ "," _ word)* ("!" | "?")? | [#x09#x20-@D-\\\^-`d-~] "ABC" [#x09#x0A#x20-~]
            word ::= [a-z]+ "(" word{2} word+ word{0,3} (word.round.242 (("," _) word.round.242){1,3}) ")"
            word.round.242 ::= word
            _ ::= [#x09#x20]*
            g:8:35: warning[not-context-free]: a repetition may take what follows it
              | word = [a-z]+ /* c */ "(" word|2| word|1..| word|..3| word|2..4, "," _| ")"
              |                                   ^^^^^^^^^
              help: in a PEG a repetition takes all rounds that fit and gives none back: what follows it is not matched if a further round fits there, too; that is seen to for rounds of one character
            g:8:55: warning[not-context-free]: a rule never matches as it is written
              | word = [a-z]+ /* c */ "(" word|2| word|1..| word|..3| word|2..4, "," _| ")"
              |                                                       ^^^^
              help: in a PEG a repetition and an alternative take all they can, and give nothing back: `[a-z]* [a-z]` never matches; the rule is read as if they did
        "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "a = \"x\nb = ( \"x\" \"y\"\nc : \"x\"\nd = [z-a]\ne = \"\\1\"\nf = \"x\"|3..2|\ng = \"x\"||\nh = lib.rule\ni = \nj = \"x\" { code",
        expect![[r#"
            g:1:5: error[syntax]: this literal is not closed
              | a = "x
              |     ^
              help: close it with `"` on its line; a line end in it is `\n`
            g:2:5: error[syntax]: this group is not closed
              | b = ( "x" "y"
              |     ^
              note: g:4:1: `)` is missing before this
              help: close it with `)`
            g:5:6: error[syntax]: unknown escape
              | e = "\1"
              |      ^
              help: escapes are `\n`, `\r`, `\t`, `\0`, `\x41`, `\u0041`, `\u{41}`, and signs such as `\\`
            g:6:8: error[syntax]: this is no repetition
              | f = "x"|3..2|
              |        ^^^^^
              help: write `|3|`, `|2..5|`, `|2..|` or `|..5|`, perhaps with a separator, as in `|1.., ","|`
            g:7:8: error[syntax]: this is no repetition
              | g = "x"||
              |        ^
              help: write `|3|`, `|2..5|`, `|2..|` or `|..5|`, perhaps with a separator, as in `|1.., ","|`
            g:8:5: error[syntax]: rules of other files, which `import` brings, are not read
              | h = lib.rule
              |     ^^^^^^^^
              help: copy the rule into this file
            g:10:1: error[syntax]: expected a term, found `j`
              | j = "x" { code
              | ^
              help: a term is text in quotes, a class `[a-z]`, `.`, a name, or a group in parentheses
        "#]],
    );
    check(
        "import * as lib from \"./lib.js\"\na = [a",
        expect![[r#"
        g:1:1: error[syntax]: `import` of other grammars is not read
          | import * as lib from "./lib.js"
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: copy the rules that it brings into this file
        g:2:5: error[syntax]: this class is not closed
          | a = [a
          |     ^
          help: close it with `]` on its line
    "#]],
    );
}

#[test]
fn code_is_left_out_and_predicates_of_code_are_reported() {
    check(
        "a = &{ return true; } \"x\" { return \"{}\".length; } / !{ return b(); } b:\"y\"|n, \"-\"|",
        expect![[r#"
            %start a
            a ::= "x" | (a.round.71 ("-" a.round.71)*)?
            a.round.71 ::= "y"
            g:1:5: warning[not-context-free]: a predicate of code is left out
              | a = &{ return true; } "x" { return "{}".length; } / !{ return b(); } b:"y"|n, "-"|
              |     ^^^^^^^^^^^^^^^^^
              help: a grammar cannot run code, so texts may be drawn that it refuses; write the condition as `&term` or `!term`
            g:1:76: warning[not-context-free]: a bound that code decides is left out
              | rue; } "x" { return "{}".length; } / !{ return b(); } b:"y"|n, "-"|
              |                                                             ^
              help: the value of code is not known; any number of rounds is drawn
        "#]],
    );
}

/// No character of a class comes after a repetition of it.
#[test]
fn rounds_take_all_they_can() {
    check(
        "a = name _ name _ \"(\" name? \")\" / number \"e\"? name\nname = [a-z]+\nnumber = [0-9]+ (\".\" [0-9]*)?\n_ = \" \"*\n",
        expect![[r#"
            %start a
            a ::= name.1 _.1 name _ "(" name.1? ")" | number "e"? name.2
            name ::= [a-z]+
            number ::= [0-9]+ ("." [0-9]*)?
            _ ::= " "*
            name.1 ::= [a-z]+
            _.1 ::= " "+
            name.2 ::= [a-df-z] [a-z]*
        "#]],
    );
    check(
        "a = [a-z]* [a-z]\n",
        expect![[r#"
        %start a
        a ::= [a-z]* [a-z]
        g:1:1: warning[not-context-free]: a rule never matches as it is written
          | a = [a-z]* [a-z]
          | ^
          help: in a PEG a repetition and an alternative take all they can, and give nothing back: `[a-z]* [a-z]` never matches; the rule is read as if they did
    "#]],
    );
    check(
        "a = word word \".\"\nword = [a-z]+ _\n_ = (\" \" / comment)*\ncomment = \"//\" [^\\n]*\n",
        expect![[r#"
            %start a
            a ::= word.1 word "."
            word ::= [a-z]+ _
            _ ::= " "*
            comment ::= "//" [#x09#x20-~]*
            comment.1 ::= "//" [#x09#x20-~]*
            _.1 ::= " "+
            word.1 ::= [a-z]+ _.1
            g:3:12: warning[not-context-free]: a comment is left out
              | _ = (" " / comment)*
              |            ^^^^^^^
              help: it reaches to the end of its line, which none of the rounds ends
        "#]],
    );
}

#[test]
fn a_comment_ends_with_its_line() {
    check(
        "a = \"a\" _ \"b\"\n_ = ([ \\t] / end / comment)*\nend = \"\\n\" / \"\\r\\n\"\n\
         comment = \"/*\" (!\"*/\" .)* \"*/\" / \"//\" (![\\n] .)*\n",
        expect![[r#"
            %start a
            a ::= "a" _ "b"
            _ ::= ([#x09#x20] | end | comment.1 [#x0A])*
            end ::= "\n" | "\r\n"
            comment ::= "/*" ([#x09#x0A#x20-)+-~] @ 96 | "*" @ 1)* "*/" | "//" [#x09#x20-~]*
            comment.1 ::= "/*" ([#x09#x0A#x20-)+-~] @ 96 | "*" @ 1)* "*/" | "//" [#x09#x20-~]*
        "#]],
    );
}

#[test]
fn alternatives_behind_those_that_always_fit() {
    check(
        "a = \"<\" / \"<=\" / b / \"x\" \"y\"\nb = \">=\" / \">\" / [a-z] / \"\" / \"z\"\n",
        expect![[r#"
            %start a
            a ::= "<" | b
            b ::= ">=" | ">" | [a-z] | ()
            g:1:11: warning[not-context-free]: an alternative that never matches is left out
              | a = "<" / "<=" / b / "x" "y"
              |           ^^^^
              help: an earlier alternative takes the beginning of its texts, or something in it takes what follows
        "#]],
    );
}

#[test]
fn names_are_no_keywords() {
    check(
        "a = !keyword name\nkeyword = (\"if\" / \"in\" / \"instanceof\") !part / \"do\"\nname = start part*\n\
         start = [a-z] / \"\\\\\" [0-9]\npart = start / [0-9]\n",
        expect![[r#"
            %start a
            a ::= [a-ce-hj-z] [0-9a-z]* @ 24 | "d" (() @ 1 | [0-9a-np-z] [0-9a-z]* @ 35) @ 1
            keyword ::= ("if" | "in") | "do"
            name ::= start part*
            start ::= [a-z] | "\\" [0-9]
            part ::= start | [0-9]
            g:2:26: warning[not-context-free]: an alternative that never matches is left out
              | keyword = ("if" / "in" / "instanceof") !part / "do"
              |                          ^^^^^^^^^^^^
              help: an earlier alternative takes the beginning of its texts, or something in it takes what follows
        "#]],
    );
}

/// Parts are written as their surroundings ask for. Each level has several of these, and not all are tried.
#[test]
fn nested_rounds_take_no_exponential_time() {
    let nested = |open: &str, inside: &str, close: &str| format!("a = {}{inside}{}", open.repeat(30), close.repeat(30));
    for text in [
        nested("(", "[a-c] \"d\"", ")*"),
        nested("(", "\"a\" / \"b\"", ")+"),
        nested("(!(\"a\" \"y\") ", "[a-c]", ")* \"y\""),
        nested("(!\"a\" (", "[a-c]", ")? &\"b\" [a-d])*"),
    ] {
        testing::parsed(&Peggy, &text);
    }
}
