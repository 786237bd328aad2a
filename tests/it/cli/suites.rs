//! Suites: `gen` with `--unique`, `--cover` and the like, and `check` of lengths and corpora.

use std::collections::BTreeSet;

use super::*;

const FINITE: &str = "a ::= [ab] 'x'{0,2} | 'c' ('1' | '2')\n";

/// Writes a grammar to a file of its own; returns its path.
fn grammar(place: &Place, name: &str, content: &str) -> String {
    let path = place.path(name);
    fs::write(&path, content).unwrap();
    path
}

fn lines(bytes: &[u8]) -> Vec<String> {
    text(bytes).lines().map(str::to_string).collect()
}

/// Returns the objects of the index of a suite.
fn index(folder: &str) -> Vec<serde_json::Value> {
    let content = fs::read_to_string(format!("{folder}/index.jsonl")).unwrap();
    content.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn unique_inputs_differ_and_end_with_the_language() {
    let place = place("suites-unique");
    let file = grammar(&place, "finite.ebnf", FINITE);
    let output = run(&["gen", &file, "--unique", "-n", "100", "--seed", "1"]);
    assert!(output.status.success());
    let mut found = lines(&output.stdout);
    found.sort();
    assert_eq!(found, ["a", "ax", "axx", "b", "bx", "bxx", "c1", "c2"]);
    let told = "8 inputs (24 bytes) are all: there are no other inputs within the limits";
    assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    // The first inputs are those of a run with repetitions, without these.
    let all = lines(&stdout(&["gen", &file, "-n", "500", "--seed", "1"]));
    let mut known = BTreeSet::new();
    let first: Vec<String> = all.into_iter().filter(|line| known.insert(line.clone())).collect();
    assert_eq!(lines(&stdout(&["gen", &file, "--unique", "-n", "5", "--seed", "1"])), first[..5]);
}

#[test]
fn unique_inputs_keep_limits_amounts_and_folders() {
    let place = place("suites-unique-limits");
    let lists = grammar(&place, "lists.ebnf", "list ::= '[' (list (',' list)*)? ']'\n");
    let output = run(&["gen", &lists, "--unique", "-n", "50", "--max-len", "7", "--seed", "1"]);
    assert!(output.status.success());
    assert_eq!(lines(&output.stdout).into_iter().collect::<BTreeSet<_>>().len(), 4);
    let bytes = stdout(&["gen", &lists, "--unique", "--bytes", "300", "--seed", "1"]);
    assert!(bytes.len() >= 300 && lines(&bytes).iter().collect::<BTreeSet<_>>().len() == lines(&bytes).len());
    let folder = place.path("out/");
    stdout(&["gen", &lists, "--unique", "-n", "9", "--seed", "1", "-o", &folder, "--ext", "txt"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 9);
}

#[test]
fn a_run_without_new_inputs_ends_with_code_1() {
    let place = place("suites-unique-tries");
    // Nearly all inputs are one, and the language is too large to be looked through.
    let level = |name: &str, next: &str| format!("{name} ::= 'x' @ 255 | {next} @ 1\n");
    let content = level("a", "b") + &level("b", "c") + &level("c", "d") + &level("d", "[a-z]{8}");
    let rare = grammar(&place, "rare.ebnf", &content);
    let output = run(&["gen", &rare, "--unique", "-n", "1M", "--seed", "1"]);
    let told = text(&output.stderr);
    let is_ended = told.contains("100000 inputs in a row were there before") && output.status.code() == Some(1);
    assert!(is_ended, "{told}");
    assert!(lines(&output.stdout).contains(&"x".to_string()));
}

#[test]
fn covers_are_folders_with_an_index() {
    let place = place("suites-cover");
    let file = grammar(&place, "sum.ebnf", "sum ::= term (('+' | '-') term)*\nterm ::= [0-9]{1,3} | '(' sum ')'\n");
    let folder = place.path("suite/");
    let output = run(&["gen", &file, "--cover", "2", "-o", &folder, "--ext", "txt"]);
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(text(&output.stderr).contains("20 of 20 paths of up to 2 alternatives in"), "{}", text(&output.stderr));
    let mut covered = BTreeSet::new();
    for line in index(&folder) {
        let name = line["file"].as_str().unwrap();
        assert!(name.ends_with(".txt") && line["valid"] == true && line["why"].is_string());
        assert!(run(&["parse", &file, &format!("{folder}/{name}")]).status.success());
        covered.extend(line["covers"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_string()));
    }
    assert_eq!(covered.len(), 20);
    assert!(covered.contains("sum-1.more > sum-2.2") && covered.contains("term.2 > sum"), "{covered:?}");
    // The same texts go to standard output.
    let joined = lines(&stdout(&["gen", &file, "--cover", "2"]));
    assert_eq!(joined.len(), index(&folder).len());
    assert_eq!(stdout(&["gen", &file, "--cover", "2", "--seed", "0"]), stdout(&["gen", &file, "--cover", "2"]));
}

#[test]
fn what_no_text_within_the_limits_has_is_told() {
    let place = place("suites-beyond");
    let file = grammar(&place, "nested.ebnf", "a ::= 'x' | '(' a ')' | '[' b ']'\nb ::= 'yyyyy' | 'z'\n");
    let folder = place.path("suite/");
    let output = run(&["gen", &file, "--cover", "1", "--max-len", "3", "-o", &folder]);
    let told = text(&output.stderr);
    assert!(told.contains("4 of 5 paths") && told.contains("beyond the limits: b.1"), "{told}");
    let last = index(&folder).pop().unwrap();
    assert_eq!((last["missing"].as_str(), last["why"].as_str()), (Some("b.1"), Some("beyond the limits")));
}

#[test]
fn enumerations_ascend_by_length() {
    let place = place("suites-enumerate");
    let lists = grammar(&place, "lists.ebnf", "list ::= '[' (list (',' list)*)? ']'\n");
    let output = run(&["gen", &lists, "--enumerate", "--max-len", "7"]);
    assert_eq!(lines(&output.stdout), ["[]", "[[]]", "[[[]]]", "[[],[]]"]);
    let told = text(&output.stderr);
    for part in ["2 bytes: 1 derivation\n", "7 bytes: 1 derivation\n", "gramjet: 4 texts\n"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(lines(&stdout(&["gen", &lists, "--enumerate", "-n", "2"])), ["[]", "[[]]"]);
    let finite = grammar(&place, "finite.ebnf", FINITE);
    assert_eq!(lines(&stdout(&["gen", &finite, "--enumerate"])), ["a", "b", "ax", "bx", "c1", "c2", "axx", "bxx"]);
    // Of two derivations of a text, one is written.
    let sums = grammar(&place, "sums.ebnf", "e ::= e '+' e | 'x'\n");
    let output = run(&["gen", &sums, "--enumerate", "--max-len", "7"]);
    assert_eq!(lines(&output.stdout), ["x", "x+x", "x+x+x", "x+x+x+x"]);
    assert!(text(&output.stderr).contains("4 texts; 5 derivations made a text again"), "{}", text(&output.stderr));
}

#[test]
fn check_counts_texts() {
    let place = place("suites-lengths");
    let sums = grammar(&place, "sums.ebnf", "e ::= e '+' e | 'x'\n");
    let told = text(&stdout(&["check", &sums, "--lengths", "7"]));
    for part in ["texts      1 byte: 1\n", "3 bytes: 1\n", "7 bytes: 1 (with 5 derivations)\n"] {
        assert!(told.contains(part), "{told}");
    }
    let letters = grammar(&place, "letters.ebnf", "s ::= [a-z]{30}\n");
    let told = text(&stdout(&["check", &letters, "--lengths", "40"]));
    let count = "2813198901284745919258621029615971520741376 derivations (texts may have several)";
    assert!(told.contains(count), "{told}");
    let json: serde_json::Value =
        serde_json::from_slice(&stdout(&["check", &sums, "--lengths", "5", "--json"])).unwrap();
    let last = &json["facts"]["texts"][2];
    let found = (last["length"].as_u64(), last["derivations"].as_str(), last["texts"].as_u64());
    assert_eq!(found, (Some(5), Some("2"), Some(1)), "{json}");
}

#[test]
fn invalid_texts_are_told_and_refused() {
    let place = place("suites-invalid");
    let folder = place.path("wrong/");
    let output = run(&["gen", "json", "--invalid", "140", "-o", &folder, "--ext", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let index = index(&folder);
    let kinds: BTreeSet<&str> = index.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!((index.len(), kinds.len()), (140, 14), "{kinds:?}");
    for line in &index {
        let file = format!("{folder}/{}", line["file"].as_str().unwrap());
        assert!(line["valid"] == false && line["why"].as_str().unwrap().contains("expected"), "{line}");
        assert_eq!(run(&["parse", "json", &file]).status.code(), Some(1), "{file}");
    }
    // Alternatives of weight 0 are read: a text that has them is not invalid.
    let few = grammar(&place, "few.ebnf", "s ::= 'a' t\nt ::= 'b' | 'c' @ 0 | 'aa' @ 0\n");
    let made = lines(&stdout(&["gen", &few, "--invalid", "20"]));
    assert!(!made.iter().any(|text| ["ab", "ac", "aaa"].contains(&&**text)), "{made:?}");
    let all = grammar(&place, "all.ebnf", "s ::= ([#x0-#xD7FF#xE000-#x10FFFF] | [#b80-#bFF])*\n");
    let output = run(&["gen", &all, "--invalid", "3"]);
    let told = text(&output.stderr);
    assert!(output.status.code() == Some(1) && told.contains("no more than 0 invalid texts were found"), "{told}");
}

#[test]
fn boundaries_and_pairs_are_suites() {
    let place = place("suites-boundary");
    let file = grammar(&place, "date.ebnf", "date ::= [0-9]{2,4} '-' ('0' [1-9] | '1' [0-2]) 'Z'?\n");
    let folder = place.path("edges/");
    stdout(&["gen", &file, "--boundary", "-o", &folder]);
    let mut validity = [0, 0];
    for line in index(&folder) {
        let path = format!("{folder}/{}", line["file"].as_str().unwrap());
        let is_valid = line["valid"].as_bool().unwrap();
        assert_eq!(run(&["parse", &file, &path]).status.success(), is_valid, "{line}");
        validity[usize::from(is_valid)] += 1;
    }
    assert!(validity[0] >= 4 && validity[1] >= 8, "{validity:?}");
    assert_eq!(lines(&stdout(&["gen", &file, "--boundary"])).len(), validity[1]);
    let output = run(&["gen", &file, "--pairs", "-o", &place.path("pairs/")]);
    assert!(text(&output.stderr).contains("12 of 12 pairs"), "{}", text(&output.stderr));
    assert!(index(&place.path("pairs")).iter().all(|line| line["rule"] == "date"));
}

#[test]
fn corpora_are_reported_and_distilled() {
    let place = place("suites-corpus");
    let file = grammar(&place, "sum.ebnf", "sum ::= term (('+' | '-') term)*\nterm ::= [0-9]{1,3} | '(' sum ')'\n");
    let corpus = place.path("corpus");
    fs::create_dir(&corpus).unwrap();
    for (name, content) in [("a", "1+2"), ("b", "3+4"), ("c", "(1-23)"), ("d", "1+")] {
        fs::write(format!("{corpus}/{name}"), content).unwrap();
    }
    let few = place.path("few");
    let output = run(&["check", &file, "--corpus", &corpus, "--distil", &few]);
    let told = text(&output.stdout);
    for part in ["files      3 of 4 files conform", "paths      19 of 20 of up to 2 alternatives (95.0 %)"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(told.contains("distilled  2 files") && told.contains("/b\n"), "{told}");
    assert!(text(&output.stderr).contains("/d:1:3: byte 2: expected"), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(&few).unwrap().count(), 2);
    // A cover has all paths, and all its files are needed.
    let suite = place.path("suite/");
    stdout(&["gen", &file, "--cover", "3", "-o", &suite]);
    let told = text(&stdout(&["check", &file, "--corpus", &suite, "--cover", "3"]));
    assert!(told.contains("(100.0 %)") && !told.contains("missing"), "{told}");
    assert!(told.contains(&format!("distilled  {} file", index(&suite).len())), "{told}");
    // What is there is not written over.
    for out in [&corpus, &few] {
        let refused = run(&["check", &file, "--corpus", &corpus, "--distil", out]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    }
    assert_eq!(fs::read(format!("{corpus}/a")).unwrap(), b"1+2");
    let again = run(&["gen", &file, "--cover", "1", "-o", &suite]);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
    let none = run(&["check", &file, "--corpus", &file]);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none.stderr));
}

#[test]
fn labels_go_with_suites_of_choices() {
    let place = place("suites-labels");
    let content = "file ::= chunk+\nchunk ::= $dec(len(d), 2) d:(word | '#' $word2)\nword ::= [a-z]{1,3}\n";
    let file = grammar(&place, "chunk.ebnf", &content.replace("$word2", "word"));
    for suite in [&["--cover", "2"][..], &["--pairs"], &["--boundary"]] {
        let folder = place.path("suite/");
        let _ = fs::remove_dir_all(&folder);
        stdout(&[&["gen", &file, "-o", &folder], suite].concat());
        for line in index(&folder).iter().filter(|line| line["valid"] == true) {
            let path = format!("{folder}/{}", line["file"].as_str().unwrap());
            assert!(run(&["parse", &file, &path]).status.success(), "{suite:?} {line}");
        }
    }
    assert_eq!(lines(&stdout(&["gen", &file, "--invalid", "50"])).len(), 50);
    let refused = run(&["gen", &file, "--enumerate", "-n", "3"]);
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("has labels, names or codings"));
}

#[test]
fn suites_refuse_what_they_cannot_do() {
    let place = place("suites-wrong");
    let file = place.grammar();
    let cases: &[(&[&str], &str)] = &[
        (&["--unique", "--jobs", "2"], "cannot be used with"),
        (&["--unique", "--shard", "0/2", "--seed", "1"], "cannot be used with"),
        (&["--unique", "--engine", "bulk"], "`--unique` is not possible with `--engine bulk`"),
        (&["--cover", "0"], "0 is not in 1..=16"),
        (&["--cover", "2", "-n", "3"], "cannot be used with"),
        (&["--cover", "2", "--unique"], "cannot be used with"),
        (&["--cover", "2", "--shape", "uniform"], "cannot be used with"),
        (&["--enumerate"], "`--max-len` or `-n` says how many"),
        (&["--enumerate", "-n", "3", "--max-depth", "5"], "bounded by lengths"),
        (&["--enumerate", "--pairs"], "cannot be used with"),
        (&["--invalid", "0"], "0 is not in 1..=1000000"),
        (&["--boundary", "--bytes", "3"], "cannot be used with"),
        (&["--cover", "2", "--weights", file], "cannot be used with"),
        (&["--cover", "2", "--max-len", "1"], "the shortest input of this grammar has 2 bytes"),
    ];
    for (arguments, expected) in cases {
        let output = run(&[&["gen", file], *arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
    }
    for arguments in [&["--distil", "x"][..], &["--cover", "2"], &["--corpus", ".", "--json"]] {
        assert_eq!(run(&[&["check", file], arguments].concat()).status.code(), Some(2), "{arguments:?}");
    }
    let circle = grammar(&place, "circle.ebnf", "s ::= 'a' t\nt ::= u | 'x'\nu ::= v? t\nv ::= 'y'\n");
    let refused = run(&["gen", &circle, "--enumerate", "-n", "3"]);
    assert!(text(&refused.stderr).contains("infinitely many ways: rule `"), "{}", text(&refused.stderr));
}
