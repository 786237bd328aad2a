//! Finds the derivations of texts: known ones, or by a parse. Derivations from elsewhere are checked against the text.

use std::ops::Range;

use gramjet::choices::TracedInput;
use gramjet::{Limits, Producer};
use gramjet_parse::ParseError;

use super::{Parts, Session};
use crate::trees::hash;

impl Session {
    /// Finds the derivation of a text and remembers its parts. Says whether that was possible.
    pub fn remember(&mut self, text: &[u8]) -> bool {
        if let Some((current, conforms)) = &self.current.text
            && current == text
        {
            return *conforms;
        }
        let mut input = std::mem::take(&mut self.current.input);
        let conforms = self.find(text, &mut input);
        self.current.input = input;
        let mut current = self.current.text.take().map_or_else(Vec::new, |(current, _)| current);
        current.clear();
        current.extend_from_slice(text);
        self.current.text = Some((current, conforms));
        if conforms {
            self.set_depth();
        }
        conforms
    }

    /// Returns the choice bytes that produce a text without limits on depth and length.
    pub fn choices(&mut self, text: &[u8]) -> Option<&[u8]> {
        self.remember(text).then(|| self.current.input.choices())
    }

    /// Returns the symbols of a text's derivation, ascending, and how many spans each has; `None` if the text has no
    /// derivation.
    pub fn symbols(&mut self, text: &[u8]) -> Option<Vec<(u32, u32)>> {
        if !self.remember(text) {
            return None;
        }
        let mut symbols: Vec<u32> = self.current.input.trace().spans.iter().map(|span| span.symbol).collect();
        symbols.sort_unstable();
        Some(symbols.chunk_by(|one, next| one == next).map(|same| (same[0], same.len() as u32)).collect())
    }

    /// Returns the parts of a text by their symbols, ascending; `None` if the text has no derivation.
    pub fn parts(&mut self, text: &[u8]) -> Option<Vec<Parts>> {
        if !self.remember(text) {
            return None;
        }
        let spans = &self.current.input.trace().spans;
        let mut all: Vec<(u32, Range<usize>)> = spans.iter().map(|span| (span.symbol, span.output())).collect();
        all.sort_unstable_by_key(|(symbol, range)| (*symbol, range.start, range.end));
        all.dedup();
        let of_symbol = |same: &[(u32, Range<usize>)]| Parts {
            symbol: same[0].0,
            ranges: same.iter().map(|(_, range)| range.clone()).collect(),
        };
        Some(all.chunk_by(|one, next| one.0 == next.0).map(of_symbol).collect())
    }

    /// Returns true if the derivation of a text is known without a parse, as for the last variant, and for earlier
    /// texts.
    pub fn knows(&self, text: &[u8]) -> bool {
        text.len() == self.made.len
            || self.current.text.as_ref().is_some_and(|(current, conforms)| *conforms && current == text)
            || self.trees.get(hash(text)).is_some_and(Option::is_some)
    }

    /// Accepts choice bytes for a text, if they produce it without limits, and remembers its parts. Says whether they
    /// do.
    pub fn offer(&mut self, text: &[u8], choices: &[u8]) -> bool {
        let mut other = std::mem::take(&mut self.other).input;
        self.retrace(&mut other, choices, text);
        let holds = other.output() == text;
        if holds {
            self.trees.keep(hash(text), Some(other.choices()));
            self.store.add(&other);
            // The text may have been recorded as one without a derivation.
            if self.current.text.as_ref().is_some_and(|(current, _)| current == text) {
                self.current.text = None;
            }
        }
        self.other.input = other;
        holds
    }

    /// Finds the structure of choice bytes, which should produce `text`.
    fn retrace(&mut self, input: &mut TracedInput, choices: &[u8], text: &[u8]) {
        // A language can always do without limits.
        let _ = self.unlimited.set_limits(Limits::new().max_choices(u64::MAX).max_output(text.len() as u64));
        input.retrace(&mut self.unlimited, choices, usize::MAX);
    }

    /// Finds the derivation of a text; remembers its parts if they are new.
    pub(super) fn find(&mut self, text: &[u8], input: &mut TracedInput) -> bool {
        let name = hash(text);
        if text.len() == self.made.len {
            let choices = std::mem::take(&mut self.made.choices);
            self.retrace(input, &choices, text);
            self.made.choices = choices;
            if input.output() == text {
                self.statistics.known += 1;
                self.trees.keep(name, Some(input.choices()));
                self.store.add(input);
                return true;
            }
        }
        match self.trees.get(name) {
            Some(None) => {
                self.statistics.known += 1;
                return false;
            }
            Some(Some(choices)) => {
                let choices = choices.clone();
                self.retrace(input, &choices, text);
                if input.output() == text {
                    self.statistics.known += 1;
                    return true;
                }
            }
            None => {}
        }
        match self.language.parse_within(text, &Session::BUDGET) {
            Ok(choices) => {
                self.statistics.parsed += 1;
                self.retrace(input, &choices, text);
                self.trees.keep(name, Some(&choices));
                self.store.add(input);
                true
            }
            Err(_) => {
                self.statistics.unparsed += 1;
                self.trees.keep(name, None);
                false
            }
        }
    }

    /// Checks that a text has a derivation.
    ///
    /// # Errors
    ///
    /// If it does not conform or costs too much.
    pub fn check(&self, text: &[u8]) -> Result<(), ParseError> {
        self.language.parse_within(text, &Session::BUDGET).map(|_| ())
    }
}
