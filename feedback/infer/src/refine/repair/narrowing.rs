//! Narrowing: small rejected derivations show what is to be left out.

use std::collections::BTreeSet;

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::diagnostics::SourceFile;
use gramjet_session::{Language, Session, Settings as LanguageSettings};

use super::fresh::Fresh;
use super::{Judged, MOST_EDITS, MOST_SHOWN, Repair};
use crate::refine::candidate::Candidate;
use crate::refine::class::narrowed;
use crate::refine::evidence::Ask;
use crate::refine::reader::{Derivation, Reader, Used};
use crate::refine::report::{Direction, Edit, Share};
use crate::refine::source::whole;
use crate::refine::tighten::without;

/// Rejected texts that are made smaller at a time, by at most this many questions each.
const MOST_SHRUNK: usize = 10;
const SHRINKS: u32 = 150;

/// Edits whose fresh texts are asked about.
const MOST_JUDGED: usize = 40;

/// Least share of generated texts that the program accepts if the grammar is narrowed: with a smaller one, too little
/// of it would be left.
const LEAST_BASE: f64 = 0.1;

struct Ranked {
    candidate: Candidate,
    grammar: Grammar,
    reader: Reader,
    excluded: usize,
}

impl Repair<'_> {
    /// Narrows the grammar by one edit after the other.
    pub(super) fn narrow(&mut self, ask: &mut Ask<'_>, tell: &mut dyn FnMut(&Edit)) -> Option<()> {
        if self.base.ratio() < LEAST_BASE {
            return Some(());
        }
        for _ in 0..MOST_EDITS {
            let small = self.small_rejected(ask)?;
            if small.is_empty() {
                break;
            }
            let candidates = self.narrowings(&small, ask)?;
            let ranked = self.ranked_by_excluded(candidates, &small)?;
            if !self.take_narrowest(ranked, &small, ask, tell)? {
                break;
            }
        }
        Some(())
    }

    /// Returns the smallest derivations found that the program rejects.
    fn small_rejected(&mut self, ask: &mut Ask<'_>) -> Option<Vec<Derivation>> {
        let Some(reader) = &self.reader else { return Some(Vec::new()) };
        let mut rejected: Vec<&Vec<u8>> = self.rejected.iter().filter(|text| reader.reads(text)).collect();
        rejected.sort_by_key(|text| text.len());
        let step = rejected.len().div_ceil(MOST_SHRUNK).max(1);
        let Some(mut session) = session(&self.grammar).filter(|_| !rejected.is_empty()) else {
            return Some(Vec::new());
        };
        let mut small = BTreeSet::new();
        for text in rejected.into_iter().step_by(step) {
            small.insert(shrunk(&mut session, text, ask)?);
        }
        let derivations = small.iter().filter_map(|text| reader.derivation(text)).collect();
        for text in small {
            if !self.rejected.contains(&text) {
                self.rejected.push(text);
            }
        }
        Some(derivations)
    }

    fn narrowings(&self, small: &[Derivation], ask: &mut Ask<'_>) -> Option<Vec<Candidate>> {
        let mut candidates = Vec::new();
        let mut known = BTreeSet::new();
        for derivation in small {
            for used in &derivation.used {
                if let Used::Member(place, member, at) = used {
                    if known.insert(Used::Member(place.clone(), *member, 0)) {
                        candidates.extend(narrowed(&self.grammar, place, (&derivation.text, *member, *at), ask)?);
                    }
                } else if known.insert(used.clone()) {
                    candidates.extend(without(&self.grammar, used));
                }
            }
        }
        Some(candidates)
    }

    /// Returns the edits that leave out rejected texts, and none that is accepted; those that leave out most first.
    fn ranked_by_excluded(&self, candidates: Vec<Candidate>, small: &[Derivation]) -> Option<Vec<Ranked>> {
        let Some(before) = &self.reader else { return Some(Vec::new()) };
        let kept: Vec<&Vec<u8>> = self.accepted.iter().filter(|text| before.reads(text)).collect();
        let (mut known, mut ranked) = (BTreeSet::new(), Vec::new());
        let is_new = |candidate: &Candidate| known.insert((candidate.place.clone(), candidate.what.clone()));
        for candidate in candidates.into_iter().filter(is_new) {
            self.goes_on()?;
            let grammar = candidate.apply(&self.grammar);
            let Some(reader) = Reader::new(&grammar) else { continue };
            let excluded = small.iter().filter(|one| !reader.reads(&one.text)).count();
            if excluded > 0 && kept.iter().all(|text| reader.reads(text)) {
                let all = self.rejected.iter().filter(|text| !reader.reads(text)).count();
                ranked.push(Ranked { candidate, grammar, reader, excluded: excluded + all });
            }
        }
        ranked.sort_by_key(|ranked| (std::cmp::Reverse(ranked.excluded), ranked.candidate.cost()));
        ranked.truncate(MOST_JUDGED);
        Some(ranked)
    }

    /// Makes the first edit such that the program rejects whatever has what it leaves out; says whether there was one.
    fn take_narrowest(
        &mut self,
        ranked: Vec<Ranked>,
        small: &[Derivation],
        ask: &mut Ask<'_>,
        tell: &mut dyn FnMut(&Edit),
    ) -> Option<bool> {
        for Ranked { candidate, grammar, reader, .. } in ranked {
            let Some(fresh) = self.rejects_fresh(&candidate, &reader, ask)? else { continue };
            let excluded = small.iter().map(|one| &one.text).filter(|text| !reader.reads(text));
            let examples: Vec<Vec<u8>> = excluded.take(MOST_SHOWN).cloned().collect();
            self.apply(&candidate, Judged { grammar, reader, direction: Direction::Tighten, fresh, examples }, tell);
            return Some(true);
        }
        Some(false)
    }

    /// Returns how many texts with what is left out the program accepts, if that is none and the edit leaves some of
    /// them out. Those that it accepts are kept in mind. Texts that the narrowed grammar reads in another way count,
    /// too: with the others alone, a part would be blamed for what is wrong elsewhere in these.
    fn rejects_fresh(&mut self, candidate: &Candidate, narrowed: &Reader, ask: &mut Ask<'_>) -> Option<Option<Share>> {
        let grammar = &self.grammar;
        let fresh =
            Fresh { grammar, place: &candidate.part_at, candidate, other: None, seed: self.settings.seed, known: &[] };
        let (texts, mut excludes) = (fresh.texts(self.settings.fresh), false);
        let of = texts.len();
        for text in texts {
            if ask(&text)? {
                self.accepted.push(text);
                return Some(None);
            }
            excludes |= !narrowed.reads(&text);
        }
        Some(excludes.then_some(Share { part: 0, of }))
    }
}

/// Returns a session that makes texts of a grammar smaller.
fn session(grammar: &Grammar) -> Option<Session> {
    let file = SourceFile::new("grammar.ebnf", whole(grammar));
    let settings =
        LanguageSettings { own_weights: true, format: Some("ebnf".to_string()), ..LanguageSettings::default() };
    Some(Session::new(&Language::compile(&file, &settings).ok()?, 0))
}

fn shrunk(session: &mut Session, text: &[u8], ask: &mut Ask<'_>) -> Option<Vec<u8>> {
    let Some(mut search) = session.minimise(text) else { return Some(text.to_vec()) };
    for _ in 0..SHRINKS {
        let Some(smaller) = search.propose() else { break };
        let is_rejected = !ask(smaller)?;
        search.judge(is_rejected);
    }
    Some(search.text().to_vec())
}
