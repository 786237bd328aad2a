//! Tests of the threads of a search: what they share, and what they run again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::state::State;
use gramjet_compiler::SourceFile;
use gramjet_harness::{Confinement, Limits};
use gramjet_search::{STRATEGIES, Seed};
use gramjet_session::{Language, Settings};

use super::super::hunt::Plan;
use super::super::meter::Objectives;
use super::super::own::StrategyKind;
use super::super::totals::Totals;
use super::*;
use crate::cores::Cores;
use crate::stop::Stop;
use crate::subject::Surroundings;

/// Returns a search by several workers for the text of which `cat` prints most.
fn hunt(folder: &Path, jobs: usize) -> Hunt {
    hunt_for("output", folder, jobs)
}

/// Returns a hunt for the text that costs most.
fn hunt_for(cost: &str, folder: &Path, jobs: usize) -> Hunt {
    let file = SourceFile::new("g.ebnf", "s ::= [ab]+");
    let language = Language::compile(&file, &Settings::default()).expect("a grammar");
    let (limits, confinement) = (Limits::default(), Confinement::Unconfined);
    let plan = Plan {
        studied: language.clone(),
        language,
        command: vec!["cat".into()],
        surroundings: Surroundings { limits, confinement, ..Surroundings::default() },
        objectives: Objectives::parse(cost).expect("a cost"),
        strategy: StrategyKind::of(&STRATEGIES[0], false),
        explores: false,
        is_fresh: true,
        max_len: 9,
        seed: Seed::default(),
        jobs,
        cores: Cores::any(jobs),
        runs: u64::MAX,
        edge_budget: u64::MAX,
        end: None,
        seeds: Vec::new(),
    };
    Hunt::new(plan, State::open(folder, &[]).expect("a folder"), Stop::default(), Totals::default())
}

fn worker(hunt: &Hunt, number: usize) -> Worker<'_> {
    let search = Worker::search(hunt, number).expect("a search");
    Worker::new(hunt, number, search, Runner::new(hunt, hunt.meter().expect("a program")), 1)
}

fn place(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gramjet-worker-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn what_one_worker_finds_comes_to_all_others() {
    let folder = place("shared");
    let hunt = hunt(&folder, 3);
    let [mut one, mut two, mut three] = [0, 1, 2].map(|number| worker(&hunt, number));
    let best = |worker: &Worker<'_>| worker.search.best().map(|best| best.derivation.text.clone());
    let runs = || hunt.runs.load(Ordering::Relaxed);
    one.adopt(b"abab", Origin::Own("swap")).expect("a run");
    for other in [&mut two, &mut three] {
        assert!(other.has_news(&[]) && best(other).is_none());
        other.import(&mut []).expect("a run");
        assert_eq!(best(other), Some(b"abab".to_vec()));
        assert!(!other.has_news(&[]));
    }
    // The one that has found it does not run it again, and what is worse is not shared.
    assert_eq!(runs(), 3);
    one.import(&mut []).expect("no run");
    two.adopt(b"a", Origin::Own("swap")).expect("a run");
    assert!(runs() == 4 && !one.has_news(&[]));
    two.adopt(b"ababab", Origin::Own("swap")).expect("a run");
    three.import(&mut []).expect("a run");
    one.import(&mut []).expect("a run");
    assert_eq!([&one, &two, &three].map(best), [(); 3].map(|()| Some(b"ababab".to_vec())));
    // It is written once.
    let kept = hunt.state.texts(Place::Best).expect("the folder");
    assert_eq!(kept, [b"abab".to_vec(), b"ababab".to_vec()]);
    fs::remove_dir_all(folder).expect("the folder");
}

/// Texts that a worker makes come to the others, too, and operators are counted.
#[test]
fn what_a_worker_makes_comes_to_the_other() {
    let folder = place("made");
    let hunt = hunt(&folder, 2);
    let [mut one, mut two] = [0, 1].map(|number| worker(&hunt, number));
    for _ in 0..100 {
        assert!(one.step(&mut []).expect("a run"));
    }
    two.import(&mut []).expect("runs");
    let best = |worker: &Worker<'_>| worker.search.best().map(|best| best.derivation.text.clone());
    assert_eq!((best(&one), best(&two).map(|text| text.len())), (best(&two), Some(9)));
    let made = hunt.progress().operators;
    assert_eq!(made.all().iter().map(|made| made.runs).sum::<u64>(), 100);
    assert!(made.all().len() > 3 && made.all().iter().map(|made| made.better).sum::<u64>() > 0, "{made:?}");
    fs::remove_dir_all(folder).expect("the folder");
}

/// The command that prints a cost writes down each text. The text that was best before is run again before all repeats
/// but the first, unless the run took so long that the machine was hardly slow for all of it.
#[test]
fn a_better_text_is_confirmed_once_the_one_before_it_costs_as_much_as_before() {
    let folder = place("confirmed");
    fs::create_dir_all(&folder).expect("a folder");
    let seen = folder.join("seen");
    let hunt = hunt_for(&format!("command:tee -a {0} | wc -c; echo >> {0}", seen.display()), &folder, 1);
    let mut worker = worker(&hunt, 0);
    let mut best = b"a".to_vec();
    worker.adopt(&best, Origin::Own("swap")).expect("runs");
    let is_confirmed = (0..8).any(|_| {
        let better = [&best[..], b"b"].concat();
        fs::write(&seen, "").expect("a file");
        worker.waited = Duration::ZERO;
        worker.adopt(&better, Origin::Own("swap")).expect("runs");
        let ran = fs::read(&seen).expect("a file");
        let ran: Vec<&[u8]> = ran.split(|&byte| byte == b'\n').filter(|text| !text.is_empty()).collect();
        assert!(ran.iter().filter(|&&text| text == better).count() == 1 + REPEATED, "{ran:?}");
        let is_confirmed = ran[..4] == [&better[..], &better, &best, &better];
        best = better;
        is_confirmed
    });
    assert!(is_confirmed);
    assert_eq!(hunt.runs.load(Ordering::Relaxed), best.len() as u64);
    fs::remove_dir_all(folder).expect("the folder");
}
