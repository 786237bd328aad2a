//! Tests of whole searches by the portfolio, and of what it learns from a run.

use super::*;
use crate::strategies::kit;

/// Returns what long runs take and what the others take, for a number of texts.
fn times(seed: u64, texts: u64) -> (u64, u64) {
    const LONG: u64 = 30_000_000;
    let times = std::cell::Cell::new((0, 0));
    let subject = |text: &[u8]| {
        let (letters, mut edges) = kit::count_of(b'z')(text);
        let is_long = text.windows(5).any(|part| part == b"q z q");
        let (long, quick) = times.get();
        if !is_long {
            times.set((long, quick + balance::START));
            return (letters, edges);
        }
        times.set((long + LONG, quick));
        edges.push((300, LONG));
        (letters + 100, edges)
    };
    kit::run(&mut kit::search(kit::WORDS, Box::new(Portfolio::new()), 30, seed), texts, subject);
    times.get()
}

#[test]
fn slow_texts_leave_time_for_quick_ones() {
    let (long, quick) = (1..=8).fold((0, 0), |sum, seed| {
        let (long, quick) = times(seed, 10_000);
        (sum.0 + long, sum.1 + quick)
    });
    // In each beginning some long runs owe nothing. Without the balance long ones take 29 times as
    // much as the others.
    assert!((quick / 8..5 * quick).contains(&long), "{long} and {quick}");
}

/// Returns the cost and the edges of a text: each letter of a secret word that the text begins with is an edge; only
/// `z` costs.
fn secret(text: &[u8]) -> (u64, Vec<Edge>) {
    let known = b"kestrel".iter().zip(text).take_while(|(one, other)| one == other).count();
    let costly = text.iter().filter(|&&byte| byte == b'z').count() as u64;
    (costly, (1..=known as u32).map(|edge| (edge, 1)).chain([(100, costly)]).collect())
}

#[test]
fn a_search_that_explores_covers_more() {
    let edges = |explores: bool, seed| {
        let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, seed);
        if explores {
            search.explore();
        }
        kit::run(&mut search, 3000, secret);
        search.maxima().edges()
    };
    let [with, without] = [true, false].map(|explores| (1..=32).map(|seed| edges(explores, seed)).sum::<usize>());
    assert!(with > without + 10, "{with} and {without}");
}

#[test]
fn champions_stay_when_the_search_begins_anew_and_are_varied_more() {
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let mut candidate = Derivation::default();
    let measured = |cost, edges: &[Edge]| Measured { cost, hottest: 9, edges: edges.to_vec(), ..Measured::default() };
    let wide = |portfolio: &mut Portfolio, desk: &mut Desk, candidate: &mut Derivation, texts| {
        proposed(portfolio, desk, candidate, texts, Pool::Wide)
    };
    portfolio.propose(desk, &mut candidate);
    portfolio.observe(desk, &candidate, &measured(9, &[(1, 9)]));
    assert_eq!(wide(&mut portfolio, desk, &mut candidate, 400), 0);
    // The first beginning has found the best text; the second finds nothing better.
    portfolio.restart();
    assert!(portfolio.recent.archive.is_empty() && !portfolio.wide.archive.is_empty());
    assert_eq!(portfolio.wide_due, 0);
    portfolio.propose(desk, &mut candidate);
    portfolio.observe(desk, &candidate, &measured(5, &[(2, 5)]));
    portfolio.restart();
    portfolio.propose(desk, &mut candidate);
    portfolio.observe(desk, &candidate, &measured(5, &[(3, 5)]));
    assert_eq!(wide(&mut portfolio, desk, &mut candidate, 400), 401 - SEEDS as usize);
    // A champion sets the count back to 0. When the count exceeds its limit, champions are no longer due.
    portfolio.barren = BARREN - 1;
    portfolio.making.pool = Pool::Wide;
    let won = Won { of_all: true, of_quick: false };
    let champion = measured(1, &[]);
    let run = Run::new(desk, &candidate, &champion);
    portfolio.observe_champion(&run, won, false);
    assert_eq!(portfolio.barren, 0);
    assert_eq!(wide(&mut portfolio, desk, &mut candidate, 1000), BARREN as usize + 1);
    assert_eq!(portfolio.wide_due, 0);
    // If nothing better has been found for some time, a quarter of the texts vary champions; else none do.
    assert_eq!(wide(&mut portfolio, desk, &mut candidate, 400), 0);
    portfolio.stale = NARROW + 1;
    assert!((200..300).contains(&wide(&mut portfolio, desk, &mut candidate, 1000)));
    (portfolio.wide_due, portfolio.barren) = (WIDER, 0);
    // A variant of a champion that costs more than all texts so far is kept among the recent ones, too.
    let is_known =
        |portfolio: &Portfolio, text: &[u8]| portfolio.recent.archive.top().any(|entry| entry.derivation.text == text);
    while portfolio.making.pool != Pool::Wide || is_known(&portfolio, &candidate.text) {
        portfolio.propose(desk, &mut candidate);
    }
    portfolio.observe(desk, &candidate, &measured(10, &[(1, 10)]));
    assert_eq!((portfolio.wide_due, portfolio.most), (0, 10));
    let best = portfolio.recent.archive.best().map(|best| portfolio.recent.archive.entry(best));
    assert_eq!(best.map(|best| (&best.derivation.text, best.cost)), Some((&candidate.text, 10)));
}

