//! The progress line on a terminal. A run reports each chunk written to it, never single inputs; a search reports each
//! test.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::plan::Plan;
use crate::tally::Tally;
use crate::units::display_size;

/// Runs shorter than this show nothing.
const DELAY: Duration = Duration::from_millis(300);
/// The text next to the bar is renewed at most this often.
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

/// The unit that the bar counts.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Inputs,
    Bytes,
    Milliseconds,
    /// Bytes that a search has removed.
    BytesLess,
    /// Runs of a program, without end.
    Runs,
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
        Progress::new(unit, length, "{bar:24} {percent:>3}%  {msg}  {eta} left")
    }

    /// A progress line for a search that begins with a text of this many bytes, if standard error is a terminal.
    pub fn of_search(len: usize) -> Progress {
        if std::io::stderr().is_terminal() {
            // The duration is unknown.
            Progress::new(Unit::BytesLess, len as u64, "{bar:24} {percent:>3}%  {msg}")
        } else {
            Progress::hidden()
        }
    }

    fn new(unit: Unit, length: u64, template: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let now = Instant::now();
        Progress { line: Some(Line { bar, unit, start: now, renewed: now, shown: false }) }
    }

    /// A line for the state of a campaign, which has no end, if standard error is a terminal. It is cut off where the
    /// terminal ends.
    pub fn of_campaign() -> Progress {
        if std::io::stderr().is_terminal() { Progress::new(Unit::Runs, 0, "{wide_msg}") } else { Progress::hidden() }
    }

    /// Updates the state of a campaign.
    pub fn update_campaign(&mut self, message: impl FnOnce() -> String) {
        if let Some((line, _)) = self.line.as_mut().and_then(Line::renew) {
            line.bar.set_message(message());
            line.bar.tick();
        }
    }

    /// Prints something above the line.
    pub fn suspend(&self, print: impl FnOnce()) {
        match &self.line {
            Some(line) => line.bar.suspend(print),
            None => print(),
        }
    }

    /// Updates the numbers of what is written.
    pub fn update(&mut self, written: Tally) {
        let Some((line, elapsed)) = self.line.as_mut().and_then(Line::renew) else { return };
        let rate = written.bytes as f64 / elapsed.as_secs_f64();
        line.bar.set_message(format!(
            "{}, {} inputs, {}/s",
            display_size(written.bytes),
            HumanCount(written.inputs),
            display_size(rate as u64)
        ));
        line.bar.set_position(match line.unit {
            Unit::Inputs | Unit::BytesLess | Unit::Runs => written.inputs,
            Unit::Bytes => written.bytes,
            Unit::Milliseconds => elapsed.as_millis() as u64,
        });
    }

    /// Updates the number of texts that a search has tested, and the length of the best one.
    pub fn update_search(&mut self, tests: u64, len: usize) {
        let Some((line, elapsed)) = self.line.as_mut().and_then(Line::renew) else { return };
        let (before, len) = (line.bar.length().unwrap_or(0), len as u64);
        let (rate, tests) = (tests as f64 / elapsed.as_secs_f64(), HumanCount(tests));
        let message = format!("{} of {}, {tests} tests, {rate:.0}/s", display_size(len), display_size(before));
        line.bar.set_message(message);
        line.bar.set_position(before.saturating_sub(len));
    }

    /// Removes the line.
    pub fn finish(&mut self) {
        if let Some(line) = self.line.take() {
            line.bar.finish_and_clear();
        }
    }
}

impl Line {
    /// How long the line has been there, if it is time to renew it; shows it when it is time for that.
    fn renew(&mut self) -> Option<(&mut Line, Duration)> {
        let now = Instant::now();
        if now - self.renewed < PERIOD {
            return None;
        }
        self.renewed = now;
        let elapsed = now - self.start;
        if !self.shown && elapsed >= DELAY {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Some((self, elapsed))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
