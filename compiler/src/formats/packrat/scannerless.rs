//! Translates the rules of a PEG that says where blanks are. What the ordered reading never matches is left out where
//! one character decides:
//!
//! - after a repetition of a class, none of its characters comes next;
//! - an alternative does not begin with what an earlier one always takes;
//! - predicates exclude first characters, and words in front of names.
//!
//! A rule has a variant for each set of characters that must not come first, and for the characters that come next: a
//! blank that may be empty is not, if what stands around it would run together. What is left of the order is reported.

use super::chars::Chars;
use super::clean;
use super::edges::{self, Edges, is_heavy};
use super::order::Order;
use super::parser::Dialect;
use super::tree::{Kind, Peg, Rule};
use crate::ast::{self, Expr, Grammar};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::boundaries::{Chars as Bits, OTHERS};
use crate::formats::builder::{Builder, Part, Reported};
use crate::formats::pattern;
use crate::ordered::Map;

mod sequences;
mod variants;

/// The number of variants of a rule.
const MAX_VARIANTS: usize = 32;
/// The number of expressions in all variants, beyond which rules have no more of them.
const MAX_SIZE: usize = 1 << 17;
/// The depth of expressions in which a variant is written while another one is. Beyond it, it waits.
const MAX_DEPTH: u32 = 48;
/// The number of expressions that are walked, some of them in several surroundings. Beyond it, the rest is read without
/// regard to them.
const MAX_WALKS: usize = 1 << 19;
/// The depth to which rules are followed for names.
const MAX_SHAPE: u32 = 16;

/// Returns the grammar of these rules.
pub(in crate::formats) fn translate(rules: &[Rule], dialect: &Dialect, builder: &mut Builder<'_>) -> Grammar {
    let by_name: Map<&str, &Rule> = rules.iter().map(|rule| (rule.name.text.as_str(), rule)).collect();
    let mut translator = Translator {
        by_name: &by_name,
        edges: Edges::new(&by_name),
        chars: Chars::new(rules, dialect.last),
        order: Order::new(&by_name, &[]),
        variants: Map::new(),
        counts: Map::new(),
        bodies: Map::new(),
        pending: Vec::new(),
        done: Vec::new(),
        depth: 0,
        walks: 0,
        assumptions: 0,
        is_loose: false,
        is_order_reported: false,
        builder,
    };
    for rule in rules {
        translator.base(rule);
    }
    while let Some(key) = translator.pending.pop() {
        translator.write(key);
    }
    translator.clean();
    let mut done = translator.done;
    // The rules of the file come first, in its order.
    let places: Map<&str, usize> = rules.iter().enumerate().map(|(at, rule)| (rule.name.text.as_str(), at)).collect();
    done.sort_by_key(|rule| places.get(rule.name.text.as_str()).copied().unwrap_or(usize::MAX));
    let Some(start) = rules.first().map(|rule| rule.name.clone()) else { return Grammar::default() };
    let (reached, written) = (clean::reached(&done, &start.text), translator.edges.reached(&start.text));
    // A rule that only has variants is reached by those.
    let is_own = |name: &str| by_name.contains_key(name) && (reached.contains(name) || !written.contains(name));
    Grammar { start: Some(start), rules: done, ..Grammar::default() }.with_own(is_own)
}

/// The surroundings of an expression.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Around {
    /// The characters that must not come first: in the expression or, if that is empty, in the text after it.
    before: Bits,
    /// The characters that may come next and that something in the expression forbids there.
    next: Bits,
    /// Whether other characters may come next, too.
    is_open: bool,
    /// Whether the text must not be empty.
    is_full: bool,
}

/// An expression and the characters that must not follow it. `None` if there is no text.
type Walked = Result<Option<(Part, Bits)>, Reported>;

/// A rule and its surroundings.
type Key<'r> = (&'r str, Around);

/// A form of a rule.
struct Variant {
    name: String,
    /// The characters that must not follow. `None` while the variant is not written.
    after: Option<Bits>,
    /// Whether the variant has texts.
    is_possible: bool,
    /// Whether something was taken for granted of a variant that was not written then.
    is_assumed: bool,
    is_used: bool,
}

