//! E2 of conversion: the format reads the printer's output back as the same language, with the same choice map if the
//! notation can keep it.

use expect_test::{Expect, expect};
use gramjet_compiler::ast::{self, Expr, ExprKind, Grammar};
use gramjet_compiler::charset::Unit;
use gramjet_compiler::diagnostics::{Code, Diagnostics, SourceFile};
use gramjet_compiler::formats;
use gramjet_compiler::print;
use gramjet_compiler::reference::{Limits, render};
use gramjet_testkit::form::System;
use gramjet_testkit::language::language;
use gramjet_testkit::{Rng, Shape, passes, random_grammar};

fn converted(grammar: &Grammar, name: &str) -> Result<String, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let printer = print::by_name(name).expect("there is such a printer");
    match printer.print(grammar, &mut diagnostics) {
        Some(text) => Ok(text),
        None => Err(diagnostics),
    }
}

fn read(text: &str, format: &str) -> Grammar {
    let mut diagnostics = Diagnostics::default();
    let file = SourceFile::new("converted", text);
    let grammar = formats::by_name(format).expect("there is such a format").parse(&file, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{}\n{text}", diagnostics.to_plain_text(&file));
    grammar
}

/// Returns true if `test` holds for any part of the grammar.
fn any(grammar: &Grammar, test: &dyn Fn(&Expr) -> bool) -> bool {
    fn any_in(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
        test(expr)
            || match &expr.kind {
                ExprKind::Bytes(_) | ExprKind::Derived(_) | ExprKind::Class(_) | ExprKind::Rule(_) => false,
                ExprKind::Seq(items) => items.iter().any(|item| any_in(item, test)),
                ExprKind::Choice(alternatives) => alternatives.iter().any(|a| any_in(&a.expr, test)),
                ExprKind::Repeat { item, .. }
                | ExprKind::Times { item, .. }
                | ExprKind::Label { item, .. }
                | ExprKind::Naming { item, .. }
                | ExprKind::Coded { item, .. }
                | ExprKind::Call { item, .. } => any_in(item, test),
            }
    }
    grammar.rules.iter().any(|rule| any_in(&rule.body, test))
}

fn has_weights(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Choice(alternatives) if alternatives.iter().any(|a| a.weight.is_some()))
}

/// Returns true if the expression is a class that ABNF writes as several ranges.
fn has_ranges(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Class(set) if set.ranges().len() > 1)
}

/// Prints random grammars and reads them back. Returns the number of compared languages with more than three strings.
fn languages_stay(format: &str, weights: bool) -> usize {
    let mut compared = 0;
    for seed in 0..300 {
        let shape = Shape { weights, ..Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed), &shape);
        let Some(written) = language(&System::of_grammar(&grammar), 5, 400) else { continue };
        let text =
            converted(&grammar, format).unwrap_or_else(|d| panic!("{}", d.to_plain_text(&SourceFile::new("g", ""))));
        let back = read(&text, format);
        let found = language(&System::of_grammar(&back), 5, 400);
        assert!(found.as_ref() == Some(&written), "seed {seed}\n{}\n{text}", ast::dump(&grammar));
        compared += usize::from(written.len() > 3);
    }
    compared
}

/// Compares the outputs of both for random choice strings.
fn choice_map_stays(format: &str, shape: &Shape, keeps: &dyn Fn(&Grammar) -> bool) -> usize {
    let mut compared = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let grammar = random_grammar(&mut rng, shape);
        let Ok(text) = converted(&grammar, format) else { continue };
        if !keeps(&grammar) {
            continue;
        }
        let before = passes(&grammar, &Default::default());
        let after = passes(&read(&text, format), &Default::default());
        for _ in 0..8 {
            let choices = rng.choice_string(60);
            // Without a depth limit, because rules made from groups count as levels.
            let expected = render(&before.lowered, &before.pools, Limits::default(), &choices);
            let found = render(&after.lowered, &after.pools, Limits::default(), &choices);
            assert_eq!(found.output, expected.output, "seed {seed}, {choices:?}\n{}\n{text}", ast::dump(&grammar));
        }
        compared += 1;
    }
    compared
}

#[test]
fn ebnf_keeps_language_and_choice_map() {
    assert!(languages_stay("ebnf", true) > 100);
    assert_eq!(choice_map_stays("ebnf", &Shape::VARIED, &|_| true), 300);
}

