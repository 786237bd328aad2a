//! The tracing engine against the reference (E1), and its traces against the reference's.

use gramjet::choices::{SpanKind, Trace, Tracer as _};
use gramjet::{Limits, Producer};
use gramjet_compiler::reference;
use gramjet_compiler::{Compiled, ast};
use gramjet_engine::Tracer;
use gramjet_testkit::suite::run_suite;
use gramjet_testkit::{Draw, Rng, Shape, random_grammar};

fn traced(tracer: &mut Tracer, limits: reference::Limits, choices: &[u8]) -> (Vec<u8>, u64, Trace) {
    let limits = Limits::new().max_depth(limits.max_depth).max_len(limits.max_len);
    tracer.set_limits(limits).expect("limits that can be kept");
    let mut output = b"before".to_vec();
    let mut trace = Trace::default();
    let read = tracer.trace(choices, &mut output, &mut trace);
    assert_eq!(output[..6], *b"before");
    (output.split_off(6), read, trace)
}

#[test]
fn the_tracer_runs_the_suite() {
    run_suite(&mut |case, limits, choices| {
        let mut tracer = Tracer::new(&case.compiled);
        let (output, read, _) = traced(&mut tracer, limits, choices);
        let mut produced = Vec::new();
        let read_again = tracer.produce(&mut gramjet::Choices::replay(choices), &mut produced);
        assert_eq!((&produced, read_again), (&output, read));
        (output, read)
    });
}

fn check_trace(compiled: &Compiled, limits: reference::Limits, choices: &[u8], about: &dyn Fn() -> String) -> usize {
    let mut expected = reference::Trace::default();
    let mut bytes = choices.iter().copied();
    let mut output = Vec::new();
    let (lowered, pools) = (&compiled.lowered, &compiled.pools);
    let read = reference::run(lowered, pools, limits, &mut || bytes.next(), &mut output, Some(&mut expected));
    let found = traced(&mut Tracer::new(compiled), limits, choices);
    assert_eq!((&found.0, found.1), (&output, read), "{}", about());
    let trace = found.2;
    // The reference does not count positions after the choice bytes.
    let at = |position: u32| u64::from(position).min(read);
    let instances = trace.spans.iter().filter(|span| matches!(span.kind, SpanKind::Rule | SpanKind::Pool));
    let instances: Vec<reference::Instance> = instances
        .map(|span| reference::Instance {
            rule: lowered.rule_ids().nth(span.symbol as usize % lowered.rules().len()).expect("a rule"),
            depth: span.depth,
            choices: at(span.choices.0)..at(span.choices.1),
            output: span.output.0.into()..span.output.1.into(),
            pooled: span.kind == SpanKind::Pool,
        })
        .collect();
    assert_eq!(instances, expected.instances, "{}", about());
    assert_eq!(trace.sites.len(), expected.sites.len());
    let mut position = 0;
    for (found, expected) in trace.sites.iter().zip(&expected.sites) {
        assert_eq!((found.option, found.offered, at(found.at)), (expected.option, expected.offered, expected.at));
        assert_eq!(found.at, position);
        position += u32::from(found.width);
    }
    assert_eq!(trace.read, position);
    // Spans nest.
    let mut open: Vec<usize> = Vec::new();
    for (number, span) in trace.spans.iter().enumerate() {
        while open.last().is_some_and(|&outer| trace.spans[outer].next as usize <= number) {
            open.pop();
        }
        if let Some(outer) = open.last().map(|&outer| &trace.spans[outer]) {
            assert!(outer.choices.0 <= span.choices.0 && span.choices.1 <= outer.choices.1);
            assert!(outer.output.0 <= span.output.0 && span.output.1 <= outer.output.1);
            assert!(span.next <= outer.next);
            if span.kind == SpanKind::Round {
                assert!(matches!(outer.kind, SpanKind::Repetition { .. }));
            }
        }
        open.push(number);
    }
    trace.spans.len()
}

