//! Tests of the tokens that stand side by side, and of what separates them.

use super::*;

#[test]
fn identifiers_are_no_keywords() {
    check(
        "grammar g; start : ('if' ID ID | ID '=' INT)+ EOF ; ID : [a-z]+ ; INT : [0-9]+ ; WS : [ \\n] -> skip ;",
        expect![[r#"
            %start start
            start ::= ("if" (separator ID) (separator ID) | ID "=" INT) ((separator "if") (separator ID) (separator ID) | (separator ID) "=" INT)*
            separator ::= " " @ 7 | "\n" @ 1
            ID.part ::= [a-eg-z] [a-z]* @ 25 | [f] [a-z] [a-z]* @ 1 | () @ 26
            ID ::= [a-hj-z] [a-z]* @ 25 | [i] ID.part @ 1
            INT ::= [0-9]+
        "#]],
    );
}

#[test]
fn a_lazy_repetition_ends_with_its_first_delimiter() {
    check(
        "grammar g; start : COMMENT EOF ; COMMENT : '/*' .*? '*/' ;",
        expect![[r#"
        %start start
        start ::= COMMENT
        COMMENT.part ::= [*] COMMENT.part.2
        COMMENT.part.2 ::= ([#x20-)+-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601] @ 104 | [*] [*]* [#x20-)+-.0-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601] @ 1)* [*] [*]* [/]
        COMMENT ::= [/] COMMENT.part
    "#]],
    );
}

#[test]
fn separators_end_what_may_go_on() {
    // The lexer would continue after `1` if `.5` followed, and after `{` up to the closing brace.
    check(
        "grammar g; start : INT '.' INT '{' INT EOF ; INT : [0-9]+ ; REAL : [0-9]+ '.' [0-9]+ ;
         TEXT : '{' ~[\\n}]* '}' ; WS : [ \\n] -> skip ;",
        expect![[r#"
            %start start
            start ::= INT (separator ".") INT "{" ("\n" INT)
            INT ::= [0-9]+
            separator ::= " " @ 7 | "\n" @ 1
        "#]],
    );
}

#[test]
fn a_separator_is_made_that_ends_what_blanks_do_not() {
    // A string may contain everything up to the next quote, except the beginnings of comments.
    check(
        "grammar g; start : STRING* EOF ; STRING : '\\'' [a-z' \\n/*]* '\\'' ; COMMENT : '/*' .*? '*/' -> skip ;
         WS : [ \\n] -> skip ;",
        expect![[r#"
            %start start
            start ::= (STRING ("/*!*/" STRING)*)?
            STRING ::= "'" [#x0A#x20'*/a-z]* "'"
        "#]],
    );
}

#[test]
fn texts_are_kept_that_can_be_ended() {
    // A name that begins with `c` would be a comment, as would everything after a star.
    check(
        "grammar g; start : (NAME ('*' NAME)? '=' NAME NL)+ EOF ; NL : '\\n' ; NAME : [a-z]+ ;
         COMMENT : [c*] ~'\\n'* '\\n' -> skip ; WS : ' ' -> skip ;",
        expect![[r#"
            %start start
            start ::= (NAME () "=" NAME "\n")+
            NAME ::= [abd-z] [a-z]*
            g:1:12: warning[ambiguous-boundary]: the lexer may go on after `'*'`, whatever follows
              | grammar g; start : (NAME ('*' NAME)? '=' NAME NL)+ EOF ; NL : '\n' ; NAME : [a-z]+ ;
              |            ^^^^^
              help: another lexer rule begins with the same characters, and no hidden rule can stand there that would end it; what needs these tokens is left out
        "#]],
    );
}

#[test]
fn parts_of_a_token_begin_with_what_ends_other_matches() {
    check(
        r#"grammar g; start : TEXT* EOF ; TEXT : '""" ' .*? '"""' ; OPEN : '"' -> more, mode(IN) ; WS : ' ' -> skip ;
           mode IN; PART : ('""' ' '? | [a-z]) -> more ; CLOSE : '"' -> type(TEXT), mode(DEFAULT_MODE) ;"#,
        expect![[r#"
            %start start
            start ::= ((start.2 TEXT | start.3 "\"") (start.2 (" " TEXT) | start.3.2 "\"")*)?
            start.2 ::= ()
            start.3 ::= "\"" (PART PART.2*)?
            start.3.2 ::= (" " "\"") (PART PART.2*)?
            TEXT.part ::= ["] ["] [#x20] TEXT.part.2
            TEXT.part.2 ::= ([#x20!#x23-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601] @ 104 | ["] ([#x20!#x23-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601] @ 104 | ["] [#x20!#x23-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601] @ 1) @ 1)* ["] ["] ["]
            TEXT ::= ["] TEXT.part
            PART ::= [a-z]
            PART.2 ::= "\"\"" " "? | [a-z]
        "#]],
    );
}

#[test]
fn what_cannot_be_separated_begins_otherwise() {
    check(
        "grammar g; start : (WORD | NL)+ EOF ; WORD : ~[\\n]+ ; NL : '\\r'? '\\n' ;",
        expect![[r#"
            %start start
            start ::= (WORD | NL) NL.2*
            WORD ::= [#x20-~#xC4#xE9#xEA#x3B1#x3B2#x416#x20AC#x4E2D#x1F600#x1F601]+
            NL ::= "\r"? "\n"
            NL.2 ::= [#x0A]
            g:1:12: warning[ambiguous-boundary]: the lexer may not cut between `WORD` and `NL`, `WORD` and `WORD`
              | grammar g; start : (WORD | NL)+ EOF ; WORD : ~[\n]+ ; NL : '\r'? '\n' ;
              |            ^^^^^
              help: no hidden rule can stand there; derivations with such neighbours are left out where there are others
        "#]],
    );
}

#[test]
fn hidden_rules_that_nest_leave_the_others_of_their_mode_comparable() {
    check(
        "grammar g; a : (NAME | 'select' | NUMBER | '/' | '*')+ EOF ; NAME : [a-z]+ ; NUMBER : [0-9]+ ;
         HINT : SHOWN | HIDDEN_HINT ; SHOWN : '/*+' (HINT | .)*? '*/' -> channel(HIDDEN) ;
         HIDDEN_HINT : '/*' (HINT | .)*? '*/' -> channel(HIDDEN) ; WS : [ \\n]+ -> skip ;",
        expect![[r#"
            %start a
            a ::= (NAME | "select" | NUMBER | "/" | "*") (separator NAME | separator "select" | separator NUMBER | "/" | separator "*")*
            NAME.part ::= [a-df-z] [a-z]* @ 25 | [e] ([a-km-z] [a-z]* @ 25 | [l] ([a-df-z] [a-z]* @ 25 | [e] ([abd-z] [a-z]* @ 25 | [c] ([a-su-z] [a-z]* @ 25 | [t] [a-z] [a-z]* @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26
            NAME ::= [a-rt-z] [a-z]* @ 25 | [s] NAME.part @ 1
            NUMBER ::= [0-9]+
            separator ::= " " @ 7 | "\n" @ 1
        "#]],
    );
}

#[test]
fn what_separates_is_not_optional_where_nothing_else_can() {
    check(
        "grammar g; s : 'attribute' WS? 'name' (WS? (ID | '='))* WS? EOF ; ID : [a-z]+ ; WS : ' '+ ;",
        expect![[r#"
        %start s
        s ::= "attribute" WS "name" ("=" | WS (ID.2 | "="))* WS?
        WS ::= " "+
        ID.2.part.2 ::= [b-z] [a-z]* @ 25 | [a] ([a-ln-z] [a-z]* @ 25 | [m] ID.2.part.3 @ 1 | () @ 26) @ 1 | () @ 26
        ID.2.part.3 ::= [a-df-z] [a-z]* @ 25 | [e] [a-z] [a-z]* @ 1 | () @ 26
        ID.2.part ::= [a-su-z] [a-z]* @ 25 | [t] ([a-su-z] [a-z]* @ 25 | [t] ([a-qs-z] [a-z]* @ 25 | [r] ([a-hj-z] [a-z]* @ 25 | [i] ([ac-z] [a-z]* @ 25 | [b] ([a-tv-z] [a-z]* @ 25 | [u] ([a-su-z] [a-z]* @ 25 | [t] ID.2.part.3 @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26) @ 1 | () @ 26
        ID.2 ::= [a] ID.2.part @ 1 | [b-mo-z] [a-z]* @ 24 | [n] ID.2.part.2 @ 1
        g:1:12: warning[ambiguous-boundary]: the lexer may not cut between `'attribute'` and `'name'`, `'name'` and `ID`, `ID` and `ID`
          | grammar g; s : 'attribute' WS? 'name' (WS? (ID | '='))* WS? EOF ; ID : [a-z]+ ; WS : ' '+ ;
          |            ^
          help: no hidden rule can stand there; derivations with such neighbours are left out where there are others
    "#]],
    );
}

#[test]
fn what_is_separated_in_different_ways_with_and_without_an_option_is_written_twice() {
    // A blank before `#` belongs to its match, so `#` cannot stand after `WS`.
    check(
        "grammar g; start : 'let' WS? 'x' WS? '=' EOF ; M : WS? '#' -> skip ; WS : ' '+ ; ID : [a-z]+ ;",
        expect![[r##"
            %start start
            start ::= "let" (("#" "x") WS? "=" | WS "x" WS? "=")
            WS ::= " "+
        "##]],
    );
}

#[test]
fn hidden_matches_may_lead_through_other_modes() {
    let options = FormatOptions::of_others();
    let lexer = "lexer grammar gLexer; A : 'a' ; WS : ' ' -> skip ; OPEN : '/*' -> skip, pushMode(C) ; \
                 HASH : '#' -> skip, pushMode(D) ; mode C ; MORE : '/*' -> skip, pushMode(C) ; \
                 END : '*/' -> skip, popMode ; ANY : . -> skip ; mode D ; DEF : 'd' -> skip, mode(E) ; \
                 mode E ; TEXT : ~[\\n]+ -> skip ; LINE : '\\n' -> skip, popMode ;";
    let parser = "parser grammar g; options { tokenVocab = gLexer; } a : A A EOF ;";
    check_files(
        parser,
        &[("gLexer.g4", lexer)],
        options,
        expect![[r##"
            %start a
            a ::= a.2 (gap.2)
            a.2 ::= (gap.2 "a") (gap.2 "a")
            excursion ::= excursion.3 excursion.4
            excursion.2 ::= excursion.5 excursion.4
            inside.part.3 ::= [/]* (([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.part @ 1112062 | [*] @ 1)
            inside.part ::= ([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1)* ([*] inside.part.2 @ 1 | [/] inside.part.3 @ 1)
            inside.part.2 ::= [*]* ([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.part
            inside ::= ([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.part @ 1112062 | [*] inside.part.2 @ 1 | [/] inside.part.3 @ 1
            inside.2.part.3 ::= [/]* ([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.2.part
            inside.2.part ::= ([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1)* ([*] inside.2.part.2 @ 1 | [/] inside.2.part.3 @ 1)
            inside.2.part.2 ::= [*]* (([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.2.part @ 1112062 | [/] @ 1)
            inside.2 ::= ([#x20-)+-.0-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.2.part @ 1112062 | [*] inside.2.part.2 @ 1 | [/] inside.2.part.3 @ 1
            excursion.3 ::= inside excursion.6 | inside.2 excursion.7
            excursion.4 ::= ()
            inside.3 ::= [d]
            excursion.5 ::= inside.3 excursion.8
            excursion.6 ::= excursion.3 excursion.3
            excursion.7 ::= ()
            excursion.8 ::= excursion.9
            inside.4 ::= ([#x20-~] @ 9 | [#x00-#x09#x0B-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) ([#x20-~] @ 9 | [#x00-#x09#x0B-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1)* [#x0A] @ 1112063 | [#x0A] @ 1
            excursion.9 ::= inside.4 excursion.10
            excursion.10 ::= ()
            hidden ::= [#x20] @ 15 | ("/*" excursion | "#" excursion.2) @ 1
            gap ::= hidden+
            gap.2 ::= () @ 15 | gap @ 1
        "##]],
    );
}

#[test]
fn hidden_matches_that_stay_in_a_mode_hold_nothing_that_leaves_it() {
    let options = FormatOptions::of_others();
    // The lexer tries `<!--` and goes back, and a closing mark may go on.
    let grammar = "lexer grammar gLexer; A : 'a' ; T : '<' 'b'+ -> skip, pushMode(M) ; mode M ; \
                   LONG : '<!--' -> skip ; END : '>' '>'? -> skip, popMode ; KEY : 'key' -> type(A) ; ANY : . -> skip ;";
    let parser = "parser grammar g; options { tokenVocab = gLexer; } a : A A EOF ;";
    check_files(
        parser,
        &[("gLexer.g4", grammar)],
        options,
        expect![[r#"
        %start a
        a ::= a.2 (gap.2)
        a.2 ::= (gap.2 "a") (gap.2 "a")
        T ::= "<" "b"+
        excursion ::= excursion.2 excursion.3
        inside.part.3 ::= ([k] @ 1 | [e] [k] @ 1)* (([#x20-=?-df-jl-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.part @ 1112061 | [>] inside.part.2 @ 1 | [e] (([#x20-=?-jl-xz-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.part @ 1112061 | [>] inside.part.2 @ 1) @ 1)
        inside.part.2 ::= [>]
        inside.part ::= ([#x20-=?-jl-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1)* ([>] inside.part.2 @ 1 | [k] inside.part.3 @ 1)
        inside ::= ([#x20-=?-ac-jl-~] @ 9 | [#x00-#x1F#x7F-#xD7FF#xE000-#x10FFFF] @ 1) inside.part @ 1112061 | [>] inside.part.2 @ 1 | [k] inside.part.3 @ 1
        excursion.2 ::= inside excursion.4
        excursion.3 ::= ()
        excursion.4 ::= ()
        gap ::= (T excursion)+
        gap.2 ::= () @ 15 | gap @ 1
    "#]],
    );
}

#[test]
fn hidden_matches_that_do_not_come_back_are_no_gaps() {
    let options = FormatOptions::of_others();
    for lexer in [
        "lexer grammar gLexer; A : 'a' ; WS : ' ' -> skip, popMode ;",
        "lexer grammar gLexer; A : 'a' ; OPEN : '(' -> skip, mode(B) ; mode B ; ANY : . -> skip ;",
    ] {
        let parser = "parser grammar g; options { tokenVocab = gLexer; } a : A A EOF ;";
        check_files(
            parser,
            &[("gLexer.g4", lexer)],
            options,
            expect![[r#"
                %start a
                a ::= a.2 ()
                a.2 ::= "a" "a"
            "#]],
        );
    }
}
