//! Functions of Node.

use std::fs;
use std::path::Path;

use gramjet_harness::{Counting, Function, Offered, Outcome, Subject, Target, Telling, offered};

use super::kit::{
    assert_fast, counts_pass_32_bits, edges, error, exception, expressions, interpreters, limits, outcome, places,
    short, subject, told,
};
use crate::kit::place;

fn is_there() -> bool {
    !interpreters(&["node"]).is_empty()
}

fn function(specification: &str) -> Function {
    Function::new(subject(specification)).expect("a target")
}

#[test]
fn node_outcomes_say_how_the_function_ended() {
    if !is_there() {
        return;
    }
    let mut target = Function::new(short(subject("node:torture.js#run"))).expect("a target");
    for (input, expected) in [
        ("", Outcome::Exit(0)),
        ("e3", Outcome::Exit(3)),
        ("E", Outcome::Exit(4)),
        ("", Outcome::Exit(0)),
        ("x", Outcome::Exit(5)),
        ("a", Outcome::Signal(6)),
        ("l", Outcome::Timeout),
        ("n", Outcome::Exit(13)),
        ("t", Outcome::Exit(0)),
        ("T", Outcome::Timeout),
        ("W", Outcome::Exit(0)),
        ("k", Outcome::Signal(11)),
        ("F", Outcome::Exit(0)),
        ("i", Outcome::Exit(0)),
        ("Q", Outcome::Timeout),
        ("e0", Outcome::Exit(0)),
    ] {
        assert_eq!(outcome(&mut target, input), expected, "{input}");
    }
    let mut raised = |input: &str| exception(outcome(&mut target, input));
    for input in ["u", "d", "D"] {
        let (class, frame) = raised(input);
        assert!(
            class == "Unusual" && frame.starts_with("torture.js:11 (") && frame.contains("raise"),
            "{input} {frame}"
        );
    }
    assert_eq!(raised("R"), ("Unusual".into(), "torture.js:31 (Object.run)".into()));
    let Outcome::Exception(raised_as) = outcome(&mut target, "u") else { panic!("no exception") };
    assert!(raised_as.is_a("Unusual") && raised_as.is_a("Error") && !raised_as.is_a("TypeError"), "{raised_as:?}");
    assert!(raised_as.parents == ["Error"], "{raised_as:?}");
    let mut raised = |input: &str| exception(outcome(&mut target, input));
    assert_eq!(raised("v"), ("string".into(), String::new()));
    assert_eq!(raised("j"), ("SyntaxError".into(), "torture.js:19 (Object.run)".into()));
    let (class, frame) = raised("r");
    assert!(class == "RangeError" && frame.ends_with("(deep)"), "{frame}");
}

#[test]
fn memory_of_node_is_bounded() {
    if !is_there() {
        return;
    }
    let limits = limits().with_memory(Some(256 << 20));
    let mut target = Function::new(subject("node:torture.js#run").limits(limits)).expect("a target");
    for (input, expected) in
        [("e1", Outcome::Exit(1)), ("m", Outcome::Memory), ("B", Outcome::Memory), ("e2", Outcome::Exit(2))]
    {
        assert_eq!(outcome(&mut target, input), expected, "{input}");
    }
}

#[test]
fn output_of_node_belongs_to_its_run() {
    if !is_there() {
        return;
    }
    let mut target = function("node:torture.js#run");
    for _ in 0..2 {
        let run = target.run(b"p").expect("a run");
        assert_eq!((&*run.stdout.bytes, &*run.stderr.bytes), (&b"a text\n"[..], &b"an error\n"[..]));
        let run = target.run(b"u").expect("a run");
        assert_eq!((&*run.stdout.bytes, &*run.stderr.bytes), (&b""[..], &b"Unusual: not usual\n"[..]));
        let run = target.run(b"t").expect("a run");
        assert_eq!(&*run.stdout.bytes, b"from a timer\n");
        let run = target.run(b"P").expect("a run");
        assert_eq!((run.stdout.bytes.len(), run.stdout.written), (1 << 16, 10_000_000));
    }
}

