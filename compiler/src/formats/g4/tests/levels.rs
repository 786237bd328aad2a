//! Operators with levels.

use expect_test::expect;

use super::check;

#[test]
fn earlier_alternatives_bind_tighter() {
    check(
        "grammar G; s : e EOF ; e : e '*' e | e op e | <assoc=right> e '^' e | e '?'<assoc=right> e ':' e | '-' e | 'x' ;
         op : '+' | '-' ; e2 : 'x' ;",
        expect![[r#"
            %start s
            s ::= e
            e ::= e.2 "*" e.3 | e.4 op e.5 | e.4 "^" e.6 | e.7 "?" e ":" e | "-" e | "x"
            e.2 ::= e.2 "*" e.8 | "x"
            e.3 ::= "-" e | "x"
            e.4 ::= e.2 "*" e.8 | e.4 op e.2 | "x"
            op ::= "+" | "-"
            e.5 ::= e.2 "*" e.3 | "-" e | "x"
            e.6 ::= e.2 "*" e.3 | e.4 op e.5 | e.4 "^" e.6 | "-" e | "x"
            e.7 ::= e.2 "*" e.8 | e.4 op e.2 | e.4 "^" e.7 | "x"
            e.8 ::= "x"
            g:2:27: warning[unreachable-rule]: rules cannot be reached from `s`, the first of the parser: `e2`
              |          op : '+' | '-' ; e2 : 'x' ;
              |                           ^^
              help: choose the start rule with `--start`
        "#]],
    );
    check(
        "grammar G; e : 'not' e | e '.' ID | e '+'<assoc=right> e | ID | f ; f : '(' ID ')' '->' e ; ID : [a-z] ;
         WS : ' ' -> skip ;",
        expect![[r#"
            %start e
            e ::= "not" e.2 | e.3 "." ID | e.3 "+" e.2.2 | ID | f
            e.2 ::= "not" e.2 | ID | f
            e.3 ::= "not" e.4 | e.3 "." ID | ID
            e.2.2 ::= "not" e.2 | e.3 "." ID | e.3 "+" e.2.2 | ID | f
            f ::= "(" ID ")" "->" e.2.2
            e.4 ::= "not" e.4 | ID
            ID ::= [a-z]
        "#]],
    );
}

/// Rules that do not begin with themselves have no levels, and neither have operands within an alternative.
#[test]
fn other_recursion_stays() {
    check(
        "grammar G; e : '-' e | 'x' | '[' e ',' e ']' ;",
        expect![[r#"
        %start e
        e ::= "-" e.2 | "x" | "[" e.2 "," e.2 "]"
        e.2 ::= "-" e.2 | "x" | "[" e.2 "," e.2 "]"
    "#]],
    );
    check(
        "grammar G; e : e '[' e ']' | 'x' ;",
        expect![[r#"
        %start e
        e ::= e.2 "[" e.2 "]" | "x"
        e.2 ::= e.2 "[" e.2 "]" | "x"
    "#]],
    );
    check(
        "grammar G; e : (e '+')? e | 'x' ;",
        expect![[r#"
        %start e
        e ::= (e.2 "+")? e.2 | "x"
        e.2 ::= (e.2 "+")? e.2 | "x"
    "#]],
    );
}
