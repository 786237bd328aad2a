//! Rules for automata: states are eliminated where that makes expressions no longer than they are readable.

use std::collections::{BTreeMap, BTreeSet};

use crate::asked::Asked;
use crate::expr::{Expr, Undone};
use crate::generate::WHITE_SPACE;
use crate::lex::join;
use crate::nested::automaton::{self, Automaton};
use crate::nested::contents::{Content, Item, Pair, Tags};
use crate::nested::letters::{Letter, Letters};
use crate::nested::tokens;
use crate::set::Set;
use crate::write::Rule;

/// Nodes of expressions that the elimination of a state may repeat.
const REPEATED: usize = 9;
/// Alternatives from which on a set of letters is a rule of its own.
const MANY: usize = 3;

/// Writes rules.
pub(crate) struct Writer<'w, 'o> {
    pub letters: &'w Letters,
    pub contents: &'w [Content],
    pub automata: &'w [Option<Automaton>],
    pub asked: &'w mut Asked<'o>,
    rules: Vec<Rule>,
    named: BTreeMap<Expr, usize>,
    letters_done: BTreeMap<usize, Expr>,
    contents_done: BTreeMap<usize, usize>,
    /// Expressions of tokens with their rules.
    tokens: Vec<(Expr, Expr)>,
    /// White space between letters, and how often it was found.
    gaps: BTreeMap<(BTreeSet<usize>, Option<usize>), (Expr, u32)>,
}

/// Labels between states; the last state is the end.
type Graph = BTreeMap<(usize, usize), Vec<Expr>>;

/// Returns the rules; the first one is the start.
pub(crate) fn rules(
    letters: &Letters,
    contents: &[Content],
    automata: &[Option<Automaton>],
    asked: &mut Asked<'_>,
) -> Vec<Rule> {
    let mut writer = Writer {
        letters,
        contents,
        automata,
        asked,
        rules: vec![Rule { name: "start", expr: Expr::empty() }],
        named: BTreeMap::new(),
        letters_done: BTreeMap::new(),
        contents_done: BTreeMap::new(),
        tokens: Vec::new(),
        gaps: BTreeMap::new(),
    };
    let start = writer.content(0);
    writer.rules[0].expr = start;
    writer.rules
}

impl Writer<'_, '_> {
    /// Returns a reference to a rule with this expression.
    fn rule(&mut self, name: &'static str, expr: Expr) -> Expr {
        if let Some(&rule) = self.named.get(&expr) {
            return Expr::Rule(rule);
        }
        self.rules.push(Rule { name, expr: expr.clone() });
        self.named.insert(expr, self.rules.len() - 1);
        Expr::Rule(self.rules.len() - 1)
    }

    fn letter(&mut self, letter: usize) -> Expr {
        if let Some(expr) = self.letters_done.get(&letter) {
            return expr.clone();
        }
        let expr = match &self.letters.all[letter] {
            Letter::Group(content) => Expr::Rule(self.group(*content)),
            Letter::Literal(text) => Expr::literal(text),
            Letter::Open(..) | Letter::Text(..) | Letter::Line => {
                let (name, expr) =
                    tokens::expression(self.letters, letter, self.asked).unwrap_or(("item", Expr::never()));
                self.token(name, expr)
            }
        };
        self.letters_done.insert(letter, expr.clone());
        expr
    }

    /// Returns a reference to a rule of tokens: one that derives these texts, if there is one.
    fn token(&mut self, name: &'static str, expr: Expr) -> Expr {
        let resolved = expr.resolved(&Undone::new());
        let known = self.tokens.iter().find(|(other, _)| *other == resolved).map(|(_, rule)| rule.clone());
        known.unwrap_or_else(|| {
            let rule = self.rule(name, expr);
            self.tokens.push((resolved, rule.clone()));
            rule
        })
    }

