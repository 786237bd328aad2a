//! Functions of Python.

use std::fs;
use std::time::Duration;

use gramjet_harness::{Counting, Function, Offered, Outcome, Subject, Target, Telling, offered};

use super::kit::{
    assert_fast, counts_pass_32_bits, edges, error, exception, expressions, interpreters, limits, outcome, places,
    programs, short, subject, told,
};
use crate::kit::place;

/// Counts come from `sys.monitoring` in some, from `sys.settrace` in others.
fn pythons() -> Vec<&'static str> {
    interpreters(&["python3", "python3.9", "python3.12", "python3.13", "python3.14"])
}

fn function(specification: &str, python: &str) -> Function {
    Function::new(subject(specification).interpreter(python)).expect("a target")
}

#[test]
fn python_outcomes_say_how_the_function_ended() {
    for python in pythons() {
        let mut target = Function::new(short(subject("python:torture:run").interpreter(python))).expect("a target");
        for (input, expected) in [
            ("", Outcome::Exit(0)),
            ("e3", Outcome::Exit(3)),
            ("E", Outcome::Exit(1)),
            ("x", Outcome::Exit(5)),
            ("l", Outcome::Timeout),
            ("M", Outcome::Memory),
            ("t", Outcome::Exit(0)),
            ("T", Outcome::Exit(0)),
            ("k", Outcome::Signal(11)),
            ("f", Outcome::Exit(0)),
            ("F", Outcome::Exit(0)),
            ("b", Outcome::Processes),
            ("c", Outcome::Exit(0)),
            // The worker has lost the process that it answers to.
            ("C", Outcome::Exit(1)),
            ("i", Outcome::Exit(0)),
            ("e0", Outcome::Exit(0)),
        ] {
            assert_eq!(outcome(&mut target, input), expected, "{input} {python}");
        }
        assert_eq!(outcome(&mut target, "Q"), Outcome::Timeout);
        let raised = exception(outcome(&mut target, "u"));
        assert_eq!(raised, ("torture.Unusual".into(), "torture.py:19 (raise_deep)".into()));
        let raised = exception(outcome(&mut target, "j"));
        assert_eq!(raised.0, "json.decoder.JSONDecodeError");
        let Outcome::Exception(raised_as) = outcome(&mut target, "j") else { panic!("no exception") };
        assert!(
            ["json.decoder.JSONDecodeError", "JSONDecodeError", "ValueError"].iter().all(|name| raised_as.is_a(name))
        );
        assert!(!raised_as.is_a("TypeError") && !raised_as.is_a("object"), "{raised_as:?}");
        assert!(raised.1.ends_with("(run)"), "{raised:?}");
        let raised = exception(outcome(&mut target, "r"));
        assert!(raised.0 == "RecursionError" && raised.1.ends_with("(deep)"), "{raised:?}");
    }
}

#[test]
fn python_memory_is_bounded() {
    for python in pythons() {
        let limits = limits().with_memory(Some(256 << 20));
        let mut target = Function::new(subject("python:torture:run").interpreter(python).limits(limits)).expect("one");
        for (input, expected) in [("e1", 1), ("m", -1), ("m", -1), ("e2", 2)] {
            let expected = if expected < 0 { Outcome::Memory } else { Outcome::Exit(expected) };
            assert_eq!(outcome(&mut target, input), expected);
        }
    }
}

#[test]
fn python_output_belongs_to_its_run() {
    for python in pythons() {
        let mut target = function("python:torture:run", python);
        for _ in 0..2 {
            let run = target.run(b"p").expect("a run");
            assert_eq!((&*run.stdout.bytes, &*run.stderr.bytes), (&b"a text\n"[..], &b"an error\n"[..]));
            let run = target.run(b"u").expect("a run");
            assert_eq!((&*run.stdout.bytes, &*run.stderr.bytes), (&b""[..], &b"torture.Unusual: not usual\n"[..]));
            let run = target.run(b"t").expect("a run");
            assert_eq!(String::from_utf8_lossy(&run.stdout.bytes), "from a thread\n".repeat(3));
            let run = target.run(b"P").expect("a run");
            assert_eq!((run.stdout.bytes.len(), run.stdout.written), (1 << 16, 10_000_000));
        }
    }
}

