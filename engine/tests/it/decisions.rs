//! The law of decisions: whatever fits the limit on length is derived as it was meant.

use gramjet::choices::SpanKind;
use gramjet::{Choices, Limits, Producer};
use gramjet_compiler::ast;
use gramjet_engine::decisions::{Change, Derivation, Deriver, Extent, Fit, OpenSite, Outline, Part};
use gramjet_engine::{Compiled, Tracer};
use gramjet_testkit::{Rng, Shape, random_grammar};

use crate::kit::{SplitMix, compiled};

/// Takes random decisions; every eighth derivation takes the first option at most sites.
fn random(deriver: &mut Deriver, random: &mut SplitMix, derivation: &mut Derivation) {
    let is_short = random.below(8) == 0;
    let mut choose = |site: &OpenSite<'_>| {
        if is_short && random.below(4) != 0 { 0 } else { random.below(u64::from(site.offered())) as u32 }
    };
    assert_ne!(deriver.derive(&[], &mut choose, derivation), Fit::Changed);
}

fn options(derivation: &Derivation) -> Vec<u32> {
    derivation.options().collect()
}

/// Checks that a derivation without parts, whole or of a part of a text, is the same but for them, and can take the
/// same places.
fn check_without_parts(deriver: &mut Deriver, random: &mut SplitMix, whole: &Derivation, about: &dyn Fn() -> String) {
    let (mut made, mut all) = (Derivation::default(), Derivation::default());
    let options = options(whole);
    let mut first = |_: &OpenSite<'_>| 0;
    assert_eq!(deriver.derive_as(Extent::NoParts, &options, &mut first, &mut made), Fit::Exact, "{}", about());
    assert_eq!(made, Derivation { parts: Vec::new(), ..whole.clone() }, "{}", about());
    deriver.complete(&mut made);
    assert_eq!(&made, whole, "{}", about());
    let number = random.below(whole.parts.len() as u64) as usize;
    let part = whole.parts[number];
    let room = (deriver.max_len().expect("a limit") as usize + part.len() - whole.text.len()) as u64;
    let seed = random.below(u64::MAX);
    let mut draw = |extent, to: &mut Derivation| {
        let mut numbers = SplitMix(seed);
        let mut choose = |site: &OpenSite<'_>| numbers.below(u64::from(site.offered())) as u32;
        deriver.draw_after(&[], (part.symbol, part.depth), room, &mut choose, extent, to).expect("a symbol")
    };
    assert_eq!(draw(Extent::Whole, &mut all), draw(Extent::NoParts, &mut made), "{}", about());
    let alone = all.parts.first().map(|first| Part { next: 1, ..*first });
    assert_eq!(made, Derivation { parts: alone.into_iter().collect(), ..all.clone() }, "{}", about());
    if can_move(&part) && whole.decisions.len() + all.decisions.len() < 1000 {
        let (mut one, mut other) = (Derivation::default(), Derivation::default());
        assert!(deriver.graft((whole, number), (&all, 0), Extent::NoParts, &mut one), "{}", about());
        assert!(deriver.graft((whole, number), (&made, 0), Extent::NoParts, &mut other), "{}", about());
        assert_eq!(one, other, "{}", about());
    }
}

/// Checks that replaying, encoding and decoding give the same derivation again.
fn check_round_trip(compiled: &Compiled, deriver: &mut Deriver, derivation: &Derivation, about: &dyn Fn() -> String) {
    let options = options(derivation);
    let mut again = Derivation::default();
    assert_eq!(deriver.replay(&options, &mut again), Fit::Exact, "{}", about());
    assert_eq!(&again, derivation, "{}", about());
    let choices = deriver.encode(&options);
    deriver.decode(&choices, &mut again);
    assert_eq!(again.text, derivation.text, "{}", about());
    assert!(again.options().eq(derivation.options()), "{}", about());
    let (mut tracer, mut text) = (Tracer::new(compiled), Vec::new());
    tracer.set_limits(Limits::new()).expect("no limits");
    assert_eq!(tracer.produce(&mut Choices::replay(&choices), &mut text), choices.len() as u64, "{}", about());
    assert_eq!(text, derivation.text, "{}", about());
}

/// Returns true if the part is no round: rounds of a repetition cannot stand for each other where their number is
/// bounded.
fn can_move(part: &Part) -> bool {
    part.kind != SpanKind::Round
}

