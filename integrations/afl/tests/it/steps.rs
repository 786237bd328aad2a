//! The calls of AFL++, in its order.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use gramjet::choices::Header;
use gramjet_afl::{Configuration, Mutator};

fn mutator(variables: &[(&str, &str)], seed: u32) -> Mutator {
    let variables = variables.iter().map(|&(name, value)| (OsString::from(name), OsString::from(value)));
    Mutator::new(Configuration::new(variables).expect("good variables"), seed).expect("a grammar")
}

/// Returns a queue directory as AFL++ makes it.
fn queue(test: &str, instance: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    if instance == "a" {
        let _ = fs::remove_dir_all(&out);
    }
    let queue = out.join(instance).join("queue");
    fs::create_dir_all(&queue).expect("a directory");
    queue
}

const TEXT: &[u8] = b"[{\"a\": [1, 2, 3]}]";

#[test]
fn mutants_conform_and_depend_on_the_seed() {
    let run = |seed| {
        let mut mutator = mutator(&[("GRAMJET_GRAMMAR", "json"), ("GRAMJET_FUZZ_COUNT", "300")], seed);
        assert_eq!(mutator.fuzz_count(TEXT), 300);
        assert_eq!(mutator.fuzz_count(b"[1, 2"), 300 / 16);
        let mut mutants = Vec::new();
        for _ in 0..300 {
            let mut mutant = Vec::new();
            mutator.fuzz(TEXT, Some(b"[\"other\"]"), 1 << 20, &mut mutant);
            assert!(mutator.session().language().parse(&mutant).is_ok() && mutant.len() <= 8192);
            assert!(!mutator.description().is_empty());
            mutants.push(mutant);
        }
        assert!(mutator.summary().contains("2 parsed, 1 not parsed; "), "{}", mutator.summary());
        assert!(mutator.session().statistics().changed >= 290);
        mutants
    };
    let first = run(1);
    assert!(first == run(1) && first != run(2));
    assert!(first.iter().any(|mutant| mutant.windows(7).any(|part| part == b"\"other\"")));
}

#[test]
fn what_does_not_conform_stands_for_random_inputs() {
    let mut mutator = mutator(&[("GRAMJET_GRAMMAR", "json")], 1);
    let mut mutant = Vec::new();
    mutator.fuzz(b"\xFF[", None, 100, &mut mutant);
    assert!(mutator.session().language().parse(&mutant).is_ok() && mutant.len() <= 100);
    assert_eq!((mutator.description(), mutator.begin_trim(b"\xFF[")), ("fresh", 0));
    mutator.fuzz(TEXT, None, 0, &mut mutant);
    assert!(mutant.is_empty(), "no JSON text is empty");
}

/// Trims as AFL++ does, with a condition on the texts; returns the remaining text and the number of executions.
fn trim(mutator: &mut Mutator, text: &[u8], holds: impl Fn(&[u8]) -> bool) -> (Vec<u8>, u32) {
    let steps = mutator.begin_trim(text);
    let (mut step, mut executions) = (0, 0);
    let mut best = text.to_vec();
    while step < steps {
        let tried = mutator.trimmed().to_vec();
        executions += 1;
        let is_good = holds(&tried);
        if is_good {
            best = tried;
        }
        step = mutator.end_step(is_good);
    }
    (best, executions)
}

#[test]
fn entries_are_trimmed_along_their_structure() {
    let mut mutator = mutator(&[("GRAMJET_GRAMMAR", "json")], 1);
    let text = b"{\"x\": [1, [\"deep\", 2, 3], 4, 5], \"y\": true, \"z\": {\"k\": null}}";
    let holds = |text: &[u8]| text.windows(4).any(|part| part == b"deep");
    let (best, executions) = trim(&mut mutator, text, holds);
    assert!(holds(&best) && best.len() <= 24 && executions <= 256, "{} {executions}", String::from_utf8_lossy(&best));
    let parsed = mutator.session().statistics().parsed;
    assert_eq!(mutator.fuzz_count(&best), 512);
    assert_eq!(mutator.session().statistics().parsed, parsed, "what was trimmed is known");
    // Nothing helps: the number of executions is bounded, too.
    let (best, executions) = trim(&mut mutator, text, |_| false);
    assert!(best == text && executions <= 256);
    let mut without = self::mutator(&[("GRAMJET_GRAMMAR", "json"), ("GRAMJET_TRIM_COUNT", "0")], 1);
    assert_eq!(trim(&mut without, text, holds).1, 0);
}

/// Derivations are kept next to the queue, and need no parse after a restart or in another instance.
#[test]
fn streams_are_found_again_and_by_other_instances() {
    let (own, other) = (queue("streams", "a"), queue("streams", "b"));
    let variables = [("GRAMJET_GRAMMAR", "json")];
    let mut first = mutator(&variables, 1);
    let mut text = Vec::new();
    first.fuzz(TEXT, None, 1000, &mut text);
    let entry = own.join("id:000000");
    fs::write(&entry, &text).expect("a file");
    first.add(&entry);
    // How many texts a mutator has parsed that is shown an entry.
    let parsed = |entry: &Path| {
        let mut mutator = mutator(&variables, 2);
        mutator.visit(entry);
        assert_eq!(mutator.fuzz_count(&text), 512);
        mutator.session().statistics().parsed
    };
    assert_eq!(parsed(Path::new("elsewhere")), 1);
    assert_eq!(parsed(&entry), 0);
    let synced = other.join("id:000000,sync:a");
    fs::write(&synced, &text).expect("a file");
    assert_eq!(parsed(&synced), 0);
    // Files of earlier versions have no header; those of other grammars, with other weights for example, are made
    // again.
    let stream = fs::read_dir(own.join("../choices")).expect("streams").flatten().next().expect("a stream").path();
    let recorded = fs::read(&stream).expect("a file");
    let (header, choices) = Header::split(&recorded).expect("a whole header");
    let header = header.expect("a header");
    fs::write(&stream, choices).expect("a file");
    assert_eq!((parsed(&entry), parsed(&synced)), (0, 0));
    fs::write(&stream, Header { choices: header.choices ^ 1, ..header }.before(choices)).expect("a file");
    assert_eq!((parsed(&entry), parsed(&synced)), (1, 1));
    let mut again = mutator(&variables, 2);
    again.add(&entry);
    assert_eq!(fs::read(&stream).expect("a file"), recorded);
    assert_eq!((parsed(&entry), parsed(&synced)), (0, 0));
    // Choice bytes of something else are not taken.
    for stream in fs::read_dir(own.join("../choices")).expect("streams").flatten() {
        fs::write(stream.path(), b"\x00\x80\xFF").expect("a file");
    }
    assert_eq!((parsed(&entry), parsed(&synced)), (1, 1));
}
