//! Snapshots of the diagnostics of each code; very long grammars.

use expect_test::{Expect, expect};

use super::*;
use crate::ast::Rule;
use crate::diagnostics::SourceFile;
use crate::formats::ebnf::Ebnf;
use crate::formats::{Format, testing};

fn findings_from(start: Option<&str>, text: &str) -> (String, Option<Vec<bool>>) {
    let file = SourceFile::new("g", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = Ebnf.parse(&file, &mut diagnostics);
    let checked = check(&grammar, start, &mut diagnostics);
    diagnostics.sort();
    assert_eq!(checked.is_none(), diagnostics.has_errors());
    (diagnostics.to_plain_text(&file) + "\n", checked.map(|checked| checked.reachable))
}

fn check_findings(text: &str, expected: Expect) {
    expected.assert_eq(&findings_from(None, text).0);
}

#[test]
fn a_sound_grammar() {
    let text = "a ::= b* | c @ 0\nb ::= 'x' | b 'y'\nd ::= 'd'\nc ::= 'c'\n";
    let (_, reachable) = findings_from(None, text);
    assert_eq!(reachable, Some(vec![true, true, false, false]));
    let (_, reachable) = findings_from(Some("<c>"), text);
    assert_eq!(reachable, Some(vec![false, false, false, true]));
}

#[test]
fn no_rules() {
    check_findings(
        "",
        expect![[r#"
        g: error[no-rules]: the grammar defines no rule
          help: a rule is written `name ::= expression`, or `"<name>": [alternative, ...]` in JSON
    "#]],
    );
}

#[test]
fn undefined_rules() {
    check_findings(
        "%start document\nobject ::= membr 'x' membr (membr | membr)* | vlaue @ 0 | Value_List | q\nmember ::= 'm'\nvalue ::= member object\nvalue-list ::= value",
        expect![[r#"
            g:1:8: error[undefined-rule]: the start rule `document` is not defined
              | %start document
              |        ^^^^^^^^
              help: the rules are `object`, `member`, `value`, `value-list`
            g:2:12: error[undefined-rule]: rule `membr` is not defined (used 4 times)
              | object ::= membr 'x' membr (membr | membr)* | vlaue @ 0 | Value_List | q
              |            ^^^^^
              note: g:2:22: also used here
              note: g:2:29: also used here
              help: did you mean `member`?
            g:2:47: error[undefined-rule]: rule `vlaue` is not defined
              | object ::= membr 'x' membr (membr | membr)* | vlaue @ 0 | Value_List | q
              |                                               ^^^^^
              help: did you mean `value`?
            g:2:59: error[undefined-rule]: rule `Value_List` is not defined
              | object ::= membr 'x' membr (membr | membr)* | vlaue @ 0 | Value_List | q
              |                                                           ^^^^^^^^^^
              help: did you mean `value-list`?
            g:2:72: error[undefined-rule]: rule `q` is not defined
              | membr 'x' membr (membr | membr)* | vlaue @ 0 | Value_List | q
              |                                                             ^
              help: none of the 4 rules has a similar name; every rule must be defined in this file
        "#]],
    );
    check_findings(
        "%start objct\nobject ::= 'x'",
        expect![[r#"
        g:1:8: error[undefined-rule]: the start rule `objct` is not defined
          | %start objct
          |        ^^^^^
          help: did you mean `object`?
    "#]],
    );
    expect![[r#"
        g: error[undefined-rule]: the start rule `objekt` is not defined
          help: did you mean `object`?
    "#]]
    .assert_eq(&findings_from(Some("objekt"), "object ::= 'x'").0);
}

#[test]
fn duplicate_rules() {
    check_findings(
        "a ::= 'x' b\nb ::= 'y'\na ::= 'z'\na ::= c\nc ::= 'x'",
        expect![[r#"
            g:3:1: error[duplicate-rule]: rule `a` is defined twice
              | a ::= 'z'
              | ^
              note: g:1:1: it is first defined here
              help: rename one of them, or write both as alternatives of one rule
            g:4:1: error[duplicate-rule]: rule `a` is defined twice
              | a ::= c
              | ^
              note: g:1:1: it is first defined here
              help: rename one of them, or write both as alternatives of one rule
            g:5:1: warning[unreachable-rule]: rule `c` cannot be reached from `a`
              | c ::= 'x'
              | ^
              help: refer to it from a rule that can be reached, make it the start rule, or remove it
        "#]],
    );
}

/// Rules that only alternatives of weight 0 refer to are there for texts.
#[test]
fn unreachable_rules() {
    check_findings(
        "a ::= 'x' | b @ 0 | [a-z] - c\nb ::= 'y' d\nc ::= e | 'r'\nd ::= 'd'\ne ::= 'q'\nf ::= f 'x' | 'f'",
        expect![[r#"
            g:6:1: warning[unreachable-rule]: rule `f` cannot be reached from `a`
              | f ::= f 'x' | 'f'
              | ^
              help: refer to it from a rule that can be reached, make it the start rule, or remove it
        "#]],
    );
}

#[test]
fn unproductive_rules() {
    check_findings(
        "a ::= 'x' | b | e* | g\nb ::= c 'x'\nc ::= b | c\nd ::= d 'x'\ne ::= 'x' e+\nf ::= (f | 'x')? f{0,2} | f\ng ::= 'x' @ 0 | g 'y' @ 2",
        expect![[r#"
            g:2:1: error[unproductive-rule]: rule `b` derives no finite string
              | b ::= c 'x'
              | ^
              note: g:2:7: it needs `c`, which derives no finite string either
              help: add an alternative to one of the rules that does not refer back to it
            g:3:1: error[unproductive-rule]: rule `c` derives no finite string
              | c ::= b | c
              | ^
              note: g:3:7: it needs `b`, which derives no finite string either
              help: add an alternative to one of the rules that does not refer back to it
            g:4:1: warning[unreachable-rule]: rule `d` cannot be reached from `a`
              | d ::= d 'x'
              | ^
              help: refer to it from a rule that can be reached, make it the start rule, or remove it
            g:4:1: warning[unproductive-rule]: rule `d` derives no finite string
              | d ::= d 'x'
              | ^
              note: g:4:7: it needs itself here
              help: add an alternative that does not refer back to the rule
            g:5:1: error[unproductive-rule]: rule `e` derives no finite string
              | e ::= 'x' e+
              | ^
              note: g:5:11: it needs itself here
              help: add an alternative that does not refer back to the rule
            g:6:1: warning[unreachable-rule]: rule `f` cannot be reached from `a`
              | f ::= (f | 'x')? f{0,2} | f
              | ^
              help: refer to it from a rule that can be reached, make it the start rule, or remove it
            g:7:1: error[unproductive-rule]: rule `g` derives no finite string
              | g ::= 'x' @ 0 | g 'y' @ 2
              | ^
              note: g:7:17: it needs itself here
              help: add an alternative that does not refer back to the rule
        "#]],
    );
}

#[test]
fn weights() {
    check_findings(
        "a ::= 'x' @ 2\nb ::= 'x' @ 0 | 'y' @ 0\nc ::= ('x' @ 0)* ('y' @ 1)\n",
        expect![[r#"
            g:1:13: warning[unused-weight]: this weight has no effect
              | a ::= 'x' @ 2
              |             ^
              help: there is only one alternative; a weight compares the alternatives of one choice
            g:2:1: warning[unreachable-rule]: rule `b` cannot be reached from `a`
              | b ::= 'x' @ 0 | 'y' @ 0
              | ^
              help: refer to it from a rule that can be reached, make it the start rule, or remove it
            g:2:13: error[zero-weights]: every alternative of this choice has weight 0
              | b ::= 'x' @ 0 | 'y' @ 0
              |             ^
              help: weight 0 switches an alternative off; at least one must be left
            g:3:1: warning[unreachable-rule]: rule `c` cannot be reached from `a`
              | c ::= ('x' @ 0)* ('y' @ 1)
              | ^
              help: refer to it from a rule that can be reached, make it the start rule, or remove it
            g:3:14: error[zero-weights]: every alternative of this choice has weight 0
              | c ::= ('x' @ 0)* ('y' @ 1)
              |              ^
              help: weight 0 switches an alternative off; at least one must be left
            g:3:25: warning[unused-weight]: this weight has no effect
              | c ::= ('x' @ 0)* ('y' @ 1)
              |                         ^
              help: there is only one alternative; a weight compares the alternatives of one choice
        "#]],
    );
}

#[test]
fn an_empty_class_is_reported_once() {
    check_findings(
        "a ::= []",
        expect![[r#"
        g:1:7: error[empty-class]: this class has no members
          | a ::= []
          |       ^^
          help: the empty string is `''`; a bracket inside a class is `\]`
    "#]],
    );
    let span = Span::new(0, 1);
    let body = Expr::class(crate::charset::CharSet::empty(crate::charset::Unit::Char), span);
    let rule = Rule::new(Name { text: "a".to_string(), span: Span::default() }, body);
    let mut diagnostics = Diagnostics::default();
    check(&Grammar { rules: vec![rule], ..Grammar::default() }, None, &mut diagnostics);
    assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::EmptyClass]);
}

#[test]
fn what_follows_from_a_syntax_error_is_not_reported() {
    check_findings(
        "a ::= 'x\nb ::= nothing\nc ::= c",
        expect![[r#"
            g:1:7: error[syntax]: this literal is not closed
              | a ::= 'x
              |       ^^
              help: close it with `'` on the same line; a line break is written `\n` or `#xA`
            g:2:7: error[undefined-rule]: rule `nothing` is not defined
              | b ::= nothing
              |       ^^^^^^^
              help: none of the 3 rules has a similar name; every rule must be defined in this file
        "#]],
    );
}

/// Code that recurses over rules overflows its stack here, and quadratic code takes hours.
#[test]
fn very_long_grammars() {
    let ends = |what: &str, text: String, expected: &str| {
        let file = SourceFile::new("g", text);
        let found = testing::ends(what, || {
            let mut diagnostics = Diagnostics::default();
            let grammar = Ebnf.parse(&file, &mut diagnostics);
            check(&grammar, None, &mut diagnostics);
            diagnostics.to_plain_text(&file)
        });
        assert!(found.contains(expected), "{what}: {}", &found[..found.len().min(1000)]);
    };
    let rules = gramjet_testkit::amount::part(300_000) as usize;
    let chain = |range: std::ops::Range<usize>| -> String { range.map(|i| format!("r{i} ::= r{}\n", i + 1)).collect() };
    ends("chain", chain(0..rules) + &format!("r{rules} ::= 'x'"), "");
    ends("cycle", chain(0..rules) + &format!("r{rules} ::= r0"), &format!("and {} more", rules - 199));
    ends("undefined", (0..rules).map(|i| format!("r{i} ::= q{i}\n")).collect(), "rule `q0` is not defined");
    ends("unreachable", (0..rules).map(|i| format!("r{i} ::= 'x'\n")).collect(), "cannot be reached");
    ends("duplicates", "r ::= 'x'\n".repeat(rules), "is defined twice");
    let wide: String = (1..rules / 2).rev().map(|i| format!("r{i} ")).collect();
    let rest: String = (1..rules / 2).map(|i| format!("r{i} ::= r{} | 'x'\n", i / 2 + 1)).collect();
    ends("wide", format!("r0 ::= {wide}\n{rest}"), "");
}