struct Translator<'r, 'b, 'd> {
    by_name: &'r Map<&'r str, &'r Rule>,
    edges: Edges<'r>,
    chars: Chars<'r>,
    order: Order<'r>,
    variants: Map<Key<'r>, Variant>,
    counts: Map<&'r str, usize>,
    /// The variants that are written, and their names.
    bodies: Map<&'r str, Vec<(Expr, String)>>,
    pending: Vec<Key<'r>>,
    done: Vec<ast::Rule>,
    depth: u32,
    walks: usize,
    /// The number of references to variants of which something is taken for granted.
    assumptions: usize,
    /// Whether the current rule is read without regard to what must not come first.
    is_loose: bool,
    is_order_reported: bool,
    builder: &'b mut Builder<'d>,
}

impl<'r> Translator<'r, '_, '_> {
    /// Writes a rule of the file.
    fn base(&mut self, rule: &'r Rule) {
        let name = rule.name.text.as_str();
        let Some(&known) = self.by_name.get(name).filter(|known| std::ptr::eq(**known, rule)) else {
            // A second definition is reported by the check of the grammar.
            self.done.push(ast::Rule::new(rule.name.clone(), Expr::empty(rule.name.span)));
            return;
        };
        self.check_order(&known.body);
        let key = (name, Around::default());
        if !self.variants.contains_key(&key) {
            self.add(key, name.to_string());
            self.write(key);
        }
    }

    /// Reports the first choice whose order may lose texts.
    fn check_order(&mut self, peg: &'r Peg) {
        if self.is_order_reported {
            return;
        }
        match &peg.kind {
            Kind::Choice(parts) => {
                if self.edges.is_order_doubtful(parts) && self.order.matters(parts, true, &mut self.chars) {
                    self.is_order_reported = true;
                    let help = "in a PEG the first alternative that fits wins: one before another takes the beginning of its \
                                texts, and what is left over is not matched; that is seen to where one character or a text \
                                decides, and may be missed elsewhere";
                    self.builder.approximate(peg.span, "the order of a choice may lose texts", help);
                    return;
                }
                parts.iter().for_each(|part| self.check_order(part));
            }
            Kind::Seq(parts) => {
                self.check_rounds(parts);
                parts.iter().for_each(|part| self.check_order(part));
            }
            Kind::Repeat(inside, ..) | Kind::Push(inside) => self.check_order(inside),
            Kind::Text(..) | Kind::Range(..) | Kind::Class(_) | Kind::Name(_) | Kind::Pushed => {}
            Kind::Not(_) | Kind::And(_) => {}
        }
    }

    /// Reports the first repetition that may take the beginning of what follows it, where no character decides.
    fn check_rounds(&mut self, parts: &'r [Peg]) {
        for (number, part) in parts.iter().enumerate() {
            let Kind::Repeat(item, min, max) = &part.kind else { continue };
            let fact = self.edges.fact(item);
            // Rounds such as `!end .` see to their end themselves.
            let is_guarded = matches!(item.parts().first(), Some(Peg { kind: Kind::Not(_), .. }));
            if is_guarded || *max == Some(*min) || self.edges.certain(item) & fact.first == fact.first {
                continue;
            }
            let mut next = 0;
            for behind in &parts[number + 1..] {
                let behind = self.edges.fact(behind);
                next |= behind.first;
                if !behind.nullable {
                    break;
                }
            }
            if fact.first & next != 0 && !self.is_order_reported {
                self.is_order_reported = true;
                let help = "in a PEG a repetition takes all rounds that fit and gives none back: what follows it is not \
                            matched if a further round fits there, too; that is seen to for rounds of one character";
                self.builder.approximate(part.span, "a repetition may take what follows it", help);
            }
        }
    }

    fn walk(&mut self, peg: &'r Peg, around: Around) -> Walked {
        self.depth += 1;
        self.walks += 1;
        if self.walks == MAX_WALKS {
            let help = "what surrounds a part decides how it is written; here parts nest too deeply for that";
            self.builder.approximate(peg.span, "the order of what follows is left out", help);
        }
        self.is_loose |= self.walks >= MAX_WALKS;
        let walked = self.kind(peg, around);
        self.depth -= 1;
        walked
    }

