//! Finds the places between tokens that need a separator, so that a lexer finds the same tokens again.
//!
//! A front end whose grammar has tokens gives the syntactic rules as [`Syntax`]. A token needs a separator in front if
//! it can follow a token `A`, and some token that begins like `A` could continue across the boundary. That is so if
//! such a token can hold the last character of `A` followed by the first character of this one. The test uses sets of
//! pairs of characters (Glushkov's construction, with states of the same character merged). So a separator may stand
//! where none is needed, but none is missing: no longest match crosses a boundary.

use super::builder::{Builder, Part, Reported};
use crate::ast::{Expr, ExprKind, Name, Rule};
use crate::charset::CharSet;
use crate::diagnostics::Span;
use crate::ordered::{Map, Set};

/// The right-hand side of a syntactic rule.
#[derive(Clone, Debug)]
pub(super) enum Syntax {
    /// A token.
    Token(Part),
    /// A token that directly follows the part before it.
    Immediate(Part),
    /// An expression that may stand between tokens, and is not a token.
    Blank(Part),
    /// A reference to a syntactic rule.
    Rule(Part),
    Seq(Vec<Syntax>),
    Choice(Vec<Syntax>),
    Repeat(Box<Syntax>, u32, Option<u32>),
}

/// A set of ASCII characters. U+007F stands for all other characters.
pub(super) type Chars = u128;

/// The bit for all characters beyond U+007E.
pub(super) const OTHERS: u32 = 127;

/// Returns the bits of a set.
pub(super) fn chars(set: &CharSet) -> Chars {
    let mut chars = 0;
    for &(low, high) in set.ranges() {
        for member in low..=high.min(OTHERS - 1) {
            chars |= 1 << member;
        }
        if high >= OTHERS {
            chars |= 1 << OTHERS;
        }
    }
    chars
}

/// Returns the members of a set as numbers.
fn members(mut set: Chars) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let member = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (member <= OTHERS).then_some(member as usize)
    })
}

/// For each character, the characters that can follow it. Empty if there are none.
#[derive(Clone, Default)]
struct Pairs(Vec<Chars>);

impl Pairs {
    fn link(&mut self, last: Chars, first: Chars) {
        if last != 0 && first != 0 {
            self.0.resize(OTHERS as usize + 1, 0);
            members(last).for_each(|c| self.0[c] |= first);
        }
    }

    fn join(&mut self, other: &Pairs) {
        if !other.0.is_empty() {
            self.0.resize(OTHERS as usize + 1, 0);
            self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine |= other);
        }
    }

    fn behind(&self, c: usize) -> Chars {
        self.0.get(c).copied().unwrap_or(0)
    }
}

/// Facts about the strings of a lexical expression.
#[derive(Clone)]
pub(super) struct Edges {
    pub(super) nullable: bool,
    first: Chars,
    last: Chars,
    /// The characters that are strings of length one.
    alone: Chars,
    pairs: Pairs,
}

impl Edges {
    fn empty() -> Edges {
        Edges { nullable: true, first: 0, last: 0, alone: 0, pairs: Pairs::default() }
    }

    /// Returns the edges of an expression of which nothing is known.
    fn anything() -> Edges {
        let pairs = Pairs(vec![Chars::MAX; OTHERS as usize + 1]);
        Edges { nullable: true, first: Chars::MAX, last: Chars::MAX, alone: Chars::MAX, pairs }
    }

    fn class(set: Chars) -> Edges {
        Edges { nullable: false, first: set, last: set, alone: set, pairs: Pairs::default() }
    }