/// Puts a part of `other` in place of one of `whole`, if it fits the limit; returns whether it did.
fn check_splice(
    deriver: &mut Deriver,
    random: &mut SplitMix,
    whole: &Derivation,
    other: &Derivation,
    about: &dyn Fn() -> String,
) -> bool {
    let number = random.below(whole.parts.len() as u64) as usize;
    let place = whole.parts[number];
    let fits = |(_, part): &(usize, &Part)| part.symbol == place.symbol && can_move(part);
    let fitting: Vec<(usize, &Part)> = other.parts.iter().enumerate().filter(fits).collect();
    if fitting.is_empty() {
        return false;
    }
    let (part_number, part) = fitting[random.below(fitting.len() as u64) as usize];
    let mut grafted = Derivation::default();
    let len = whole.text.len() - place.len() + part.len();
    if len as u64 > deriver.max_len().expect("a limit") {
        assert!(!deriver.graft((whole, number), (other, part_number), Extent::Whole, &mut grafted), "{}", about());
        return false;
    }
    let (all, (from, to)) = (options(whole), place.decisions);
    let mixed: Vec<u32> =
        [&all[..from as usize], &other.options_of(part).collect::<Vec<_>>(), &all[to as usize..]].concat();
    let (from, to) = place.text;
    let text = [&whole.text[..from as usize], other.text_of(part), &whole.text[to as usize..]].concat();
    let mut spliced = Derivation::default();
    assert_eq!(deriver.replay(&mixed, &mut spliced), Fit::Exact, "{}", about());
    assert_eq!(spliced.text, text, "{}", about());
    assert!(spliced.options().eq(mixed), "{}", about());
    assert!(deriver.graft((whole, number), (other, part_number), Extent::Whole, &mut grafted), "{}", about());
    assert_eq!(grafted, spliced, "{}", about());
    // The same without parts, which are added later.
    assert!(deriver.graft((whole, number), (other, part_number), Extent::NoParts, &mut grafted), "{}", about());
    assert_eq!(grafted, Derivation { parts: Vec::new(), ..spliced.clone() }, "{}", about());
    deriver.complete(&mut grafted);
    assert_eq!(grafted, spliced, "{}", about());
    true
}

/// Puts parts of `other` in place of several of `whole`, and leaves rounds out, if the result fits the limit; returns
/// whether it did.
fn check_edits(
    deriver: &mut Deriver,
    random: &mut SplitMix,
    (whole, other): (&Derivation, &Derivation),
    about: &dyn Fn() -> String,
) -> bool {
    let (mut edits, mut options, mut len, mut at) = (Vec::new(), Vec::new(), whole.text.len(), 0);
    let mut number = 0;
    while number < whole.parts.len() {
        let place = &whole.parts[number];
        let fits = |(_, part): &(usize, &Part)| part.symbol == place.symbol;
        let fitting: Vec<(usize, &Part)> = other.parts.iter().enumerate().filter(fits).collect();
        if random.below(4) > 0 || can_move(place) && fitting.is_empty() {
            number += 1;
            continue;
        }
        let by = can_move(place).then(|| fitting[random.below(fitting.len() as u64) as usize]);
        let change = by.map_or(Change::Out, |(part_number, _)| Change::By(other, part_number));
        edits.push((number, change));
        options.extend(whole.decisions[at..place.decisions.0 as usize].iter().map(|decision| decision.option));
        options.extend(by.iter().flat_map(|(_, part)| other.options_of(part)));
        len = len - place.len() + by.map_or(0, |(_, part)| part.len());
        (at, number) = (place.decisions.1 as usize, place.next as usize);
    }
    options.extend(whole.options().skip(at));
    let (mut grafted, mut replayed) = (Derivation::default(), Derivation::default());
    let is_grafted = deriver.graft_all(whole, edits.iter().copied(), Extent::Whole, &mut grafted);
    if len as u64 > deriver.max_len().expect("a limit") {
        assert!(!is_grafted, "{}", about());
        return false;
    }
    // Where a number of rounds is limited, the machine has to run.
    let fit = deriver.replay(&options, &mut replayed);
    assert!(is_grafted || edits.iter().any(|edit| matches!(edit.1, Change::Out)), "{}", about());
    if is_grafted {
        assert_eq!(fit, Fit::Exact, "{}", about());
        assert_eq!(grafted, replayed, "{}", about());
        let mut without = Derivation::default();
        assert!(deriver.graft_all(whole, edits.iter().copied(), Extent::NoParts, &mut without), "{}", about());
        deriver.complete(&mut without);
        assert_eq!(without, replayed, "{}", about());
        assert_eq!(grafted.outline, Outline::of(&grafted.parts), "{}", about());
    }
    is_grafted && edits.len() > 1
}

