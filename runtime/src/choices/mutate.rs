//! Mutators: changes of choice bytes along their structure. Everything outside the changed spans stays in place.
//!
//! Under a length limit, choice bytes without the limit are changed, in which parts keep their meaning wherever they
//! stand. A mutant whose text is within the limit is then rewritten to choice bytes under the limit.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::choices::trace::depends_on_max_len;
use crate::choices::{ChoiceSource, Span, SpanKind, Store, Trace, TracedInput, Tracer};

/// A kind of mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Changes one to eight choice bytes, wherever they are. The one operation that knows no structure: the bytes after
    /// a changed one can get another meaning.
    Havoc,
    /// Derives a part anew.
    Redraw,
    /// Puts a part with the same symbol from the store in place of one.
    Splice,
    /// Repeats the text between an instance of a rule and one of the same rule in it, 2^n times (Nautilus, Aschermann
    /// et al. 2019, section 4.3).
    RepeatRecursion,
    /// Puts an instance of a rule in place of one of the same rule around it.
    Collapse,
    /// Exchanges two parts with the same symbol and different texts, none of which is in the other.
    Swap,
    /// Takes a round of a repetition out, or makes a part as short as it can be.
    Delete,
    /// Repeats a round of a repetition, 2^n times.
    RepeatRound,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 8] = [
        Operation::Havoc,
        Operation::Redraw,
        Operation::Splice,
        Operation::RepeatRecursion,
        Operation::Collapse,
        Operation::Swap,
        Operation::Delete,
        Operation::RepeatRound,
    ];

    /// Returns a short name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Havoc => "havoc",
            Operation::Redraw => "redraw",
            Operation::Splice => "splice",
            Operation::RepeatRecursion => "repeat-recursion",
            Operation::Collapse => "collapse",
            Operation::Swap => "swap",
            Operation::Delete => "delete",
            Operation::RepeatRound => "repeat-round",
        }
    }
}

/// Makes mutants of choice bytes. The same seed makes the same mutants of the same inputs.
///
/// No mutant's text is longer than the length limit of the tracer. Where there is none, its bound on outputs is kept,
/// unless the input exceeds it. [`Operation::Havoc`] does not keep that bound, nor does a mutant in which a part comes
/// to be deeper than the depth limit.
#[derive(Clone, Debug)]
pub struct Mutator {
    random: Random,
    max_choices: usize,
    /// The choice bytes of a mutant without the length limit.
    without: Vec<u8>,
    weights: [u32; Operation::ALL.len()],
    total: u32,
}

impl Mutator {
    /// No mutant has more choice bytes, unless [`Mutator::max_choices`] says otherwise.
    pub const DEFAULT_MAX_CHOICES: usize = 1 << 16;
    /// A part that is derived anew is completed in the shortest way after this number of choice bytes.
    const MAX_DRAWN: usize = 256;
    /// Number of times that an operation is tried for which there may be no place.
    const TRIES: usize = 8;

    /// Returns a mutator.
    pub fn new(seed: u64) -> Mutator {
        let random = Random { generator: Xoshiro256PlusPlus::seed_from_u64(seed), word: 0, left: 0 };
        let weights = [1, 4, 4, 1, 1, 1, 2, 2];
        let (max_choices, total) = (Mutator::DEFAULT_MAX_CHOICES, weights.iter().sum());
        Mutator { random, max_choices, without: Vec::new(), weights, total }
    }

    /// Sets the bound on choice bytes: no mutant has more than `bytes` choice bytes, or than what it is made of, if
    /// that is more.
    #[must_use]
    pub fn max_choices(self, bytes: usize) -> Mutator {
        Mutator { max_choices: bytes, ..self }
    }

    /// Sets how often an operation is taken, in relation to the others; 0 for never. By default redraw and splice have
    /// 4, delete and repeat-round 2, the others 1.
    #[must_use]
    pub fn weight(mut self, operation: Operation, weight: u16) -> Mutator {
        self.weights[operation as usize] = u32::from(weight);
        self.total = self.weights.iter().sum();
        self
    }

