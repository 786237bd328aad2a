//! Tests of the solver against closed forms, of files of weights, and of the effect of shapes on grammars.

use super::growth::Growth;
use super::model::Model;
use super::*;
use crate::check::check;
use crate::diagnostics::Diagnostics;
use crate::formats::{self, Format};

/// Calls `f` with the checked grammar.
fn with_grammar<T>(text: &str, f: impl FnOnce(&Checked<'_>) -> T) -> T {
    let file = SourceFile::new("g.ebnf", text);
    let mut diagnostics = Diagnostics::default();
    let format: &dyn Format = formats::by_name("ebnf").expect("the format exists");
    let grammar = format.parse(&file, &mut diagnostics);
    let checked = check(&grammar, None, &mut diagnostics);
    f(&checked.unwrap_or_else(|| panic!("{}", diagnostics.to_plain_text(&file))))
}

fn own_facts(text: &str) -> Facts {
    with_grammar(text, |checked| facts(checked, &Weights::default(), None))
}

/// Returns the facts of a grammar in a shape, without a depth limit.
fn facts_in(shape: Shape, text: &str) -> Facts {
    with_grammar(text, |checked| facts(checked, &solve(checked, shape, None).weights, None))
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} is not {expected}");
}

/// E = (1 - p) + 2 p E, and the radius is 2 p.
#[test]
fn binary_trees() {
    for (weight, share) in [(1.0, 0.25), (2.0, 0.4), (2.9, 2.9 / 5.9)] {
        let facts = own_facts(&format!("t ::= 'a' @ 3 | t t @ {weight}"));
        let share = if weight == 2.9 { share } else { weight / (weight + 3.0) };
        assert_near(facts.radius, 2.0 * share, 1e-12);
        assert_near(facts.length.expect("subcritical"), (1.0 - share) / (1.0 - 2.0 * share), 1e-9);
    }
    let critical = own_facts("t ::= 'a' | t t");
    assert_eq!((critical.radius, critical.length), (1.0, None));
    let supercritical = own_facts("s ::= 'x' t\nt ::= 'a' | t t @ 3");
    assert_near(supercritical.radius, 1.5, 1e-12);
    assert_eq!((supercritical.length, supercritical.critical), (None, vec![1]));
}

/// The eigenvalue of a cycle of two rules is the square root of the product of the means.
#[test]
fn a_cycle_of_two_rules() {
    let facts = own_facts("a ::= b b | 'x'\nb ::= a | 'y' @ 3");
    assert_near(facts.radius, 0.25f64.sqrt(), 1e-9);
    // A = B + 1/2, B = A / 4 + 3/4.
    assert_near(facts.length.expect("subcritical"), 5.0 / 3.0, 1e-9);
}

/// The mean number of rounds beyond the minimum is 1, or 1 - 2^-n if there are at most n.
#[test]
fn repetitions() {
    assert_near(own_facts("a ::= 'x'*").length.unwrap(), 1.0, 1e-12);
    assert_near(own_facts("a ::= 'xy'{3,}").length.unwrap(), 8.0, 1e-12);
    assert_near(own_facts("a ::= 'x'?").length.unwrap(), 0.5, 1e-12);
    assert_near(own_facts("a ::= 'x'{2,5}").length.unwrap(), 2.875, 1e-12);
    assert_near(own_facts("a ::= [a\u{E9}]").length.unwrap(), 1.5, 1e-12);
    let critical = own_facts("a ::= '(' a* ')'");
    assert_eq!((critical.radius, critical.length), (1.0, None));
}

/// Lengths under a depth limit, by hand: l(d) = 1/2 + l(d - 1), and 1 beyond.
#[test]
fn lengths_within_a_depth() {
    with_grammar("t ::= 'a' | t t", |checked| {
        for depth in [0, 1, 7, 1000] {
            let limit = DepthLimit { depth, pools: vec![1.0] };
            let facts = facts(checked, &Weights::default(), Some(&limit));
            assert_near(facts.limited_length.unwrap(), 1.0 + f64::from(depth + 1) / 2.0, 1e-12);
        }
    });
}