    /// Returns the rule of brackets with this content.
    fn group(&mut self, content: usize) -> usize {
        if let Some(&rule) = self.contents_done.get(&content) {
            return rule;
        }
        let name = match self.contents[content].opens {
            b'(' => "group",
            b'[' => "list",
            b'<' => "element",
            b'{' => "object",
            _ => "block",
        };
        let rule = self.rules.len();
        self.rules.push(Rule { name, expr: Expr::empty() });
        self.contents_done.insert(content, rule);
        let inner = self.content(content);
        let pairs = self.contents[content].pairs.clone();
        let inner = if pairs.len() > 1 { self.rule("item", inner) } else { inner };
        let one = |(open, close): &Pair| Expr::Seq(vec![Expr::literal(open), inner.clone(), Expr::literal(close)]);
        let plain = Expr::Alt(pairs.iter().map(one).collect());
        self.rules[rule].expr = match self.names(content) {
            None => plain,
            Some((name, end, is_equal)) => {
                let texts = self.texts(&name);
                let is_odd = |(open, close): &&Pair| {
                    let name = open.get(1..).unwrap_or_default();
                    *close != [b"</", name, &end].concat() || !texts.matches(name)
                };
                let again = if is_equal { Expr::Again } else { name.clone() };
                let name = if is_equal { Expr::Named(Box::new(name)) } else { name };
                let parts =
                    vec![Expr::literal("<"), name, inner.clone(), Expr::literal("</"), again, Expr::literal(&end)];
                let odd = pairs.iter().filter(is_odd).map(one);
                let general = Expr::Alt(std::iter::once(Expr::Seq(parts)).chain(odd).collect());
                Expr::general(format!("names {content}"), general, plain)
            }
        };
        rule
    }

    /// Returns the names that tags with this content can have, if they are free, with the end of the closing tag, and
    /// whether both tags must have an equal name.
    fn names(&mut self, content: usize) -> Option<(Expr, Vec<u8>, bool)> {
        let tags: &[Tags] = &self.contents[content].tags;
        let end = tags.first()?.end.clone();
        let asked = &mut *self.asked;
        let mut fits = |open: &[u8], close: &[u8]| tags.iter().all(|tags| asked.accepts(&tags.with(open, close)));
        if !fits(b"qzx", b"qzx") || !fits(b"jvqk", b"jvqk") {
            return None;
        }
        let is_equal = !fits(b"qzx", b"jvqk");
        let (name, expr) = tokens::word(&mut |text| fits(text, text))?;
        // What proves wrong of other tokens does not prove wrong of these.
        self.rules.push(Rule { name, expr });
        Some((Expr::Rule(self.rules.len() - 1), end, is_equal))
    }

    /// Returns what a rule of tokens derives.
    fn texts(&self, token: &Expr) -> Expr {
        let Expr::Rule(rule) = token else { return token.clone() };
        self.rules[*rule].expr.resolved(&Undone::new())
    }

    /// Returns the expression of a content.
    fn content(&mut self, number: usize) -> Expr {
        let Some(automaton) = &self.automata[number] else { return Expr::never() };
        let automaton: &Automaton = automaton;
        let distances = automaton.distances();
        let is_live = |state: usize| distances[state] < u32::MAX;
        let end = automaton.states.len();
        let mut graph = Graph::new();
        for (from, state) in automaton.states.iter().enumerate().filter(|(from, _)| is_live(*from)) {
            let incoming = incoming(automaton, from);
            let mut edges: BTreeMap<(usize, Expr, Expr), (BTreeSet<usize>, Expr)> = BTreeMap::new();
            for (&letter, edge) in &state.edges {
                if !is_live(edge.to) || self.is_spare(automaton, from, letter) {
                    continue;
                }
                let rest = automaton.completion(edge.to, &distances);
                let after = [std::slice::from_ref(&edge.item), &rest[..]].concat();
                let key = format!("{WHITE_SPACE}: {number} {from} {letter}");
                let gap = self.known_gap(key, automaton, &incoming, &after);
                let (general, plain) = match &gap {
                    Expr::General(one) => (one.general.clone(), one.plain.resolved(&Undone::new())),
                    other => (other.clone(), other.clone()),
                };
                edges.entry((edge.to, general, plain)).or_insert_with(|| (BTreeSet::new(), gap)).0.insert(letter);
            }
            for ((to, ..), (letters, gap)) in edges {
                let all = self.choice(&letters);
                graph.entry((from, to)).or_default().push(Expr::Seq(vec![gap, all]));
            }
            if state.is_final {
                let gap = self.known_gap(format!("{WHITE_SPACE}: {number} {from} end"), automaton, &incoming, &[]);
                graph.entry((from, end)).or_default().push(gap);
            }
        }
        self.eliminated(graph, end)
    }

