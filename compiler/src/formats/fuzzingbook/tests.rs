//! Snapshots of grammars and diagnostics; hostile and mutated texts; the grammars that the F1 project published.

use expect_test::{Expect, expect};

use super::FuzzingBook;
use crate::check;
use crate::diagnostics::{Diagnostics, SourceFile};
use crate::formats::{Format, testing};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&FuzzingBook, text));
}

#[test]
fn lists_of_symbols() {
    check(
        r#"{"<start>": [["<[A]-1>", "x", "<", "</", "<!--"], ["<undefined>", "<a b>", "<a>b", "<>"], [], ["bare", ""]],
            "<[A]-1>": [["\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00é"]], "bare": [[">"]]}"#,
        expect![[r#"
            %start start
            start ::= [A]-1 "x" "<" "</" "<!--" | "<undefined>" "<a b>" "<a>b" "<>" | () | bare ""
            [A]-1 ::= "\"\\/\u{8}\u{C}\n\r\té\u{1F600}é"
            bare ::= ">"
            g:1:52: warning[undefined-rule]: `<undefined>` is no key of the grammar, so it is text
              | {"<start>": [["<[A]-1>", "x", "<", "</", "<!--"], ["<undefined>", "<a b>", "<a>b", "<>"], [], ["bare", ""]],
              |                                                    ^^^^^^^^^^^^^
              help: in a list each symbol that is a key is a rule, and all others are text; define the rule if it is one
        "#]],
    );
}

#[test]
fn symbols_of_a_list_are_rules_only_if_they_are_keys() {
    check(
        r#"{"<op>": [["<=>"], ["<>"], ["<-"], ["<op>", "<<=", "<b1>"]]}"#,
        expect![[r#"
            op ::= "<=>" | "<>" | "<-" | op "<<=" "<b1>"
            g:1:52: warning[undefined-rule]: `<b1>` is no key of the grammar, so it is text
              | {"<op>": [["<=>"], ["<>"], ["<-"], ["<op>", "<<=", "<b1>"]]}
              |                                                    ^^^^^^
              help: in a list each symbol that is a key is a rule, and all others are text; define the rule if it is one
        "#]],
    );
}

#[test]
fn strings_with_names() {
    check(
        r#"{"<s>": ["<a>x<b>", "", "<a>", "x", "1 < 2 > <<a>>", "<a b>", "a<", "<>", ["<a>x", "<b>"]], "<a>": ["a"], "<b>": ["b"]}"#,
        expect![[r#"
            s ::= a "x" b | () | a | "x" | "1 < 2 > <" a ">" | "<a b>" | "a<" | "<>" | "<a>x" b
            a ::= "a"
            b ::= "b"
        "#]],
    );
}

#[test]
fn weights() {
    check(
        r#"{"<start>": [{"expansion": "<a>x", "weight": 3}, {"prob": 0.25, "expansion": ["<a>", "<"]},
            ["<a>y", {"prob": 1e-1}], [["<a>", "z"], {"weight": 0}], "plain", ["<a>", {}]], "<a>": [["a", {"weight": 1}]]}"#,
        expect![[r#"
            %start start
            start ::= a "x" @ 3 | a "<" @ 0.25 | a "y" @ 0.1 | a "z" @ 0 | "plain" | a
            a ::= "a" @ 1
        "#]],
    );
}

#[test]
fn the_start_rule() {
    check(
        r#"{"<a>": ["<start>"], "<start>": ["x"]}"#,
        expect![[r#"
        %start start
        a ::= start
        start ::= "x"
    "#]],
    );
    check(
        r#"{"<a>": ["<b>"], "<b>": ["x"]}"#,
        expect![[r#"
        a ::= b
        b ::= "x"
    "#]],
    );
    check(
        "\u{FEFF} {\"start\": [\"x\"]}",
        expect![[r#"
        start ::= "x"
    "#]],
    );
}

#[test]
fn spans_are_those_of_the_file() {
    let text = r#"{"<s>": ["\u00e9<a>\n\uD83D\uDE00<b>x\"", ["<c>", "é"]]}"#;
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = FuzzingBook.parse(&file, &mut diagnostics);
    assert!(!diagnostics.has_errors());
    let mut pieces = Vec::new();
    fn visit<'t>(expr: &crate::ast::Expr, text: &'t str, pieces: &mut Vec<&'t str>) {
        match &expr.kind {
            crate::ast::ExprKind::Seq(items) => items.iter().for_each(|item| visit(item, text, pieces)),
            crate::ast::ExprKind::Choice(list) => list.iter().for_each(|a| visit(&a.expr, text, pieces)),
            _ => pieces.push(&text[expr.span.start as usize..expr.span.end as usize]),
        }
    }
    visit(&grammar.rules[0].body, text, &mut pieces);
    assert_eq!(pieces, ["\\u00e9", "<a>", "\\n\\uD83D\\uDE00", "<b>", "x\\\"", "\"<c>\"", "\"é\""]);
    assert_eq!(&text[grammar.rules[0].name.span.start as usize..grammar.rules[0].name.span.end as usize], "\"<s>\"");
}

#[test]
fn errors_of_shape() {
    check(
        "[]",
        expect![[r#"
            g:1:1: error[syntax]: a grammar is an object, this is a list
              | []
              | ^^
              help: a rule is written `"<name>": [alternative, ...]`, or with parameters `"<name>": {"parameters": ["n"], "alternatives": [...]}`
        "#]],
    );
    check("{}", expect![[""]]);
    check(
        r#"{"<a>": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
            "<d>": [{"weight": 1}, {"expansion": 3}, {"expansion": "x", "weight": "1"}, {"expansion": "x", "weight": -1}],
            "<e>": [{"expansion": "x", "weight": 1, "prob": 1}, {"expansion": "x", "weight": 1e999}, ["x", {"order": 2}]]}"#,
        expect![[r#"
            a ::= ()
            b ::= ()
            c ::= ()
            d ::= ()
            e ::= ()
            g:1:9: error[syntax]: the alternatives of a rule are a list, this is a string
              | {"<a>": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
              |         ^^^
              help: a rule is written `"<name>": [alternative, ...]`, or with parameters `"<name>": {"parameters": ["n"], "alternatives": [...]}`
            g:1:21: error[syntax]: rule `b` has no alternatives
              | {"<a>": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
              |                     ^^
              help: the empty string is `[""]`
            g:1:33: error[syntax]: an expansion is a string or a list of strings, this is a number
              | {"<a>": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
              |                                 ^
              help: an alternative is a string such as `"<a>x"`, a list of symbols such as `["<a>", "x"]`, or `{"expansion": ..., "weight": 2}`
            g:1:36: error[syntax]: an expansion is a string or a list of strings, this is null
              | {"<a>": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
              |                                    ^^^^
              help: an alternative is a string such as `"<a>x"`, a list of symbols such as `["<a>", "x"]`, or `{"expansion": ..., "weight": 2}`
            g:1:43: error[syntax]: a symbol is a string, this is a truth value
              | {"<a>": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
              |                                           ^^^^
              help: an alternative is a string such as `"<a>x"`, a list of symbols such as `["<a>", "x"]`, or `{"expansion": ..., "weight": 2}`
            g:1:56: error[syntax]: a symbol is a string, this is a list
              | {"<a>": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
              |                                                        ^^^^^
              help: an alternative is a string such as `"<a>x"`, a list of symbols such as `["<a>", "x"]`, or `{"expansion": ..., "weight": 2}`
            g:1:66: error[syntax]: this is not understood in a symbol
              | ": "x", "<b>": [], "<c>": [1, null, [true], ["x", ["y"]], [{"weight": 1}]],
              |                                                             ^^^^^^^^
              help: a symbol is a string, `{"label": "n", "expansion": [...]}`, `{"copy": "n"}`, `{"number": "u16be(len(n))"}`, `{"define": "kind", "expansion": [...]}` and its like, `{"coding": "base64", "expansion": [...]}`, `{"each": "n", "expansion": [...]}`, `{"call": "<rule>", "with": ["n"]}`, or an `expansion` or a `choice` with `min`, `max` or `times`
            g:2:21: error[syntax]: this alternative has no `expansion`
              |             "<d>": [{"weight": 1}, {"expansion": 3}, {"expansion": "x", "weight": "1"}, {"expansion": "x", "weight": -1}
              |                     ^^^^^^^^^^^^^
              help: an alternative is a string such as `"<a>x"`, a list of symbols such as `["<a>", "x"]`, or `{"expansion": ..., "weight": 2}`
            g:2:50: error[syntax]: an expansion is a string or a list of strings, this is a number
              |             "<d>": [{"weight": 1}, {"expansion": 3}, {"expansion": "x", "weight": "1"}, {"expansion": "x", "weight": -1}
              |                                                  ^
              help: an alternative is a string such as `"<a>x"`, a list of symbols such as `["<a>", "x"]`, or `{"expansion": ..., "weight": 2}`
            g:2:83: error[syntax]: this is not a weight
              | weight": 1}, {"expansion": 3}, {"expansion": "x", "weight": "1"}, {"expansion": "x", "weight": -1}],
              |                                                             ^^^
              help: a weight is a number, zero or more
            g:2:118: error[syntax]: this is not a weight
              | pansion": "x", "weight": "1"}, {"expansion": "x", "weight": -1}],
              |                                                             ^^
              help: a weight is a number, zero or more
            g:3:53: error[syntax]: this alternative has two weights
              |             "<e>": [{"expansion": "x", "weight": 1, "prob": 1}, {"expansion": "x", "weight": 1e999}, ["x", {"order": 2}]
              |                                                     ^^^^^^
              help: `prob` is another name for `weight`
            g:3:94: error[syntax]: this is not a weight
              |  "x", "weight": 1, "prob": 1}, {"expansion": "x", "weight": 1e999}, ["x", {"order": 2}]]}
              |                                                             ^^^^^
              help: a weight is a number, zero or more
            g:3:109: error[unknown-directive]: unknown option `order`
              |  1, "prob": 1}, {"expansion": "x", "weight": 1e999}, ["x", {"order": 2}]]}
              |                                                             ^^^^^^^
              help: an alternative has one `expansion`, and perhaps a `weight` (or `prob`)
        "#]],
    );
}

#[test]
fn errors_of_syntax() {
    for (text, expected) in [
        (
            "",
            expect![[r#"
            g:1:1: error[syntax]: expected a JSON value, found the end of the file
              | 
              | ^
              help: strings stand in double quotes; there is no comma after the last item
        "#]],
        ),
        (
            "{\"<a>\": [\"x\",]}",
            expect![[r#"
            g:1:14: error[syntax]: expected a JSON value, found `]`
              | {"<a>": ["x",]}
              |              ^
              help: strings stand in double quotes; there is no comma after the last item
        "#]],
        ),
        (
            "{\"<a>\": [\"x\"],}",
            expect![[r#"
            g:1:15: error[syntax]: expected a key, found `}`
              | {"<a>": ["x"],}
              |               ^
              help: keys stand in double quotes; there is no comma after the last member
        "#]],
        ),
        (
            "{'<a>': [\"x\"]}",
            expect![[r#"
            g:1:2: error[syntax]: expected a key, found `'`
              | {'<a>': ["x"]}
              |  ^
              help: keys stand in double quotes; there is no comma after the last member
        "#]],
        ),
        (
            "{\"<a>\" [\"x\"]}",
            expect![[r#"
            g:1:8: error[syntax]: expected `:`, found `[`
              | {"<a>" ["x"]}
              |        ^
              help: a member of an object is written `"key": value`
        "#]],
        ),
        (
            "{\"<a>\": [\"x\" \"y\"]}",
            expect![[r#"
            g:1:14: error[syntax]: expected `,` or `]`, found `"`
              | {"<a>": ["x" "y"]}
              |              ^
              help: values are separated by commas
        "#]],
        ),
        (
            "{\"<a>\": [\"x\"",
            expect![[r#"
            g:1:13: error[syntax]: expected `,` or `]`, found the end of the file
              | {"<a>": ["x"
              |             ^
              help: values are separated by commas
        "#]],
        ),
        (
            "{\"<a>\": [\"x\n\"]}",
            expect![[r#"
            g:1:10: error[syntax]: this string is not closed
              | {"<a>": ["x
              |          ^^
              help: close it with `"` on the same line; a line break is written `\n`
        "#]],
        ),
        (
            "{\"<a>\": [\"x\t\"]}",
            expect![[r#"
            g:1:12: error[syntax]: a string cannot hold the control character U+0009 as it is
              | {"<a>": ["x "]}
              |            ^
              help: write `\u0009`
        "#]],
        ),
        (
            "{\"<a>\": [\"\\q\"]}",
            expect![[r#"
            g:1:11: error[syntax]: unknown escape
              | {"<a>": ["\q"]}
              |           ^^
              help: JSON knows `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t` and `\u` with four digits
        "#]],
        ),
        (
            "{\"<a>\": [\"\\u12é\"]}",
            expect![[r#"
            g:1:11: error[syntax]: unknown escape
              | {"<a>": ["\u12é"]}
              |           ^^
              help: JSON knows `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t` and `\u` with four digits
        "#]],
        ),
        (
            "{\"<a>\": [\"\\uD800\", \"\\uDC00\\uD800\\u0041\"]}",
            expect![[r#"
            a ::= "\u{FFFD}" | "\u{FFFD}\u{FFFD}A"
            g:1:11: error[syntax]: this is half of a surrogate pair, which is no character
              | {"<a>": ["\uD800", "\uDC00\uD800\u0041"]}
              |           ^^^^^^
              help: beyond U+FFFF a character is two escapes, such as `\uD83D\uDE00`
            g:1:21: error[syntax]: this is half of a surrogate pair, which is no character
              | {"<a>": ["\uD800", "\uDC00\uD800\u0041"]}
              |                     ^^^^^^
              help: beyond U+FFFF a character is two escapes, such as `\uD83D\uDE00`
            g:1:27: error[syntax]: this is half of a surrogate pair, which is no character
              | {"<a>": ["\uD800", "\uDC00\uD800\u0041"]}
              |                           ^^^^^^
              help: beyond U+FFFF a character is two escapes, such as `\uD83D\uDE00`
        "#]],
        ),
        (
            "{\"<a>\": [x]}",
            expect![[r#"
            g:1:10: error[syntax]: this is no JSON value
              | {"<a>": [x]}
              |          ^
              help: strings stand in double quotes
        "#]],
        ),
        (
            "{\"<a>\": [01]}",
            expect![[r#"
            g:1:10: error[syntax]: this is no JSON number
              | {"<a>": [01]}
              |          ^^
              help: numbers are written `3`, `0.25` or `1e-3`
        "#]],
        ),
        (
            "{\"<a>\": [1.]}",
            expect![[r#"
            g:1:10: error[syntax]: this is no JSON number
              | {"<a>": [1.]}
              |          ^^
              help: numbers are written `3`, `0.25` or `1e-3`
        "#]],
        ),
        (
            "{\"<a>\": [\"x\"]} {}",
            expect![[r#"
            g:1:16: error[syntax]: there is more after the end of the JSON value
              | {"<a>": ["x"]} {}
              |                ^
              help: a grammar is one object, `{...}`
        "#]],
        ),
        (
            "{\0}",
            expect![[r#"
            g:1:2: error[syntax]: expected a key, found U+0000
              | { }
              |  ^
              help: keys stand in double quotes; there is no comma after the last member
        "#]],
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn hostile_texts() {
    let length = gramjet_testkit::amount::part(4_000_000) as usize;
    let fill = |unit: &str| unit.repeat(length / unit.len());
    let overfill = |unit: &str| unit.repeat(10_000_000 / unit.len());
    let survives = |text: String, expected| testing::survives(&FuzzingBook, &text, expected);
    survives("[".repeat(1_000_000), "too-deep");
    survives(fill("{\"\":"), "too-deep");
    survives(format!("{{\"<a>\":[{}\"\"]}}", overfill("\"\",")), "too-large");
    survives(format!("{{\"<a>\":[{}\"<a>\"]}}", fill("\"<a>\",")), "unproductive-rule");
    survives(format!("{{\"<a>\":[\"{}\"]}}", overfill("<a>")), "too-large");
    survives(format!("{{\"<a>\":[\"{}\"]}}", fill("<")), "");
    survives(format!("{{\"<a>\":[\"{}\"]}}", fill("<a")), "");
    survives(format!("{{\"<a>\":[\"{}\"]}}", fill("\\uD800")), "half of a surrogate pair");
    survives(format!("{{\"<a>\":[{}0]}}", fill("0,")), "an expansion is a string");
    survives(format!("{{{}\"\":0}}", fill("\"\":0,")), "the alternatives of a rule are a list");
    survives(format!("{{{}\"\":[\"\"]}}", fill("\"\":[\"\"],")), "duplicate-rule");
    survives(format!("{{\"<a>\":[{}", fill("9")), "expected `,` or `]`");
    survives(fill("\""), "more after the end");
    survives(fill("\\"), "expected a JSON value");
    survives(format!("\"{}", fill("x")), "this string is not closed");
}

/// The grammars of the F1 tool, if they are in a folder beside the project.
#[test]
fn published_grammars() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/grammars");
    for name in ["expr.json", "json.json", "css.json", "html.json"] {
        let Ok(text) = std::fs::read_to_string(format!("{folder}/{name}")) else {
            println!("SKIPPED: there is no {folder}/{name}");
            continue;
        };
        let file = SourceFile::new(name, text);
        let mut diagnostics = Diagnostics::default();
        let grammar = FuzzingBook.parse(&file, &mut diagnostics);
        assert_eq!(diagnostics.to_plain_text(&file), "");
        let checked = check::check(&grammar, None, &mut diagnostics);
        println!("{}", diagnostics.to_plain_text(&file));
        assert!(checked.is_some(), "{}", diagnostics.to_plain_text(&file));
    }
}

const SAMPLES: &[&str] = &[
    r#"{"<start>": [["<a>", "x", "<"], ["</", "<a-1>"]], "<a>": [["\u00e9"], []], "<a-1>": [["\uD83D\uDE00\n", "<a>"]]}"#,
    r#"{"<start>": ["<a>x<b>", {"expansion": "<a>", "weight": 2}, ["<b>", {"prob": 0.5}]], "<a>": ["1 < 2"], "<b>": [""]}"#,
];
const TOKENS: &[&str] = &[
    "\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "<a>",
    "<",
    ">",
    "\\",
    "\\u",
    "\\uD800",
    "\"\"",
    "[\"<a>\", {\"prob\": 1}]",
    "1e9",
    "-",
    "é",
    "\0",
    "\n",
    "null",
    "\"weight\": 0",
    "\"<start>\": ",
    "[[[[[[[[",
];

#[test]
fn mutated_grammars_never_panic() {
    let mut sound = 0;
    testing::mutations(SAMPLES, TOKENS, 20_000, |text| sound += usize::from(testing::everything(&FuzzingBook, text).0));
    assert!(sound > 500, "{sound} mutations were grammars");
}
