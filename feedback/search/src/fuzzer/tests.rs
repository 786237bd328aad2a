//! The search on subjects that are functions.

use gramjet_compiler::SourceFile;
use gramjet_session::Settings;

use super::trimming::EFFORTS;
use super::*;
use crate::STRATEGIES;

fn fuzzer() -> Fuzzer {
    let file = SourceFile::new("g.ebnf", "list ::= '[' (item (',' item)*)? ']' \n item ::= list | [a-d]+");
    let language = Language::compile(&file, &Settings::default()).expect("a grammar");
    Fuzzer::new(&language, Goal::New, 200, Seed::new(1))
}

/// Runs a subject that does what the function says; returns how many texts were broken.
fn search(fuzzer: &mut Fuzzer, texts: u32, does: impl Fn(&[u8]) -> u64) -> u32 {
    let mut known = FxHashSet::default();
    let mut broken = 0;
    for _ in 0..texts {
        let text = fuzzer.propose().expect("a text").to_vec();
        let feature = does(&text);
        fuzzer.observe(Observation { is_new: known.insert(feature), cost: 0, features: &[feature], work: 0 });
        broken += u32::from(fuzzer.breaks());
    }
    broken
}

#[test]
fn kept_texts_become_as_short_as_what_they_do_allows() {
    let mut fuzzer = fuzzer();
    let deepest = |text: &[u8]| text.iter().filter(|&&byte| byte == b'[').count().min(3) as u64;
    assert_eq!(search(&mut fuzzer, 3000, deepest), 0);
    let mut texts: Vec<&[u8]> = fuzzer.corpus().entries().iter().map(|entry| &*entry.text).collect();
    texts.sort();
    texts.sort_by_key(|text| text.len());
    assert_eq!(texts[0], b"[]");
    assert!(texts.len() == 3 && texts.iter().all(|text| text.len() <= 7), "{texts:?}");
}

#[test]
fn texts_become_shorter_a_bounded_number_of_runs_at_a_time() {
    let mut fuzzer = fuzzer().with_broken(&[]);
    fuzzer.add(b"[]", Observation::default());
    let text = vec![b'['; 1000];
    fuzzer.add(&text, Observation { features: &[1], ..Observation::default() });
    let (mut shortest, mut batches) = (text.len(), vec![0]);
    for _ in 0..20_000 {
        let len = fuzzer.propose().expect("a text").len();
        let is_trim = fuzzer.operator() == Operator::Trim;
        // It becomes shorter by little, so there is more to do after each batch.
        let does_same = is_trim && len + 40 >= shortest;
        if does_same {
            shortest = len;
        }
        match is_trim {
            true => *batches.last_mut().expect("one") += 1,
            false => batches.push(0),
        }
        fuzzer.observe(Observation { features: &[u64::from(does_same)], ..Observation::default() });
    }
    batches.retain(|&count| count > 0);
    // The last one may have ended early.
    assert!(
        batches.len() > 1 && batches[..batches.len() - 1].iter().all(|count| EFFORTS[1..].contains(count)),
        "{batches:?}"
    );
}

#[test]
fn seeds_are_varied_before_anything_else_and_other_texts_are_not() {
    let mut fuzzer = fuzzer();
    assert!(fuzzer.add(b"[a]", Observation::default()));
    assert!(fuzzer.first.is_empty());
    assert!(fuzzer.add_seed(b"[b,c]", Observation::default()));
    for _ in 0..IN_TURN {
        assert_eq!(fuzzer.first[0].0, 1);
        // `propose` makes several texts if the first ones were made before.
        fuzzer.make().expect("a text");
        assert_eq!((fuzzer.operator, fuzzer.parent), (Operator::Mutate, Some(Whole::Conforming(1))));
    }
    assert!(fuzzer.first.is_empty());
}

#[test]
fn broken_texts_reach_what_no_text_of_the_language_does() {
    let mut fuzzer = fuzzer().with_broken(&[]);
    let is_open = |text: &[u8]| {
        let count = |wanted| text.iter().filter(|&&byte| byte == wanted).count();
        u64::from(count(b'[') > count(b']') + 1)
    };
    let broken = search(&mut fuzzer, 2000, is_open);
    assert!((100..1500).contains(&broken), "{broken}");
    let entries = fuzzer.breaker.as_ref().expect("broken texts").corpus.entries();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].text, b"[[");
}