    /// Returns an expression for any of the letters.
    fn choice(&mut self, letters: &BTreeSet<usize>) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        for &letter in letters {
            let part = self.letter(letter);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        match parts.len() {
            1 => parts.remove(0),
            0..MANY => Expr::Alt(parts),
            _ => self.rule("item", Expr::Alt(parts)),
        }
    }

    /// Returns true if another letter that leads to the same state has the texts of this one.
    fn is_spare(&mut self, automaton: &Automaton, from: usize, letter: usize) -> bool {
        let Letter::Literal(text) = self.letters.all[letter].clone() else { return false };
        let edges = &automaton.states[from].edges;
        let to = edges[&letter].to;
        let others: Vec<usize> = edges.iter().filter(|(_, edge)| edge.to == to).map(|(letter, _)| *letter).collect();
        others.into_iter().any(|other| {
            matches!(self.letters.all[other], Letter::Open(..)) && {
                let Expr::Rule(rule) = self.letter(other) else { return false };
                self.rules[rule].expr.resolved(&Undone::new()).matches(&text)
            }
        })
    }

    /// Returns true if blanks can be part of an item.
    fn has_blanks(&mut self, item: Option<&Item>) -> bool {
        let Some(item) = item.filter(|item| matches!(self.letters.all[item.letter], Letter::Text(..))) else {
            return false;
        };
        let Expr::Rule(rule) = self.letter(item.letter) else { return false };
        let expr = self.rules[rule].expr.resolved(&Undone::new());
        expr.matches(b" ") || expr.matches(b"q q")
    }

    /// Returns white space as it was found twice between letters, or asks.
    fn known_gap(&mut self, key: String, automaton: &Automaton, incoming: &[Vec<Item>], after: &[Item]) -> Expr {
        let lasts: BTreeSet<usize> = incoming.iter().filter_map(|items| items.last()).map(|item| item.letter).collect();
        let next = after.first().map(|item| item.letter);
        let between = (lasts, next);
        let is_inner = !between.0.is_empty() && next.is_some();
        if let Some((gap, 2..)) = self.gaps.get(&between).filter(|_| is_inner) {
            return match gap.clone() {
                Expr::General(one) => Expr::general(key, one.general, one.plain),
                other => other,
            };
        }
        let gap = self.gap(key, automaton, incoming, after);
        let parts = |gap: &Expr| match gap {
            Expr::General(one) => one.general.resolved(&Undone::new()),
            other => other.clone(),
        };
        let count =
            self.gaps.get(&between).filter(|known| parts(&known.0) == parts(&gap)).map_or(1, |known| known.1 + 1);
        self.gaps.insert(between, (gap.clone(), count));
        gap
    }

