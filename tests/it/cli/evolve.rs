//! `gramjet evolve`, and the strategies of `gramjet fuzz`.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::fuzz::{planted, run_in, within};
use super::{Place, gramjet, place, text};

/// Runs with a limit on time and without progress, and returns the exit code and the messages.
fn evolve(place: &Place, options: &[&str], program: &[&str]) -> (Option<i32>, String) {
    let begin = ["evolve", "json", "--timeout", "50ms", "--max-tests", "20"];
    let output = run_in(place, &[&begin, options, &["--"], program].concat());
    (output.status.code(), text(&output.stderr).to_string())
}

#[test]
#[ignore = "run by ci/test"]
fn failures_are_found_and_weights_are_written_and_the_search_goes_on() {
    let place = planted("evolve-planted");
    let program = ["./planted", "@@"];
    let common = &["--strategy", "common"][..];
    for (out, runs, options) in [("out", "400", &[][..]), ("paper", "200", &["--paper"]), ("common", "200", common)] {
        let (code, said) = evolve(&place, &[&["-n", runs, "-o", out][..], options].concat(), &program);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("guided by coverage") && said.contains("new failure"), "{said}");
        assert!(said.contains(&format!("the weights of the last {runs} texts are in `{out}/weights`")), "{said}");
        assert!(fs::read_dir(place.path(&format!("{out}/failures"))).unwrap().count() >= 1);
        for engine in ["jit", "bulk"] {
            let weights = format!("{out}/weights");
            let options = ["gen", "json", "--weights", &weights, "-n", "50", "--seed", "1", "--engine", engine];
            let inputs = run_in(&place, &options);
            assert!(inputs.status.success() && !inputs.stdout.is_empty(), "{}", text(&inputs.stderr));
        }
    }
    let log = fs::read_to_string(place.path("out/log.csv")).unwrap();
    let rows: Vec<Vec<f64>> =
        log.lines().skip(1).map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert!(log.starts_with("seconds,runs,edges,texts,failing,failures,exceptions\n"), "{log}");
    assert!(rows.windows(2).all(|rows| rows[0].iter().zip(&rows[1]).all(|(one, two)| one <= two)), "{log}");
    let last = rows.last().unwrap();
    assert!(last[1] >= 400.0 && last[2] > 5.0 && last[5] >= 1.0, "{log}");
    // It goes on where it was: what fails there is known, and its texts are the last ones. Another grammar is another
    // search.
    fs::create_dir_all(place.path("known")).unwrap();
    for failure in fs::read_dir(place.path("out/failures")).unwrap().map(|entry| entry.unwrap()) {
        let key = failure.file_name().into_string().unwrap();
        if !key.contains("timeout") {
            fs::copy(failure.path().join("minimised"), place.path(&format!("known/{key}"))).unwrap();
        }
    }
    let known = ["-n", "0", "-o", "out", "--samples", "known", "--timeout", "20s", "--max-tests", "0"];
    let again = run_in(&place, &[&["evolve", "json"], &known[..], &["--"], &program].concat());
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let (_, said) = evolve(&place, &["-n", "10", "-o", "out"], &program);
    assert!(said.contains("the weights of the last 410 texts are in"), "{said}");
    let other = run_in(&place, &["evolve", "css", "-n", "1", "-o", "out", "--", "./planted", "@@"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("has a search with grammar `"), "{}", text(&other.stderr));
    let replayed = run_in(&place, &["fuzz", "json", "-o", "out", "--replay", "--", "./planted", "@@"]);
    assert_eq!(replayed.status.code(), Some(1), "{}", text(&replayed.stderr));
}

