//! Shapes on real grammars: the mean length of what the engines make, and that they all make the same.

use gramjet::{Inputs, Limits, Producer};
use gramjet_compiler::shape::{Shape, Weighting};
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_engine::coverage::Covering;
use gramjet_engine::reference::Reference;
use gramjet_engine::{Fastest, Tracer, Vm};

/// Grammars as the paper on F1 has them, in the sense that matters: with uniform choice their derivations do not end.
const EXPLOSIVE: &[(&str, &str)] = &[
    (
        "expr",
        r#"{"<start>": [["<expr>"]], "<expr>": [["<term>", "+", "<expr>"], ["<term>", "-", "<expr>"], ["<term>"]],
            "<term>": [["<factor>", "*", "<term>"], ["<factor>", "/", "<term>"], ["<factor>"]],
            "<factor>": [["+", "<factor>"], ["-", "<factor>"], ["(", "<expr>", ")"], ["<digits>", ".", "<digits>"],
            ["<digits>"]], "<digits>": [["<digit>", "<digits>"], ["<digit>"]], "<digit>": [["0"], ["1"], ["2"]]}"#,
    ),
    (
        "lists",
        r#"{"<start>": [["<list>"]], "<list>": [["(", "<items>", ")"]], "<items>": [["<item>", " ", "<items>"], ["<item>"]],
            "<item>": [["<list>"], ["<list>"], ["x"]]}"#,
    ),
];

fn compiled(file: &SourceFile, shape: Option<Shape>) -> Compiled {
    let weighting = shape.map_or(Weighting::Own, Weighting::Shape);
    match compile(file, &Options { weighting, ..Options::default() }) {
        Ok((compiled, _)) => compiled,
        Err(diagnostics) => panic!("{}", diagnostics.to_plain_text(file)),
    }
}

fn shipped(name: &str) -> SourceFile {
    let grammar = gramjet_grammars::by_name(name).unwrap_or_else(|| panic!("{name} ships"));
    SourceFile::new(format!("{name}.ebnf"), grammar.text)
}

/// Returns the mean length of `inputs` inputs, and its standard error.
fn mean_length(mut producer: impl Producer, limits: Option<Limits>, inputs: usize) -> (f64, f64) {
    if let Some(limits) = limits {
        producer.set_limits(limits).expect("limits that can be kept");
    }
    let mut input = Vec::new();
    let mut run = Inputs::new(producer, 7);
    let lengths: Vec<f64> = (0..inputs)
        .map(|_| {
            input.clear();
            run.append_to(&mut input);
            input.len() as f64
        })
        .collect();
    let mean = lengths.iter().sum::<f64>() / inputs as f64;
    let variance = lengths.iter().map(|length| (length - mean) * (length - mean)).sum::<f64>() / inputs as f64;
    (mean, (variance / inputs as f64).sqrt())
}

/// Asserts that the mean is as asked for, within a tenth or four standard errors. The seed is fixed.
fn assert_mean(name: &str, bytes: u64, (mean, error): (f64, f64)) {
    println!("{name}: {mean:.1} bytes in the mean where {bytes} were asked for, standard error {error:.1}");
    let wanted = bytes as f64;
    assert!((mean - wanted).abs() <= (wanted / 10.0).max(4.0 * error), "{name}");
    assert!(error < wanted / 10.0, "{name}: too few inputs to tell");
}

#[test]
fn target_sizes_of_shipped_grammars() {
    for name in ["json", "html", "css", "xml", "expr"] {
        for bytes in [300, 3000] {
            let compiled = compiled(&shipped(name), Some(Shape::TargetSize(bytes)));
            assert_mean(name, bytes, mean_length(Fastest::new(&compiled), None, 4000));
        }
    }
}

#[test]
fn explosive_grammars_come_to_their_size() {
    for (name, text) in EXPLOSIVE {
        let file = SourceFile::new(format!("{name}.json"), *text);
        for bytes in [50, 1000] {
            let compiled = compiled(&file, Some(Shape::TargetSize(bytes)));
            assert_mean(name, bytes, mean_length(Fastest::new(&compiled), None, 4000));
        }
    }
}