    /// Returns white space that may or must stand between what leads to a state and what follows.
    fn gap(&mut self, key: String, automaton: &Automaton, incoming: &[Vec<Item>], after: &[Item]) -> Expr {
        let plain_blank = |this: &Self, before: &[Item]| {
            let [Some(last), Some(next)] = [before.last(), after.first()] else { return false };
            join(&last.text, &next.text) || this.letters.apart.contains(&(last.letter, next.letter))
        };
        let is_line =
            |item: Option<&Item>| item.is_some_and(|item| matches!(self.letters.all[item.letter], Letter::Line));
        let mut before_after: Vec<(Vec<u8>, Vec<u8>)> = incoming
            .iter()
            .map(|before| {
                let with = |one: &[u8], other: &[u8]| {
                    let blank = if join(one, other) { &b" "[..] } else { b"" };
                    [one, blank, other].concat()
                };
                let begin = automaton::text(before, self.letters);
                let begin = if begin.is_empty() { automaton.before.clone() } else { with(&automaton.before, &begin) };
                let end = automaton::text(after, self.letters);
                let end = if end.is_empty() { automaton.after.clone() } else { with(&end, &automaton.after) };
                (begin, end)
            })
            .collect();
        let needs = incoming.iter().any(|before| plain_blank(self, before))
            || before_after.iter().any(|(begin, end)| join(begin, end));
        let plain = if needs { Expr::literal(" ") } else { Expr::empty() };
        if incoming.iter().any(|before| self.has_blanks(before.last())) || self.has_blanks(after.first()) {
            return Expr::empty();
        }
        // A beginning that is not accepted with this end says nothing about blanks.
        before_after.retain(|(begin, end)| {
            let blank = if needs && join(begin, end) { &b" "[..] } else { b"" };
            self.asked.accepts(&[&begin[..], blank, &end[..]].concat())
                || self.asked.accepts(&[&begin[..], b" ", &end[..]].concat())
        });
        if before_after.is_empty() {
            return plain;
        }
        let is_beside_line = incoming.iter().any(|before| is_line(before.last())) || is_line(after.first());
        let asked = &mut *self.asked;
        let mut fits = |blank: &[u8]| {
            before_after.iter().all(|(begin, end)| asked.accepts(&[&begin[..], blank, &end[..]].concat()))
        };
        if !fits(b" ") {
            return plain;
        }
        let is_needed = needs && (!fits(b"") || before_after.iter().any(|(begin, end)| join(begin, end)));
        if !fits(b"  ") {
            let one = if is_needed { Expr::literal(" ") } else { Expr::literal(" ").optional() };
            return if is_needed { one } else { Expr::general(key, one, plain) };
        }
        let mut set = Set::of([b' ']);
        let others = [b'\t', b'\n', b'\r'];
        for byte in others.into_iter().filter(|byte| !is_beside_line || *byte == b'\t') {
            if fits(&[byte]) && fits(&[byte, byte]) && fits(&[b' ', byte]) {
                set.insert(byte);
            }
        }
        let narrow = Set::of(b" \t".iter().copied().filter(|byte| set.has(*byte)));
        let mut blanks = |set: Set| match is_needed {
            true => self.rule("spaces", Expr::Set(set).plus()),
            false => self.rule("space", Expr::Set(set).star()),
        };
        let less = if narrow == set { plain } else { Expr::general(format!("{key} on a line"), blanks(narrow), plain) };
        Expr::general(key, blanks(set), less)
    }

    /// Returns the expression from the first state to the end.
    fn eliminated(&mut self, mut graph: Graph, end: usize) -> Expr {
        let start = end + 1;
        graph.insert((start, 0), vec![Expr::empty()]);
        loop {
            let states: BTreeSet<usize> = graph
                .keys()
                .flat_map(|(from, to)| [*from, *to])
                .filter(|state| *state != start && *state != end)
                .collect();
            let Some((weight, state)) = states.iter().map(|&state| (weight(&graph, state), state)).min() else { break };
            if weight > REPEATED {
                break;
            }
            eliminate(&mut graph, state);
        }
        let states: BTreeSet<usize> = graph.keys().map(|(from, _)| *from).filter(|state| *state != start).collect();
        let mut rules: BTreeMap<usize, usize> = BTreeMap::new();
        for &state in &states {
            rules.insert(state, self.rules.len());
            self.rules.push(Rule { name: "item", expr: Expr::empty() });
        }
        for &state in &states {
            self.rules[rules[&state]].expr = from(&graph, state, end, &rules);
        }
        from(&graph, start, end, &rules)
    }
}