    fn text(bytes: &[u8]) -> Edges {
        let bit = |byte: &u8| 1 << u32::from(*byte).min(OTHERS);
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return Edges::empty() };
        let alone = if bytes.len() == 1 { bit(first) } else { 0 };
        let mut pairs = Pairs::default();
        for pair in bytes.windows(2) {
            pairs.link(bit(&pair[0]), bit(&pair[1]));
        }
        Edges { nullable: false, first: bit(first), last: bit(last), alone, pairs }
    }

    /// Returns true if a string may also be one of `others`, judged by its characters.
    pub(super) fn may_be_among(&self, others: &Edges) -> bool {
        let is_within = |c| self.pairs.behind(c) == 0 || self.pairs.behind(c) & others.pairs.behind(c) != 0;
        self.first & others.first != 0 && self.last & others.last != 0 && (0..self.pairs.0.len()).all(is_within)
    }

    fn then(mut self, next: &Edges) -> Edges {
        self.pairs.link(self.last, next.first);
        self.pairs.join(&next.pairs);
        self.alone = if next.nullable { self.alone } else { 0 } | if self.nullable { next.alone } else { 0 };
        self.first |= if self.nullable { next.first } else { 0 };
        self.last = next.last | if next.nullable { self.last } else { 0 };
        self.nullable &= next.nullable;
        self
    }

    fn or(mut self, other: &Edges) -> Edges {
        self.pairs.join(&other.pairs);
        self.nullable |= other.nullable;
        self.first |= other.first;
        self.last |= other.last;
        self.alone |= other.alone;
        self
    }

    fn repeated(mut self, min: u32, max: Option<u32>) -> Edges {
        if max == Some(0) {
            return Edges::empty();
        }
        if max != Some(1) {
            self.pairs.link(self.last, self.first);
        }
        self.alone = if min <= 1 || self.nullable { self.alone } else { 0 };
        self.nullable |= min == 0;
        self
    }
}

/// The lexical rules, and the facts known about them so far.
pub(super) struct Lexical<'g> {
    rules: Map<&'g str, &'g Expr>,
    known: Map<&'g str, Edges>,
    open: Set<&'g str>,
    /// The characters that must not follow some of the rules, for reasons of the format.
    not_behind: Map<String, Chars>,
}

/// The depth to which references between lexical rules are followed.
const MAX_DEPTH: usize = 64;
/// The number of rules whose facts are remembered. For others, anything is assumed to be possible.
const MAX_RULES: usize = 1 << 14;