/// T = x (1 + T^2) / 2, so T = (1 - sqrt(1 - x^2)) / x.
#[test]
fn values_of_generating_functions() {
    with_grammar("t ::= 'a' | t t", |checked| {
        let model = Model::new(checked, true, &Weights::default());
        for x in [0.1, 0.5, 0.9, 0.999] {
            let values = boltzmann::values(&model, &model.priors(), x).expect("below the radius of convergence");
            assert_near(values[0], (1.0 - (1.0 - x * x).sqrt()) / x, 1e-10);
            // The model chooses t t in x^2-th of its mean matrix.
            let laws = boltzmann::laws(&model, &model.priors(), x).expect("as above");
            assert_near(laws[0][1], x * values[0] / 2.0, 1e-9);
            assert!(Growth::new(&model, &laws).radius() < 1.0);
        }
        assert!(boltzmann::values(&model, &model.priors(), 1.1).is_none());
    });
    // At x = 1 the value is the probability that a derivation ends: 1/3 if three of four instances branch.
    with_grammar("t ::= 'a' | t t @ 3", |checked| {
        let model = Model::new(checked, true, &Weights::default());
        let values = boltzmann::values(&model, &model.priors(), 1.0).expect("a probability");
        assert_near(values[0], 1.0 / 3.0, 1e-9);
        // Under the condition that derivations end, the probabilities of branches and ends are swapped.
        let laws = boltzmann::laws(&model, &model.priors(), 1.0).expect("as above");
        assert_near(laws[0][0], 0.75, 1e-9);
    });
    // T = x (1/2) / (1 - T/2): the repetition's own series.
    with_grammar("t ::= '(' t* ')'", |checked| {
        let model = Model::new(checked, true, &Weights::default());
        let values = boltzmann::values(&model, &model.priors(), 0.8).expect("below the radius of convergence");
        assert_near(values[0], 1.0 - (1.0f64 - 0.8).sqrt(), 1e-9);
    });
}

/// (1 - p) / (1 - 2 p) bytes: the size determines the probability.
#[test]
fn target_sizes_of_binary_trees() {
    for bytes in [2u64, 10, 1000, 100_000] {
        let facts = facts_in(Shape::TargetSize(bytes), "t ::= 'a' | t t");
        assert_near(facts.length.expect("finite"), bytes as f64, 0.02);
    }
}

/// Grammars without recursion: repetitions, alternatives and unreachable sizes.
#[test]
fn target_sizes_without_recursion() {
    let table = "table ::= row+\nrow ::= field (',' field)* #xA\nfield ::= [a-z]*";
    for bytes in [5u64, 50, 5000, 1_000_000] {
        assert_near(facts_in(Shape::TargetSize(bytes), table).length.expect("finite"), bytes as f64, 0.02);
    }
    assert_near(facts_in(Shape::TargetSize(5), "a ::= 'x' | 'yyyyyyyy'").length.unwrap(), 5.0, 0.02);
    with_grammar("a ::= 'x' | 'yyyyyyyy'", |checked| {
        let (least, greatest) = solve(checked, Shape::TargetSize(500), None).reachable.expect("too long");
        assert_near(least, 1.0, 0.7);
        assert_near(greatest, 8.0, 0.01);
    });
    with_grammar("a ::= 'xy' 'z'", |checked| {
        assert_eq!(solve(checked, Shape::TargetSize(1), None).reachable, Some((3.0, 3.0)));
    });
}

/// If every alternative recurses, only the size of the whole derivation shows which one is shorter.
#[test]
fn recursion_in_every_alternative() {
    let grammar = "a ::= a a | b b b\nb ::= a | 'x'";
    assert_eq!(own_facts(grammar).length, None);
    let balanced = facts_in(Shape::Balanced, grammar);
    assert!(balanced.radius < 0.99 && balanced.length.is_some(), "{balanced:?}");
    assert_near(facts_in(Shape::TargetSize(40), grammar).length.unwrap(), 40.0, 0.02);
}

