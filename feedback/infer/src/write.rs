//! The grammar as EBNF: rules for classes, brackets and tokens, with names.

use std::collections::{BTreeMap, BTreeSet};

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::asked::Asked;
use crate::classes::{Classes, Symbol};
use crate::repeats::{Piece, Re, Repeats};
use crate::tokens;
use crate::tree::{Forest, Kind, closing};

/// The place after a symbol, or before all, in a content.
type Gap = (usize, Option<Symbol>);

/// Sequences of one class or content that are generalised.
const SEQUENCES: usize = 60;

pub(crate) struct Writer<'a, 'o> {
    forest: &'a Forest,
    classes: &'a Classes,
    asked: &'a mut Asked<'o>,
    random: Xoshiro256PlusPlus,
    /// Names and right-hand sides, in the order in which they are needed.
    rules: Vec<(String, String)>,
    /// The name of the rule for a right-hand side.
    by_body: BTreeMap<String, String>,
    class_names: BTreeMap<usize, String>,
    group_names: BTreeMap<(u8, usize), String>,
    blanks: BTreeSet<u8>,
    /// Whether white space may follow a symbol, by the content that it is in.
    after: BTreeMap<Gap, bool>,
}

/// Writes the grammar.
pub(crate) fn write(
    forest: &Forest,
    classes: &Classes,
    asked: &mut Asked<'_>,
    random: Xoshiro256PlusPlus,
) -> Vec<(String, String)> {
    let mut writer = Writer {
        forest,
        classes,
        asked,
        random,
        rules: Vec::new(),
        by_body: BTreeMap::new(),
        class_names: BTreeMap::new(),
        group_names: BTreeMap::new(),
        blanks: BTreeSet::new(),
        after: BTreeMap::new(),
    };
    writer.find_blanks();
    let root = (0..forest.nodes.len()).find(|&node| forest.nodes[node].kind == Kind::Root);
    let content = root.map_or(0, |root| classes.content_of[&root]);
    let at = writer.reserve("start");
    writer.rules[at].1 = writer.content(content);
    if !writer.blanks.is_empty() && writer.rules.iter().any(|(_, body)| body.contains("white_space")) {
        let body = format!("{}*", tokens::class(&writer.blanks, false));
        writer.rules.push(("white_space".to_string(), body));
    }
    without_aliases(writer.rules)
}

/// The rules without those that are only other names of rules.
fn without_aliases(mut rules: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_alias = |rules: &[(String, String)], at: usize| {
        let (name, body) = &rules[at];
        at > 0 && name != body && rules.iter().any(|(other, _)| other == body)
    };
    while let Some(at) = (0..rules.len()).find(|&at| is_alias(&rules, at)) {
        let (name, body) = rules.remove(at);
        for (_, other) in &mut rules {
            *other = renamed(other, &name, &body);
        }
    }
    rules
}

/// An expression with another name for a rule. Literals and classes stay as they are.
fn renamed(expression: &str, from: &str, to: &str) -> String {
    let (mut out, mut word, mut end, mut is_escaped) = (String::new(), String::new(), None, false);
    for character in expression.chars().chain([' ']) {
        if let Some(closing) = end {
            out.push(character);
            end = Some(closing).filter(|_| is_escaped || character != closing);
            is_escaped = character == '\\' && !is_escaped;
            continue;
        }
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        out.push_str(if word == from { to } else { &word });
        word.clear();
        out.push(character);
        end = match character {
            '\'' | '"' => Some(character),
            '[' => Some(']'),
            _ => None,
        };
    }
    out.pop();
    out
}

