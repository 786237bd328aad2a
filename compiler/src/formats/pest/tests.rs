//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Pest;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Pest, text));
}

#[test]
fn without_anything_implicit() {
    check(
        "//! docs\n/* a /* nested */ comment */\n/// more\nfile = { SOI ~ (record ~ (\"\\r\\n\" | \"\\n\"))* ~ EOI }\n\
         record = _{ #tag = field ~ (\",\" ~ field){2,} ~ ^\"x1\"? }\nfield = @{ (ASCII_DIGIT | '\\u{61}'..'\\x7a' | \".\")+ ~ \"q\"{,3} ~ \"r\"{2} }\n\
         other = ${ HEX_DIGIT{1,2} ~ ANY ~ NEWLINE }",
        expect![[r#"
            %start file
            file ::= (record ("\r\n" | "\n"))*
            record ::= field ("," field){2,} ([Xx] "1")?
            field ::= ([0-9] | [a-z] | ".")+ "q"{0,3} "r"{2}
            other ::= [0-9A-Fa-f#xFF10-#xFF19#xFF21-#xFF26#xFF41-#xFF46]{1,2} [#x09#x0A#x20-~] ("\n" | "\r\n" | "\r")
        "#]],
    );
}

#[test]
fn implicit_white_space_and_separators() {
    check(
        "program = { SOI ~ (\"let\" ~ ident ~ \"=\" ~ value ~ \";\")+ ~ EOI }\n\
         value = { ident | number | \"(\" ~ value ~ \")\" }\n\
         ident = @{ !keyword ~ ASCII_ALPHA ~ (inner)* }\ninner = { ASCII_ALPHANUMERIC ~ \"_\"? }\nkeyword = { \"let\" }\n\
         number = ${ ASCII_DIGIT+ }\nWHITESPACE = _{ \" \" | \"\\n\" }\nCOMMENT = _{ \"//\" ~ (!\"\\n\" ~ ANY)* }",
        expect![[r#"
            %start program
            program ::= implicit.blank (round.1 (implicit.blank round.1)*) implicit.blank
            value ::= ident | number | "(" implicit.blank value implicit.blank ")"
            inner ::= [0-9A-Za-z] implicit.blank (" " "_")?
            keyword ::= "let"
            round.1 ::= "let" implicit.blank ident implicit.blank "=" implicit.blank value implicit.blank ";"
            ident ::= [A-Za-km-z] inner.atomic*
            number ::= [0-9]+
            WHITESPACE ::= " " | "\n"
            COMMENT ::= "//" [#x09#x20-~]*
            inner.atomic ::= [0-9A-Za-z] "_"?
            implicit.blank ::= () @ 3 | (WHITESPACE @ 3 | COMMENT "\n" @ 1)+ @ 1
        "#]],
    );
}

#[test]
fn predicates_that_exclude_characters() {
    check(
        "a = { (!\"*/\" ~ ANY)* ~ \"*/\" ~ (!(\"x\" | \"yz\") ~ !b ~ c)+ ~ !EOI ~ ANY ~ &\"q\" ~ !a ~ a }\nb = { '0'..'9' }\nc = { 'a'..'z' | '0'..'9' }",
        expect![[r#"
            %start a
            a ::= ([#x09#x0A#x20-)+-~] | [*] [#x09#x0A#x20-)+-.0-~])* "*/" [a-wz]+ [#x09#x0A#x20-~] a
            b ::= [0-9]
            c ::= [a-z] | [0-9]
            g:1:72: warning[not-context-free]: a predicate is left out
              | " ~ ANY)* ~ "*/" ~ (!("x" | "yz") ~ !b ~ c)+ ~ !EOI ~ ANY ~ &"q" ~ !a ~ a }
              |                                                             ^^^^^
              help: a predicate is honoured where it excludes single characters, as in `!"x" ~ ANY`, or asks for them, as in `&letter ~ ANY`
        "#]],
    );
}

#[test]
fn counted_rounds_are_one_character_each() {
    check(
        "a = { (!\"ab\" ~ ANY){2,3} ~ \"ab\" ~ (!\"ab\" ~ ANY){2,} ~ \"ab\" }",
        expect![[r#"
        %start a
        a ::= [#x09#x0A#x20-`b-~]{2,3} "ab" ([#x09#x0A#x20-`b-~] | [a] [#x09#x0A#x20-`c-~]){2,} "ab"
    "#]],
    );
}

#[test]
fn the_stack() {
    check(
        "raw = { \"r\" ~ PUSH(\"#\"*) ~ \"q\" ~ (PEEK | PEEK[0..1]) ~ POP ~ DROP }",
        expect![[r##"
            %start raw
            raw ::= "r" "#"* "q" ("#"* | "#"*) "#"*
            g:1:35: warning[not-context-free]: the stack is left out
              | raw = { "r" ~ PUSH("#"*) ~ "q" ~ (PEEK | PEEK[0..1]) ~ POP ~ DROP }
              |                                   ^^^^
              help: a grammar cannot repeat what it has drawn; both are drawn on their own
        "##]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "a = { \"x }\nb = { ( \"x\" ~ \"y\" }\nc = \"x\"\nd = { \"x\" \"y\" }\ne = { 'z'..'a' }\nf = { \"\\q\" }\ng = { \"x\"{3,2} }\nh = { | }",
        expect![[r#"
            g:2:10: error[syntax]: expected `}`, found `x`
              | b = { ( "x" ~ "y" }
              |          ^
              help: a rule is written `name = { term ~ term | term }`
            g:3:5: error[syntax]: expected `{`, found `"`
              | c = "x"
              |     ^
              help: a rule is written `name = { term ~ term | term }`
            g:4:11: error[syntax]: expected `}`, found `"`
              | d = { "x" "y" }
              |           ^
              help: a rule is written `name = { term ~ term | term }`
            g:5:7: error[syntax]: this is no range of characters
              | e = { 'z'..'a' }
              |       ^^^^^^^^
              help: a range is `'a'..'z'`, the smaller end first
            g:6:8: error[syntax]: unknown escape
              | f = { "\q" }
              |        ^^
              help: escapes are `\n`, `\r`, `\t`, `\0`, `\\`, `\'`, `\"`, `\x41` and `\u{E9}`
            g:7:10: error[syntax]: this is no repetition
              | g = { "x"{3,2} }
              |          ^^^^
              help: write `{2}`, `{2,}`, `{,5}` or `{2,5}`
            g:8:9: error[syntax]: expected a term, found `}`
              | h = { | }
              |         ^
              help: a term is text in double quotes, a range `'a'..'z'`, a name, or a group in parentheses
        "#]],
    );
    check(
        "b = { ( \"x\" ~ \"y\" }\nc = \"x\"\nd = { \"x\" \"y\" }\ne = { 'z'..'a' }\nf = { \"\\q\" }\ng = { \"x\"{3,2} }\nh = { | }\n-",
        expect![[r#"
        g:1:7: error[syntax]: this group is not closed
          | b = { ( "x" ~ "y" }
          |       ^
          note: g:1:19: `)` is missing before this
          help: close it with `)`
        g:2:5: error[syntax]: expected `{`, found `"`
          | c = "x"
          |     ^
          help: a rule is written `name = { term ~ term | term }`
        g:3:11: error[syntax]: expected `}`, found `"`
          | d = { "x" "y" }
          |           ^
          help: a rule is written `name = { term ~ term | term }`
        g:4:7: error[syntax]: this is no range of characters
          | e = { 'z'..'a' }
          |       ^^^^^^^^
          help: a range is `'a'..'z'`, the smaller end first
        g:5:8: error[syntax]: unknown escape
          | f = { "\q" }
          |        ^^
          help: escapes are `\n`, `\r`, `\t`, `\0`, `\\`, `\'`, `\"`, `\x41` and `\u{E9}`
        g:6:10: error[syntax]: this is no repetition
          | g = { "x"{3,2} }
          |          ^^^^
          help: write `{2}`, `{2,}`, `{,5}` or `{2,5}`
        g:7:9: error[syntax]: expected a term, found `}`
          | h = { | }
          |         ^
          help: a term is text in double quotes, a range `'a'..'z'`, a name, or a group in parentheses
    "#]],
    );
}

/// Returns true if the order of a choice is reported, in a grammar with one choice.
fn order_matters(text: &str) -> bool {
    testing::parsed(&Pest, text).contains("a choice is not ordered")
}

#[test]
fn order_is_reported_where_it_loses_texts() {
    let lost = [
        r#"a = { "x" | "xy" }"#,
        r#"a = { "" | "x" }"#,
        r#"a = { b | c }  b = { "if" }  c = { ASCII_ALPHA+ }"#,
        r#"a = { ("0" | ASCII_NONZERO_DIGIT ~ ASCII_DIGIT*) | ASCII_DIGIT+ ~ "." }"#,
        r#"a = { "<" ~ a ~ ">" | "<" ~ a ~ ">" ~ "!" | "z" }"#,
        r#"a = { ^"if" | "IFF" }"#,
        r#"a = { "x" ~ "y" | "x" ~ "y" ~ "z" }  WHITESPACE = _{ " " }"#,
    ];
    for text in lost {
        assert!(order_matters(text), "{text}");
    }
    let kept = [
        r#"a = { "xy" | "x" }"#,
        r#"a = { "true" | "this" | "t" }"#,
        r#"a = { "x" ~ "1" | "x" ~ "2" }"#,
        r#"a = { ASCII_DIGIT+ | ASCII_ALPHA+ }"#,
        r#"a = { ASCII_DIGIT+ ~ "." ~ ASCII_DIGIT+ | ASCII_DIGIT+ }"#,
        r#"a = { "<" ~ a ~ ">" | "[" ~ a ~ "]" | "z" }"#,
        r#"a = { keyword | !keyword ~ ASCII_ALPHA+ }  keyword = { "if" | "do" }"#,
        r#"a = { "\"" ~ (!"\"" ~ ANY)* ~ "\"" | "'" ~ (!"'" ~ ANY)* ~ "'" }"#,
        r#"a = { "x" ~ "y" | "x" ~ "z" }  WHITESPACE = _{ " " }"#,
    ];
    for text in kept {
        assert!(!order_matters(text), "{text}");
    }
}

#[test]
fn order_is_reported_where_a_rule_is_not_followed_further() {
    let chain: String = (1..18).map(|rule| format!("r{rule} = {{ r{} }}  ", rule + 1)).collect();
    let lost = [
        format!(r#"c = {{ r1 | r1 ~ "y" }}  {chain} r18 = {{ "x" }}"#),
        format!(r#"c = {{ r1 | "x" ~ "y" }}  {chain} r18 = {{ "x" }}"#),
        r#"c = { "q" ~ y | r | r ~ "!" }  y = { r ~ ";" | "k" }  r = { "x" ~ y }"#.to_string(),
        r#"c = { r | "x" ~ y ~ "!" }  y = { r ~ ";" | "k" }  r = { "x" ~ y }"#.to_string(),
        r#"c = { "(" ~ c ~ ")" | "((z))!" | "z" }"#.to_string(),
        r#"c = { PUSH("x"*) ~ POP | "xx!" }"#.to_string(),
        r#"c = { "x"{20} | "x"{20} ~ "y" }"#.to_string(),
    ];
    for text in lost {
        assert!(order_matters(&text), "{text}");
    }
    let kept = [
        format!(r#"c = {{ r1 | "y" ~ r1 }}  {chain} r18 = {{ "x" }}"#),
        r#"c = { "x" ~ c ~ "1" | "x" ~ c ~ "2" | "z" }"#.to_string(),
        r#"c = { "if" ~ c ~ "else" ~ c ~ "end" | "if" ~ c ~ "end" | "z" }"#.to_string(),
        r#"c = { "(" ~ c ~ ")" | "[" ~ d ~ "]" | "z" }  d = { c ~ "," ~ d | c }"#.to_string(),
    ];
    for text in kept {
        assert!(!order_matters(&text), "{text}");
    }
}

#[test]
fn order_is_reported_where_it_takes_what_follows() {
    let lost = [
        r#"c = { ("ab" | "a") ~ "bc" }"#,
        r#"c = { d ~ "bc" }  d = { "ab" | "a" }"#,
        r#"c = { d ~ "bc" | d ~ "x" }  d = { e }  e = { "y"? ~ ("ab" | "a") }"#,
        r#"c = { ("ab" | "a")* ~ "bc" }"#,
        r#"c = { ("ab" | "a") ~ "x"? ~ "bc" }"#,
        r#"c = { ("ab" | "a") ~ rest }  rest = { "[" ~ rest ~ "]" | "bc" }"#,
        r#"c = { "{" ~ start ~ number ~ "}" }  start = { "{-" | "{" }  number = @{ "-"? ~ ASCII_DIGIT+ }"#,
        r#"c = { ("ab" | "a") ~ POP }  d = { PUSH("b") }"#,
        r#"c = { ("a b" | "a") ~ "bc" }  WHITESPACE = _{ " " }"#,
    ];
    for text in lost {
        assert!(order_matters(text), "{text}");
    }
    let kept = [
        r#"c = { ("ab" | "a") ~ "c" }"#,
        r#"c = { d ~ "x" }  d = { "ab" | "a" }"#,
        r#"c = { ("ab" | "a") ~ "b"* }"#,
        r#"c = { SOI ~ (line ~ ("\r\n" | "\n" | "\r"))* ~ EOI }  line = { ASCII_ALPHA* }"#,
        r#"c = { ASCII_DIGIT+ ~ (operator ~ ASCII_DIGIT+)* }  operator = { "<=" | "<" | "**" | "*" }"#,
        r#"c = { number ~ ("," ~ number)* }  number = @{ int ~ "." ~ ASCII_DIGIT+ | int }  int = { "0" | '1'..'9' ~ ASCII_DIGIT* }"#,
        r#"v = { o | a | "1" }  o = { "{" ~ p ~ ("," ~ p)* ~ "}" | "{" ~ "}" }  p = { "k" ~ ":" ~ v }  a = { "[" ~ v ~ ("," ~ v)* ~ "]" | "[" ~ "]" }"#,
        r#"e = { t ~ (("+" | "-") ~ t)* }  t = { f ~ (("*" | "/") ~ f)* }  f = { "x" ~ "y" | "x" | "(" ~ e ~ ")" }"#,
    ];
    for text in kept {
        assert!(!order_matters(text), "{text}");
    }
}

#[test]
fn order_of_many_choices_over_wide_sets_is_looked_at_within_bounds() {
    let names =
        ["LETTER", "ALPHABETIC", "CASED", "LOWERCASE_LETTER", "NUMBER", "MARK", "SYMBOL", "PUNCTUATION", "XID_START"];
    let mut text = "a = { \"x\" ~ \"1\" | \"x\" ~ \"2\" }\n".to_string();
    for rule in 0..4000 {
        let alternatives: Vec<String> =
            (0..names.len()).map(|name| format!("\"{rule}\" ~ {}", names[(rule + name) % names.len()])).collect();
        text += &format!("r{rule} = {{ {} }}\n", alternatives.join(" | "));
    }
    // Beyond the bounds, order is taken to matter.
    text += "z = { \"x\" | \"y\" }\n";
    let found = testing::parsed(&Pest, &text);
    assert!(found.contains("a choice is not ordered"));
}

#[test]
fn a_token_that_takes_blanks_is_ended_by_a_line_break() {
    check(
        "file = { doc ~ (doc | name ~ name)* }\ndoc = ${ \"#\" ~ (!\"\\n\" ~ ANY)* }\nname = @{ 'a'..'z'+ }\n\
         WHITESPACE = _{ \" \" | \"\\n\" }",
        expect![[r##"
            %start file
            file ::= doc implicit.blank (round.1 (implicit.blank round.1)*)?
            round.1 ::= "\n" doc | ("\n" name) implicit.blank (" " name)
            doc ::= "#" [#x09#x20-~]*
            name ::= [a-z]+
            WHITESPACE ::= " " | "\n"
            implicit.blank ::= () @ 3 | WHITESPACE+ @ 1
        "##]],
    );
}

#[test]
fn a_predicate_asks_for_characters() {
    check(
        "a = @{ (&(letter | \"_\") ~ any ~ !\"x\" ~ &digit ~ digit)+ ~ &(\"ab\") ~ any }\nletter = _{ 'a'..'z' }\n\
         digit = { '0'..'9' }\nany = { &\"z\" ~ !\"\\n\" ~ ANY | letter }",
        expect![[r#"
            %start a
            a ::= ([a-z] [0-9])+ any
            letter ::= [a-z]
            digit ::= [0-9]
            any ::= [z] | letter
            g:1:59: warning[not-context-free]: a predicate is left out
              | a = @{ (&(letter | "_") ~ any ~ !"x" ~ &digit ~ digit)+ ~ &("ab") ~ any }
              |                                                           ^^^^^^^^
              help: a predicate is honoured where it excludes single characters, as in `!"x" ~ ANY`, or asks for them, as in `&letter ~ ANY`
        "#]],
    );
}

/// What follows a choice may stand after blanks: `x` is not lost, although `x (` may follow it, since only `+` does.
#[test]
fn blanks_after_a_choice_are_no_beginning_of_what_follows() {
    let grammar = |after: &str| {
        format!(
            "a = {{ b ~ c }}\nb = {{ \"x\" ~ \"(\" ~ \")\" | 'x'..'z' }}\nc = {{ \"{after}\" }}\nWHITESPACE = _{{ \" \" }}"
        )
    };
    assert!(!testing::parsed(&Pest, &grammar("+")).contains("a choice is not ordered"));
    assert!(testing::parsed(&Pest, &grammar("(")).contains("a choice is not ordered"));
}

/// No comparison of texts is needed where the first characters decide, whatever the alternatives are made of.
#[test]
fn the_order_of_alternatives_that_begin_apart_does_not_matter() {
    let many: Vec<String> = (0x4E00..0x5080).map(|c| format!("\"\\u{{{c:x}}}\"")).collect();
    let many: Vec<String> = many.chunks(32).map(|some| format!("({})", some.join(" | "))).collect();
    let grammar = |first: &str| format!("a = {{ {first} ~ \"]\" | \"[\" ~ b }}\nb = {{ {} }}", many.join(" | "));
    let found = testing::parsed(&Pest, &grammar("\"[\" ~ \" \""));
    assert!(!found.contains("g:1:") && !found.contains("a choice is not ordered"), "{found}");
    assert!(testing::parsed(&Pest, &grammar("\"[\" ~ \"\\u{4e00}\"")).contains("a choice is not ordered"));
}

#[test]
fn a_predicate_excludes_characters_from_the_first_round() {
    check(
        "a = { b ~ c }\nb = @{ \"/\" ~ !(\"/\" | \"!\") ~ (!\"\\n\" ~ ANY)* ~ \"\\n\" }\n\
         c = @{ !\"0\" ~ '0'..'9'+ ~ !\"x\" ~ 'w'..'z'{,1} }\nWHITESPACE = _{ \" \" | \"\\n\" }\n\
         COMMENT = _{ \"//\" ~ !\"!\" ~ (!\"\\n\" ~ ANY)* }",
        expect![[r#"
            %start a
            a ::= b implicit.blank c
            b ::= "/" ([#x09#x20"-.0-~] [#x09#x20-~]*)? "\n"
            c ::= ([1-9] [0-9]*) [wyz]?
            WHITESPACE ::= " " | "\n"
            COMMENT ::= "//" ([#x09#x20"-~] [#x09#x20-~]*)?
            implicit.blank ::= () @ 3 | (WHITESPACE @ 3 | COMMENT "\n" @ 1)+ @ 1
            g:3:27: warning[not-context-free]: a predicate is left out
              | c = @{ !"0" ~ '0'..'9'+ ~ !"x" ~ 'w'..'z'{,1} }
              |                           ^^^^^
              help: a predicate is honoured where it excludes single characters, as in `!"x" ~ ANY`, or asks for them, as in `&letter ~ ANY`
        "#]],
    );
}

#[test]
fn blanks_are_no_start_and_what_the_format_makes_is_not_reported() {
    let text = "WHITESPACE = _{ \" \" }\na = @{ 'a'..'z'+ ~ \"(\" ~ b ~ \")\" }\nb = { c* }\nc = { \"c\" ~ \"d\"* }";
    let found = testing::parsed_with(&Pest, text, &[]);
    assert!(found.starts_with("%start a\n"), "{found}");
    let reported: Vec<&str> = found.lines().filter(|line| line.contains("warning")).collect();
    assert!(reported.iter().all(|line| !line.contains('.')), "{reported:?}");
}
