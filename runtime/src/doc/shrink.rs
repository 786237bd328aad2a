//! Shrinks an input by its choice bytes alone, one candidate at a time, for callers who run the test themselves.

use super::Doc;
use super::blind::Blind;
use crate::choices::Minimiser;
use crate::producer::Producer;

/// Proposes simpler inputs: with shorter texts, then fewer choice bytes, then lower ones. Each is valid, and no text is
/// proposed twice.
///
/// It is [`Minimiser`] on the structure that the producer shows when it runs on parts of the choice bytes.
pub struct Shrinker<P> {
    producer: Blind<P>,
    /// Made when it is first needed: most inputs are never shrunk.
    search: Option<Box<Minimiser>>,
    best: Doc<P>,
    tried: Option<Doc<P>>,
}

impl<P: Producer> Shrinker<P> {
    /// Shrinks `doc`, which was made by a producer like this one, with the same limits.
    pub fn new(producer: P, doc: Doc<P>) -> Shrinker<P> {
        Shrinker { producer: Blind(producer), search: None, best: doc, tried: None }
    }

    /// Returns the input to test: the last proposal, or the simplest accepted one.
    pub fn current(&self) -> &Doc<P> {
        self.tried.as_ref().unwrap_or(&self.best)
    }

    /// Accepts the last proposal, on which the test has failed, as the simplest, and makes the next one. Says whether
    /// there is one.
    pub fn accept(&mut self) -> bool {
        if let Some(tried) = self.tried.take() {
            self.best = tried;
            self.judge(true);
        }
        self.propose()
    }

    /// Drops the last proposal, and makes the next one. Says whether there is one.
    pub fn reject(&mut self) -> bool {
        if self.tried.take().is_some() {
            self.judge(false);
        }
        self.propose()
    }

    fn judge(&mut self, holds: bool) {
        if let Some(search) = &mut self.search {
            search.judge(&mut self.producer, holds);
        }
    }

    fn propose(&mut self) -> bool {
        let Shrinker { producer, search, best, tried } = self;
        let search = search.get_or_insert_with(|| Box::new(Minimiser::new(producer, &best.choices)));
        let is_found = search.propose(producer).is_some();
        *tried = is_found.then(|| Doc::of(search.output(), search.candidate()));
        is_found
    }
}
