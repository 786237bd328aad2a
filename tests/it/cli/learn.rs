//! `gramjet learn` and `gramjet weights --from-run`: weights from samples.

use super::*;

const PAIRS: &str =
    "pairs ::= pair (';' pair)*\npair ::= key '=' value\nkey ::= 'a' | 'b' | 'c'\nvalue ::= [0-9] | '(' pairs ')'\n";

/// Returns how often the inputs with these options have each of some bytes.
fn shares(grammar: &str, options: &[&str], of: &[u8]) -> Vec<f64> {
    let inputs = stdout(&[&["gen", grammar, "-n", "4000", "--seed", "5", "--max-depth", "8"], options].concat());
    let counts: Vec<usize> = of.iter().map(|byte| inputs.iter().filter(|found| *found == byte).count()).collect();
    let sum: usize = counts.iter().sum();
    counts.iter().map(|&count| count as f64 / sum.max(1) as f64).collect()
}

fn near(found: &[f64], expected: &[f64]) {
    let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.06);
    assert!(is_near, "{found:?} {expected:?}");
}

#[test]
fn inputs_are_like_the_samples_or_unlike_them() {
    let place = place("learn");
    let (grammar, samples, weights) = (place.path("pairs.ebnf"), place.path("samples"), place.path("w"));
    fs::write(&grammar, PAIRS).unwrap();
    fs::create_dir_all(format!("{samples}/inner")).unwrap();
    fs::write(format!("{samples}/1"), "a=1;a=1;a=1;b=1").unwrap();
    fs::write(format!("{samples}/inner/2"), "a=2;a=1;b=1;a=(a=1)").unwrap();
    fs::write(format!("{samples}/inner/.hidden"), "not a sample").unwrap();
    let learned = run(&["learn", &grammar, &samples, "-o", &weights]);
    assert!(learned.status.success(), "{}", text(&learned.stderr));
    assert!(text(&learned.stderr).contains("learned from 2 samples of 34 bytes"), "{}", text(&learned.stderr));
    near(&shares(&grammar, &["--weights", &weights], b"abc"), &[7.0 / 9.0, 2.0 / 9.0, 0.0]);
    near(&shares(&grammar, &["--weights", &weights], b"123"), &[7.0 / 8.0, 1.0 / 8.0, 0.0]);
    near(&shares(&grammar, &["--weights", &weights], b"=("), &[9.0 / 10.0, 1.0 / 10.0]);
    // Texts of the language still conform: what no sample has is improbable, not impossible.
    fs::write(place.path("other"), "c=7").unwrap();
    stdout(&["parse", &grammar, &place.path("other"), "--weights", &weights]);
    let swapped = text(&stdout(&["learn", &grammar, &samples, "--mode", "rank-swap"])).to_string();
    assert!(swapped.contains("\"alternatives\":[0,1456"), "{swapped}");
    stdout(&["learn", &grammar, &samples, "-o", &weights, "--smoothing", "3"]);
    near(&shares(&grammar, &["--weights", &weights], b"abc"), &[10.0 / 18.0, 5.0 / 18.0, 3.0 / 18.0]);
}

/// Checks that the probabilities that are learned from generated inputs are those with which they were generated,
/// within three standard errors.
fn known_probabilities_are_learned(name: &str, inputs: u32) {
    let place = place(name);
    let (grammar, samples) = (place.path("g.ebnf"), place.path("samples/"));
    // Sums of 256, so that the inputs have exactly these probabilities.
    fs::write(&grammar, "s ::= 'a' t @ 179 | 'b' t @ 51 | 'c' s @ 26\nt ::= 'x' @ 192 | 'y' @ 64\n").unwrap();
    stdout(&["gen", &grammar, "-n", &inputs.to_string(), "--seed", "9", "-o", &samples]);
    let file = text(&stdout(&["learn", &grammar, &samples, "--jobs", "2"])).to_string();
    assert_eq!(file, text(&stdout(&["learn", &grammar, &samples, "--jobs", "1"])), "the order of threads matters");
    for (rule, known) in [("s", &[179.0, 51.0, 26.0][..]), ("t", &[192.0, 64.0])] {
        let entry = file.lines().find(|line| line.contains(&format!("\"rule\":\"{rule}\""))).unwrap();
        let learned = entry.split("\"alternatives\":[").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
        let learned = learned.split(',').map(|weight| weight.parse::<f64>().unwrap() / 65536.0);
        let decisions = f64::from(inputs) / if rule == "s" { 1.0 - 26.0 / 256.0 } else { 1.0 };
        for (found, known) in learned.zip(known) {
            let p = known / 256.0;
            let error = (p * (1.0 - p) / decisions).sqrt();
            // Weights are rounded to slots.
            assert!((found - p).abs() <= 3.0 * error + 1.0 / 65536.0, "{p}: {file}");
        }
    }
}

#[test]
fn known_probabilities_are_found_again() {
    known_probabilities_are_learned("learn-known", 3000);
}

#[test]
#[ignore = "100 000 files"]
fn known_probabilities_are_found_again_in_a_long_run() {
    known_probabilities_are_learned("learn-known-many", 100_000);
}