#[test]
fn balanced_grammars_end_and_reach_everything() {
    for text in [
        "e ::= e '+' e | e '*' e | '(' e ')' | [0-9]",
        "a ::= '(' a* ')'",
        "a ::= '(' a a a+ ')' | b+\nb ::= a | 'x' | 'y'",
        "s ::= 'x' | t\nt ::= t t @ 9 | 'a' | 'b' @ 0.01",
    ] {
        let facts = facts_in(Shape::Balanced, text);
        assert!(facts.length.is_some_and(|length| length < 10_000.0), "{text}: {facts:?}");
        assert!(facts.radius > 0.3 && facts.radius < 0.99, "{text}: {facts:?}");
    }
}

#[test]
fn deep_grammars_recurse_long_without_branching() {
    let text = "e ::= e e e | '(' e ')' | 'x'";
    let deep = facts_in(Shape::Deep, text);
    assert!(deep.radius > 0.98 && deep.radius < 1.0 && deep.length.is_some(), "{deep:?}");
    with_grammar(text, |checked| {
        let weights = solve(checked, Shape::Deep, None).weights;
        let Some(Law::Choice(weights)) = weights.get(0, 0) else { panic!("the choice has weights") };
        assert!(weights[1] > 10 * weights[0] && weights[1] > 10 * weights[2], "{weights:?}");
    });
}

#[test]
fn priors_are_kept_or_dropped() {
    let text = "a ::= 'x' @ 3 | 'y' | 'z' @ 0";
    with_grammar(text, |checked| {
        assert_eq!(solve(checked, Shape::Uniform, None).weights.get(0, 0), Some(&Law::Choice(vec![1, 1, 0])));
        assert_eq!(solve(checked, Shape::Balanced, None).weights.get(0, 0), Some(&Law::Choice(vec![192, 64, 0])));
    });
}

#[test]
fn alternatives_that_lead_to_much_are_preferred() {
    let rules: String = (0..99).map(|rule| format!("b{rule} ::= 'b' b{}\n", rule + 1)).collect();
    with_grammar(&format!("a ::= 'x' | b0\n{rules}b99 ::= 'c' | 'd'"), |checked| {
        let weights = solve(checked, Shape::Balanced, None).weights;
        let Some(Law::Choice(weights)) = weights.get(0, 0) else { panic!("the choice has weights") };
        assert_near(f64::from(weights[1]) / f64::from(weights[0]), 101.0f64.sqrt(), 0.1);
    });
}

