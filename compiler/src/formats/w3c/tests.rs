//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::W3c;
use crate::formats::testing;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&W3c, text));
}

#[test]
fn the_notation_of_xml() {
    check(
        "/* from a specification */\n[1]  document ::= prolog element* [ wfc: Well-Formed ]\n[2a] prolog ::= '\\' \"'\" #x20+ [^<&#x41-#x43-]? /* the end */\n\
         [3] element ::= '<' Name '>' | PI\n[4] Name ::= [A-Za-z_:] [a-z]*\n[5] PI ::= '<?' Target (' ' (Char* - (Char* '?>' Char*)))? '?>'\n\
         [6] Target ::= Name - (('X' | 'x') ('M' | 'm') ('L' | 'l'))\n[7] Char ::= [a-z?>] - 'y'\n",
        expect![[r#"
            %start document
            document ::= prolog element*
            prolog ::= "\\" "'" [#x20]+ [#x09#x0A#x0D#x20-%'-,.-;=-@D-#xD7FF#xE000-#xFFFD#x10000-#x10FFFF]?
            element ::= "<" Name ">" | PI
            Name ::= [:A-Z_a-z] [a-z]*
            PI ::= "<?" Target (" " (([>a-xz] | [?] [?]* [a-xz])* (() | [?] [?]*)))? "?>"
            Target ::= [:A-WYZ_a-wyz] [a-z]* | [Xx] (() | [m] | ([a-ln-z] | [m] ([a-km-z] | [l] [a-z])) [a-z]*)
            Char ::= [>?a-xz]
        "#]],
    );
}

#[test]
fn blanks_are_implied_between_tokens() {
    check(
        "doc ::= (statement '.')*\nstatement ::= 'let' name '=' name name? | VAR '-' VAR\nname ::= NAME\n\n@terminals\n\n\
         NAME ::= [a-z]+\nVAR ::= '?' NAME\nWS ::= #x9 | #xA\n\n@pass WS\n",
        expect![[r#"
            %start doc
            doc ::= (statement ".")*
            statement ::= "let" name "=" name name? | VAR "-" VAR
            name ::= "\n" NAME
            NAME ::= [a-z]+
            VAR ::= "?" NAME
            WS ::= [#x09] | [#x0A]
        "#]],
    );
    check(
        "[1] Expr ::= Step ('div' Step)*\n[2] Step ::= Name | Literal | Direct\n[3] Name ::= [a-z] [a-z]* /* ws: explicit */\n\
         [4] Literal ::= '\"' [^\"]* '\"' /* ws: explicit */\n[5] Direct ::= '<' Name '{' Expr '}' /* ws: explicit */\n",
        expect![[r#"
            %start Expr
            Expr ::= Step ((" " "div") Step)*
            Step ::= " " Name | Literal | Direct
            Direct ::= "<" Name "{" Expr "}"
            Name ::= [a-z] [a-z]*
            Literal ::= "\"" [#x09#x0A#x0D#x20!#x23-#xD7FF#xE000-#xFFFD#x10000-#x10FFFF]* "\""
        "#]],
    );
    check(
        "Doc ::= A B\nB ::= 'b'+ <?TOKENS?> A ::= [a-b]+ <?ENCORE?> anything = goes",
        expect![[r#"
        %start Doc
        Doc ::= A B
        B ::= (" " "b")+
        A ::= [ab]+
    "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "a ::= 'x\nb ::= ( 'x' 'y'\nc = 'x'\nd ::= [z-a]\ne ::= #x110000\nf ::= [http://www.w3.org/TR/REC-xml#NT-Char]\ng ::= [a\nh ::= a - %\ni ::= /* x",
        expect![[r#"
            %start i
            i ::= ()
            g:1:7: error[syntax]: this literal is not closed
              | a ::= 'x
              |       ^
              help: close it with `'` on its line; nothing is escaped in it
            g:3:3: error[syntax]: expected an item, found `=`
              | c = 'x'
              |   ^
              help: an item is text in quotes, a class `[a-z]`, a character `#x41`, a name, or a group in parentheses
            g:4:8: error[syntax]: this is no range
              | d ::= [z-a]
              |        ^^^
              help: the smaller end comes first; a minus that is a member comes last
            g:5:7: error[syntax]: this is no character
              | e ::= #x110000
              |       ^^^^^^^^
              help: a character is written `#x41`, up to `#x10FFFF`
            g:6:7: error[syntax]: rules of another specification are not read: http://www.w3.org/TR/REC-xml#NT-Char
              | f ::= [http://www.w3.org/TR/REC-xml#NT-Char]
              |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: write the rule out in this file
            g:7:7: error[syntax]: this class is not closed
              | g ::= [a
              |       ^
              help: close it with `]` on its line
            g:8:11: error[syntax]: expected an item, found `%`
              | h ::= a - %
              |           ^
              help: an item is text in quotes, a class `[a-z]`, a character `#x41`, a name, or a group in parentheses
            g:9:7: error[syntax]: this comment is not closed
              | i ::= /* x
              |       ^^
              help: close it with `*/`
        "#]],
    );
    check(
        "a ::= b - c\nb ::= 'x' b? \nc ::= 'y'\n",
        expect![[r#"
        %start a
        a ::= b
        b ::= "x" b?
        c ::= "y"
        g:1:7: warning[not-context-free]: a difference is read as its left side
          | a ::= b - c
          |       ^^^^^
          help: it is computed if both sides are regular and not too large, and something is left
    "#]],
    );
}

#[test]
fn the_marks_of_specifications_tell_it_from_other_notations() {
    use crate::diagnostics::SourceFile;
    use crate::formats::recognise;

    for (name, text, format) in [
        ("a.ebnf", "a ::= B\n@terminals\nB ::= 'b'\n", "w3c"),
        ("a.bnf", "a ::= B\n@terminals\nB ::= 'b'\n", "w3c"),
        ("a.ebnf", "a ::= b [VC: a constraint]\nb ::= 'x'\n", "w3c"),
        ("a.ebnf", "a ::= b /* ws: explicit */\nb ::= 'x'\n", "w3c"),
        ("a.w3c", "a ::= 'x'\n", "ebnf"),
        ("a.ebnf", "a ::= [a: b]\n", "ebnf"),
        ("a.bnf", "<a> ::= <b>\n<b> ::= 'x'\n", "bnf"),
    ] {
        let found = recognise(&SourceFile::new(name, text));
        assert_eq!((found.format.name(), found.finding.is_none()), (format, true), "{text}");
    }
}

#[test]
fn the_end_of_a_line_is_no_blank_where_it_is_a_token() {
    check(
        "doc ::= (triple EOL)*\ntriple ::= NAME NAME STRING '.'\n@terminals\nNAME ::= [a-z]+\nSTRING ::= '\"' [^\"#xA]* '\"'\nEOL ::= [#xD#xA]+\n",
        expect![[r#"
            %start doc
            doc ::= (triple EOL)*
            triple ::= NAME (" " NAME) STRING (" " ".")
            NAME ::= [a-z]+
            STRING ::= "\"" [#x09#x0D#x20!#x23-#xD7FF#xE000-#xFFFD#x10000-#x10FFFF]* "\""
            EOL ::= [#x0A#x0D]+
        "#]],
    );
}

#[test]
fn brackets_in_texts_and_classes_are_no_constraints() {
    let is_marked = super::is_marked;
    for text in ["log ::= \"[err: \" msg", "log ::= [err: ]+", "log ::= x | [ns: a]", "a ::= '/* ws: explicit */'"] {
        assert!(!is_marked(text), "{text}");
    }
    for text in ["a ::= b [wfc: Entity Declared]", "a ::= \"x\"\n/* ws: explicit */\n", "a ::= (b | [c]) [vc: D]"] {
        assert!(is_marked(text), "{text}");
    }
    assert!(!is_marked(&"[".repeat(300_000)));
}
