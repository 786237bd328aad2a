//! The progress line on a terminal. It is told of each chunk written, never of single inputs.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::generate::Tally;
use crate::shard::Plan;
use crate::units::display_size;

/// Runs shorter than this show nothing.
const DELAY: Duration = Duration::from_millis(300);
/// The text beside the bar is renewed at most this often.
const PERIOD: Duration = Duration::from_millis(100);

/// The progress line, or nothing.
#[derive(Debug)]
pub struct Progress {
    line: Option<Line>,
}

#[derive(Debug)]
struct Line {
    bar: ProgressBar,
    unit: Unit,
    start: Instant,
    renewed: Instant,
    shown: bool,
}

/// What the bar measures.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Inputs,
    Bytes,
    Milliseconds,
}

impl Progress {
    /// No progress line.
    pub fn hidden() -> Progress {
        Progress { line: None }
    }

    /// A progress line for `plan`, if standard error is a terminal that the inputs don't go to.
    pub fn on_terminal(plan: &Plan, to_stdout: bool) -> Progress {
        if !std::io::stderr().is_terminal() || (to_stdout && std::io::stdout().is_terminal()) {
            return Progress::hidden();
        }
        let (unit, length) = match (plan.bytes, plan.time) {
            (Some(bytes), _) => (Unit::Bytes, bytes),
            (_, Some(time)) => (Unit::Milliseconds, u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            _ => (Unit::Inputs, plan.inputs),
        };
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}  {eta} left") {
            bar.set_style(style.progress_chars("=> "));
        }
        let now = Instant::now();
        Progress { line: Some(Line { bar, unit, start: now, renewed: now, shown: false }) }
    }

    /// Takes note of what is written so far.
    pub fn update(&mut self, written: Tally) {
        let Some(line) = &mut self.line else { return };
        let now = Instant::now();
        if now - line.renewed < PERIOD {
            return;
        }
        line.renewed = now;
        let elapsed = now - line.start;
        if !line.shown && elapsed >= DELAY {
            line.shown = true;
            line.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        let rate = written.bytes as f64 / elapsed.as_secs_f64();
        line.bar.set_message(format!(
            "{}, {} inputs, {}/s",
            display_size(written.bytes),
            HumanCount(written.inputs),
            display_size(rate as u64)
        ));
        line.bar.set_position(match line.unit {
            Unit::Inputs => written.inputs,
            Unit::Bytes => written.bytes,
            Unit::Milliseconds => elapsed.as_millis() as u64,
        });
    }

    /// Removes the line.
    pub fn finish(&mut self) {
        if let Some(line) = self.line.take() {
            line.bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