#[test]
fn samples_that_do_not_conform_are_left_out() {
    let place = place("learn-left-out");
    let (grammar, good, bad) = (place.path("pairs.ebnf"), place.path("good"), place.path("bad"));
    fs::write(&grammar, PAIRS).unwrap();
    fs::write(&good, "a=1").unwrap();
    fs::write(&bad, "a=").unwrap();
    let learned = run(&["learn", &grammar, &bad, &good]);
    let said = text(&learned.stderr);
    assert!(learned.status.success() && said.contains("bad:1:3") && said.contains("1 sample left out"), "{said}");
    assert_eq!(run(&["learn", &grammar, &bad, &good, "--strict-samples"]).status.code(), Some(1));
    let nothing = run(&["learn", &grammar, &bad]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).contains("nothing was learned"), "{}", text(&nothing.stderr));
    let uncommon = ["--mode", "uncommon"];
    for wrong in [
        &[&uncommon[..], &["--similarity", "2"]].concat()[..],
        &[&uncommon[..], &["--damping", "0"]].concat(),
        &["--smoothing", "-1"],
        &["--context", "2"],
        &["--shape", "deep"],
        // Options of another mode.
        &["--similarity", "-1"],
        &["--mode", "rank-swap", "--damping", "1"],
    ] {
        assert_eq!(run(&[&["learn", &grammar, &good][..], wrong].concat()).status.code(), Some(2), "{wrong:?}");
    }
    stdout(&[&["learn", &grammar, &good, "--similarity", "0", "--damping", "1"], &uncommon[..]].concat());
}

#[test]
fn contexts_have_probabilities_of_their_own() {
    let place = place("learn-contexts");
    let (grammar, sample, weights) = (place.path("g.ebnf"), place.path("sample"), place.path("w"));
    fs::write(&grammar, "s ::= n '+' n\nn ::= 'a' | 'b'\n").unwrap();
    fs::write(&sample, "a+b").unwrap();
    let learned = run(&["learn", &grammar, &sample, "--context", "1", "-o", &weights]);
    assert!(text(&learned.stderr).contains("3 rules for the contexts"), "{}", text(&learned.stderr));
    for engine in ["jit", "vm", "bulk"] {
        let inputs = stdout(&["gen", &grammar, "--weights", &weights, "-n", "500", "--seed", "1", "--engine", engine]);
        let inputs = text(&inputs);
        let alike = inputs.lines().filter(|input| *input == "a+b").count();
        assert!(alike >= 498, "{engine}: {alike}");
    }
}

/// Lists and words of generated inputs are as long in the mean as those of the samples.
#[test]
fn lengths_are_those_of_the_samples() {
    let place = place("learn-lengths");
    let (grammar, samples, weights) = (place.path("g.ebnf"), place.path("samples"), place.path("w"));
    fs::write(&grammar, "s ::= (word ',')*\nword ::= [a-z]*\n").unwrap();
    fs::create_dir_all(&samples).unwrap();
    let (mut words, mut letters) = (0, 0);
    for number in 0..120 {
        let word = |at: usize| "w".repeat((number * 7 + at * 13) % 40);
        let sample: String = (0..number).map(|at| word(at) + ",").collect();
        words += number;
        letters += sample.len() - number;
        fs::write(format!("{samples}/{number}"), sample).unwrap();
    }
    stdout(&["learn", &grammar, &samples, "-o", &weights]);
    for engine in ["jit", "vm", "bulk"] {
        let inputs = stdout(&["gen", &grammar, "-n", "3000", "--seed", "2", "--engine", engine, "--weights", &weights]);
        let commas = inputs.iter().filter(|&&byte| byte == b',').count();
        let found = (commas as f64 / 3000.0, (inputs.len() - 3000 - commas) as f64 / commas as f64);
        let wanted = (words as f64 / 120.0, letters as f64 / words as f64);
        let near = |found: f64, wanted: f64| (found - wanted).abs() < 0.05 * wanted;
        assert!(near(found.0, wanted.0) && near(found.1, wanted.1), "{engine}: {found:?} {wanted:?}");
    }
}

/// Rules for contexts depend on the start rule, and the message says which one to give.
#[test]
fn weights_with_contexts_belong_to_a_start_rule() {
    let place = place("learn-contexts-start");
    let (grammar, sample, weights) = (place.path("g.ebnf"), place.path("sample"), place.path("w"));
    fs::write(&grammar, "s ::= n '+' n | '(' s ')'\nn ::= 'a' | 'b' | s\n").unwrap();
    fs::write(&sample, "a+b").unwrap();
    let refused = |options: &[&str]| {
        let output = run(&[&["gen", &grammar, "--weights", &weights][..], options].concat());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        text(&output.stderr).to_string()
    };
    stdout(&["learn", &grammar, &sample, "--context", "1", "-o", &weights]);
    let said = refused(&["--start", "n"]);
    assert!(said.contains("leave `--start` out"), "{said}");
    stdout(&["learn", &grammar, &sample, "--context", "1", "-o", &weights, "--start", "n"]);
    let said = refused(&[]);
    assert!(said.contains("give `--start n`"), "{said}");
    stdout(&["gen", &grammar, "--weights", &weights, "--start", "n"]);
}

