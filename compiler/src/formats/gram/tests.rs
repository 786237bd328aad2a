//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Gram;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Gram, text));
}

#[test]
fn the_notation() {
    check(
        "# comment\nS ::= T+ (\"<\" | 'svg')? opt* ; /* more */ T : [a-dP-R\\]+?-] ['\"] \"\\n\\x41\\u00e9\\\"\" ;\nopt ::= \"a\"\n | ;\n<opt> ::= T T;",
        expect![[r#"
            S ::= T+ ("<" | "svg")? opt*
            T ::= [+\-?P-R\]a-d] ["'] "\nAé\""
            opt ::= "a" | () | T T
        "#]],
    );
}

#[test]
fn merges_equate_symbols() {
    check(
        "<s> ::= <Rep_1> <Alt_2> x;\n<Rep_1> ::= \"a\";\n<Alt_2> ::= \"b\" | <Alt_3>;\n<Alt_3> ::= \"c\";\nx ::= \"x\";\n<Alt_2> ::: [<Rep_1>, <Other>];\nOther ::: [Alt_3];",
        expect![[r#"
            s ::= Rep_1 Rep_1 x
            Rep_1 ::= "a" | "b" | Rep_1 | "c"
            x ::= "x"
        "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "a ::= \"x ;\nb ::= (\"x\" ;\nc ::= $ ;\nd = x;\ne ::= [z-a] ;\nf ::: x;\ng ::= \"x\" )\n; h ::= \"x\"",
        expect![[r#"
            a ::= ()
            c ::= ()
            e ::= ()
            g ::= "x"
            h ::= "x"
            g:1:7: error[syntax]: this literal is not closed
              | a ::= "x ;
              |       ^^^^
              help: close it with `"` on the same line; a line break is `\n`
            g:3:7: error[syntax]: expected an item, found `$`
              | c ::= $ ;
              |       ^
              help: an item is a name, text in quotes, a class `[a-z]` or a group
            g:4:3: error[syntax]: expected `::=`, found `=`
              | d = x;
              |   ^
              help: a rule is written `name ::= item item | item ;`
            g:5:7: error[syntax]: this class has a reversed range
              | e ::= [z-a] ;
              |       ^^^^^
              help: the smaller end comes first
            g:6:7: error[syntax]: expected `[`, found `x`
              | f ::: x;
              |       ^
              help: a merge is written `name ::: [name, name];`
            g:7:11: error[syntax]: expected `;`, found `)`
              | g ::= "x" )
              |           ^
              help: a rule is written `name ::= item item | item ;`
            g:8:12: error[syntax]: expected `;`, found the end of the file
              | ; h ::= "x"
              |            ^
              help: a rule is written `name ::= item item | item ;`
        "#]],
    );
}

#[test]
fn files_without_an_extension_of_their_own() {
    let texts = [
        "# of the parser\n<graph> ::= <name> '{' <items> '}'; # no other\n<items> ::= <name> <items> | /* empty */;\n<name> ::= 'a' | ';';\n",
        "# of the parser\ngraph : name '{' items '}' ;\nitems\n  : name items\n  | /* empty */\n  ;\nname : 'a' | ';' ;\n",
    ];
    for text in texts {
        let file = crate::diagnostics::SourceFile::new("parser-based.txt", text);
        assert_eq!(crate::formats::detect(&file).name(), "gram");
        let grammar = testing::parsed(&Gram, text);
        assert_eq!(grammar, "graph ::= name \"{\" items \"}\"\nitems ::= name items | ()\nname ::= \"a\" | \";\"\n");
    }
    for text in [
        "<a> ::= 'b' ;\n",
        "a ::= [#x41-#x5A] /* letters */\n",
        "# a comment\na = 'b' ;\n",
        "/* words */\na ::= 'x' | b b ;\nb ::= [^a-z] ;\n",
    ] {
        assert_ne!(
            crate::formats::detect(&crate::diagnostics::SourceFile::new("g.txt", text)).name(),
            "gram",
            "{text}"
        );
    }
}