#[test]
fn traces_are_those_of_the_reference() {
    let mut spans = 0;
    for seed in 0..150 {
        let mut rng = Rng::new(seed + 1_300_000);
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = gramjet_testkit::compiled(&grammar);
        for _ in 0..4 {
            let choices = rng.choice_string(200);
            let max_depth = Some(rng.below(6) as u32);
            let max_len = Some(compiled.min_len() + rng.below(60) as u64);
            for (max_depth, max_len) in [(None, None), (max_depth, None), (None, max_len), (max_depth, max_len)] {
                let limits = reference::Limits { max_depth, max_len };
                let about = || format!("{limits:?} {choices:?}\n{}", ast::dump(&grammar));
                spans += check_trace(&compiled, limits, &choices, &about);
            }
        }
    }
    assert!(spans > 10_000, "{spans}");
}

/// A text within a length limit has choice bytes with the limit and without, and each can be had from the other. Parts
/// are drawn within a length.
#[test]
fn choice_bytes_are_rewritten_for_a_length_limit() {
    let (mut others, mut drawn, mut full) = (0, 0, 0);
    for seed in 0..200 {
        let mut rng = Rng::new(seed + 1_400_000);
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = gramjet_testkit::compiled(&grammar);
        let max_len = compiled.min_len() + rng.below(80) as u64;
        let limits = reference::Limits { max_depth: None, max_len: Some(max_len) };
        let mut tracer = Tracer::new(&compiled);
        for _ in 0..4 {
            let choices = rng.choice_string(200);
            let about = || format!("{max_len} {choices:?}\n{}", ast::dump(&grammar));
            let (text, ..) = traced(&mut tracer, limits, &choices);
            let (mut without, mut within) = (b"w".to_vec(), b"w".to_vec());
            assert!(tracer.without_max_len(&choices, &mut without));
            assert!(tracer.within_max_len(&without[1..], &mut within), "{}", about());
            let (again, read, trace) = traced(&mut tracer, limits, &within[1..]);
            assert_eq!((&again, read as usize), (&text, within.len() - 1), "{}", about());
            assert_eq!(trace.read as usize, within.len() - 1, "{}", about());
            let no_limits = reference::Limits { max_depth: None, max_len: None };
            let (again, read, trace) = traced(&mut tracer, no_limits, &without[1..]);
            assert_eq!((&again, read as usize), (&text, without.len() - 1), "{}", about());
            let is_near = text.len() as u64 + tracer.ample_room() > max_len;
            assert!(is_near || without == within, "{}", about());
            others += usize::from(without != within);
            for span in trace.spans.iter().filter(|span| span.kind != SpanKind::Round) {
                let bytes = rng.choice_string(60);
                let most = span.output().len() as u64 + rng.below(3) as u64;
                let mut part = Vec::new();
                let mut source = Replayed(bytes.iter());
                let len = tracer.draw(span.symbol, span.depth, most, &mut source, 40, &mut part).expect("the old one");
                let range = span.choices();
                let mutant = [&without[1..][..range.start], &part, &without[1..][range.end..]].concat();
                let (mutated, read, trace) = traced(&mut tracer, no_limits, &mutant);
                assert_eq!((read as usize, trace.read as usize), (mutant.len(), mutant.len()), "{}", about());
                assert_eq!(mutated.len() as u64, text.len() as u64 - span.output().len() as u64 + len);
                assert!(len <= most, "{}", about());
                drawn += 1;
                full += usize::from(len == most);
            }
        }
    }
    assert!(others > 200 && drawn > 5000 && full > 1000, "{others} {drawn} {full}");
}

/// Choice bytes for [`gramjet::choices::Tracer::draw`].
struct Replayed<'b>(std::slice::Iter<'b, u8>);

impl gramjet::choices::ChoiceSource for Replayed<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let bytes = self.0.by_ref().take(buffer.len());
        bytes.zip(buffer).map(|(&byte, place)| *place = byte).count()
    }
}