    /// Writes the choice bytes of a mutant of `input` to `mutant`, and returns what was done; `None` if nothing can be
    /// changed. Operations for which the input has no place, or the store no part, are replaced by others.
    pub fn mutate(
        &mut self,
        input: &TracedInput,
        store: &Store,
        tracer: &mut (impl Tracer + ?Sized),
        mutant: &mut Vec<u8>,
    ) -> Option<Operation> {
        for _ in 0..Mutator::TRIES {
            let operation = self.operation()?;
            if self.apply(operation, input, store, tracer, mutant) {
                return Some(operation);
            }
        }
        Operation::ALL.into_iter().find(|&operation| {
            self.weights[operation as usize] > 0 && self.apply(operation, input, store, tracer, mutant)
        })
    }

    fn operation(&mut self) -> Option<Operation> {
        let mut drawn =
            below(&mut self.random.generator, usize::try_from(self.total).ok().filter(|&all| all > 0)?) as u32;
        for operation in Operation::ALL {
            match drawn.checked_sub(self.weights[operation as usize]) {
                Some(rest) => drawn = rest,
                None => return Some(operation),
            }
        }
        None
    }

    /// Writes the choice bytes of a mutant of `input` by this operation to `mutant`; says whether that was possible.
    pub fn apply(
        &mut self,
        operation: Operation,
        input: &TracedInput,
        store: &Store,
        tracer: &mut (impl Tracer + ?Sized),
        mutant: &mut Vec<u8>,
    ) -> bool {
        mutant.clear();
        let most = max_len(input, tracer);
        let len = match operation {
            Operation::Havoc => {
                return self.havoc(input, mutant).is_some() && stays_generated(input, tracer, mutant);
            }
            Operation::Redraw => self.redraw(input, most, tracer, mutant),
            Operation::Splice => self.splice(input, most, store, mutant),
            Operation::RepeatRecursion => self.repeat_recursion(input, most, mutant),
            Operation::Collapse => self.collapse(input, mutant),
            Operation::Swap => self.swap(input, mutant),
            Operation::Delete => self.delete(input, tracer, mutant),
            Operation::RepeatRound => self.repeat_round(input, most, mutant),
        };
        // A part that is derived anew in little room may need an option that is only read, as those are short.
        len.is_some_and(|len| self.finish(input, (len, most), tracer, mutant))
            && (!matches!(operation, Operation::Delete | Operation::Redraw) || stays_generated(input, tracer, mutant))
    }

    /// Writes the choice bytes of `input`, with a part of `other` in place of one of its own with the same symbol, to
    /// `mutant`; says whether there are such parts.
    pub fn cross(
        &mut self,
        input: &TracedInput,
        other: &TracedInput,
        tracer: &mut (impl Tracer + ?Sized),
        mutant: &mut Vec<u8>,
    ) -> bool {
        // Not every part of one input has a counterpart in the other.
        const TRIES: usize = 8;
        mutant.clear();
        let most = max_len(input, tracer);
        let len = (0..TRIES).find_map(|_| self.graft(input, other, most, mutant));
        len.is_some_and(|len| self.finish(input, (len, most), tracer, mutant))
    }

    /// Rewrites a mutant for the length limit in force, if its text has this length, of at most `most`; says whether it
    /// is not too long.
    fn finish(
        &mut self,
        input: &TracedInput,
        (len, most): (usize, usize),
        tracer: &mut (impl Tracer + ?Sized),
        mutant: &mut Vec<u8>,
    ) -> bool {
        if len > most {
            return false;
        }
        if input.exists_without_max_len() && depends_on_max_len(tracer, len) {
            std::mem::swap(mutant, &mut self.without);
            mutant.clear();
            // The mutant is valid in any case: under a depth limit, a part can have come to be deeper.
            tracer.within_max_len(&self.without, mutant);
        }
        mutant.len() <= self.max_choices.max(input.choices().len())
    }

