//! The derived texts are those that a lexer with a stack of indentations accepts, for grammars small enough to list
//! both.

use super::{DEDENT, INDENT, Indentation, Layout, NEWLINE, Unit, lay_out};
use crate::ast::{Expr, ExprKind, Grammar, Name};
use crate::diagnostics::{Diagnostics, SourceFile, Span};
use crate::formats::{Format, ebnf::Ebnf};
use crate::ordered::{Map, Set};

const LEVELS: u8 = 2;
/// The greatest length of compared token strings.
const TOKENS: usize = 8;
/// The greatest length of compared texts.
const BYTES: usize = 14;

/// Grammars with tokens as letters. `$`, `>` and `<` are the layout tokens.
const GRAMMARS: &[&str] = &[
    // As in Python.
    "file ::= (statement)* ; statement ::= 'x' '$' | 'i' block ; block ::= 'x' '$' | '$' '>' statement (statement)* '<' ;",
    // Lines and blocks that may be empty.
    "file ::= ('$' | statement)* ; statement ::= 'x' '$' | 'i' '$' '>' (statement)* '<' ;",
    // The last statement has no end of line.
    "file ::= statement ('$' statement)* ('$')? ; statement ::= 'x' | 'i' '$' '>' statement '$' '<' 'e' ;",
    // The first element of a line may be empty.
    "file ::= (statement)* ; statement ::= ('a')? word '$' | 'i' '$' '>' statement (statement)* '<' ; word ::= ('b')? ;",
    // Two blocks that end at once, and tokens in rules of their own.
    "file ::= block (block)* ; block ::= 'i' line open block close | 'x' line ; line ::= '$' ; open ::= '>' ; close ::= '<' ;",
    // Several rounds, with a bound.
    "file ::= 'i' '$' '>' ( 'x' '$' | 'i' '$' '>' 'x' '$' '<' ){2,3} '<' ;",
    // Only one of these alternatives derives a text.
    "file ::= 'x' '$' | '>' 'x' '$' '<' | 'x' '>' 'x' '<' | '<' 'x' | 'x' '$' '<' 'x' | 'x' '$' '>' '>' 'x' '$' '<' '<' | \
     'x' '$' '>' '<' 'x' | 'x' '$' '$' 'x' ;",
    // Left recursion.
    "file ::= lines ; lines ::= lines line | line ; line ::= 'x' '$' | 'i' '$' '>' lines '<' ;",
];

/// Returns the grammar with its tokens as letters.
fn grammar(text: &str) -> Grammar {
    let mut diagnostics = Diagnostics::default();
    let file = SourceFile::new("g.ebnf", text.replace(';', "\n"));
    let grammar = Ebnf.parse(&file, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{}", diagnostics.to_plain_text(&file));
    grammar
}

fn each(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    visit(expr);
    match &mut expr.kind {
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) | ExprKind::Derived(_) => {}
        ExprKind::Seq(items) => items.iter_mut().for_each(|item| each(item, visit)),
        ExprKind::Choice(options) => options.iter_mut().for_each(|option| each(&mut option.expr, visit)),
        ExprKind::Repeat { item, .. }
        | ExprKind::Times { item, .. }
        | ExprKind::Label { item, .. }
        | ExprKind::Naming { item, .. }
        | ExprKind::Coded { item, .. }
        | ExprKind::Call { item, .. } => each(item, visit),
    }
}

/// Returns the grammar with layout tokens in place of their letters.
fn with_tokens(mut grammar: Grammar) -> Grammar {
    let names = Map::from([(b"$".to_vec(), NEWLINE), (b">".to_vec(), INDENT), (b"<".to_vec(), DEDENT)]);
    for rule in &mut grammar.rules {
        each(&mut rule.body, &mut |expr| {
            if let ExprKind::Bytes(bytes) = &expr.kind
                && let Some(name) = names.get(bytes)
            {
                expr.kind = ExprKind::Rule((*name).to_string());
            }
        });
    }
    grammar
}

fn laid_out(grammar: &Grammar, gaps: &[&str]) -> Option<Grammar> {
    let layout = Layout {
        indentation: Indentation { levels: LEVELS, unit: Unit::Spaces(1) },
        line_end: Expr::bytes(b"\n".to_vec(), Span::default()),
        blank_line: Expr::empty(Span::default()),
        gaps: gaps.iter().map(ToString::to_string).collect(),
    };
    let start = Name { text: "file".to_string(), span: Span::default() };
    lay_out(grammar, &start, &layout, &mut Diagnostics::default())
}

type Texts = Set<String>;

/// Returns all texts of at most `max` bytes.
fn language(grammar: &Grammar, max: usize) -> Texts {
    let mut known: Map<&str, Texts> = Map::new();
    loop {
        let before: usize = known.values().map(Set::len).sum();
        for rule in &grammar.rules {
            let texts = texts(&rule.body, &known, max);
            known.insert(&rule.name.text, texts);
        }
        if known.values().map(Set::len).sum::<usize>() == before {
            return known.remove("file").unwrap_or_default();
        }
    }
}

