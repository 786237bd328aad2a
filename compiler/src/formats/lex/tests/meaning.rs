//! Snapshots of what actions, start conditions and tables mean.

use expect_test::expect;

use super::check;
use crate::formats::testing::parsed_with;
use crate::formats::yacc::Yacc;

#[test]
fn a_declared_token_is_no_other_one() {
    check(
        "%token NOT_EQ EQ\n%%\na: EQ;\n",
        "%%\n\"!=\" return NOT_EQ;\n\"==\" return TOK_EQ;\n\"<>\" return TOK_NOT_EQ;\n",
        expect![[r#"
            %start a
            a ::= "=="
        "#]],
    );
}

#[test]
fn of_several_tokens_one_that_is_drawn_is_taken() {
    check(
        "%token NE EQ NUM\n%%\na: EQ NUM;\n",
        "%%\n[!=]= { return yytext[0] == '!' ? NE : EQ; }\n[0-9]+ return number(yytext);\n%%\n\
         static int number(const char *text) { return NUM; }\n",
        expect![[r#"
            %start a
            a ::= EQ NUM
            EQ ::= [!=] [=]
            NUM ::= [0-9]+
            g: warning[not-context-free]: tokens.l:2:1: an action makes one of several tokens, of which one is taken
              help: write a rule for each of them in a copy of this file
        "#]],
    );
}

#[test]
fn a_start_condition_that_changes_under_a_condition_is_told() {
    check(
        "%token A B\n%%\na: A B | A A;\n",
        r##"
%x C D
%{
#define START BEGIN(C)
static void begin_comment() { BEGIN(C); }
static void outer() { begin_comment(); }
%}
%%
a          return A;
b          { if (nested) yymore(); else return B; }
"/*"       { depth = 1; BEGIN(C); }
"//"       START;
"--"       outer();
"{*"       { if (x) return A; BEGIN(D); }
"#"        { x && (BEGIN(D), 1); }
<C>"*/"    { if (--depth == 0) BEGIN(INITIAL); }
<C>.|\n    ;
<D>"*}"    { BEGIN(INITIAL); }
"#!"       { if (x) yymore(); }
"#?"       RETURN_IT;
%%
"##,
        expect![[r#"
            %start a
            a ::= "a" "b" | "a" "a"
            g: warning[not-context-free]: tokens.l:10:1: an action makes its token under a condition, which is not asked for
              help: some texts may not be valid; write a pattern for the texts that are in a copy of this file
            g: warning[not-context-free]: tokens.l:12:1: a rule is left out whose start condition changes under a condition, or in other code
              help: write `BEGIN(NAME);` in the action itself, in a copy of this file
            g: warning[not-context-free]: tokens.l:19:1: a rule whose code reads, or gives back, text is left out
              help: write one pattern for the whole text in a copy of this file
        "#]],
    );
    check(
        "%token A\n%%\na: A;\n",
        "%{\n#define RETURN_IT return B\n%}\n%%\na return A;\n\"#?\" RETURN_IT;\n",
        expect![[r#"
            %start a
            a ::= "a"
            g: warning[not-context-free]: tokens.l:6:1: code that is not read decides which token this is
              help: write a rule for each word, such as `if { return IF; }`, in a copy of this file
        "#]],
    );
}

#[test]
fn conditions_of_groups_add_up() {
    check(
        "%token X Y GO\n%%\na: GO X | GO Y;\n",
        "%x A B\n%%\ngo { BEGIN(A); return GO; }\n<A>{\n  <B>{\n    foo return X;\n  }\n  [a-z]+ return Y;\n}\n",
        expect![[r#"
            %start a
            a ::= "go" "foo" | "go" Y
            Y.part ::= [a-np-z] [a-z]* @ 25 | [o] ([a-np-z] [a-z]* @ 25 | [o] [a-z] [a-z]* @ 1 | () @ 26) @ 1 | () @ 26
            Y ::= [a-eg-z] [a-z]* @ 25 | [f] Y.part @ 1
        "#]],
    );
}

#[test]
fn rules_that_are_left_out_still_match() {
    check(
        "%token NAME\n%%\na: NAME;\n",
        "%%\nkw BEGIN(state);\nif { if (x) BEGIN(INITIAL); }\n[f-k]w?f? return NAME;\n",
        expect![[r#"
            %start a
            a ::= NAME
            NAME.part.3 ::= [f] @ 1 | [w] [f] @ 1 | () @ 2
            NAME.part.2 ::= [w] NAME.part.4 @ 1 | () @ 1
            NAME.part.4 ::= [f] @ 1 | () @ 1
            NAME.part ::= [f] @ 1 | [w] NAME.part.4 @ 1 | () @ 2
            NAME ::= [f-hj] NAME.part @ 4 | [i] NAME.part.2 @ 1 | [k] NAME.part.3 @ 1
            g: warning[not-context-free]: tokens.l:2:1: a rule that begins a start condition which code chooses is left out
              help: its name is neither declared by `%x` or `%s`, nor `INITIAL`
            g: warning[not-context-free]: tokens.l:3:1: a rule is left out whose start condition changes under a condition, or in other code
              help: write `BEGIN(NAME);` in the action itself, in a copy of this file
        "#]],
    );
}

#[test]
fn words_are_those_of_tables_that_the_pattern_matches() {
    check(
        "%token NUM PLUS IF NAME DO\n%%\na: NUM PLUS IF NAME DO;\n",
        r#"
%%
[0-9]+  { return number(yytext); }
[a-p]   { int t = lookup(yytext); if (t == IF) n++; if (!strcmp(yytext, "i")) return IF; return t; }
%%
static struct { const char *text; int token; } words[] = {
  { "+", PLUS }, { .text = "d", .token = DO }, { "p", token::PLUS } };
static const char *names[] = { [NUM] = "a", [PLUS] = "b", "c" };
int number(char *text) { return NUM; }
int lookup(char *text) { print("e", IF); return strcmp(words[0].text, text) ? NAME : words[0].token; }
const char *name(int token) {
  switch (token) { case NUM: return "f"; case PLUS: return "g"; }
  return token == IF ? "h" : "k";
}
"#,
        expect![[r#"
            %start a
            a ::= NUM "p" "i" NAME "d"
            NUM ::= [0-9]+
            NAME ::= [a-ce-hj-o]
        "#]],
    );
}

#[test]
fn errors_do_not_follow_from_others() {
    check(
        "%token A\n%%\na: A;\n",
        "%%\n<X>a {\n  *p = 0;\n}\na return A;\n<X>{\nb return A;\n}\n",
        expect![[r#"
        g: error[syntax]: tokens.l:2:1: the start condition `X` is not declared
          help: declare it with `%x` or `%s`
        g: error[syntax]: tokens.l:6:1: the start condition `X` is not declared
          help: declare it with `%x` or `%s`
    "#]],
    );
    check(
        "%token A\n%%\na: A;\n",
        "%%\na return A;\nb %{ return A;\n+ }\n",
        expect![[r#"
        g: error[syntax]: tokens.l:3:3: this code is not closed
          help: close it with `%}`
    "#]],
    );
    check(
        "%token A\n%%\na: A;\n",
        "%%\na return A;\nb { if (x) {\n}\nc return A;\n+ ;\n",
        expect![[r#"
        g: error[syntax]: tokens.l:3:3: this action is not closed
          help: close it with `}`
    "#]],
    );
    check(
        "%token A\n%%\na: A;\n",
        "%{\nint a;\n%%\na return A;\n",
        expect![[r#"
        g: error[syntax]: tokens.l:1:1: this is not closed
          help: close it with `%}`
    "#]],
    );
    check(
        "%token A\n%%\na: A;\n",
        "/* a comment\n%%\na return A;\n",
        expect![[r#"
        g: error[syntax]: tokens.l:1:1: this is not closed
          help: close it with `*/`
    "#]],
    );
}

#[test]
fn a_trailing_context_holds_in_all_start_conditions() {
    check(
        "%token T GO\n%%\na: T | GO T;\n",
        "%x A\n%%\n<INITIAL,A>a/b return T;\ngo { BEGIN(A); return GO; }\n",
        expect![[r#"
            %start a
            a ::= a.2 | a.3
            a.2 ::= "a"
            a.3 ::= "go" "a"
            g: warning[not-context-free]: tokens.l:3:12: what must follow a match, after `/` or `$`, is not asked for
              help: its token is drawn from rules without that; if there are none, whatever follows
        "#]],
    );
}

#[test]
fn definitions_count_where_they_are_used() {
    check(
        "%token A B C\n%%\na: A | B | C;\n",
        "BOL ^a\nEND a$\nBOTH {END}x\nBAD [a\nWORSE {BAD}\n%%\n{BOL} return A;\n{BOTH} return B;\nc return C;\n",
        expect![[r#"
            %start a
            a ::= "c"
            g:3:1: warning[undefined-token]: no rule of `tokens.l` makes these tokens: `A`, `B`
              | a: A | B | C;
              | ^
              help: what needs them is left out; write a rule for each in a copy of that file
            g: warning[not-context-free]: tokens.l:7:1: a rule is left out whose definition has `^`, `$` or `/`
              help: write `^`, `$` and `/` in the rule itself; other rules may match these texts
        "#]],
    );
    check(
        "%token A\n%%\na: A;\n",
        "BAD [a\nWORSE {BAD}|x\n%%\n{WORSE} return A;\n",
        expect![[r#"
        g: error[syntax]: tokens.l:1:5: this class is not closed
          help: close it with `]`
    "#]],
    );
}

#[test]
fn rules_that_report_no_mistake_are_hidden() {
    check(
        "%token A\n%%\na: A A;\n",
        "%%\n[a-z]+ return A;\n[ \\t]+ { fprintf(stderr, \"ws\"); interrupt(); terrain++; exitScope(); }\n\
         \"#\" { lex_err(1); }\n\"%\" { yyerror(\"percent\"); }\n. { lexError(); }\n",
        expect![[r#"
            %start a
            a ::= A (" " A)
            A ::= [a-z]+
            g: warning[not-context-free]: tokens.l:4:1: a rule whose code seems to report a mistake is never drawn
              help: if its texts are valid, leave out words such as `error` in a copy of this file
        "#]],
    );
}

#[test]
fn a_file_with_the_extension_lex_may_be_in_another_notation() {
    let grammar = "%token A\n%%\na: A A;\n";
    let found = parsed_with(&Yacc, grammar, &[("tokens.lex", "A ::= [a-c]+\n")]);
    expect![[r#"
        %start a
        a ::= A (" " A)
        A ::= [a-c]+
    "#]]
    .assert_eq(&found);
    let found = parsed_with(&Yacc, grammar, &[("tokens.lex", "%%\n[a-c]+ return A;\n\" \" ;\n")]);
    expect![[r#"
        %start a
        a ::= A (" " A)
        A ::= [a-c]+
    "#]]
    .assert_eq(&found);
}

#[test]
fn a_rule_without_alternatives_is_told() {
    check(
        "%token A\n%%\na: error A;\n",
        "%%\na return A;\n",
        expect![[r#"
        g:3:1: error[syntax]: rule `a` has no alternatives left
          | a: error A;
          | ^
          help: every alternative has `error` in it
        g:3:4: warning[not-context-free]: an alternative with `error` is left out
          | a: error A;
          |    ^^^^^
          help: input that is wrong is not drawn
    "#]],
    );
}
