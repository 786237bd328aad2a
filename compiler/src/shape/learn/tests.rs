//! Counts of derivations, and the weights that they become.

use super::*;
use crate::analysis::pools::Pools;
use crate::ir::RuleId;
use crate::limits::Limits;
use crate::machine::{Machine, Nothing};
use crate::pipeline::learned;
use crate::shape::{Weighting, read};
use crate::{Options, SourceFile, compile};

fn options() -> Options {
    Options { weighting: Weighting::Own, ..Options::default() }
}

/// Counts what choice bytes derive, which writes nothing, and returns the text that they derive.
fn count(ir: &Ir, choices: &[u8], counts: &mut Counts) -> Vec<u8> {
    let written = run(ir, choices, counts);
    assert!(written.is_empty(), "{written:?}");
    run(ir, choices, Nothing)
}

/// Returns what the machine writes with this recorder.
fn run(ir: &Ir, choices: &[u8], recorder: impl Recorder) -> Vec<u8> {
    let (mut bytes, mut output) = (choices.iter().copied(), Vec::new());
    let pools = Pools::default();
    let machine = Machine::new(ir, &pools, Limits::default(), u64::MAX, || bytes.next(), &mut output, recorder);
    machine.derive(Part::Rule(ir.start()), 0, &mut Vec::new());
    output
}

#[test]
fn bins_begin_with_their_numbers() {
    for rounds in (0..5000).chain([u32::MAX, 1 << 31, (1 << 20) + 12345]) {
        let least = rounds_of(bin(rounds) as u32);
        assert!(least <= rounds && rounds - least <= rounds / 64, "{rounds} {least}");
        assert_eq!(bin(least), bin(rounds));
    }
    assert!((0..2000).all(|bin| rounds_of(bin) < rounds_of(bin + 1)));
}

#[test]
fn alternatives_rounds_and_members_are_counted() {
    let file = SourceFile::new("g.ebnf", "s ::= ('a' | 'b' | 'c'){2} [x-z]*");
    let (compiled, _) = compile(&file, &options()).expect("a grammar");
    let mut counts = Counts::new(&compiled.lowered);
    // Sites with three options read one byte; those of rounds, too.
    let texts = [&[0, 100, 255, 0, 200, 90, 0][..], &[0, 0, 0], &[200, 0, 255, 0, 255, 0, 255, 0, 0]];
    let mut outputs = texts.iter().map(|choices| count(&compiled.lowered, choices, &mut counts));
    assert_eq!(outputs.next().expect("a text"), b"abxy");
    assert_eq!(outputs.next().expect("a text"), b"aa");
    assert_eq!(outputs.next().expect("a text"), b"caxxx");
    drop(outputs);
    let text = learned(&file, &options(), &counts, &How::COMMON).expect("weights").weights;
    let (checked, mut diagnostics) = (crate::formats::detect(&file), crate::Diagnostics::default());
    let grammar = checked.parse(&file, &mut diagnostics);
    let (weights, _) = read(&grammar, &text).expect("a file of weights");
    let Some(Law::Choice(of_choice)) = weights.get(0, 1) else { panic!("{text}") };
    let sixth = 65536.0 / 6.0;
    let near = |weight: u32, sixths: f64| (f64::from(weight) - sixths * sixth).abs() <= 1.0;
    assert!(near(of_choice[0], 4.0) && near(of_choice[1], 1.0) && near(of_choice[2], 1.0), "{text}");
    let Some(Law::Rounds { starts, weights: of_rounds, .. }) = weights.get(0, 2) else { panic!("{text}") };
    assert_eq!(starts, &[0, 1, 2, 3, 4]);
    assert!([2.0, 0.0, 2.0, 2.0, 0.0].iter().zip(of_rounds).all(|(&sixths, &weight)| near(weight, sixths)), "{text}");
    let of_class = weights.class(0, 0).expect("the class has weights");
    let members: Vec<(u32, bool)> = of_class.iter().map(|group| (group.ranges[0].0, group.weight > 0)).collect();
    assert_eq!(members, [(u32::from(b'x'), true), (u32::from(b'y'), true), (u32::from(b'z'), false)]);
}

#[test]
fn probabilities_are_inverted() {
    let how = |inversion, smoothing| How { smoothing, inversion };
    let power = |similarity, damping| Inversion::Power { similarity, damping };
    let rounded = |how: How, counts: &[u64]| -> Vec<i64> {
        let shares = how.shares(counts, |_| true).expect("something was taken");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        shares.iter().map(|share| (share * 1000.0).round() as i64).collect()
    };
    assert_eq!(rounded(How::COMMON, &[6, 3, 1, 0]), [600, 300, 100, 0]);
    assert_eq!(rounded(how(power(0.0, 0.0), 0.0), &[6, 3, 1]), [333, 333, 333]);
    // 1/6 : 1/3 : 1/1.
    assert_eq!(rounded(how(power(-1.0, 0.0), 0.0), &[6, 3, 1]), [111, 222, 667]);
    // Shares of 0.778, 0.222 and 0, each with a damping of 0.1: 1.139 : 3.103 : 10.
    assert_eq!(rounded(how(power(-1.0, 0.1), 0.0), &[7, 2, 0]), [80, 218, 702]);
    assert_eq!(rounded(how(Inversion::Ranks, 0.0), &[6, 3, 1]), [100, 300, 600]);
    // One more each: 7, 4, 2, 1 of 14.
    assert_eq!(rounded(how(power(1.0, 0.0), 1.0), &[6, 3, 1, 0]), [500, 286, 143, 71]);
    assert_eq!(How::COMMON.shares(&[0, 0], |_| true), None);
}

