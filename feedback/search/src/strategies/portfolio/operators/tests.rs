//! Tests of the operators: what they make, and the parts that they find.

use gramjet_compiler::SourceFile;
use gramjet_session::{Language, Settings, Shape};
use rustc_hash::FxHashSet;

use super::super::archive::Merits;
use super::*;
use crate::random::Random;

const GRAMMAR: &str = "
list ::= '[' (item (',' item)*)? ']'
item ::= word | list | number{2,4}
word ::= [a-z]+
number ::= [0-9]
";
const MAX_LEN: usize = 24;

fn language() -> Language {
    let settings = Settings { shape: Some(Shape::Uniform), ..Settings::default() };
    Language::compile(&SourceFile::new("g.ebnf", GRAMMAR), &settings).expect("a grammar")
}

fn desk() -> Desk {
    let deriver = language().deriver(Some(MAX_LEN as u64));
    Desk::new(deriver, MAX_LEN, Random::new(5))
}

/// Returns an archive of texts as long as they may be.
fn archive(desk: &mut Desk) -> Archive {
    let mut archive = Archive::new();
    let mut drawn = Derivation::default();
    for number in 0..3000 {
        desk.draw_text(&mut drawn);
        if drawn.text.len() > 12 {
            archive.keep(&drawn, Merits { cost: number, ..Merits::default() });
        }
    }
    archive
}

#[test]
fn every_operator_makes_texts_within_the_limit_that_differ() {
    let mut desk = desk();
    let mut archive = archive(&mut desk);
    let lacking = archive.clone();
    let mut habits = Habits::default();
    habits.learn(archive.top().map(|entry| &entry.derivation));
    let mut workshop = Workshop::default();
    let (mut child, mut again) = (Derivation::default(), Derivation::default());
    for operator in Operator::ALL {
        let (mut made, mut changed) = (0, 0);
        // No text has its parts.
        archive.clone_from(&lacking);
        for _ in 0..400 {
            let parent = archive.pick(&mut desk.random, u64::MAX).expect("a text");
            if !workshop.make(operator, &mut desk, (&mut archive, parent), &habits, &mut child) {
                continue;
            }
            made += 1;
            changed += u32::from(child.text != archive.entry(parent).derivation.text);
            assert!(child.text.len() <= MAX_LEN, "{operator:?}");
            let options: Vec<u32> = child.options().collect();
            assert_eq!(desk.deriver.replay(&options, &mut again), Fit::Exact, "{operator:?}");
            // Most are made without them.
            if child.parts.is_empty() {
                again.parts.clear();
            }
            assert_eq!(again, child, "{operator:?}");
        }
        assert!(made > 80 && 4 * changed > 3 * made, "{operator:?}: {changed} of {made}");
    }
}

#[test]
fn what_fits_is_picked_equally_often() {
    let (mut random, mut workshop) = (Random::new(3), Workshop::default());
    let mut whole = Derivation::default();
    desk().draw(&mut whole);
    whole.parts = (0..40).map(|symbol| Part { symbol: symbol % 4, ..whole.parts[0] }).collect();
    // Of the parts with symbol 1, and of numbers of which half, few and none fit.
    let mut times = [[0usize; 40]; 3];
    for _ in 0..9000 {
        let alike = workshop.pick_alike(&mut random, &whole, 1, |_| true);
        let half = workshop.pick_below(&mut random, 40, |number| number >= 20);
        let few = workshop.pick_below(&mut random, 40, |number| number == 7 || number == 39);
        for (times, picked) in times.iter_mut().zip([alike, half, few]) {
            times[picked.expect("some fit")] += 1;
        }
        assert_eq!(workshop.pick_below(&mut random, 40, |_| false), None);
    }
    for (times, fits) in times.iter().zip([|number| number % 4 == 1, |number| number >= 20, |number| number % 32 == 7])
    {
        let fitting = (0..40).filter(|&number| fits(number)).count();
        for (number, &times) in times.iter().enumerate() {
            let wanted = if fits(number) { 9000 / fitting } else { 0 };
            assert!(times.abs_diff(wanted) <= wanted / 5, "{number}: {times}, not {wanted}");
        }
    }
    assert_eq!(workshop.pick_below(&mut random, 0, |_| true), None);
    assert_eq!(workshop.pick_alike(&mut random, &whole, 9, |_| true), None);
}

