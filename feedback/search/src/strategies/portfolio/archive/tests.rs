//! Tests of the archive: what it keeps, how it ranks, and what it picks.

use gramjet_session::decisions::Part;
use gramjet_session::{SpanKind, hash};

use super::*;

fn merits(cost: u64, edges: &[Edge]) -> Merits<'_> {
    Merits { cost, executed: edges.iter().map(|edge| edge.1).sum(), edges, ..Merits::default() }
}

/// Returns a text whose outline is that of no other text.
fn text(text: &str) -> Derivation {
    let symbol = hash(text.as_bytes()) as u32;
    let part = Part { kind: SpanKind::Rule, symbol, depth: 0, decisions: (0, 0), text: (0, 0), next: 1 };
    let outline = Outline::of(&[part]);
    Derivation { text: text.as_bytes().to_vec(), parts: vec![part], outline, ..Derivation::default() }
}

/// Returns the place of a text that was kept, and the number of its edges.
fn gained(kept: Option<Kept>) -> Option<(Option<usize>, usize)> {
    kept.map(|kept| (kept.place, kept.edges))
}

#[test]
fn of_texts_with_the_same_outline_the_best_is_kept() {
    let alike = |name: &str| Derivation { text: name.as_bytes().to_vec(), ..text("outline") };
    let mut archive = Archive::new();
    archive.keep(&text("other"), merits(6, &[]));
    assert_eq!(archive.keep(&alike("a"), merits(5, &[])).and_then(|kept| kept.place), Some(1));
    assert_eq!(archive.keep(&alike("b"), merits(4, &[])), None);
    assert_eq!(archive.keep(&alike("c"), merits(7, &[])).and_then(|kept| kept.place), Some(0));
    assert_eq!(archive.top().map(|entry| entry.cost).collect::<Vec<_>>(), [7, 6]);
}

#[test]
fn texts_are_kept_for_their_cost_and_for_edges() {
    let mut archive = Archive::new();
    let kept = archive.keep(&text("a"), merits(5, &[(1, 2), (2, 3)]));
    assert_eq!(gained(kept), Some((Some(0), 2)));
    assert_eq!(archive.keep(&text("a"), merits(5, &[(1, 2)])), None);
    // More costly, and one edge more often.
    assert_eq!(gained(archive.keep(&text("bb"), merits(9, &[(1, 3), (2, 3)]))), Some((Some(0), 1)));
    // As costly and longer.
    assert_eq!(gained(archive.keep(&text("ccc"), merits(9, &[(2, 3)]))), Some((Some(1), 0)));
    assert_eq!(archive.entry(archive.best().expect("a text")).derivation.text, b"bb");
    assert_eq!(archive.champions[2].holder, 0);
}

/// Whatever it would be kept for now: a program may execute an edge more often in another run of the same text.
#[test]
fn a_text_that_is_kept_is_not_kept_again() {
    let mut archive = Archive::new();
    let several = |costs: &'static [u64]| Merits { costs, ..merits(costs[0], &[]) };
    archive.keep(&text("a"), several(&[5, 1]));
    for again in [merits(9, &[]), merits(1, &[(7, 1)]), several(&[9, 9]), Merits { is_new: true, ..merits(1, &[]) }] {
        assert_eq!(archive.keep(&text("a"), again), None);
    }
    assert_eq!(archive.keep(&text("b"), several(&[4, 2])).and_then(|kept| kept.place), Some(1));
    assert_eq!((archive.front.len(), archive.best().map(|best| archive.entry(best).cost)), (2, Some(5)));
    let mut champions = Archive { most_bytes: bytes(&text("a")), ..Archive::of_champions() };
    assert_eq!(gained(champions.keep(&text("a"), merits(1, &[(1, 1)]))), Some((None, 1)));
    assert_eq!(champions.keep(&text("a"), merits(1, &[(1, 2)])), None);
    assert_eq!((champions.edges.len(), champions.champions[1].count), (1, 1));
}

#[test]
fn texts_that_are_beaten_are_dropped() {
    let mut archive = Archive::new();
    for number in 0..TOP + 10 {
        archive.keep(&text(&format!("{number:04}")), merits(number as u64, &[(7, number as u64)]));
    }
    assert_eq!(archive.entries.iter().flatten().count(), TOP);
    assert_eq!(archive.bytes, archive.top().map(|entry| bytes(&entry.derivation)).sum::<usize>());
    assert_eq!(archive.top().map(|entry| entry.cost).min(), Some(10));
    // Cheap texts stay as long as they hold an edge.
    assert_eq!(gained(archive.keep(&text("x"), merits(0, &[(8, 1)]))), Some((None, 1)));
    assert_eq!(archive.entries.iter().flatten().count(), TOP + 1);
    assert_eq!(gained(archive.keep(&text("y"), merits(0, &[(8, 2)]))), Some((None, 1)));
    assert_eq!(archive.entries.iter().flatten().count(), TOP + 1);
    assert!(archive.keep(&text("z"), merits(0, &[(8, 2)])).is_none());
}

