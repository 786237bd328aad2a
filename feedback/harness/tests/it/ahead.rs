//! Inputs that a program gets before it has run on earlier ones.

use std::path::Path;
use std::time::{Duration, Instant};

use gramjet_harness::{Edges, ForkServer, Limits, Outcome, Program, Target};

use crate::fork_server::own;
use crate::kit::processes_of;

/// The end of a run and its counts.
type Ended = (Outcome, Edges);

fn server(program: &Path, limits: Limits) -> ForkServer {
    let none: [&str; 0] = [];
    ForkServer::new(Program::new(program, none).expect("the program").limits(limits)).expect("a fork server")
}

fn finish(target: &mut ForkServer) -> Ended {
    let run = target.finish().expect("a run");
    (run.outcome, run.edges.expect("edges").clone())
}

/// Returns the results of inputs, as many of which are given at a time.
fn results(target: &mut ForkServer, inputs: &[Vec<u8>], at_a_time: usize) -> Vec<Ended> {
    assert!(at_a_time <= target.room());
    let mut results = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        if number >= at_a_time {
            results.push(finish(target));
        }
        target.start(input).expect("a start");
    }
    results.extend((results.len()..inputs.len()).map(|_| finish(target)));
    results
}

/// Checks that the results are those of one input at a time.
fn assert_same(program: &Path, limits: Limits, inputs: &[Vec<u8>], expected: impl Fn(&[Ended])) {
    let one_by_one = results(&mut server(program, limits), inputs, 1);
    expected(&one_by_one);
    let room = server(program, limits).room();
    assert!(room > 1);
    for at_a_time in [2, 5, room] {
        let together = results(&mut server(program, limits), inputs, at_a_time);
        for (number, (one, other)) in one_by_one.iter().zip(&together).enumerate() {
            assert_eq!(one, other, "{at_a_time} at a time, {number}");
        }
    }
}