#[test]
fn python_counts_are_exact() {
    for python in pythons() {
        let mut target = function("python:torture:count", python);
        let counted = places(&mut target, "aabcc");
        let of_line = |line: u32| {
            let place = format!("torture.py:{line} (count)");
            counted.iter().filter(|(found, _)| found.ends_with(&place)).map(|&(_, count)| count).sum::<u64>()
        };
        // Two of `a`, one of `b`.
        assert_eq!((of_line(91), of_line(93)), (2, 1), "{python} {counted:?}");
        for input in ["aabcc", "", "b"] {
            let first = edges(&mut target, input);
            assert!((0..100).all(|_| edges(&mut target, input) == first), "{python} {input}");
        }
        let (short, long) = (edges(&mut target, "ab"), edges(&mut target, &"ab".repeat(100)));
        assert!(long.total() > 20 * short.total(), "{short:?} {long:?}");
    }
}

#[test]
fn counts_of_python_pass_32_bits() {
    for python in pythons() {
        counts_pass_32_bits(&mut function("python:torture:often", python));
    }
}

#[test]
fn calls_of_python_end_at_a_number_of_edges() {
    for python in pythons() {
        let limits = limits().with_edges(Some(100_000));
        let subject = subject("python:torture:run").interpreter(python).limits(limits);
        let mut target = Function::new(subject).expect("a target");
        for _ in 0..2 {
            assert_eq!(outcome(&mut target, "e3"), Outcome::Exit(3));
            assert_eq!(outcome(&mut target, "l"), Outcome::Edges);
        }
    }
}

#[test]
fn edges_of_python_keep_their_numbers_in_another_process() {
    for python in pythons() {
        let mut target = Function::new(short(subject("python:torture:run").interpreter(python))).expect("a target");
        let inputs = ["u", "e1", "r", "p", "t"];
        let before = inputs.map(|input| edges(&mut target, input));
        assert_eq!(outcome(&mut target, "l"), Outcome::Timeout);
        for (input, before) in inputs.iter().zip(&before).rev() {
            assert_eq!(edges(&mut target, input).executed(), before.executed(), "{python} {input}");
        }
        // The counts up to the end are known.
        let spun = edges(&mut target, "l");
        assert!(spun.hottest().expect("an edge").count > 10_000, "{spun:?}");
        let hottest = target.place(spun.hottest().expect("an edge").number).expect("a place").to_string();
        assert!(hottest.ends_with("torture.py:35 (run)") || hottest.ends_with("torture.py:36 (run)"), "{hottest}");
    }
}

#[test]
fn modules_of_the_standard_library_are_counted_where_they_are_named() {
    for python in pythons() {
        let text = r#"{"a": [1, 2.5, true, null, "b\n"]}"#;
        let mut target = Function::new(subject("python:json:loads").interpreter(python)).expect("a target");
        let counted = places(&mut target, text);
        assert!(counted.iter().all(|(place, _)| place.contains("/json/")), "{counted:?}");
        assert!(counted.iter().any(|(place, _)| place.contains("json/decoder.py")), "{counted:?}");
        let (class, frame) = exception(outcome(&mut target, "[1,"));
        assert_eq!(class, "json.decoder.JSONDecodeError");
        assert!(frame.starts_with("decoder.py:") && frame.ends_with("raw_decode)"), "{frame}");
        let mut narrow = Function::new(subject("python:torture:parse").interpreter(python).text()).expect("a target");
        let mut wide =
            Function::new(subject("python:torture:parse").interpreter(python).text().own("json")).expect("one");
        let (narrow, first) = (edges(&mut narrow, text), edges(&mut wide, text));
        assert!(first.total() > 10 * narrow.total(), "{python} {first:?} {narrow:?}");
        assert!((0..100).all(|_| edges(&mut wide, text) == first), "{python}");
        // Exceptions are where they were.
        let (_, frame) = exception(outcome(&mut wide, "[1,"));
        assert!(frame.starts_with("torture.py:"), "{frame}");
    }
}

#[test]
fn a_python_function_gets_bytes_or_text() {
    for python in pythons() {
        let specification = format!("python:{}:Holder.text", programs().join("torture.py").display());
        let text = subject(&specification).interpreter(python).text();
        let mut target = Function::new(text).expect("a target");
        assert_eq!(target.run(b"\xff").expect("a run").outcome, Outcome::Exit(0));
        let mut target = function(&specification, python);
        assert_eq!(exception(outcome(&mut target, "a")).0, "TypeError");
    }
}

#[test]
fn a_confined_python_function_writes_no_files() {
    if offered() < Offered::Files {
        return;
    }
    for python in pythons() {
        let outside = place("python").join("outside");
        let mut target = Function::new(subject("python:torture:run").interpreter(python).variable("OUTSIDE", &outside))
            .expect("one");
        // As Landlock, or the namespace of mounts, refuses it.
        assert!(["PermissionError", "OSError"].contains(&&*exception(outcome(&mut target, "w")).0));
        assert!(!outside.exists());
    }
    assert!(fs::metadata(programs().join("__pycache__")).is_err());
}

