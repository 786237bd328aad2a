//! The diagram of a rule, from its expression as the user wrote it.

use gramjet_compiler::ast::{self, Alternative, Expr, Rounds, Weight};

use super::block::{
    AROUND, Block, Branch, Look, part_name, within_choice, within_frame, within_loop, within_rows, within_skip,
};
use super::corpus::Usage;
use super::rules::Rules;
use super::words;

/// The most alternatives of a choice that are drawn.
const MOST_ALTERNATIVES: usize = 120;
/// The most items of a sequence that are drawn.
const MOST_ITEMS: usize = 300;
/// The most columns of `{...}` after a repetition. It is one line, cut where it is longer.
const MOST_COLUMNS: usize = 32;
/// The most blocks of a rule that are drawn.
const MOST_BLOCKS: usize = 1500;
/// The most parts of a rule that are drawn below it.
const MOST_PARTS: usize = 60;
/// Least width of what has parts of its own. What would be narrower is drawn below the rule.
const LEAST_WIDTH: i32 = 174;
/// The most expressions of what is drawn within its rule at any width.
const SMALL: usize = 2;
/// The most bytes of a literal that are made a text; a box shows fewer.
const MOST_TEXT: usize = 4000;

/// Returns the diagram of a rule, at most `width` wide if it can be: the rule, and parts of it that are drawn below. In
/// their places stand their numbers, from 1.
pub fn diagram(rules: &Rules<'_>, rule: usize, width: i32, marks: Marks<'_>) -> Vec<Block> {
    let whole = width - AROUND;
    let mut drawing = Drawing { rules, rule, marks, place: 0, left: MOST_BLOCKS, whole, parts: Vec::new() };
    let block = drawing.expr(&rules.grammar.rules[rule].body, whole);
    let mut blocks = vec![block];
    // Each part was drawn before the next one was begun, or within it.
    blocks.extend(drawing.parts.into_iter().flatten());
    blocks
}

/// Marks of alternatives.
#[derive(Clone, Copy)]
pub struct Marks<'a> {
    /// The parts that a corpus uses.
    pub usage: Option<&'a Usage>,
    /// Whether there is room for weights.
    pub has_weights: bool,
}

/// Returns a weight as the grammar writes it.
fn weight(weight: Weight) -> String {
    let value = if weight.value > Weight::ONLY_READ { weight.value } else { 0.0 };
    let is_short = value == 0.0 || (1e-6..1e9).contains(&value);
    if is_short { format!("@\u{A0}{value}") } else { format!("@\u{A0}{value:e}") }
}

/// A rule while it is drawn.
struct Drawing<'a> {
    rules: &'a Rules<'a>,
    rule: usize,
    marks: Marks<'a>,
    /// The number of the next place: of a choice, or of a repetition.
    place: u32,
    /// Number of blocks that may still be drawn.
    left: usize,
    /// The width of the rule.
    whole: i32,
    /// Parts that are drawn below the rule; `None` for those that are begun.
    parts: Vec<Option<Block>>,
}

