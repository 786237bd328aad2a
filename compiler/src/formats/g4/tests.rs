//! Snapshots of grammars and diagnostics.

mod code;
mod hostile;
mod levels;
mod separators;

use expect_test::{Expect, expect};

use super::G4;
use crate::ast;
use crate::diagnostics::{Code, Diagnostics, SourceFile};
use crate::formats::{Format, FormatOptions, Loader, Surroundings, testing};
use crate::ordered::Map;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&G4, text));
}

/// Files by name.
struct Files(Map<&'static str, &'static str>);

impl Loader for Files {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        let text = self.0.get(name).ok_or("no such file")?;
        Ok(SourceFile::new(name, *text))
    }
}

fn check_files(text: &str, files: &[(&'static str, &'static str)], options: FormatOptions, expected: Expect) {
    let files = Files(files.iter().copied().collect());
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let surroundings = Surroundings { options, loader: &files, ..Surroundings::default() };
    let grammar = G4.parse_within(&file, &surroundings, &mut diagnostics);
    diagnostics.sort();
    expected.assert_eq(&(ast::dump(&grammar) + &diagnostics.to_plain_text(&file)));
}

#[test]
fn rules_literals_and_sets() {
    check(
        r"/** doc */ grammar g; // comment
          start : pair (',' pair)* EOF ;
          pair : STRING ':' value=STRING # labelled | list+=HEX {} ;
          STRING : '\'' (~['\\\r\n] | ESC)* '\'' ;
          fragment ESC : '\\' [btn'\\\]\-] ;
          HEX : '0x' ('0'..'9' | [a-fA-F])+ ;
          WS : [ \t]+ -> skip ;",
        expect![[r#"
            %start start
            start ::= pair ("," pair)*
            pair ::= STRING ":" STRING | HEX
            STRING ::= "'" ([#x20-&(-\[\]-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601] | "\\" ['\-\\\]bnt])* "'"
            HEX ::= "0x" ([0-9] | [A-Fa-f])+
            g:3:65: warning[not-context-free]: an action is left out
              |       pair : STRING ':' value=STRING # labelled | list+=HEX {} ;
              |                                                             ^^
              help: generation goes on without it, so some outputs may not be valid
        "#]],
    );
}

#[test]
fn modes_are_followed() {
    check_files(
        "parser grammar P; options { tokenVocab = L; } start : (TEXT | OPEN NAME (EQ NAME)? CLOSE)* EOF ;",
        &[(
            "L.g4",
            "lexer grammar L; TEXT : ~'<'+ ; OPEN : '<' -> pushMode(TAG) ;
             mode TAG; NAME : [a-z]+ ; EQ : '=' ; WS : ' ' -> skip ; CLOSE : '>' -> popMode ;",
        )],
        FormatOptions::default(),
        expect![[r#"
            %start start
            start ::= ((TEXT | "<" NAME ("=" NAME)? ">") ("<" NAME ("=" NAME)? ">")*)?
            TEXT ::= [#x20-;=-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601]+
            NAME ::= [a-z]+
            g:1:47: warning[ambiguous-boundary]: the lexer may not cut between `TEXT` and `TEXT`
              | parser grammar P; options { tokenVocab = L; } start : (TEXT | OPEN NAME (EQ NAME)? CLOSE)* EOF ;
              |                                               ^^^^^
              help: no hidden rule can stand there; derivations with such neighbours are left out where there are others"#]],
    );
}

#[test]
fn more_and_type_make_one_token_of_several_matches() {
    check_files(
        "parser grammar P; options { tokenVocab = L; } start : STRING+ EOF ;",
        &[(
            "L.g4",
            "lexer grammar L; tokens { STRING } QUOTE : '\"' -> more, mode(STR) ;
             mode STR; CHARS : ~[\"]+ -> more ; END : '\"' -> type(STRING), mode(DEFAULT_MODE) ;",
        )],
        FormatOptions::default(),
        expect![[r#"
            %start start
            start ::= (start.3 "\"")+
            start.3 ::= "\"" (CHARS ())?
            CHARS ::= [#x20!#x23-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601]+
            g:1:47: warning[ambiguous-boundary]: the lexer may not cut between `CHARS` and `CHARS`
              | parser grammar P; options { tokenVocab = L; } start : STRING+ EOF ;
              |                                               ^^^^^
              help: no hidden rule can stand there; derivations with such neighbours are left out where there are others"#]],
    );
}

#[test]
fn surrogates_in_literals_and_ranges() {
    check_files(
        "grammar g; a : A B C '\\uD83D\\uDE00!' EOF ; A : '\\uD83D\\uDE00'..'\\uD83D\\uDE4F' ; B : '\\uD7FE'..'\\uDFFF' ;
         C : '\\u{1F600}x\\u{41}' ;",
        &[],
        FormatOptions::default(),
        expect![[r#"
            %start a
            a ::= A B "\u{1F600}xA" "\u{1F600}!"
            A ::= [#x1F600-#x1F64F]
            B ::= [#xD7FE#xD7FF]
        "#]],
    );
    // Alternatives that need half of a surrogate pair are left out.
    check_files(
        "grammar g; a : A | B | C | 'x\\uD83D' ~'\\uD83D' ; A : 'x\\uD83Dy' | 'a' ; B : [\\uD800-\\uDFFF] | 'b' | [c\\uDC00] ;
         C : '\\uD800'..'\\uDBFF' '\\uDC00'..'\\uDFFF' | ~'\\uD83D' 'c' ;",
        &[],
        FormatOptions::default(),
        expect![[r#"
            %start a
            a ::= A | B | C
            A ::= "a"
            B ::= "b" | [c]
            C ::= [#x20-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601] "c"
            g:1:28: warning[lone-surrogate]: this literal holds half of a surrogate pair
              | grammar g; a : A | B | C | 'x\uD83D' ~'\uD83D' ; A : 'x\uD83Dy' | 'a' ; B : [\uD800-\uDFFF] | 'b' | [c\uDC00] ;
              |                            ^^^^^^^^^
              help: no text holds it, so what needs it is left out; write the character itself, or `\u{1F600}`
            g:1:39: warning[lone-surrogate]: this literal holds half of a surrogate pair
              | grammar g; a : A | B | C | 'x\uD83D' ~'\uD83D' ; A : 'x\uD83Dy' | 'a' ; B : [\uD800-\uDFFF] | 'b' | [c\uDC00] ;
              |                                       ^^^^^^^^
              help: no text holds it, so what needs it is left out; write the character itself, or `\u{1F600}`
            g:1:54: warning[lone-surrogate]: this literal holds half of a surrogate pair
              | grammar g; a : A | B | C | 'x\uD83D' ~'\uD83D' ; A : 'x\uD83Dy' | 'a' ; B : [\uD800-\uDFFF] | 'b' | [c\uDC00] ;
              |                                                      ^^^^^^^^^^
              help: no text holds it, so what needs it is left out; write the character itself, or `\u{1F600}`
            g:1:77: warning[lone-surrogate]: this set has no members but halves of surrogate pairs
              |  | B | C | 'x\uD83D' ~'\uD83D' ; A : 'x\uD83Dy' | 'a' ; B : [\uD800-\uDFFF] | 'b' | [c\uDC00] ;
              |                                                             ^^^^^^^^^^^^^^^
              help: no text holds it, so what needs it is left out; write the character itself, or `\u{1F600}`
            g:2:14: warning[lone-surrogate]: this range has no members but halves of surrogate pairs
              |          C : '\uD800'..'\uDBFF' '\uDC00'..'\uDFFF' | ~'\uD83D' 'c' ;
              |              ^^^^^^^^^^^^^^^^^^
              help: no text holds it, so what needs it is left out; write the character itself, or `\u{1F600}`
            g:2:33: warning[lone-surrogate]: this range has no members but halves of surrogate pairs
              |          C : '\uD800'..'\uDBFF' '\uDC00'..'\uDFFF' | ~'\uD83D' 'c' ;
              |                                 ^^^^^^^^^^^^^^^^^^
              help: no text holds it, so what needs it is left out; write the character itself, or `\u{1F600}`
            g:2:55: warning[lone-surrogate]: this literal holds half of a surrogate pair
              |          C : '\uD800'..'\uDBFF' '\uDC00'..'\uDFFF' | ~'\uD83D' 'c' ;
              |                                                       ^^^^^^^^
              help: no text holds it, so what needs it is left out; write the character itself, or `\u{1F600}`"#]],
    );
}

#[test]
fn rules_that_refer_to_themselves_at_one_end_are_loops() {
    check(
        "grammar g; a : 'each' 'section' ID MORE EOF ; ID : PART ; fragment PART : [a-z] PART? ;
         MORE : '#' EVEN ; fragment EVEN : [01] ODD | '.' ; fragment ODD : [01] EVEN ; WS : ' ' -> skip ;",
        expect![[r#"
            %start a
            a ::= "each" (" " "section") (" " ID) MORE
            ID.part.2 ::= [a-df-z] [a-z]* @ 25 | [e] ([abd-z] [a-z]* @ 25 | [c] ([a-su-z] [a-z]* @ 25 | [t] ([a-hj-z] [a-z]* @ 25 | [i] ([a-np-z] [a-z]* @ 25 | [o] ([a-mo-z] [a-z]* @ 25 | [n] ID.part.3 @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26
            ID.part.3 ::= [a-z] [a-z]*
            ID.part ::= [b-z] [a-z]* @ 25 | [a] ([abd-z] [a-z]* @ 25 | [c] ([a-gi-z] [a-z]* @ 25 | [h] ID.part.3 @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26
            ID ::= [a-df-rt-z] [a-z]* @ 24 | [e] ID.part @ 1 | [s] ID.part.2 @ 1
            MORE.part ::= ([01] [01])* [.]
            MORE ::= [#x23] MORE.part
        "#]],
    );
    check(
        "grammar g; a : LEFT+ REST+ BOTH+ STAR+ EOF ; LEFT : [a-z] | LEFT [a-z0-9] ; REST : '!' | '?' REST ;
         BOTH : '<' BOTH | BOTH '>' | '-' ; STAR : '+' STAR* ; WS : ' ' -> skip ;",
        expect![[r#"
            %start a
            a ::= (LEFT (" " LEFT)*) REST+ BOTH+ (STAR (" " STAR)*)
            LEFT ::= [a-z] [0-9a-z]*
            REST ::= [?] [?]* [!] @ 1 | [!] @ 1
            BOTH ::= [<] [<]* [\-] [>]* @ 1 | [\-] [>]* @ 1
            STAR ::= [+] [+]*
        "#]],
    );
}

#[test]
fn what_nests_is_cut_and_reported() {
    check(
        "grammar g; a : (NAME | '-' | LIST)+ EOF ; NAME : [a-z]+ ; LIST : '(' (LIST | NAME)* ')' ;
         COMMENT : '{-' (COMMENT | ~[{}])* '-}' -> skip ; WS : ' ' -> skip ;",
        expect![[r#"
            %start a
            a ::= (NAME | "-" | LIST) (" " NAME | "-" | LIST)*
            NAME ::= [a-z]+
            LIST.2 ::= "(" (LIST.2 | [a-z]+)* ")"
            LIST ::= "(" (LIST.2 | [a-z]+)* ")"
            g:1:59: warning[cut-recursion]: texts of `COMMENT`, `LIST` that nest deeper than 3 levels are not looked at
              | grammar g; a : (NAME | '-' | LIST)+ EOF ; NAME : [a-z]+ ; LIST : '(' (LIST | NAME)* ')' ;
              |                                                           ^^^^
              help: no automaton knows a rule that nests in itself; where tokens are told from one another, what nests deeper is taken to match nothing
        "#]],
    );
}

#[test]
fn a_start_rule_that_leaves_its_mode_keeps_its_name() {
    // The choices among many tokens, and among the lexer's states after them, were once taken for the start.
    let parser = "parser grammar P; options { tokenVocab = L; } sheet : statement* ;
        statement : (A | B | C | D | E | F | G | H | I | J) (OPEN | STAY) | block ; block : (STAY | CLOSE) sheet ;";
    let lexer =
        "lexer grammar L; OPEN : '(' -> pushMode(IN) ; STAY : '.' ; A : 'a' ; B : 'b' ; C : 'c' ; D : 'd' ; E : 'e' ;
        F : 'f' ; G : 'g' ; H : 'h' ; I : 'i' ; J : 'j' ; mode IN ; CLOSE : ')' -> popMode ; IN_A : 'a' -> type(A) ;";
    let file = SourceFile::new("P.g4", parser);
    let options = crate::Options {
        format: crate::formats::by_name("g4"),
        start: Some("sheet".to_string()),
        loader: Some(std::sync::Arc::new(Files(Map::from([("L.g4", lexer)])))),
        ..crate::Options::default()
    };
    let found = crate::examine(&file, &options);
    let (Ok((_, said)) | Err(said)) = &found;
    let said = said.to_plain_text(&file);
    let Ok((examined, _)) = &found else { panic!("{said}") };
    assert!(!said.contains("sheet.") && !said.contains("block."), "{said}");
    assert!(
        !examined.critical.is_empty() && examined.critical.iter().all(|name| !name.contains('.')),
        "{:?}",
        examined.critical
    );
}

#[test]
fn a_parser_takes_the_lexer_that_it_names() {
    let own = ("AParser.g4", "parser grammar AParser; options { tokenVocab = ALexer; } a : X ;");
    let other = ("AParser.g4", "parser grammar AParser; options { tokenVocab = BLexer; } a : X ;");
    let lexer = ("BLexer.g4", "lexer grammar BLexer; X : 'b' ;");
    let text = "lexer grammar ALexer; X : 'x' | 'y' ; Y : 'z' ;";
    check_files(
        text,
        &[own, lexer],
        FormatOptions::default(),
        expect![[r#"
        %start a
        a ::= X
        X ::= "x" | "y"
    "#]],
    );
    check_files(
        text,
        &[other, lexer],
        FormatOptions::default(),
        expect![[r#"
        %start X
        X ::= X.2
        X.2 ::= "x" | "y"
    "#]],
    );
    check_files(
        "parser grammar AParser; options { tokenVocab = B; } a : X ;",
        &[("B.g4", "parser grammar B; a : X ;")],
        FormatOptions::default(),
        expect![[r#"
            g:1:48: error[missing-file]: `B.g4` is the grammar of a parser, not of a lexer
              | parser grammar AParser; options { tokenVocab = B; } a : X ;
              |                                                ^
              help: `options { tokenVocab = ...; }` names the file with `lexer grammar`"#]],
    );
}

#[test]
fn imports_and_missing_files() {
    let files = [("B.g4", "grammar B; b : 'b' ; a : 'not this' ; X : 'x' ; b2 : ( ;")];
    check_files(
        "grammar A; import B; a : b X ;",
        &files,
        FormatOptions::default(),
        expect![[r#"
        g:1:19: error[syntax]: B.g4:1:54: this block is not closed
          | grammar A; import B; a : b X ;
          |                   ^
          help: close it with `)`"#]],
    );
    check_files(
        "grammar A; import C; a : 'x' ;",
        &[],
        FormatOptions::default(),
        expect![[r#"
        g:1:19: error[missing-file]: the imported grammar `C.g4` cannot be read: no such file
          | grammar A; import C; a : 'x' ;
          |                   ^
          help: an imported grammar stands beside the file that imports it"#]],
    );
    check_files(
        "parser grammar AParser; a : X ;",
        &[],
        FormatOptions::default(),
        expect![[r#"
        g:1:16: error[missing-file]: the lexer grammar `ALexer.g4` cannot be read: no such file
          | parser grammar AParser; a : X ;
          |                ^^^^^^^
          help: it stands beside the parser grammar, and `options { tokenVocab = ...; }` names it"#]],
    );
}

#[test]
fn what_is_not_context_free_is_reported() {
    let text = "grammar g; options { superClass = Base; caseInsensitive = true; } @header { import x; }
        start [int n] returns [int m] locals [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
        catch [E e] { } finally { }
        x : Y ; Y : 'y' ; Z : 'z' -> channel(HIDDEN) ;";
    check_files(
        text,
        &[],
        FormatOptions::default(),
        expect![[r#"
        %start start
        start ::= 'ab' (x | Y)
        x ::= Y
        'ab' ::= [Aa] [Bb]
        Y ::= [Yy]
        g:1:22: warning[not-context-free]: the superclass `Base` is left out
          | grammar g; options { superClass = Base; caseInsensitive = true; } @header { import x; }
          |                      ^^^^^^^^^^^^^^^^^
          help: generation goes on without it, so some outputs may not be valid
        g:2:15: warning[not-context-free]: the arguments of `start` is left out
          |         start [int n] returns [int m] locals [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
          |               ^^^^^^^
          help: generation goes on without it, so some outputs may not be valid
        g:2:23: warning[not-context-free]: `returns` of `start` is left out
          |         start [int n] returns [int m] locals [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
          |                       ^^^^^^^^^^^^^^^
          help: generation goes on without it, so some outputs may not be valid
        g:2:39: warning[not-context-free]: `locals` of `start` is left out
          |         start [int n] returns [int m] locals [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
          |                                       ^^^^^^^^^^^^^^
          help: generation goes on without it, so some outputs may not be valid
        g:2:54: warning[not-context-free]: the action `@init` is left out
          |         start [int n] returns [int m] locals [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
          |                                                      ^^^^^
          help: generation goes on without it, so some outputs may not be valid
        g:2:80: warning[not-context-free]: an action is left out
          | n] returns [int m] locals [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
          |                                                             ^^^^^^^^^^
          help: generation goes on without it, so some outputs may not be valid
        g:2:92: warning[not-context-free]: a predicate is left out
          | int m] locals [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
          |                                                             ^^^^^^^^^^
          help: generation goes on without it, so some outputs may not be valid
        g:2:104: warning[not-context-free]: the arguments of `x` is left out
          | s [int k] @init { k = '}'; } : 'ab' { act(); } ({ n > 0 }? x[1] | Y) EOF ;
          |                                                             ^^^
          help: generation goes on without it, so some outputs may not be valid"#]],
    );
    let strict = FormatOptions { strict: true, ..FormatOptions::default() };
    check_files(
        "grammar g; a : { act(); } 'x' ;",
        &[],
        strict,
        expect![[r#"
        g:1:16: error[not-context-free]: an action is left out
          | grammar g; a : { act(); } 'x' ;
          |                ^^^^^^^^^^
          help: a context-free grammar cannot say it; without `--strict` generation goes on without it"#]],
    );
}

#[test]
fn names_that_are_not_defined() {
    check(
        "grammar g; start : begin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;",
        expect![[r#"
            g:1:20: error[undefined-rule]: rule `begin` is not defined
              | grammar g; start : begin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;
              |                    ^^^^^
              help: did you mean `begn`?
            g:1:26: warning[undefined-token]: no lexer rule makes the token `X`
              | grammar g; start : begin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;
              |                          ^
              help: code outside of the grammar may make it; what needs it is left out, unless a file of tokens defines it
            g:1:28: warning[undefined-token]: no lexer rule makes the token `Y`
              | grammar g; start : begin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;
              |                            ^
              help: code outside of the grammar may make it; what needs it is left out, unless a file of tokens defines it
            g:1:32: warning[unreachable-rule]: rules cannot be reached from `start`, the first of the parser: `begn`
              | grammar g; start : begin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;
              |                                ^^^^
              help: choose the start rule with `--start`
            g:1:68: error[undefined-rule]: the lexer rule `W` is not defined
              |  g; start : begin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;
              |                                                             ^
              help: rules of the lexer refer to other rules of the lexer, whose names begin with a capital
            g:1:73: error[undefined-rule]: the mode `M` is not defined
              | tart : begin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;
              |                                                             ^^^^
              help: a mode begins with `mode Name;` in the lexer
            g:1:82: error[unknown-directive]: unknown lexer command `fly`
              | gin X Y ; begn : 'x' ; fragment X : 'x' ; Z : W -> mode(M), fly ;
              |                                                             ^^^
              help: known are skip, more, channel, type, mode, pushMode, popMode
        "#]],
    );
    check(
        "grammar g; start : ~X . 'a' EOF ; other : 'b' EOF ; X : 'x' ; Y : 'x' ; Z : 'q' ;",
        expect![[r#"
        %start start
        start ::= ("q" | "a" | "b") ("x" | "q" | "a" | "b") "a"
        g:1:35: warning[unreachable-rule]: rules cannot be reached from `start`, the first of the parser: `other`
          | grammar g; start : ~X . 'a' EOF ; other : 'b' EOF ; X : 'x' ; Y : 'x' ; Z : 'q' ;
          |                                   ^^^^^
          help: `other` ends with `EOF`; choose it with `--start other` if it is the start
    "#]],
    );
}

#[test]
fn syntax_errors() {
    check(
        "grammar g start : 'x' ;",
        expect![[r#"
        g:1:11: error[syntax]: unexpected `start`
          | grammar g start : 'x' ;
          |           ^^^^^
          help: `;` should stand here
    "#]],
    );
    check(
        "grammar g; start : 'x ; next : ('y' ;",
        expect![[r#"
        g:1:35: error[syntax]: this literal is not closed
          | grammar g; start : 'x ; next : ('y' ;
          |                                   ^^^
          help: close it with `'` on the same line
    "#]],
    );
    check(
        "grammar g; start : X ; X : [z-a] ~'ab' '\\u{110000}' ; Y : [\\p{Nope}] ;",
        expect![[r#"
        g:1:28: error[syntax]: the bounds of this range are reversed
          | grammar g; start : X ; X : [z-a] ~'ab' '\u{110000}' ; Y : [\p{Nope}] ;
          |                            ^^^^^
          help: a set is written `[a-z_\u00E0\p{Lu}]`; `]`, `\` and `-` have a backslash in it
        g:1:59: error[syntax]: the Unicode property `Nope` is not known
          | grammar g; start : X ; X : [z-a] ~'ab' '\u{110000}' ; Y : [\p{Nope}] ;
          |                                                           ^^^^^^^^^^
          help: a set is written `[a-z_\u00E0\p{Lu}]`; `]`, `\` and `-` have a backslash in it
    "#]],
    );
    check(
        "start ::= 'x'",
        expect![[r#"
        g:1:1: error[syntax]: unexpected `start`
          | start ::= 'x'
          | ^^^^^
          help: `grammar Name;` should stand here
    "#]],
    );
}

#[test]
fn rules_are_told_by_the_names_of_the_grammar() {
    let text = "lexer grammar TLexer; A : 'a' -> pushMode(M) ; ID : [a-z]+ ; WS : ' ' -> skip ;
        mode M; B : 'b' -> popMode ; C : [c-z]+ -> type(ID) ;";
    let parser = SourceFile::new("g.g4", "parser grammar TParser; s : x A x B x ; x : ID ('b' | s)? ;");
    let options = crate::Options {
        loader: Some(std::sync::Arc::new(Files(Map::from([("TLexer.g4", text)])))),
        ..crate::Options::default()
    };
    let (compiled, _) = crate::compile(&parser, &options).expect("it compiles");
    let mut shown = String::new();
    for (rule, _) in compiled.lowered.bodies() {
        let part = if compiled.is_part(rule) { ", a part" } else { "" };
        shown += &format!("{}: {}{part}\n", compiled.lowered.rule(rule).name, compiled.told(rule));
    }
    expect![[r#"
        s: s
        x: x
        x.3: x
        s.2: s
        x.2: x
        ID.part: ID, a part
        ID: ID
        C: C
    "#]]
    .assert_eq(&shown);
}

#[test]
fn tokens_that_another_file_defines() {
    let combined =
        "grammar G;\ntokens { INDENT }\ns : 'if' ID INDENT ID | OTHER ;\nID : [a-z]+ ;\nWS : ' ' -> skip ;\n";
    let tokens = [("tokens.ebnf", "INDENT ::= '{' blank*\nblank ::= '_'\nID ::= 'never'\n")];
    expect![[r#"
        %start s
        s ::= "if" (" " ID) INDENT ID
        ID.part ::= [a-eg-z] [a-z]* @ 25 | [f] [a-z] [a-z]* @ 1 | () @ 26
        ID ::= [a-hj-z] [a-z]* @ 25 | [i] ID.part @ 1
        INDENT ::= "{" "_"*
        g:3:25: warning[undefined-token]: no lexer rule makes the token `OTHER`
          | s : 'if' ID INDENT ID | OTHER ;
          |                         ^^^^^
          help: code outside of the grammar may make it; what needs it is left out, unless a file of tokens defines it
    "#]]
    .assert_eq(&testing::parsed_with(&G4, combined, &tokens));
}
