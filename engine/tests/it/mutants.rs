//! Mutators on traces: what they change and what they leave in place; the store; minimising.

use gramjet::choices::{FuzzMutator, Mutator, Operation, SpanKind, Store, Trace, TracedInput, Tracer as _, minimise};
use gramjet::{Choices, Limits, Producer};
use gramjet_compiler::formats::ZeroWeights;
use gramjet_compiler::{Options, SourceFile, ast, compile};
use gramjet_engine::Tracer;
use gramjet_testkit::{Draw, Rng, Shape, random_grammar};

use crate::kit::compiled;

mod bounded;

const MOST: usize = 1 << 16;

const JSON: &str = r##"
json   ::= value
value  ::= object @ 3 | array @ 3 | string | number | 'true' | 'false' | 'null'
object ::= '{' (member (',' member)*)? '}'
member ::= string ':' value
array  ::= '[' (value (',' value)*)? ']'
string ::= '"' [a-z]* '"'
number ::= '0' | [1-9] [0-9]{0,5}
"##;

/// Returns a tracer without limits.
fn tracer(compiled: &gramjet_compiler::Compiled) -> Tracer {
    let mut tracer = Tracer::new(compiled);
    tracer.set_limits(Limits::new()).expect("no limits");
    tracer
}

/// Returns an input of bytes that begin with many high options, for inputs that are not small.
fn input(tracer: &mut Tracer, rng: &mut Rng, len: usize) -> TracedInput {
    let choices = rng.bytes(len);
    TracedInput::new(tracer, &choices, MOST)
}

/// Every operation but havoc puts whole parts in place of whole parts: each choice byte of a mutant is read, and none
/// is missing.
#[test]
fn the_rest_stays_in_place() {
    let mut done = [0; Operation::ALL.len()];
    for seed in 0..120 {
        let mut rng = Rng::new(seed + 1_500_000);
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut rng, &shape);
        let mut tracer = tracer(&gramjet_testkit::compiled(&grammar));
        let mut store = Store::default();
        let inputs: Vec<TracedInput> = (0..4).map(|_| input(&mut tracer, &mut rng, 150)).collect();
        for input in &inputs {
            store.add(input);
        }
        let mut mutator = Mutator::new(seed).max_choices(4000);
        let mut mutant = Vec::new();
        for input in &inputs {
            for operation in Operation::ALL {
                for _ in 0..4 {
                    if !mutator.apply(operation, input, &store, &mut tracer, &mut mutant) {
                        continue;
                    }
                    done[operation as usize] += 1;
                    assert!(mutant.len() <= 4000.max(input.choices().len()));
                    if operation == Operation::Havoc {
                        assert_eq!(mutant.len(), input.choices().len());
                        continue;
                    }
                    let traced = TracedInput::new(&mut tracer, &mutant, MOST);
                    let about = || format!("{operation:?} {:?}\n{}", input.choices(), ast::dump(&grammar));
                    assert_eq!(traced.choices(), mutant, "{}", about());
                    assert_eq!(traced.trace().read as usize, mutant.len(), "{}", about());
                }
            }
        }
    }
    assert!(done.iter().all(|&done| done > 80), "{done:?}");
}

/// The results of each operation on one input, as text.
#[test]
fn operations_do_what_they_say() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = tracer(&compiled);
    let mut rng = Rng::new(3);
    let mut found = [false; Operation::ALL.len()];
    let mut store = Store::default();
    for _ in 0..50 {
        let other = input(&mut tracer, &mut rng, 200);
        store.add(&other);
    }
    assert!(store.len() > 50);
    for number in 0..200 {
        let input = input(&mut tracer, &mut rng, 200);
        let mut mutator = Mutator::new(number);
        let mut mutant = Vec::new();
        for operation in Operation::ALL {
            if !mutator.apply(operation, &input, &store, &mut tracer, &mut mutant) {
                continue;
            }
            let output = TracedInput::new(&mut tracer, &mutant, MOST).output().to_vec();
            let (before, after) = (input.output().len(), output.len());
            match operation {
                Operation::Collapse | Operation::Delete => assert!(after <= before),
                Operation::RepeatRecursion | Operation::RepeatRound => assert!(after >= before),
                Operation::Swap => assert_eq!(after, before),
                Operation::Havoc | Operation::Redraw | Operation::Splice => {}
            }
            found[operation as usize] |= output != input.output();
        }
    }
    assert_eq!(found, [true; Operation::ALL.len()]);
}

