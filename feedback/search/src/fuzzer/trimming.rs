//! Kept texts become shorter before they are varied, as long as they make the subject do the same.

use gramjet_session::Session;

use crate::breaker::{Breaker, Whole};
use crate::corpus::Corpus;
use crate::delta_debugging::Shorter;

/// Numbers of texts that may be tried to make a kept one shorter each time that it is chosen, as long as it gets
/// shorter. The first ones save most; what a new text has is not varied meanwhile. Which number pays is found out:
/// the runs on variants of a text, and on shorter ones, count for the number that was chosen for it.
pub(super) const EFFORTS: [u32; 3] = [0, 8, 32];

/// The kept texts, of the language and broken ones, and what knows their derivations.
pub(super) struct Texts<'f> {
    pub(super) session: &'f mut Session,
    pub(super) corpus: &'f mut Corpus,
    /// `None` if no text is broken.
    pub(super) breaker: Option<&'f mut Breaker>,
}

impl Texts<'_> {
    /// Returns the text and those of its kind, and the session.
    fn of(&mut self, whole: Whole) -> Option<(usize, &mut Corpus, &mut Session)> {
        match whole {
            Whole::Conforming(number) => Some((number, self.corpus, self.session)),
            Whole::Broken(number) => Some((number, &mut self.breaker.as_mut()?.corpus, self.session)),
        }
    }

    /// Returns the number of the effort with which a text was made shorter.
    pub(super) fn effort(&self, whole: Whole) -> Option<usize> {
        match (whole, &self.breaker) {
            (Whole::Conforming(number), _) => self.corpus.effort(number),
            (Whole::Broken(number), Some(breaker)) => breaker.corpus.effort(number),
            (Whole::Broken(_), None) => None,
        }
    }

    /// Returns what the subject does on a kept text.
    fn features(&self, whole: Whole) -> &[u64] {
        match (whole, &self.breaker) {
            (Whole::Conforming(number), _) => self.corpus.features(number),
            (Whole::Broken(number), Some(breaker)) => breaker.corpus.features(number),
            (Whole::Broken(_), None) => &[],
        }
    }
}

/// Makes one kept text at a time shorter.
#[derive(Debug, Default)]
pub(super) struct Trimmer(Option<Trimming>);

/// A kept text that is made shorter.
#[derive(Debug)]
struct Trimming {
    whole: Whole,
    by: Shorter,
    /// Number of texts that may still be tried.
    left: u32,
}

impl Trimmer {
    /// Begins with a kept text, unless that was done or it is not known what the text makes the subject do. `choose`
    /// returns the number of the effort.
    pub(super) fn begin(&mut self, whole: Whole, mut texts: Texts<'_>, choose: impl FnOnce() -> usize) {
        let Some((number, corpus, session)) = texts.of(whole) else { return };
        if !corpus.may_trim(number) {
            return;
        }
        let effort = choose();
        corpus.set_effort(number, effort);
        let left = EFFORTS[effort];
        if left == 0 {
            return;
        }
        let Some(text) = corpus.begin_trim(number) else { return };
        let parts = match whole {
            Whole::Conforming(_) => match session.trim(text, left) {
                // Without its derivation it could only be broken.
                None => return,
                parts => parts,
            },
            Whole::Broken(_) => None,
        };
        self.0 = Some(Trimming { whole, by: Shorter::new(parts, text), left });
    }

    /// Writes the next shorter text, and says in place of which kept one it is tried. If there is none, the shortest
    /// one takes the place of the kept one.
    pub(super) fn propose(&mut self, texts: Texts<'_>, text: &mut Vec<u8>) -> Option<Whole> {
        let trimming = self.0.as_mut()?;
        let proposed = if trimming.left == 0 { None } else { trimming.by.propose() };
        trimming.left = trimming.left.saturating_sub(1);
        let Some(proposed) = proposed else {
            self.0.take()?.end(texts);
            return None;
        };
        text.clear();
        text.extend_from_slice(proposed);
        Some(trimming.whole)
    }

    /// Compares what the subject does on the last proposed text with what it does on the kept one.
    pub(super) fn judge(&mut self, texts: &Texts<'_>, features: &[u64]) {
        if let Some(Trimming { whole, by, .. }) = &mut self.0 {
            by.judge(texts.features(*whole) == features);
        }
    }
}

impl Trimming {
    /// Puts the shortest text in the place of the kept one.
    fn end(self, mut texts: Texts<'_>) {
        let Some((number, corpus, session)) = texts.of(self.whole) else { return };
        if self.by.text().len() >= corpus.len_of(number) {
            return;
        }
        match &self.by {
            Shorter::Parts(trim) => {
                session.offer(trim.text(), trim.choices());
                let symbols = session.symbols(trim.text()).unwrap_or_default();
                corpus.shorten(number, trim.text(), symbols.into_iter().map(|(symbol, _)| symbol).collect());
            }
            Shorter::Bytes(cut) => corpus.shorten(number, cut.text(), Vec::new()),
        }
    }
}
