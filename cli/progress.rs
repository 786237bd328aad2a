//! The progress line on a terminal. A run reports each chunk written to it, never single inputs; a search reports each
//! test.

use std::cell::Cell;
use std::fmt::{self, Write as _};
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use terminal_size::{Height, Width};
use unicode_width::UnicodeWidthChar as _;

use crate::plan::Plan;
use crate::tally::Tally;
use crate::terminal::visible;
use crate::units::display_size;

/// Runs shorter than this show nothing.
const DELAY: Duration = Duration::from_millis(300);
/// The line is renewed at most this often.
const PERIOD: Duration = Duration::from_millis(100);
/// The bar has this many columns.
const BAR: usize = 24;
/// Terminals that do not say how wide they are have at least this many columns.
const COLUMNS: usize = 80;

/// The progress line, or nothing.
#[derive(Debug)]
pub struct Progress {
    line: Option<Line>,
}

#[derive(Debug)]
struct Line {
    unit: Unit,
    /// Amount that there is to do, in units.
    length: u64,
    position: u64,
    message: String,
    start: Instant,
    renewed: Instant,
    /// Whether the terminal shows the line now.
    is_drawn: Cell<bool>,
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
    /// Returns a progress that shows no line.
    pub fn hidden() -> Progress {
        Progress { line: None }
    }

    /// Returns a progress line for `plan`, if standard error is a terminal that the inputs don't go to.
    pub fn on_terminal(plan: &Plan, to_stdout: bool) -> Progress {
        if !std::io::stderr().is_terminal() || (to_stdout && std::io::stdout().is_terminal()) {
            return Progress::hidden();
        }
        let (unit, length) = match (plan.bytes, plan.time) {
            (Some(bytes), _) => (Unit::Bytes, bytes),
            (_, Some(time)) => (Unit::Milliseconds, u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            _ => (Unit::Inputs, plan.inputs),
        };
        Progress::new(unit, length)
    }

    /// Returns a progress line for a search that begins with a text of this many bytes, if standard error is a
    /// terminal.
    pub fn of_search(len: usize) -> Progress {
        if std::io::stderr().is_terminal() { Progress::new(Unit::BytesLess, len as u64) } else { Progress::hidden() }
    }

    fn new(unit: Unit, length: u64) -> Progress {
        let (message, now) = (String::new(), Instant::now());
        let is_drawn = Cell::new(false);
        Progress { line: Some(Line { unit, length, position: 0, message, start: now, renewed: now, is_drawn }) }
    }

    /// Returns a line for the state of a campaign, which has no end, if standard error is a terminal. It is cut off
    /// where the terminal ends.
    pub fn of_campaign() -> Progress {
        if std::io::stderr().is_terminal() { Progress::new(Unit::Runs, 0) } else { Progress::hidden() }
    }

    /// Updates the state of a campaign.
    pub fn update_campaign(&mut self, message: impl FnOnce() -> String) {
        if let Some((line, elapsed)) = self.line.as_mut().and_then(Line::renew) {
            line.show(0, message(), elapsed);
        }
    }

    /// Prints something above the line.
    pub fn suspend(&self, print: impl FnOnce()) {
        match &self.line {
            Some(line) => line.suspend(print),
            None => print(),
        }
    }

    /// Updates the numbers of what is written.
    pub fn update(&mut self, written: Tally) {
        let Some((line, elapsed)) = self.line.as_mut().and_then(Line::renew) else { return };
        let rate = written.bytes as f64 / elapsed.as_secs_f64();
        let message = format!(
            "{}, {} inputs, {}/s",
            display_size(written.bytes),
            Count(written.inputs),
            display_size(rate as u64)
        );
        let position = match line.unit {
            Unit::Inputs | Unit::BytesLess | Unit::Runs => written.inputs,
            Unit::Bytes => written.bytes,
            Unit::Milliseconds => elapsed.as_millis() as u64,
        };
        line.show(position, message, elapsed);
    }

    /// Updates the number of texts that a search has tested, and the length of the best one.
    pub fn update_search(&mut self, tests: u64, len: usize) {
        let Some((line, elapsed)) = self.line.as_mut().and_then(Line::renew) else { return };
        let (before, len) = (line.length, len as u64);
        let (rate, tests) = (tests as f64 / elapsed.as_secs_f64(), Count(tests));
        let message = format!("{} of {}, {tests} tests, {rate:.0}/s", display_size(len), display_size(before));
        line.show(before.saturating_sub(len), message, elapsed);
    }

    /// Removes the line.
    pub fn finish(&mut self) {
        if let Some(line) = self.line.take() {
            line.clear();
        }
    }
}

impl Line {
    /// Returns how long the line has been there, if it is time to renew it.
    fn renew(&mut self) -> Option<(&mut Line, Duration)> {
        let now = Instant::now();
        if now - self.renewed < PERIOD {
            return None;
        }
        self.renewed = now;
        let elapsed = now - self.start;
        Some((self, elapsed))
    }