fn texts(expr: &Expr, known: &Map<&str, Texts>, max: usize) -> Texts {
    let empty = || Texts::from([String::new()]);
    let append = |left: Texts, right: &Texts| -> Texts {
        let both = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
        both.filter(|(left, right)| left.len() + right.len() <= max)
            .map(|(left, right)| format!("{left}{right}"))
            .collect()
    };
    match &expr.kind {
        ExprKind::Bytes(bytes) => Texts::from([String::from_utf8(bytes.clone()).unwrap()]),
        ExprKind::Class(_)
        | ExprKind::Times { .. }
        | ExprKind::Label { .. }
        | ExprKind::Derived(_)
        | ExprKind::Naming { .. }
        | ExprKind::Coded { .. }
        | ExprKind::Call { .. } => {
            unreachable!("the grammars have none")
        }
        ExprKind::Rule(name) => known.get(name.as_str()).cloned().unwrap_or_default(),
        ExprKind::Seq(items) => items.iter().fold(empty(), |left, item| append(left, &texts(item, known, max))),
        ExprKind::Choice(options) => options.iter().flat_map(|option| texts(&option.expr, known, max)).collect(),
        ExprKind::Repeat { item, min, max: most } => {
            let once = texts(item, known, max);
            let (mut all, mut rounds) = (Texts::new(), empty());
            for round in 0..=most.unwrap_or(max as u32 + min) {
                if round >= *min {
                    all.extend(rounds.iter().cloned());
                }
                if rounds.is_empty() {
                    break;
                }
                rounds = append(rounds, &once);
            }
            all
        }
    }
}

/// Returns the tokens of a text as a lexer finds them. Empty lines have no tokens, except the first line.
fn cut(text: &str) -> String {
    let mut tokens = String::new();
    let mut levels = vec![0];
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (number, line) in lines.iter().enumerate() {
        let rest = line.trim_start_matches(' ');
        let blanks = line.len() - rest.len();
        if rest.trim().is_empty() && number > 0 {
            continue;
        }
        if blanks > *levels.last().unwrap() {
            levels.push(blanks);
            tokens.push('>');
        }
        while blanks < *levels.last().unwrap() {
            levels.pop();
            tokens.push('<');
        }
        assert!(number == 0 || blanks == *levels.last().unwrap(), "{text:?} ends no block there");
        tokens += &rest.replace('\n', "$");
    }
    tokens.extend(levels[1..].iter().map(|_| '<'));
    tokens
}

/// Returns the text of these tokens, if a lexer finds them in it.
fn written(tokens: &str) -> Option<String> {
    let (mut text, mut level, mut is_fresh) = (String::new(), 0usize, false);
    for token in tokens.chars() {
        match token {
            '>' => level += 1,
            '<' => level = level.checked_sub(1)?,
            '$' => {
                text.push('\n');
                is_fresh = true;
            }
            token => {
                let blanks = if std::mem::take(&mut is_fresh) { level } else { 0 };
                text += &" ".repeat(blanks);
                text.push(token);
            }
        }
        if level > usize::from(LEVELS) {
            return None;
        }
    }
    (cut(&text) == tokens).then_some(text)
}

#[test]
fn texts_are_those_of_the_tokens() {
    for rules in GRAMMARS {
        let plain = grammar(rules);
        let tokens = language(&plain, TOKENS);
        let expected: Texts =
            tokens.iter().filter_map(|tokens| written(tokens)).filter(|text| text.len() <= BYTES).collect();
        assert!(!expected.is_empty(), "{rules}");
        let laid = laid_out(&with_tokens(plain), &[]).expect(rules);
        let found = language(&laid, BYTES);
        let short: Texts = found.iter().filter(|text| cut(text).len() <= TOKENS).cloned().collect();
        assert_eq!(short, expected, "{rules}");
    }
}

#[test]
fn blocks_may_bring_their_own_line_ends() {
    // As in tree-sitter, and in lexers that hide the ends of lines.
    let rules = "file ::= (statement)* ; statement ::= 'x' '$' | 'i' '>' statement (statement)* '<' ;";
    let laid = laid_out(&with_tokens(grammar(rules)), &[]).unwrap();
    let found: Vec<String> = language(&laid, 7).into_iter().collect();
    let expected = ["", "i\n x\n", "i\n x\nx\n", "x\n", "x\nx\n", "x\nx\nx\n"];
    let is_short = |text: &&String| !text.contains(" x\n x") && !text.contains("x\ni");
    assert_eq!(found.iter().filter(is_short).collect::<Vec<_>>(), expected);
}

#[test]
fn gaps_are_left_out_at_the_beginning_of_a_line() {
    let rules = "file ::= statement (statement)* ; statement ::= word (gap 'y')* '$' | gap 'i' '$' '>' statement '<' ; \
                 word ::= gap 'x' | word gap 'z' ; gap ::= '_' ;";
    let laid = laid_out(&with_tokens(grammar(rules)), &["gap"]).unwrap();
    let found = language(&laid, 8);
    for text in ["x_y\n", "x\nx_z\n", "i\n x_z\n", "i\n x\nx\n"] {
        assert!(found.contains(text), "{text:?} is missing in {found:?}");
    }
    assert!(
        found.iter().all(|text| !text.starts_with('_') && !text.contains("\n_") && !text.contains(" _")),
        "{found:?}"
    );
}

#[test]
fn what_only_indents_derives_nothing() {
    for rules in ["file ::= '$' '>' file '<' ;", "file ::= 'x' '<' ;", "file ::= '>' 'x' ;"] {
        let laid = laid_out(&with_tokens(grammar(rules)), &[]);
        assert!(laid.is_none_or(|laid| language(&laid, BYTES).is_empty()), "{rules}");
    }
}

#[test]
fn names_are_those_of_the_grammar_with_the_level() {
    let laid = laid_out(&with_tokens(grammar(GRAMMARS[0])), &[]).unwrap();
    let names: Vec<&str> = laid.rules.iter().map(|rule| rule.name.text.as_str()).collect();
    assert_eq!(names[0], "file");
    for name in ["statement", "statement.1", "statement.2", "block", "block.1", "block.2"] {
        assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name} among {names:?}");
    }
}
