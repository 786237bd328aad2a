//! `cargo bench --bench mutants --features ahead-of-time`: the results of the mutators of choice bytes, and their
//! speed.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use clap::Parser;
use gramjet::choices::{Mutator, Operation, Span, SpanKind, Store, Trace, TracedInput, Tracer as _, minimise};
use gramjet::{Choices, Limits, Producer};
use gramjet_benches::measure::{median, thread_time};
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_engine::{Jit, Tracer, Vm};
use gramjet_grammars::{SHIPPED, Shipped};

/// Mutants of inputs of a certain length: how many differ, their sizes, and mutants per second of CPU time, on one
/// thread.
#[derive(Parser)]
struct Args {
    /// Only these grammars, separated by commas; of those with a producer made ahead of time, which `--features
    /// ahead-of-time` are all of the default.
    #[arg(long, value_delimiter = ',', default_value = "json,xml,html,css,expr")]
    grammars: Vec<String>,
    /// The length of the inputs that are mutated in bytes, give or take a quarter.
    #[arg(long, default_value_t = 200)]
    length: usize,
    /// Number of inputs that are mutated.
    #[arg(long, default_value_t = 64)]
    inputs: usize,
    /// Mutants of each input and operation in a round.
    #[arg(long, default_value_t = 500)]
    mutants: usize,
    /// Rounds.
    #[arg(long, default_value_t = 9)]
    runs: usize,
    /// Mutate under this limit on the length in bytes, and none on the depth. *Meant* is the share of mutants whose
    /// text is what the same change of the derivation makes without the limit.
    #[arg(long, conflicts_with = "minimise")]
    max_len: Option<u64>,
    /// Minimise the inputs, each while it contains the bytes in its middle, instead of mutating them.
    #[arg(long)]
    minimise: bool,
    /// An option that cargo passes.
    #[arg(long, hide = true)]
    bench: bool,
}

/// This number of inputs fills the store.
const STORED: usize = 2000;
/// At most this number of inputs is searched for some of the right length.
const LOOKED_AT: usize = 200_000;
/// Minimising keeps this number of bytes from the middle of the input, ...
const KEPT: usize = 4;
/// ... and tests at most this number of texts.
const TESTS: u64 = 100_000;
/// Inputs are completed after this number of choice bytes.
const READ: usize = 4096;
const MOST_CHOICES: usize = 1 << 20;

