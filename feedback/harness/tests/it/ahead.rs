//! Inputs that a program gets before it has run on earlier ones.

use std::path::Path;
use std::time::Duration;

use gramjet_harness::{Edges, ForkServer, Limits, Outcome, Program, Target};

use crate::fork_server::own;

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

/// The results of inputs, as many of which are given at a time.
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

/// The results are those of one input at a time.
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

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn inputs_given_ahead_have_the_same_results() {
    let Some(program) = own("harness") else { return };
    let limits = Limits::default().with_time(Duration::from_secs(2));
    let mut inputs = Vec::new();
    for round in 0..40 {
        inputs.extend(texts(&["some text", "", "a"]));
        inputs.push(vec![b'x'; round * 7 % 50]);
        // It comes alone.
        inputs.extend((round % 10 == 3).then(|| vec![b'y'; 100_000]));
        inputs.extend((round % 5 == 2).then(|| b"BUG".to_vec()));
        inputs.extend((round == 9).then(|| b"*".to_vec()));
    }
    inputs.extend(texts(&["BUG", "BUG"]));
    assert_same(&program, limits, &inputs, |results| {
        for (input, (outcome, edges)) in inputs.iter().zip(results) {
            let expected = match &input[..] {
                b"BUG" => Outcome::Signal(6),
                b"*" => Outcome::Timeout,
                _ => Outcome::Exit(0),
            };
            assert_eq!(*outcome, expected);
            assert!(edges.total() > 0 || expected != Outcome::Exit(0));
        }
    });
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
    assert_same(&program, Limits::default(), &inputs, |results| {
        let executed: Vec<usize> = results.iter().map(|(_, edges)| edges.executed().len()).collect();
        assert!(executed[1] > 16384 && executed[2] < 20, "{executed:?}");
        assert!(results[4].1.hottest().expect("an edge").count > u64::from(u32::MAX));
        assert!(results[5].1.hottest().expect("an edge").count < 100);
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
