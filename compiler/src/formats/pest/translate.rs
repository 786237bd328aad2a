//! Translates the rules of a PEG to rules of a grammar. A non-atomic rule has two forms: one with `WHITESPACE` and
//! `COMMENT` between its parts, and one without, for atomic rules that refer to it.

use super::BLANKS as BLANK_RULES;
use crate::ast::{self, Grammar, Name, Weight};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::boundaries::{BLANKS, Lexical, Syntax, blanks, separate};
use crate::formats::builder::{Builder, Part, Reported};
use crate::formats::packrat::chars::Chars;
use crate::formats::packrat::order::Order;
use crate::formats::packrat::tree::{Kind, Peg, Rule};
use crate::formats::pattern;
use crate::ordered::{Map, Set};

/// The name of the rule for the text between the parts of non-atomic rules.
const IMPLICIT: &str = "implicit.blank";

/// Returns the grammar of these rules.
pub(super) fn translate(rules: &[Rule], builder: &mut Builder<'_>) -> Grammar {
    let by_name: Map<&str, &Rule> = rules.iter().map(|rule| (rule.name.text.as_str(), rule)).collect();
    let defined = |name: &str| by_name.get(name).copied();
    let implicit = defined("WHITESPACE").is_some() || defined("COMMENT").is_some();
    let pushed = rules.iter().find_map(|rule| pushed(&rule.body));
    let mut translator = Translator {
        by_name: &by_name,
        chars: Chars::new(rules, char::MAX),
        order: Order::new(&by_name, BLANK_RULES),
        pushed,
        implicit,
        atomic: true,
        rule: "",
        wanted: Vec::new(),
        known: Set::new(),
        rounds: Vec::new(),
        builder,
    };
    let (mut syntax, mut lexical) = (Vec::new(), Vec::new());
    for rule in rules {
        translator.atomic = !implicit || is_atomic(rule);
        translator.rule = &rule.name.text;
        let Ok(body) = translator.peg(&rule.body) else { continue };
        match translator.atomic {
            true => lexical.extend(translator.joined(rule.name.clone(), body)),
            false => syntax.push((rule.name.clone(), body)),
        }
    }
    while let Some(rule) = translator.wanted.pop() {
        translator.atomic = true;
        translator.rule = &rule.name.text;
        let Ok(body) = translator.peg(&rule.body) else { continue };
        let name = Name { text: atomic_name(&rule.name.text), span: rule.name.span };
        lexical.extend(translator.joined(name, body));
    }
    syntax.append(&mut translator.rounds);
    // Blanks are often defined first, and no one wants inputs of blanks.
    let start = rules.iter().find(|rule| !is_blank(rule)).or(rules.first()).map(|rule| rule.name.clone());
    if implicit && !syntax.is_empty() {
        lexical.extend(implicit_rule(defined("WHITESPACE"), defined("COMMENT"), &lexical, builder));
    }
    let mut facts = Lexical::new(&lexical);
    let between = defined("WHITESPACE").and_then(|rule| {
        let body = lexical.iter().find(|lexical| lexical.name.text == rule.name.text)?;
        Some(facts.separators(std::slice::from_ref(&body.body), BLANKS))
    });
    let mut all = separate(syntax, &mut facts, &blanks(&between.unwrap_or_default()), builder);
    all.extend(lexical);
    Grammar { start, rules: all, ..Grammar::default() }.with_own(|name| by_name.contains_key(name))
}

fn is_atomic(rule: &Rule) -> bool {
    matches!(rule.modifier, Some('@' | '$')) || is_blank(rule)
}

/// Returns true if this is a rule whose texts pest puts between the parts of other rules.
fn is_blank(rule: &Rule) -> bool {
    BLANK_RULES.contains(&rule.name.text.as_str())
}

/// Returns the name of the form without implicit parts. No name in pest contains a full stop.
fn atomic_name(name: &str) -> String {
    format!("{name}.atomic")
}

/// Returns the first expression that is pushed on the stack.
fn pushed(peg: &Peg) -> Option<&Peg> {
    match &peg.kind {
        Kind::Push(inside) => Some(inside),
        Kind::Seq(parts) | Kind::Choice(parts) => parts.iter().find_map(pushed),
        Kind::Repeat(inside, ..) | Kind::Not(inside) | Kind::And(inside) => pushed(inside),
        Kind::Text(..) | Kind::Range(..) | Kind::Class(_) | Kind::Name(_) | Kind::Pushed => None,
    }
}

