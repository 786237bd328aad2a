//! The bytes that parts of a grammar can have, which say how long they can get when they are coded.

use crate::ast::{Expr, Grammar};
use crate::charset::{CharSet, Unit};
use crate::coding::{Bytes, Coding};
use crate::derived::Derived;
use crate::naming::Naming;
use crate::ordered::Map;

/// The bytes of the rules of a grammar, of its labelled parts and of its names. Only those that coded parts need are
/// known.
#[derive(Debug, Default)]
pub struct Alphabets<'g> {
    rules: Vec<Bytes>,
    /// The bytes of the parts with a label, by the number of the rule. Labels of one name in a rule count as one.
    labels: Map<(usize, &'g str), Bytes>,
    /// The bytes of the names of each kind.
    kinds: Map<&'g str, Bytes>,
    index: Map<&'g str, usize>,
}

impl<'g> Alphabets<'g> {
    /// Returns the bytes of the rules of a grammar; of none if it has no coded parts. Alternatives that are switched
    /// off do not count.
    pub fn new(grammar: &'g Grammar) -> Alphabets<'g> {
        let mut found = Alphabets::default();
        if !grammar.rules.iter().any(|rule| has_codes(&rule.body)) {
            return found;
        }
        found.rules = vec![Bytes::NONE; grammar.rules.len()];
        // What a parameter stands for can have any bytes.
        let parameters = grammar
            .rules
            .iter()
            .enumerate()
            .flat_map(|(rule, own)| own.parameters.iter().map(move |name| (rule, name)));
        found.labels = parameters.map(|(rule, name)| ((rule, name.text.as_str()), Bytes::ALL)).collect();
        found.index = grammar.rules.iter().enumerate().map(|(at, rule)| (rule.name.text.as_str(), at)).collect();
        let mut referring: Vec<Vec<usize>> = vec![Vec::new(); grammar.rules.len()];
        let mut users: Map<&str, Vec<usize>> = Map::new();
        for (number, rule) in grammar.rules.iter().enumerate() {
            rule.body.each_reference(&mut |name| {
                if let Some(&target) = found.index.get(name) {
                    referring[target].push(number);
                }
            });
            rule.body.each(&mut |expr| {
                if let Some((Naming::Use(kind), _)) = expr.as_naming() {
                    users.entry(kind.text.as_str()).or_default().push(number);
                }
            });
        }
        let mut open: Vec<usize> = (0..grammar.rules.len()).collect();
        let mut is_open = vec![true; grammar.rules.len()];
        while let Some(rule) = open.pop() {
            is_open[rule] = false;
            let (has_grown, kinds) = found.look(rule, &grammar.rules[rule].body);
            let of_names = kinds.iter().filter_map(|kind| users.get(kind)).flatten();
            let of_rule = referring[rule].iter().filter(|_| has_grown);
            for &next in of_rule.chain(of_names) {
                if !std::mem::replace(&mut is_open[next], true) {
                    open.push(next);
                }
            }
        }
        found
    }

    /// Returns the most bytes that a byte of a part of a rule is coded as.
    pub fn growth(&self, rule: usize, coding: Coding, part: &Expr) -> u8 {
        coding.growth(self.of(rule, part))
    }

    /// Looks at a rule until nothing changes in it. Returns true if it has more bytes than before, and the kinds of
    /// names that have.
    fn look(&mut self, rule: usize, body: &'g Expr) -> (bool, Vec<&'g str>) {
        let before = self.rules[rule];
        let mut kinds = Vec::new();
        loop {
            let mut has_changed = false;
            body.each(&mut |expr| {
                if let Some((label, part)) = expr.as_label() {
                    let bytes = self.of(rule, part);
                    has_changed |= add(self.labels.entry((rule, label.text.as_str())).or_insert(Bytes::NONE), bytes);
                }
                let naming = expr.as_naming();
                if let Some((kind, part)) = naming.and_then(|(naming, part)| Some((naming.given()?, part))) {
                    let bytes = self.of_name(rule, expr).with(self.of(rule, part));
                    if add(self.kinds.entry(kind.text.as_str()).or_insert(Bytes::NONE), bytes) {
                        has_changed = true;
                        kinds.push(kind.text.as_str());
                    }
                }
            });
            let bytes = self.of(rule, body);
            has_changed |= add(&mut self.rules[rule], bytes);
            if !has_changed {
                return (self.rules[rule] != before, kinds);
            }
        }
    }

    /// Returns the bytes of an expression, as far as they are known.
    fn of(&self, rule: usize, expr: &Expr) -> Bytes {
        if let Some(bytes) = expr.as_bytes() {
            return Bytes::of(bytes);
        }
        if let Some(set) = expr.as_class() {
            return of_class(set);
        }
        if let Some(name) = expr.as_rule() {
            return self.index.get(name).map_or(Bytes::NONE, |&rule| self.rules[rule]);
        }
        match expr.as_derived() {
            Some(Derived::Copy(label)) => {
                return self.labels.get(&(rule, label.text.as_str())).copied().unwrap_or(Bytes::NONE);
            }
            Some(Derived::Number(_, form)) => return form.bytes(),
            Some(Derived::Bits(bits)) => return bits.form().bytes(),
            Some(Derived::Padding(_, padding)) => return Bytes::of(&[padding.filler]),
            None => {}
        }
        match expr.as_coded() {
            Some((coding, part)) => coding.alphabet(self.of(rule, part)),
            None if expr.as_naming().is_some() => self.of_name(rule, expr),
            None => self.of_children(rule, expr),
        }
    }

    fn of_children(&self, rule: usize, expr: &Expr) -> Bytes {
        let live = expr.children_if(|alternative| alternative.is_live());
        live.map(|child| self.of(rule, child)).fold(Bytes::NONE, Bytes::with)
    }

    fn of_name(&self, rule: usize, expr: &Expr) -> Bytes {
        let Some((naming, part)) = expr.as_naming() else { return Bytes::NONE };
        match naming {
            Naming::Declare(_) => Bytes::NONE,
            Naming::Define(_) | Naming::Scope(_) => self.of(rule, part),
            Naming::Unique(_) => self.of(rule, part).with(Bytes::of(b"0123456789")),
            Naming::Use(kind) => {
                let names = self.kinds.get(kind.text.as_str()).copied().unwrap_or(Bytes::NONE);
                names.with(self.of(rule, part))
            }
        }
    }
}

/// Adds bytes to a set. Returns true if it has more than before.
fn add(set: &mut Bytes, bytes: Bytes) -> bool {
    let before = *set;
    *set = before.with(bytes);
    *set != before
}

fn has_codes(expr: &Expr) -> bool {
    expr.as_coded().is_some() || expr.children().any(has_codes)
}

/// Returns the bytes of the members of a set.
fn of_class(set: &CharSet) -> Bytes {
    let last = if set.unit() == Unit::Byte { 255 } else { 127 };
    let single = set.ranges().iter().flat_map(|&(low, high)| low..=high.min(last)).map(|member| member as u8);
    let is_wide = set.ranges().iter().any(|&(_, high)| high > last);
    // Characters of several bytes are made of these.
    let wide = (128..=255).filter(|_| is_wide);
    single.chain(wide).collect()
}