    /// Sets what the line says, and shows it when it is time for that.
    fn show(&mut self, position: u64, message: String, elapsed: Duration) {
        (self.position, self.message) = (position, message);
        if elapsed >= DELAY {
            self.draw(elapsed);
        }
    }

    fn draw(&self, elapsed: Duration) {
        let columns = terminal_size::terminal_size_of(std::io::stderr())
            .map_or(COLUMNS, |(Width(width), Height(_))| usize::from(width).max(1));
        // In the last column, some terminals begin the next line.
        let text = fitting(&self.text(elapsed), columns - 1).to_string();
        // Who does not see the line loses nothing else.
        let _ = write!(std::io::stderr(), "\r{}\x1B[K", visible(&text));
        self.is_drawn.set(true);
    }

    /// Returns what the line says.
    fn text(&self, elapsed: Duration) -> String {
        if matches!(self.unit, Unit::Runs) {
            return self.message.clone();
        }
        let done = if self.length == 0 { 1.0 } else { (self.position as f64 / self.length as f64).min(1.0) };
        let full = (done * BAR as f64) as usize;
        let head = if full < BAR { ">" } else { "" };
        let bar = format!("{}{head}", "=".repeat(full));
        let mut text = format!("{bar:BAR$} {:>3.0}%  {}", (done * 100.0).floor(), self.message);
        // How long a search takes is unknown.
        if !matches!(self.unit, Unit::BytesLess) {
            let left = elapsed.as_secs_f64() * (1.0 / done.max(1e-9) - 1.0);
            // Writing to a string cannot fail.
            let _ = write!(text, "  {} left", Left(left as u64));
        }
        text
    }

    fn suspend(&self, print: impl FnOnce()) {
        let was_drawn = self.is_drawn.get();
        self.clear();
        print();
        if was_drawn {
            self.draw(self.start.elapsed());
        }
    }

    /// Removes the line from the terminal, if it is there.
    fn clear(&self) {
        if self.is_drawn.replace(false) {
            let _ = write!(std::io::stderr(), "\r\x1B[K");
        }
    }
}

/// Returns the beginning of a text that has at most this many columns.
fn fitting(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > columns
    });
    &text[..end.map_or(text.len(), |(end, _)| end)]
}

/// A number with a comma between each three digits.
struct Count(u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.char_indices() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

/// A number of seconds in the largest unit of which there are two or more.
struct Left(u64);

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(86_400, "d"), (3600, "h"), (60, "m")];
        let (seconds, unit) = units.into_iter().find(|(seconds, _)| self.0 >= 2 * seconds).unwrap_or((1, "s"));
        write!(f, "{}{unit}", self.0 / seconds)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_much_is_done_and_how_long_the_rest_takes() {
        let mut progress = Progress::new(Unit::Inputs, 1000);
        let line = progress.line.as_mut().expect("a line");
        (line.position, line.message) = (250, "5 kB".to_string());
        assert_eq!(line.text(Duration::from_secs(60)), "======>                   25%  5 kB  3m left");
        line.position = 1000;
        assert_eq!(line.text(Duration::from_secs(60)), "======================== 100%  5 kB  0s left");
        line.position = 0;
        assert!(line.text(Duration::from_secs(1)).starts_with(">                          0%  5 kB  "));
        (line.unit, line.length) = (Unit::BytesLess, 0);
        assert_eq!(line.text(Duration::from_secs(60)), "======================== 100%  5 kB");
        line.unit = Unit::Runs;
        assert_eq!(line.text(Duration::from_secs(60)), "5 kB");
    }

    #[test]
    fn the_line_ends_where_the_terminal_ends() {
        assert_eq!(fitting("a▁語b", 2), "a▁");
        assert_eq!(fitting("a▁語b", 3), "a▁");
        assert_eq!(fitting("a▁語b", 4), "a▁語");
        assert_eq!(fitting("a▁語b", 9), "a▁語b");
        assert_eq!(fitting("a", 0), "");
    }

    #[test]
    fn counts_and_durations_are_as_people_write_them() {
        let counts = [0, 999, 1000, 1_234_567].map(|count| Count(count).to_string());
        assert_eq!(counts, ["0", "999", "1,000", "1,234,567"]);
        let left = [0, 119, 120, 7199, 7200, 200_000].map(|seconds| Left(seconds).to_string());
        assert_eq!(left, ["0s", "119s", "2m", "119m", "2h", "2d"]);
    }
}
