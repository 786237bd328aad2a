//! The edits as changes that a maintainer can review: one for each rule, with what speaks for it, those first that most
//! speaks for. Changes that samples do not need, or few texts if there are no samples, are left out of the result, and
//! are named.

use std::ops::Range;

use gramjet_compiler::ast::{Expr, Grammar};

use super::{MOST_SHOWN, Repair};
use crate::refine::reader::Reader;
use crate::refine::report::{Apply, Change, Edit};

/// Without samples, a change that shuts nothing out is to let in this many texts, and one in `LEAST_SHARE` of those
/// that the grammar lacked.
const LEAST_TEXTS: usize = 4;
const LEAST_SHARE: usize = 50;

/// An edit, and the body of its rule before it.
pub(super) struct Version {
    pub(super) rule: usize,
    pub(super) number: usize,
    pub(super) before: Expr,
    pub(super) edit: Edit,
}

/// Texts about which two grammars differ.
#[derive(Default)]
struct Differing<'r> {
    samples: Vec<&'r Vec<u8>>,
    accepted: Vec<&'r Vec<u8>>,
    rejected: Vec<&'r Vec<u8>>,
}

impl<'r> Differing<'r> {
    /// Returns those that a change makes differ, given readers of a grammar with it and without it.
    fn between(&self, with: &Reader, without: &Reader) -> Differing<'r> {
        let told = |texts: &[&'r Vec<u8>], one: &Reader, other: &Reader| {
            texts.iter().copied().filter(|text| one.reads(text) && !other.reads(text)).collect()
        };
        Differing {
            samples: told(&self.samples, with, without),
            accepted: told(&self.accepted, with, without),
            rejected: told(&self.rejected, without, with),
        }
    }

    /// Returns true if they suffice for a change, given how many accepted texts the grammar lacked. Samples are what
    /// the user means: with some, what no sample needs is beside the point.
    fn are_enough(&self, lacked: usize, has_samples: bool) -> bool {
        let are_many = self.accepted.len() >= LEAST_TEXTS.max(lacked / LEAST_SHARE);
        !self.samples.is_empty() || !self.rejected.is_empty() || !has_samples && are_many
    }
}

/// A change with the rule's number and its body after it.
struct Made {
    change: Change,
    rule: usize,
    body: Expr,
}

/// The edits of a rule, of which the last ones may be left out.
struct Edits<'r> {
    rule: usize,
    versions: Vec<&'r Version>,
    /// Number of edits that are kept, the first ones.
    kept: usize,
    /// The body after all edits.
    last: &'r Expr,
}

impl Edits<'_> {
    /// Returns the body after the first edits.
    fn body(&self, edits: usize) -> &Expr {
        self.versions.get(edits).map_or(self.last, |next| &next.before)
    }

    /// Returns a reader of a grammar in which the rule has only the first edits.
    fn reader(&self, grammar: &Grammar, edits: usize) -> Option<Reader> {
        let mut grammar = grammar.clone();
        grammar.rules[self.rule].body = self.body(edits).clone();
        Reader::new(&grammar)
    }
}