    /// Puts a part of another input in place of one; returns the length of the text.
    fn graft(&mut self, input: &TracedInput, other: &TracedInput, most: usize, mutant: &mut Vec<u8>) -> Option<usize> {
        let span = input.span(self.pick(&input.parts)?);
        if other.parts.is_empty() {
            return None;
        }
        let room = input.room(span, most)?;
        let (before, behind) = other.parts.split_at(below(&mut self.random.generator, other.parts.len()));
        let mut parts = behind.iter().chain(before).map(|&part| other.span(part));
        let part = parts.find(|part| part.symbol == span.symbol && part.output().len() <= room)?;
        Some(replace(input, span, other.bytes(part), part.output().len(), mutant))
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        (!list.is_empty()).then(|| list[below(&mut self.random.generator, list.len())])
    }

    /// Returns 2^n for n of at least 1, half as often for each more, so that the result is at most `most`.
    fn power(&mut self, most: usize) -> Option<usize> {
        let most = most.checked_ilog2()?;
        let power = 1 + self.random.generator.next_u64().trailing_zeros();
        (most > 0).then(|| 1 << power.min(most))
    }

    /// Returns how often a piece of `choices` choice bytes and `text` bytes of text can stand there, if it stands there
    /// once.
    fn most_copies(&self, input: &TracedInput, choices: usize, text: usize, most: usize) -> Option<usize> {
        let by_choices = self.max_choices.checked_sub(input.choices().len())? / choices.max(1);
        let more = most.checked_sub(input.output().len())?;
        let by_text = more.checked_div(text).map_or(usize::MAX, |more| more.saturating_add(1));
        Some(by_choices.min(by_text))
    }

    fn havoc(&mut self, input: &TracedInput, mutant: &mut Vec<u8>) -> Option<()> {
        mutant.extend_from_slice(input.choices());
        if mutant.is_empty() {
            return None;
        }
        let count = 1 << below(&mut self.random.generator, 4);
        for _ in 0..count {
            let at = below(&mut self.random.generator, mutant.len());
            let word = self.random.generator.next_u64();
            let byte = &mut mutant[at];
            *byte = match word >> 62 {
                0 => (word >> 8) as u8,
                // Neighbouring bytes are neighbouring options.
                1 => byte.wrapping_add(1 + (word >> 8) as u8 % 16),
                2 => byte.wrapping_sub(1 + (word >> 8) as u8 % 16),
                _ => *byte ^ (1 << ((word >> 8) % 8)),
            };
        }
        Some(())
    }

    fn redraw(
        &mut self,
        input: &TracedInput,
        most: usize,
        tracer: &mut (impl Tracer + ?Sized),
        mutant: &mut Vec<u8>,
    ) -> Option<usize> {
        let span = input.span(self.pick_part(input)?);
        let room = input.room(span, most)?;
        let choices = input.without_max_len();
        mutant.extend_from_slice(&choices[..span.choices().start]);
        let max_drawn = Mutator::MAX_DRAWN;
        let len = tracer.draw(span.symbol, span.depth, room as u64, &mut self.random, max_drawn, mutant)?;
        mutant.extend_from_slice(&choices[span.choices().end..]);
        Some(input.output().len() - span.output().len() + len as usize)
    }

    fn splice(&mut self, input: &TracedInput, most: usize, store: &Store, mutant: &mut Vec<u8>) -> Option<usize> {
        for _ in 0..Mutator::TRIES {
            let span = input.span(self.pick_part(input)?);
            let room = u32::try_from(input.room(span, most)?).unwrap_or(u32::MAX);
            let Some(chunk) = store.draw(span.symbol, 0..=room, &mut self.random.generator) else { continue };
            if *chunk.choices != *input.bytes(span) {
                return Some(replace(input, span, &chunk.choices, chunk.output_len as usize, mutant));
            }
        }
        None
    }