/// Weights become coarser until they fit.
#[test]
fn weights_are_as_fine_as_the_grammar_has_room_for() {
    let file = SourceFile::new("g.ebnf", "s ::= (t* ',')*\nt ::= [a-z]+");
    let (compiled, _) = compile(&file, &options()).expect("a grammar");
    let mut counts = Counts::new(&compiled.lowered);
    for rounds in 0..200u8 {
        let choices: Vec<u8> = (0..400u32).map(|at| (at as u8).wrapping_mul(rounds | 1).wrapping_add(rounds)).collect();
        count(&compiled.lowered, &choices, &mut counts);
    }
    let detail = |fits: &dyn Fn(&Weights) -> bool| {
        let found = weights(&compiled.lowered, &compiled.sources, &counts, &How::COMMON, fits);
        let ranges = found.iter().map(|(_, _, law)| match law {
            Law::Rounds { starts, .. } => starts.len(),
            Law::Choice(_) => 0,
        });
        (ranges.max().unwrap_or(0), found.class(1, 0).map_or(0, <[Group]>::len))
    };
    let fine = detail(&|_| true);
    let coarse = detail(&|weights| weights.iter().count() == 0);
    assert!(fine.0 > 4 && fine.1 > 18 && coarse.0 == 0 && coarse.1 <= 18, "{fine:?} {coarse:?}");
}

/// The lints look at what the weights of a file draw from, too.
#[test]
fn classes_that_are_drawn_from_are_examined() {
    let file = SourceFile::new("g.ebnf", "s ::= 'a' | t @ 0\nt ::= [^b]");
    let mut options = options();
    options.reading = crate::formats::FormatOptions::of_others();
    let (compiled, _) = compile(&file, &options).expect("a grammar");
    let huge = |text: &str| {
        let weighting = Weighting::File(SourceFile::new("w", text));
        let (_, said) = crate::examine(&file, &Options { weighting, ..Options::default() }).expect("it has weights");
        said.iter().any(|one| one.code == crate::diagnostics::Code::HugeClass)
    };
    let learned = |choices: &[u8]| {
        let mut counts = Counts::new(&compiled.lowered);
        count(&compiled.lowered, choices, &mut counts);
        learned(&file, &options, &counts, &How::COMMON).expect("weights").weights
    };
    assert!(huge(&learned(&[255, 255, 99, 9, 0])) && !huge(&learned(&[0; 8])));
}

/// Large numbers of rounds share a bin, whose middle the repetition may have no room for.
#[test]
fn bins_at_the_end_of_the_room_count() {
    for (most, numbers) in [(1030, &[1030][..]), (1090, &[0, 1090])] {
        let file = SourceFile::new("g.ebnf", format!("s ::= 'x'{{0,{most}}}"));
        let (compiled, _) = compile(&file, &options()).expect("a grammar");
        let mut counts = Counts::new(&compiled.lowered);
        let (node, _) = compiled.sources.repetitions().next().expect("a repetition");
        counts.rounds[node.index()] = vec![0; bin(most) + 1];
        numbers.iter().for_each(|&number| counts.rounds[node.index()][bin(number)] += 5);
        let found = weights(&compiled.lowered, &compiled.sources, &counts, &How::COMMON, &|_| true);
        let Some(Law::Rounds { starts, weights, .. }) = found.get(0, 0) else { panic!("nothing is learned: {most}") };
        assert_eq!(starts.last(), Some(&most));
        assert_eq!(weights.last().map(|&last| last as usize), Some((1 << 16) / numbers.len()), "{starts:?}");
    }
}

/// Whoever learns is told that finer weights would make too many copies.
#[test]
fn coarse_weights_are_reported() {
    let are_coarse = |levels: usize| {
        let text = format!("s ::= {}'x'{}", "(".repeat(levels), ")* ','".repeat(levels));
        let file = SourceFile::new("g.ebnf", text.as_str());
        let (compiled, _) = compile(&file, &options()).expect("a grammar");
        let mut counts = Counts::new(&compiled.lowered);
        compiled.sources.repetitions().for_each(|(node, _)| counts.rounds[node.index()] = vec![5, 5, 5]);
        learned(&file, &options(), &counts, &How::COMMON).expect("weights").are_coarse
    };
    assert!(are_coarse(12) && !are_coarse(3));
}