impl<'g> Lexical<'g> {
    pub(super) fn new(rules: &'g [Rule]) -> Lexical<'g> {
        let rules = rules.iter().map(|rule| (rule.name.text.as_str(), &rule.body)).collect();
        Lexical { rules, known: Map::new(), open: Set::new(), not_behind: Map::new() }
    }

    /// Returns the facts about lexical rules of which some are known already.
    pub(super) fn knowing(rules: &'g [Rule], known: impl IntoIterator<Item = (&'g str, Edges)>) -> Lexical<'g> {
        Lexical { known: known.into_iter().collect(), ..Lexical::new(rules) }
    }

    /// Sets the characters that must not follow some of the rules.
    pub(super) fn forbid(&mut self, not_behind: &Map<String, CharSet>) {
        self.not_behind = not_behind.iter().map(|(name, set)| (name.clone(), chars(set))).collect();
    }

    /// Returns the characters that must not follow a token in addition to those that its edges give. A token without
    /// its keywords has a name with `.word` at the end.
    fn forbidden(&self, expr: &Expr) -> Chars {
        let Some(name) = expr.as_rule() else { return 0 };
        let found = self.not_behind.get(name).or_else(|| self.not_behind.get(name.strip_suffix(".word")?));
        found.copied().unwrap_or(0)
    }

    /// Returns the rule called `name`, with a name that lives as long as the rules.
    pub(super) fn rule_called(&self, name: &str) -> Option<(&'g str, &'g Expr)> {
        self.rules.get_key_value(name).map(|(&name, &body)| (name, body))
    }

    pub(super) fn edges(&mut self, expr: &Expr) -> Edges {
        match &expr.kind {
            ExprKind::Bytes(bytes) => Edges::text(bytes),
            ExprKind::Class(set) => Edges::class(chars(set)),
            ExprKind::Rule(name) => self.rule(name),
            ExprKind::Seq(items) => items.iter().fold(Edges::empty(), |edges, item| edges.then(&self.edges(item))),
            ExprKind::Choice(alternatives) => {
                let mut parts = alternatives.iter().map(|alternative| self.edges(&alternative.expr));
                let first = parts.next().unwrap_or_else(Edges::empty);
                parts.fold(first, |edges, part| edges.or(&part))
            }
            ExprKind::Repeat { item, min, max } => self.edges(item).repeated(*min, *max),
            ExprKind::Times { item, .. } => self.edges(item).repeated(0, None),
            ExprKind::Label { item, .. } | ExprKind::Call { item, .. } => self.edges(item),
            ExprKind::Naming { .. } | ExprKind::Coded { .. } => Edges::anything(),
            ExprKind::Derived(_) => Edges::anything(),
        }
    }

    fn rule(&mut self, name: &str) -> Edges {
        if let Some(edges) = self.known.get(name) {
            return edges.clone();
        }
        let Some((&name, &body)) = self.rules.get_key_value(name) else { return Edges::anything() };
        if self.open.len() >= MAX_DEPTH || self.known.len() >= MAX_RULES || !self.open.insert(name) {
            return Edges::anything();
        }
        let edges = self.edges(body);
        self.open.remove(name);
        self.known.insert(name, edges.clone());
        edges
    }

    /// Returns true if the character is a string of the expression.
    pub(super) fn is_alone(&mut self, expr: &Expr, character: u8) -> bool {
        self.edges(expr).alone >> character & 1 == 1
    }

    /// Returns those of these separators that one of the ignored expressions derives.
    pub(super) fn separators(&mut self, ignored: &[Expr], blanks: &[&'static str]) -> Vec<&'static str> {
        let alone = ignored.iter().fold(0, |alone, expr| alone | self.edges(expr).alone);
        blanks.iter().copied().filter(|blank| alone >> blank.as_bytes()[0] & 1 == 1).collect()
    }
}

/// The characters that must not directly follow something.
#[derive(Clone, Copy, Default, PartialEq)]
struct Danger {
    /// Characters with which it, or a token that begins like it, could continue. They need a separator.
    any: Chars,
    /// Characters with which the token itself continues. They are no separator: a comment takes all of its line. What
    /// other tokens would take does not count, as lexers that know what is expected do not look for them.
    own: Chars,
}

impl std::ops::BitOr for Danger {
    type Output = Danger;

    fn bitor(self, other: Danger) -> Danger {
        Danger { any: self.any | other.any, own: self.own | other.own }
    }
}

/// A token: its first and last characters, and the characters that must not directly follow it.
#[derive(Clone, Copy, Default)]
struct Token {
    nullable: bool,
    first: Chars,
    last: Chars,
    danger: Danger,
}

/// The possible separators of tokens.
pub(super) const BLANKS: &[&str] = &[" ", "\n", "\t"];
/// The possible separators where the ends of lines have a meaning.
pub(super) const BLANKS_WITHIN_LINES: &[&str] = &[" ", "\t"];

/// Returns texts as separators.
pub(super) fn blanks(texts: &[&str]) -> Vec<Expr> {
    texts.iter().map(|&text| Expr::bytes(text, Span::default())).collect()
}

/// Turns the named syntactic rules into expressions, with separators in front of tokens: the first one with which the
/// token before it cannot continue. Without separators the tokens are only joined.
pub(super) fn separate(
    syntax: Vec<(Name, Syntax)>,
    lexical: &mut Lexical<'_>,
    separators: &[Expr],
    builder: &mut Builder<'_>,
) -> Vec<Rule> {
    let mut facts = Facts {
        tokens: Tokens::default(),
        names: syntax.iter().enumerate().map(|(number, (name, _))| (name.text.clone(), number)).collect(),
        before: vec![Danger::default(); syntax.len()],
        after: vec![Ends { nullable: false, danger: Danger::default() }; syntax.len()],
    };
    if !separators.is_empty() {
        facts.tokens = Tokens::of(&syntax, lexical);
        facts.solve(&syntax);
    }
    let mut writer = Writer { facts: &facts, separators, builder };
    let mut rules = Vec::new();
    for ((name, body), &before) in syntax.into_iter().zip(&facts.before) {
        let empty = Expr::empty(name.span);
        let body = writer.part(body, before).map_or(empty, |part| part.expr);
        rules.push(Rule::new(name, body));
    }
    rules
}

/// The identity of a token: its text, its rule, or its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Text(Vec<u8>),
    Rule(String),
    Place(Span),
}

impl Key {
    pub(super) fn of(expr: &Expr) -> Key {
        let text = expr.as_bytes().map(|bytes| Key::Text(bytes.to_vec()));
        let rule = || expr.as_rule().map(|name| Key::Rule(name.to_string()));
        text.or_else(rule).unwrap_or(Key::Place(expr.span))
    }
}

/// All tokens of the syntactic rules. Equal tokens are one.
#[derive(Default)]
struct Tokens {
    index: Map<Key, Token>,
}