/// Returns the rule between parts: usually empty, otherwise blanks and comments.
fn implicit_rule(
    blank: Option<&Rule>,
    comment: Option<&Rule>,
    lexical: &[ast::Rule],
    builder: &mut Builder<'_>,
) -> Option<ast::Rule> {
    let span = blank.or(comment)?.name.span;
    let weighted = |value: f64| Some(Weight { value, span });
    let mut rounds = Vec::new();
    if blank.is_some() {
        rounds.push((builder.rule("WHITESPACE", span).ok()?, weighted(3.0)));
    }
    // A comment may reach to the end of its line, so a line end follows if line ends are blanks.
    let body = lexical.iter().find(|rule| rule.name.text == "WHITESPACE").map(|rule| &rule.body);
    let line_ends = body.is_some_and(|body| Lexical::new(lexical).is_alone(body, b'\n'));
    if let Some(comment) = comment {
        if line_ends {
            let parts = vec![builder.rule("COMMENT", span).ok()?, builder.bytes("\n", span).ok()?];
            rounds.push((builder.seq(parts, span).ok()?, weighted(1.0)));
        } else {
            let help =
                "a comment may reach to the end of its line, and `WHITESPACE` derives no line feed to end it with";
            builder.approximate(comment.name.span, "comments are left out", help);
        }
    }
    if let [(_, weight)] = rounds.as_mut_slice() {
        *weight = None;
    }
    let mut options = vec![(builder.seq(Vec::new(), span).ok()?, weighted(3.0))];
    if !rounds.is_empty() {
        let round = builder.choice(rounds, span).ok()?;
        options.push((builder.repeat(round, 1, None, span).ok()?, weighted(1.0)));
    }
    if let [(_, weight)] = options.as_mut_slice() {
        *weight = None;
    }
    let body = builder.choice(options, span).ok()?.expr;
    Some(ast::Rule::new(Name { text: IMPLICIT.to_string(), span }, body))
}

struct Translator<'r, 'b, 'd> {
    by_name: &'r Map<&'r str, &'r Rule>,
    chars: Chars<'r>,
    order: Order<'r>,
    pushed: Option<&'r Peg>,
    implicit: bool,
    /// Whether the current rule has no implicit parts.
    atomic: bool,
    /// The name of the current rule.
    rule: &'r str,
    /// Rules whose form without implicit parts is referred to.
    wanted: Vec<&'r Rule>,
    known: Set<&'r str>,
    /// Rounds of repetitions that become rules.
    rounds: Vec<(Name, Syntax)>,
    builder: &'b mut Builder<'d>,
}

impl<'r> Translator<'r, '_, '_> {
    /// Returns a rule whose parts are joined directly.
    fn joined(&mut self, name: Name, body: Syntax) -> Option<ast::Rule> {
        separate(vec![(name, body)], &mut Lexical::new(&[]), &[], self.builder).pop()
    }

    fn token(&mut self, part: Part) -> Syntax {
        Syntax::Token(part)
    }

    fn class(&mut self, set: CharSet, span: Span) -> Result<Syntax, Reported> {
        let part = self.builder.class(pattern::readable(&set), span)?;
        Ok(self.token(part))
    }