#[test]
fn counts_of_node_are_exact() {
    if !is_there() {
        return;
    }
    let mut target = function("node:torture.js#count");
    let counted = |target: &mut Function, input: &str| -> Vec<(u32, u64)> {
        let place = |(place, count): (String, u64)| {
            let line = place.rsplit_once("torture.js:").and_then(|(_, line)| line.strip_suffix(" (count)"));
            (line.and_then(|line| line.parse().ok()).unwrap_or(0), count)
        };
        let mut counted: Vec<(u32, u64)> = places(target, input).into_iter().map(place).collect();
        counted.sort_unstable();
        counted
    };
    // The function, the loop, `a`, not `a`, `b`, the two arms, the operand, the exit, what follows it, what follows the
    // loop.
    let expected = [(47, 1), (49, 6), (50, 2), (52, 4), (52, 1), (54, 3), (55, 3), (57, 3), (57, 2), (58, 4), (60, 1)];
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(counted(&mut target, "aabccd"), expected);
    let all = ["aabccd", "", "a", "b", "c", "d", "ab", "abcd", "aaaa"];
    let before = all.map(|input| edges(&mut target, input));
    for (input, before) in all.iter().zip(&before).rev() {
        assert!((0..100).all(|_| edges(&mut target, input).executed() == before.executed()), "{input}");
    }
    assert_eq!(counted(&mut target, "abcd").iter().map(|&(line, _)| line).collect::<Vec<_>>().len(), expected.len());
}

#[test]
fn counts_of_node_pass_32_bits() {
    if is_there() {
        counts_pass_32_bits(&mut function("node:torture.js#often"));
    }
}

#[test]
fn calls_of_node_end_at_a_number_of_edges() {
    if !is_there() {
        return;
    }
    let subject = subject("node:torture.js#run").limits(limits().with_edges(Some(100_000)));
    let mut target = Function::new(subject).expect("a target");
    for _ in 0..2 {
        assert_eq!(outcome(&mut target, "e3"), Outcome::Exit(3));
        assert_eq!(outcome(&mut target, "L"), Outcome::Edges);
    }
}

#[test]
fn edges_of_node_keep_their_numbers_in_another_process() {
    if !is_there() {
        return;
    }
    let mut target = Function::new(short(subject("node:torture.js#run"))).expect("a target");
    let inputs = ["u", "e1", "r", "p", "t", "!abc"];
    let before = inputs.map(|input| edges(&mut target, input));
    assert_eq!(outcome(&mut target, "l"), Outcome::Timeout);
    for (input, before) in inputs.iter().zip(&before).rev() {
        assert_eq!(edges(&mut target, input).executed(), before.executed(), "{input}");
    }
    // The counts up to shortly before the end are known.
    let spun = edges(&mut target, "L").hottest().expect("an edge");
    let place = target.place(spun.number).expect("a place").to_string();
    assert!(spun.count > 10_000 && place.ends_with("torture.js:25 (run)"), "{spun:?} {place}");
}

/// A module may execute much while it is loaded.
#[test]
fn what_node_executes_to_load_a_function_is_not_counted() {
    if !is_there() {
        return;
    }
    let folder = place("node-load");
    std::fs::write(
        folder.join("table.js"),
        "const table = []; for (let i = 0; i < 1000; i++) table.push(i);
exports.find = (text) => { for (const entry of table) if (String(entry) === text) return entry; };",
    )
    .expect("a file");
    let mut target = Function::new(subject("node:table.js#find").folder(folder).text()).expect("a target");
    let first = edges(&mut target, "3");
    assert_eq!(first, edges(&mut target, "3"));
    assert!(first.total() < 20, "{first:?}");
}