impl Repair<'_> {
    /// Returns the changes, and the grammar with those that are applied.
    pub(super) fn changes(&self, original: &Grammar, apply: &Apply) -> (Vec<Change>, Grammar) {
        let (Some(before), Some(after)) = (Reader::new(original), &self.reader) else {
            return (Vec::new(), self.grammar.clone());
        };
        let all = Differing {
            samples: self.samples.iter().collect(),
            accepted: self.accepted.iter().collect(),
            rejected: self.rejected.iter().collect(),
        };
        let texts = all.between(after, &before);
        let mut found = self.found(&texts);
        let mut grammar = original.clone();
        for (number, made) in (1..).zip(&mut found) {
            made.change.is_applied = match apply {
                Apply::Needed => made.change.is_applied,
                Apply::All => true,
                Apply::These(numbers) => numbers.contains(&number),
            };
        }
        // The second change of a rule has the first one.
        for number in 0..found.len() {
            let is_base = |later: &Made| later.rule == found[number].rule && later.change.is_applied;
            if found[number + 1..].iter().any(is_base) {
                found[number].change.is_applied = true;
            }
        }
        for made in found.iter().filter(|made| made.change.is_applied) {
            grammar.rules[made.rule].body = made.body.clone();
        }
        (found.into_iter().map(|made| made.change).collect(), grammar)
    }

    /// Returns the changes, those first that are needed, and of these those first that most speaks for.
    fn found(&self, texts: &Differing<'_>) -> Vec<Made> {
        let (mut all, mut needed) = (self.edits_of_rules(), self.grammar.clone());
        while self.leave_out_one(&mut all, texts, &mut needed) {}
        let mut found = Vec::new();
        for edits in &all {
            found.extend(self.made(edits, 0..edits.kept, texts, &needed));
            let left_out = self.made(edits, edits.kept..edits.versions.len(), texts, &self.grammar);
            // What other changes let in as well is not told.
            found.extend(left_out.into_iter().filter(|made| made.change.accepted + made.change.rejected > 0));
        }
        found.sort_by_key(|Made { change, .. }| {
            let texts = (change.samples, change.rejected + change.accepted);
            (!change.is_applied, std::cmp::Reverse(texts))
        });
        found
    }

    fn edits_of_rules(&self) -> Vec<Edits<'_>> {
        let mut all: Vec<Edits<'_>> = Vec::new();
        for version in &self.versions {
            let last = &self.grammar.rules[version.rule].body;
            match all.iter_mut().find(|edits| edits.rule == version.rule) {
                Some(edits) => edits.versions.push(version),
                None => all.push(Edits { rule: version.rule, versions: vec![version], kept: 0, last }),
            }
        }
        all.iter_mut().for_each(|edits| edits.kept = edits.versions.len());
        all
    }

    /// Leaves the edit out that least speaks for, of the last ones of each rule, if that is too little. Another edit
    /// may let the same texts in, so what speaks for the others is looked at again.
    fn leave_out_one(&self, all: &mut [Edits<'_>], texts: &Differing<'_>, grammar: &mut Grammar) -> bool {
        let (lacked, has_samples) = (texts.accepted.len(), !self.samples.is_empty());
        let Some(with) = Reader::new(grammar) else { return false };
        let weak = all.iter().enumerate().filter(|(_, edits)| edits.kept > 0).filter_map(|(number, edits)| {
            let differing = texts.between(&with, &edits.reader(grammar, edits.kept - 1)?);
            let is_weak = !differing.are_enough(lacked, has_samples);
            is_weak
                .then(|| (differing.accepted.len(), std::cmp::Reverse(edits.versions[edits.kept - 1].number), number))
        });
        let Some((.., number)) = weak.min() else { return false };
        let edits = &mut all[number];
        edits.kept -= 1;
        grammar.rules[edits.rule].body = edits.body(edits.kept).clone();
        true
    }

    /// Returns some edits of a rule as one change. The grammar has them.
    fn made(&self, edits: &Edits<'_>, range: Range<usize>, texts: &Differing<'_>, grammar: &Grammar) -> Option<Made> {
        let some = edits.versions.get(range.clone()).filter(|some| !some.is_empty())?;
        let readers = edits.reader(grammar, range.end).zip(edits.reader(grammar, range.start));
        let differing = readers.map(|(with, without)| texts.between(&with, &without)).unwrap_or_default();
        let shown = |texts: &[&Vec<u8>]| {
            let mut texts: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
            texts.sort_by_key(Vec::len);
            texts.truncate(MOST_SHOWN);
            texts
        };
        let name = &self.grammar.rules[edits.rule].name.text;
        let change = Change {
            rule: self.grammar.told(name).to_string(),
            edits: some.iter().map(|version| version.number).collect(),
            samples: differing.samples.len(),
            accepted: differing.accepted.len(),
            rejected: differing.rejected.len(),
            is_applied: range.start < edits.kept,
            lets_in: shown(&differing.accepted),
            shuts_out: shown(&differing.rejected),
        };
        Some(Made { change, rule: edits.rule, body: edits.body(range.end).clone() })
    }
}