fn main() {
    let args = Args::parse();
    if args.minimise {
        println!(
            "| grammar | candidates that differ | that hold | bytes before, median | after | 90 % below | tests, median | 90 % below | candidates/s |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
    } else {
        println!(
            "| grammar | operation | meant | differ | distinct | bytes, median | 90 % below | mutation ns | mutants/s `rust` | `jit` | `vm` |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
    }
    for shipped in SHIPPED.iter().filter(|shipped| args.grammars.iter().any(|name| name == shipped.name)) {
        match gramjet_generated::producer(shipped.name) {
            Some(producer) if args.minimise => minimising(shipped, producer(), &args),
            Some(producer) => measure(shipped, producer(), &args),
            None => {
                println!("| {} | has no producer without `--features ahead-of-time` | | | | | | | | |", shipped.name)
            }
        }
    }
}

/// Inputs of a grammar, the data for mutating them, and the engines that render the mutants.
struct Subject {
    tracer: Tracer,
    store: Store,
    inputs: Vec<TracedInput>,
    engines: Vec<Box<dyn Producer>>,
    /// A tracer without the length limit, whose mutants are as short, and the inputs without the limit.
    free: Tracer,
    twins: Vec<TracedInput>,
}

impl Subject {
    fn new(shipped: &Shipped, producer: Box<dyn Producer>, args: &Args) -> Subject {
        let file = SourceFile::new(format!("{}.ebnf", shipped.name), shipped.text);
        let (compiled, _) = compile(&file, &Options::default()).expect("a grammar that ships");
        let mut tracer = Tracer::new(&compiled);
        let mut engines: Vec<Box<dyn Producer>> = vec![producer];
        if let Ok(jit) = Jit::new(&compiled) {
            engines.push(Box::new(jit));
        }
        engines.push(Box::new(Vm::new(&compiled)));
        let mut free = tracer.clone();
        if let Some(max_len) = args.max_len {
            // Nor is there a limit on the depth, as where it is the only one that a user asks for.
            free.set_limits(Limits::new().max_output(max_len)).expect("no limits");
            let limits = Limits::new().max_len(max_len);
            tracer.set_limits(limits).expect("a text as short as this");
            engines.iter_mut().for_each(|engine| engine.set_limits(limits).expect("a text as short as this"));
        }
        let mut store = Store::default();
        let mut inputs = Vec::new();
        for number in 0..LOOKED_AT {
            let mut source = Choices::of_block(1, number as u64);
            let choices: Vec<u8> = (0..READ).map_while(|_| source.next_byte()).collect();
            let input = TracedInput::new(&mut tracer, &choices, MOST_CHOICES);
            if number < STORED {
                store.add(&input);
            }
            if (args.length * 3 / 4..=args.length * 5 / 4).contains(&input.output().len()) {
                inputs.push(input);
            }
            if number >= STORED && inputs.len() >= args.inputs {
                break;
            }
        }
        inputs.truncate(args.inputs);
        let twin = |input: &TracedInput| TracedInput::new(&mut free, input.without_max_len(), MOST_CHOICES);
        let twins = inputs.iter().map(twin).collect();
        Subject { tracer, store, inputs, engines, free, twins }
    }
}

fn measure(shipped: &Shipped, producer: Box<dyn Producer>, args: &Args) {
    let mut subject = Subject::new(shipped, producer, args);
    if subject.inputs.is_empty() {
        println!("| {} | no input of about {} bytes | | | | | | | | | |", shipped.name, args.length);
        return;
    }
    let columns = Operation::ALL.into_iter().map(Some).chain([None]);
    for operation in columns {
        let quality = quality(&mut subject, operation, args);
        let speed = speed(&mut subject, operation, args);
        let rates = speed.rates.iter().map(|rate| format!("{:.2} M", rate / 1e6));
        println!(
            "| {} | {} | {} | {:.1} % | {:.1} % | {} | {} | {:.0} | {} |",
            shipped.name,
            operation.map_or("all, by weight", Operation::name),
            meant(&mut subject, operation, args).map_or(String::new(), percent),
            100.0 * quality.differ,
            100.0 * quality.distinct,
            quality.median,
            quality.ninth,
            speed.mutation,
            rates.collect::<Vec<_>>().join(" | "),
        );
    }
    let time = tracing(&mut subject, args);
    println!("| {} | tracing an input | | | | | | {time:.0} | | | |", shipped.name);
    let copied = percent(copied(&mut subject, args));
    println!("| {} | splice by copying choice bytes | {copied} | | | | | | | | |", shipped.name);
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Returns the share of mutants whose text is what the same change of the derivation makes without the limit; `None`
/// where that is not defined.
fn meant(subject: &mut Subject, operation: Option<Operation>, args: &Args) -> Option<f64> {
    let operation = operation.filter(|&operation| operation != Operation::Havoc)?;
    let Subject { tracer, store, inputs, engines, free, twins } = subject;
    // Choice bytes are longer without the limit, so a limit on them would not be the same.
    let mutator = || Mutator::new(1).max_choices(usize::MAX);
    let (mut mutator, mut twin_mutator) = (mutator(), mutator());
    let (mut mutant, mut twin, mut output, mut meant) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut made, mut held) = (0_u64, 0_u64);
    for (input, twin_input) in inputs.iter().zip(twins) {
        for _ in 0..args.mutants {
            let is_made = mutator.apply(operation, input, store, tracer, &mut mutant);
            let has_twin = twin_mutator.apply(operation, twin_input, store, free, &mut twin);
            if !is_made {
                continue;
            }
            made += 1;
            output.clear();
            meant.clear();
            engines[0].produce(&mut Choices::replay(&mutant), &mut output);
            free.produce(&mut Choices::replay(&twin), &mut meant);
            held += u64::from(has_twin && output == meant);
        }
    }
    Some(held as f64 / made.max(1) as f64)
}

/// Returns the share of mutants that are as meant if choice bytes under the limits in force are copied: those of a part
/// of one input in place of those of a part of another that has room for it.
fn copied(subject: &mut Subject, args: &Args) -> f64 {
    const SEED: u64 = 3;
    let most = args.max_len.and_then(|max_len| usize::try_from(max_len).ok()).unwrap_or(usize::MAX);
    let traced: Vec<(Vec<u8>, Trace)> = subject
        .inputs
        .iter()
        .map(|input| {
            let (mut output, mut trace) = (Vec::new(), Trace::default());
            subject.tracer.trace(input.choices(), &mut output, &mut trace);
            (output, trace)
        })
        .collect();
    let mut random = Choices::random(SEED);
    let mut below = |bound: usize| {
        let word = (0..4).fold(0_usize, |word, _| word << 8 | usize::from(random.next_byte().unwrap_or(0)));
        word % bound
    };
    let (mut made, mut held) = (0_u64, 0_u64);
    for (input, (text, trace)) in subject.inputs.iter().zip(&traced) {
        for _ in 0..args.mutants {
            let old = &trace.spans[below(trace.spans.len())];
            let number = below(traced.len());
            let (other_text, other_trace) = &traced[number];
            let fits =
                |new: &&Span| new.symbol == old.symbol && text.len() - old.output().len() + new.output().len() <= most;
            let fitting: Vec<&Span> = other_trace.spans.iter().filter(fits).collect();
            if old.kind == SpanKind::Round || fitting.is_empty() {
                continue;
            }
            let new = fitting[below(fitting.len())];
            let put = |whole: &[u8], old: std::ops::Range<usize>, part: &[u8]| {
                [&whole[..old.start], part, &whole[old.end..]].concat()
            };
            let choices = &subject.inputs[number].choices()[new.choices()];
            let mutant = put(input.choices(), old.choices(), choices);
            let meant = put(text, old.output(), &other_text[new.output()]);
            if meant == *text {
                continue;
            }
            let mut output = Vec::new();
            subject.engines[0].produce(&mut Choices::replay(&mutant), &mut output);
            made += 1;
            held += u64::from(output == meant);
        }
    }
    held as f64 / made.max(1) as f64
}

fn mutate(
    mutator: &mut Mutator,
    operation: Option<Operation>,
    input: &TracedInput,
    store: &Store,
    tracer: &mut Tracer,
    mutant: &mut Vec<u8>,
) -> bool {
    match operation {
        Some(operation) => mutator.apply(operation, input, store, tracer, mutant),
        None => mutator.mutate(input, store, tracer, mutant).is_some(),
    }
}

struct Quality {
    differ: f64,
    distinct: f64,
    median: usize,
    ninth: usize,
}

/// Returns how many outputs of mutants differ from their originals, and from each other.
fn quality(subject: &mut Subject, operation: Option<Operation>, args: &Args) -> Quality {
    let Subject { tracer, store, inputs, engines, .. } = subject;
    let mut mutator = Mutator::new(1);
    let (mut mutant, mut output) = (Vec::new(), Vec::new());
    let mut lengths = Vec::new();
    let mut differ = 0;
    let mut outputs = HashSet::new();
    for input in &*inputs {
        for _ in 0..args.mutants {
            if mutate(&mut mutator, operation, input, store, tracer, &mut mutant) {
                output.clear();
                engines[0].produce(&mut Choices::replay(&mutant), &mut output);
                differ += usize::from(output != input.output());
                lengths.push(output.len());
                outputs.insert(BuildHasherDefault::<DefaultHasher>::default().hash_one(&output));
            }
        }
    }
    lengths.sort_unstable();
    let count = lengths.len().max(1);
    let at = |share: usize| lengths.get(lengths.len() * share / 10).copied().unwrap_or(0);
    let share = |number: usize| number as f64 / count as f64;
    Quality { differ: share(differ), distinct: share(outputs.len()), median: at(5), ninth: at(9) }
}

struct Speed {
    /// Nanoseconds for a mutation alone.
    mutation: f64,
    /// Mutants per second, rendered, for each engine.
    rates: Vec<f64>,
}

/// Returns the medians over rounds, in which mutation alone and mutation with each engine take turns.
fn speed(subject: &mut Subject, operation: Option<Operation>, args: &Args) -> Speed {
    let Subject { tracer, store, inputs, engines, .. } = subject;
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); engines.len() + 1];
    let (mut mutant, mut output) = (Vec::new(), Vec::new());
    for run in 0..args.runs {
        for (column, times) in times.iter_mut().enumerate() {
            let mut mutator = Mutator::new(run as u64);
            let mut made = 0_u64;
            let start = thread_time();
            for input in &*inputs {
                for _ in 0..args.mutants {
                    if mutate(&mut mutator, operation, input, store, tracer, &mut mutant) {
                        made += 1;
                        if column > 0 {
                            output.clear();
                            engines[column - 1].produce(&mut Choices::replay(&mutant), &mut output);
                        }
                    }
                }
            }
            times.push((thread_time() - start).as_secs_f64() / made.max(1) as f64);
        }
    }
    let mut medians = times.into_iter().map(median);
    let mutation = medians.next().unwrap_or(0.0) * 1e9;
    Speed { mutation, rates: medians.map(|time| 1.0 / time).collect() }
}