#[test]
fn a_text_that_was_dropped_is_not_taken_for_the_one_in_its_place() {
    let mut archive = Archive::new();
    archive.keep(&text("a"), merits(1, &[(7, 1)]));
    let known = |archive: &mut Archive| (0, archive.entry(0).serial);
    let first = known(&mut archive);
    assert!(archive.known_mut(first).is_some());
    archive.clear();
    assert!(archive.known_mut(first).is_none() && archive.is_empty());
    archive.keep(&text("b"), merits(2, &[(7, 2)]));
    assert!(archive.known_mut(first).is_none());
    let second = known(&mut archive);
    assert!(archive.known_mut(second).is_some());
}

#[test]
fn an_archive_of_champions_keeps_no_text_for_its_cost_and_draws_the_hottest_most() {
    let (mut archive, mut random) = (Archive::of_champions(), Random::new(1));
    assert!(archive.is_empty() && archive.pick(&mut random, u64::MAX).is_none());
    assert_eq!(archive.keep(&text("costly"), merits(1000, &[])), None);
    for number in 0..400 {
        // The hottest one is the cheapest.
        let kept = archive.keep(&text(&format!("{number:04}")), merits(500 - number, &[(number as u32, 1 + number)]));
        assert_eq!(gained(kept), Some((None, 1)));
    }
    assert_eq!((archive.best(), archive.top().count()), (None, 0));
    // Their growth is long ago.
    (0..5000).for_each(|_| archive.growths.add_text());
    let mut picks = [0; 400];
    for _ in 0..10_000 {
        picks[archive.pick(&mut random, u64::MAX).expect("a text")] += 1;
    }
    assert!(picks[399] > 500 && picks[399] < 2500, "{}", picks[399]);
    assert!(picks[..200].iter().sum::<i32>() > 600, "{picks:?}");
    // The champions of an edge are dropped once they are beaten.
    archive.keep(&text("hotter"), merits(1, &[(399, 1000)]));
    assert_eq!(archive.entries.iter().flatten().count(), 400);
    archive.clear();
    assert!(archive.is_empty() && archive.keep(&text("costly"), merits(1000, &[])).is_none());
}

#[test]
fn champions_of_edges_that_grow_are_picked_more() {
    let (mut archive, mut random) = (Archive::of_champions(), Random::new(1));
    for edge in 0..20 {
        archive.keep(&text(&format!("{edge:04}")), merits(1, &[(edge, 1_000_000)]));
    }
    archive.keep(&text("small"), merits(1, &[(20, 1000)]));
    // In another archive of these no edge has grown yet.
    let mut other = Archive::of_champions();
    other.absorb(&archive, u64::MAX);
    assert_eq!(other.draw_growing(&mut random, u64::MAX), None);
    other.keep(&text("growing"), merits(1, &[(20, 8000)]));
    let picked = |archive: &Archive, random: &mut Random| {
        let growing = |archive: &Archive, number| archive.entry(number).derivation.text == b"growing";
        (0..1000).filter(|_| archive.pick(random, u64::MAX).is_some_and(|number| growing(archive, number))).count()
    };
    // The others share what is left, rather those with greater counts.
    assert!((400..600).contains(&picked(&other, &mut random)));
    assert_eq!(other.draw_growing(&mut random, 7999), None);
    // Texts whose variants do not end are varied less, those that were varied often are too.
    let growing = other.draw_growing(&mut random, u64::MAX).expect("growth");
    let known = |archive: &mut Archive, picks, stopped| {
        let entry = archive.entry_mut(growing).expect("a text");
        (entry.picks, entry.stopped) = (picks, stopped);
    };
    known(&mut other, 16, 16);
    assert!(picked(&other, &mut random) < 200);
    known(&mut other, 1000, 0);
    assert_eq!(other.draw_growing(&mut random, u64::MAX), None);
    known(&mut other, 0, 0);
    for _ in 0..5000 {
        assert!(other.keep(&text("still growing"), merits(1, &[(20, 8000)])).is_none());
    }
    assert_eq!(other.draw_growing(&mut random, u64::MAX), None);
    // An edge whose champion is dropped has not grown.
    other.keep(&text("again"), merits(1, &[(20, 9_000_000)]));
    other.drop_slower(8000);
    other.keep(&text("quick"), merits(1, &[(20, 1000)]));
    // Its first count is one doubling, which is an eighth once it was tried often.
    let greatest = |picks| other.growths.greatest(20..21, |_| Some(picks));
    assert_eq!([100, 200].map(greatest), [Some(20), None]);
}