#[test]
fn a_wrong_python_function_is_an_error_that_says_what_was_looked_for() {
    for python in pythons() {
        let error_of = |specification: &str| error(subject(specification).interpreter(python));
        let begins = |specification: &str, expected: &str| {
            let error = error_of(specification);
            assert!(error.starts_with(&format!("{specification}: {expected}")), "{error}");
        };
        begins("python:no_such:f", "there is no module `no_such` in /");
        begins("python:json.no_such:f", "there is no module `json.no_such` in /");
        begins("python:no_such.py:f", "there is no file /");
        begins("python:torture:no_such", "the module `torture` has no function `no_such`");
        begins("python:torture:number", "`number` of the module `torture` cannot be called");
        begins("python:broken:f", "the module `broken` failed when it was imported: ModuleNotFoundError");
    }
    let error = error(Subject::new("python:json:loads").expect("a subject").interpreter("no-such-python"));
    assert_eq!(error, "no-such-python cannot be run: there is no such program");
}

#[test]
fn python_runs_are_begun_and_waited_for() {
    for python in pythons() {
        let mut target = Function::new(subject("python:json:loads").interpreter(python)).expect("a function");
        target.start(b"[1, 2]").expect("a start");
        target.start(b"[1, 2").expect("a start");
        let run = target.finish().expect("a run");
        assert!(matches!(run.outcome, Outcome::Exception(_)), "{}", run.outcome);
        target.start(b"[1, 2]").expect("a start");
        assert_eq!(target.finish().expect("a run").outcome, Outcome::Exit(0));
    }
}

#[test]
fn python_runs_are_fast() {
    for python in pythons() {
        let text = r#"{"a": [1, 2, true, null, "b"], "c": {}}"#;
        assert_fast(subject("python:json:loads").interpreter(python), text);
    }
}

/// A function that loads for a second when a process calls it first, and never returns for one input.
const COLD: &str = "
import time
loaded = []
def run(data):
    if not loaded:
        loaded.append(True)
        end = time.process_time() + 2
        while time.process_time() < end:
            pass
    while data == b'l':
        pass
";

#[test]
fn the_place_where_python_hangs_is_told() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let folder = place("hangs");
    let code = "import re\ndef one(text):\n    return re.match('(a+)+$', text)\ndef run(data):\n    \
        if data == b'1': one('a' * 50 + 'b')\n    if data == b'2': re.match('(b+)+$', 'b' * 50 + 'c')\n    \
        while data == b'3':\n        one('a')\n        one('b')\n";
    fs::write(folder.join("hangs.py"), code).expect("a file");
    let subject = subject("python:hangs:run").folder(&folder);
    let mut target = Function::new(subject.limits(limits().with_time(Duration::from_millis(200)))).expect("a target");
    let mut hangs = |input: &str| {
        let run = target.run(input.as_bytes()).expect("a run");
        let told = run.place.and_then(|place| place.rsplit('/').next()).map(str::to_string);
        (run.outcome, told)
    };
    assert_eq!(hangs(""), (Outcome::Exit(0), None));
    for _ in 0..2 {
        assert_eq!(hangs("1"), (Outcome::Timeout, Some("hangs.py:3 (one)".to_string())));
        assert_eq!(hangs("2"), (Outcome::Timeout, Some("hangs.py:6 (run)".to_string())));
    }
    // It may come to several places.
    assert_eq!(hangs("3").0, Outcome::Timeout);
}

#[test]
fn a_call_that_waits_is_no_timeout_until_long_after_the_limit() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let folder = place("waits");
    fs::write(folder.join("waits.py"), "import time\ndef run(data):\n    time.sleep(float(data))\n").expect("a file");
    let subject = subject("python:waits:run").text().folder(&folder);
    let limits = limits().with_time(Duration::from_millis(200)).with_longest(Duration::from_secs(5));
    let mut target = Function::new(subject.limits(limits)).expect("a target");
    for (input, expected) in [("0", Outcome::Exit(0)), ("0.5", Outcome::Exit(0)), ("1000", Outcome::Timeout)] {
        assert_eq!(outcome(&mut target, input), expected, "{input}");
    }
}