/// Also where few parts can be repeated, so that all are looked at.
#[test]
fn what_can_be_repeated_is_picked_equally_often() {
    let mut desk = desk();
    let (mut whole, mut workshop, mut open) = (Derivation::default(), Workshop::default(), Open::default());
    let mut counts = FxHashSet::default();
    for text in ["[[[a]]]", "[abcdefgh,i]", "[a,b,c,d,e,f,g,h]"] {
        desk.deriver.decode(&language().parse(text.as_bytes()).expect("it conforms"), &mut whole);
        for most in [0, 1, 2, MAX_LEN] {
            let all: Vec<usize> = spots(&whole, &desk.deriver, most, &mut open).map(|spot| spot.number()).collect();
            let mut times = vec![0usize; whole.parts.len()];
            for _ in 0..if all.is_empty() { 1 } else { 1000 * all.len() } {
                match workshop.pick_spot(&mut desk, &whole, most) {
                    Some(spot) => times[spot.number()] += 1,
                    None => assert!(all.is_empty()),
                }
            }
            assert!(all.iter().all(|&number| times[number].abs_diff(1000) < 200), "{text} {most}: {times:?}");
            assert_eq!(times.iter().sum::<usize>(), 1000 * all.len());
            counts.insert(all.len());
        }
    }
    assert!(counts.len() > 3 && counts.contains(&0), "{counts:?}");
}

/// All parts are looked at.
#[test]
fn the_parts_around_a_site_are_found() {
    let mut desk = desk();
    let mut whole = Derivation::default();
    for _ in 0..200 {
        desk.draw(&mut whole);
        for at in 0..whole.decisions.len() as u32 {
            let is_around = |part: &Part| part.decisions.0 <= at && at < part.decisions.1;
            let wanted: Vec<usize> = (0..whole.parts.len()).filter(|&part| is_around(&whole.parts[part])).collect();
            let found: Vec<usize> = all_around(&whole, at).map(|(number, _)| number).collect();
            assert_eq!(found, wanted);
        }
    }
}

#[test]
fn what_stands_between_two_instances_is_repeated_as_if_it_were_derived() {
    let mut desk = desk();
    let (mut whole, mut child, mut again) = Default::default();
    let (mut workshop, mut open, mut equal, mut distinct) = (Workshop::default(), Open::default(), 0, 0);
    for _ in 0..2000 {
        desk.draw(&mut whole);
        let room = MAX_LEN - whole.text.len();
        let spots: Vec<Spot> = spots(&whole, &desk.deriver, room, &mut open).collect();
        for spot in spots {
            let Some(outer) = spot.outer(&whole) else { continue };
            for copies in [Copies::Equal, Copies::Distinct] {
                let times = (room / spot.len()) as u32;
                let made = workshop.nest(&mut desk, &whole, (spot, outer), (copies, times), &mut child);
                let options = spot.pump().copied(copies).options(&whole, &desk.deriver, times);
                assert_eq!(made, desk.deriver.replay(&options, &mut again) == Fit::Exact);
                assert!(!made || child == again);
                *(if copies == Copies::Equal { &mut equal } else { &mut distinct }) += usize::from(made);
            }
        }
    }
    assert!(equal > 100 && distinct > 100, "{equal} and {distinct}");
}

#[test]
fn a_decision_on_rounds_changes_the_repetition() {
    let mut desk = desk();
    let mut whole = Derivation::default();
    let options = |desk: &mut Desk, whole: &Derivation, at: usize, option: u32| {
        let mut child = Derivation::default();
        let changed = Workshop::default().change(desk, whole, at, option, &mut child);
        (changed, child.text)
    };
    // The text `[a,b,c]`: the decisions on the rounds stop or go on.
    desk.deriver.replay(&[1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 2, 0, 0], &mut whole);
    let rounds: Vec<usize> = whole
        .decisions
        .iter()
        .enumerate()
        .filter(|(at, decision)| {
            decision.offered == 2
                && decided_by(&whole, *at as u32).is_some_and(|part| whole.parts[part].kind != SpanKind::Choice)
        })
        .map(|(at, _)| at)
        .collect();
    assert!(rounds.len() > 2, "{:?}", String::from_utf8_lossy(&whole.text));
    for at in rounds {
        let (changed, text) = options(&mut desk, &whole, at, 1 - whole.decisions[at].option);
        assert!(changed && text != whole.text, "{at}");
    }
}
