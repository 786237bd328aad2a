//! Repetitions of terms.

use super::{Parser, name_at};
use crate::ast::Name;
use crate::diagnostics::Span;
use crate::formats::builder::{Reported, rule_weight};
use crate::formats::packrat::tree::{Kind, Peg, Rule};
use crate::formats::scanner::{Scanner, number};

/// The least and the greatest number of rounds.
type Bounds = (u32, Option<u32>);

impl Parser<'_, '_, '_> {
    /// Returns a term, which begins at byte `start`, with the marks of repetition after it.
    pub(super) fn repeated(&mut self, mut term: Peg, start: usize) -> Result<Peg, Reported> {
        loop {
            let mut ahead = self.scan.clone();
            let is_closed = self.skip_in(&mut ahead).is_none();
            let (min, max) = match ahead.peek().filter(|_| is_closed) {
                Some('?') => (0, Some(1)),
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('|') if self.begins_bounds(&ahead) => {
                    self.scan = ahead;
                    term = self.counted(term, start)?;
                    continue;
                }
                Some(_) | None => return Ok(term),
            };
            self.scan = ahead;
            self.scan.next();
            let height = term.height;
            term = self.build(Kind::Repeat(Box::new(term), min, max), self.scan.span_from(start), height)?;
        }
    }

    /// Returns true if the bar at the beginning of `ahead` begins bounds, and does not close the current separator.
    fn begins_bounds(&self, ahead: &Scanner<'_>) -> bool {
        let inside = ahead.rest()[1..].trim_start();
        !self.is_separator || inside.starts_with(|c: char| c.is_ascii_digit()) || inside.starts_with("..")
    }

    /// Returns `term|2..5, separator|`, at the first bar.
    fn counted(&mut self, term: Peg, start: usize) -> Result<Peg, Reported> {
        let bar = self.scan.position;
        self.scan.next();
        let bounds = self.bounds(bar)?;
        let separator = if self.eat(",") {
            let was_separator = std::mem::replace(&mut self.is_separator, true);
            let separator = self.choice()?;
            self.is_separator = was_separator;
            Some(separator)
        } else {
            None
        };
        if !self.eat("|") {
            return Err(self.no_bounds(bar));
        }
        let span = self.scan.span_from(start);
        match separator {
            Some(separator) => self.separated(term, separator, bounds, span),
            None => {
                let height = term.height;
                self.build(Kind::Repeat(Box::new(term), bounds.0, bounds.1), span, height)
            }
        }
    }

    fn no_bounds(&mut self, bar: usize) -> Reported {
        let help = "write `|3|`, `|2..5|`, `|2..|` or `|..5|`, perhaps with a separator, as in `|1.., \",\"|`";
        self.builder.error(self.scan.span_from(bar), "this is no repetition", help)
    }

    fn bounds(&mut self, bar: usize) -> Result<Bounds, Reported> {
        let min = self.bound()?;
        if !self.eat("..") {
            return match min {
                Some(Some(count)) => Ok((count, Some(count))),
                Some(None) => Ok((0, None)),
                None => Err(self.no_bounds(bar)),
            };
        }
        match (min.unwrap_or(Some(0)), self.bound()?) {
            // A bound that code decides is left out.
            (None, _) | (_, Some(None)) => Ok((0, None)),
            (Some(min), None) => Ok((min, None)),
            (Some(min), Some(Some(max))) if min <= max => Ok((min, Some(max))),
            (Some(_), Some(Some(_))) => Err(self.no_bounds(bar)),
        }
    }

    /// Returns a bound, if there is one: a number, or `Some(None)` for code or the name of a value.
    fn bound(&mut self) -> Result<Option<Option<u32>>, Reported> {
        self.skip_blanks();
        let start = self.scan.position;
        let digits = self.scan.take_while(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            let Some(value) = number(digits) else { return Err(self.no_bounds(start)) };
            return Ok(Some(Some(value)));
        }
        if self.scan.sees("{") {
            self.code()?;
        } else if name_at(&mut self.scan).is_none() {
            return Ok(None);
        }
        let help = "the value of code is not known; any number of rounds is drawn";
        self.builder.approximate(self.scan.span_from(start), "a bound that code decides is left out", help);
        Ok(Some(None))
    }

    /// Returns rounds with a separator. The term stands at two places, so it becomes a rule.
    fn separated(&mut self, term: Peg, separator: Peg, (min, max): Bounds, span: Span) -> Result<Peg, Reported> {
        let name = Name { text: format!("{}.round.{}", self.rule, span.start), span: term.span };
        // Its name stands at three places, and in those of its variants.
        self.builder.count(4 * rule_weight(&name), span)?;
        let (first, next) = (Kind::Name(name.text.clone()), Kind::Name(name.text.clone()));
        let (first, next) = (self.build(first, term.span, 0)?, self.build(next, term.span, 0)?);
        self.made.push(Rule { name, modifier: None, body: term });
        let more = Peg::joined(vec![separator, next], Kind::Seq, span, self.builder)?;
        let height = more.height;
        let more = Kind::Repeat(Box::new(more), min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
        let more = self.build(more, span, height)?;
        if max == Some(0) {
            return self.build(Kind::Seq(Vec::new()), span, 0);
        }
        let all = Peg::joined(vec![first, more], Kind::Seq, span, self.builder)?;
        if min > 0 {
            return Ok(all);
        }
        let height = all.height;
        self.build(Kind::Repeat(Box::new(all), 0, Some(1)), span, height)
    }
}
