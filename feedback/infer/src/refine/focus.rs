//! A grammar whose texts all have a certain part: so an edit can be judged by texts that show it.

use std::collections::BTreeMap;

use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar, Name, Rule};

use crate::refine::place::{ExprPath, NEW, alternative, choice, new, reference, repeat, seq};

/// The number of each rule.
type Index<'g> = BTreeMap<&'g str, usize>;

/// Returns the grammar whose derivations have `part` at `place` at least once, wherever the rules around it lead there;
/// `None` if the start rule does not. `place` is one of `grammar`. Alternatives that are only read lead there if no
/// others do.
pub(crate) fn focus(grammar: &Grammar, place: &ExprPath, part: &Expr) -> Option<Grammar> {
    let by = |leads| focus_by(grammar, place, part, leads);
    by(Alternative::is_generated).or_else(|| by(Alternative::is_live))
}

/// Function that returns true if an alternative leads to what is in it.
type Leads = fn(&Alternative) -> bool;

fn focus_by(grammar: &Grammar, place: &ExprPath, part: &Expr, leads: Leads) -> Option<Grammar> {
    let index: Index<'_> = grammar.rules.iter().enumerate().map(|(number, rule)| (&*rule.name.text, number)).collect();
    let leading = leading(grammar, &index, place.rule, leads);
    let start = start(grammar)?;
    let focus = Focus { index: &index, leading: &leading, part, leads };
    let mut focused = grammar.clone();
    for (number, rule) in grammar.rules.iter().enumerate().filter(|&(number, _)| leading[number]) {
        let name = Name { text: forced(&rule.name.text), span: NEW };
        // A rule leads there by its own place, or by other rules.
        let own = (number == place.rule).then(|| focus.along(&rule.body, &place.path)).flatten();
        let others = focus.through(&rule.body);
        let body = any(own.into_iter().chain(others).collect())?;
        focused.rules.push(Rule { name, parameters: rule.parameters.clone(), body });
    }
    let name = &grammar.rules[start].name.text;
    focused.start = leading[start].then(|| Name { text: forced(name), span: NEW });
    focused.start.is_some().then_some(focused)
}

/// Returns the number of the start rule.
pub(crate) fn start(grammar: &Grammar) -> Option<usize> {
    match &grammar.start {
        Some(start) => grammar.rules.iter().position(|rule| rule.name.text == start.text),
        None => (!grammar.rules.is_empty()).then_some(0),
    }
}

/// Returns the name of the rule that is forced to lead there. No notation has such names.
fn forced(name: &str) -> String {
    format!("{name}\0")
}

/// Returns which rules lead to a rule, itself included.
fn leading(grammar: &Grammar, index: &Index<'_>, to: usize, leads: Leads) -> Vec<bool> {
    let mut leading = vec![false; grammar.rules.len()];
    leading[to] = true;
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (number, rule) in grammar.rules.iter().enumerate() {
            if !leading[number] && refers(index, &rule.body, &leading, leads) {
                leading[number] = true;
                has_changed = true;
            }
        }
    }
    leading
}

/// Returns true if an expression refers to a marked rule by alternatives that lead there.
fn refers(index: &Index<'_>, expr: &Expr, marked: &[bool], leads: Leads) -> bool {
    let is_marked = |name| index.get(name).is_some_and(|&number| marked[number]);
    expr.as_rule().is_some_and(is_marked)
        || expr.as_repeat().is_none_or(|rounds| rounds.max != Some(0))
            && expr.children_if(leads).any(|child| refers(index, child, marked, leads))
}

struct Focus<'f> {
    index: &'f Index<'f>,
    leading: &'f [bool],
    part: &'f Expr,
    leads: Leads,
}

impl Focus<'_> {
    /// Returns the expression with the part at the end of a path, which is taken.
    fn along(&self, expr: &Expr, path: &[usize]) -> Option<Expr> {
        let Some((&number, rest)) = path.split_first() else { return Some(self.part.clone()) };
        match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => None,
            // A part that others follow from is left alone.
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => None,
            ExprKind::Seq(items) => {
                let inner = self.along(items.get(number)?, rest)?;
                let mut items = items.clone();
                items[number] = inner;
                Some(seq(items))
            }
            ExprKind::Choice(alternatives) => {
                let alternative = alternatives.get(number).filter(|alternative| (self.leads)(alternative))?;
                self.along(&alternative.expr, rest)
            }
            ExprKind::Repeat { item, min, max } => Some(around(self.along(item, rest)?, item, *min, *max)),
        }
    }

    /// Returns the expression with one reference that leads there.
    fn through(&self, expr: &Expr) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) => None,
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => None,
            ExprKind::Rule(name) => {
                let number = self.index.get(&**name)?;
                self.leading[*number].then(|| reference(&forced(name)))
            }
            ExprKind::Seq(items) => any((0..items.len())
                .filter_map(|number| {
                    let mut items = items.clone();
                    items[number] = self.through(&items[number])?;
                    Some(seq(items))
                })
                .collect()),
            ExprKind::Choice(alternatives) => {
                let leading = alternatives.iter().filter(|alternative| (self.leads)(alternative));
                any(leading.filter_map(|alternative| self.through(&alternative.expr)).collect())
            }
            ExprKind::Repeat { max: Some(0), .. } => None,
            ExprKind::Repeat { item, min, max } => Some(around(self.through(item)?, item, *min, *max)),
        }
    }
}

