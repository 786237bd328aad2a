//! The budgets of all formats: everything that a text may list without end is counted.

use super::{MAX_EXPRESSIONS, by_name, testing};

#[test]
fn what_is_listed_is_counted() {
    let listed = [
        ("iso-ebnf", "b = 'x'; c = 'y'; a = ", "b c ", ";"),
        ("nautilus", "ctx.rule(", "x,", ")"),
        ("nautilus", "ctx.script('A', [", "'A',", "], lambda x: x)"),
        ("gramatron", "[", "0,0,0,0,", "0]"),
        ("tree-sitter", "{\"rules\": {}", ", \"\": 0, \"\": 0", "}"),
        ("lark", "start: \"x\"\n%import common (", "WS,", "WS)\n"),
        ("lark", "a{", "b,", "b}: b\n"),
        ("yacc", "%token ", "A ", "\n%%\na: 'x';"),
        ("peggy", "a = ", "b ", "\nb = 'x'"),
        ("peg", "a <- ", "/ ", "\n"),
        ("g4", "grammar g; a : A ; A : 'x' -> ", "skip,", "skip ;"),
        ("g4", "grammar g; a : ", "|", ";"),
        ("g4", "grammar g; ", "a:;", ""),
        ("g4", "grammar g; tokens { ", "A,", "B } a : A ;"),
        ("g4", "grammar g; options { ", "a=b;", "} a : 'x' ;"),
        ("g4", "grammar g; import ", "h,", "h; a : 'x' ;"),
    ];
    for (format, before, unit, behind) in gramjet_testkit::amount::some(listed, 4) {
        let text = format!("{before}{}{behind}", unit.repeat(MAX_EXPRESSIONS + 1));
        testing::survives(by_name(format).expect("a format's name"), &text, "too-large");
    }
}

/// A million rules with long names have few expressions, but each name would be kept several times.
#[test]
fn rules_weigh_by_their_names() {
    let rules = |rule: fn(String) -> String| -> String {
        (0..MAX_EXPRESSIONS / 4).map(|number| rule(format!("a{number:0>60}"))).collect()
    };
    let listed = [
        ("abnf", rules(|name| format!("{name}=\"\"\n"))),
        ("bnf", rules(|name| format!("<{name}>::=x\n"))),
        ("iso-ebnf", rules(|name| format!("{name}='';"))),
        ("gbnf", rules(|name| format!("{name}::=\"\"\n"))),
        ("peggy", rules(|name| format!("{name}='';"))),
        ("w3c", rules(|name| format!("{name}::=''\n"))),
        ("peg", rules(|name| format!("{name}<-'';"))),
        ("gram", rules(|name| format!("{name}::=\"\";"))),
        ("nautilus", rules(|name| format!("ctx.rule('A{name}','')\n"))),
        ("gramatron", format!("{{{}\"a\":[]}}", rules(|name| format!("\"{name}\":[\"''\"],")))),
    ];
    for (format, text) in gramjet_testkit::amount::some(listed, 3) {
        testing::survives(by_name(format).expect("a format's name"), &text, "too-large");
    }
}

/// If the budget is spent, rules that have lost their alternatives are not reported too.
#[test]
fn a_spent_budget_is_the_only_error() {
    let text = format!("%%\na: 'x';\n{}", "b: 'x' 'x' 'x';\n".repeat(MAX_EXPRESSIONS / 2));
    let errors = testing::errors(by_name("yacc").expect("a format's name"), &text);
    assert_eq!(errors.matches("error[").count(), 1, "{errors}");
}

#[test]
fn equal_characters_that_are_out_of_place_are_one_error() {
    for (format, text) in
        [("iso-ebnf", "a = \0\0\0 ;"), ("g4", "grammar g; a : \0\0\0 ;"), ("g4", "grammar g; a : ééé\"\"\" ;")]
    {
        let errors = testing::errors(by_name(format).expect("a format's name"), text);
        assert_eq!(errors.matches("unexpected character").count(), 1, "{errors}");
    }
}