#[test]
fn the_first_texts_and_the_weights_are_like_the_samples() {
    let place = place("evolve-samples");
    let grammar = place.path("g.ebnf");
    fs::write(&grammar, "s ::= t (',' t)*\nt ::= 'a' | 'b' | 'c' | '(' s ')'\n").unwrap();
    fs::create_dir_all(place.path("samples")).unwrap();
    // One of them is longer than any text of the search.
    fs::write(place.path("samples/1"), format!("a{}", ",a,a,b".repeat(200))).unwrap();
    fs::write(place.path("samples/2"), "a,a,b,a,a").unwrap();
    fs::write(place.path("samples/3"), "no sample").unwrap();
    let share = |options: &[&str], program: &str, code: i32| {
        let begin = ["evolve", "g.ebnf", "-n", "60", "-o", "out", "--max-len", "60", "--max-tests", "0"];
        let evolved = run_in(&place, &[&begin, options, &["--", "sh", "-c", program]].concat());
        assert_eq!(evolved.status.code(), Some(code), "{}", text(&evolved.stderr));
        fs::rename(place.path("out/weights"), place.path("weights")).unwrap();
        fs::remove_dir_all(place.path("out")).unwrap();
        let inputs = run_in(&place, &["gen", "g.ebnf", "--weights", "weights", "-n", "2000", "--seed", "1"]).stdout;
        let count = |wanted: u8| inputs.iter().filter(|byte| **byte == wanted).count() as f64;
        (count(b'b') + count(b'c')) / (count(b'a') + count(b'b') + count(b'c'))
    };
    let common = ["--strategy", "common"];
    let samples = [&common[..], &["--samples", "samples"]].concat();
    // A third of the letters in the samples are b, also if the program fails on all of them.
    for (program, code) in [("cat > /dev/null", 0), ("cat > /dev/null; kill -SEGV $$", 1)] {
        let learned = share(&samples, program, code);
        assert!((learned - 1.0 / 3.0).abs() < 0.1, "{learned}");
    }
    let even = share(&common, "cat > /dev/null", 0);
    assert!((even - 2.0 / 3.0).abs() < 0.1, "{even}");
}