#[test]
fn the_seed_decides() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = tracer(&compiled);
    let input = input(&mut tracer, &mut Rng::new(9), 300);
    let mut store = Store::default();
    store.add(&input);
    let mut run = |seed| {
        let mut mutator = Mutator::new(seed);
        let mut mutant = Vec::new();
        let one = |_| (mutator.mutate(&input, &store, &mut tracer, &mut mutant), mutant.clone());
        (0..100).map(one).collect::<Vec<_>>()
    };
    let first = run(1);
    assert!(first == run(1) && first != run(2));
    assert!(first.iter().all(|(operation, _)| operation.is_some()));
}

/// Rounds are counted: at the greatest number there is no site that ends them.
#[test]
fn full_repetitions_stay_exact() {
    let compiled = compiled("g.ebnf", "s ::= x y  x ::= [a-z]{1,4}  y ::= ('<' [0-9]{0,2} '>'){2,3}");
    let mut tracer = tracer(&compiled);
    let mut full = 0;
    for seed in 0..500 {
        let input = input(&mut tracer, &mut Rng::new(seed), 30);
        full += input.trace().spans.iter().filter(|span| span.kind == (SpanKind::Repetition { room: 0 })).count();
        let mut mutator = Mutator::new(seed);
        let mut mutant = Vec::new();
        for operation in [Operation::Delete, Operation::RepeatRound] {
            if mutator.apply(operation, &input, &Store::default(), &mut tracer, &mut mutant) {
                assert_eq!(TracedInput::new(&mut tracer, &mutant, MOST).choices(), mutant);
            }
        }
    }
    assert!(full > 100);
}

#[test]
fn the_store_is_bounded_and_labelled() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = tracer(&compiled);
    let mut store = Store::new(8, 40);
    let mut rng = Rng::new(77);
    let mut symbols = std::collections::BTreeSet::new();
    for _ in 0..300 {
        let input = input(&mut tracer, &mut rng, 300);
        symbols.extend(input.trace().spans.iter().map(|span| span.symbol));
        store.add(&input);
        let mut roomy = Store::default();
        assert_eq!(roomy.add(&input) > 0, !roomy.is_empty());
        assert_eq!(roomy.add(&input), 0, "kept once");
    }
    for &symbol in &symbols {
        let chunks = store.chunks(symbol);
        assert!(chunks.len() <= 8 && chunks.is_sorted_by_key(|chunk| chunk.output_len));
        assert!(chunks.iter().all(|chunk| chunk.choices.len() <= 40));
    }
    assert_eq!(store.len(), symbols.iter().map(|&symbol| store.chunks(symbol).len()).sum::<usize>());
    assert!(store.len() > 20 && !store.is_empty());
}

#[test]
fn the_store_is_bounded_as_a_whole() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = tracer(&compiled);
    let mut store = Store::default().max_bytes(8000);
    let mut rng = Rng::new(78);
    let mut symbols = std::collections::BTreeSet::new();
    let mut added = 0;
    for _ in 0..300 {
        let input = input(&mut tracer, &mut rng, 300);
        symbols.extend(input.trace().spans.iter().map(|span| span.symbol));
        added += store.add(&input);
        let chunks = || symbols.iter().flat_map(|&symbol| store.chunks(symbol));
        let choices: usize = chunks().map(|chunk| chunk.choices.len()).sum();
        assert!(choices < store.bytes() && store.bytes() <= 8000);
        assert_eq!(store.len(), chunks().count());
    }
    assert!(added > 10 * store.len() && store.len() > 20, "{added} {}", store.len());
    assert!(symbols.iter().filter(|&&symbol| !store.chunks(symbol).is_empty()).count() > 5);
}

/// Near the depth limit, strings of pools stand for what is deeper; the shortest part has other sites there.
#[test]
fn parts_near_the_depth_limit_are_shortened_exactly() {
    let compiled = compiled(
        "g.ebnf",
        "s ::= item* '!'  item ::= '(' pair ')' | [a-z]  pair ::= item two | two  two ::= [0-9] item | 'x' item item",
    );
    let mut done = 0;
    for max_depth in 1..7 {
        let mut tracer = tracer(&compiled);
        tracer.set_limits(Limits::new().max_depth(max_depth)).expect("a depth");
        for seed in 0..200 {
            let input = input(&mut tracer, &mut Rng::new(seed), 60);
            let mut mutator = Mutator::new(seed);
            let mut mutant = Vec::new();
            for _ in 0..8 {
                if mutator.apply(Operation::Delete, &input, &Store::default(), &mut tracer, &mut mutant) {
                    done += 1;
                    let traced = TracedInput::new(&mut tracer, &mutant, MOST);
                    assert_eq!((traced.choices(), traced.trace().read as usize), (&*mutant, mutant.len()));
                }
            }
        }
    }
    assert!(done > 5000, "{done}");
}

