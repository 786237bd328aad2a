//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::TreeSitter;
use crate::diagnostics::SourceFile;
use crate::formats::{self, Format, testing};

fn check(text: &str, expected: Expect) {
    assert_eq!(formats::detect(&SourceFile::new("g.json", text)).name(), TreeSitter.name());
    expected.assert_eq(&testing::parsed(&TreeSitter, text));
}

#[test]
fn rules_tokens_and_separators() {
    check(
        r#"{"name": "demo", "word": "id", "rules": {
            "program": {"type": "REPEAT", "content": {"type": "SYMBOL", "name": "statement"}},
            "statement": {"type": "PREC_LEFT", "value": 1, "content": {"type": "CHOICE", "members": [
                {"type": "SEQ", "members": [{"type": "STRING", "value": "let"},
                    {"type": "FIELD", "name": "n", "content": {"type": "SYMBOL", "name": "id"}},
                    {"type": "STRING", "value": "="}, {"type": "SYMBOL", "name": "string"},
                    {"type": "ALIAS", "named": false, "value": "x", "content": {"type": "STRING", "value": ";"}}]},
                {"type": "REPEAT1", "content": {"type": "TOKEN", "content": {"type": "SEQ", "members": [
                    {"type": "STRING", "value": "@"}, {"type": "PATTERN", "value": "[a-z]+", "flags": "i"}]}}},
                {"type": "BLANK"}]}},
            "string": {"type": "SEQ", "members": [{"type": "STRING", "value": "\""},
                {"type": "REPEAT", "content": {"type": "IMMEDIATE_TOKEN", "content": {"type": "PATTERN", "value": "[^\"\\n]"}}},
                {"type": "SYMBOL", "name": "close"}]},
            "close": {"type": "IMMEDIATE_TOKEN", "content": {"type": "STRING", "value": "\""}},
            "id": {"type": "PATTERN", "value": "[a-z_]\\w*"},
            "comment": {"type": "TOKEN", "content": {"type": "PATTERN", "value": "//.*"}}
           }, "extras": [{"type": "PATTERN", "value": "\\s"}, {"type": "SYMBOL", "name": "comment"}],
           "externals": [{"type": "SYMBOL", "name": "_newline"}, {"type": "SYMBOL", "name": "id"}, {"type": "STRING", "value": ";"}],
           "conflicts": [], "inline": [], "supertypes": []}"#,
        expect![[r#"
            %start program
            program ::= statement*
            statement ::= (" " "let") (" " id) "=" string ";" | ("@" [A-Za-z]+)+ | ()
            string ::= "\"" [#x09#x20!#x23-~]* close
            close ::= "\""
            comment ::= "//" [#x09#x20-~]*
            id ::= [_a-km-z] [0-9A-Z_a-z]* @ 26 | [l] id.word.2 @ 1
            id.word.2 ::= [0-9A-Z_a-df-z] [0-9A-Z_a-z]* @ 62 | [e] ([0-9A-Z_a-su-z] [0-9A-Z_a-z]* @ 62 | [t] [0-9A-Z_a-z] [0-9A-Z_a-z]* @ 1 | () @ 63) @ 1 | () @ 63
        "#]],
    );
}

#[test]
fn errors() {
    check(
        r#"{"rules": {"a": {"type": "SEQ"}, "b": {"type": "FOO"}, "c": [], "d": {"type": "SYMBOL"}, "e": {"type": "PATTERN", "value": "("},
            "f": {"type": "REPEAT"}, "g": {}}}"#,
        expect![[r#"
            %start a
            a ::= ()
            b ::= ()
            c ::= ()
            d ::= ()
            f ::= ()
            g ::= ()
            e ::= ()
            g:1:17: error[syntax]: this is no rule of tree-sitter: it has no `members`
              | {"rules": {"a": {"type": "SEQ"}, "b": {"type": "FOO"}, "c": [], "d": {"type": "SYMBOL"}, "e": {"type": "PATTERN", "value
              |                 ^^^^^^^^^^^^^^^
              help: it is what `tree-sitter generate` writes to `src/grammar.json`
            g:1:39: error[syntax]: this is no rule of tree-sitter: unknown type `FOO`
              | {"rules": {"a": {"type": "SEQ"}, "b": {"type": "FOO"}, "c": [], "d": {"type": "SYMBOL"}, "e": {"type": "PATTERN", "value
              |                                       ^^^^^^^^^^^^^^^
              help: it is what `tree-sitter generate` writes to `src/grammar.json`
            g:1:61: error[syntax]: this is no rule of tree-sitter: a list
              | {"rules": {"a": {"type": "SEQ"}, "b": {"type": "FOO"}, "c": [], "d": {"type": "SYMBOL"}, "e": {"type": "PATTERN", "value
              |                                                             ^^
              help: it is what `tree-sitter generate` writes to `src/grammar.json`
            g:1:70: error[syntax]: this is no rule of tree-sitter: it has no `name`
              |  {"a": {"type": "SEQ"}, "b": {"type": "FOO"}, "c": [], "d": {"type": "SYMBOL"}, "e": {"type": "PATTERN", "value": "("},
              |                                                             ^^^^^^^^^^^^^^^^^^
              help: it is what `tree-sitter generate` writes to `src/grammar.json`
            g:1:95: error[syntax]: this is no regular expression: unclosed group
              | b": {"type": "FOO"}, "c": [], "d": {"type": "SYMBOL"}, "e": {"type": "PATTERN", "value": "("},
              |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: regular expressions are those of Rust's `regex`; a backslash makes a sign stand for itself
            g:2:18: error[syntax]: this is no rule of tree-sitter: it has no `content`
              |             "f": {"type": "REPEAT"}, "g": {}}}
              |                  ^^^^^^^^^^^^^^^^^^
              help: it is what `tree-sitter generate` writes to `src/grammar.json`
            g:2:43: error[syntax]: this is no rule of tree-sitter: it has no `type`
              |             "f": {"type": "REPEAT"}, "g": {}}}
              |                                           ^^
              help: it is what `tree-sitter generate` writes to `src/grammar.json`
        "#]],
    );
}

fn symbol(name: &str) -> String {
    format!(r#"{{"type": "SYMBOL", "name": "{name}"}}"#)
}

/// Returns a grammar with these rules and external tokens.
fn with_externals(rules: &str, externals: &[&str]) -> String {
    let externals: Vec<String> = externals.iter().map(|name| symbol(name)).collect();
    format!(r#"{{"rules": {{{rules}}}, "externals": [{}]}}"#, externals.join(", "))
}

#[test]
fn a_pattern_that_matches_only_keywords_stays() {
    check(
        r#"{"rules": {"a": {"type": "SEQ", "members": [{"type": "STRING", "value": "=="}, {"type": "PATTERN", "value": "==|="},
            {"type": "STRING", "value": "="}]}}}"#,
        expect![[r#"
            %start a
            a ::= "==" (" " ("==" | "=")) (" " "=")
        "#]],
    );
}

#[test]
fn blanks_separate_tokens_although_another_token_would_take_them() {
    // The text of a directive takes all of its line. It is not expected after a name.
    check(
        r#"{"extras": [{"type": "PATTERN", "value": "\\s"}], "rules": {"a": {"type": "CHOICE", "members": [
            {"type": "SEQ", "members": [{"type": "PATTERN", "value": "[a-z]+"}, {"type": "PATTERN", "value": "[a-z]+"}]},
            {"type": "SEQ", "members": [{"type": "STRING", "value": "%"}, {"type": "PATTERN", "value": "[a-z][^\\n]*"},
                {"type": "STRING", "value": "x"}]}]}}}"#,
        expect![[r#"
            %start a
            a ::= word.1 (" " word.2) | "%" word.3 ("\n" "x")
            word.1 ::= [a-wyz] [a-z]* @ 25 | [x] word.1.2 @ 1
            word.1.2 ::= [a-z] [a-z]*
            word.2 ::= [a-wyz] [a-z]* @ 25 | [x] word.2.2 @ 1
            word.2.2 ::= [a-z] [a-z]*
            word.3 ::= [a-wyz] [#x09#x20-~]* @ 25 | [x] word.3.2 @ 1
            word.3.2 ::= [#x09#x20-~] [#x09#x20-~]*
        "#]],
    );
}

#[test]
fn external_tokens() {
    let text = with_externals(
        &format!(
            r#""a": {{"type": "CHOICE", "members": [{}, {}, {{"type": "SEQ", "members": [{{"type": "STRING", "value": "x"}},
               {{"type": "CHOICE", "members": [{}, {{"type": "BLANK"}}]}}, {}]}}]}},
               "b": {{"type": "REPEAT1", "content": {}}}"#,
            symbol("b"),
            symbol("_heredoc"),
            symbol("b"),
            symbol("_line_break"),
            symbol("_heredoc")
        ),
        &["_heredoc", "_line_break", "unused"],
    );
    expect![[r#"
        %start a
        a ::= "x" () _line_break
        _line_break ::= "\n"
        g:3:108: warning[not-context-free]: what needs the external token `_heredoc` is left out
          | t": {"type": "SYMBOL", "name": "_heredoc"}}}, "externals": [{"type": "SYMBOL", "name": "_heredoc"}, {"type": "SYMBOL", "
          |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: code outside of the grammar reads it: say what it is by a rule of its name in a file of tokens
        g:3:148: warning[not-context-free]: the external token `_line_break` derives `\n`
          | "}}}, "externals": [{"type": "SYMBOL", "name": "_heredoc"}, {"type": "SYMBOL", "name": "_line_break"}, {"type": "SYMBOL"
          |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: code outside of the grammar reads it: say what it is by a rule of its name in a file of tokens
    "#]].assert_eq(&testing::parsed_with(&TreeSitter, &text, &[]));
    let tokens = [("tokens.ebnf", "_heredoc ::= '<<' b\nb ::= [A-Z]\n")];
    expect![[r#"
        %start a
        a ::= b | _heredoc | "x" (b | ()) _line_break
        b ::= _heredoc+
        _line_break ::= "\n"
        _heredoc ::= "<<" tokens.b
        tokens.b ::= [A-Z]
        g:3:148: warning[not-context-free]: the external token `_line_break` derives `\n`
          | "}}}, "externals": [{"type": "SYMBOL", "name": "_heredoc"}, {"type": "SYMBOL", "name": "_line_break"}, {"type": "SYMBOL"
          |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: code outside of the grammar reads it: say what it is by a rule of its name in a file of tokens
    "#]].assert_eq(&testing::parsed_with(&TreeSitter, &text, &tokens));
    let text = with_externals(&format!(r#""a": {}"#, symbol("text")), &["text"]);
    expect![[r#"
        g:1:68: error[undefined-rule]: rule `a` needs the external token `text`, of which nothing is known
          | ": {"a": {"type": "SYMBOL", "name": "text"}}, "externals": [{"type": "SYMBOL", "name": "text"}]}
          |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: code outside of the grammar reads it: say what it is by a rule of its name in a file of tokens, or choose another start rule
        g:1:68: warning[not-context-free]: what needs the external token `text` is left out
          | ": {"a": {"type": "SYMBOL", "name": "text"}}, "externals": [{"type": "SYMBOL", "name": "text"}]}
          |                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: code outside of the grammar reads it: say what it is by a rule of its name in a file of tokens
    "#]].assert_eq(&testing::parsed_with(&TreeSitter, &text, &[]));
    // The message names a token that the rule needs.
    let optional = format!(r#"{{"type": "CHOICE", "members": [{}, {{"type": "BLANK"}}]}}"#, symbol("opt"));
    let rule = format!(r#""a": {{"type": "SEQ", "members": [{optional}, {}]}}"#, symbol("need"));
    let said = testing::parsed_with(&TreeSitter, &with_externals(&rule, &["opt", "need"]), &[]);
    assert!(said.contains("rule `a` needs the external token `need`, of which nothing is known"), "{said}");
    // An optional external token is left out silently, with or without a file of tokens.
    let text = with_externals(r#""a": {"type": "REPEAT1", "content": {"type": "STRING", "value": "x"}}"#, &["comment"]);
    let text = text.replacen(r#"{"rules""#, &format!(r#"{{"extras": [{}], "rules""#, symbol("comment")), 1);
    let files = [("tokens.ebnf", "comment ::= '#' [a-z]* #xA\n")];
    for files in [&files[..], &[]] {
        assert_eq!(testing::parsed_with(&TreeSitter, &text, files), "%start a\na ::= \"x\"+\n");
    }
    let text = with_externals(&format!(r#""a": {}"#, symbol("nowhere")), &[]);
    expect![[r#"
        %start a
        a ::= nowhere
        g:1:17: error[undefined-rule]: rule `nowhere` is not defined
          | {"rules": {"a": {"type": "SYMBOL", "name": "nowhere"}}, "externals": []}
          |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: the only rule has no similar name; every rule must be defined in this file
    "#]]
    .assert_eq(&testing::parsed_with(&TreeSitter, &text, &[]));
}

#[test]
fn automatic_semicolons_are_left_out_where_there_is_a_choice() {
    check(
        r#"{"name": "demo", "rules": {
            "block": {"type": "SEQ", "members": [{"type": "STRING", "value": "{"},
                {"type": "REPEAT", "content": {"type": "SYMBOL", "name": "statement"}}, {"type": "STRING", "value": "}"},
                {"type": "CHOICE", "members": [{"type": "SYMBOL", "name": "_automatic_semicolon"}, {"type": "BLANK"}]}]},
            "statement": {"type": "SEQ", "members": [{"type": "STRING", "value": "x"}, {"type": "CHOICE", "members": [
                {"type": "SYMBOL", "name": "_automatic_semicolon"}, {"type": "STRING", "value": ";"}]}]}},
           "externals": [{"type": "SYMBOL", "name": "_automatic_semicolon"}]}"#,
        expect![[r#"
            %start block
            block ::= "{" statement* "}" ()
            statement ::= "x" ";"
        "#]],
    );
    check(
        r#"{"name": "demo", "rules": {"statement": {"type": "SEQ", "members": [{"type": "STRING", "value": "x"},
            {"type": "SYMBOL", "name": "_automatic_semicolon"}]}},
           "externals": [{"type": "SYMBOL", "name": "_automatic_semicolon"}]}"#,
        expect![[r#"
            %start statement
            statement ::= "x" _automatic_semicolon
            _automatic_semicolon ::= ";"
            g:3:26: warning[not-context-free]: the external token `_automatic_semicolon` derives `;`
              |            "externals": [{"type": "SYMBOL", "name": "_automatic_semicolon"}]}
              |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: code outside of the grammar reads it: say what it is by a rule of its name in a file of tokens
        "#]],
    );
}

/// Extras stand between tokens, and the parts of a pattern without the keywords among its texts are no one's rules.
#[test]
fn extras_and_rules_without_a_name_are_not_reported() {
    let text = r#"{"name": "g", "rules": {
        "file": {"type": "REPEAT", "content": {"type": "CHOICE", "members": [
            {"type": "STRING", "value": "if"}, {"type": "STRING", "value": "else"}, {"type": "PATTERN", "value": "[a-z]{1,9}"}]}},
        "comment": {"type": "PATTERN", "value": "\\#[a-z]*"},
        "forgotten": {"type": "STRING", "value": "x"}},
        "extras": [{"type": "PATTERN", "value": "\\s"}, {"type": "SYMBOL", "name": "comment"}]}"#;
    let found = testing::parsed_with(&TreeSitter, text, &[]);
    let reported: Vec<&str> = found.lines().filter(|line| line.contains("warning")).collect();
    assert_eq!(reported, ["g:5:9: warning[unreachable-rule]: rule `forgotten` cannot be reached from `file`"]);
}

#[test]
fn precedences_are_levels() {
    let symbol = |name: &str| format!(r#"{{"type": "SYMBOL", "name": "{name}"}}"#);
    let string = |text: &str| format!(r#"{{"type": "STRING", "value": "{text}"}}"#);
    let group =
        |kind: &str, members: &[String]| format!(r#"{{"type": "{kind}", "members": [{}]}}"#, members.join(", "));
    let prec = |kind: &str, value: &str, content: String| {
        format!(r#"{{"type": "{kind}", "value": {value}, "content": {content}}}"#)
    };
    let binary = |text: &str| group("SEQ", &[symbol("e"), string(text), symbol("e")]);
    let operators = [
        prec("PREC_LEFT", "1", binary("+")),
        prec("PREC_RIGHT", r#""power""#, binary("^")),
        prec("PREC_DYNAMIC", "9", binary("=")),
    ];
    let rules = [
        format!(r#""e": {}"#, group("CHOICE", &[symbol("binary"), symbol("minus"), string("x")])),
        format!(r#""binary": {}"#, group("CHOICE", &operators)),
        format!(r#""minus": {}"#, prec("PREC", "2", group("SEQ", &[string("-"), symbol("e")]))),
    ];
    let precedences = r#"[[{"type": "STRING", "value": "power"}, {"type": "STRING", "value": "low"}, {"type": "STRING", "value": "lower"}]]"#;
    let text = format!(r#"{{"name": "g", "rules": {{{}}}, "precedences": {precedences}}}"#, rules.join(", "));
    check(
        &text,
        expect![[r#"
        %start e
        e ::= binary | minus | "x"
        e.2 ::= binary.2 | minus | "x"
        e.3 ::= binary.3 | minus | "x"
        e.4 ::= "x"
        binary ::= e.2 "+" e.3 | e.4 "^" e.3 | e "=" e.2
        binary.2 ::= e.2 "+" e.3 | e.4 "^" e.3
        binary.3 ::= e.4 "^" e.3
        minus ::= "-" e.3
    "#]],
    );
}