/// The option of the user wins over the file of weights.
#[test]
fn zero_weights_are_dropped_on_request() {
    let place = place("learn-drop");
    let (grammar, sample, weights) = (place.path("g.ebnf"), place.path("sample"), place.path("w"));
    fs::write(&grammar, "s ::= t t t t\nt ::= 'a' @ 2 | 'b' @ 1 | 'c' @ 0\n").unwrap();
    fs::write(&sample, "accc").unwrap();
    stdout(&["learn", &grammar, &sample, "-o", &weights]);
    let with = |options: &[&str]| {
        text(&stdout(&[&["gen", &grammar, "-n", "300", "--seed", "1", "--weights", &weights], options].concat()))
            .to_string()
    };
    assert!(with(&[]).contains('c') && with(&["--zero-weights", "keep"]).contains('c'));
    for engine in ["jit", "vm", "bulk"] {
        let dropped = with(&["--zero-weights", "drop", "--engine", engine]);
        assert!(dropped.contains('a') && !dropped.contains('c'), "{engine}: {dropped}");
    }
    let parse = ["parse", &grammar, &sample, "--weights", &weights];
    stdout(&parse);
    assert_eq!(run(&[&parse[..], &["--zero-weights", "drop"]].concat()).status.code(), Some(1));
    // Choice bytes say which of the two languages they are of.
    let choices = place.path("choices");
    stdout(&[&parse[..], &["--choices", "-o", &choices]].concat());
    assert_eq!(text(&stdout(&["render", &grammar, &choices, "--weights", &weights])), "accc");
    let learned = run(&["learn", &grammar, &sample, "--zero-weights", "drop"]);
    assert_eq!(learned.status.code(), Some(1), "{}", text(&learned.stdout));
}

/// Inputs that a search has kept give weights, and so do failures.
#[test]
fn runs_give_weights() {
    let place = place("learn-run");
    let (grammar, out) = (place.path("pairs.ebnf"), place.path("out"));
    fs::write(&grammar, PAIRS).unwrap();
    assert_eq!(run(&["weights", &grammar, "--from-run", &out]).status.code(), Some(2));
    fs::create_dir_all(format!("{out}/failures/KEY")).unwrap();
    // Searches for failures leave `best` empty.
    fs::create_dir_all(format!("{out}/best")).unwrap();
    for (name, contents) in [("input", "c=1"), ("replay.sh", "#!/bin/sh"), ("output", "not a text")] {
        fs::write(format!("{out}/failures/KEY/{name}"), contents).unwrap();
    }
    let weights = run(&["weights", &grammar, "--from-run", &out]);
    assert!(text(&weights.stderr).contains("learned from 1 sample of 3 bytes"), "{}", text(&weights.stderr));
    fs::write(format!("{out}/best/1"), "b=(b=(b=2))").unwrap();
    let weights = run(&["weights", &grammar, "--from-run", &out]);
    assert!(text(&weights.stderr).contains("learned from 1 sample of 11 bytes"), "{}", text(&weights.stderr));
    // Half a use is added to each: 3.5 of 4.5.
    assert!(text(&weights.stdout).contains("[7282,50972,7282]"), "{}", text(&weights.stdout));
}

/// A search goes on with the setting of zero weights that it began with, and weights are learned under it.
#[cfg(target_os = "linux")]
#[test]
fn searches_keep_their_setting_of_zero_weights() {
    let place = place("learn-search");
    let (grammar, sample, weights) = (place.path("g.ebnf"), place.path("sample"), place.path("w"));
    fs::write(&grammar, "s ::= t t t t\nt ::= 'a' @ 2 | 'b' @ 1 | 'c' @ 0\n").unwrap();
    fs::write(&sample, "accc").unwrap();
    stdout(&["learn", &grammar, &sample, "-o", &weights]);
    for (command, setting) in [("fuzz", "drop"), ("search", "drop"), ("fuzz", "keep")] {
        let out = place.path(&format!("{command}-{setting}"));
        let search = |options: &[&str]| {
            let all = [command, &grammar, "--weights", &weights, "-n", "20", "-o", &out, "--no-progress"];
            let ended = run(&[&all[..], options, &["--", "/bin/cat"]].concat());
            assert_eq!(ended.status.code(), Some(0), "{command}: {}", text(&ended.stderr));
            let facts = fs::read_to_string(format!("{out}/search")).unwrap();
            assert!(facts.contains(&format!("zero-weights: {setting}\n")), "{facts}");
        };
        search(if setting == "drop" { &["--zero-weights", "drop"] } else { &[] });
        search(&[]);
        let _ = fs::remove_dir_all(format!("{out}/best"));
        fs::create_dir_all(format!("{out}/queue")).unwrap();
        fs::write(format!("{out}/queue/1"), "aaab").unwrap();
        let learned = text(&stdout(&["weights", &grammar, "--from-run", &out])).to_string();
        assert_eq!(learned.contains("\"keeps_zero_weights\": true"), setting == "keep", "{learned}");
    }
}