#[test]
fn node_functions_of_modules_and_packages_are_found() {
    if !is_there() {
        return;
    }
    for specification in ["node:parser.mjs#parse", "node:parser.mjs#default"] {
        let mut target = Function::new(subject(specification).text()).expect("a target");
        let short = edges(&mut target, "1+2");
        assert_eq!(outcome(&mut target, "(1 + 2) * 3 - 4"), Outcome::Exit(0));
        let long = edges(&mut target, &"(1 + 2) * 3 - 4 + ".repeat(50));
        assert!(long.total() > 50 * short.total(), "{short:?} {long:?}");
        let (class, frame) = exception(outcome(&mut target, "(1"));
        assert_eq!((&*class, &*frame), ("SyntaxError", "parser.mjs:37 (Parser.atom)"));
    }
    // A package in a folder of its own.
    let folder = place("node");
    let package = folder.join("node_modules/small");
    std::fs::create_dir_all(&package).expect("a folder");
    std::fs::write(package.join("index.js"), "module.exports = (text) => { if (text === '1') throw 1; };")
        .expect("one");
    let mut target = Function::new(subject("node:small#default").folder(folder).text()).expect("a target");
    assert_eq!(exception(outcome(&mut target, "1")).0, "number");
    assert_eq!(edges(&mut target, "2").total(), 1);
}

/// One of the packages that the judges of grammars need.
#[test]
fn a_package_from_npm_is_counted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/judges-node");
    if !is_there() {
        return;
    }
    if !folder.join("node_modules/json5").exists() {
        return gramjet_needs::lacks("what ci/judges-setup installs");
    }
    let mut target = Function::new(subject("node:json5#parse").folder(folder).text()).expect("a target");
    let text = "{a: [1, +2.5, 'b\\n', Infinity], /* c */}";
    assert_eq!(outcome(&mut target, text), Outcome::Exit(0));
    let first = edges(&mut target, text);
    assert!(first.executed().len() > 50 && first.total() > 500, "{first:?}");
    assert!((0..100).all(|_| edges(&mut target, text) == first));
    let (class, frame) = exception(outcome(&mut target, "{a: [1, }"));
    assert!(class == "SyntaxError" && frame.contains("index.js:") | frame.contains("parse.js:"), "{frame}");
}

#[test]
fn a_node_function_gets_a_buffer_or_text() {
    if !is_there() {
        return;
    }
    let mut target = Function::new(subject("node:torture.js#inner.text").text()).expect("a target");
    assert_eq!(outcome(&mut target, "a"), Outcome::Exit(0));
    assert_eq!(exception(outcome(&mut function("node:torture.js#inner.text"), "a")).0, "TypeError");
}

#[test]
fn a_confined_node_function_writes_no_files() {
    if !is_there() || offered() < Offered::Files {
        return;
    }
    let outside = place("node").join("outside");
    let mut target = Function::new(subject("node:torture.js#run").variable("OUTSIDE", &outside)).expect("a target");
    assert_eq!(exception(outcome(&mut target, "w")).0, "Error");
    assert!(!outside.exists());
}

#[test]
fn a_wrong_node_function_is_an_error_that_says_what_was_looked_for() {
    if !is_there() {
        return;
    }
    let begins = |specification: &str, expected: &str| {
        let error = error(subject(specification));
        assert!(error.starts_with(&format!("{specification}: {expected}")), "{error}");
    };
    begins("node:no-such.js#f", "there is no file /");
    begins("node:no-such#f", "there is no file /");
    begins("node:torture.js#no_such", "torture.js has no function `no_such`");
    begins("node:torture.js#number", "torture.js has no function `number`");
    begins(
        "node:broken.js#f",
        "broken.js failed when it was loaded: Error: Cannot find module 'nothing-that-is-there'",
    );
    let error = error(Subject::new("node:a#b").expect("a subject").interpreter("no-such-node"));
    assert_eq!(error, "no-such-node cannot be run: there is no such program");
}

#[test]
fn node_runs_are_fast() {
    if is_there() {
        assert_fast(subject("node:parser.mjs#parse").text(), "(1 + 2) * 3 - 4");
    }
}