    /// Returns a part; seldom one without a text, such as blanks that are not there.
    fn pick_part(&mut self, input: &TracedInput) -> Option<u32> {
        let mut part = self.pick(&input.parts)?;
        for _ in 0..2 {
            if !input.span(part).output().is_empty() {
                break;
            }
            part = self.pick(&input.parts)?;
        }
        Some(part)
    }

    fn repeat_recursion(&mut self, input: &TracedInput, most: usize, mutant: &mut Vec<u8>) -> Option<usize> {
        let (outer, inner) = self.pick(&input.nested)?;
        let (outer, inner) = (input.span(outer), input.span(inner));
        let (before, behind) = (outer.choices().start..inner.choices().start, inner.choices().end..outer.choices().end);
        let text = outer.output().len() - inner.output().len();
        let times = self.power(self.most_copies(input, before.len() + behind.len(), text, most)?)?;
        let choices = input.without_max_len();
        mutant.extend_from_slice(&choices[..outer.choices().start]);
        (0..times).for_each(|_| mutant.extend_from_slice(&choices[before.clone()]));
        mutant.extend_from_slice(input.bytes(inner));
        (0..times).for_each(|_| mutant.extend_from_slice(&choices[behind.clone()]));
        mutant.extend_from_slice(&choices[outer.choices().end..]);
        Some(input.output().len() + (times - 1) * text)
    }

    fn collapse(&mut self, input: &TracedInput, mutant: &mut Vec<u8>) -> Option<usize> {
        let (outer, inner) = self.pick(&input.nested)?;
        let inner = input.span(inner);
        Some(replace(input, input.span(outer), input.bytes(inner), inner.output().len(), mutant))
    }

    fn swap(&mut self, input: &TracedInput, mutant: &mut Vec<u8>) -> Option<usize> {
        let parts = &input.parts;
        let number = self.pick(parts)?;
        let (span, from) = (input.span(number), below(&mut self.random.generator, parts.len()));
        let is_apart = |other: &Span| other.choices.1 <= span.choices.0 || span.choices.1 <= other.choices.0;
        let text = |span: &Span| &input.output()[span.output()];
        let others = parts[from..].iter().chain(&parts[..from]).map(|&other| input.span(other));
        let other = others
            .into_iter()
            .find(|other| other.symbol == span.symbol && is_apart(other) && text(other) != text(span))?;
        let (a, b) = if span.choices.0 < other.choices.0 { (span, other) } else { (other, span) };
        let (a, b, choices) = (a.choices(), b.choices(), input.without_max_len());
        for part in [&choices[..a.start], &choices[b.clone()], &choices[a.end..b.start], &choices[a]] {
            mutant.extend_from_slice(part);
        }
        mutant.extend_from_slice(&choices[b.end..]);
        Some(input.output().len())
    }

    fn delete(
        &mut self,
        input: &TracedInput,
        tracer: &mut (impl Tracer + ?Sized),
        mutant: &mut Vec<u8>,
    ) -> Option<usize> {
        let places = input.rounds.len() + input.long.len();
        if places == 0 {
            return None;
        }
        match below(&mut self.random.generator, places).checked_sub(input.rounds.len()) {
            None => {
                let (round, repetition) = self.pick(&input.rounds)?;
                let round = input.span(round);
                change_rounds(input, round, input.span(repetition), 0, mutant);
                Some(input.output().len() - round.output().len())
            }
            Some(part) => {
                let span = input.span(input.long[part]);
                shorten(input, span, tracer, mutant)?;
                // It is not longer, unless the depth limit makes it so.
                Some(input.output().len())
            }
        }
    }

    fn repeat_round(&mut self, input: &TracedInput, most: usize, mutant: &mut Vec<u8>) -> Option<usize> {
        let (round, repetition) = self.pick(&input.rounds)?;
        let (round, repetition) = (input.span(round), input.span(repetition));
        let SpanKind::Repetition { room } = repetition.kind else { return None };
        let text = round.output().len();
        let times = self.power(self.most_copies(input, round.choices().len(), text, most)?)?.min(1 + room as usize);
        (times > 1).then(|| {
            change_rounds(input, round, repetition, times, mutant);
            input.output().len() + (times - 1) * text
        })
    }
}

