//! Tries edits on texts: how many of them each edit lets in. Each edit is a grammar of its own, whose parser is made
//! for a few texts, so that making it costs more than parsing.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use gramjet_compiler::ast::{Expr, Grammar};

use super::reach::Reach;
use crate::refine::candidate::Candidate;
use crate::refine::place::choice;
use crate::refine::reader::Reader;

/// An edit that takes none of the first texts is not tried on others: these are small and fail in different ways.
const FIRST_TEXTS: usize = 12;

/// This many edits at one place are tried together first, as alternatives of one grammar: mostly none takes a text.
const TOGETHER: usize = 16;

/// Fewer edits are not tried together.
const FEW: usize = 3;

/// Returns how many of the texts each edit takes. All processors share the work.
pub(super) fn taken_by(grammar: &Grammar, candidates: &[Candidate], reach: &Reach<'_>) -> Vec<usize> {
    let groups: Vec<&[Candidate]> = candidates
        .chunk_by(|one, other| one.place == other.place)
        .flat_map(|at_place| at_place.chunks(TOGETHER))
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(groups.len().max(1));
    let (next, taken) = (AtomicUsize::new(0), Mutex::new(vec![Vec::new(); groups.len()]));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(group) = groups.get(number) else { break };
                    let of_group = taken_by_group(grammar, group, reach);
                    taken.lock().unwrap_or_else(PoisonError::into_inner)[number] = of_group;
                }
            });
        }
    });
    taken.into_inner().unwrap_or_else(PoisonError::into_inner).concat()
}

/// Returns how many of the texts each of some edits at one place takes.
fn taken_by_group(grammar: &Grammar, group: &[Candidate], reach: &Reach<'_>) -> Vec<usize> {
    let Some(of) = group.first().map(|first| reach.of(&first.place)) else { return Vec::new() };
    let texts = if group.len() > FEW { possible(grammar, group, of, reach) } else { of.to_vec() };
    group
        .iter()
        .map(|candidate| {
            let reader = (!texts.is_empty()).then(|| Reader::new(&candidate.apply(grammar))).flatten();
            reader.map_or(0, |reader| in_two(&texts, |number| reader.reads_once(&reach.texts[number])).len())
        })
        .collect()
}

/// Returns the texts that one of the edits may take.
fn possible(grammar: &Grammar, group: &[Candidate], of: &[usize], reach: &Reach<'_>) -> Vec<usize> {
    let Some(place) = group.first().map(|first| &first.place) else { return Vec::new() };
    let all: Vec<Expr> = group.iter().map(|candidate| candidate.expr.clone()).collect();
    // What does not compile together may do so alone.
    let Some(reader) = Reader::new(&place.with(grammar, choice(all))) else { return of.to_vec() };
    in_two(of, |number| reader.may_read(&reach.texts[number]))
}

/// Returns the texts that are taken; none if none of the first ones is.
fn in_two(of: &[usize], is_taken: impl Fn(usize) -> bool) -> Vec<usize> {
    let (first, others) = of.split_at(of.len().min(FIRST_TEXTS));
    let mut taken: Vec<usize> = first.iter().copied().filter(|&number| is_taken(number)).collect();
    if !taken.is_empty() {
        taken.extend(others.iter().copied().filter(|&number| is_taken(number)));
    }
    taken
}