#[test]
fn json_keeps_language_and_choice_map() {
    assert!(languages_stay("fuzzingbook", true) > 100);
    // No part of a rule must become a rule of its own.
    let shape = Shape { nesting: 0, ..Shape::ENUMERABLE };
    let plain = |grammar: &Grammar| {
        let nested = |expr: &Expr| matches!(expr.kind, ExprKind::Class(_) | ExprKind::Repeat { .. });
        let in_sequence = |expr: &Expr| match &expr.kind {
            ExprKind::Seq(items) => items.iter().any(|item| matches!(item.kind, ExprKind::Choice(_))),
            ExprKind::Choice(alternatives) => alternatives.iter().any(|a| matches!(a.expr.kind, ExprKind::Choice(_))),
            _ => false,
        };
        !any(grammar, &nested) && !any(grammar, &in_sequence)
    };
    let count = choice_map_stays("fuzzingbook", &shape, &plain);
    println!("{count} grammars without parts");
    assert!(count > 20, "{count}");
}

#[test]
fn abnf_keeps_language_and_choice_map() {
    assert!(languages_stay("abnf", false) > 100);
    let shape = Shape { weights: false, ..Shape::ENUMERABLE };
    assert!(choice_map_stays("abnf", &shape, &|grammar| !any(grammar, &has_ranges)) > 100);
    // Bytes and characters of all lengths, if the notation has them.
    let shape = Shape { weights: false, wide: 0, rules: 4, ..Shape::VARIED };
    let count = choice_map_stays("abnf", &shape, &|grammar| !any(grammar, &has_ranges));
    println!("{count} grammars with characters of all lengths");
    assert!(count > 20);
}