/// Returns limits for a busy machine, which may need long for a short run.
fn patient() -> Limits {
    Limits::default().with_time(Duration::from_secs(5))
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn inputs_given_ahead_have_the_same_results() {
    let Some(program) = own("harness") else { return };
    let mut inputs = Vec::new();
    for round in 0..40 {
        inputs.extend(texts(&["some text", "", "a"]));
        inputs.push(vec![b'x'; round * 7 % 50]);
        // It comes alone.
        inputs.extend((round % 10 == 3).then(|| vec![b'y'; 100_000]));
        inputs.extend((round % 5 == 2).then(|| b"BUG".to_vec()));
    }
    inputs.extend(texts(&["BUG", "BUG"]));
    assert_same(&program, patient(), &inputs, |results| {
        for (input, (outcome, edges)) in inputs.iter().zip(results) {
            let expected = if input == b"BUG" { Outcome::Signal(6) } else { Outcome::Exit(0) };
            assert_eq!(*outcome, expected);
            assert!(edges.total() > 0 || expected != Outcome::Exit(0));
        }
    });
}

/// The process ends after every fifth input, and whenever an input ends it.
#[test]
fn a_process_that_ends_is_followed_by_another_one() {
    let Some(program) = own("rounds") else { return };
    let inputs: Vec<Vec<u8>> = (0..60)
        .map(|number| match number % 11 {
            3 => b"exit".to_vec(),
            7 => b"abort".to_vec(),
            _ => vec![b'x'; number],
        })
        .collect();
    assert_same(&program, patient(), &inputs, |results| {
        for (input, (outcome, _)) in inputs.iter().zip(results) {
            let expected = match input.first() {
                Some(b'e') => Outcome::Exit(3),
                Some(b'a') => Outcome::Signal(6),
                _ => Outcome::Exit(0),
            };
            assert_eq!(*outcome, expected);
        }
    });
}

#[test]
fn an_input_that_takes_too_long_is_ended_alone() {
    let Some(program) = own("rounds") else { return };
    let inputs = texts(&["x", "s", "*", "S", "x", "*", "*", "s", "x"]);
    let mut target = server(&program, Limits::default());
    let outcomes: Vec<Outcome> = results(&mut target, &inputs, 9).into_iter().map(|(outcome, _)| outcome).collect();
    for (input, outcome) in inputs.iter().zip(outcomes) {
        assert_eq!(outcome, if input == b"*" { Outcome::Timeout } else { Outcome::Exit(0) });
    }
}

/// The harness always finds a result, as each input takes less time than it waits; or it waits more than once for each.
#[test]
fn slow_inputs_have_their_own_time_each() {
    let Some(program) = own("rounds") else { return };
    for (input, count) in [(&b"s"[..], 400), (b"S", 60)] {
        let mut target = server(&program, Limits::default());
        for (outcome, _) in results(&mut target, &vec![input.to_vec(); count], 16) {
            assert_eq!(outcome, Outcome::Exit(0));
        }
        target.start(input).expect("a start");
        let wall = target.finish().expect("a run").usage.wall;
        assert!(wall >= Duration::from_millis(2) && wall < Duration::from_secs(1), "{wall:?}");
    }
}

#[test]
fn memory_that_earlier_inputs_have_left_is_not_counted() {
    let Some(program) = own("rounds") else { return };
    let limits = patient().with_memory(Some(100 << 20));
    let mut inputs = vec![b"m".to_vec(); 20];
    inputs.extend(texts(&["x", "x"]));
    let mut target = server(&program, limits);
    let outcomes = results(&mut target, &inputs, 16);
    assert!(outcomes.iter().all(|(outcome, _)| *outcome == Outcome::Exit(0)), "{outcomes:?}");
}

#[test]
fn processes_that_are_left_are_ended_while_inputs_are_given() {
    let Some(program) = own("rounds") else { return };
    let mut target = server(&program, patient());
    let mut inputs = Vec::new();
    for _ in 0..100 {
        inputs.extend(texts(&["d", "S", "x"]));
    }
    let outcomes = results(&mut target, &inputs, 16);
    assert!(outcomes.iter().all(|(outcome, _)| *outcome == Outcome::Exit(0)), "{outcomes:?}");
    drop(target);
    assert_eq!(processes_of(&program), [""; 0]);
}

#[test]
fn output_is_that_of_the_run_where_inputs_are_given_one_by_one() {
    let Some(program) = own("rounds") else { return };
    let mut target = server(&program, patient());
    for pause in [0, 20] {
        for text in ["p one", "x", "p two", "p three"] {
            target.start(text.as_bytes()).expect("a start");
            std::thread::sleep(Duration::from_millis(pause));
            let run = target.finish().expect("a run");
            let expected = if text == "x" { String::new() } else { format!("{text}\n") };
            assert_eq!(String::from_utf8_lossy(&run.stdout.bytes), expected);
        }
    }
}

/// Whatever a program does to what it shares with the harness, runs have an end.
#[test]
fn programs_that_write_to_shared_memory_end() {
    let Some(program) = own("rounds") else { return };
    let limits = Limits::default();
    for input in ["F", "I", "B", "O", "W", "K", "l"] {
        let mut target = server(&program, limits);
        let inputs: Vec<Vec<u8>> =
            (0..12).flat_map(|number| texts(&[if number % 4 == 1 { input } else { "s" }])).collect();
        let begin = Instant::now();
        assert_eq!(results(&mut target, &inputs, 16.min(inputs.len())).len(), inputs.len());
        assert!(begin.elapsed() < Duration::from_secs(60), "{input}");
        // What it has said is still there.
        if ["F", "W"].contains(&input) {
            target = server(&program, limits);
        }
        // A wrong time does not keep an endless run alive.
        assert_ne!(target.run(b"*").expect("a run").outcome, Outcome::Exit(0), "{input}");
        assert_eq!(target.run(b"x").expect("a run").outcome, Outcome::Exit(0), "{input}");
    }
}

#[test]
fn limits_hold_for_each_input_given_ahead() {
    let Some(program) = own("many") else { return };
    let limits = Limits::default().with_time(Duration::from_secs(20)).with_edges(Some(1000));
    let inputs = texts(&["1", "*7", "2", "2000", "3", "*7", "*8", "4"]);
    let mut target = server(&program, limits);
    let outcomes: Vec<Outcome> = results(&mut target, &inputs, 8).into_iter().map(|(outcome, _)| outcome).collect();
    let (done, stopped) = (Outcome::Exit(0), Outcome::Edges);
    let expected = [&done, &stopped, &done, &stopped, &done, &stopped, &stopped, &done];
    assert_eq!(outcomes.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn runs_with_many_edges_and_large_counts_are_whole() {
    let Some(program) = own("many") else { return };
    let inputs = texts(&["1", "16384", "3", "2", "+20", "5", "16384", "16384", "+16000", "8192", "8191", "8000", "4"]);
    assert_same(&program, patient(), &inputs, |results| {
        let executed: Vec<usize> = results.iter().map(|(_, edges)| edges.executed().len()).collect();
        assert!(executed[1] > 16384 && executed[2] < 20, "{executed:?}");
        assert!(results[4].1.hottest().expect("an edge").count > u64::from(u32::MAX));
        assert!(results[5].1.hottest().expect("an edge").count < 100);
    });
    // About as many edges as there is room for: each branch is one, and is executed once.
    let branches = 8150..8200;
    let inputs: Vec<Vec<u8>> = branches.clone().map(|branches| branches.to_string().into_bytes()).collect();
    assert_same(&program, patient(), &inputs, |results| {
        let executed: Vec<usize> = results.iter().map(|(_, edges)| edges.executed().len()).collect();
        assert!(executed.is_sorted_by(|one, next| one + 1 == *next), "{executed:?}");
        for ((_, edges), branches) in results.iter().zip(branches.clone()) {
            let once = edges.executed().iter().filter(|edge| edge.count == 1).count();
            assert!(once >= branches, "{once} of {branches}");
        }
    });
}

#[test]
fn without_room_the_first_result_is_lost() {
    let Some(program) = own("harness") else { return };
    let mut target = server(&program, Limits::default());
    let room = target.room();
    target.start(b"BUG").expect("a start");
    for _ in 0..room {
        target.start(b"text").expect("a start");
    }
    let outcomes: Vec<Outcome> = (0..room).map(|_| finish(&mut target).0).collect();
    assert_eq!(outcomes, vec![Outcome::Exit(0); room]);
}

#[test]
fn programs_without_a_loop_get_one_input_at_a_time() {
    let Some(program) = own("json_like") else { return };
    assert_eq!(server(&program, Limits::default()).room(), 1);
}