#[test]
fn an_archive_of_champions_that_is_full_forgets_them() {
    let limit = 10 * bytes(&text("0000"));
    let mut archive = Archive { most_bytes: limit, ..Archive::of_champions() };
    for number in 0..95 {
        let kept = archive.keep(&text(&format!("{number:04}")), merits(1, &[(number, 1)]));
        assert_eq!(gained(kept), Some((None, 1)), "{number}");
        assert!(archive.bytes <= limit);
    }
    assert_eq!(archive.entries.iter().flatten().count(), 5);
    // One that is too large alone is not kept, and one that is no champion makes no room.
    for useless in [(&*"x".repeat(limit), 1000), (&*"x".repeat(limit / 2), 94)] {
        assert!(archive.keep(&text(useless.0), merits(1, &[(useless.1, 1)])).is_none());
        assert_eq!(archive.entries.iter().flatten().count(), 5);
    }
}

#[test]
fn champions_that_are_too_slow_are_dropped() {
    let mut archive = Archive::of_champions();
    archive.keep(&text("slow"), merits(1, &[(1, 1000), (2, 1), (4, 5)]));
    archive.keep(&text("quick"), merits(2, &[(2, 7), (3, 9)]));
    let known = (1, archive.entry(1).serial);
    archive.drop_slower(1005);
    assert!(archive.edges == [2, 3] && archive.texts.len() == 1);
    assert!(archive.known_mut(known).is_some());
    let kept = archive.keep(&text("other"), merits(1, &[(1, 1), (4, 1)]));
    assert_eq!((gained(kept), archive.edges.as_slice()), (Some((None, 2)), [2, 3, 1, 4].as_slice()));
    archive.drop_slower(0);
    assert!(archive.is_empty() && archive.bytes == 0);
}

#[test]
fn short_texts_may_rank_above_those_that_cost_more() {
    let ranked = |archive: &Archive| archive.top().map(|entry| entry.cost).collect::<Vec<_>>();
    let mut archive = Archive::new();
    let keep = |archive: &mut Archive, len: usize, cost| {
        archive.keep(&text(&format!("{cost:0len$}")), merits(cost, &[])).and_then(|kept| kept.place)
    };
    assert_eq!(keep(&mut archive, 64, 150), Some(0));
    assert_eq!(keep(&mut archive, 16, 100), Some(0));
    assert_eq!(keep(&mut archive, 8, 60), Some(1));
    // No room is gained below eight bytes.
    assert_eq!(keep(&mut archive, 2, 59), Some(2));
    assert_eq!(ranked(&archive), [100, 60, 59, 150]);
    archive.rank_by(Ranking::Cost, 0);
    assert_eq!(ranked(&archive), [150, 100, 60, 59]);
    assert_eq!(keep(&mut archive, 16, 101), Some(1));
    archive.rank_by(Ranking::Room, 0);
    assert_eq!(ranked(&archive), [101, 100, 60, 59, 150]);
    // What the cheapest text costs buys no room.
    archive.rank_by(Ranking::Room, 59);
    assert_eq!(ranked(&archive), [150, 101, 100, 60, 59]);
    archive.rank_by(Ranking::Room, 0);
    // As costly and as long: the one that was there first.
    let twin = text(&format!("{:x>16}", ""));
    assert_eq!(archive.keep(&twin, merits(101, &[])).and_then(|kept| kept.place), Some(1));
}

