//! Studies of texts by an artificial cost.

use std::path::PathBuf;

use gramjet_compiler::SourceFile;
use gramjet_session::{Settings, Shape};

use super::*;

/// Edges by a function of the text. The cost is their sum; the number of an edge is its line.
struct Counts<F> {
    count: F,
    last: Measured,
}

impl<F: FnMut(&[u8]) -> Vec<Edge>> Measure for Counts<F> {
    fn read(&mut self, text: &[u8]) -> Result<&Measured, Error> {
        let edges = (self.count)(text);
        let cost = edges.iter().map(|edge| edge.1).sum();
        let ending = if cost == 0 { Ending::Failed } else { Ending::Done };
        self.last = Measured { ending, ..Measured::of(cost, edges) };
        Ok(&self.last)
    }

    fn spot(&mut self, edge: u32) -> Option<Spot> {
        Some(Spot { file: PathBuf::from("f.c"), line: edge, function: String::new() })
    }
}

fn language(grammar: &str) -> Language {
    let settings = Settings { shape: Some(Shape::Uniform), ..Settings::default() };
    Language::compile(&SourceFile::new("g.ebnf", grammar), &settings).expect("a grammar")
}

/// Returns what a student finds.
fn with_student<F: FnMut(&[u8]) -> Vec<Edge>, T>(
    grammar: &str,
    count: F,
    look: impl FnOnce(&mut Student<'_, Counts<F>>) -> Result<T, Error>,
) -> T {
    let (language, stop, mut meter) = (language(grammar), Stop::default(), Counts { count, last: Measured::default() });
    let (effort, time) = (Effort::default(), Duration::from_secs(60));
    let mut student = Student { language: &language, meter: &mut meter, stop: &stop, effort, time };
    look(&mut student).unwrap_or_else(|failure| panic!("{failure}"))
}

fn number_of(text: &[u8], byte: u8) -> u64 {
    text.iter().filter(|&&other| other == byte).count() as u64
}

const LISTS: &str = "s ::= list ';' tail  list ::= item (',' item)*  item ::= [a-w]  tail ::= 'x'*";

/// Returns a subject in which each pair of commas executes edge 1, each `x` edge 2, and each text edge 3.
fn lists(pair: u64, x: u64) -> impl FnMut(&[u8]) -> Vec<Edge> {
    move |text| vec![(1, pair * number_of(text, b',').pow(2)), (2, x * number_of(text, b'x')), (3, 10)]
}

#[test]
fn a_cause_is_a_part_with_the_edge_that_it_makes_hot() {
    let study = with_student(LISTS, lists(1, 1), |student| student.study(b"a,b,c,d;xxxx"));
    let causes = study.causes.iter().map(|cause| {
        let place = cause.spot.as_ref().map(Spot::place).unwrap_or_default();
        (cause.bytes.clone(), cause.rule.as_str(), place, (cause.share * 23.0).round())
    });
    let expected = [(0..7, "list", "f.c:1".to_string(), 9.0), (8..12, "tail", "f.c:2".to_string(), 4.0)];
    assert_eq!(causes.collect::<Vec<_>>(), expected);
    let hot: Vec<_> = study.hot.iter().map(|hot| (hot.spot.as_ref().map(|spot| spot.line), hot.count)).collect();
    assert_eq!(hot, [(Some(3), 10), (Some(1), 9), (Some(2), 4)]);
}

#[test]
fn a_text_that_is_not_of_the_grammar_is_known_by_its_hot_lines() {
    let look =
        |text: &[u8]| with_student(LISTS, lists(1, 1), |student| Ok([student.study(text)?, student.glance(text)?]));
    for study in look(b"a,b,") {
        assert!(study.is_foreign && study.families.is_empty() && study.tree.is_empty(), "{study:?}");
        assert_eq!(study.hot.len(), 3);
    }
    assert!(look(b"a,b;").iter().all(|study| !study.is_foreign && !study.tree.is_empty()));
}

#[test]
fn long_parts_are_looked_at_first() {
    let count = |text: &[u8]| vec![(1, number_of(text, b'a')), (2, 100 * number_of(text, b'x'))];
    let text = [b"aa ".repeat(150), b"xxxx".to_vec()].concat();
    let grammar = "s ::= (word ' ')* tail  word ::= 'a'+  tail ::= rest  rest ::= 'x'*";
    let study = with_student(grammar, count, |student| student.study(&text));
    let causes: Vec<_> = study.causes.iter().map(|cause| (cause.bytes.clone(), cause.rule.as_str())).collect();
    assert_eq!(causes[..3], [(450..454, "tail"), (0..2, "word"), (3..5, "word")]);
    assert_eq!(causes.len(), CAUSES);
}

#[test]
fn the_edge_that_falls_most_is_named() {
    let before = [(1, 5), (2, 9), (7, 3)];
    assert_eq!(greatest_drop(&before, &[(1, 5), (2, 7)]), Some(7));
    assert_eq!(greatest_drop(&before, &[(1, 1), (2, 9), (7, 3)]), Some(1));
    assert_eq!(greatest_drop(&before, &[(1, 50), (2, 9), (5, 1), (7, 3)]), None);
}

#[test]
fn a_smaller_text_keeps_95_per_cent_of_the_cost() {
    let smaller = |pair, x| {
        let study = with_student(LISTS, lists(pair, x), |student| student.study(b"a,b,c,d;xxxx"));
        study.smaller.map(|(text, cost)| (number_of(&text, b','), number_of(&text, b'x'), text.len(), cost))
    };
    // Of 990, 95 % are 940.5; each `x` costs 20.
    assert_eq!(smaller(100, 20), Some((3, 2, 10, 950)));
    assert_eq!(smaller(100, 1), Some((3, 0, 8, 910)));
    assert_eq!(smaller(1, 20), None);
}

#[test]
fn the_tree_has_a_line_for_each_instance_of_a_rule() {
    let study = with_student(LISTS, lists(1, 1), |student| student.glance(b"a,b;x"));
    assert_eq!(study.tree, "s  a,b;x\n  list  a,b\n    item  a\n    item  b\n  tail  x\n");
}

#[test]
fn a_family_has_the_laws_of_its_edges() {
    let study = with_student(LISTS, lists(1, 3), |student| student.study(b"a,b,c,d;xxxx"));
    let grown = &study.families[0];
    assert_eq!(grown.what, "rounds of a repetition in `list`");
    let fastest = grown.fastest.as_ref().map(EdgeLaw::to_string).unwrap_or_default();
    assert!(fastest.starts_with("f.c:1, n^2.0 (95 %: "), "{fastest}");
    let laws = grown.hottest.iter().map(|edge| (edge.spot.as_ref().map(|spot| spot.line), edge.law()));
    let laws: Vec<_> = laws.map(|(line, law)| (line, law.split(' ').next().unwrap_or_default().to_string())).collect();
    assert_eq!(laws, [(1, "n^2.0"), (2, "constant"), (3, "constant")].map(|(line, law)| (Some(line), law.to_string())));
}

#[test]
fn texts_with_another_hottest_edge_are_studied_as_well() {
    let count = |text: &[u8]| {
        let [a, b, c, d, e] = [b'a', b'b', b'c', b'd', b'e'].map(|byte| number_of(text, byte));
        vec![(1, 9 * a * a), (2, 2 * b * b), (3, c), (4, d * d), (5, e * e), (6, 20)]
    };
    let text = |byte: u8, times| [byte].repeat(times);
    let texts =
        [text(b'a', 20), text(b'a', 19), text(b'b', 20), text(b'b', 19), text(b'c', 24), text(b'd', 9), text(b'e', 8)];
    let studied = |time| {
        with_student("s ::= 'a'* | 'b'* | 'c'* | 'd'* | 'e'*", count, |student| {
            let mut studies = vec![student.study(&texts[0])?];
            student.study_others(&texts, &mut studies, Instant::now() + time)?;
            Ok(studies)
        })
    };
    let studies = studied(Duration::from_secs(60));
    let found: Vec<_> = studies.iter().map(|study| (study.text.clone(), study.cost)).collect();
    assert_eq!(found, [(texts[0].clone(), 3620), (texts[2].clone(), 820), (texts[5].clone(), 101)]);
    for (study, line) in studies.iter().zip([1, 2, 4]) {
        let fastest = study.families.first().and_then(|grown| grown.fastest.as_ref()).map(EdgeLaw::to_string);
        assert!(fastest.is_some_and(|edge| edge.starts_with(&format!("f.c:{line}, n^2.0"))), "{study:?}");
    }
    // Smaller texts behave in the same way, although `a` costs more.
    let smaller = studies.iter().map(|study| study.smaller.clone().map(|(text, _)| text));
    assert_eq!(smaller.collect::<Vec<_>>(), [None, None, None]);
    assert_eq!(studied(Duration::ZERO).len(), 1);
}

#[test]
fn another_behaviour_executes_an_edge_far_more_often() {
    let known = |edges: &[Edge]| [Study { edges: edges.to_vec(), ..Study::default() }];
    assert!(is_other(b"xx", &[(1, 9), (2, 10)], &known(&[(1, 90), (2, 5)])));
    assert!(!is_other(b"xx", &[(1, 9), (2, 10)], &known(&[(1, 90), (2, 6)])));
    assert!(!is_other(b"0123456789", &[(2, 10)], &known(&[])));
    assert!(!is_other(b"", &[], &known(&[])));
}