impl Tokens {
    fn of(syntax: &[(Name, Syntax)], lexical: &mut Lexical<'_>) -> Tokens {
        let mut tokens = Tokens::default();
        // The pairs of all tokens that begin with each character.
        let mut pairs = vec![Pairs::default(); OTHERS as usize + 1];
        for (_, body) in syntax {
            each_leaf(body, &mut |leaf| {
                let (Syntax::Token(part) | Syntax::Immediate(part)) = leaf else { return };
                tokens.index.entry(Key::of(&part.expr)).or_insert_with(|| {
                    let edges = lexical.edges(&part.expr);
                    members(edges.first).for_each(|c| pairs[c].join(&edges.pairs));
                    let forbidden = lexical.forbidden(&part.expr);
                    let own = members(edges.last).fold(forbidden, |own, last| own | edges.pairs.behind(last));
                    let danger = Danger { any: forbidden, own };
                    Token { nullable: edges.nullable, first: edges.first, last: edges.last, danger }
                });
            });
        }
        for token in tokens.index.values_mut() {
            for c in members(token.first) {
                token.danger.any = members(token.last).fold(token.danger.any, |any, last| any | pairs[c].behind(last));
            }
        }
        tokens
    }

    fn token(&self, part: &Part) -> Token {
        self.index.get(&Key::of(&part.expr)).copied().unwrap_or_default()
    }
}

fn each_leaf<'s>(syntax: &'s Syntax, visit: &mut impl FnMut(&'s Syntax)) {
    match syntax {
        Syntax::Token(_) | Syntax::Immediate(_) | Syntax::Blank(_) | Syntax::Rule(_) => visit(syntax),
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().for_each(|item| each_leaf(item, visit)),
        Syntax::Repeat(item, ..) => each_leaf(item, visit),
    }
}

/// The end of a string: whether the string can be empty, and the characters that must not directly follow it if it is
/// not.
#[derive(Clone, Copy, PartialEq)]
struct Ends {
    nullable: bool,
    danger: Danger,
}

impl Ends {
    const EMPTY: Ends = Ends { nullable: true, danger: Danger { any: 0, own: 0 } };

    fn then(self, next: Ends) -> Ends {
        Ends { nullable: self.nullable && next.nullable, danger: next.after(self.danger) }
    }

    /// Returns the characters that must not follow this, if those of `before` must not begin it.
    fn after(self, before: Danger) -> Danger {
        if self.nullable { self.danger | before } else { self.danger }
    }
}

/// The characters that must not directly begin each rule (`before`), and the end of each rule (`after`): least
/// fixpoints.
struct Facts {
    tokens: Tokens,
    names: Map<String, usize>,
    before: Vec<Danger>,
    after: Vec<Ends>,
}

impl Facts {
    fn number(&self, part: &Part) -> Option<usize> {
        self.names.get(part.expr.as_rule()?).copied()
    }

    fn ends(&self, syntax: &Syntax) -> Ends {
        match syntax {
            Syntax::Token(part) | Syntax::Immediate(part) => {
                let token = self.tokens.token(part);
                Ends { nullable: token.nullable, danger: token.danger }
            }
            Syntax::Blank(_) => Ends::EMPTY,
            Syntax::Rule(part) => self.number(part).map_or(Ends::EMPTY, |number| self.after[number]),
            Syntax::Seq(items) => items.iter().fold(Ends::EMPTY, |ends, item| ends.then(self.ends(item))),
            Syntax::Choice(items) => items.iter().map(|item| self.ends(item)).fold(
                Ends { nullable: items.is_empty(), ..Ends::EMPTY },
                |ends, next| Ends { nullable: ends.nullable || next.nullable, danger: ends.danger | next.danger },
            ),
            Syntax::Repeat(item, min, _) => {
                let Ends { nullable, danger } = self.ends(item);
                Ends { nullable: nullable || *min == 0, danger }
            }
        }
    }

    /// Calls `visit` with each reference to a rule and the characters that must not begin it.
    fn walk(&self, syntax: &Syntax, mut before: Danger, visit: &mut impl FnMut(usize, Danger)) {
        match syntax {
            Syntax::Token(_) | Syntax::Immediate(_) | Syntax::Blank(_) => {}
            Syntax::Rule(part) => {
                if let Some(number) = self.number(part) {
                    visit(number, before);
                }
            }
            Syntax::Seq(items) => {
                for item in items {
                    self.walk(item, before, visit);
                    before = self.ends(item).after(before);
                }
            }
            Syntax::Choice(items) => items.iter().for_each(|item| self.walk(item, before, visit)),
            Syntax::Repeat(item, _, max) => self.walk(item, self.inside(item, *max, before), visit),
        }
    }

