//! Engines that are measured and chosen from, by a clock that goes on by the same at each look: no test depends on the
//! machine.

use std::cell::Cell;
use std::time::Duration;

use gramjet::{Limits, Producer};
use gramjet_engine::auto::{Amount, Clock, Engine, Timed, Wanted, Why, choose, pace};
use gramjet_engine::bulk::{Bulk, Effort, Framing, NotInBulk};
use gramjet_engine::vm::Vm;

use crate::kit::compiled;

/// Goes on by a millisecond at each look.
struct Ticks(Cell<f64>);

impl Clock for Ticks {
    fn seconds(&self) -> f64 {
        self.0.set(self.0.get() + 1e-3);
        self.0.get()
    }
}

const SUMS: &str = "sum ::= number ('+' number)*  number ::= [1-9] [0-9]* | '(' sum ')'";

fn chosen(limits: Limits, amount: Amount) -> (Engine, Why) {
    let compiled = compiled("sums.ebnf", SUMS);
    let own = || -> Box<dyn Producer + Send> { Box::new(Vm::with_limits(&compiled, limits)) };
    let framing = Framing { before: 0, behind: b"\n".to_vec() };
    let clock = Ticks(Cell::new(0.0));
    let wanted = Wanted { amount, jobs: 1 };
    let pace = pace(wanted, own(), &framing, &clock);
    // Sixteen inputs between two looks, of very different lengths.
    assert!(pace.mean_input > 2.0 && (0.1..10.0).contains(&(pace.speed / (16e3 * pace.mean_input))), "{pace:?}");
    let effort = Effort { records: 1 << 10, work: 1 << 10 };
    let timed = Timed { own: &own, is_generated: true, compiled: &compiled, limits, framing, effort, clock };
    choose(wanted, pace, &timed)
}

#[test]
fn what_was_measured_begins_anew() {
    let limits = Limits::new().max_depth(8);
    let (engine, why) = chosen(limits, Amount::Bytes(1 << 40));
    // Between two looks it makes much more than sixteen inputs.
    let Engine::Bulk(mut measured) = engine else { panic!("{engine:?}, {why:?}") };
    let framing = Framing { before: 0, behind: b"\n".to_vec() };
    let effort = Effort { records: 1 << 10, work: 1 << 10 };
    let mut fresh = Bulk::new(&compiled("sums.ebnf", SUMS), limits, framing, effort).expect("small tables");
    for bulk in [&mut measured, &mut fresh] {
        bulk.restart(7, 0);
    }
    for _ in 0..100 {
        let measured = measured.next_block();
        let fresh = fresh.next_block();
        assert!(measured.bytes == fresh.bytes && measured.ends == fresh.ends);
    }
}

#[test]
fn little_and_what_does_not_fit_stays_where_it_is() {
    let (engine, why) = chosen(Limits::new().max_depth(8), Amount::Time(Duration::from_millis(10)));
    assert!(matches!((&engine, why), (Engine::Own, Why::Little)), "{engine:?}, {why:?}");
    for (limits, refusal) in [
        (Limits::new().max_len(100), NotInBulk::MaxLen),
        (Limits::new().max_depth(8).max_choices(1 << 20), NotInBulk::MaxChoices),
    ] {
        let (engine, why) = chosen(limits, Amount::Bytes(1 << 40));
        assert!(!matches!(engine, Engine::Bulk(_)), "{engine:?}");
        assert_eq!(why, Why::Refused(refusal));
    }
}