/// A large grammar has the same room for copies as a small one.
#[test]
fn expressions_that_are_not_copied_do_not_count() {
    let file = SourceFile::new("g.ebnf", "s ::= 'x'* 'a'");
    let (mut diagnostics, format) = (crate::Diagnostics::default(), crate::formats::detect(&file));
    let mut grammar = format.parse(&file, &mut diagnostics);
    let items = grammar.rules[0].body.as_seq_mut().expect("a sequence");
    items.resize((1 << 20) + 1, items[1].clone());
    let checked = crate::check::check(&grammar, None, &mut diagnostics).expect("a grammar");
    let mut weights = Weights::default();
    weights.set(0, 0, Law::Rounds { starts: vec![0, 1], steps: vec![1, 1], weights: vec![1, 3] });
    assert!(!crate::lower::are_too_many(&checked, &weights));
}

/// Groups of members count for each copy that ranges of rounds make of their class.
#[test]
fn copies_of_groups_are_bounded() {
    let file = SourceFile::new("g.ebnf", "s ::= ((([\\u{0}-\\u{ff}] 'x')* ',')* ';')*");
    let (compiled, _) = compile(&file, &options()).expect("a grammar");
    let with = |nested: usize| {
        let mut weights = Weights::default();
        for place in 0..3 {
            let starts: Vec<u32> = (0..if place < nested as u32 { 16 } else { 2 }).collect();
            let ones = vec![1; starts.len()];
            weights.set(0, place, Law::Rounds { steps: ones.clone(), weights: ones, starts });
        }
        let groups = (0..256).map(|member| Group { weight: 1, ranges: vec![(member, member)] }).collect();
        weights.set_class(0, 0, groups);
        let (mut diagnostics, format) = (crate::Diagnostics::default(), crate::formats::detect(&file));
        let grammar = format.parse(&file, &mut diagnostics);
        let checked = crate::check::check(&grammar, None, &mut diagnostics).expect("a grammar");
        crate::lower::are_too_many(&checked, &weights)
    };
    assert!(compiled.min_len() == 0 && with(3) && !with(1));
}

/// Each reference to `n` learns for itself.
#[test]
fn contexts_are_learned_apart() {
    let file = SourceFile::new("g.ebnf", "s ::= n '+' n\nn ::= '1' | '2'");
    let options = Options { contexts: true, ..options() };
    let (compiled, _) = compile(&file, &options).expect("a grammar");
    assert_eq!(compiled.lowered.rules().len(), 3);
    let mut counts = Counts::new(&compiled.lowered);
    for _ in 0..3 {
        assert_eq!(count(&compiled.lowered, &[0, 255], &mut counts), b"1+2");
    }
    let text = learned(&file, &options, &counts, &How::COMMON).expect("weights").weights;
    let weighting = Weighting::File(SourceFile::new("w", text.as_str()));
    let (compiled, _) = compile(&file, &Options { weighting, ..Options::default() }).expect("it has weights");
    for choices in [[0; 8], [90; 8], [200; 8], [254; 8]] {
        let mut counts = Counts::new(&compiled.lowered);
        let output = count(&compiled.lowered, &choices, &mut counts);
        assert!(output == b"1+2" || choices[0] == 0, "{} {text}", output.escape_ascii());
    }
    assert_eq!(compiled.told(RuleId::new(1)), "n");
}

/// Texts have what the grammar switches off, and so do inputs with weights that are learned from them.
#[test]
fn alternatives_of_weight_0_are_learned() {
    let file = SourceFile::new("g.ebnf", "s ::= 'a' | 'b' @ 0");
    let mut options = options();
    options.reading = crate::formats::FormatOptions::of_others();
    let (compiled, _) = compile(&file, &options).expect("a grammar");
    let mut counts = Counts::new(&compiled.lowered);
    assert_eq!(count(&compiled.lowered, &[255, 255], &mut counts), b"b");
    let text = learned(&file, &options, &counts, &How::COMMON).expect("weights").weights;
    let weighting = Weighting::File(SourceFile::new("w", text.as_str()));
    let (compiled, _) = compile(&file, &Options { weighting, ..Options::default() }).expect("it has weights");
    let mut counts = Counts::new(&compiled.lowered);
    assert_eq!(count(&compiled.lowered, &[200, 100], &mut counts), b"b", "{text}");
    let weighting = Weighting::File(SourceFile::new("w", text.as_str()));
    let (examined, _) = crate::examine(&file, &Options { weighting, ..Options::default() }).expect("it has weights");
    assert!((examined.growth.length.expect("it is bounded") - 1.0).abs() < 1e-6, "{:?}", examined.growth);
    let (dumped, _) = crate::dump(&file, &options, "ast");
    assert_eq!(dumped.expect("a stage"), "s ::= \"a\" | \"b\" @ 0\n");
}
