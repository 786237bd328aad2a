//! The parts of the strategy by themselves, on small cases computed by hand.

use super::tree::tests::{derivation, desk};
use super::*;
use crate::strategies::kit;
use gramjet_search::Edge;

#[test]
fn gains_are_relative_to_what_is_possible() {
    let close = |gain: f64, expected: f64| assert!((gain - expected).abs() < 1e-12, "{gain}");
    close(gain(0.9, 0.5), 0.8);
    // Near the top a gain is relative to a half.
    close(gain(1.0, 0.8), 0.4);
    close(gain(0.5, 0.0), 0.5);
    close(gain(0.2, 0.6), -0.8);
}

#[test]
fn the_first_reason_that_holds_counts() {
    let mut seen = Seen::default();
    let mut add = |cost, edges: &[Edge], parent| seen.add(&kit::measured(cost, edges), parent);
    assert_eq!(add(10, &[(1, 8)], None), Some(Reason::Cost));
    // A best cost does not raise the hottest edge: 5 beats it still.
    assert_eq!(add(9, &[(1, 5)], None), Some(Reason::Hottest));
    assert_eq!(add(9, &[(1, 5)], None), None);
    assert_eq!(add(1, &[(2, 1)], None), Some(Reason::Novelty));
    assert_eq!(add(1, &[(2, 1)], Some(1)), None);
    // Of the costs 1, 1, 9, 9, 9, 10 the ranks are 1/6 and 7/12: a gain of 5/12 : 5/6 = 1/2.
    assert_eq!(add(9, &[(1, 5)], Some(1)), Some(Reason::Rank));
    assert_eq!(add(9, &[(1, 5)], Some(9)), None);
    assert_eq!(
        [Reason::Cost, Reason::Hottest, Reason::Rank, Reason::Novelty].map(Reason::value),
        [Some(10), Some(5), None, Some(1)]
    );
}

const WORDS: &str = "s ::= w (' ' w)*  w ::= [a-c]+";

/// Returns a strategy with these texts on its frontier.
fn with<F: Frontier>(desk: &mut Desk, texts: &[&str]) -> SlackLine<F> {
    let mut line = SlackLine::<F>::new(false);
    for text in texts {
        line.add(&derivation(desk, text), &Measured::default(), None);
    }
    line
}

#[test]
fn hybrids_keep_to_the_limit() {
    // `aa c` has four of five bytes: `aa` can become `bbb`, `c` can become `aa`, none can become `cccc`.
    let mut desk = desk(WORDS, 5);
    let line = &mut with::<InTurn>(&mut desk, &["aa c", "bbb", "cccc"]);
    let (mut hybrids, mut candidate) = (FxHashSet::default(), Derivation::default());
    for _ in 0..500 {
        if line.hybrid(0, &mut desk, &mut candidate) {
            hybrids.insert(String::from_utf8_lossy(&candidate.text).into_owned());
        }
    }
    let mut hybrids: Vec<String> = hybrids.into_iter().collect();
    hybrids.sort();
    assert_eq!(hybrids, ["aa aa", "bbb c", "c c"]);
}

#[test]
fn mutants_keep_to_the_limit() {
    let mut desk = desk(WORDS, 5);
    let line = &mut with::<InTurn>(&mut desk, &["aa c"]);
    let mut candidate = Derivation::default();
    let mut longest = 0;
    for _ in 0..500 {
        line.mutant(0, &mut desk, &mut candidate);
        longest = longest.max(candidate.text.len());
    }
    assert_eq!(longest, 5);
}

#[test]
fn ten_seeds_are_run_first() {
    let mut search = kit::search(kit::WORDS, kit::strategy("slackline", false), 40, 1);
    let mut operators = Vec::new();
    for number in 0..60 {
        assert!(search.propose().text.len() <= if number < 10 { 20 } else { 40 });
        operators.push(search.strategy().operator());
        search.observe(&kit::measured(1, &[]));
    }
    assert!(operators[..10].iter().all(|&operator| operator == "seed"), "{operators:?}");
    assert!(["hybrid", "mutant"].iter().all(|known| operators[10..].contains(known)), "{operators:?}");
    // With the published constants they are not.
    let mut search = kit::search(kit::WORDS, kit::strategy("slackline", true), 40, 1);
    search.propose();
    assert_ne!(search.strategy().operator(), "seed");
}

#[test]
fn a_language_of_few_texts_is_exhausted() {
    for name in ["slackline", "slackline-mc"] {
        let mut search = kit::search("s ::= 'a' | 'b'", kit::strategy(name, false), 9, 1);
        kit::run(&mut search, 3, |_| (1, vec![(1, 1)]));
        assert_eq!(search.best().map(|best| best.cost), Some(1));
    }
}