#[test]
fn a_first_call_that_loads_nothing_does_not_make_later_ones_exceed_the_limit() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let folder = place("cold-later");
    let code = COLD.replace("if not loaded:", "if data and not loaded:");
    fs::write(folder.join("cold.py"), code).expect("a file");
    let subject = subject("python:cold:run").folder(&folder);
    let mut target = Function::new(subject.limits(limits().with_time(Duration::from_secs(1)))).expect("a target");
    // The second call in the first process is cold, and nobody knows that yet.
    assert_eq!(["", "a"].map(|input| outcome(&mut target, input)), [Outcome::Exit(0), Outcome::Timeout]);
    for (input, earlier) in [("a", 0), ("l", 1), ("", 0), ("b", 1)] {
        let run = target.run(input.as_bytes()).expect("a run");
        let expected = if input == "l" { Outcome::Timeout } else { Outcome::Exit(0) };
        assert_eq!((run.outcome, run.earlier), (expected, earlier), "{input}");
    }
}

#[test]
fn a_first_call_that_loads_what_later_ones_need_is_no_timeout() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let folder = place("cold");
    fs::write(folder.join("cold.py"), COLD).expect("a file");
    let subject = subject("python:cold:run").folder(&folder);
    let mut target = Function::new(subject.limits(limits().with_time(Duration::from_secs(1)))).expect("a target");
    // A process takes inputs until one of them ends it.
    for (input, earlier) in [("a", 0), ("b", 1), ("l", 2), ("a", 0), ("l", 1), ("c", 0)] {
        let run = target.run(input.as_bytes()).expect("a run");
        let expected = if input == "l" { Outcome::Timeout } else { Outcome::Exit(0) };
        assert_eq!((run.outcome, run.earlier), (expected, earlier), "{input}");
    }
}

#[test]
fn a_slow_call_of_which_the_result_is_remembered_is_a_timeout_in_each_new_process() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let folder = place("remembers");
    let code = "import time\nknown = set()\ndef run(data):\n    if data not in known:\n        known.add(data)\n        \
        end = time.process_time() + (2 if data == b's' else 0)\n        while time.process_time() < end:\n            pass\n";
    fs::write(folder.join("remembers.py"), code).expect("a file");
    let subject = subject("python:remembers:run").folder(&folder);
    let mut target = Function::new(subject.limits(limits().with_time(Duration::from_secs(1)))).expect("a target");
    assert_eq!(["a", "s"].map(|input| outcome(&mut target, input)), [Outcome::Exit(0), Outcome::Timeout]);
    for _ in 0..2 {
        target.renew().expect("a new process");
        assert_eq!(outcome(&mut target, "s"), Outcome::Timeout);
    }
    assert_eq!(outcome(&mut target, "b"), Outcome::Exit(0));
}

#[test]
fn what_was_printed_does_not_hide_the_place_where_python_hangs() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let folder = place("hides");
    let code = "import sys\ndef run(data):\n    print('x' * 100_000, file=sys.stderr)\n    while data:\n        pass\n";
    fs::write(folder.join("hides.py"), code).expect("a file");
    let limits = limits().with_time(Duration::from_millis(500)).with_kept_output(1000);
    let mut target = Function::new(subject("python:hides:run").folder(&folder).limits(limits)).expect("a target");
    assert_eq!(outcome(&mut target, ""), Outcome::Exit(0));
    let run = target.run(b"l").expect("a run");
    assert!(run.place.is_some_and(|place| place.ends_with(" (run)")), "{:?}", run.place);
    assert_eq!((run.outcome, run.stderr.bytes.len()), (Outcome::Timeout, 1000));
}

#[test]
fn python_time_is_counted_by_the_line_that_calls_slow_code() {
    let folder = place("python-samples");
    let source = "import re\n\ndef match(text):\n    for _ in range(9):\n        text = text[:]\n    return re.sub(rb'\\s+$', b'', text)\n";
    fs::write(folder.join("blanks.py"), source).expect("a module");
    let text = [&[b' '; 9000][..], b"x"].concat();
    for python in pythons() {
        let subject = || subject("python:blanks:match").interpreter(python).folder(&folder);
        let mut target = Function::new(subject().counting(Counting::Nothing)).expect("a target");
        assert_eq!(edges(&mut target, "  x").total(), 0);
        let mut target = Function::new(subject().counting(Counting::Samples)).expect("a target");
        let run = target.run(&text).expect("a run");
        let (cpu, edges) = (run.usage.cpu.expect("a time"), run.edges.expect("counts"));
        let (total, hottest) = (edges.total(), edges.hottest().expect("a line"));
        // Microseconds, of which nearly all are spent in the call.
        let micros = cpu.as_micros() as u64;
        assert!(total <= micros && hottest.count > micros / 2, "{total} and {} of {micros}", hottest.count);
        assert_eq!(target.place(hottest.number).expect("a place").line, 6);
    }
}

