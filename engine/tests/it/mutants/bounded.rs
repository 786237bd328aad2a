//! Mutators and the minimiser under a length limit.

use super::*;

/// A grammar with a length limit, some of whose texts are near it: inputs with the limit, and the same inputs without.
struct Bounded {
    max_len: u64,
    /// With the limit.
    tracer: Tracer,
    inputs: Vec<TracedInput>,
    store: Store,
    /// Without: only mutators keep the length.
    free: Tracer,
    twins: Vec<TracedInput>,
    about: String,
}

impl Bounded {
    fn new(seed: u64) -> Bounded {
        let mut rng = Rng::new(seed + 1_600_000);
        let shape = if seed.is_multiple_of(2) { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut rng, &shape);
        let compiled = gramjet_testkit::compiled(&grammar);
        let max_len = compiled.min_len() + rng.below(200) as u64;
        let with = |limits: Limits| {
            let mut tracer = Tracer::new(&compiled);
            tracer.set_limits(limits).expect("no text needs to be longer");
            tracer
        };
        let (mut tracer, mut free) = (with(Limits::new().max_len(max_len)), with(Limits::new().max_output(max_len)));
        let inputs: Vec<TracedInput> = (0..4).map(|_| input(&mut tracer, &mut rng, 150)).collect();
        let twin = |input: &TracedInput| TracedInput::new(&mut free, input.without_max_len(), MOST);
        let twins: Vec<TracedInput> = inputs.iter().map(twin).collect();
        let mut store = Store::default();
        for (input, twin) in inputs.iter().zip(&twins) {
            assert_eq!(input.output(), twin.output());
            assert_eq!((input.trace(), input.without_max_len()), (twin.trace(), twin.choices()));
            store.add(input);
        }
        Bounded { max_len, tracer, inputs, store, free, twins, about: ast::dump(&grammar) }
    }

    /// Checks that all choice bytes of the mutant are read, that none is missing, and that its text is what the choice
    /// bytes of its twin make without a limit.
    fn check(&mut self, mutant: &[u8], twin: &[u8], what: &dyn std::fmt::Debug) {
        let (mut output, mut trace, mut meant) = (Vec::new(), Trace::default(), Vec::new());
        let read = self.tracer.trace(mutant, &mut output, &mut trace);
        let about = || format!("{what:?} {:?} within {} bytes\n{}", mutant, self.max_len, self.about);
        assert_eq!((read as usize, trace.read as usize), (mutant.len(), mutant.len()), "{}", about());
        assert_eq!(self.free.produce(&mut Choices::replay(twin), &mut meant) as usize, twin.len(), "{}", about());
        assert_eq!(output, meant, "{}", about());
        assert!(output.len() as u64 <= self.max_len, "{}", about());
    }
}

/// Under a length limit, a mutant has the text that the same change of the derivation has without the limit.
#[test]
fn the_rest_stays_in_place_under_a_length_limit() {
    let (mut done, mut rewritten) = ([0; Operation::ALL.len()], 0);
    let mut crossed = 0;
    for seed in 0..200 {
        let mut bounded = Bounded::new(seed);
        let mutator = || Mutator::new(seed).max_choices(1 << 30);
        let (mut mutator, mut twin_mutator) = (mutator(), mutator());
        let (mut mutant, mut twin) = (Vec::new(), Vec::new());
        for number in 0..bounded.inputs.len() {
            for operation in Operation::ALL.into_iter().filter(|&operation| operation != Operation::Havoc) {
                for _ in 0..4 {
                    let Bounded { tracer, inputs, store, free, twins, .. } = &mut bounded;
                    let is_made = mutator.apply(operation, &inputs[number], store, tracer, &mut mutant);
                    assert_eq!(twin_mutator.apply(operation, &twins[number], store, free, &mut twin), is_made);
                    if is_made {
                        done[operation as usize] += 1;
                        rewritten += usize::from(mutant != twin);
                        bounded.check(&mutant, &twin, &operation);
                    }
                }
            }
            let other = (number + 1) % bounded.inputs.len();
            let Bounded { tracer, inputs, free, twins, .. } = &mut bounded;
            let is_made = mutator.cross(&inputs[number], &inputs[other], tracer, &mut mutant);
            assert_eq!(twin_mutator.cross(&twins[number], &twins[other], free, &mut twin), is_made);
            if is_made {
                crossed += 1;
                bounded.check(&mutant, &twin, &"cross");
            }
        }
    }
    assert!(done[1..].iter().all(|&done| done > 80), "{done:?}");
    assert!(crossed > 200 && rewritten > 1000, "{crossed} {rewritten}");
}

/// With limits on depth and length, all mutants are within both; a part may come to be deeper, and then more changes.
#[test]
fn mutants_are_within_limits_on_depth_and_length() {
    let (mut made, mut whole, mut pooled) = (0, 0, 0);
    for seed in 0..200 {
        let mut rng = Rng::new(seed + 1_700_000);
        let shape = if seed.is_multiple_of(2) { Shape::VARIED } else { Shape::ENUMERABLE };
        let compiled = gramjet_testkit::compiled(&random_grammar(&mut rng, &shape));
        let max_len = compiled.min_len() + rng.below(100) as u64;
        let limits = Limits::new().max_len(max_len).max_depth(1 + rng.below(5) as u32);
        let mut tracer = Tracer::new(&compiled);
        if tracer.set_limits(limits).is_err() {
            continue;
        }
        let inputs: Vec<TracedInput> = (0..4).map(|_| input(&mut tracer, &mut rng, 150)).collect();
        let (mut store, mut mutator, mut mutant) = (Store::default(), Mutator::new(seed), Vec::new());
        for input in &inputs {
            store.add(input);
            let mut text = Vec::new();
            tracer.produce(&mut Choices::replay(input.choices()), &mut text);
            assert_eq!(text, input.output());
            pooled += input.trace().spans.iter().filter(|span| span.kind == SpanKind::Pool).count();
        }
        for input in &inputs {
            for operation in Operation::ALL {
                if !mutator.apply(operation, input, &store, &mut tracer, &mut mutant) {
                    continue;
                }
                let (mut text, mut trace) = (Vec::new(), Trace::default());
                let read = tracer.trace(&mutant, &mut text, &mut trace) as usize;
                assert!(text.len() as u64 <= max_len);
                if operation != Operation::Havoc {
                    made += 1;
                    whole += usize::from(read == mutant.len() && trace.read as usize == read);
                }
            }
        }
    }
    assert!(made > 2000 && pooled > 300 && whole * 20 > made * 17, "{whole} of {made}, {pooled}");
}

