//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Peg;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Peg, text));
}

#[test]
fn the_notation_of_the_paper() {
    check(
        "# Hierarchical syntax\nGrammar    <- Spacing Definition+ EndOfFile\nDefinition <- Identifier LEFTARROW Identifier\n\n\
         Identifier <- IdentStart IdentCont* Spacing\nIdentStart <- [a-zA-Z_]\nIdentCont  <- IdentStart / [0-9]\n\
         LEFTARROW  <- '<-' Spacing\nSpacing    <- (Space / Comment)*\nComment    <- '#' (!EndOfLine .)* EndOfLine\n\
         Space      <- ' ' / '\\t' / EndOfLine\nEndOfLine  <- '\\r\\n' / '\\n' / '\\r'\nEndOfFile  <- !.\n",
        expect![[r##"
            %start Grammar
            Grammar ::= Spacing Definition.1 EndOfFile
            Definition ::= Identifier LEFTARROW Identifier
            Identifier ::= IdentStart IdentCont* Spacing
            IdentStart ::= [A-Z_a-z]
            IdentCont ::= IdentStart | [0-9]
            LEFTARROW ::= "<-" Spacing
            Spacing ::= ((Space.2 | Comment.1) (Space.1 | Comment.1)*)?
            Comment ::= "#" [#x09#x20-~]* EndOfLine
            Space ::= " " | "\t" | EndOfLine
            EndOfLine ::= "\r\n" | "\n" | "\r"
            EndOfFile ::= ()
            EndOfLine.1 ::= "\r\n" | "\r"
            Space.1 ::= " " | "\t" | EndOfLine.1
            EndOfLine.2 ::= "\r\n" | "\n" | "\r"
            Comment.1 ::= "#" [#x09#x20-~]* EndOfLine.2
            Space.2 ::= " " | "\t" | EndOfLine.2
            Spacing.1 ::= (Space.2 | Comment.1) (Space.1 | Comment.1)*
            Identifier.1 ::= IdentStart IdentCont* Spacing.1
            Definition.1 ::= Identifier LEFTARROW Identifier.1
        "##]],
    );
}

#[test]
fn generators_that_follow_the_paper() {
    check(
        "%{ #include <a.h> %}\na <- < [a-z]+ > { puts(yytext); } / '\\101\\]' b:c? / ;\nc ← &{ d } \"x\" @{ e; }\n%%\nint main() {}\n",
        expect![[r#"
            %start a
            a ::= [a-z]+ | "A]" c? | ()
            c ::= "x"
            g:3:5: warning[not-context-free]: a predicate of code is left out
              | c ← &{ d } "x" @{ e; }
              |     ^^^^^^
              help: a grammar cannot run code, so texts may be drawn that it refuses; write the condition as `&term` or `!term`
        "#]],
    );
    check(
        "package main\n\ntype Calculator Peg {\n Expression\n}\n\ne <- 'x' / 'y'\n",
        expect![[r#"
        %start e
        e ::= "x" | "y"
    "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "a <- 'x\nb <- (c\nd - 'x'\ne <- [a\nf <- %",
        expect![[r#"
        g:1:6: error[syntax]: this literal is not closed
          | a <- 'x
          |      ^
          help: close it with `'` on its line; a line end in it is `\n`
        g:3:3: error[syntax]: expected a term, found `-`
          | d - 'x'
          |   ^
          help: a term is text in quotes, a class `[a-z]`, `.`, a name, or a group in parentheses
        g:4:6: error[syntax]: this class is not closed
          | e <- [a
          |      ^
          help: close it with `]` on its line
        g:5:6: error[syntax]: expected a term, found `%`
          | f <- %
          |      ^
          help: a term is text in quotes, a class `[a-z]`, `.`, a name, or a group in parentheses
    "#]],
    );
}
