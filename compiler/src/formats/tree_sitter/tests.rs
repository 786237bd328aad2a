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
            _newline ::= "\n"
            id ::= [_a-km-z] [0-9A-Z_a-z]* @ 26 | [l] id.word.2 @ 1
            id.word.2 ::= [0-9A-Z_a-df-z] [0-9A-Z_a-z]* @ 62 | [e] ([0-9A-Z_a-su-z] [0-9A-Z_a-z]* @ 62 | [t] [0-9A-Z_a-z] [0-9A-Z_a-z]* @ 1 | () @ 63) @ 1 | () @ 63
            g:18:26: warning[not-context-free]: the external token `_newline` derives `\n`
              |            "externals": [{"type": "SYMBOL", "name": "_newline"}, {"type": "SYMBOL", "name": "id"}, {"type": "STRING", "v
              |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: code outside of the grammar reads it; add a rule of its name to say what it is
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
