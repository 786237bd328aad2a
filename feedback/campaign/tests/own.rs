//! A cost and a strategy of a caller, by what the library exports alone.
#![cfg(all(feature = "programs", target_os = "linux"))]

use std::env;
use std::fs;

use gramjet_campaign::costly::{Hunt, Measure, Objective, Objectives, Plan, StrategyKind};
use gramjet_campaign::{State, Stop};
use gramjet_compiler::SourceFile;
use gramjet_search::{Desk, Measured, Strategy};
use gramjet_session::decisions::Derivation;
use gramjet_session::{Language, Settings};

/// Climbs: varies the end of the text that costs most.
#[derive(Default)]
struct Climb {
    best: Option<(u64, Derivation)>,
}

impl Strategy for Climb {
    fn name(&self) -> &'static str {
        "climb"
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        match &self.best {
            Some((_, best)) if desk.below(4) > 0 => {
                let kept = desk.below(best.options().count().max(1));
                desk.draw_after(best, kept, candidate);
            }
            _ => desk.draw(candidate),
        }
    }

    fn observe(&mut self, _: &mut Desk, candidate: &Derivation, measured: &Measured) {
        if self.best.as_ref().is_none_or(|(cost, _)| measured.cost > *cost) {
            self.best = Some((measured.cost, candidate.clone()));
        }
    }
}

#[test]
fn a_caller_has_a_cost_and_a_strategy_of_its_own() {
    let grammar = SourceFile::new("words.ebnf", "s ::= word (' ' word)*\nword ::= [a-d]{1,4}\n");
    let language = Language::compile(&grammar, &Settings::default()).expect("a grammar");
    // The cost of a text is the number of `a` that the program writes.
    let letters = Measure::new("letters", "letters", true, |run| {
        run.stdout.bytes.iter().filter(|&&byte| byte == b'a').count() as u64
    });
    let objectives = Objectives::one(Objective::Own(letters));
    let mut plan = Plan::new(language, vec!["cat".into()], objectives, 20);
    plan.strategy = StrategyKind::new("climb", || Box::new(Climb::default()));
    plan.runs = 600;
    let folder = env::temp_dir().join(format!("gramjet-own-{}", std::process::id()));
    let state = State::open(&folder, &[]).expect("a folder");
    let hunt = Hunt::open(plan, state, Stop::default()).expect("a search");
    hunt.search().expect("a program");
    let best = hunt.progress().best.expect("a text");
    let count = best.text.iter().filter(|&&byte| byte == b'a').count() as u64;
    assert_eq!(best.cost, count, "{:?}", String::from_utf8_lossy(&best.text));
    // At random, a text of twenty bytes has four.
    assert!(best.cost >= 8, "{} in {:?}", best.cost, String::from_utf8_lossy(&best.text));
    let log = fs::read_to_string(folder.join("log.csv")).expect("the log");
    assert!(log.contains("climb"), "{log}");
    fs::remove_dir_all(folder).expect("the folder");
}