#[test]
fn minimised_inputs_are_small_and_keep_what_is_asked() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = tracer(&compiled);
    let mut rng = Rng::new(1);
    let deep = |output: &[u8]| output.iter().filter(|&&byte| byte == b'[').count() >= 2 && output.contains(&b':');
    let mut minimised = 0;
    for _ in 0..1000 {
        let input = input(&mut tracer, &mut rng, 400);
        if !deep(input.output()) || input.output().len() < 40 {
            continue;
        }
        minimised += 1;
        let found = minimise(&mut tracer, input.choices(), 20_000, &mut |output| deep(output));
        assert!(deep(&found.output) && !found.exhausted);
        // `{"":[[]]}`, `[[],{"":0}]`, `{"":[],"":[]}`: nothing is left that could be taken out.
        assert!(found.output.len() <= 13, "{}", String::from_utf8_lossy(&found.output));
        let mut output = Vec::new();
        let read = tracer.produce(&mut Choices::replay(&found.choices), &mut output);
        assert_eq!((&output, read as usize), (&found.output, found.choices.len()));
    }
    assert!(minimised >= 5, "{minimised}");
}

#[test]
fn minimising_ends_at_its_bound() {
    let compiled = compiled("json.ebnf", JSON);
    let mut tracer = tracer(&compiled);
    let input = input(&mut tracer, &mut Rng::new(12), 400);
    let mut asked = 0;
    let found = minimise(&mut tracer, input.choices(), 10, &mut |_| {
        asked += 1;
        asked % 2 == 0
    });
    assert!(asked <= 10 && found.tests == asked);
    assert_eq!(tracer.shortest(u32::MAX, 0), 0, "a symbol that is not there");
}

/// A corpus that is shown again and again: most mutants are new, stacked ones too, and inputs grow by steps.
#[test]
fn mutants_of_a_corpus_are_new_and_grow_by_steps() {
    let compiled = compiled("json.ebnf", JSON);
    let mut mutator = FuzzMutator::new(tracer(&compiled));
    let mut tracer = tracer(&compiled);
    let mut rng = Rng::new(9);
    let corpus: Vec<TracedInput> = std::iter::repeat_with(|| input(&mut tracer, &mut rng, 120))
        .filter(|input| input.choices().len() > 60)
        .take(8)
        .collect();
    let mut distinct = std::collections::BTreeSet::new();
    let (mut seed, mut made, mut grown) = (1_u32, 0, 0);
    for _ in 0..100 {
        for number in 0..corpus.len() {
            let other = corpus[(number + 1) % corpus.len()].choices();
            let mut choices = corpus[number].choices().to_vec();
            for step in 0..5 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let mutant = mutator.mutant(&choices, (step % 2 == 1).then_some(other), MOST, seed >> 1).to_vec();
                grown += usize::from(mutant.len() > choices.len() + 32);
                made += 1;
                distinct.insert(mutant.clone());
                choices = mutant;
            }
        }
    }
    assert!(distinct.len() > made / 2, "{} of {made}", distinct.len());
    assert!((1..made / 3).contains(&grown), "{grown} of {made}");
}

#[test]
fn a_mutator_is_registered_for_the_producer_of_its_grammar_only() {
    use gramjet_engine::libfuzzer::Registered;

    let mut producer = gramjet_engine::Vm::new(&compiled("json.ebnf", JSON));
    let mut registered = Registered::new(&mut producer, "json.ebnf", JSON, &[], None);
    let mut data = vec![0; 200];
    assert!((0..20).any(|seed| registered.mutate(&mut data, 20, 200, seed << 8) > 0));
    for (grammar, start) in [("json ::= '[' json ']' | 'x'", None), (JSON, Some("array")), ("json ::= wrong", None)] {
        let refused = std::panic::catch_unwind(move || {
            let mut producer = gramjet_engine::Vm::new(&compiled("json.ebnf", JSON));
            Registered::new(&mut producer, "json.ebnf", grammar, &[], start)
        });
        let said = refused.expect_err("it is another grammar");
        let said = said.downcast_ref::<String>().expect("a message");
        assert!(said.starts_with("fuzz_mutator!: "), "{said}");
    }
}