/// Adds rounds to one of the repetitions of `whole`, if they fit the limit; returns whether it did.
fn check_rounds(deriver: &mut Deriver, random: &mut SplitMix, whole: &Derivation, about: &dyn Fn() -> String) -> bool {
    let number = random.below(whole.parts.len() as u64) as usize;
    let is_around = |outer: &&Part| outer.next as usize > number && matches!(outer.kind, SpanKind::Repetition { .. });
    let place = &whole.parts[number];
    let (repetition, at) = match place.kind {
        SpanKind::Repetition { .. } => (Some(place), place.decisions.1.saturating_sub(1)),
        SpanKind::Round => (whole.parts[..number].iter().rfind(is_around), place.decisions.1),
        SpanKind::Rule | SpanKind::Choice | SpanKind::Pool => return false,
    };
    let repetition = repetition.expect("a repetition around each round");
    let is_free = repetition.kind == SpanKind::Repetition { room: u32::MAX };
    let (mut added, mut grafted, mut replayed) = Default::default();
    let bytes = deriver.max_len().expect("a limit").max(deriver.min_len_of(repetition.symbol));
    let mut choose = |site: &OpenSite<'_>| random.below(u64::from(site.offered())) as u32;
    assert!(deriver.draw(repetition.symbol, repetition.depth, bytes, &mut choose, &mut added));
    // It may have been cut short.
    if added.decisions.len() >= 1000 {
        return false;
    }
    let rounds: Vec<&Part> = added.within(0).filter(|part| part.kind == SpanKind::Round).collect();
    let len = whole.text.len() + rounds.iter().map(|round| round.len()).sum::<usize>();
    let edit = (number, Change::Rounds(&added));
    let is_grafted = deriver.graft_all(whole, std::iter::once(edit), Extent::Whole, &mut grafted);
    let fits = len as u64 <= deriver.max_len().expect("a limit");
    assert_eq!(is_grafted, is_free && fits && !rounds.is_empty(), "{}", about());
    if is_grafted {
        let more = rounds.iter().flat_map(|round| added.options_of(round));
        let options: Vec<u32> =
            whole.options().take(at as usize).chain(more).chain(whole.options().skip(at as usize)).collect();
        assert_eq!(deriver.replay(&options, &mut replayed), Fit::Exact, "{}", about());
        assert_eq!(grafted, replayed, "{}", about());
    }
    is_grafted
}

#[test]
fn what_fits_is_derived_as_it_was_meant() {
    check_grammars(300);
}

/// More than 10^6 cases.
#[test]
#[ignore = "run by ci/long"]
fn what_fits_is_derived_as_it_was_meant_in_a_long_run() {
    let cases = check_grammars(24_000);
    assert!(cases >= 1_000_000, "{cases} cases");
}

/// Checks the law on this number of random grammars; returns the number of cases.
fn check_grammars(grammars: u64) -> u64 {
    let (mut cases, mut spliced, mut edited, mut grown) = (0, 0, 0, 0);
    for seed in 0..grammars {
        let mut rng = Rng::new(seed + 7_700_000);
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = gramjet_testkit::compiled(&grammar);
        let mut numbers = SplitMix(seed);
        let tracer = Tracer::new(&compiled);
        for limit in [0, 3, 17, 60] {
            let mut deriver = tracer.deriver(None);
            let max_len = deriver.min_len() + limit;
            deriver = tracer.deriver(Some(max_len));
            let about = || format!("seed {seed}, at most {max_len} bytes\n{}", ast::dump(&grammar));
            let mut all = [const { None }; 3].map(|_: Option<()>| Derivation::default());
            for derivation in &mut all {
                random(&mut deriver, &mut numbers, derivation);
                assert!(derivation.text.len() as u64 <= max_len, "{}", about());
                let takes_all = derivation.decisions.iter().all(|decision| decision.offered > 0);
                assert!(takes_all, "{}", about());
            }
            // Derivations that were cut short need not be offered again.
            for derivation in &all {
                if derivation.decisions.len() < 1000 {
                    check_round_trip(&compiled, &mut deriver, derivation, &about);
                    check_without_parts(&mut deriver, &mut numbers, derivation, &about);
                }
                cases += 1;
            }
            for _ in 0..9 {
                let (whole, other) = (&all[numbers.below(3) as usize], &all[numbers.below(3) as usize]);
                if !whole.parts.is_empty() && whole.decisions.len() + other.decisions.len() < 1000 {
                    spliced += u32::from(check_splice(&mut deriver, &mut numbers, whole, other, &about));
                    edited += u64::from(check_edits(&mut deriver, &mut numbers, (whole, other), &about));
                    grown += u64::from(check_rounds(&mut deriver, &mut numbers, whole, &about));
                    cases += 1;
                }
            }
        }
    }
    assert!(cases > 20 * grammars && u64::from(spliced) > 4 * grammars, "{cases} cases, {spliced} splices");
    assert!(edited > grammars / 2 && grown > grammars / 10, "{edited} of several parts, {grown} with more rounds");
    cases
}

