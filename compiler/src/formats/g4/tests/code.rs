//! Predicates and actions that are known, and what they ask for.

use super::*;

#[test]
fn predicates_about_the_next_token_are_met() {
    let lexer = "NAME : [a-z] ; OPEN : '{' ; CLOSE : '}' ; WS : [ ]+ -> channel(HIDDEN) ;";
    // A statement without a semicolon can only stand before a brace or at the end.
    check(
        &format!(
            "grammar g; file : (statement eos)* EOF ; statement : NAME | '{{' (statement eos)* '}}' ; \
             eos : ';' | {{this.closingBracket()}}? ; {lexer}"
        ),
        expect![[r#"
            %start file
            file ::= file.2 | file.3
            file.2 ::= (statement eos)* ()
            file.3 ::= (statement eos)* (statement eos.2)
            statement ::= NAME | ("{" statement.2 "}" | "{" statement.3 "}")
            eos ::= ";"
            eos.2 ::= ()
            statement.2 ::= (statement eos)* ()
            statement.3 ::= (statement eos)* (statement eos.2)
            NAME ::= [a-z]
        "#]],
    );
    // After one more token, none of these tokens.
    check(
        &format!(
            "grammar g; file : ({{_input.LA(1) != OPEN}}? any | {{this.isNotReceive()}}? ';' ) any EOF ; any : NAME | OPEN | '<-' ; {lexer}"
        ),
        expect![[r#"
            %start file
            file ::= any any.2 | ";" any.3
            any ::= NAME | "<-"
            any.2 ::= NAME | "{" | "<-"
            any.3 ::= NAME | "{"
            NAME ::= [a-z]
        "#]],
    );
    // The spellings of other languages: neither of two tokens, or one of them.
    check(
        &format!(
            "grammar g; file : ({{self._input.LA(1) != g.OPEN and self._input.LT(1).type != g.NAME}}? any \
             | {{TokenStream.LA(2) == OPEN || TokenStream.LA(2) == CLOSE}}? ';') any EOF ; any : NAME | OPEN | CLOSE ; {lexer}"
        ),
        expect![[r#"
            %start file
            file ::= any any.2 | ";" any.3
            any ::= "}"
            any.2 ::= NAME | "{" | "}"
            any.3 ::= "{" | "}"
            NAME ::= [a-z]
        "#]],
    );
    check(
        &format!(
            "grammar g; file : ({{this._input.LT(1).text !== '+'}}? any | {{!\"-\".equals(_input.LT(2).getText())}}? ';') any EOF ; \
             any : '+' | '-' ; {lexer}"
        ),
        expect![[r#"
            %start file
            file ::= any any.2 | ";" any.3
            any ::= "-"
            any.2 ::= "+" | "-"
            any.3 ::= "+"
        "#]],
    );
    check(
        &format!(
            "grammar g; file : ({{p.GetInputStream().LA(1) != gParserOPEN}}? any | {{_input.LT(2).Text.Equals(\"+\")}}? ';') any EOF ; \
             any : '+' | NAME | OPEN ; {lexer}"
        ),
        expect![[r#"
            %start file
            file ::= any any.2 | ";" any.3
            any ::= "+" | NAME
            any.2 ::= "+" | NAME | "{"
            any.3 ::= "+"
            NAME ::= [a-z]
        "#]],
    );
    // Comparisons that cannot be joined.
    check(
        &format!("grammar g; file : {{_input.LA(1) == OPEN || _input.LA(2) != NAME}}? NAME EOF ; {lexer}"),
        expect![[r#"
            %start file
            file ::= NAME
            NAME ::= [a-z]
            g:1:19: warning[not-context-free]: a predicate is left out
              | grammar g; file : {_input.LA(1) == OPEN || _input.LA(2) != NAME}? NAME EOF ; NAME : [a-z] ; OPEN : '{' ; CLOSE : '}' ; W
              |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              help: generation goes on without it, so some outputs may not be valid
        "#]],
    );
    // The end of the text, and its negation.
    check(
        &format!(
            "grammar g; file : any eos rest EOF ; any : NAME ; eos : ';' | {{_input.LA(1) == EOF}}? ; rest : {{_input.LA(1) != Token.EOF}}? any? ; {lexer}"
        ),
        expect![[r#"
            %start file
            file ::= any eos rest
            any ::= NAME
            eos ::= ";"
            rest ::= any.2
            any.2 ::= NAME
            NAME ::= [a-z]
        "#]],
    );
    // Conditions that are unknown at their place are reported: tokens that the grammar lacks, and rules in place of
    // tokens.
    check(
        "grammar g; file : {this.isFuncCall()}? {_input.LA(1) != NOSUCH}? NAME {this.isNotReceive()}? call '<-' EOF ; call : NAME ; NAME : [a-z] ;",
        expect![[r#"
            %start file
            file ::= NAME call "<-"
            call ::= NAME
            NAME ::= [a-z]
            g:1:19: warning[not-context-free]: a predicate is left out
              | grammar g; file : {this.isFuncCall()}? {_input.LA(1) != NOSUCH}? NAME {this.isNotReceive()}? call '<-' EOF ; call : NAME
              |                   ^^^^^^^^^^^^^^^^^^^^
              help: generation goes on without it, so some outputs may not be valid
            g:1:40: warning[not-context-free]: a predicate is left out
              | grammar g; file : {this.isFuncCall()}? {_input.LA(1) != NOSUCH}? NAME {this.isNotReceive()}? call '<-' EOF ; call : NAME
              |                                        ^^^^^^^^^^^^^^^^^^^^^^^^^
              help: generation goes on without it, so some outputs may not be valid
            g:1:71: warning[not-context-free]: a predicate is left out
              |  file : {this.isFuncCall()}? {_input.LA(1) != NOSUCH}? NAME {this.isNotReceive()}? call '<-' EOF ; call : NAME ; NAME :
              |                                                             ^^^^^^^^^^^^^^^^^^^^^^
              help: generation goes on without it, so some outputs may not be valid
        "#]],
    );
    // Any token except some.
    check(
        &format!("grammar g; file : {{this.notOpenBraceAndNotFunction()}}? . EOF ; {lexer}"),
        expect![[r#"
        %start file
        file ::= NAME | "}"
        NAME ::= [a-z]
    "#]],
    );
}

#[test]
fn predicates_about_line_breaks_are_met() {
    check(
        "grammar g; file : (NAME eos)+ EOF ; eos : ';' | {lineTerminatorAhead()}? | EOF ; NAME : [a-z]+ ; \
         LineTerminator : [\\r\\n] -> channel(HIDDEN) ; WS : [ ]+ -> skip ;",
        expect![[r#"
            %start file
            file ::= (NAME eos file.2 | NAME eos.2 file.8) | (NAME eos file.6 | NAME eos.2 file.12 | NAME eos.3)
            eos ::= ";"
            file.2 ::= (NAME eos)* (() | NAME eos.2 file.3)
            eos.2 ::= ()
            file.8 ::= (("\n" NAME) eos.2)* (("\n" NAME) eos file.9)
            file.6 ::= (NAME eos)* (NAME eos.2 file.7 | NAME eos.3)
            file.12 ::= (("\n" NAME) eos.2)* (("\n" NAME) eos file.13 | ("\n" NAME) eos.3)
            eos.3 ::= ()
            file.3 ::= (("\n" NAME) eos.2)* (("\n" NAME) eos file.2)
            file.9 ::= (NAME eos)* (() | NAME eos.2 file.8)
            file.7 ::= (("\n" NAME) eos.2)* (("\n" NAME) eos file.6 | ("\n" NAME) eos.3)
            file.13 ::= (NAME eos)* (NAME eos.2 file.12 | NAME eos.3)
            NAME ::= [a-z]+
        "#]],
    );
}

#[test]
fn well_known_code_of_lexers_is_met() {
    check(
        "grammar g; start : (ID | STRICT)+ EOF ; \
         ID : ([a-d] | ~[\\u0000-\\u00FF\\uD800-\\uDBFF] {Character.isJavaIdentifierStart(_input.LA(-1))}?)+ ; \
         STRICT : 'let' {this.IsStrictMode()}? ;",
        expect![[r#"
            %start start
            start ::= ID ()
            ID ::= [a-d#x3B1#x3B2#x416#x20AC#x4E2D]+
            g:1:12: warning[ambiguous-boundary]: the lexer may not cut between `ID` and `ID`
              | grammar g; start : (ID | STRICT)+ EOF ; ID : ([a-d] | ~[\u0000-\u00FF\uD800-\uDBFF] {Character.isJavaIdentifierStart(_in
              |            ^^^^^
              help: no hidden rule can stand there; derivations with such neighbours are left out where there are others
            g:1:139: warning[shadowed-rule]: the lexer never matches `STRICT`
              | DBFF] {Character.isJavaIdentifierStart(_input.LA(-1))}?)+ ; STRICT : 'let' {this.IsStrictMode()}? ;
              |                                                             ^^^^^^
              help: it matches nothing, or all that it matches is an earlier rule's; what needs it is left out
        "#]],
    );
}

#[test]
fn the_lexer_of_grammars_follows_what_a_rule_is() {
    let lexer = r"lexer grammar TLexer; options { superClass = LexerAdaptor; }
        tokens { TOKEN_REF, RULE_REF }
        OPEN : '[' { this.handleBeginArgument(); } ;
        OPTIONS : 'options' WS* '{' ;
        RBRACE : '}' ;
        COLON : ':' ;
        SEMI : ';' ;
        ID : Start ('0' | Start)* ;
        WS : ' ' -> skip ;
        fragment Start : [A-Ba-b] ;
        mode Argument;
        NESTED : '[' -> type(ARGUMENT_CONTENT), pushMode(Argument) ;
        CLOSE : ']' { this.handleEndArgument(); } ;
        ARGUMENT_CONTENT : [a-z] ;
        mode LexerCharSet;
        BODY : [x-z]+ -> more ;
        SET : ']' -> popMode ;";
    let parser = "parser grammar TParser; options { tokenVocab = TLexer; }
        rules : options? rule+ EOF ;
        options : OPTIONS (TOKEN_REF SEMI)? RBRACE ;
        rule : (RULE_REF | TOKEN_REF) COLON item* SEMI ;
        item : OPEN ARGUMENT_CONTENT* CLOSE | SET | TOKEN_REF ;";
    check_files(
        parser,
        &[("TLexer.g4", lexer)],
        FormatOptions::default(),
        expect![[r#"
            %start rules
            rules ::= options? rule+
            options ::= OPTIONS TOKEN_REF ";" "}" | OPTIONS "}"
            rule ::= TOKEN_REF.2 rule.3 ":" (item item.2*)? rule.5 ";" | RULE_REF ":" (item.2.2 item.2.3*)? ";"
            rule.3 ::= ()
            item ::= item.5 "]" | item.8 TOKEN_REF.3
            item.2 ::= item.5 "]" | item.8 (" " TOKEN_REF.3)
            rule.5 ::= ()
            item.2.2 ::= "[" item.9 "]" | TOKEN_REF.4
            item.2.3 ::= "[" item.9 "]" | " " TOKEN_REF.4
            item.5 ::= "[" (BODY ())?
            item.8 ::= ()
            item.9 ::= ARGUMENT_CONTENT* (() | "[" item.10)
            item.10 ::= ARGUMENT_CONTENT.2* ("]" item.9 | "[" item.11)
            item.11 ::= ARGUMENT_CONTENT.2* ("]" item.10 | "[" item.12)
            item.12 ::= ARGUMENT_CONTENT.2* ("]" item.11 | "[" item.13)
            item.13 ::= ARGUMENT_CONTENT.2* ("]" item.12 | "[" item.14)
            item.14 ::= ARGUMENT_CONTENT.2* ("]" item.13 | "[" item.15)
            item.15 ::= ARGUMENT_CONTENT.2* ("]" item.14 | "[" item.16)
            item.16 ::= ARGUMENT_CONTENT.2* ("]" item.15 | "[" item.17)
            item.17 ::= ARGUMENT_CONTENT.2* ("]" item.16)
            OPTIONS ::= "options" " "* "{"
            TOKEN_REF ::= [AB] ("0" | [ABab])*
            TOKEN_REF.2 ::= [AB] ("0" | [ABab])*
            RULE_REF ::= [ab] [0ABab]*
            TOKEN_REF.3 ::= [AB] ("0" | [ABab])*
            TOKEN_REF.4 ::= [AB] ("0" | [ABab])*
            BODY ::= [x-z]+
            ARGUMENT_CONTENT ::= [a-z]
            ARGUMENT_CONTENT.2 ::= [a-z]
            g:1:48: warning[not-context-free]: TLexer.g4:1:33: the superclass `LexerAdaptor` is left out
              | parser grammar TParser; options { tokenVocab = TLexer; }
              |                                                ^^^^^^
              help: generation goes on without it, so some outputs may not be valid
            g:2:9: warning[ambiguous-boundary]: the lexer may not cut between `BODY` and `BODY`
              |         rules : options? rule+ EOF ;
              |         ^^^^^
              help: no hidden rule can stand there; derivations with such neighbours are left out where there are others"#]],
    );
}

#[test]
fn what_types_are_in_c_is_said_by_words() {
    check(
        "grammar g; s : d+ EOF ;
         d : ({this.IsDeclarationSpecifier()}? spec)+ ID ';'
           | {!this.IsSomethingOfTypeName()}? 'sizeof' u ';'
           | {this.IsSomethingOfTypeName()}? 'sizeof' '(' spec+ ')' ';' ;
         spec : 'int' | 'const' | RESTRICT | {this.IsTypedefName()}? ID ;
         u : ID | '(' (ID | 'int') ')' ;
         RESTRICT : 'restrict' | '__restrict' ; ID : [a-b]+ ; WS : ' ' -> skip ;",
        expect![[r#"
            %start s
            s ::= d+
            d ::= spec+ ID ";" | "sizeof" u ";" | "sizeof" "(" spec spec.2* ")" ";"
            spec ::= "int" | "const"
            u ::= ID | "(" ID ")"
            spec.2 ::= "int" | "const" | RESTRICT
            ID ::= [ab]+
            RESTRICT ::= "restrict" | "__restrict"
            g:5:46: warning[not-context-free]: what needs this predicate is left out
              |          spec : 'int' | 'const' | RESTRICT | {this.IsTypedefName()}? ID ;
              |                                              ^^^^^^^^^^^^^^^^^^^^^^^
              help: it holds only for certain words, or for what code outside of the grammar knows
        "#]],
    );
}

#[test]
fn a_line_break_that_is_asked_for_is_not_where_none_may_be() {
    check(
        r"grammar g; s : (ID eos {this.notLineTerminator()}? '++')* EOF ;
         eos : ';' | {this.lineTerminatorAhead()}? ;
         ID : [a-b]+ ; WS : ' ' -> skip ; NL : '\n' -> skip ;",
        expect![[r#"
            %start s
            s ::= (ID eos "++")*
            eos ::= ";"
            ID ::= [ab]+
        "#]],
    );
}

#[test]
fn names_of_commands_may_begin_with_a_capital() {
    check(
        "grammar g; a : A A EOF ; A : [a-z]+ ; WS : ' ' -> Channel(HIDDEN) ; C : '#' -> Skip ;",
        expect![[r#"
            %start a
            a ::= A (" " A)
            A ::= [a-z]+
        "#]],
    );
}

#[test]
fn texts_that_are_asked_for_are_no_code() {
    check(
        r#"grammar g; s : (a | b | c | d | e | f) EOF ;
         a : {_input.LT(1).getText().equals("->")}? x 'a' ;
         b : {this._input.LT(1).getText().equals("::")}? x 'b' ;
         c : {_input.LT(1).getText().equals("||") || _input.LT(1).getText().equals("&&")}? x 'c' ;
         d : {self._input.LT(1).text == "=="}? x 'd' ;
         e : {_input.LT(1).getText().equals("not null")}? x 'e' ;
         f : {_input.LT(1).getText() != "this." && _input.LT(1).getText() != '"'}? x 'f' ;
         x : '->' | '::' | '||' | '&&' | '==' | 'not null' | '.' | 'this.' | '"' ;"#,
        expect![[r#"
            %start s
            s ::= a | b | c | d | e | f
            a ::= x "a"
            b ::= x.2 "b"
            c ::= x.3 "c"
            d ::= x.4 "d"
            e ::= x.5 "e"
            f ::= x.6 "f"
            x ::= "->"
            x.2 ::= "::"
            x.3 ::= "||" | "&&"
            x.4 ::= "=="
            x.5 ::= "not null"
            x.6 ::= "->" | "::" | "||" | "&&" | "==" | "not null" | "."
        "#]],
    );
}

#[test]
fn the_end_of_the_text_is_known_in_the_spelling_of_go() {
    check(
        r#"grammar g; s : ID (e | n) EOF ;
         e : {p.GetTokenStream().LA(1) == antlr.TokenEOF}? ';'? ;
         n : {p.GetTokenStream().LA(1) != antlr.TokenEOF}? ('+' ID)? ;
         ID : [a-b]+ ;"#,
        expect![[r#"
            %start s
            s ::= ID n | ID e
            n ::= "+" ID
            e ::= ()
            ID ::= [ab]+
        "#]],
    );
}
