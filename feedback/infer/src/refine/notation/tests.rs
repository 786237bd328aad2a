//! Edits of grammars in ABNF, Lark and ANTLR.

use gramjet_compiler::diagnostics::SourceFile;
use gramjet_compiler::formats;

use super::*;
use crate::refine::place::{ExprPath, literal, repeat};

fn read(format: &str, text: &str) -> Option<Grammar> {
    let mut diagnostics = Diagnostics::default();
    let grammar = formats::by_name(format)?.parse(&SourceFile::new("grammar", text), &mut diagnostics);
    (!diagnostics.has_errors()).then_some(grammar)
}

/// Returns the text after the bodies of rules were changed.
fn edit(format: &str, text: &str, rules: &[(&str, &dyn Fn(Expr) -> Expr)]) -> Option<String> {
    let old = read(format, text).expect("a grammar");
    let mut new = old.clone();
    for (name, change) in rules {
        let rule = new.rules.iter().position(|rule| rule.name.text == *name).expect("the rule");
        let body = new.rules[rule].body.clone();
        new = ExprPath::body(rule).with(&new, change(body));
    }
    let notation = Notation::by_name(format).expect("a notation");
    rewritten(text, notation, (&old, &new), &|text| read(format, text))
}

fn further(expr: Expr) -> Expr {
    let ExprKind::Choice(mut ones) = expr.kind else { panic!("no choice") };
    ones.push(crate::refine::place::alternative(seq(vec![literal(b"it's \"x\"/"), repeat(literal(b"%"), 1, None)])));
    Expr { kind: ExprKind::Choice(ones), span: expr.span }
}

fn optional(expr: Expr) -> Expr {
    repeat(expr, 0, Some(1))
}

fn wider(expr: Expr) -> Expr {
    let ExprKind::Repeat { item, min, max } = expr.kind else { panic!("no repetition") };
    let ExprKind::Class(set) = item.kind else { panic!("no class") };
    let more = CharSet::new(set.unit(), [(0x2D, 0x2F), (0x5C, 0x5C), (0x5E, 0x5E), (0xE9, 0xE9)]);
    let ranges = set.ranges().iter().chain(more.ranges()).copied();
    repeat(crate::refine::place::class(CharSet::new(set.unit(), ranges)), min, max)
}

#[test]
fn only_the_body_of_an_edited_rule_is_written_anew() {
    let lark = "// lists\nstart: \"[\" [item (\",\" item)*] \"]\" // the whole\n?item.2: INT\n    | start  // nested\n\n\
        INT: /[0-9]+/  // digits\n%ignore \" \"\n";
    let text = edit("lark", lark, &[("item", &|expr| expr), ("INT", &wider), ("start", &optional)]).expect("a text");
    assert_eq!(
        text,
        lark.replace("/[0-9]+/", "/[\\--9\\\\\\^\\u00E9]/+")
            .replace("\"[\" [item (\",\" item)*] \"]\"", "(\"[\" (item (\",\" item)*)? \"]\")?")
    );
    let text = edit("lark", lark, &[("item", &further)]).expect("a text");
    assert_eq!(text, lark.replace("// nested", "// nested\n    | \"it's \\\"x\\\"/\" \"%\"+"));

    let abnf = "; lists\nlist = \"[\" [ item *( \",\" item ) ] \"]\" ; the whole\nitem = 1*DIGIT\n     / list\n";
    let text = edit("abnf", abnf, &[("item", &further), ("list", &optional)]).expect("a text");
    assert!(
        text.starts_with(
            "; lists\nlist = [ \"[\" [ item *(\",\" item) ] \"]\" ] ; the whole\nitem = 1*DIGIT\n     / list\n     / "
        ),
        "{text}"
    );

    let antlr = "grammar T;\n// lists\nlist : '[' (item (',' item)*)? ']' EOF; // the whole\nitem\n  : INT\n  | NULL\n  ; // one\n\
        INT : [0-9]+ ; NULL : 'null';\n";
    let text = edit("g4", antlr, &[("item", &further), ("INT", &wider)]).expect("a text");
    assert_eq!(
        text,
        antlr.replace("  | NULL\n", "  | NULL\n  | 'it\\'s \"x\"/' '%'+\n").replace("[0-9]+", "[\\--9\\\\^\\u00E9]+")
    );
}

#[test]
fn what_is_no_part_of_the_grammar_stays_with_its_alternative() {
    // The new alternative comes after the first of the two texts.
    for (format, before, after, more) in [
        ("lark", "start: \"a\" -> one\n  | \"b\" -> two", "\n", "\n  | \"it's \\\"x\\\"/\" \"%\"+"),
        ("lark", "start: \"a\" // one\n  | (\"b\" | \"c\") // two", "\n", "\n  | \"it's \\\"x\\\"/\" \"%\"+"),
        ("lark", "start: \"a\" | \"b\" // both", "\n", "\n    | \"it's \\\"x\\\"/\" \"%\"+"),
        ("g4", "grammar T;\nstart : 'a' // one\n  | 'b' /* | */ 'c' // two", "\n  ;\n", "\n  | 'it\\'s \"x\"/' '%'+"),
        ("g4", "grammar T;\nstart : 'a' | 'b' // both", "\n  ;\n", "\n    | 'it\\'s \"x\"/' '%'+"),
        (
            "g4",
            "grammar T;\nstart : 'a' # one\n  | 'b' # two",
            "\n  ;\n",
            "\n  | 'it\\'s \"x\"/' '%'+ # startAlternative1",
        ),
        (
            "abnf",
            "start = \"a\" ; one\n  / (\"b\" / \"c\") ; \u{e9}",
            "\n",
            "\n  / (%s\"it's \" %x22 %s\"x\" %x22 \"/\") 1*\"%\"",
        ),
    ] {
        let text = format!("{before}{after}");
        assert_eq!(edit(format, &text, &[("start", &further)]), Some(format!("{before}{more}{after}")));
    }
}

#[test]
fn an_alternative_that_says_more_than_the_grammar_is_not_written_anew() {
    let first = |expr: Expr| {
        let ExprKind::Choice(mut ones) = expr.kind else { panic!("no choice") };
        ones[0].expr = repeat(ones[0].expr.clone(), 1, None);
        Expr { kind: ExprKind::Choice(ones), span: expr.span }
    };
    for (format, text) in [
        ("lark", "start: \"a\" -> one\n  | \"b\"\n"),
        ("lark", "start: \"a\" // one\n  | \"b\"\n"),
        ("g4", "grammar T;\nstart : 'a' # one\n  | 'b' # two\n  ;\n"),
        ("g4", "grammar T;\nstart : 'a' {act();} | 'b' ;\n"),
        ("abnf", "start = \"a\" ; one\n  / \"b\"\n"),
    ] {
        assert_eq!(edit(format, text, &[("start", &first)]), None, "{text}");
        let plain = text.replace(" -> one", "").replace(" // one", "").replace(" ; one", "");
        let plain = plain.replace(" # one", "").replace(" # two", "").replace(" {act();}", "");
        assert!(edit(format, &plain, &[("start", &first)]).is_some(), "{plain}");
    }
}