#[test]
fn gbnf_keeps_language_and_choice_map() {
    // llama.cpp refuses rules that begin with themselves, so the printer does.
    let shape = Shape { weights: false, ..Shape::ENUMERABLE };
    let count = choice_map_stays("gbnf", &shape, &|_| true);
    println!("{count} grammars");
    assert!(count > 30, "{count}");
    let shape = Shape { weights: false, wide: 0, rules: 4, ..Shape::VARIED };
    let count = choice_map_stays("gbnf", &shape, &|_| true);
    println!("{count} grammars with characters of all lengths");
    assert!(count > 10, "{count}");
    check(
        "a ::= root '\"\\\n\x01' [-a^#x5B-#x5D] | (b | ()){2,} b? c_d{3}  root ::= [\u{E9}-\u{1F600}]*  b ::= 'x'  c_d ::= 'y'",
        "gbnf",
        expect![[r#"
            root ::= ""
            g.ebnf:1:14: error[syntax]: unknown escape
              | a ::= root '"\
              |              ^
              help: a backslash itself is written `\\`
            g.ebnf:1:12: error[syntax]: this literal is not closed
              | a ::= root '"\
              |            ^^^
              help: close it with `'` on the same line; a line break is written `\n` or `#xA`
            g.ebnf:2:1: error[syntax]: unexpected character U+0001
              |  ' [-a^#x5B-#x5D] | (b | ()){2,} b? c_d{3}  root ::= [é-😀]*  b ::= 'x'  c_d ::= 'y'
              | ^
              help: text that the rule should produce stands in quotes: `'...'` or `"..."`"#]],
    );
    check(
        "a ::= a 'x' | 'y' | b  b ::= #xFF | #x80",
        "gbnf",
        expect![[r#"
        g.ebnf:1:1: error[not-expressible]: rule `a` begins with itself, which llama.cpp refuses
          | a ::= a 'x' | 'y' | b  b ::= #xFF | #x80
          | ^
          help: write the recursion with `*`, or let the rule begin with something else"#]],
    );
    check(
        "a ::= 'x' @ 2 | 'y'",
        "gbnf",
        expect![[r#"
        g.ebnf:1:7: error[not-expressible]: GBNF has no weights
          | a ::= 'x' @ 2 | 'y'
          |       ^^^^^^^^^^^^^
          help: write EBNF or JSON (`--to ebnf`, `--to fuzzingbook`), or leave the weights out with `--drop-weights`"#]],
    );
}

#[test]
fn what_cannot_be_said_is_refused() {
    let mut refused = 0;
    for seed in 0..100 {
        let grammar = random_grammar(&mut Rng::new(seed), &Shape::VARIED);
        for format in ["abnf", "fuzzingbook", "g4", "gbnf"] {
            let Err(diagnostics) = converted(&grammar, format) else { continue };
            assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == Code::NotExpressible));
            let bytes = any(&grammar, &|expr| match &expr.kind {
                ExprKind::Bytes(bytes) => std::str::from_utf8(bytes).is_err(),
                ExprKind::Class(set) => set.unit() == Unit::Byte || set.len() > 1000,
                _ => false,
            });
            assert!(
                bytes || any(&grammar, &has_weights) || ["g4", "gbnf"].contains(&format),
                "{}",
                ast::dump(&grammar)
            );
            refused += 1;
        }
    }
    assert!(refused > 50, "{refused}");
}

fn check(text: &str, format: &str, expected: Expect) {
    let file = SourceFile::new("g.ebnf", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = formats::by_name("ebnf").expect("there is an EBNF").parse(&file, &mut diagnostics);
    let printer = print::by_name(format).expect("there is such a printer");
    let printed = printer.print(&grammar, &mut diagnostics).unwrap_or_default();
    expected.assert_eq(&(printed + &diagnostics.to_plain_text(&file)));
}

const EXAMPLE: &str = "%start list-of.items\n%max-depth 9\nitem ::= [a-z_] | 'Text\"\\n' | #x41 | '<b>' | ''\nlist-of.items ::= '[' (item (',' item)*)? ']' digit{2} digit{1,3} digit{2,} (digit+)*\ndigit ::= [0-9]";

#[test]
fn snapshots() {
    check(
        EXAMPLE,
        "abnf",
        expect![[r#"
        list-of-items = "[" [item *("," item)] "]" 2digit-2 1*3digit-2 2*digit-2 *(1*digit-2)
        item = (%x5F / %x61-7A) / %s"Text" %x22.0A / %s"A" / %s"<b>" / ""
        digit-2 = %x30-39
        g.ebnf: warning[not-expressible]: ABNF has no `%max-depth`: it is left out
          help: give the limit on the command line instead"#]],
    );
    check(
        EXAMPLE,
        "fuzzingbook",
        expect![[r#"
        {
          "<list-of.items>": [["[", "<rounds-4>", "]", "<digit>", "<digit>", "<digit>", "<rounds-6>", "<digit>", "<digit>", "<rounds-7>", "<rounds-10>"]],
          "<item>": [["<group-11>"], ["Text\"\n"], ["A"], ["<", "b>"], []],
          "<digit>": [["0"], ["1"], ["2"], ["3"], ["4"], ["5"], ["6"], ["7"], ["8"], ["9"]],
          "<round-1>": [[",", "<item>"]],
          "<rounds-2>": [[], ["<round-1>", "<rounds-2>"]],
          "<round-3>": [["<item>", "<rounds-2>"]],
          "<rounds-4>": [[], ["<round-3>"]],
          "<rounds-5>": [[], ["<digit>"]],
          "<rounds-6>": [[], ["<digit>", "<rounds-5>"]],
          "<rounds-7>": [[], ["<digit>", "<rounds-7>"]],
          "<rounds-8>": [[], ["<digit>", "<rounds-8>"]],
          "<round-9>": [["<digit>", "<rounds-8>"]],
          "<rounds-10>": [[], ["<round-9>", "<rounds-10>"]],
          "<group-11>": [["_"], ["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"], ["i"], ["j"], ["k"], ["l"], ["m"], ["n"], ["o"], ["p"], ["q"], ["r"], ["s"], ["t"], ["u"], ["v"], ["w"], ["x"], ["y"], ["z"]]
        }
        g.ebnf: warning[not-expressible]: JSON has no `%max-depth`: it is left out
          help: give the limit on the command line instead"#]],
    );
    check(
        EXAMPLE,
        "g4",
        expect![[r#"
        grammar Converted;

        start : List_of_items EOF ;

        List_of_items : '[' (Item (',' Item)*)? ']' (Digit Digit) (Digit (Digit (Digit)?)?) (Digit Digit Digit*) Digit* ;
        fragment Item : [_a-z] | 'Text"\n' | 'A' | '<b>' | () ;
        fragment Digit : [0-9] ;
        g.ebnf: warning[not-expressible]: ANTLR has no `%max-depth`: it is left out
          help: give the limit on the command line instead"#]],
    );
    check(
        "a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]\nb ::= a 'y' | '' | ([#x100-#x200] 'q' @ 3 | 'z')",
        "abnf",
        expect![[r#"
        g.ebnf:1:7: error[not-expressible]: ABNF has no weights
          | a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]
          |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: write EBNF or JSON (`--to ebnf`, `--to fuzzingbook`), or leave the weights out with `--drop-weights`
        g.ebnf:1:20: error[not-expressible]: ABNF cannot say these bytes beside characters beyond U+00FF
          | a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]
          |                    ^^^^
          help: the numbers of an ABNF are all bytes or all characters; convert to the EBNF
        g.ebnf:1:25: error[not-expressible]: ABNF cannot say these bytes beside characters beyond U+00FF
          | a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]
          |                         ^^^^^^^^^^^
          help: the numbers of an ABNF are all bytes or all characters; convert to the EBNF
        g.ebnf:2:20: error[not-expressible]: ABNF has no weights
          | b ::= a 'y' | '' | ([#x100-#x200] 'q' @ 3 | 'z')
          |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: write EBNF or JSON (`--to ebnf`, `--to fuzzingbook`), or leave the weights out with `--drop-weights`"#]],
    );
    check(
        "a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]\nb ::= a 'y' | '' | ([#x100-#x200] 'q' @ 3 | 'z')",
        "g4",
        expect![[r#"
        g.ebnf:1:1: error[not-expressible]: rule `a` begins with itself, which a token of ANTLR cannot
          | a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]
          | ^
          help: write the recursion with `*`, or let the rule begin with something else
        g.ebnf:2:1: error[not-expressible]: rule `b` begins with itself, which a token of ANTLR cannot
          | b ::= a 'y' | '' | ([#x100-#x200] 'q' @ 3 | 'z')
          | ^
          help: write the recursion with `*`, or let the rule begin with something else
        g.ebnf:1:7: error[not-expressible]: ANTLR has no weights
          | a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]
          |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: write EBNF or JSON (`--to ebnf`, `--to fuzzingbook`), or leave the weights out with `--drop-weights`
        g.ebnf:1:20: error[not-expressible]: ANTLR cannot say these bytes
          | a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]
          |                    ^^^^
          help: its characters are code points; convert to the EBNF
        g.ebnf:1:25: error[not-expressible]: ANTLR cannot say these bytes
          | a ::= b* 'x' @ 2 | #bFF [#b80-#bFF]
          |                         ^^^^^^^^^^^
          help: its characters are code points; convert to the EBNF
        g.ebnf:2:20: error[not-expressible]: ANTLR has no weights
          | b ::= a 'y' | '' | ([#x100-#x200] 'q' @ 3 | 'z')
          |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: write EBNF or JSON (`--to ebnf`, `--to fuzzingbook`), or leave the weights out with `--drop-weights`"#]],
    );
    check(
        "a ::= #bFF | [#x100-#x10FFFF]",
        "fuzzingbook",
        expect![[r#"
        g.ebnf:1:7: error[not-expressible]: JSON cannot say these bytes
          | a ::= #bFF | [#x100-#x10FFFF]
          |       ^^^^
          help: JSON is text: a byte that is no UTF-8 cannot be written; convert to the EBNF"#]],
    );
}

#[test]
fn a_single_alternative_keeps_its_brackets() {
    // A weight in a choice of one has no effect.
    let grammar = read("a ::= ('x' 'y' @ 2)* 'z'", "ebnf");
    for (format, expected) in [("abnf", r#"*(%s"x" %s"y") %s"z""#), ("g4", "('x' 'y')* 'z'")] {
        let text = converted(&grammar, format).expect("a text");
        assert!(text.contains(expected), "{format}: {text}");
    }
}

#[test]
fn names_are_made_fit() {
    let file = SourceFile::new(
        "g.bnf",
        "<a b> ::= <a-b> \"x\" | <alpha> | <start>\n<a-b> ::= \"y\"\n<A-B> ::= \"z\"\n<alpha> ::= <A-B>\n<start> ::= \"s\"\n<9> ::= \"9\" | <µ>\n<µ> ::= \"m\"\n",
    );
    let mut diagnostics = Diagnostics::default();
    let grammar = formats::detect(&file).parse(&file, &mut diagnostics);
    let mut all = String::new();
    for printer in print::ALL {
        all += &format!("-- {}\n{}", printer.name(), printer.print(&grammar, &mut diagnostics).unwrap_or_default());
    }
    expect![[r#"
        -- ebnf
        a-b-2 ::= a-b "x" | alpha | start
        a-b ::= "y"
        A-B ::= "z"
        alpha ::= A-B
        start ::= "s"
        _9 ::= "9" | µ
        µ ::= "m"
        -- fuzzingbook
        {
          "<a-b-2>": [["<a-b>", "x"], ["<alpha>"], ["<start-rule>"]],
          "<a-b>": [["y"]],
          "<A-B>": [["z"]],
          "<alpha>": [["<A-B>"]],
          "<start-rule>": [["s"]],
          "<9>": [["9"], ["<µ>"]],
          "<µ>": [["m"]]
        }
        -- abnf
        a-b-2 = a-b %s"x" / alpha-2 / start
        a-b = %s"y"
        A-B-3 = %s"z"
        alpha-2 = A-B-3
        start = %s"s"
        r-9 = "9" / r--
        r-- = %s"m"
        -- g4
        grammar Converted;

        start : A_b EOF ;

        A_b : A_b_2 'x' | Alpha | Start ;
        fragment A_b_2 : 'y' ;
        fragment A_B : 'z' ;
        fragment Alpha : A_B ;
        fragment Start : 's' ;
        fragment R9 : '9' | R_ ;
        fragment R_ : 'm' ;
        -- gbnf
        root ::= a-b "x" | alpha | start
        a-b ::= "y"
        A-B ::= "z"
        alpha ::= A-B
        start ::= "s"
        9 ::= "9" | r-
        r- ::= "m"
    "#]]
    .assert_eq(&(all + &diagnostics.to_plain_text(&file)));
}

#[test]
fn many_rounds_in_antlr() {
    let printed = |text: &str| {
        let mut diagnostics = Diagnostics::default();
        let grammar = formats::by_name("ebnf").expect("a format").parse(&SourceFile::new("g", text), &mut diagnostics);
        (print::by_name("g4").expect("a printer").print(&grammar, &mut diagnostics), diagnostics)
    };
    // They do not nest deeper than the reader allows.
    let (text, _) = printed("s ::= [a-z]{30,600}");
    let mut diagnostics = Diagnostics::default();
    let file = SourceFile::new("g", text.expect("it can be written"));
    let grammar = formats::by_name("g4").expect("a format").parse(&file, &mut diagnostics);
    assert!(
        gramjet_compiler::check::check(&grammar, None, &mut diagnostics).is_some(),
        "{}",
        diagnostics.to_plain_text(&file)
    );
    // Expressions that nest deeper are divided. The new rules have new names.
    let groups = format!("s ::= {}Inner_1{}\nInner_1 ::= 'x'", "('a' | 'b' ".repeat(95), ")".repeat(95));
    let rounds = format!("s ::= 'x'{}", "{1,4}".repeat(5));
    let mixed = format!("s ::= {}'x'{}", "('a' (".repeat(40), "){0,1} | 'b'){2}".repeat(2) + &") 'c')".repeat(38));
    for text in [groups.as_str(), &rounds, &mixed, &format!("s ::= 'x'{}", "*".repeat(150))] {
        let (text, diagnostics) = printed(text);
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        let mut diagnostics = Diagnostics::default();
        let file = SourceFile::new("g", text.expect("it can be written"));
        let grammar = formats::by_name("g4").expect("a format").parse(&file, &mut diagnostics);
        let checked = gramjet_compiler::check::check(&grammar, None, &mut diagnostics);
        assert!(checked.is_some(), "{}\n{}", diagnostics.to_plain_text(&file), file.text());
    }
    // A repetition of repetitions becomes one repetition.
    for (text, expected) in
        [("'x'???", "'x'?"), ("'x'+++", "'x'+"), ("'x'+?", "'x'*"), ("'x'*+", "'x'*"), ("'x'?+", "'x'*")]
    {
        let (printed, _) = printed(&format!("s ::= {text} 'y'"));
        let printed = printed.expect("it can be written");
        assert!(printed.contains(&format!("S : {expected} 'y' ;")), "{text}: {printed}");
    }
    // An expression that is too large is reported once.
    let (text, diagnostics) = printed("s ::= ((([ab]{1000}){1000}){1000}){1000}");
    assert!(text.is_none() && diagnostics.iter().count() + diagnostics.suppressed() == 1);
    // A text that our reader would refuse is too large.
    let (text, diagnostics) = printed("s ::= ([ab]{1000}){1000}");
    assert!(text.is_none() && diagnostics.iter().count() == 1);
}
