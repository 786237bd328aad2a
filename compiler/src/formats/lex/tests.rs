//! Snapshots of grammars of yacc with files of lex.

mod hostile;
mod meaning;

use expect_test::{Expect, expect};

use crate::formats::testing::parsed_with;
use crate::formats::yacc::Yacc;

fn check(grammar: &str, lexer: &str, expected: Expect) {
    expected.assert_eq(&parsed_with(&Yacc, grammar, &[("tokens.l", lexer)]));
}

const SUM: &str = "%token NUM NAME\n%left '+'\n%%\nsum: sum '+' sum | NUM | NAME;\n";

#[test]
fn actions_name_tokens_and_skip_blanks() {
    check(
        SUM,
        r#"
%{
#include "y.tab.h"
%}
digit [0-9]
%%
 /* numbers */
{digit}+      { yylval = atoi(yytext); return NUM; }
[a-z]+        return(NAME);
"+"           |
"-"           return yytext[0];
[ \t\n]+      ;
.             { fprintf(stderr, "unexpected %s\n", yytext); }
%%
int main(void) { return yyparse(); }
"#,
        expect![[r#"
            %start sum
            sum ::= sum.2 "+" sum.3 | NUM | NAME
            sum.2 ::= sum.2 "+" sum.3 | NUM | NAME
            sum.3 ::= NUM | NAME
            NUM ::= [0-9]+
            NAME ::= [a-z]+
        "#]],
    );
}

#[test]
fn earlier_rules_take_keywords_from_names() {
    check(
        "%token IF NAME\n%%\na: IF NAME;\n",
        "%option case-insensitive\n%%\nif return token::IF;\n[i-k][f-g]? return make_NAME(yytext);\n\" \" {}\n",
        expect![[r#"
            %start a
            a ::= IF NAME
            IF ::= [Ii] [Ff]
            NAME.part.2 ::= [FGfg] @ 4 | () @ 4
            NAME.part ::= [Gg] @ 2 | () @ 2
            NAME ::= [Ii] NAME.part @ 2 | [JKjk] NAME.part.2 @ 4
        "#]],
    );
}

#[test]
fn matches_of_a_start_condition_are_parts_of_its_token() {
    check(
        "%token STRING\n%%\na: STRING STRING;\n",
        r#"
%x STR COMMENT
%%
\"             { start(); BEGIN(STR); }
"/*"           BEGIN COMMENT;
<COMMENT>
{
  "*/"         BEGIN INITIAL;
  .|\n
}
<STR>[x-y]+    add(yytext);
<STR>\\n       add("\n");
<STR>\n        { error("not closed"); BEGIN(INITIAL); }
<STR>\"        { BEGIN(INITIAL); return STRING; }
<<EOF>>        yyterminate();
"#,
        expect![[r#"
            %start a
            a ::= a.3 "\"" a.6 "\""
            a.3 ::= "\"" ((part | "\\n") "\\n"*)?
            a.6 ::= "\"" ((part | "\\n") "\\n"*)?
            part ::= [xy]+
            g:3:1: warning[ambiguous-boundary]: the lexer may not cut between `part` and `part`
              | a: STRING STRING;
              | ^
              help: no hidden rule can stand there; derivations with such neighbours are left out where there are others
            g: warning[not-context-free]: tokens.l:13:6: a rule whose code seems to report a mistake is never drawn
              help: if its texts are valid, leave out words such as `error` in a copy of this file
        "#]],
    );
}

#[test]
fn states_that_return_tokens_are_modes() {
    check(
        "%token OPEN CLOSE NAME\n%%\na: OPEN NAME CLOSE | OPEN a CLOSE;\n",
        "%x TAG\n%%\n\"<\" { yy_push_state(TAG); return OPEN; }\n<TAG>\"<\" { yy_push_state(TAG); return OPEN; }\n\
         <TAG>[a-b]+ return NAME;\n<TAG>\">\" { yy_pop_state(); return CLOSE; }\n<*>\" \" ;\n",
        expect![[r#"
            %start a
            a ::= "<" NAME ">" | "<" a.2 ">"
            a.2 ::= "<" NAME ">" | "<" a.2 ">"
            NAME ::= [ab]+
        "#]],
    );
}

#[test]
fn yymore_joins_matches() {
    check(
        "%token LINE\n%%\na: LINE;\n",
        "%%\n\"a\\\\\" yymore();\nb return LINE;\n",
        expect![[r#"
            %start a
            a ::= "a\\"* "b"
        "#]],
    );
}

#[test]
fn patterns_of_flex() {
    check(
        "%token A B C D E F G\n%%\na: A B C D E F G;\n",
        "%%\n[[:digit:]]{2} return A;\n[a-e]{-}[bd]{+}[x] return B;\n(?i:k)l return C;\n\\x21\\042\"\\t\" return D;\n\
         m{1,2}n? return E;\n[^\\x00-\\x7d]/[z] return F;\n(p|q)+ return G;\n",
        expect![[r#"
            %start a
            a ::= A B C "!\"\t" E F G
            A ::= [0-9]{2}
            B ::= [acex]
            C ::= [Kk] [l]
            E ::= [m]{1,2} [n]?
            F ::= [~]
            G ::= ([p] | [q])+
            g: warning[not-context-free]: tokens.l:7:1: what must follow a match, after `/` or `$`, is not asked for
              help: its token is drawn from rules without that; if there are none, whatever follows
        "#]],
    );
}

#[test]
fn words_that_code_looks_up() {
    check(
        "%token IF DO NAME OTHER\n%%\na: IF NAME DO OTHER;\n",
        r#"
%{
static struct { const char *text; int token; } words[] = { { "if", IF }, { "do", 0, DO } };
%}
%%
[a-z]+   { return word(yytext); }
[0-9]+   { int c = lookup(yytext); if (c) return c; return OTHER; }
" "      ;
%%
int word(char *text) {
  for (int i = 0; i < 2; i++) if (!strcmp(words[i].text, text)) return words[i].token;
  return NAME;
}
"#,
        expect![[r#"
            %start a
            a ::= "if" (" " NAME) (" " "do") OTHER
            NAME.part.2 ::= [a-eg-z] [a-z]* @ 25 | [f] NAME.part.3 @ 1 | () @ 26
            NAME.part.3 ::= [a-z] [a-z]*
            NAME.part ::= [a-np-z] [a-z]* @ 25 | [o] NAME.part.3 @ 1 | () @ 26
            NAME ::= [a-ce-hj-z] [a-z]* @ 24 | [d] NAME.part @ 1 | [i] NAME.part.2 @ 1
            OTHER ::= [0-9]+
        "#]],
    );
}

#[test]
fn what_is_not_read_is_told() {
    check(
        "%token A B C D IF \"if\"\n%%\na: A | B | C | D | IF | 'x' | 'y';\n",
        r#"
#define NEW
%%
a        { yyless(1); return A; }
b/c      return B;
^c       return C;
d        { if (x) return D; else return A; }
e        { if (x) { return D; } }
[e-z]+   return keyword(yytext);
"/*"     { skip(); }
" "      { BEGIN(state); }
%%
void skip() { while (input() != '/'); }
"#,
        expect![[r#"
            %start a
            a ::= "b" | ("d" | "e") | "if" | "x" | "y"
            g:3:1: warning[undefined-token]: no rule of `tokens.l` makes these tokens: `A`, `C`
              | a: A | B | C | D | IF | 'x' | 'y';
              | ^
              help: what needs them is left out; write a rule for each in a copy of that file
            g: warning[not-context-free]: tokens.l:4:1: a rule whose code reads, or gives back, text is left out
              help: write one pattern for the whole text in a copy of this file
            g: warning[not-context-free]: tokens.l:5:1: what must follow a match, after `/` or `$`, is not asked for
              help: its token is drawn from rules without that; if there are none, whatever follows
            g: warning[not-context-free]: tokens.l:6:1: rules with `^` are left out, as the lines of texts are not followed
              help: at the beginning of a line, texts of other rules may be cut otherwise; write a rule without `^` if its texts may stand anywhere
            g: warning[not-context-free]: tokens.l:7:1: an action makes one of several tokens, of which one is taken
              help: write a rule for each of them in a copy of this file
            g: warning[not-context-free]: tokens.l:8:1: an action makes its token under a condition, which is not asked for
              help: some texts may not be valid; write a pattern for the texts that are in a copy of this file
            g: warning[not-context-free]: tokens.l:9:1: code that is not read decides which token this is
              help: write a rule for each word, such as `if { return IF; }`, in a copy of this file
            g: warning[not-context-free]: tokens.l:11:1: a rule that begins a start condition which code chooses is left out
              help: its name is neither declared by `%x` or `%s`, nor `INITIAL`
        "#]],
    );
}

#[test]
fn the_preprocessor_chooses() {
    check(
        "%token A B\n%%\na: A B;\n",
        "%{\n#define NEW 1\n%}\n%%\na {\n#ifdef NEW\n return A;\n#else\n return B;\n#endif\n}\nb {\n#if OLD\n return A;\n#else\n return B;\n#endif\n}\n",
        expect![[r#"
            %start a
            a ::= "a" "b"
        "#]],
    );
}

#[test]
fn mistakes_have_places() {
    check(
        "%token A\n%%\na: A;\n",
        "A [a-z]\n",
        expect![[r#"
        g: error[syntax]: tokens.l:2:1: there is no `%%`, so there are no rules
          help: a file of lex has definitions, then `%%`, then rules `pattern { return TOKEN; }`
    "#]],
    );
    check(
        "%token A\n%%\na: A;\n",
        "%%\n<X>a return A;\n[a return A;\n{B} return A;\n(a return A;\n+ ;\na{3,1} ;\n",
        expect![[r#"
        g: error[syntax]: tokens.l:2:1: the start condition `X` is not declared
          help: declare it with `%x` or `%s`
        g: error[syntax]: tokens.l:3:1: this class is not closed
          help: close it with `]`
        g: error[syntax]: tokens.l:4:1: `B` is not defined
          help: a definition is a line `NAME pattern` before `%%`
        g: error[syntax]: tokens.l:5:1: this group is not closed
          help: close it with `)`
        g: error[syntax]: tokens.l:6:1: unexpected `+` in a pattern
          help: a backslash or quotes make a sign stand for itself
        g: error[syntax]: tokens.l:7:2: this is no number of times
          help: write `{2}`, `{2,}` or `{2,5}`
    "#]],
    );
    check(
        "%token A B\n%%\na: A;\nb: B;\n",
        "%%\na return A;\n(?x: a) return B;\n",
        expect![[r#"
        g: error[syntax]: tokens.l:3:1: this flag is not read
          help: the flags are `i` and `s`, as in `(?i:text)`
    "#]],
    );
}

#[test]
fn tokens_that_no_rule_makes_are_named() {
    check(
        "%token A B\n%%\na: A | B | '+';\n",
        "%%\na return A;\n",
        expect![[r#"
            %start a
            a ::= "a"
            g:3:1: warning[undefined-token]: no rule of `tokens.l` makes these tokens: `B`, `'+'`
              | a: A | B | '+';
              | ^
              help: what needs them is left out; write a rule for each in a copy of that file
        "#]],
    );
    check(
        "%token A B\n%%\na: A B;\n",
        "%%\na return A;\n",
        expect![[r#"
            g:3:1: error[unproductive-rule]: no text of the lexer's tokens can be derived from `a`
              | a: A B;
              | ^
              help: its derivations need tokens that no lexer rule matches, or that never stand in the mode of the lexer there
            g:3:1: warning[undefined-token]: no rule of `tokens.l` makes these tokens: `B`
              | a: A B;
              | ^
              help: what needs them is left out; write a rule for each in a copy of that file
        "#]],
    );
}

#[test]
fn other_grammars_take_no_file_of_lex() {
    let found =
        parsed_with(&crate::formats::lark::Lark, "start: A\n%declare A\n", &[("tokens.l", "%%\na return A;\n")]);
    expect![[r#"
        g: error[unknown-directive]: a file of lex is a file of tokens for grammars of yacc and bison only
          help: a file of tokens for this grammar has a rule for each token, such as `NUM ::= [0-9]+`
    "#]]
    .assert_eq(&found);
}

#[test]
fn a_lexer_beside_the_grammar_is_named() {
    let missing = parsed_with(&Yacc, "%token A\n%%\na: A;\n", &[("g.l", "%%\na return A;\n")]);
    expect![[r#"
        %start a
        a ::= A
        g:3:4: error[undefined-rule]: nothing says what the token `A` is
          | a: A;
          |    ^
          note: g:1:8: it is declared here
          help: `g.l` beside it says what its tokens are: add `--tokens g.l`
        g:3:4: error[undefined-rule]: rule `A` is not defined
          | a: A;
          |    ^
          help: did you mean `a`?
    "#]]
    .assert_eq(&missing);
    let described = parsed_with(&Yacc, "%token A \"a letter\"\n%%\na: A;\n", &[("g.l", "%%\na return A;\n")]);
    expect![[r#"
        %start a
        a ::= A
        A ::= "a letter"
        g:1:8: warning[undefined-token]: texts that seem to describe their tokens are drawn as they are: `A "a letter"`
          | %token A "a letter"
          |        ^
          help: `g.l` beside it says what its tokens are: add `--tokens g.l`
    "#]]
    .assert_eq(&described);
}

#[test]
fn every_beginning_of_a_file_is_read() {
    let lexer = "%x S\nD [0-9]\n%%\n<S>{\n\"a\\\"\" { if (x) { return '\\''; } }\n}\n[^]a[:alpha:]-]{1,2}/b$ |\n(?i:{D}) RETURN(A);\n%%\nint f() { }";
    for end in (0..=lexer.len()).filter(|&end| lexer.is_char_boundary(end)) {
        parsed_with(&Yacc, "%token A\n%%\na: A;\n", &[("tokens.l", &lexer[..end])]);
        parsed_with(&Yacc, "%token A\n%%\na: A;\n", &[("tokens.l", &lexer[end..])]);
    }
}