#[test]
fn python_tells_the_constants_that_its_code_compares() {
    let helper =
        "KEY = 'open sesame'\nOTHERS = frozenset({'alpha', 'beta'})\n\ndef f(x):\n    'A docstring.'\n    return x\n";
    let source = "import json\nimport helper\n\ndef run(data):\n    'Another one.'\n    x = str(data)\n    \
                  if x.startswith(('<!--', '-->')) or b'magic' == data or x in ['one', 'two']:\n        \
                  raise ValueError('a message that says a lot of it')\n    return helper.KEY in x\n";
    let place = place("python-words");
    fs::write(place.join("helper.py"), helper).expect("a file");
    fs::write(place.join("tells.py"), source).expect("a file");
    for python in pythons() {
        let one = subject("python:tells:run").folder(&place).interpreter(python);
        let words = told(one.clone().telling(Telling::Words));
        assert_eq!(words, ["magic", "one", "two", "<!--", "-->", "alpha", "beta", "open sesame"], "{python}");
        assert_eq!(told(one.clone()), [""; 0]);
        assert_eq!(told(one.clone().telling(Telling::Words).counting(Counting::Nothing)), [""; 0]);
        // What the function executes is the same.
        let counts = |subject: Subject| edges(&mut Function::new(subject).expect("a target"), "x");
        assert_eq!(counts(one.clone().telling(Telling::Words)), counts(one));
        let standard = told(subject("python:json.decoder:JSONDecoder").interpreter(python).telling(Telling::Words));
        assert!(standard.contains(&"Infinity".to_string()) && standard.len() <= 512, "{standard:?}");
    }
}

#[test]
fn python_tells_the_regular_expressions_of_its_code() {
    let helper = "import re\nBLANKS = re.compile(r'\\s+$', re.M)\nWHOLE = r'[a-z]+@%s' % r'\\w*'\n\n\
                  def f(x):\n    return re.sub('(a|b)*c', '', x)\n";
    let source = "import json\nimport re\nimport helper\nre.compile(helper.WHOLE)\n\n\
                  def run(data):\n    'No [class] (of) any. kind'\n    return re.match(b'\\\\d+' + data[:1], data)\n";
    let place = place("python-expressions");
    fs::write(place.join("helper.py"), helper).expect("a file");
    fs::write(place.join("tells.py"), source).expect("a file");
    for python in pythons() {
        let one = subject("python:tells:run").folder(&place).interpreter(python);
        let found = expressions(one.clone().telling(Telling::Expressions));
        let expected = ["m/\\s+$", "/[a-z]+@\\w*", "b/\\d+", "/(a|b)*c", "/\\s+$"];
        assert!(expected[..4].iter().all(|expected| found.contains(&expected.to_string())), "{python}: {found:?}");
        assert!(found.iter().all(|found| found.len() < 20), "those of other modules are none: {found:?}");
        assert_eq!(expressions(one.clone()), [""; 0]);
        let counts = |subject: Subject| edges(&mut Function::new(subject).expect("a target"), "x");
        assert_eq!(counts(one.clone().telling(Telling::Expressions)), counts(one));
        // A module of the standard library that is named.
        let standard = subject("python:html.parser:HTMLParser").interpreter(python);
        let found = expressions(standard.telling(Telling::Expressions));
        assert!(found.len() > 5, "{python}: {found:?}");
    }
}

/// Sources are looked at in a time that grows with their length, and whatever modules do.
#[test]
fn python_tells_regular_expressions_of_large_and_odd_modules() {
    let names: Vec<String> = (0..20_000).map(|number| format!("'w{number}'")).collect();
    let source = format!(
        "import re, sys, types\n\
         class Odd(types.ModuleType):\n    def __getattr__(self, name):\n        raise ImportError(name)\n\
         sys.modules['odd'] = Odd('odd')\nNAMES = re.compile('|'.join([{}]))\nTEXT = 'x\\d'\n\
         def run(data):\n    return re.sub(b'\\xff+', b'', data)\n",
        names.join(",")
    );
    let place = place("python-large");
    fs::write(place.join("large.py"), source).expect("a file");
    for python in pythons() {
        let one = subject("python:large:run").folder(&place).interpreter(python);
        assert_eq!(expressions(one.telling(Telling::Expressions)), ["b/\u{ff}+"], "{python}");
    }
}