#[test]
fn failures_and_successes_are_credited() {
    let mut desk = desk(WORDS, 5);
    let mut line = with::<ByScore>(&mut desk, &["aa c", "bbb"]);
    let child = derivation(&mut desk, "b");
    line.judge(1, &child, &kit::measured(5, &[(1, 5)]));
    assert_eq!(line.members.len(), 3);
    line.judge(2, &child, &kit::measured(1, &[]));
    assert_eq!(line.members.len(), 3);
    // Its parent: a success of 10, and a failure of its child.
    let (mut same, value) = (pedigree::Pedigree::default(), 10);
    same.add(None);
    same.add(None);
    same.credit(1, value);
    same.add(Some(1));
    same.credit(2, 0);
    for node in 0..3 {
        assert_eq!(line.frontier.score(node, 0.5), same.score(node, 0.5));
    }
}

#[test]
fn a_winnow_keeps_what_is_new_and_rebuilds_the_chunks() {
    let mut desk = desk(WORDS, 5);
    let mut line = SlackLine::<ByScore>::new(false);
    for (text, edges) in [("aa c", [(1, 1)]), ("bbb", [(2, 1)]), ("cccc", [(2, 1)])] {
        line.add(&derivation(&mut desk, text), &kit::measured(1, &edges), None);
    }
    line.winnow();
    let texts: Vec<&[u8]> = line.members.iter().map(|member| &*member.tree.text).collect();
    assert_eq!(texts, [&b"cccc"[..], b"aa c"]);
    assert_eq!((line.trigger, line.bytes), (1000, line.members.iter().map(Member::bytes).sum()));
    let (word, mut drawn) = (line.members[1].tree.points[0].symbol, FxHashSet::default());
    for _ in 0..100 {
        let tree_of = |member: u32| &line.members[member as usize].tree;
        let chunk = line.chunks.draw(&mut desk.random, word, 5, b"", tree_of).expect("a chunk");
        drawn.insert(tree_of(chunk.member).text_of(chunk.point(tree_of(chunk.member))));
    }
    let mut drawn: Vec<&[u8]> = drawn.into_iter().collect();
    drawn.sort();
    assert_eq!(drawn, [&b"aa"[..], b"c", b"cccc"]);
}

#[test]
fn searches_go_on_after_winnows() {
    let mut search = kit::search(kit::BRACKETS, kit::strategy("slackline-mc", false), 30, 1);
    // Each text has an edge of its own, and stays on the frontier.
    let edge = |text: &[u8]| (1, vec![(hash(text) as u32 % 100_000, 1)]);
    kit::run(&mut search, 2000, edge);
    assert_eq!(search.runs(), 2000);
}

#[test]
fn texts_from_elsewhere_join_the_frontier() {
    let mut desk = desk(WORDS, 30);
    let mut line = with::<InTurn>(&mut desk, &["a"]);
    let other = derivation(&mut desk, "bbb");
    line.adopt(&mut desk, &other, &kit::measured(7, &[(1, 1)]));
    // It is known now.
    line.adopt(&mut desk, &other, &kit::measured(8, &[(1, 1)]));
    line.adopt(&mut desk, &Derivation::default(), &kit::measured(9, &[(1, 1)]));
    assert_eq!((line.members.len(), line.seen.cost), (2, 7));
}

#[test]
fn texts_do_not_repeat_and_depend_on_the_seed_alone() {
    for name in ["slackline", "slackline-mc"] {
        let texts = |seed| -> Vec<Vec<u8>> {
            let mut search = kit::search(kit::BRACKETS, kit::strategy(name, false), 30, seed);
            let texts = (0..400).map(|_| {
                let text = search.propose().text.clone();
                let (cost, edges) = kit::nesting(&text);
                search.observe(&kit::measured(cost, &edges));
                text
            });
            texts.collect()
        };
        let once: FxHashSet<Vec<u8>> = texts(1).into_iter().collect();
        assert_eq!((once.len(), texts(1)), (400, texts(1)));
        assert_ne!(texts(1), texts(2));
    }
}

#[test]
fn they_climb_where_random_texts_do_not() {
    // Half of all brackets have letters in them, so 250 random texts hardly nest deeper than 10.
    let best = |name, paper| {
        let subject = |text: &[u8]| (text.len() as u64, vec![(0, text.len() as u64)]);
        kit::best_of((name, paper), ("s ::= [a-z] [a-z] [a-z] | '(' s ')'", 60), (1, 250), subject)
    };
    for (name, paper) in [("slackline", false), ("slackline", true), ("slackline-mc", false), ("slackline-mc", true)] {
        assert_eq!(best(name, paper), 59, "{name} {paper}");
    }
    assert!(best("random", false) < 40, "{}", best("random", false));
}
