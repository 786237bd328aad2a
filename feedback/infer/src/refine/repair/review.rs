//! The edits as changes that a maintainer can review: one for each rule, with what speaks for it, those first that most
//! speaks for. Changes that samples do not need, or few texts if there are no samples, are left out of the result, and
//! are named.

use std::ops::Range;

use gramjet_compiler::ast::{Expr, Grammar};

use super::{MOST_SHOWN, Repair};
use crate::refine::reader::Reader;
use crate::refine::report::{Apply, Change};

/// Without samples, a change that shuts nothing out is to let in this many texts, and one in `LEAST_SHARE` of those that
/// the grammar lacked.
const LEAST_TEXTS: usize = 4;
const LEAST_SHARE: usize = 10;

/// The body of a rule before an edit.
pub(super) struct Version {
    pub(super) rule: usize,
    /// The number of the edit.
    pub(super) edit: usize,
    pub(super) before: Expr,
}

/// What speaks for a change: texts that the grammar reads with it alone, or without it alone.
struct Evidence<'r> {
    samples: Vec<&'r Vec<u8>>,
    accepted: Vec<&'r Vec<u8>>,
    rejected: Vec<&'r Vec<u8>>,
}

impl Evidence<'_> {
    /// Returns true if it suffices for a change, given how many accepted texts the grammar lacked. Samples are what the
    /// user means: with some, what no sample needs is beside the point.
    fn is_strong(&self, lacked: usize, has_samples: bool) -> bool {
        let are_many = self.accepted.len() >= LEAST_TEXTS.max(lacked / LEAST_SHARE);
        !self.samples.is_empty() || !self.rejected.is_empty() || !has_samples && are_many
    }
}

/// Texts that the grammars before and after all edits read differently.
struct Texts<'r> {
    samples: Vec<&'r Vec<u8>>,
    accepted: Vec<&'r Vec<u8>>,
    rejected: Vec<&'r Vec<u8>>,
}

impl<'r> Texts<'r> {
    fn evidence(&self, without: &Reader) -> Evidence<'r> {
        let lost = |texts: &[&'r Vec<u8>]| texts.iter().copied().filter(|text| !without.reads(text)).collect();
        Evidence {
            samples: lost(&self.samples),
            accepted: lost(&self.accepted),
            rejected: self.rejected.iter().copied().filter(|text| without.reads(text)).collect(),
        }
    }
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
        let is_new = |text: &&Vec<u8>| after.reads(text) && !before.reads(text);
        let is_gone = |text: &&Vec<u8>| before.reads(text) && !after.reads(text);
        let texts = Texts {
            samples: self.samples.iter().filter(is_new).collect(),
            accepted: self.accepted.iter().filter(is_new).collect(),
            rejected: self.rejected.iter().filter(is_gone).collect(),
        };
        let (mut all, needed) = (self.edits_of_rules(), &mut self.grammar.clone());
        while self.leave_out_one(&mut all, &texts, needed) {}
        let mut found: Vec<(Change, usize, Expr)> = Vec::new();
        for edits in &all {
            found.extend(self.change(edits, 0..edits.kept, &texts, needed));
            let left_out = self.change(edits, edits.kept..edits.versions.len(), &texts, &self.grammar);
            // What other changes let in as well is not told.
            found.extend(left_out.filter(|(change, ..)| change.accepted + change.rejected > 0));
        }
        found.sort_by_key(|(change, ..)| {
            let texts = (change.samples, change.rejected + change.accepted);
            (!change.is_applied, std::cmp::Reverse(texts))
        });
        let mut grammar = original.clone();
        for (number, (change, rule, body)) in (1..).zip(&mut found) {
            change.is_applied = match apply {
                Apply::Needed => change.is_applied,
                Apply::All => true,
                Apply::These(numbers) => numbers.contains(&number),
            };
            // The second change of a rule has the first one.
            if change.is_applied {
                grammar.rules[*rule].body = body.clone();
            }
        }
        (found.into_iter().map(|(change, ..)| change).collect(), grammar)
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
    fn leave_out_one(&self, all: &mut [Edits<'_>], texts: &Texts<'_>, grammar: &mut Grammar) -> bool {
        let (lacked, has_samples) = (texts.accepted.len(), !self.samples.is_empty());
        let weak = all.iter().enumerate().filter(|(_, edits)| edits.kept > 0).filter_map(|(number, edits)| {
            let evidence = texts.evidence(&edits.reader(grammar, edits.kept - 1)?);
            let is_weak = !evidence.is_strong(lacked, has_samples);
            is_weak.then(|| (evidence.accepted.len(), std::cmp::Reverse(edits.versions[edits.kept - 1].edit), number))
        });
        let Some((.., number)) = weak.min() else { return false };
        let edits = &mut all[number];
        edits.kept -= 1;
        grammar.rules[edits.rule].body = edits.body(edits.kept).clone();
        true
    }

    /// Returns some edits of a rule as one change, with the rule's number and its body after them. The grammar has them.
    fn change(
        &self,
        edits: &Edits<'_>,
        range: Range<usize>,
        texts: &Texts<'_>,
        grammar: &Grammar,
    ) -> Option<(Change, usize, Expr)> {
        let some = edits.versions.get(range.clone()).filter(|some| !some.is_empty())?;
        let evidence = edits.reader(grammar, range.start).map(|without| texts.evidence(&without));
        let evidence = evidence.unwrap_or(Evidence { samples: Vec::new(), accepted: Vec::new(), rejected: Vec::new() });
        let shown = |texts: &[&Vec<u8>]| {
            let mut texts: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
            texts.sort_by_key(Vec::len);
            texts.truncate(MOST_SHOWN);
            texts
        };
        let name = &self.grammar.rules[edits.rule].name.text;
        let change = Change {
            rule: self.grammar.told(name).to_string(),
            edits: some.iter().map(|version| version.edit).collect(),
            samples: evidence.samples.len(),
            accepted: evidence.accepted.len(),
            rejected: evidence.rejected.len(),
            is_applied: range.start < edits.kept,
            lets_in: shown(&evidence.accepted),
            shuts_out: shown(&evidence.rejected),
        };
        Some((change, edits.rule, edits.body(range.end).clone()))
    }
}