    fn kind(&mut self, peg: &'r Peg, around: Around) -> Walked {
        let around = if self.is_loose { Around::default() } else { around };
        let span = peg.span;
        match &peg.kind {
            Kind::Text(text, free) => match text.chars().next() {
                None => self.nothing(around, span),
                Some(c) if around.before & edges::bits(c, *free) != 0 => Ok(None),
                Some(_) if *free => Ok(Some((self.builder.any_case(text, span)?, 0))),
                Some(_) => Ok(Some((self.builder.bytes(text.as_str(), span)?, 0))),
            },
            Kind::Range(low, high) => {
                self.class(&CharSet::new(Unit::Char, [(u32::from(*low), u32::from(*high))]), around, span)
            }
            Kind::Class(set) => self.class(set, around, span),
            Kind::Name(name) => self.name(name, around, span),
            Kind::Seq(parts) if parts.is_empty() => self.nothing(around, span),
            Kind::Seq(parts) => self.sequence(parts, around, span),
            Kind::Not(_) | Kind::And(_) => self.sequence(std::slice::from_ref(peg), around, span),
            Kind::Choice(parts) => self.choice(parts, around, span),
            Kind::Repeat(item, min, max) => self.repeat(item, (*min, *max), around, span),
            Kind::Push(inside) => self.walk(inside, around),
            Kind::Pushed => self.nothing(around, span),
        }
    }

    /// Returns the empty text, if that is allowed.
    fn nothing(&mut self, around: Around, span: Span) -> Walked {
        if around.is_full {
            return Ok(None);
        }
        Ok(Some((self.builder.seq(Vec::new(), span)?, around.before)))
    }

    fn class(&mut self, set: &CharSet, around: Around, span: Span) -> Walked {
        let excluded = edges::set(around.before);
        let shown = pattern::readable_up_to(self.chars.last, set).difference(&excluded);
        let left = if shown.is_empty() { set.difference(&excluded) } else { shown };
        if left.is_empty() && !self.is_loose {
            return Ok(None);
        }
        Ok(Some((self.builder.class(left, span)?, 0)))
    }

    /// Returns a reference to the variant of a rule.
    fn name(&mut self, name: &str, around: Around, span: Span) -> Walked {
        let Some((&name, _)) = self.by_name.get_key_value(name) else {
            return Ok(Some((self.builder.rule(name, span)?, 0)));
        };
        let fact = self.edges.of_rule(name);
        let is_full = around.is_full && fact.nullable;
        let may_pass = if fact.nullable && !is_full { around.before } else { 0 };
        let cannot_begin = fact.first & !around.before == 0;
        if !self.is_loose && cannot_begin && (is_full || !fact.nullable) {
            return Ok(None);
        }
        let next = around.next & (fact.after | may_pass);
        let is_open = next != 0 && (around.is_open || around.next != next);
        let own = Around { before: around.before & fact.first, next, is_open, is_full };
        let key = self.variant(name, own);
        let Some(variant) = self.variants.get_mut(&key).filter(|variant| variant.is_possible) else {
            return Ok(None);
        };
        variant.is_used = true;
        self.assumptions += usize::from(variant.is_assumed);
        // A variant that is being written is trusted to end as it should.
        let after = variant.after.unwrap_or(fact.after & !around.next) | may_pass;
        let text = variant.name.clone();
        Ok(Some((self.builder.rule(text, span)?, after)))
    }

    fn choice(&mut self, parts: &'r [Peg], around: Around, span: Span) -> Walked {
        let is_blocked = |after: Bits| !around.is_open && around.next != 0 && around.next & !after == 0;
        let mut found: Vec<(Part, Bits)> = Vec::new();
        let (mut shadow, mut has_way) = (0, false);
        for part in parts {
            let assumptions = self.assumptions;
            let is_shadowed = !self.is_loose && self.edges.is_shadowed(part, parts);
            let before = around.before | shadow;
            let walked = if is_shadowed { None } else { self.walk(part, Around { before, ..around })? };
            match walked {
                Some((inside, after)) => {
                    let after = after | self.edges.longer(part, parts);
                    has_way |= !is_blocked(after) && self.assumptions == assumptions;
                    found.push((inside, after));
                }
                None if around.before == 0 && !around.is_full => {
                    let help = "an earlier alternative takes the beginning of its texts, or something in it takes what follows";
                    self.builder.approximate(part.span, "an alternative that never matches is left out", help);
                }
                None => {}
            }
            shadow |= self.edges.shadow(part);
        }
        // An alternative behind which nothing can follow is left out if there is another one for sure.
        if has_way {
            found.retain(|(_, after)| !is_blocked(*after));
        }
        self.any(found, span)
    }