impl Drawing<'_> {
    fn expr(&mut self, expr: &Expr, width: i32) -> Block {
        if width < LEAST_WIDTH && expr.size() > SMALL {
            return self.part(expr, width);
        }
        if self.left == 0 {
            return self.left_out(expr, width);
        }
        self.left -= 1;
        if let Some(bytes) = expr.as_bytes() {
            return literal(bytes, width);
        }
        if let Some(set) = expr.as_class() {
            return Block::leaf(&words::class(set), Look::Class, width);
        }
        if let Some(name) = expr.as_rule() {
            return Block::reference(&words::name(name), self.rules.number(name), width);
        }
        if let Some(items) = expr.as_seq() {
            return self.sequence(items, width);
        }
        if let Some(alternatives) = expr.as_choice() {
            return self.choice(alternatives, width);
        }
        if let Some(rounds) = expr.as_repeat() {
            return self.repetition(rounds, width);
        }
        if let Some((item, _)) = expr.as_times() {
            let item = self.expr(item, within_loop(width));
            return Block::again(item, braces(expr));
        }
        if let Some((label, item)) = expr.as_label() {
            let item = self.expr(item, within_frame(width));
            return Block::frame(item, format!("{}:", words::name(&label.text)));
        }
        self.other(expr, width)
    }

    /// Draws an expression below the rule, and returns a box that stands for it.
    fn part(&mut self, expr: &Expr, width: i32) -> Block {
        if self.parts.len() == MOST_PARTS {
            return self.left_out(expr, width);
        }
        self.parts.push(None);
        let number = self.parts.len();
        let block = self.expr(expr, self.whole);
        self.parts[number - 1] = Some(block);
        Block::leaf(&part_name(number), Look::Part, width)
    }

    /// Draws a kind that has no form of its own: as its text, or as a frame around what is in it.
    fn other(&mut self, expr: &Expr, width: i32) -> Block {
        let children: Vec<&Expr> = expr.children().collect();
        if children.is_empty() {
            return Block::leaf(&visible(&ast::text(expr)), Look::Derived, width);
        }
        let inner = within_frame(width);
        let blocks = children.into_iter().map(|child| self.expr(child, within_rows(inner))).collect();
        Block::frame(Block::sequence(blocks, inner), caption(expr))
    }

    fn sequence(&mut self, items: &[Expr], width: i32) -> Block {
        let (items, mut blocks, mut at) = (flat(items), Vec::new(), 0);
        let inner = if items.len() > 1 { within_rows(width) } else { width };
        while let Some(&item) = items.get(at) {
            if blocks.len() == MOST_ITEMS || self.left == 0 {
                items[at..].iter().for_each(|item| self.pass(item));
                blocks.push(note(&format!("{} more parts are not drawn", items.len() - at), inner));
                break;
            }
            at += match words::in_any_case(&items[at..]) {
                Some((text, count)) => {
                    blocks.push(Block::leaf(&text, Look::Literal, inner));
                    count
                }
                None => {
                    blocks.push(self.expr(item, inner));
                    1
                }
            };
        }
        Block::sequence(blocks, width)
    }

    fn choice(&mut self, alternatives: &[Alternative], width: i32) -> Block {
        let place = self.next_place();
        let weights: Vec<Option<String>> =
            alternatives.iter().map(|one| one.weight.filter(|_| self.marks.has_weights).map(weight)).collect();
        let columns = weights.iter().flatten().map(|weight| words::columns(weight)).max().unwrap_or(0);
        let inner = within_choice(width, columns);
        let mut branches = Vec::new();
        for (number, (one, weight)) in alternatives.iter().zip(weights).enumerate() {
            let more = alternatives.len() - number;
            if number == MOST_ALTERNATIVES && more > 1 || self.left == 0 {
                alternatives[number..].iter().for_each(|one| self.pass(&one.expr));
                let block = note(&format!("{more} more alternatives are not drawn"), inner);
                branches.push(Branch { block, weight: None, is_used: None });
                break;
            }
            let is_used = self.marks.usage.and_then(|usage| usage.alternative(self.rule, place, number));
            let block = self.expr(&one.expr, inner);
            branches.push(Branch { block, weight, is_used });
        }
        Block::choice(branches)
    }

    fn repetition(&mut self, Rounds { item, min, max }: Rounds<'_>, width: i32) -> Block {
        let place = self.next_place();
        let is_optional = min == 0;
        let is_repeated = max.is_none_or(|max| max > 1);
        let width = if is_optional { within_skip(width) } else { width };
        let inner = if is_repeated { within_loop(width) } else { width };
        let mut block = self.expr(item, inner);
        if is_repeated {
            block = Block::again(block, times(min, max));
        }
        if max == Some(0) {
            block = Block::frame(block, "0 times".to_string());
        }
        match is_optional {
            true => Block::skip(block, self.marks.usage.and_then(|usage| usage.repetition(self.rule, place))),
            false => block,
        }
    }

    fn next_place(&mut self) -> u32 {
        self.place += 1;
        self.place - 1
    }

    /// Counts the places of an expression that is not drawn.
    fn pass(&mut self, expr: &Expr) {
        expr.each(&mut |expr| {
            self.place += u32::from(expr.as_choice().is_some() || expr.as_repeat().is_some());
        });
    }

    fn left_out(&mut self, expr: &Expr, width: i32) -> Block {
        self.pass(expr);
        let parts = expr.size();
        let parts = if parts == 1 { "1 part is".to_string() } else { format!("{parts} parts are") };
        note(&format!("{parts} not drawn"), width)
    }
}

/// Returns the items of a sequence, with those of sequences in their places.
fn flat(items: &[Expr]) -> Vec<&Expr> {
    items.iter().flat_map(|item| item.as_seq().map_or_else(|| vec![item], flat)).collect()
}

fn note(text: &str, width: i32) -> Block {
    Block::leaf(&format!("\u{2026} {text}"), Look::Note, width)
}

fn literal(bytes: &[u8], width: i32) -> Block {
    match bytes {
        [] => Block::rail(),
        bytes => Block::leaf(&words::literal(&bytes[..bytes.len().min(MOST_TEXT)]), Look::Literal, width),
    }
}

/// Returns the number of rounds of a repetition in words; nothing if the rails say it.
fn times(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0 | 1, None) => String::new(),
        (min, None) => format!("{min} times or more"),
        (0, Some(max)) => format!("at most {max} times"),
        (min, Some(max)) if min == max => format!("{min} times"),
        (min, Some(max)) => format!("{min} to {max} times"),
    }
}

/// The most columns of the caption of a frame.
const MOST_OF_CAPTION: usize = 36;

/// Returns the caption of a frame around the parts of an expression: its text with an ellipsis for its last part, or
/// else what it is.
pub fn caption(expr: &Expr) -> String {
    let text = ast::text(expr);
    let part = expr.children().next_back().map(ast::text).filter(|part| !part.is_empty());
    let caption = part.and_then(|part| {
        let at = text.rfind(&part)?;
        Some(visible(&format!("{}\u{2026}{}", &text[..at], &text[at + part.len()..])))
    });
    let is_short = |caption: &String| words::columns(caption) <= MOST_OF_CAPTION;
    caption.filter(is_short).unwrap_or_else(|| expr.description().to_string())
}

/// Returns the braces after a repetition whose number of rounds follows from labelled parts.
fn braces(expr: &Expr) -> String {
    let text = ast::text(expr);
    let braces = visible(text.rfind('{').map_or("", |at| &text[at..]));
    match words::fitting(&braces, MOST_COLUMNS) {
        whole if whole.len() == braces.len() => braces,
        beginning => format!("{beginning}…}}"),
    }
}

/// Returns a text of a notation, with what cannot be seen escaped.
pub fn visible(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        match character {
            ' ' | '\\' => shown.push(character),
            _ => words::push(character, &mut shown),
        }
    }
    shown
}