/// Under a length limit a search finds what it finds without, and its choice bytes are those under the limit.
#[test]
fn minimising_is_the_same_under_a_length_limit() {
    let compiled = compiled("json.ebnf", JSON);
    let mut free = tracer(&compiled);
    let mut rng = Rng::new(5);
    let (mut minimised, mut near) = (0, 0);
    for max_len in (0..400).map(|number| 30 + number % 40) {
        let mut bounded = Tracer::new(&compiled);
        let limits = Limits::new().max_len(max_len);
        bounded.set_limits(limits).expect("a shorter text is there");
        let input = input(&mut bounded, &mut rng, 150);
        let test = |output: &[u8]| output.contains(&b':') && output.contains(&b'[');
        if !test(input.output()) {
            continue;
        }
        minimised += 1;
        near += usize::from(input.choices() != input.without_max_len());
        let meant = minimise(&mut free, input.without_max_len(), 20_000, &mut |output| test(output));
        let found = minimise(&mut bounded, input.choices(), 20_000, &mut |output| test(output));
        assert_eq!((found.output.as_slice(), found.tests), (meant.output.as_slice(), meant.tests));
        assert_eq!(bounded.limits(), limits);
        let mut output = Vec::new();
        let read = bounded.produce(&mut Choices::replay(&found.choices), &mut output);
        assert_eq!((&output, read as usize), (&found.output, found.choices.len()));
    }
    assert!(minimised > 20 && near > 8, "{minimised} {near}");
}

/// Where choice bytes are bounded as well, a shorter text may need too many of them.
#[test]
fn minimised_choice_bytes_make_their_output_within_all_limits() {
    let compiled = compiled("g.ebnf", "s ::= a a a  a ::= o o o 'y' | 'xx'  o ::= ('zz')?");
    let mut tracer = Tracer::new(&compiled);
    for max_choices in 3..12 {
        tracer.set_limits(Limits::new().max_len(100).max_choices(max_choices)).expect("limits");
        let input = TracedInput::new(&mut tracer, &[255; 3], MOST);
        assert_eq!(input.output(), b"xxxxxx");
        let found = minimise(&mut tracer, input.choices(), 10_000, &mut |text| text.ends_with(b"xx"));
        let mut output = Vec::new();
        tracer.produce(&mut Choices::replay(&found.choices), &mut output);
        assert_eq!(output, found.output, "{max_choices}");
    }
}

/// A length limit raises the bound on outputs.
#[test]
fn mutants_are_exact_though_the_bound_on_outputs_is_lower_than_the_length_limit() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = Tracer::new(&compiled);
    tracer.set_limits(Limits::new().max_output(10).max_len(300)).expect("limits");
    let (mut mutator, mut mutant, mut store, mut long) = (Mutator::new(1), Vec::new(), Store::default(), 0);
    for seed in 0..40 {
        let input = input(&mut tracer, &mut Rng::new(seed), 120);
        store.add(&input);
        for operation in [Operation::Redraw, Operation::Splice, Operation::Delete].repeat(20) {
            if mutator.apply(operation, &input, &store, &mut tracer, &mut mutant) {
                let traced = TracedInput::new(&mut tracer, &mutant, MOST);
                assert_eq!(traced.choices(), mutant, "{operation:?}");
                assert!(traced.output().len() <= 300);
                long += usize::from(traced.output().len() > 20);
            }
        }
    }
    assert!(long > 100, "{long}");
}

/// What fuzzers call keeps to a length limit in the same way: nearly all mutants are read to their end, and no site
/// lacks a choice byte.
#[test]
fn mutants_of_a_corpus_are_whole_under_a_length_limit() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = Tracer::new(&compiled);
    tracer.set_limits(Limits::new().max_len(60)).expect("a shorter text is there");
    let mut mutator = FuzzMutator::new(tracer.clone());
    let mut rng = Rng::new(10);
    let corpus: Vec<TracedInput> = std::iter::repeat_with(|| input(&mut tracer, &mut rng, 120))
        .filter(|input| input.output().len() > 40)
        .take(8)
        .collect();
    let (mut made, mut whole) = (0, 0);
    for seed in 0..4000 {
        let (one, other) = (&corpus[seed % corpus.len()], &corpus[seed / 8 % corpus.len()]);
        let mutant = mutator.mutant(one.choices(), (seed % 3 == 1).then_some(other.choices()), MOST, seed as u32);
        let (mut text, mut trace) = (Vec::new(), Trace::default());
        let read = tracer.trace(mutant, &mut text, &mut trace) as usize;
        assert!(text.len() <= 60);
        made += 1;
        whole += usize::from((read, trace.read as usize) == (mutant.len(), mutant.len()));
    }
    // The others are the work of havoc, one operation of sixteen.
    assert!(whole * 20 > made * 19, "{whole} of {made}");
}