/// Without any limit the uniform grammars fill all the memory that an input may have; balanced ones end.
#[test]
fn balanced_derivations_end_without_limits() {
    let unlimited = Limits::new().max_choices(1 << 19);
    for (name, text) in EXPLOSIVE {
        let file = SourceFile::new(format!("{name}.json"), *text);
        let mut uniform = Inputs::new(Vm::new(&compiled(&file, Some(Shape::Uniform))), 7).into_producer();
        uniform.set_limits(unlimited).expect("no limits can be kept");
        let mut run = Inputs::new(uniform, 7);
        let mut input = Vec::new();
        let most = (0..30).map(|_| {
            input.clear();
            run.append_to(&mut input)
        });
        assert_eq!(most.max(), Some(1 << 19), "{name} is not explosive");

        let balanced = Vm::new(&compiled(&file, Some(Shape::Balanced)));
        let mut run = Inputs::new(balanced, 7).into_producer();
        run.set_limits(unlimited).expect("no limits can be kept");
        let mut run = Inputs::new(run, 7);
        let (mut bytes, mut longest) = (0, 0);
        for _ in 0..2000 {
            input.clear();
            longest = longest.max(run.append_to(&mut input));
            bytes += input.len();
        }
        println!("{name}: {} bytes in the mean, at most {longest} choice bytes", bytes / 2000);
        assert!(longest < 1 << 18 && bytes / 2000 < 1000, "{name}");
    }
}

/// Balanced inputs come to every rule and alternative of the smaller grammars.
#[test]
fn balanced_inputs_reach_everything() {
    for name in ["json", "expr"] {
        let mut run = Inputs::new(Covering::new(&compiled(&shipped(name), Some(Shape::Balanced))), 7);
        let mut input = Vec::new();
        for _ in 0..2000 {
            input.clear();
            run.append_to(&mut input);
        }
        let coverage = run.into_producer().coverage();
        assert!(coverage.is_complete(), "{name}: {:?} {:?}", coverage.rules(), coverage.alternatives());
    }
}

/// All replaying engines read the weights of a shape alike: repetitions with weights, sites of two bytes and more.
#[test]
fn engines_agree_in_every_shape() {
    let lists = SourceFile::new(
        "lists.ebnf",
        "list ::= '[' (item (',' item)*)? ']'\nitem ::= [a-z]+ | list @ 0.01 | pair{1,3} | (list | 'q')? ';'\n\
         pair ::= (item ':'){0,2} 'x' | 'yy' | 'y' 'y'?",
    );
    let files = [lists, shipped("json"), shipped("css"), SourceFile::new("expr.json", EXPLOSIVE[0].1)];
    for file in &files {
        for shape in [Shape::Uniform, Shape::Balanced, Shape::Deep, Shape::TargetSize(70), Shape::TargetSize(7000)] {
            let compiled = compiled(file, Some(shape));
            let limits = [
                Limits::new().max_choices(5000),
                Limits::new().max_choices(5000).max_depth(5),
                Limits::new().max_choices(5000).max_len(100),
            ];
            for limits in limits {
                let mut reference = Reference::new(&compiled);
                if reference.set_limits(limits).is_err() {
                    continue;
                }
                let expected: Vec<Vec<u8>> = Inputs::new(reference, 3).take(40).collect();
                for name in ["vm", "fastest", "tracer", "covering"] {
                    let mut producer: Box<dyn Producer> = match name {
                        "vm" => Box::new(Vm::new(&compiled)),
                        "fastest" => Box::new(Fastest::new(&compiled)),
                        "tracer" => Box::new(Tracer::new(&compiled)),
                        _ => Box::new(Covering::new(&compiled)),
                    };
                    producer.set_limits(limits).expect("as the reference");
                    let found: Vec<Vec<u8>> = Inputs::new(producer, 3).take(40).collect();
                    assert!(found == expected, "{} {shape} {name} {limits:?}", file.name());
                }
            }
        }
    }
}

/// The compiler and the runtime mean the same depth by default.
#[test]
fn the_default_depth_is_one() {
    assert_eq!(gramjet_compiler::limits::DEFAULT_MAX_DEPTH, Limits::DEFAULT_MAX_DEPTH);
}