    fn peg(&mut self, peg: &'r Peg) -> Result<Syntax, Reported> {
        let span = peg.span;
        match &peg.kind {
            Kind::Text(text, free) => {
                let part =
                    if *free { self.builder.any_case(text, span)? } else { self.builder.bytes(text.as_str(), span)? };
                Ok(self.token(part))
            }
            Kind::Class(set) => self.class(set.clone(), span),
            Kind::Range(low, high) => self.class(CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))]), span),
            Kind::Name(name) => self.name(name, span),
            Kind::Pushed => {
                let help = "a grammar cannot repeat what it has drawn; both are drawn on their own";
                self.builder.approximate(span, "the stack is left out", help);
                match self.pushed {
                    // The pushed expression may itself pop.
                    Some(pushed) => {
                        let known = self.pushed.take();
                        let result = self.peg(pushed);
                        self.pushed = known;
                        result
                    }
                    None => Ok(Syntax::Seq(Vec::new())),
                }
            }
            Kind::Push(inside) => self.peg(inside),
            Kind::Seq(parts) => self.sequence(parts),
            Kind::Choice(parts) => {
                if self.order.matters(parts, self.atomic, &mut self.chars) {
                    let help = "in a PEG the first alternative that fits wins: one before another takes the beginning of its \
                                texts, and what is left over is not matched, or takes more than it, up to what follows, \
                                which is then missing; put the longer one first, and write out what may follow it";
                    self.builder.approximate(span, "a choice is not ordered", help);
                }
                let parts: Result<Vec<Syntax>, Reported> = parts.iter().map(|part| self.peg(part)).collect();
                Ok(Syntax::Choice(parts?))
            }
            Kind::Repeat(item, min, max) => self.repeat(item, *min, *max, span),
            Kind::Not(_) | Kind::And(_) => {
                self.predicate(span);
                Ok(Syntax::Seq(Vec::new()))
            }
        }
    }

    fn predicate(&mut self, span: Span) {
        let help = "a predicate is honoured where it excludes single characters, as in `!\"x\" ~ ANY`, or asks for them, as in \
                    `&letter ~ ANY`";
        self.builder.approximate(span, "a predicate is left out", help);
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Syntax, Reported> {
        if let Some((&name, &rule)) = self.by_name.get_key_value(name) {
            if !self.implicit || is_atomic(rule) {
                let part = self.builder.rule(name, span)?;
                return Ok(self.token(part));
            }
            if self.atomic && rule.modifier != Some('!') {
                if self.known.insert(name) {
                    self.wanted.push(rule);
                }
                let part = self.builder.rule(atomic_name(name), span)?;
                return Ok(self.token(part));
            }
            return Ok(Syntax::Rule(self.builder.rule(name, span)?));
        }
        match name {
            "SOI" | "EOI" => return Ok(Syntax::Seq(Vec::new())),
            "NEWLINE" => {
                let ends = ["\n", "\r\n", "\r"].map(|end| self.builder.bytes(end, span));
                let ends: Result<Vec<Part>, Reported> = ends.into_iter().collect();
                let part = self.builder.any(ends?, span)?;
                return Ok(self.token(part));
            }
            _ => {}
        }
        match self.chars.builtin(name) {
            Some(set) => self.class(set, span),
            None => Ok(Syntax::Rule(self.builder.rule(name, span)?)),
        }
    }

    /// Returns the implicit rule between two parts, if the rule is not atomic.
    fn gap(&mut self, span: Span) -> Result<Option<Syntax>, Reported> {
        if self.atomic {
            return Ok(None);
        }
        let part = self.builder.rule(IMPLICIT, Span { end: span.start, ..span })?;
        Ok(Some(Syntax::Blank(part)))
    }

    fn sequence(&mut self, parts: &'r [Peg]) -> Result<Syntax, Reported> {
        let mut done = Vec::new();
        let mut number = 0;
        while number < parts.len() {
            // Predicates in front of a class remove characters from it.
            let is_predicate = |part: &&Peg| matches!(part.kind, Kind::Not(_) | Kind::And(_));
            let asked = parts[number..].iter().take_while(is_predicate).count();
            let class = if asked > 0 {
                self.remaining(&parts[number..number + asked], parts.get(number + asked))
            } else {
                None
            };
            let (syntax, taken) = match class {
                Some(set) => (self.class(set, parts[number].span.to(parts[number + asked].span))?, asked + 1),
                None => match self.guarded(&parts[number..number + asked], &parts[number + asked..])? {
                    Some(syntax) => (syntax, asked + 1),
                    None => (self.peg(&parts[number])?, 1),
                },
            };
            if !done.is_empty() {
                done.extend(self.gap(parts[number].span)?);
            }
            done.push(syntax);
            number += taken;
        }
        Ok(Syntax::Seq(done))
    }

    /// Returns the class `what` without the characters that the predicates exclude.
    fn remaining(&mut self, predicates: &[Peg], what: Option<&Peg>) -> Option<CharSet> {
        let mut set = self.chars.class(what?)?;
        for predicate in predicates {
            set = match &predicate.kind {
                // The end of the text is not a character.
                Kind::Not(inside) if matches!(&inside.kind, Kind::Name(name) if name == "EOI") => set,
                Kind::Not(inside) => set.difference(&self.chars.beginning(inside)?.first),
                Kind::And(inside) => set.intersection(&self.chars.class(inside)?),
                _ => return None,
            };
        }
        Some(set).filter(|set| !set.is_empty())
    }

    /// Translates `!x ~ y*` in an atomic rule, for classes: the first round is not excluded. `rest` begins with the
    /// rounds.
    fn guarded(&mut self, predicates: &'r [Peg], rest: &'r [Peg]) -> Result<Option<Syntax>, Reported> {
        let [Peg { kind: Kind::Repeat(item, min @ 0..=1, max), span, .. }, behind @ ..] = rest else { return Ok(None) };
        let excludes = |part: &Peg| matches!(part.kind, Kind::Not(_));
        if !self.atomic || *max == Some(0) || predicates.is_empty() || !predicates.iter().all(excludes) {
            return Ok(None);
        }
        let Some(set) = self.remaining(predicates, Some(item)) else { return Ok(None) };
        // Without a round, the predicates are about what follows.
        if *min == 0 && !predicates.iter().all(|predicate| self.cannot_begin(predicate, behind)) {
            self.predicate(predicates[0].span);
        }
        let mut all = vec![self.class(set, *span)?];
        if *max != Some(1) {
            all.push(self.repeat(item, 0, max.map(|max| max - 1), *span)?);
        }
        let all = Syntax::Seq(all);
        Ok(Some(if *min == 0 { Syntax::Repeat(Box::new(all), 0, Some(1)) } else { all }))
    }

    /// Returns true if the text that follows in the current rule never begins with what a predicate excludes.
    fn cannot_begin(&mut self, predicate: &Peg, behind: &[Peg]) -> bool {
        let Kind::Not(inside) = &predicate.kind else { return false };
        let Some(excluded) = self.chars.beginning(inside) else { return false };
        match behind {
            // A line feed follows each comment.
            [] => self.rule == "COMMENT" && !excluded.first.contains(u32::from('\n')),
            [next, ..] => {
                let next = self.chars.beginning(next);
                next.is_some_and(|next| next.first.intersection(&excluded.first).is_empty())
            }
        }
    }

    fn repeat(&mut self, item: &'r Peg, min: u32, max: Option<u32>, span: Span) -> Result<Syntax, Reported> {
        let round = match self.without_delimiter(item, max.is_some())? {
            Some(round) => round,
            None => self.peg(item)?,
        };
        if max == Some(1) || self.atomic {
            return Ok(Syntax::Repeat(Box::new(round), min, max));
        }
        // The first round, then further rounds with the implicit rule in front.
        let Some(gap) = self.gap(span)? else { return Ok(round) };
        let round = match round {
            Syntax::Token(_) | Syntax::Rule(_) => round,
            // The round is used twice, so it becomes a rule.
            _ => {
                let text = format!("round.{}", self.rounds.len() + 1);
                self.rounds.push((Name { text: text.clone(), span }, round));
                Syntax::Rule(self.builder.rule(text, span)?)
            }
        };
        self.builder.count(1, span)?;
        let more = Syntax::Seq(vec![gap, round.clone()]);
        let more = Syntax::Repeat(Box::new(more), min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
        let all = Syntax::Seq(vec![round, more]);
        Ok(if min == 0 { Syntax::Repeat(Box::new(all), 0, Some(1)) } else { all })
    }

    /// Returns a round of `(!"*/" ~ ANY)*`: any character but the first of the delimiter, or (unless the rounds are
    /// `counted`) the first followed by a character that does not continue the delimiter.
    fn without_delimiter(&mut self, item: &'r Peg, counted: bool) -> Result<Option<Syntax>, Reported> {
        let Kind::Seq(parts) = &item.kind else { return Ok(None) };
        let [Peg { kind: Kind::Not(delimiter), .. }, what] = parts.as_slice() else { return Ok(None) };
        let Kind::Text(text, false) = &delimiter.kind else { return Ok(None) };
        let mut characters = text.chars().map(|c| CharSet::single(Unit::Char, c.into()));
        let (Some(first), Some(second)) = (characters.next(), characters.next()) else { return Ok(None) };
        let Some(set) = self.chars.class(what).map(|set| pattern::readable(&set)) else { return Ok(None) };
        let plain = set.difference(&first);
        let behind = plain.difference(&second);
        if behind.is_empty() || plain.len() == set.len() {
            return Ok(None);
        }
        let plain = self.builder.class(plain, item.span)?;
        if counted {
            return Ok(Some(self.token(plain)));
        }
        let pair = vec![self.builder.class(first, item.span)?, self.builder.class(behind, item.span)?];
        let pair = self.builder.seq(pair, item.span)?;
        let part = self.builder.any(vec![plain, pair], item.span)?;
        Ok(Some(self.token(part)))
    }
}