/// Returns items that lead to a state: its own, and those of an edge that ends with another kind of character.
fn incoming(automaton: &Automaton, state: usize) -> Vec<Vec<Item>> {
    let mut all = vec![automaton.states[state].access.clone()];
    let kind =
        |items: &[Item]| items.last().and_then(|item| item.text.last()).map(|byte| crate::lex::is_wordish(*byte));
    for from in &automaton.states {
        for edge in from.edges.values().filter(|edge| edge.to == state) {
            let items = [&from.access[..], std::slice::from_ref(&edge.item)].concat();
            if all.len() < 3 && all.iter().all(|other| kind(other) != kind(&items)) {
                all.push(items);
            }
        }
    }
    all
}

/// Returns the expression for what leads from a state to the end, with rules for other states.
fn from(graph: &Graph, state: usize, end: usize, rules: &BTreeMap<usize, usize>) -> Expr {
    let mut parts = Vec::new();
    for ((_, to), labels) in graph.range((state, 0)..=(state, usize::MAX)) {
        if *to == state {
            continue;
        }
        let label = Expr::Alt(labels.clone());
        parts.push(if *to == end {
            label
        } else {
            let rest = rules.get(to).map_or(Expr::never(), |rule| Expr::Rule(*rule));
            Expr::Seq(vec![label, rest])
        });
    }
    let rest = Expr::Alt(parts);
    match graph.get(&(state, state)) {
        Some(labels) => Expr::Seq(vec![Expr::Alt(labels.clone()).star(), rest]),
        None => rest,
    }
}

fn size(expr: &Expr) -> usize {
    match expr {
        Expr::Literal(text) => usize::from(!text.is_empty()),
        Expr::Set(_) | Expr::Rule(_) | Expr::Again => 1,
        Expr::Seq(parts) | Expr::Alt(parts) => parts.iter().map(size).sum(),
        Expr::Optional(part) | Expr::Star(part) | Expr::Plus(part) => size(part),
        Expr::Times(part, ..) | Expr::Named(part) => size(part),
        Expr::General(general) => size(&general.general),
    }
}

/// Returns how much longer the labels are without a state.
fn weight(graph: &Graph, state: usize) -> usize {
    let sum = |labels: &Vec<Expr>| labels.iter().map(size).sum::<usize>();
    let ins: Vec<usize> =
        graph.iter().filter(|((from, to), _)| *to == state && *from != state).map(|(_, labels)| sum(labels)).collect();
    let outs: Vec<usize> =
        graph.iter().filter(|((from, to), _)| *from == state && *to != state).map(|(_, labels)| sum(labels)).collect();
    let own = graph.get(&(state, state)).map_or(0, sum);
    let repeated = |sizes: &[usize], times: usize| sizes.iter().sum::<usize>() * times.saturating_sub(1);
    repeated(&ins, outs.len()) + repeated(&outs, ins.len()) + own * (ins.len() * outs.len()).saturating_sub(1)
}

fn eliminate(graph: &mut Graph, state: usize) {
    let own = graph.remove(&(state, state)).map(|labels| Expr::Alt(labels).star());
    let ins: Vec<(usize, Vec<Expr>)> =
        graph.iter().filter(|((_, to), _)| *to == state).map(|((from, _), labels)| (*from, labels.clone())).collect();
    let outs: Vec<(usize, Vec<Expr>)> =
        graph.iter().filter(|((from, _), _)| *from == state).map(|((_, to), labels)| (*to, labels.clone())).collect();
    graph.retain(|(from, to), _| *from != state && *to != state);
    for (from, before) in &ins {
        for (to, after) in &outs {
            let middle = own.clone().unwrap_or_else(Expr::empty);
            let label = Expr::Seq(vec![Expr::Alt(before.clone()), middle, Expr::Alt(after.clone())]);
            graph.entry((*from, *to)).or_default().push(label);
        }
    }
}