#[test]
fn texts_get_their_parts_when_they_are_varied() {
    let mut search = kit::search(kit::WORDS, kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let (mut portfolio, mut candidate, mut lacking) = (Portfolio::new(), Derivation::default(), 0);
    for _ in 0..3000 {
        portfolio.propose(desk, &mut candidate);
        lacking += u32::from(candidate.parts.is_empty());
        let (cost, edges) = kit::count_of(b'z')(&candidate.text);
        portfolio.observe(desk, &candidate, &kit::measured(cost, &edges));
    }
    assert!(lacking > 2000, "{lacking}");
    let mut replayed = Derivation::default();
    for archive in [&mut portfolio.recent.archive, &mut portfolio.wide.archive] {
        let kept: Vec<usize> = archive.numbers().collect();
        let complete = kept.iter().filter(|&&number| !archive.entry(number).derivation.parts.is_empty()).count();
        assert!(kept.len() > 2 && complete > 0 && complete < kept.len(), "{complete} of {}", kept.len());
        for number in kept {
            let options: Vec<u32> = archive.entry(number).derivation.options().collect();
            desk.deriver.replay(&options, &mut replayed);
            assert_eq!(archive.complete(number, &mut desk.deriver).derivation, replayed);
        }
        assert!(archive.counts_its_bytes());
    }
}

#[test]
fn where_quick_texts_are_due_most_vary_their_champions() {
    const SLOW: u64 = 1_000_000_000;
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let mut candidate = Derivation::default();
    for run in 0..2 * SEEDS {
        portfolio.propose(desk, &mut candidate);
        portfolio.observe(desk, &candidate, &kit::measured(1, &[(1, 10), (2, 5), (3, run)]));
    }
    assert!(portfolio.quick.archive.is_empty());
    // A slow text takes the edges of quick ones, which are kept beside it.
    let measured = |cost| Measured { cost, ..kit::measured(SLOW, &[(1, SLOW), (3, SLOW)]) };
    portfolio.propose(desk, &mut candidate);
    portfolio.observe(desk, &candidate, &measured(SLOW));
    let executed = |archive: &mut Archive, random: &mut _| {
        (0..100).map(|_| archive.pick(random, u64::MAX).map_or(0, |text| archive.entry(text).executed)).max()
    };
    assert_eq!(executed(&mut portfolio.wide.archive, &mut desk.random), Some(2 * SLOW));
    assert_eq!(executed(&mut portfolio.quick.archive, &mut desk.random), Some(15 + 2 * SEEDS - 1));
    // Champions among quick texts are kept from then on.
    let (runs, stale) = (portfolio.runs, portfolio.stale);
    portfolio.draw(desk, &mut candidate);
    portfolio.making.pool = Pool::Quick;
    portfolio.observe(desk, &candidate, &kit::measured(1, &[(1, 10_000)]));
    assert_eq!((portfolio.runs, portfolio.stale), (runs + 1, stale + 1));
    assert_eq!(executed(&mut portfolio.quick.archive, &mut desk.random), Some(10_000));
    let quick = |portfolio: &mut Portfolio, desk: &mut Desk, candidate: &mut Derivation| {
        proposed(portfolio, desk, candidate, 1000, Pool::Quick)
    };
    assert_eq!(quick(&mut portfolio, desk, &mut candidate), 0);
    portfolio.balance.add(2 * SLOW, Some(2 * SLOW));
    assert!((700..900).contains(&quick(&mut portfolio, desk, &mut candidate)));
    // A text that costs hardly more gives slow texts no new start.
    let observe = |portfolio: &mut Portfolio, desk: &mut Desk, pool, cost| {
        let text = text_of(desk);
        portfolio.making = Making { pool, beginning: portfolio.beginning, ..Making::default() };
        portfolio.observe(desk, &text, &measured(cost));
        portfolio.balance.is_quick_due()
    };
    assert!(observe(&mut portfolio, desk, Pool::Wide, SLOW + 1));
    assert!(observe(&mut portfolio, desk, Pool::Quick, SLOW + 2));
    assert_eq!(portfolio.recent.archive.best().map(|best| portfolio.recent.archive.entry(best).cost), Some(SLOW + 2));
    // While all texts vary champions, runs are not those of the beginning; a better text ends that.
    (portfolio.wide_due, portfolio.spent_before) = (WIDER, u64::MAX);
    let (runs, spent) = (portfolio.runs, portfolio.spent);
    assert!(observe(&mut portfolio, desk, Pool::Quick, 1));
    assert_eq!((portfolio.runs, portfolio.spent, portfolio.wide_due), (runs, spent, WIDER));
    // Then all of those that are due vary quick champions.
    assert_eq!(quick(&mut portfolio, desk, &mut candidate), 1000);
    portfolio.wide_due = WIDER;
    assert!(!observe(&mut portfolio, desk, Pool::Quick, 2 * SLOW));
    assert_eq!(portfolio.wide_due, 0);
    // When the search begins anew, another number of edges may be quick.
    portfolio.restart();
    assert_eq!(executed(&mut portfolio.quick.archive, &mut desk.random), Some(10_000));
    for _ in 0..2000 {
        portfolio.balance.add(SLOW, Some(SLOW));
    }
    assert!(portfolio.balance.quick_limit() > 2 * SLOW);
    portfolio.restart();
    assert_eq!(executed(&mut portfolio.quick.archive, &mut desk.random), Some(2 * SLOW));
    portfolio.balance = Balance::default();
    portfolio.restart();
    let left = executed(&mut portfolio.quick.archive, &mut desk.random);
    assert!((Some(1)..Some(10_001)).contains(&left), "{left:?}");
}

#[test]
fn slow_variants_of_quick_champions_end_the_time_when_all_texts_vary_champions() {
    const SLOW: u64 = 1_000_000_000;
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let text = text_of(desk);
    portfolio.adopt(desk, &text, &kit::measured(SLOW, &[(1, SLOW)]));
    let mut observe = |portfolio: &mut Portfolio, pool, edges: &[Edge]| {
        portfolio.making = Making { pool, ..Making::default() };
        let text = text_of(desk);
        portfolio.observe(desk, &text, &Measured { cost: 1, ..kit::measured(1, edges) });
        (portfolio.wide_due, portfolio.spent_barren)
    };
    portfolio.spent_before = 3 * SLOW;
    for (pool, edge) in [(Pool::Quick, 2), (Pool::Wide, 3)] {
        portfolio.wide_due = WIDER;
        // The first one is a champion of the whole search, the others are none.
        let slow = [(1, SLOW - 1), (edge, SLOW)];
        assert_eq!(observe(&mut portfolio, pool, &slow), (WIDER, 0));
        assert_eq!(observe(&mut portfolio, pool, &slow), (WIDER, 2 * SLOW - 1 + balance::START));
        assert_eq!(observe(&mut portfolio, pool, &slow).0, 0);
        // Another champion ends the count.
        assert_eq!(observe(&mut portfolio, pool, &[(10 + edge, 1)]).1, 0);
    }
    // That time is for quick variants of quick champions, so they do not count.
    assert_eq!(observe(&mut portfolio, Pool::Quick, &[(1, 1)]).1, 0);
    assert_eq!(observe(&mut portfolio, Pool::Wide, &[(1, 1)]).1, 1 + balance::START);
}

#[test]
fn what_all_texts_cost_is_no_part_of_a_rise() {
    const FIXED: u64 = 100_000_000;
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let mut observe = |cost| {
        portfolio.draw(desk, &mut Derivation::default());
        let text = text_of(desk);
        portfolio.observe(desk, &text, &kit::measured(FIXED + cost, &[]));
        portfolio.stale
    };
    assert_eq!([0, 1, 1, 5000, 5001, 5007].map(&mut observe), [0, 0, 1, 0, 1, 0]);
}

#[test]
fn a_better_text_that_ran_when_the_search_began_anew_is_kept() {
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let mut candidate = Derivation::default();
    portfolio.propose(desk, &mut candidate);
    let before = portfolio.making();
    let text = text_of(desk);
    portfolio.observe(desk, &text, &kit::measured(9, &[(1, 9)]));
    portfolio.restart();
    portfolio.recall(before);
    portfolio.observe(desk, &candidate, &kit::measured(10, &[(1, 10)]));
    assert_eq!(portfolio.best.as_ref().map(|best| best.cost), Some(10));
    assert_eq!((portfolio.recent.archive.top().count(), portfolio.runs), (1, 0));
    // It is no find of this beginning.
    assert!(!portfolio.has_found);
}

#[test]
fn what_ran_when_the_search_began_anew_owes_no_time() {
    const SLOW: u64 = 1_000_000_000;
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    for is_left in [true, false] {
        for _ in 0..100 {
            portfolio.draw(desk, &mut Derivation::default());
            let text = text_of(desk);
            portfolio.observe(desk, &text, &kit::measured(1, &[(1, 1)]));
        }
        let before = Making { parent_executed: Some(SLOW), ..portfolio.making() };
        if is_left {
            portfolio.restart();
        }
        portfolio.recall(before);
        let text = text_of(desk);
        portfolio.observe(desk, &text, &Measured { cost: 1, ..kit::measured(1, &[(1, SLOW)]) });
        assert_eq!(portfolio.balance.is_quick_due(), !is_left);
    }
}

#[test]
fn a_better_variant_of_a_champion_is_a_find() {
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    for pool in [Pool::Wide, Pool::Quick] {
        let mut portfolio = Portfolio::new();
        portfolio.restart();
        assert_eq!(portfolio.wide_due, WIDER);
        portfolio.making.pool = pool;
        let text = text_of(desk);
        portfolio.observe(desk, &text, &kit::measured(9, &[(1, 9)]));
        assert_eq!(portfolio.wide_due, 0);
        portfolio.restart();
        assert_eq!(portfolio.wide_due, 0);
    }
}

#[test]
fn texts_of_other_searches_are_not_found_by_a_beginning() {
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    // A search that goes on has found nothing better than before.
    let text = text_of(desk);
    portfolio.adopt(desk, &text, &kit::measured(100_000, &[(1, 9)]));
    portfolio.restart();
    assert_eq!(portfolio.wide_due, WIDER);
    // A text of another search is varied at once if it is better by more than a small share, but it is not a find.
    for (cost, due) in [(50, WIDER), (100_001, WIDER), (101_000, 0)] {
        let text = text_of(desk);
        portfolio.adopt(desk, &text, &kit::measured(cost, &[(1, 9)]));
        assert_eq!(portfolio.wide_due, due);
    }
    portfolio.restart();
    assert_eq!(portfolio.wide_due, WIDER);
    // An own find stays one if another search finds a better text after it.
    portfolio.draw(desk, &mut Derivation::default());
    let text = text_of(desk);
    portfolio.observe(desk, &text, &kit::measured(102_000, &[(1, 9)]));
    let text = text_of(desk);
    portfolio.adopt(desk, &text, &kit::measured(103_000, &[(1, 9)]));
    portfolio.restart();
    assert_eq!(portfolio.wide_due, 0);
    // One that is too long is not varied.
    desk.max_len = 1;
    let mut long = Derivation::default();
    while long.text.len() < 2 {
        desk.draw(&mut long);
    }
    portfolio.adopt(desk, &long, &kit::measured(200_000, &[(1, 9)]));
    assert_eq!(portfolio.most, 103_000);
}

#[test]
fn the_best_texts_of_all_beginnings_are_put_together() {
    let mut search = kit::search(kit::WORDS, kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let mut outlines = std::collections::HashSet::new();
    let costs = |portfolio: &Portfolio| portfolio.recent.archive.top().map(|entry| entry.cost).collect::<Vec<_>>();
    for (cost, together) in [(3, vec![]), (9, vec![]), (5, vec![9, 5, 3]), (2, vec![])] {
        // Another number of words, so another outline.
        let words = |text: &Derivation| text.text.iter().filter(|&&byte| byte == b' ').count();
        let text = std::iter::repeat_with(|| text_of(desk)).find(|text| outlines.insert(words(text)));
        portfolio.draw(desk, &mut Derivation::default());
        portfolio.observe(desk, &text.expect("a text"), &kit::measured(cost, &[]));
        portfolio.restart();
        assert_eq!(costs(&portfolio), together);
    }
}

#[test]
fn time_stands_for_edges_where_none_are_counted() {
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let text = text_of(desk);
    let timed = Measured { cost: 1, seconds: 2.0, ..Measured::default() };
    assert_eq!(Run::new(desk, &text, &timed).executed, 0);
    desk.uses_times = true;
    assert_eq!(Run::new(desk, &text, &timed).executed, 2 << 30);
    assert_eq!(Run::new(desk, &text, &Measured { seconds: 2.0, ..kit::measured(1, &[(1, 5)]) }).executed, 5);
    // Variants of a text that takes long do not take all the time.
    let mut portfolio = Portfolio::new();
    for seconds in [0.001; 100].into_iter().chain([9.0]) {
        portfolio.making = Making { parent_executed: Some(9 << 30), ..Making::default() };
        assert!(!portfolio.balance.is_quick_due());
        let text = text_of(desk);
        portfolio.observe(desk, &text, &Measured { cost: 1, seconds, ..Measured::default() });
    }
    assert!(portfolio.balance.is_quick_due());
}

/// Returns how many of the next texts vary one of this pool.
fn proposed(portfolio: &mut Portfolio, desk: &mut Desk, candidate: &mut Derivation, texts: usize, pool: Pool) -> usize {
    let is_of_pool = |_: &usize| {
        portfolio.propose(desk, candidate);
        portfolio.making.pool == pool
    };
    (0..texts).filter(is_of_pool).count()
}

fn text_of(desk: &mut Desk) -> Derivation {
    let mut text = Derivation::default();
    desk.draw(&mut text);
    text
}

#[test]
fn quick_champions_are_kept_beside_a_slow_text_that_is_adopted_first() {
    const SLOW: u64 = 1_000_000_000;
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let (slow, quick) = (text_of(desk), text_of(desk));
    let mut portfolio = Portfolio::new();
    portfolio.adopt(desk, &slow, &kit::measured(SLOW, &[(1, SLOW)]));
    portfolio.adopt(desk, &quick, &kit::measured(1, &[(1, 10)]));
    let quick = portfolio.quick.archive.pick(&mut desk.random, u64::MAX).expect("a champion");
    assert_eq!(portfolio.quick.archive.entry(quick).executed, 10);
    // With several costs there are none.
    let mut portfolio = Portfolio::new();
    let several = Measured { costs: vec![SLOW, SLOW], ..kit::measured(SLOW, &[(1, SLOW)]) };
    portfolio.adopt(desk, &slow, &several);
    assert!(!portfolio.has_slow && portfolio.wide.archive.is_empty());
}

#[test]
fn room_counts_while_better_texts_are_found() {
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 60, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let mut observe = |portfolio: &mut Portfolio, len: usize, cost| {
        let mut candidate = Derivation::default();
        while candidate.text.len() != len {
            desk.draw(&mut candidate);
        }
        portfolio.observe(desk, &candidate, &kit::measured(cost, &[]));
        portfolio.recent.archive.top().map(|entry| entry.cost).collect::<Vec<_>>()
    };
    // Texts of letters alone have one outline, and the best of them is kept.
    assert_eq!(observe(&mut portfolio, 4, 100), [100]);
    assert_eq!(observe(&mut portfolio, 16, 150), [150]);
    assert_eq!(observe(&mut portfolio, 9, 130), [150]);
    assert_eq!(observe(&mut portfolio, 9, 140), [140]);
    portfolio.stale = NARROW;
    assert_eq!(observe(&mut portfolio, 9, 141), [150, 141]);
    assert_eq!(observe(&mut portfolio, 16, 145), [150, 141]);
    assert_eq!(observe(&mut portfolio, 16, 152), [141, 152]);
    assert_eq!(portfolio.stale, 0);
}

#[test]
fn adopted_texts_are_ranked_by_what_they_cost_beyond_the_cheapest() {
    let mut search = kit::search(kit::WORDS, kit::strategy("portfolio"), 60, 1);
    let mut portfolio = Portfolio::new();
    let desk = search.desk();
    let (mut short, mut long) = (Derivation::default(), Derivation::default());
    while short.text.len() > 4 || short.text.is_empty() {
        desk.draw(&mut short);
    }
    // Another number of words, so another outline.
    while long.text.len() < 30 || long.parts.len() == short.parts.len() {
        desk.draw(&mut long);
    }
    portfolio.adopt(desk, &short, &kit::measured(1010, &[]));
    portfolio.adopt(desk, &long, &kit::measured(1100, &[]));
    assert_eq!(portfolio.recent.archive.top().map(|entry| entry.cost).collect::<Vec<_>>(), [1100, 1010]);
}

#[test]
fn what_runs_when_the_search_begins_anew_is_not_kept() {
    let mut search = kit::search("s ::= [a-z]+", kit::strategy("portfolio"), 30, 1);
    let desk = search.desk();
    let mut portfolio = Portfolio::new();
    let mut candidate = Derivation::default();
    let measured = |edges: &[Edge]| Measured { cost: 9, hottest: 9, edges: edges.to_vec(), ..Measured::default() };
    portfolio.propose(desk, &mut candidate);
    let before = portfolio.making();
    portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
    assert!(!portfolio.recent.archive.is_empty() && portfolio.best.is_some());
    portfolio.restart();
    portfolio.recall(before);
    portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
    assert!(portfolio.recent.archive.is_empty() && portfolio.best.is_none() && portfolio.runs == 0);
    // What was proposed since then is.
    portfolio.propose(desk, &mut candidate);
    portfolio.observe(desk, &candidate, &measured(&[(1, 9)]));
    assert!(!portfolio.recent.archive.is_empty() && portfolio.runs == 1);
}