#[test]
fn parts_are_drawn_within_a_number_of_bytes() {
    let list = compiled("list.ebnf", "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z]+ | list");
    let mut deriver = Tracer::new(&list).deriver(Some(60));
    let mut numbers = SplitMix(3);
    let (mut whole, mut part) = (Derivation::default(), Derivation::default());
    let (mut grafted, mut replayed, mut options) = (Derivation::default(), Derivation::default(), Vec::new());
    let mut longest = 0;
    for _ in 0..500 {
        random(&mut deriver, &mut numbers, &mut whole);
        let number = numbers.below(whole.parts.len() as u64) as usize;
        let place = whole.parts[number];
        let bytes = place.len() as u64 + 60 - whole.text.len() as u64;
        let mut choose = |site: &OpenSite<'_>| numbers.below(u64::from(site.offered())) as u32;
        assert!(deriver.draw(place.symbol, place.depth, bytes, &mut choose, &mut part));
        assert!(part.text.len() as u64 <= bytes);
        longest = longest.max(part.text.len());
        // What was drawn has the same place as a part of a text. A round is no part of its own.
        if can_move(&place) {
            whole.replaced(&place, part.options(), &mut options);
            assert_eq!(deriver.replay(&options, &mut replayed), Fit::Exact);
            assert!(deriver.graft((&whole, number), (&part, 0), Extent::Whole, &mut grafted));
            assert_eq!(grafted, replayed);
        }
    }
    assert!(longest > 40);
    assert!(!deriver.draw(1 << 20, 0, 9, &mut |_: &OpenSite<'_>| 0, &mut part));
}

#[test]
fn decisions_that_are_not_offered_are_reported() {
    let list = compiled("list.ebnf", "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z] | list");
    let mut deriver = Tracer::new(&list).deriver(Some(5));
    let mut derivation = Derivation::default();
    let mut first = |_: &OpenSite<'_>| 0;
    assert_eq!(deriver.derive(&[1, 0, 2], &mut first, &mut derivation), Fit::Longer);
    assert_eq!(derivation.text, b"[c]");
    assert_eq!(deriver.derive(&[1, 0, 99], &mut first, &mut derivation), Fit::Changed);
    assert_eq!(derivation.text, b"[z]");
    assert_eq!(deriver.derive(&[0, 0], &mut first, &mut derivation), Fit::Changed);
    assert_eq!(derivation.text, b"[]");
    // The second item does not fit the limit: its site offers the end alone.
    assert_eq!(deriver.derive(&[1, 0, 2, 1, 0, 3, 1], &mut first, &mut derivation), Fit::Changed);
    assert_eq!(derivation.text, b"[c,d]");
}

#[test]
fn a_rule_that_recurses_without_text_ends() {
    let loops = compiled("loop.ebnf", "s ::= '' | s s | 'x'");
    let mut deriver = Tracer::new(&loops).deriver(Some(4));
    let mut derivation = Derivation::default();
    deriver.derive(&[], &mut |site: &OpenSite<'_>| site.offered() - 1, &mut derivation);
    assert!(derivation.text.len() <= 4 && derivation.decisions.len() < 10_000);
}

#[test]
fn texts_that_were_cut_short_get_their_parts() {
    let grows = compiled("grows.ebnf", "s ::= 'a'? | s s s");
    let mut deriver = Tracer::new(&grows).deriver(Some(10));
    let (mut whole, mut made) = (Derivation::default(), Derivation::default());
    let mut cut = 0;
    for seed in 0..40 {
        let mut draw = |extent, to: &mut Derivation| {
            let mut numbers = SplitMix(seed);
            let mut choose = |site: &OpenSite<'_>| numbers.below(u64::from(site.offered())) as u32;
            deriver.derive_as(extent, &[], &mut choose, to);
        };
        draw(Extent::Whole, &mut whole);
        draw(Extent::NoParts, &mut made);
        deriver.complete(&mut made);
        assert_eq!(made, whole, "seed {seed}");
        cut += u32::from(whole.decisions.len() > 64 * 10 + 1024);
    }
    assert!(cut > 4, "{cut}");
}

#[test]
fn other_rules_have_another_outline() {
    let of = |symbols: &[u32]| {
        let part =
            |&symbol: &u32| Part { kind: SpanKind::Rule, symbol, depth: 0, decisions: (0, 0), text: (0, 0), next: 1 };
        Outline::of(&symbols.iter().map(part).collect::<Vec<_>>())
    };
    assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2]));
    let mut known = std::collections::HashSet::new();
    for one in 0..40 {
        for two in one..40 {
            (two..40).for_each(|three| assert!(known.insert(of(&[one, two, three])), "{one} {two} {three}"));
        }
    }
}