/// Returns the nanoseconds for a traced input, with its index.
fn tracing(subject: &mut Subject, args: &Args) -> f64 {
    let mut traced = TracedInput::default();
    let times = (0..args.runs).map(|_| {
        let start = thread_time();
        let rounds = 50;
        for _ in 0..rounds {
            for input in &subject.inputs {
                traced.retrace(&mut subject.tracer, input.choices(), MOST_CHOICES);
            }
        }
        (thread_time() - start).as_secs_f64() * 1e9 / (rounds * subject.inputs.len()) as f64
    });
    median(times.collect())
}

/// Minimises each input to one that contains the bytes in its middle, and prints the number of tests and the length of
/// the result.
fn minimising(shipped: &Shipped, producer: Box<dyn Producer>, args: &Args) {
    let mut subject = Subject::new(shipped, producer, args);
    let (mut before, mut lengths, mut tests) = (Vec::new(), Vec::new(), Vec::new());
    let (mut tried, mut differ, mut held) = (0, 0, 0);
    let start = thread_time();
    for input in &subject.inputs {
        let text = input.output();
        let kept = &text[(text.len() - KEPT) / 2..][..KEPT];
        let small = minimise(&mut subject.tracer, input.choices(), TESTS, &mut |candidate| {
            let holds = candidate.windows(KEPT).any(|window| window == kept);
            differ += u64::from(candidate != text);
            held += u64::from(holds);
            holds
        });
        before.push(text.len());
        lengths.push(small.output.len());
        tests.push(small.tests);
        tried += small.tests;
    }
    let time = (thread_time() - start).as_secs_f64();
    let [before, lengths] = [before, lengths].map(|lengths| lengths.into_iter().map(|len| len as u64).collect());
    let [(before, _), (median, ninth), (tests, most)] = [before, lengths, tests].map(|mut numbers: Vec<u64>| {
        numbers.sort_unstable();
        let at = |part: usize| numbers.get(numbers.len() * part / 10).copied().unwrap_or_default();
        (at(5), at(9))
    });
    let share = |count: u64| 100.0 * count as f64 / tried.max(1) as f64;
    println!(
        "| {} | {:.1} % | {:.1} % | {before} | {median} | {ninth} | {tests} | {most} | {:.2} M |",
        shipped.name,
        share(differ),
        share(held),
        tried as f64 / time / 1e6,
    );
}