#[test]
fn the_text_that_costs_most_stays_and_ranks_first_once_cost_alone_counts() {
    let costs = |archive: &Archive| archive.top().map(|entry| entry.cost).collect::<Vec<_>>();
    let mut archive = Archive::new();
    archive.keep(&text(&format!("{:060}", 200)), merits(200, &[]));
    for cost in 100..100 + TOP as u64 {
        archive.keep(&text(&format!("{cost:08}")), merits(cost, &[]));
    }
    assert_eq!((costs(&archive).len(), costs(&archive).contains(&200)), (TOP, false));
    assert_eq!(archive.best().map(|best| archive.entry(best).cost), Some(200));
    archive.rank_by(Ranking::Cost, 0);
    assert_eq!(costs(&archive)[..2], [200, 100 + TOP as u64 - 1]);
    assert_eq!((costs(&archive).len(), archive.entries.iter().flatten().count()), (TOP, TOP));
    // A better one takes its place; both are kept for their cost.
    archive.keep(&text("better"), merits(300, &[]));
    assert_eq!(costs(&archive)[..2], [300, 200]);
    assert_eq!(archive.best().map(|best| archive.entry(best).cost), Some(300));
    // Texts of one outline: the better rank may be that of the cheaper one.
    let alike = |name: &str| Derivation { text: name.as_bytes().to_vec(), ..text("outline") };
    let mut archive = Archive::new();
    archive.keep(&alike("0123456789abcdef"), merits(150, &[]));
    archive.keep(&alike("01234567"), merits(140, &[]));
    assert_eq!((costs(&archive), archive.entries.iter().flatten().count()), (vec![140], 2));
    archive.rank_by(Ranking::Cost, 0);
    assert_eq!(costs(&archive), [150, 140]);
}

#[test]
fn of_champions_the_quicker_ones_can_be_taken_over() {
    let mut archive = Archive::of_champions();
    archive.keep(&text("slow"), merits(1, &[(1, 1000), (2, 1), (4, 5)]));
    archive.keep(&text("quick"), merits(2, &[(2, 7), (3, 9)]));
    archive.entry_mut(1).expect("a text").cursor = 5;
    let texts = |archive: &Archive| archive.entries.iter().flatten().count();
    let mut quicker = Archive::of_champions();
    quicker.absorb(&archive, 15);
    assert!(quicker.is_empty());
    quicker.absorb(&archive, 16);
    assert_eq!((texts(&archive), texts(&quicker)), (2, 1));
    assert!(quicker.bytes < archive.bytes && quicker.edges == [2, 3]);
    assert_eq!((quicker.entry(0).executed, quicker.entry(0).cursor, quicker.entry(0).cost), (16, 5, 2));
    // The edges of the slow text have no champion.
    let kept = quicker.keep(&text("other"), merits(1, &[(1, 1), (2, 6)])).expect("a champion");
    assert_eq!((kept.edges, quicker.edges.as_slice()), (1, [2, 3, 1].as_slice()));
    // What is beaten is not taken over, and what is known stays.
    let mut third = Archive::of_champions();
    third.keep(&text("third"), merits(1, &[(2, 8), (3, 8)]));
    quicker.absorb(&third, u64::MAX);
    quicker.absorb(&archive, u64::MAX);
    let holders = |edges: &[usize]| {
        let holder = |&edge: &usize| quicker.entry(quicker.champions[edge].holder as usize);
        edges.iter().map(holder).map(|entry| entry.derivation.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(holders(&[1, 2, 3, 4]), [&b"slow"[..], b"third", b"quick", b"slow"]);
    assert_eq!(texts(&quicker), 3);
}

#[test]
fn costly_texts_are_picked_most() {
    let (mut archive, mut random) = (Archive::new(), Random::new(1));
    assert_eq!(archive.pick(&mut random, u64::MAX), None);
    for number in 0..TOP {
        archive.keep(&text(&format!("{number:04}")), merits(number as u64, &[(number as u32, 1)]));
    }
    let mut picks = [0; TOP];
    for _ in 0..10_000 {
        picks[archive.pick(&mut random, u64::MAX).expect("a text")] += 1;
    }
    assert!(picks[TOP - 1] > 1000 && picks.iter().all(|&count| count > 10), "{picks:?}");
}

#[test]
fn where_texts_take_too_long_quicker_ones_are_picked() {
    let (mut archive, mut random) = (Archive::new(), Random::new(1));
    for (number, executed) in [1_000_000, 100, 10, 1].into_iter().enumerate() {
        archive.keep(&text(&format!("{number:04}")), merits(4 - number as u64, &[(number as u32, executed)]));
    }
    let mut picks = |most| {
        let mut picks = [0; 4];
        for _ in 0..1000 {
            let picked = archive.pick(&mut random, most).expect("a text");
            picks[archive.entry(picked).derivation.text[3] as usize - usize::from(b'0')] += 1;
        }
        picks
    };
    assert!(picks(u64::MAX)[0] > 300);
    let quick = picks(100);
    assert!(quick[0] == 0 && quick[1] > 100 && quick[1] > quick[3], "{quick:?}");
    // None is quick enough.
    assert!(picks(0)[3] > 900);
}