/// A lexer comes with the target as its parser does.
#[test]
fn grammars_of_several_files_are_registered() {
    use gramjet_engine::libfuzzer::Registered;

    const PARSER: &str = "parser grammar LParser; options { tokenVocab = LLexer; } list : OPEN (ITEM | list)* CLOSE ;";
    const LEXER: &str = "lexer grammar LLexer; OPEN : '[' ; CLOSE : ']' ; ITEM : [a-z] ;";
    let whole = "grammar L; list : '[' (ITEM | list)* ']' ; ITEM : [a-z] ;";
    let new = |others: &'static [(&'static str, &'static str)]| {
        let mut producer = gramjet_engine::Vm::new(&compiled("L.g4", whole));
        Registered::new(&mut producer, "grammars/LParser.g4", PARSER, others, None)
    };
    let mut registered = new(&[("grammars/Other.g4", ""), ("grammars/LLexer.g4", LEXER)]);
    let mut data = vec![0x90; 200];
    assert!((0..20).any(|seed| registered.mutate(&mut data, 20, 200, seed << 8) > 0));
    let refused = std::panic::catch_unwind(|| new(&[("LLexer.g4", LEXER)]));
    let said = refused.expect_err("the lexer is missing");
    let said = said.downcast_ref::<String>().expect("a message");
    assert!(said.contains("add `with [\"grammars/LLexer.g4\"]`"), "{said}");
}

/// libFuzzer's demands on custom mutators: no more bytes than there is room for, the same for the same seed, and
/// something new.
#[test]
fn custom_mutators_keep_to_their_room() {
    let compiled = compiled("json.ebnf", JSON);
    let mut rng = Rng::new(4);
    let mut distinct = std::collections::BTreeSet::new();
    for round in 0..300 {
        let (one, other) = (rng.bytes(round % 60), rng.bytes(100));
        for most in [0, 1, 7, 64, 300] {
            let run = || {
                let mut mutator = FuzzMutator::new(tracer(&compiled));
                let mut data = vec![0xEE; most + 5];
                let size = one.len().min(most);
                data[..size].copy_from_slice(&one[..size]);
                let len = mutator.mutate(&mut data, size, most, round as u32);
                assert!(len <= most && data[most..] == [0xEE; 5]);
                let mut crossed = vec![0; most];
                let crossed_len = mutator.cross_over(&one, &other, &mut crossed, round as u32);
                assert!(crossed_len <= most);
                (data[..len].to_vec(), crossed[..crossed_len].to_vec())
            };
            let made = run();
            assert_eq!(made, run());
            distinct.insert(made);
        }
    }
    assert!(distinct.len() > 600, "{}", distinct.len());
}

/// Low choice bytes stand for short options, also for those that are only read.
#[test]
fn mutants_of_what_is_generated_take_no_option_that_is_only_read() {
    let text = "s ::= word (' ' word)*  word ::= '$' @ 0 | '' @ 0 | 'ab' | 'cde' | '(' s ')'";
    let mut options = Options::default();
    options.reading.zero_weights = ZeroWeights::Keep;
    let (compiled, _) = compile(&SourceFile::new("words.ebnf", text), &options).expect("it compiles");
    let mut tracer = tracer(&compiled);
    let (mut mutator, mut mutant, store) = (Mutator::new(1), Vec::new(), Store::default());
    let mut texts = 0;
    for seed in 0..20 {
        let input = input(&mut tracer, &mut Rng::new(seed), 120);
        if input.trace().takes_only_read {
            continue;
        }
        for operation in [Operation::Havoc, Operation::Delete, Operation::Redraw].repeat(200) {
            // Little room: the shortest words are only read.
            let room = Limits::new().max_output(input.output().len() as u64);
            tracer.set_limits(if operation == Operation::Redraw { room } else { Limits::new() }).expect("limits");
            let is_made = mutator.apply(operation, &input, &store, &mut tracer, &mut mutant);
            tracer.set_limits(Limits::new()).expect("no limits");
            if !is_made {
                continue;
            }
            let mutant = TracedInput::new(&mut tracer, &mutant, MOST);
            let text = String::from_utf8_lossy(mutant.output());
            assert!(!text.contains('$') && !mutant.trace().takes_only_read, "{operation:?}: {text}");
            texts += 1;
        }
    }
    assert!(texts > 1000, "{texts}");
}