#[test]
fn words_stand_where_texts_can_hold_them() {
    let words = [b"dcba".to_vec(), b"[c]".to_vec(), b"no".to_vec()];
    let mut fuzzer = fuzzer().with_words(&words);
    let mut put = 0;
    let mut known = FxHashSet::default();
    for _ in 0..1000 {
        let text = fuzzer.propose().expect("a text").to_vec();
        if fuzzer.operator() == Operator::Word {
            put += 1;
            let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
            assert!(words[..2].iter().any(|word| has(word)), "{}", text.escape_ascii());
            assert!(fuzzer.session().remember(&text) && text.len() <= 200 && !fuzzer.breaks());
        }
        let feature = text.len() as u64 / 4;
        fuzzer.observe(Observation { is_new: known.insert(feature), cost: 0, features: &[feature], work: 0 });
    }
    assert!(put > 50, "{put}");
}

#[test]
fn words_that_no_place_can_hold_change_no_other_way() {
    let mut with = fuzzer().with_words(&[b"no".to_vec()]);
    search(&mut with, 600, |text| text.len() as u64 / 8);
    assert_eq!(with.yields().find(|(operator, _, _)| *operator == Operator::Word), Some((Operator::Word, 0, 0)));
    let texts = |mut fuzzer: Fuzzer| {
        (0..200)
            .map(|_| {
                let text = fuzzer.propose().expect("a text").to_vec();
                fuzzer.observe(Observation {
                    is_new: text.len().is_multiple_of(5),
                    cost: 0,
                    features: &[text.len() as u64],
                    work: 0,
                });
                text
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(fuzzer()), texts(fuzzer().with_words(&[])));
}

#[test]
fn effort_is_spent_where_shorter_texts_pay() {
    let mut chances = Chances::new();
    let mut random = Random::new(1);
    let mut taken = [0; EFFORTS.len()];
    for round in 0..4000 {
        let effort = chances.efforts.choose(&mut random);
        taken[effort] += u32::from(round >= 2000);
        (0..EFFORTS[effort]).for_each(|_| chances.learn(Operator::Trim, Some(effort), false, 10));
        // Variants of texts that were made shorter with little effort find more.
        (0..IN_TURN).for_each(|run| {
            let finds = if effort == 1 { 4 } else { 1 };
            chances.learn(Operator::Mutate, Some(effort), run < finds, 10);
        });
    }
    assert!(taken[1] > taken[0] + taken[2] && taken[2] < taken[0], "{taken:?}");
}

#[test]
fn a_way_whose_texts_are_dear_has_to_bring_more() {
    let mut chances = Chances::new();
    let mut random = Random::new(1);
    let mut taken = [0; 2];
    for round in 0..8000 {
        let way = chances.ways.choose_among(&[1, 2], &mut random) - 1;
        taken[way] += u32::from(round >= 2000);
        // Both bring something with each tenth text.
        let (operator, work) = [(Operator::Mutate, 1000), (Operator::Splice, 10)][way];
        chances.learn(operator, None, round % 10 == 0, work);
    }
    assert!(taken[1] > taken[0], "{taken:?}");
}

#[test]
fn texts_are_drawn_by_probabilities_of_kept_texts() {
    let mut fuzzer = fuzzer().with_drawings(&STRATEGIES[0], &STRATEGIES[1], Seed::new(3));
    let longest = |text: &[u8]| text.iter().filter(|&&byte| byte == b'd').count().min(30) as u64;
    search(&mut fuzzer, 3000, longest);
    let yields: Vec<(Operator, u64, u64)> = fuzzer.yields().collect();
    for operator in [Operator::Common, Operator::Evolve] {
        let made = yields.iter().find(|(known, _, _)| *known == operator).map(|&(_, made, _)| made);
        assert!(made.is_some_and(|made| made > 5), "{yields:?}");
    }
}