/// Returns one round of a repetition, with others around it: it may be the first one, the last one, or between others.
fn around(round: Expr, item: &Expr, min: u32, max: Option<u32>) -> Expr {
    let others = |min, max| repeat(item.clone(), min, max);
    let least = min.saturating_sub(1);
    let Some(most) = max.map(|max| max.saturating_sub(1)) else {
        return seq(vec![others(0, None), round, others(least, None)]);
    };
    let (first, last) =
        (vec![round.clone(), others(least, Some(most))], vec![others(least, Some(most)), round.clone()]);
    let before = (most / 2).min(most - least.min(most));
    let between = vec![others(0, Some(before)), round, others(least, Some(most - before))];
    match most {
        0 => seq(last),
        1 => choice(vec![seq(first), seq(last)]),
        _ => choice(vec![seq(first), seq(between), seq(last)]),
    }
}

/// Returns one of these; `None` if there are none.
fn any(mut options: Vec<Expr>) -> Option<Expr> {
    match options.len() {
        0 => None,
        1 => options.pop(),
        _ => Some(new(ExprKind::Choice(options.into_iter().map(alternative).collect()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::place::literal;
    use crate::refine::reader::Reader;
    use crate::refine::testing::grammar;
    use gramjet_session::Random;

    #[test]
    fn every_text_has_the_part() {
        let grammar = grammar(
            "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9] | list | pair | 'x' @ 0\npair ::= '<' list '>'\n",
        );
        // The digits of items.
        let place = ExprPath { rule: 1, path: vec![0] };
        let focused = focus(&grammar, &place, &literal(b"!")).expect("it is reached");
        let reader = Reader::new(&focused).expect("a grammar");
        let mut random = Random::new(1);
        let mut texts = std::collections::BTreeSet::new();
        for choices in 0..200 {
            let text = reader.make(&mut random, choices % 20).text;
            assert!(text.contains(&b'!'), "{}", text.escape_ascii());
            texts.insert(text);
        }
        assert!(texts.len() > 30 && texts.iter().any(|text| text.contains(&b'<')), "{texts:?}");
        assert!(texts.contains(b"[!]".as_slice()));
    }

    #[test]
    fn rounds_come_before_and_after_the_part() {
        let grammar = grammar("list ::= 'x'{2,3} 'y'{1,2}\n");
        for (path, wanted) in [
            (vec![0, 0], ["!xy", "x!y", "xx!y", "!xxyy", "x!xy"]),
            (vec![1, 0], ["xx!", "xx!y", "xxy!", "xxx!", "xxxy!"]),
        ] {
            let focused = focus(&grammar, &ExprPath { rule: 0, path }, &literal(b"!")).expect("it is reached");
            let reader = Reader::new(&focused).expect("a grammar");
            assert!(wanted.iter().all(|text| reader.reads(text.as_bytes())), "{wanted:?}");
            assert!(!reader.reads(b"xxxx!y") && !reader.reads(b"!y") && !reader.reads(b"xxyy!"));
        }
    }

    #[test]
    fn an_alternative_that_is_switched_off_leads_nowhere() {
        let grammar = grammar("a ::= 'x' | b @ 0\nb ::= 'y'\n");
        assert!(focus(&grammar, &ExprPath::body(1), &literal(b"!")).is_none());
    }

    #[test]
    fn what_is_only_read_leads_there_if_nothing_else_does() {
        let mut grammar = grammar("a ::= 'x' b | '<' b '>' @ 0 | '[' c ']' @ 0\nb ::= 'y'\nc ::= 'z'\n");
        grammar.keep_zero_weights();
        for (rule, wanted) in [(1, "x!"), (2, "[!]")] {
            let focused = focus(&grammar, &ExprPath::body(rule), &literal(b"!")).expect("it is reached");
            let reader = Reader::new(&focused).expect("a grammar");
            let mut random = Random::new(1);
            assert!((0..20).all(|choices| reader.make(&mut random, choices).text == wanted.as_bytes()), "{wanted}");
        }
    }
}