/// Returns the greatest length of a mutant's text in bytes. An input that exceeds the bound on outputs has mutants as
/// long as it.
fn max_len(input: &TracedInput, tracer: &(impl Tracer + ?Sized)) -> usize {
    let limits = tracer.limits();
    let most = usize::try_from(limits.length().unwrap_or(limits.output())).unwrap_or(usize::MAX);
    most.max(input.output().len())
}

/// Returns true if the mutant of an input that can be generated can be generated, too. Low choice bytes may stand for
/// options that are only read.
fn stays_generated(input: &TracedInput, tracer: &mut (impl Tracer + ?Sized), mutant: &[u8]) -> bool {
    if input.trace().takes_only_read || !tracer.reads_more() {
        return true;
    }
    let (mut output, mut trace) = (Vec::new(), Trace::default());
    tracer.trace(mutant, &mut output, &mut trace);
    !trace.takes_only_read
}

/// Puts a part whose text has `len` bytes in place of a span; returns the length of the whole text.
fn replace(input: &TracedInput, span: &Span, part: &[u8], len: usize, mutant: &mut Vec<u8>) -> usize {
    let choices = input.without_max_len();
    mutant.extend_from_slice(&choices[..span.choices().start]);
    mutant.extend_from_slice(part);
    mutant.extend_from_slice(&choices[span.choices().end..]);
    input.output().len() - span.output().len() + len
}

/// Puts the shortest part in place of a span; `None` if that is beyond any bound.
pub(super) fn shorten(
    input: &TracedInput,
    span: &Span,
    tracer: &mut (impl Tracer + ?Sized),
    mutant: &mut Vec<u8>,
) -> Option<()> {
    const MOST: usize = 1 << 20;
    let zeros = tracer.shortest(span.symbol, span.depth);
    let choices = input.without_max_len();
    (zeros <= MOST).then(|| {
        mutant.extend_from_slice(&choices[..span.choices().start]);
        mutant.resize(mutant.len() + zeros, 0);
        mutant.extend_from_slice(&choices[span.choices().end..]);
    })
}

/// Replaces a round with `times` copies of it. A repetition with all possible rounds has no site after them; one with
/// fewer has one.
pub(super) fn change_rounds(input: &TracedInput, round: &Span, repetition: &Span, times: usize, mutant: &mut Vec<u8>) {
    let SpanKind::Repetition { room } = repetition.kind else { return };
    let choices = input.without_max_len();
    mutant.extend_from_slice(&choices[..round.choices().start]);
    (0..times).for_each(|_| mutant.extend_from_slice(&choices[round.choices()]));
    let end = repetition.choices().end;
    let (was_full, now_full) = (room == 0, u64::from(room) < times as u64);
    let stop = end - usize::from(!was_full);
    mutant.extend_from_slice(&choices[round.choices().end..stop.max(round.choices().end)]);
    if !now_full {
        mutant.push(0);
    }
    mutant.extend_from_slice(&choices[end..]);
}

/// Returns a number below `bound`, which must not be 0.
pub(super) fn below(random: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    ((u128::from(random.next_u64()) * bound as u128) >> 64) as usize
}

/// Pseudo-random choice bytes, one by one.
#[derive(Clone, Debug)]
struct Random {
    generator: Xoshiro256PlusPlus,
    word: u64,
    left: u32,
}

impl ChoiceSource for Random {
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        for byte in buffer.iter_mut() {
            if self.left == 0 {
                (self.word, self.left) = (self.generator.next_u64(), 8);
            }
            *byte = self.word as u8;
            self.word >>= 8;
            self.left -= 1;
        }
        buffer.len()
    }
}