    /// Returns the characters that must not begin a round of a repetition, because of the part before the repetition or
    /// the round before.
    fn inside(&self, item: &Syntax, max: Option<u32>, before: Danger) -> Danger {
        if max == Some(1) { before } else { before | self.ends(item).danger }
    }

    fn solve(&mut self, syntax: &[(Name, Syntax)]) {
        // Visits a rule again when one that it depends on has changed. 257 bits change at most 257 times.
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); syntax.len()];
        for (number, (_, body)) in syntax.iter().enumerate() {
            each_leaf(body, &mut |leaf| {
                if let Syntax::Rule(part) = leaf
                    && let Some(used) = self.number(part)
                    && users[used].last() != Some(&number)
                {
                    users[used].push(number);
                }
            });
        }
        let mut worklist = Worklist::new(syntax.len());
        while let Some(number) = worklist.next() {
            let found = self.ends(&syntax[number].1);
            if found != self.after[number] {
                self.after[number] = found;
                users[number].iter().for_each(|&user| worklist.add(user));
            }
        }
        let mut worklist = Worklist::new(syntax.len());
        while let Some(number) = worklist.next() {
            let mut reached: Vec<(usize, Danger)> = Vec::new();
            self.walk(&syntax[number].1, self.before[number], &mut |rule, before| reached.push((rule, before)));
            for (rule, before) in reached {
                if self.before[rule] | before != self.before[rule] {
                    self.before[rule] = self.before[rule] | before;
                    worklist.add(rule);
                }
            }
        }
    }
}

/// Numbers to be visited, each once.
struct Worklist {
    pending: Vec<usize>,
    waits: Vec<bool>,
}

impl Worklist {
    fn new(count: usize) -> Worklist {
        Worklist { pending: (0..count).collect(), waits: vec![true; count] }
    }

    fn next(&mut self) -> Option<usize> {
        let number = self.pending.pop()?;
        self.waits[number] = false;
        Some(number)
    }

    fn add(&mut self, number: usize) {
        if !std::mem::replace(&mut self.waits[number], true) {
            self.pending.push(number);
        }
    }
}

/// Writes the separators.
struct Writer<'f, 'b, 'd> {
    facts: &'f Facts,
    separators: &'f [Expr],
    builder: &'b mut Builder<'d>,
}

impl<'f> Writer<'f, '_, '_> {
    /// Returns the separator where characters must not follow.
    fn separator(&self, before: Danger) -> Option<&'f Expr> {
        let ends = |separator: &&Expr| {
            let first = separator.as_bytes().and_then(<[u8]>::first);
            first.is_none_or(|&first| before.own >> first & 1 == 0)
        };
        self.separators.iter().find(ends).or(self.separators.first())
    }

    fn part(&mut self, syntax: Syntax, mut before: Danger) -> Result<Part, Reported> {
        match syntax {
            Syntax::Immediate(part) | Syntax::Blank(part) | Syntax::Rule(part) => Ok(part),
            Syntax::Token(part) => match self.separator(before) {
                Some(separator) if self.facts.tokens.token(&part).first & before.any != 0 => {
                    let span = part.span();
                    let blank = self.builder.build(separator.kind.clone(), Span { end: span.start, ..span }, 0)?;
                    self.builder.seq(vec![blank, part], span)
                }
                _ => Ok(part),
            },
            Syntax::Seq(items) => {
                let mut parts = Vec::new();
                let is_empty = |item: &Syntax| matches!(item, Syntax::Seq(items) if items.is_empty());
                for item in items.into_iter().filter(|item| !is_empty(item)) {
                    let after = if self.separators.is_empty() { before } else { self.facts.ends(&item).after(before) };
                    parts.push(self.part(item, before)?);
                    before = after;
                }
                self.builder.seq(parts, Span::default())
            }
            Syntax::Choice(items) => {
                let parts: Result<Vec<Part>, Reported> =
                    items.into_iter().map(|item| self.part(item, before)).collect();
                self.builder.any(parts?, Span::default())
            }
            Syntax::Repeat(item, min, max) => {
                let inside = if self.separators.is_empty() { before } else { self.facts.inside(&item, max, before) };
                let part = self.part(*item, inside)?;
                let span = part.span();
                self.builder.repeat(part, min, max, span)
            }
        }
    }
}