#[test]
fn node_time_is_counted_by_the_function_that_calls_slow_code() {
    if !is_there() {
        return;
    }
    let folder = place("node-samples");
    let source = "exports.match = (text) => trimmed(String(text));\n\nfunction trimmed(text) {\n  return text.replace(/\\s+$/, '');\n}\n";
    std::fs::write(folder.join("blanks.js"), source).expect("a module");
    let text = [&[b' '; 30_000][..], b"x"].concat();
    let subject = || subject("node:blanks.js#match").folder(&folder);
    let mut target = Function::new(subject().counting(Counting::Nothing)).expect("a target");
    assert_eq!(edges(&mut target, "  x").total(), 0);
    let mut target = Function::new(subject().counting(Counting::Samples)).expect("a target");
    let run = target.run(&text).expect("a run");
    let (cpu, edges) = (run.usage.cpu.expect("a time"), run.edges.expect("counts"));
    let (hottest, micros) = (edges.hottest().expect("a function"), cpu.as_micros() as u64);
    assert!(hottest.count > micros / 2, "{} of {micros}", hottest.count);
    let place = target.place(hottest.number).expect("a place");
    assert!(place.file.ends_with("blanks.js") && place.function.contains("trimmed"), "{place}");
    assert!(place.function.contains("RegExp"), "{place}");
}

#[test]
fn node_tells_the_constants_that_its_code_compares() {
    if !is_there() {
        return;
    }
    let helper = "'use strict';\nexports.KEY = 'open sesame';\nexports.others = new Set(['alpha', 'beta']);\n";
    let source = "const helper = require('./helper');\nexports.run = (data) => {\n    const x = String(data);\n    \
                  switch (x) { case 'one': return 1; }\n    if (x.startsWith('<!--') || 'magic' === x) \
                  throw new Error('a message that says a lot of it');\n    \
                  return x[helper.KEY] ?? x['key'] ?? { gamma: 1 };\n};\n";
    let place = place("node-words");
    fs::write(place.join("helper.js"), helper).expect("a file");
    fs::write(place.join("tells.js"), source).expect("a file");
    let one = subject("node:tells.js#run").folder(&place);
    let words = told(one.clone().telling(Telling::Words));
    assert_eq!(words, ["one", "magic", "<!--", "key", "gamma", "alpha", "beta", "open sesame"]);
    assert_eq!(told(one.clone()), [""; 0]);
    assert_eq!(told(one.clone().telling(Telling::Words).counting(Counting::Nothing)), [""; 0]);
    let counts = |subject: Subject| edges(&mut Function::new(subject).expect("a target"), "x");
    assert_eq!(counts(one.clone().telling(Telling::Words)), counts(one));
}

#[test]
fn node_tells_the_regular_expressions_of_its_code() {
    if !is_there() {
        return;
    }
    let helper = "const made = (part) => new RegExp(`^${part}+$`, 'i');\nexports.made = made('[xy]');\n\
                  exports.called = RegExp('a*b') instanceof RegExp && made('z') instanceof RegExp;\n";
    let source = "const helper = require('./helper');\n\
                  exports.run = (data) => /\\s+$/m.test(String(data)) && helper.called;\n";
    let place = place("node-expressions");
    fs::write(place.join("helper.js"), helper).expect("a file");
    fs::write(place.join("tells.js"), source).expect("a file");
    let one = subject("node:tells.js#run").folder(&place);
    let found = expressions(one.clone().telling(Telling::Expressions));
    for expected in ["m/\\s+$", "i/^[xy]+$", "/a*b", "i/^z+$"] {
        assert!(found.contains(&expected.to_string()), "{expected}: {found:?}");
    }
    assert_eq!(expressions(one.clone()), [""; 0]);
    let counts = |subject: Subject| edges(&mut Function::new(subject).expect("a target"), "x");
    assert_eq!(counts(one.clone().telling(Telling::Expressions)), counts(one));
}
