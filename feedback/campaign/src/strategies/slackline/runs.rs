//! The way in which the published program draws characters: where a site has at least five, it first draws a run of
//! neighbours of one category, such as digits, and then one of these.

use std::ops::Range;

use gramjet_session::decisions::{Chooser, Deriver, OpenSite};
use rustc_hash::FxHashMap;

use gramjet_search::Evenly;
use gramjet_session::Random;

/// A site with fewer characters is not divided.
const LEAST: u32 = 5;

/// The runs of the sites that are divided, as numbers of options.
#[derive(Clone, Debug)]
pub(super) struct Runs(FxHashMap<u32, Vec<Range<u32>>>);

impl Runs {
    pub(super) fn new(deriver: &Deriver) -> Runs {
        let divided = deriver.sites().filter(|site| site.offered() >= LEAST).filter_map(|site| {
            let characters = (0..site.offered()).map(|option| deriver.character(site.place(), option));
            Some((site.place(), divide(&characters.collect::<Option<Vec<char>>>()?)))
        });
        Runs(divided.collect())
    }

    /// Returns a chooser that draws a run first.
    pub(super) fn drawing<'r>(&'r self, random: &'r mut Random) -> impl Chooser + 'r {
        move |site: &OpenSite<'_>| {
            let runs = self.0.get(&site.place()).map_or(&[][..], Vec::as_slice);
            let offered = &runs[..runs.partition_point(|run| run.start < site.offered())];
            if offered.len() < 2 {
                return Evenly(random).choose(site);
            }
            let run = &offered[random.below(offered.len())];
            let option = run.start + random.below((run.end.min(site.offered()) - run.start) as usize) as u32;
            if site.is_only_read(option) { Evenly(random).choose(site) } else { option }
        }
    }
}

fn divide(characters: &[char]) -> Vec<Range<u32>> {
    let runs = characters.chunk_by(|&one, &next| category(one) == category(next));
    let ends = runs.scan(0, |end, run| {
        *end += run.len() as u32;
        Some(*end - run.len() as u32..*end)
    });
    ends.collect()
}

fn category(character: char) -> u8 {
    match character {
        '0'..='9' => 0,
        'a'..='z' => 1,
        'A'..='Z' => 2,
        ' ' | '\t'..='\r' => 3,
        '\0'..='\x7f' if character.is_control() => 4,
        '\0'..='\x7f' => 5,
        _ if character.is_alphabetic() => 6,
        _ => 7,
    }
}

#[cfg(test)]
mod tests {
    use gramjet_session::decisions::Derivation;

    use super::*;
    use crate::strategies::kit::language;

    /// Returns how often each of these bytes is drawn by 12 000 draws.
    fn drawn(ebnf: &str, bytes: &[u8]) -> Vec<usize> {
        let mut deriver = language(ebnf).deriver(Some(1));
        let runs = Runs::new(&deriver);
        let (mut random, mut derivation) = (Random::new(1), Derivation::default());
        let mut counts = [0; 256];
        for _ in 0..12_000 {
            deriver.derive(&[], &mut runs.drawing(&mut random), &mut derivation);
            counts[usize::from(derivation.text[0])] += 1;
        }
        bytes.iter().map(|&byte| counts[usize::from(byte)]).collect()
    }

    #[test]
    fn a_run_of_characters_is_drawn_before_one_of_them() {
        // Four runs, each in a quarter of the draws.
        let counts = drawn("s ::= [0-9A-Z_a-z]", b"_0Aa");
        assert!((2700..3300).contains(&counts[0]), "{counts:?}");
        assert!(
            (230..370).contains(&counts[1]) && counts[2..].iter().all(|count| (70..160).contains(count)),
            "{counts:?}"
        );
        // The characters of a class are in order, so its digits are one run wherever they stand.
        let counts = drawn("s ::= [0-4A6-9]", b"0A6");
        assert!((5700..6300).contains(&counts[1]), "{counts:?}");
        assert!((570..770).contains(&counts[0]) && (570..770).contains(&counts[2]), "{counts:?}");
        // Four characters are not divided.
        let counts = drawn("s ::= [0-2A]", b"A");
        assert!((2700..3300).contains(&counts[0]), "{counts:?}");
    }
}