/// A worker that is still at the samples does not take what others have made by then for samples.
#[test]
fn what_another_worker_finds_is_no_sample() {
    let place = place("evolve-workers");
    fs::write(place.path("g.ebnf"), "s ::= 'a' | 'b' t\nt ::= 'x' t | 'y'\n").unwrap();
    fs::create_dir_all(place.path("samples")).unwrap();
    // One worker runs the text that does not conform, and waits there. The exit status is the length, so what begins
    // with b is new again and again.
    for text in ["a", "bxxxy", "slow"] {
        fs::write(place.path(&format!("samples/{text}")), text).unwrap();
    }
    let program = "read -r text; case $text in \
        slow) until [ \"$(wc -l < MADE)\" -ge 100 ]; do sleep 0.02; done;; \
        *) echo \"$text\" >> MADE;; esac; \
        case $text in b*) exit ${#text};; esac";
    let program = &program.replace("MADE", &place.path("made"));
    fs::write(place.path("made"), "").unwrap();
    let options = ["evolve", "g.ebnf", "--strategy", "common", "--samples", "samples", "-j", "2", "-n", "400"];
    let run =
        run_in(&place, &[&options[..], &["--timeout", "60s", "--unconfined", "--", "sh", "-c", program]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("nothing is learned from them"), "{}", text(&run.stderr));
    let made = fs::read_to_string(place.path("made")).unwrap();
    let later: Vec<&str> = made.lines().skip(100).collect();
    let share = later.iter().filter(|text| text.starts_with('b')).count() as f64 / later.len() as f64;
    assert!(share < 0.62, "{share}");
}

#[test]
#[ignore = "run by ci/test"]
fn a_search_that_is_killed_leaves_its_weights() {
    let place = planted("evolve-killed");
    let mut command = gramjet();
    command.args(["evolve", "json", "--time", "120s", "--max-tests", "0", "--", "./planted", "@@"]);
    let mut search = within(&mut command, &place).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !Path::new(&place.path("evolve-out/weights")).exists() {
        assert!(search.try_wait().unwrap().is_none(), "the search has ended by itself");
        std::thread::sleep(Duration::from_millis(50));
    }
    search.kill().unwrap();
    search.wait().unwrap();
    let inputs = run_in(&place, &["gen", "json", "--weights", "evolve-out/weights", "-n", "5", "--seed", "1"]);
    assert!(inputs.status.success(), "{}", text(&inputs.stderr));
}

#[test]
#[ignore = "run by ci/test"]
fn weights_that_cannot_be_written_do_not_hide_failures() {
    let place = planted("evolve-unwritten");
    let (code, said) = evolve(&place, &["-n", "0", "-o", "out"], &["./planted", "@@"]);
    assert_eq!(code, Some(0), "{said}");
    fs::create_dir_all(place.path("out/weights")).unwrap();
    let options = ["-n", "300", "-o", "out", "--junit", "report.xml"];
    let (code, said) = evolve(&place, &options, &["./planted", "@@"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("new failure") && said.contains("weights: "), "{said}");
    let report = fs::read_to_string(place.path("report.xml")).unwrap();
    assert!(report.contains("<failure"), "{report}");
}

#[test]
fn edges_of_runs_that_fail_are_counted() {
    let place = planted("evolve-edges");
    fs::create_dir_all(place.path("samples")).unwrap();
    fs::write(place.path("samples/1"), "[[[[0]]]]").unwrap();
    let options = ["evolve", "json", "-n", "0", "--json", "--max-tests", "0", "--samples", "samples"];
    let found = run_in(&place, &[&options[..], &["--", "./planted", "@@"]].concat());
    let end: serde_json::Value = serde_json::from_str(text(&found.stdout).lines().last().unwrap()).unwrap();
    assert!(end["failing"] == 1 && end["edges"].as_u64().unwrap() > 3, "{end}");
    let log = fs::read_to_string(place.path("evolve-out/log.csv")).unwrap();
    assert_eq!(log.lines().last().unwrap().split(',').nth(2), Some(&*end["edges"].to_string()), "{log}");
}

#[test]
fn exceptions_are_counted_by_class() {
    if !gramjet_needs::has("python3") {
        return;
    }
    let place = place("evolve-exceptions");
    let module = "class TimeoutException(Exception): pass\nclass Odd(Exception): pass\ndef parse(text):\n \
         if b'[' in text: raise TimeoutException()\n if b'{' in text: raise Odd()\n if b't' in text: raise KeyError()\n";
    fs::write(place.path("planted_module.py"), module).unwrap();
    let options = ["evolve", "json", "-n", "400", "-o", "out", "--json", "--max-tests", "0", "--expect", "Odd"];
    let found = run_in(&place, &[&options[..], &["--", "python:planted_module:parse"]].concat());
    let end: serde_json::Value = serde_json::from_str(text(&found.stdout).lines().last().unwrap()).unwrap();
    let counts = ["exceptions", "unexpected_exceptions", "failures"].map(|name| end[name].as_u64().unwrap());
    // Two classes are of the module itself.
    assert_eq!(counts, [3, 1, 2], "{end}");
    assert!(end["operators"]["evolve"]["made"].as_u64().unwrap() >= 400, "{end}");
    let options = ["evolve", "json", "-n", "400", "-o", "file", "--max-tests", "0", "--expect", "Odd"];
    let found = run_in(&place, &[&options[..], &["--", "python:planted_module.py:parse"]].concat());
    let said = text(&found.stderr);
    assert!(said.contains("gramjet: 3 classes of exceptions, 1 of them unexpected (not"), "{said}");
}

#[test]
fn what_cannot_evolve_is_refused_before_a_folder_is_made() {
    let place = place("evolve-refused");
    for (arguments, said) in [
        (&["--strategy", "common", "--paper"][..], "`--paper` needs `--strategy evolve`"),
        (&["--strategy", "other"], "invalid value 'other'"),
        (&["--max-depth", "5"], "no limit but `--max-len`"),
        (&["--max-len", "0"], "too small"),
    ] {
        let (code, message) = evolve(&place, &[arguments, &["-o", "none"]].concat(), &["cat"]);
        assert_eq!(code, Some(2), "{arguments:?}: {message}");
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert!(!Path::new(&place.path("none")).exists(), "{arguments:?}");
    }
    let output = run_in(&place, &["evolve", "json", "-o", "none", "--", "./nothing"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("there is no such program"));
    let output = run_in(&place, &["fuzz", "json", "-o", "none", "--paper", "--", "cat"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("`--paper` needs"));
}