#[test]
fn files_are_read_back() {
    let text = "a ::= 'x' | ('y' | a)? b*\nb ::= 'z' @ 0 | 'w' | 'v'";
    with_grammar(text, |checked| {
        let mut weights = Weights::default();
        weights.set(0, 0, Law::Choice(vec![200, 56]));
        weights.set(0, 1, Law::Rounds { starts: vec![0, 1], steps: vec![1, 1], weights: vec![3, 5] });
        weights.set(0, 3, Law::Rounds { starts: vec![0, 2, 8], steps: vec![2, 1, 64], weights: vec![3, 5, 7] });
        weights.set(1, 0, Law::Choice(vec![0, 2, 1]));
        let file = write(checked.grammar, "g.ebnf", Some("deep"), &weights, Demands::default());
        expect_test::expect![[r#"
            {
              "gramjet_weights": 1,
              "grammar": "g.ebnf",
              "shape": "deep",
              "fingerprint": "FINGERPRINT",
              "weights": [
                {"rule":"a","place":0,"alternatives":[200,56]},
                {"rule":"a","place":1,"rounds":[[0,3],[1,5]]},
                {"rule":"a","place":3,"rounds":[[0,3],[2,5],[8,7]],"steps":[2,1,64]},
                {"rule":"b","place":0,"alternatives":[0,2,1]}
              ]
            }
        "#]]
        .assert_eq(&file.replace(&file::fingerprint(checked.grammar), "FINGERPRINT"));
        assert_eq!(read(checked.grammar, &file), Ok((weights, Some("deep".to_string()))));
        let wrong = |from: &str, to: &str| {
            assert!(file.contains(from));
            read(checked.grammar, &file.replace(from, to)).expect_err(to).to_string()
        };
        assert!(wrong("\"a\"", "\"q\"").contains("rule `q`: there is no such rule"));
        assert!(wrong("\"place\":3", "\"place\":9").contains("there is no such place"));
        assert!(wrong("[200,56]", "[200]").contains("1 weights for 2 alternatives"));
        assert!(wrong("[200,56]", "[0,0]").contains("all weights are 0"));
        assert!(wrong("[0,2,1]", "[1,2,1]").contains("switches it off"));
        assert!(wrong("[8,7]", "[1,7]").contains("ascend"));
        assert!(wrong("[2,1,64]", "[2,1]").contains("a step for each range"));
        assert!(wrong("[2,1,64]", "[4,1,64]").contains("a step for each range"));
        assert!(wrong("[2,1,64]", "[2,1,3]").contains("a power of two"));
        assert!(wrong("[[0,3],[1,5]]", "[[0,3],[2,5]]").contains("ascend"));
        assert!(wrong("\"alternatives\":[200,56]", "\"rounds\":[[0,1],[1,1]]").contains("needs `alternatives` alone"));
        assert!(wrong("\"gramjet_weights\": 1", "\"gramjet_weights\": 2").contains("version is 2"));
        assert!(read(checked.grammar, "{").expect_err("no file").to_string().contains("no file of weights"));
    });
    with_grammar("a ::= 'x' | ('y' | a)? b*\nb ::= 'z' @ 0 | 'w' | 'u'", |changed| {
        let old =
            with_grammar(text, |checked| write(checked.grammar, "g", None, &Weights::default(), Demands::default()));
        assert!(matches!(read(changed.grammar, &old), Err(FileError::Stale { .. })));
    });
    let fingerprint = |text: &str| with_grammar(text, |checked| file::fingerprint(checked.grammar));
    assert_eq!(fingerprint("a ::= 'x' @ 2 | 'y' /* why */"), fingerprint("a::='x'|'y'@7"));
    assert_ne!(fingerprint("a ::= 'x' @ 2 | 'y'"), fingerprint("a ::= 'x' @ 0 | 'y'"));
}

/// Ranges of rounds derive each number once, with the probabilities of the law.
#[test]
fn ranges_of_rounds_are_lowered_as_the_law_says() {
    for (text, room) in [("s ::= 'x'{2,}", None), ("s ::= 'x'{2,33}", Some(31))] {
        with_grammar(text, |checked| {
            let mut weights = Weights::default();
            let (starts, steps) = (vec![0, 1, 8, 16], vec![1, 1, 8, 4]);
            let law = Law::Rounds { starts: starts.clone(), steps: steps.clone(), weights: vec![64; 4] };
            weights.set(0, 0, law);
            let (ir, _) = crate::lower::lower_weighted(checked, &weights, &mut Diagnostics::default()).expect("an IR");
            assert_eq!(crate::ir::verify(&ir), Ok(()));
            let (mut seed, mut counts) = (1u64, [0u32; 34]);
            const INPUTS: u32 = 60_000;
            for _ in 0..INPUTS {
                let mut next = || {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    Some((seed >> 56) as u8)
                };
                let (mut output, limits) = (Vec::new(), crate::limits::Limits::default());
                crate::reference::run(&ir, &Pools::default(), limits, &mut next, &mut output, None);
                counts[output.len().min(33)] += 1;
            }
            let all: Vec<Range> = ranges(&starts, &steps, room).collect();
            let mut below = 0;
            for (len, &count) in counts.iter().enumerate().take(33) {
                below += count;
                let at_most = |range: &Range| len.checked_sub(2).map_or(0.0, |rounds| range.at_most(rounds as u32));
                let expected = all.iter().map(at_most).sum::<f64>() / 4.0;
                let found = f64::from(below) / f64::from(INPUTS);
                assert!((found - expected).abs() < 0.01, "{text}: at most {len}: {found} {expected}");
            }
            let mean = ranges(&starts, &steps, room).map(|range| range.mean()).sum::<f64>() / 4.0;
            let length = facts(checked, &weights, None).length.expect("it is finite");
            assert_near(length, mean + 2.0, 1e-9);
        });
    }
}

/// What stands twice in a file of weights is reported with its line, as is everything that an entry has wrong.
#[test]
fn entries_that_stand_twice_are_refused() {
    with_grammar("a ::= [xy] | 'z'", |checked| {
        let mut weights = Weights::default();
        weights.set(0, 0, Law::Choice(vec![200, 56]));
        let group = |weight, member: char| Group { weight, ranges: vec![(member as u32, member as u32)] };
        weights.set_class(0, 0, vec![group(3, 'x'), group(1, 'y')]);
        let file = write(checked.grammar, "g", None, &weights, Demands::default());
        assert_eq!(read(checked.grammar, &file), Ok((weights, None)));
        for (entry, expected) in [
            ("\"class\":0", "line 8: rule `a`, class 0: this class has weights already"),
            ("\"place\":0", "line 7: rule `a`, place 0: this place has weights already"),
        ] {
            let line = file.lines().find(|line| line.contains(entry)).expect("the entry").trim_end_matches(',');
            let twice = file.replace(line, &format!("{line},\n{line}"));
            let said = read(checked.grammar, &twice).expect_err("it stands twice").to_string();
            assert_eq!(said, expected, "{twice}");
        }
    });
}

#[test]
fn shapes_have_names() {
    for shape in [Shape::Uniform, Shape::Balanced, Shape::Deep, Shape::TargetSize(70)] {
        assert_eq!(shape.to_string().parse(), Ok(shape));
    }
    assert!("target-size".parse::<Shape>().is_err() && "target-size=0".parse::<Shape>().is_err());
    assert!("round".parse::<Shape>().unwrap_err().contains("target-size=BYTES"));
}

/// Returns blocks within one another as rules of their own, as those of Python's grammar are: without recursion,
/// nothing but the number of statements keeps them short.
fn leveled() -> String {
    let mut text = "file ::= (#xA | s0)*\n".to_string();
    for level in 0..7 {
        let next = level + 1;
        let heads = format!(
            "'if ' e ':' b{next} ('else:' b{next})? | 'while ' e ':' b{next} | 'def f(' e (',' e)* '):' b{next}"
        );
        text += &format!("s{level} ::= simple | {heads}\nb{next} ::= simple | #xA s{next}+\n");
    }
    text + "s7 ::= simple\nsimple ::= e (';' e)* #xA\ne ::= d ('if' d 'else' e)? | 'lambda:' e\nd ::= c ('or' c)*\n\
            c ::= t ('+' t)*\nt ::= p ('*' p)*\np ::= a r* ('^' p)?\nr ::= '(' (e (',' e)*)? ')' | '[' e ']' | '.x'\n\
            a ::= 'x' | '(' e ')' | '[' (e (',' e)*)? ']' | '{' (e ':' e (',' e ':' e)*)? '}'\n"
}

#[test]
fn target_sizes_where_most_inputs_would_be_the_shortest_one() {
    let file = SourceFile::new("g.ebnf", leveled());
    for weighting in [Weighting::ByDefault, Weighting::Shape(Shape::TargetSize(1000))] {
        let options = crate::Options { weighting: weighting.clone(), ..crate::Options::default() };
        let (examined, _) = crate::examine(&file, &options).expect("the grammar compiles");
        let length = examined.growth.limited_length.expect("there is a limit");
        assert_near(length, 1000.0, 0.05);
        let limit = examined.compiled.max_depth.unwrap_or(32);
        let shortest = shortest::share(&examined.compiled.lowered, &examined.compiled.pools, Some(limit));
        assert!(shortest <= Sizes::SHORTEST, "{weighting:?}: {shortest}");
    }
}
