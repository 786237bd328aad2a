//! The place at which a text ceases to conform, and the message.

use expect_test::{Expect, expect};
use gramjet_parse::{Budget, ParseError, Parser};

use crate::kit::{JSON, compiled, shipped};

fn check(grammar: &str, text: &[u8], expected: Expect) {
    let parser = Parser::new(&compiled(grammar).lowered);
    let error = parser.parse(text, &Budget::default()).expect_err("it does not conform");
    let ParseError::Mismatch(mismatch) = error else { panic!("{error}") };
    let within = mismatch.within.as_ref().map_or("nothing".to_string(), |(rule, at)| format!("{rule} from {at}"));
    expected.assert_eq(&format!("{mismatch} (in {within})"));
}

#[test]
fn the_furthest_place_is_told() {
    check(
        JSON,
        b"[1, 2",
        expect![[
            r#"byte 5: expected [0-9], ".", [Ee], [#x9-#xA#xD#x20], "," or "]", found the end of the text (in number from 4)"#
        ]],
    );
    check(
        JSON,
        b"[1, 2] 3",
        expect!["byte 7: expected [#x9-#xA#xD#x20] or the end of the text, found `3` (in ws from 6)"],
    );
    check(JSON, b"", expect!["byte 0: expected <json>, found the end of the text (in nothing)"]);
    check(JSON, b"[1, falsy]", expect![[r#"byte 8: expected "e" of "false", found `y` (in value from 4)"#]]);
    check(
        JSON,
        b"{\"a\": 1, b: 2}",
        expect![[r#"byte 9: expected [#x9-#xA#xD#x20] or "\"", found `b` (in member from 8)"#]],
    );
    check(JSON, b"\"\\x\"", expect![[r#"byte 2: expected ["/\\bfn...] or "u", found `x` (in string from 0)"#]]);
    check(
        JSON,
        b"\"\xFF\"",
        expect![[
            r#"byte 1: expected [#x20-!#-\[\]-#xD7FF#xE000-#x10FFFF], "\\" or "\"", found the byte 0xFF (in string from 0)"#
        ]],
    );
    check(
        JSON,
        b"\"\xC3",
        expect![[
            r#"byte 1: expected [#x20-!#-\[\]-#xD7FF#xE000-#x10FFFF], "\\" or "\"", found the byte 0xC3 (in string from 0)"#
        ]],
    );
    check(JSON, b"[1,]", expect!["byte 3: expected <element>, found `]` (in array from 0)"]);
    check("s ::= 'a'{3}", b"aa", expect![[r#"byte 2: expected "a", found the end of the text (in nothing)"#]]);
    check("s ::= 'a'{3}", b"aaaa", expect!["byte 3: expected the end of the text, found `a` (in s from 0)"]);
    check(
        "s ::= ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j') 'x'",
        b"ax ",
        expect!["byte 2: expected the end of the text, found the byte 0x20 (in s from 0)"],
    );
    check(
        "s ::= a | b  a ::= '<' [0-9]+ '>'  b ::= '<' [a-z]+ '.>'",
        b"<abc>",
        expect![[r#"byte 4: expected [a-z] or ".>", found `>` (in b from 0)"#]],
    );
}

#[test]
fn of_many_alternatives_the_rules_are_told() {
    let parser = Parser::new(&shipped("css").lowered);
    let error = parser.parse(b"a { colour: red }", &Budget::default()).expect_err("there is no such property");
    expect![[r#"byte 8: expected "r" of "color", found `u`"#]].assert_eq(&error.to_string());
}

/// Every text that is cut short or changed gets an answer, and the place is where the texts of the language end: the
/// part before it can be completed.
#[test]
fn changed_texts_are_told_where_they_differ() {
    let parser = Parser::new(&compiled(JSON).lowered);
    let text = br#"{"a": [1, {"b": "c\u0041"}, -2.5e+7, true]}"#;
    for end in 0..text.len() {
        match parser.parse(&text[..end], &Budget::default()) {
            Err(ParseError::Mismatch(mismatch)) => assert_eq!((mismatch.offset, mismatch.found), (end, None)),
            other => panic!("{end}: {other:?}"),
        }
        let mut changed = text.to_vec();
        changed[end] = 0;
        match parser.parse(&changed, &Budget::default()) {
            Err(ParseError::Mismatch(mismatch)) => assert_eq!((mismatch.offset, mismatch.found), (end, Some(0))),
            other => panic!("{end}: {other:?}"),
        }
    }
}
