//! Snapshots of grammars and diagnostics.

use expect_test::{Expect, expect};

use super::Yacc;
use crate::diagnostics::{Diagnostics, SourceFile};
use crate::formats::given::Given;
use crate::formats::{Format, ebnf, testing};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&testing::parsed(&Yacc, text));
}

const CALCULATOR: &str = r#"
%{
#include "x.h" /* %% */
%}
%union { int i; char *s; }
%define api.value.type {int}
%token <i> NUM 258 "1"
%token PLUS "+" IF "if" ELSE "else" EQ "=" EQEQ "=="
%token END 0 "end of file"
%left '-' PLUS
%type <i> exp
%start input
%%
input: exp END { printf("}'"); } | input ';' { $$ = '}'; } exp ;
exp[r] : NUM
  | exp[left] "+" exp %prec PLUS { /* } */ }
  | IF exp exp ELSE exp | exp '=' exp | exp EQEQ exp
  | '(' error ')' | %empty
  ;
exp: '\n' exp
%%
int main() { }
"#;

#[test]
fn declarations_rules_and_separators() {
    check(
        CALCULATOR,
        expect![[r#"
            %start input
            input ::= exp END | input ";" exp
            exp ::= NUM | exp.2 "+" exp.3 | IF exp exp ELSE exp | exp.4 (" " "=") exp | exp.4 (" " EQEQ) exp | () | "\n" exp
            exp.2 ::= NUM | exp.2 "+" exp.4 | ()
            exp.3 ::= NUM | IF exp exp ELSE exp | exp.4 "=" exp | exp.4 EQEQ exp | () | "\n" exp
            exp.4 ::= NUM | ()
            ELSE ::= "else"
            END ::= ""
            EQEQ ::= "=="
            IF ::= "if"
            NUM ::= "1"
            g:18:9: warning[not-context-free]: an alternative with `error` is left out
              |   | '(' error ')' | %empty
              |         ^^^^^
              help: input that is wrong is not drawn
        "#]],
    );
}

#[test]
fn tokens_from_another_file() {
    let mut diagnostics = Diagnostics::default();
    let tokens = SourceFile::new("t.ebnf", "ID ::= letter+\nNUM ::= [0-9]+\nletter ::= [a-z]\nUNUSED ::= 'x'");
    let tokens = ebnf::Ebnf.parse(&tokens, &mut diagnostics);
    let file = SourceFile::new("g.y", "%token ID NUM \"number\" OTHER\n%%\ns: ID ID NUM \"number\" '+' ID OTHER ;\n");
    let grammar = super::without_lexer(&file, &Given::of(tokens), &|| None, &mut diagnostics);
    expect![[r#"
        %start s
        s ::= ID (" " ID) (" " NUM) (" " NUM) (" " "+") (" " ID) (" " OTHER)
        ID ::= letter+
        NUM ::= [0-9]+
        letter ::= [a-z]
        g.y:3:30: error[undefined-rule]: nothing says what the token `OTHER` is
          | s: ID ID NUM "number" '+' ID OTHER ;
          |                              ^^^^^
          note: g.y:1:24: it is declared here
          help: declare it with a text, `%token OTHER "text"`, or define it in a file of tokens beside the grammar"#]]
    .assert_eq(&(crate::ast::dump(&grammar) + &diagnostics.to_plain_text(&file)));
}

#[test]
fn errors() {
    check(
        "%token A\n",
        expect![[r#"
        g:2:1: error[syntax]: there is no `%%`, so there are no rules
          | 
          | ^
          help: declarations, then `%%`, then rules `name: symbol symbol | symbol ;`
    "#]],
    );
    check(
        "%token A\n%%\ns: A B \"x ;\nt: 'x' $ ;\nu 'x' ;\nv: 'a' { \n",
        expect![[r#"
        %start s
        s ::= A (" " B)
        t ::= "x"
        v ::= "a"
        g:3:4: error[undefined-rule]: nothing says what the token `A` is
          | s: A B "x ;
          |    ^
          note: g:1:8: it is declared here
          help: declare it with a text, `%token A "text"`, or define it in a file of tokens beside the grammar
        g:3:6: error[undefined-rule]: `B` is neither a rule nor a token that is declared
          | s: A B "x ;
          |      ^
          help: declare it with a text, `%token B "text"`, or define it in a file of tokens beside the grammar
        g:3:8: error[syntax]: this text is not closed
          | s: A B "x ;
          |        ^^^^
          help: close it with `"` on the same line
        g:4:8: error[syntax]: unexpected `$`
          | t: 'x' $ ;
          |        ^
          help: symbols are names, characters such as `'+'` and texts such as `"+="`; code stands in braces
        g:5:1: error[syntax]: expected a rule, found `u`
          | u 'x' ;
          | ^
          help: a rule is written `name: symbol symbol | symbol ;`
        g:6:8: error[syntax]: this code is not closed
          | v: 'a' {
          |        ^
          help: close it with `}`
    "#]],
    );
}

#[test]
fn identifiers_of_the_file_of_tokens_are_no_keywords() {
    let tokens = SourceFile::new("t", "ID ::= [a-z]+ SUFFIX?\nSUFFIX ::= '_' [a-z]\nIF ::= 'if'\n");
    let mut diagnostics = Diagnostics::default();
    let tokens = crate::formats::ebnf::Ebnf.parse(&tokens, &mut diagnostics);
    let file = SourceFile::new("g", "%token ID IF\n%%\ns: IF ID | \"do\" ID ;\n");
    let grammar = super::without_lexer(&file, &Given::of(tokens), &|| None, &mut diagnostics);
    expect![[r#"
        %start s
        s ::= IF (" " ID) | "do" (" " ID)
        IF ::= "if"
        ID ::= [a-ce-hj-z] ID.word.2 @ 24 | [d] ID.word.3 @ 1 | [i] ID.word.4 @ 1
        ID.word.4 ::= [a-eg-z] ID.word.2 @ 25 | [_] ID.word.5 @ 1 | [f] ID.word.6 @ 1 | () @ 27
        ID.word.6 ::= [a-z] ID.word.2 @ 26 | [_] ID.word.5 @ 1
        ID.word.5 ::= [a-z]
        ID.word.2 ::= [a-z]* ([_] ID.word.5 @ 1 | () @ 1)
        ID.word.3 ::= [a-np-z] ID.word.2 @ 25 | [_] ID.word.5 @ 1 | [o] ID.word.6 @ 1 | () @ 27
    "#]]
    .assert_eq(&crate::ast::dump(&grammar));
}

#[test]
fn later_declarations_bind_tighter() {
    check(
        "%token NUM \"1\" PLUS \"+\" OR \"or\"\n%nonassoc '<' 300 '>'\n%left PLUS '-'\n%right '^'\n%precedence NEG\n%%\n\
         e: e '<' e | e '>' e | e \"+\" e | e '-' e | e '^' e | '-' e %prec NEG | e OR e | NUM | '(' e ')' ;\n",
        expect![[r#"
            %start e
            e ::= e.2 "<" e.3 | e.2 ">" e.3 | e.2 "+" e.4 | e.2 "-" e.4 | e.5 "^" e.4 | "-" e.6 | e.7 OR e | NUM | "(" e ")"
            e.2 ::= e.2 "+" e.8 | e.2 "-" e.8 | e.5 "^" e.8 | "-" e.5 | NUM | "(" e ")"
            e.3 ::= e.2 "+" e.4 | e.2 "-" e.4 | e.5 "^" e.4 | "-" e.6 | e.7 OR e | NUM | "(" e ")"
            e.4 ::= e.5 "^" e.4 | "-" e.6 | e.7 OR e | NUM | "(" e ")"
            e.5 ::= "-" e.5 | NUM | "(" e ")"
            e.6 ::= "-" e.6 | e.7 OR e | NUM | "(" e ")"
            e.7 ::= NUM | "(" e ")"
            e.8 ::= e.5 "^" e.8 | "-" e.5 | NUM | "(" e ")"
            NUM ::= "1"
            OR ::= "or"
        "#]],
    );
    // A rule of its own, and operators without levels.
    check(
        "%left '+'\n%%\ns: e;\ne: b | e '!' | 'x';\nb: e '+' e | e op e;\nop: '-' ;\n",
        expect![[r#"
        %start s
        s ::= e
        e ::= b | e.2 "!" | "x"
        e.2 ::= e.2 "!" | "x"
        e.3 ::= b.2 | e.2 "!" | "x"
        e.4 ::= b.3 | e.2 "!" | "x"
        b ::= e.3 "+" e.4 | e.2 op e
        b.2 ::= e.3 "+" e.2
        b.3 ::= e.2 op e
        op ::= "-"
    "#]],
    );
    // Levels of names that rules have, too.
    check(
        "%left e.2\n%%\ne: e e.2 e | 'x';\n e.2: '+';\n",
        expect![[r#"
        %start e
        e ::= e.3 e.2 e | "x"
        e.3 ::= "x"
        e.2 ::= "+"
    "#]],
    );
}

#[test]
fn a_text_that_describes_its_token_is_reported() {
    check(
        "%token IDENT \"identifier\" NUM _(\"number\") IF \"if\" KW_DO \"do\" GROUP_BY \"group by\" LE \"<=\" UNUSED \"not used\"\n\
         %token YYEOF \"end of file\" PLUS _(\"+\") STRING _( \"string\" )\n%%\n\
         s: IDENT NUM IF KW_DO GROUP_BY LE YYEOF | \"identifier\" PLUS STRING;\n",
        expect![[r#"
            %start s
            s ::= IDENT NUM IF KW_DO GROUP_BY LE YYEOF | "identifier" PLUS STRING
            GROUP_BY ::= "group by"
            IDENT ::= "identifier"
            IF ::= "if"
            KW_DO ::= "do"
            LE ::= "<="
            NUM ::= "number"
            PLUS ::= "+"
            STRING ::= "string"
            YYEOF ::= ""
            g:1:8: warning[undefined-token]: texts that seem to describe their tokens are drawn as they are: `IDENT "identifier"`, `NUM "number"`, `STRING "string"`
              | %token IDENT "identifier" NUM _("number") IF "if" KW_DO "do" GROUP_BY "group by" LE "<=" UNUSED "not used"
              |        ^^^^^
              help: say what such tokens are in a file for `--tokens`, with rules such as `IDENT ::= [a-z]+`
        "#]],
    );
    let mut diagnostics = Diagnostics::default();
    let tokens = ebnf::Ebnf.parse(&SourceFile::new("t", "IDENT ::= [a-z]+\n"), &mut diagnostics);
    let file = SourceFile::new("g", "%token IDENT \"identifier\"\n%%\ns: IDENT;\n");
    super::without_lexer(&file, &Given::of(tokens), &|| None, &mut diagnostics);
    assert_eq!(diagnostics.to_plain_text(&file), "");
}

#[test]
fn several_words_that_name_a_kind_of_tokens_describe_them() {
    check(
        "%token STRING_LITERAL \"string literal\" GROUP_BY \"group by\"\n%%\ns: STRING_LITERAL GROUP_BY;\n",
        expect![[r#"
            %start s
            s ::= STRING_LITERAL GROUP_BY
            GROUP_BY ::= "group by"
            STRING_LITERAL ::= "string literal"
            g:1:8: warning[undefined-token]: texts that seem to describe their tokens are drawn as they are: `STRING_LITERAL "string literal"`
              | %token STRING_LITERAL "string literal" GROUP_BY "group by"
              |        ^^^^^^^^^^^^^^
              help: say what such tokens are in a file for `--tokens`, with rules such as `STRING_LITERAL ::= [a-z]+`
        "#]],
    );
}

#[test]
fn a_translated_text_is_closed() {
    check(
        "%token A _(\"x\" B\n%%\ns: 'x';\n",
        expect![[r#"
        %start s
        s ::= "x"
        g:1:10: error[syntax]: this text is not closed
          | %token A _("x" B
          |          ^^^^^^
          help: a text that is translated is written `_("text")`
    "#]],
    );
}

#[test]
fn declarations_may_stand_between_rules() {
    check(
        "%%\ns: A b;\n%type <t> b c\n%code requires { x }\n%printer { x } <t> 'a' \"b\"\n%token A \"+\" ;\nb: 'x';\n",
        expect![[r#"
            %start s
            s ::= A b
            b ::= "x"
            A ::= "+"
        "#]],
    );
}

#[test]
fn rules_for_the_recovery_from_errors_are_left_out() {
    check(
        "%%\ns: a | bad a | s b;\na: 'x' | bad;\nbad: error;\nb: bad 'y' | worse;\nworse: b;\n",
        expect![[r#"
        %start s
        s ::= a | s b
        a ::= "x"
        b ::= worse
        worse ::= b
        g:4:6: warning[not-context-free]: an alternative with `error` is left out
          | bad: error;
          |      ^^^^^
          help: input that is wrong is not drawn
    "#]],
    );
    check(
        "%%\ns: bad;\nbad: error;\n",
        expect![[r#"
        %start s
        s ::= bad
        bad ::= 
        g:3:1: error[syntax]: rule `bad` has no alternatives left
          | bad: error;
          | ^^^
          help: every alternative has `error` in it
        g:3:6: warning[not-context-free]: an alternative with `error` is left out
          | bad: error;
          |      ^^^^^
          help: input that is wrong is not drawn
    "#]],
    );
}

#[test]
fn declarations_end_a_rule_without_a_semicolon() {
    check(
        "%%\ns: A b\n%token A \"+\"\n%type <t> b\nb: A\n",
        expect![[r#"
        %start s
        s ::= A b
        b ::= A
        A ::= "+"
    "#]],
    );
}