impl Writer<'_, '_> {
    /// A rule with this name, or this and a number, whose body is not known yet.
    fn reserve(&mut self, name: &str) -> usize {
        let is_taken = |name: &str| self.rules.iter().any(|(taken, _)| taken == name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let name = std::iter::once(name.to_string()).chain(numbered).find(|name| !is_taken(name));
        self.rules.push((name.unwrap_or_default(), String::new()));
        self.rules.len() - 1
    }

    fn token(&mut self, name: &str, body: String) -> String {
        if let Some(name) = self.by_body.get(&body) {
            return name.clone();
        }
        let at = self.reserve(name);
        self.rules[at].1.clone_from(&body);
        self.by_body.insert(body, self.rules[at].0.clone());
        self.rules[at].0.clone()
    }

    fn pieces(&self, node: usize) -> Vec<Piece> {
        let piece = |&child: &usize| Piece {
            symbol: self.classes.symbol(child),
            kind: self.forest.nodes[child].kind,
            span: self.forest.nodes[child].span.clone(),
        };
        self.forest.nodes[node].children.iter().map(piece).collect()
    }

    /// Finds where white space may stand, and which.
    fn find_blanks(&mut self) {
        let mut gaps: BTreeMap<Gap, Vec<(usize, usize)>> = BTreeMap::new();
        for (&node, &content) in &self.classes.content_of {
            let one = &self.forest.nodes[node];
            let mut pieces = self.pieces(node);
            if one.kind == Kind::Bubble {
                pieces.pop();
            } else {
                gaps.entry((content, None)).or_default().push((one.sample, self.forest.content(node).start));
            }
            for piece in pieces {
                gaps.entry((content, Some(piece.symbol))).or_default().push((one.sample, piece.span.end));
            }
        }
        let mut open = Vec::new();
        for (key, places) in gaps {
            let step = (places.len() / 5).max(1);
            let some: Vec<(usize, usize)> = places.iter().copied().step_by(step).collect();
            let is_open =
                some.iter().all(|&(sample, at)| self.takes(sample, at, b" ") && self.takes(sample, at, b"  "));
            self.after.insert(key, is_open);
            if is_open {
                open.extend(some.into_iter().take(2));
            }
        }
        open.truncate(24);
        let fits = |writer: &mut Self, byte: u8| open.iter().all(|&(sample, at)| writer.takes(sample, at, &[byte]));
        if !open.is_empty() {
            self.blanks = [b' ', b'\t', b'\n'].into_iter().filter(|&byte| fits(self, byte)).collect();
        }
    }

    fn takes(&mut self, sample: usize, at: usize, part: &[u8]) -> bool {
        let text = self.forest.with(sample, &(at..at), part);
        self.asked.accepts(&text)
    }

    fn may_follow(&self, owner: usize, symbol: Option<Symbol>) -> bool {
        self.after.get(&(owner, symbol)).copied().unwrap_or(false)
    }

    /// The expressions for the sequences of nodes. Those with `own`, the symbol that they stand for, repeat by recursion.
    fn sequences(&mut self, nodes: &[usize], own: Option<Symbol>) -> Vec<Re> {
        let mut distinct: BTreeMap<Vec<Symbol>, usize> = BTreeMap::new();
        for &node in nodes {
            let symbols = self.pieces(node).iter().map(|piece| piece.symbol).collect();
            distinct.entry(symbols).or_insert(node);
        }
        let mut sorted: Vec<(Vec<Symbol>, usize)> = distinct.into_iter().filter(|(all, _)| !all.is_empty()).collect();
        sorted.sort_by_key(|(symbols, _)| std::cmp::Reverse(symbols.len().min(24)));
        let mut found: Vec<Re> = Vec::new();
        for (symbols, node) in sorted {
            if found.len() < SEQUENCES && !found.iter().any(|re| re.matches(&symbols)) {
                let pieces = self.pieces(node);
                let sample = self.forest.nodes[node].sample;
                if own.is_some_and(|own| symbols.contains(&own)) {
                    found.push(Re::Seq(pieces.into_iter().map(Re::Piece).collect()));
                    continue;
                }
                let mut repeats = Repeats { forest: self.forest, sample, asked: self.asked };
                found.push(repeats.of(&pieces, &mut self.random));
            }
        }
        found
    }

    fn content(&mut self, number: usize) -> String {
        let content = &self.classes.contents[number];
        let found = self.sequences(&content.members, None);
        let mut parts: Vec<String> = Vec::new();
        for re in &found {
            let part = self.shown(re, number, false);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let has_nothing = content.accepts_nothing && !found.iter().any(|re| re.matches(&[]));
        let lead = if self.may_follow(number, None) { "white_space" } else { "" };
        let all = match (parts.len(), has_nothing) {
            (0, _) => String::new(),
            (1, false) => parts.remove(0),
            (_, false) if lead.is_empty() => parts.join(" | "),
            (_, false) => format!("({})", parts.join(" | ")),
            (_, true) => format!("({})?", parts.join(" | ")),
        };
        let all = format!("{lead} {all}").trim().to_string();
        if all.is_empty() { "()".to_string() } else { all }
    }

    /// An expression in the notation. White space follows what it may follow; `is_bubble` leaves out that at the end.
    fn shown(&mut self, re: &Re, owner: usize, is_bubble: bool) -> String {
        match re {
            Re::Piece(piece) => {
                let name = self.symbol(piece.symbol);
                let is_blank = matches!(piece.symbol, Symbol::Blank(_));
                let is_followed = !is_bubble && !is_blank && self.may_follow(owner, Some(piece.symbol));
                if is_followed { format!("{name} white_space") } else { name }
            }
            Re::Seq(parts) => {
                let mut shown = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    let is_last = is_bubble && at + 1 == parts.len();
                    let before_blank =
                        matches!(parts.get(at + 1), Some(Re::Piece(Piece { symbol: Symbol::Blank(_), .. })));
                    shown.push(self.shown(part, owner, is_last || before_blank));
                }
                shown.join(" ")
            }
            Re::Optional(part) => format!("({})?", self.shown(part, owner, false)),
            Re::Star(part) => format!("({})*", self.shown(part, owner, false)),
            Re::Plus(part) => format!("({})+", self.shown(part, owner, false)),
        }
    }

    fn symbol(&mut self, symbol: Symbol) -> String {
        match symbol {
            Symbol::Class(class) => self.class(class),
            Symbol::Marks(set) => {
                let marks: BTreeSet<u8> = self.classes.marks[set].iter().map(|mark| mark.0).collect();
                let shown: Vec<String> = marks.iter().map(|&mark| tokens::literal(&[mark])).collect();
                if shown.len() == 1 { shown.concat() } else { self.token("operator", shown.join(" | ")) }
            }
            Symbol::Blank(Kind::Line) => self.token("line_end", "'\\n'".to_string()),
            Symbol::Blank(_) => self.token("blanks", "' '+".to_string()),
        }
    }

    fn class(&mut self, class: usize) -> String {
        if let Some(name) = self.class_names.get(&class) {
            return name.clone();
        }
        let at = self.reserve("item");
        let name = self.rules[at].0.clone();
        self.class_names.insert(class, name.clone());
        self.rules[at].1 = self.alternatives(class).join(" | ");
        name
    }

    fn alternatives(&mut self, number: usize) -> Vec<String> {
        let (forest, classes) = (self.forest, self.classes);
        let class = &classes.classes[number];
        let mut texts: BTreeMap<Kind, BTreeSet<Vec<u8>>> = BTreeMap::new();
        let mut groups: BTreeSet<(u8, usize)> = BTreeSet::new();
        let mut bubbles = Vec::new();
        let accepted = classes.probes.iter().zip(&class.accepted).filter(|(_, accepted)| **accepted);
        let probes: Vec<usize> = accepted.filter_map(|(probe, _)| probe.node).collect();
        for node in class.members.iter().copied().chain(probes) {
            match forest.nodes[node].kind {
                Kind::Group(open) => drop(groups.insert((open, classes.content_of[&node]))),
                Kind::Bubble => bubbles.push(node),
                kind => drop(texts.entry(kind).or_default().insert(forest.text(node).to_vec())),
            }
        }
        let mut parts = Vec::new();
        for (kind, texts) in texts {
            parts.extend(self.tokens(number, kind, &texts));
        }
        for group in groups {
            parts.push(self.group(group));
        }
        for re in self.sequences(&bubbles, Some(Symbol::Class(number))) {
            let part = self.shown(&re, usize::MAX, true);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }

    /// The tokens of a kind in the places of a class.
    fn tokens(&mut self, class: usize, kind: Kind, texts: &BTreeSet<Vec<u8>>) -> Vec<String> {
        let (forest, classes) = (self.forest, self.classes);
        let places = &classes.classes[class].places;
        let asked = &mut *self.asked;
        let mut fits = |text: &[u8]| {
            let mut places = places.iter().take(4);
            places.all(|(sample, span)| asked.accepts(&forest.with(*sample, span, text)))
        };
        let found = match kind {
            Kind::Digits => tokens::digits(&mut fits).map(|(name, body)| (name, body.to_string())),
            Kind::Word => tokens::word(&mut fits).map(|body| ("identifier", body)),
            Kind::Quoted(quote) => tokens::quoted(quote, &mut fits).map(|body| ("string", body)),
            _ => None,
        };
        match found {
            Some((name, body)) => vec![self.token(name, body)],
            None => texts.iter().map(|text| tokens::literal(text)).collect(),
        }
    }

    fn group(&mut self, (open, content): (u8, usize)) -> String {
        if let Some(name) = self.group_names.get(&(open, content)) {
            return name.clone();
        }
        let at = self.reserve(match open {
            b'(' => "group",
            b'[' => "list",
            _ => "object",
        });
        let name = self.rules[at].0.clone();
        self.group_names.insert((open, content), name.clone());
        let inner = self.content(content);
        let (open, close) = (tokens::literal(&[open]), tokens::literal(&[closing(open)]));
        let needs_group = inner.contains(" | ");
        let body = if inner == "()" {
            format!("{open} {close}")
        } else if needs_group {
            format!("{open} ({inner}) {close}")
        } else {
            format!("{open} {inner} {close}")
        };
        self.rules[at].1 = body;
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_outside_of_literals() {
        let renamed = renamed(r"item 'item\' item' (item_2 | [item\]])* item", "item", "pair");
        assert_eq!(renamed, r"pair 'item\' item' (item_2 | [item\]])* pair");
    }
}