    fn any(&mut self, found: Vec<(Part, Bits)>, span: Span) -> Walked {
        if found.is_empty() {
            return Ok(None);
        }
        let after = found.iter().fold(0, |all, (_, after)| all | after);
        let parts = found.into_iter().map(|(part, _)| part).collect();
        Ok(Some((self.builder.any(parts, span)?, after)))
    }

    /// Returns rounds. The first may have to begin otherwise than the others.
    fn repeat(&mut self, item: &'r Peg, bounds: (u32, Option<u32>), around: Around, span: Span) -> Walked {
        let (mut min, max) = bounds;
        if max == Some(0) {
            return self.nothing(around, span);
        }
        let is_optional = min == 0 && !around.is_full;
        min = if around.is_full { min.max(1) } else { min };
        let fact = self.edges.fact(item);
        let after = self.edges.light(item);
        let next = around.next | fact.first;
        let inside = |before: Bits| Around { before, next, is_open: around.is_open, is_full: true };
        let more = if max == Some(1) { None } else { self.round(item, inside(after))? };
        let is_same = self.is_loose || (around.before ^ after) & fact.first == 0;
        if self.is_loose && more.is_none() && max != Some(1) {
            return if is_optional { self.nothing(around, span) } else { Ok(None) };
        }
        let ends = if max == Some(min) { 0 } else { self.edges.certain(item) };
        let passed = if is_optional { around.before } else { 0 };
        if let Some((more, ended)) = more.as_ref().filter(|_| is_same) {
            let part = self.builder.repeat(more.clone(), min, max, span)?;
            return Ok(Some((part, ended | ends | passed)));
        }
        let Some((first, ended)) = self.round(item, inside(around.before))? else {
            return if is_optional { self.nothing(around, span) } else { Ok(None) };
        };
        let mut parts = vec![first];
        let mut ended = ended;
        match more {
            Some((more, behind)) if max.is_none_or(|max| max > 1) => {
                ended |= behind;
                let max = max.map(|max| max - 1);
                parts.push(self.builder.repeat(more, min.saturating_sub(1), max, span)?);
            }
            // Further rounds are never matched.
            _ if min > 1 => return Ok(None),
            _ => {}
        }
        let whole = self.builder.seq(parts, span)?;
        let whole = if is_optional { self.builder.repeat(whole, 0, Some(1), span)? } else { whole };
        Ok(Some((whole, ended | ends | passed)))
    }

    /// Returns a round of a repetition. A comment up to the end of its line is followed by a round that ends it.
    fn round(&mut self, item: &'r Peg, around: Around) -> Walked {
        let parts = self.edges.rounds(item);
        let around = if self.edges.fact(item).nullable { around } else { Around { is_full: false, ..around } };
        let is_heavy_part = |part: &'r Peg, edges: &mut Edges<'r>| is_heavy(edges.fact(part).after);
        if self.is_loose || parts.len() < 2 || !parts.iter().any(|part| is_heavy_part(part, &mut self.edges)) {
            return self.walk(item, around);
        }
        let (mut found, mut shadow) = (Vec::new(), 0);
        let certain = self.edges.certain(item);
        for part in parts {
            let before = around.before | shadow;
            shadow |= self.edges.shadow(part);
            let Some((inside, after)) = self.walk(part, Around { before, ..around })? else { continue };
            if !is_heavy(after) {
                found.push((inside, after));
                continue;
            }
            let ends = certain & !after & !(1 << OTHERS);
            if ends == 0 {
                let help = "it reaches to the end of its line, which none of the rounds ends";
                self.builder.approximate(part.span, "a comment is left out", help);
                continue;
            }
            let end = self.builder.class(edges::set(ends), part.span)?;
            found.push((self.builder.seq(vec![inside, end], part.span)?, 0));
        }
        self.any(found, item.span)
    }
}
