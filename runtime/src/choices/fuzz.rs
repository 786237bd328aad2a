//! The implementation of libFuzzer's custom mutators: choice bytes are the fuzzer's data.

use crate::choices::recall::{Key, Recall};
use crate::choices::{Mutator, Store, TracedInput, Tracer};

/// The state of a custom mutator of libFuzzer: the traces of its corpus, as far as memory allows, and their parts.
///
/// `gramjet_engine::fuzz_mutator!` joins one to a fuzz target. By hand, with `libfuzzer-sys`, it takes these lines:
///
/// ```ignore
/// use std::cell::RefCell;
///
/// thread_local! {
///     static MUTATOR: RefCell<FuzzMutator<Tracer>> = RefCell::new(FuzzMutator::new(Tracer::new(&compiled())));
/// }
///
/// fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
///     MUTATOR.with_borrow_mut(|mutator| mutator.mutate(data, size, max_size, seed))
/// });
/// fuzz_crossover!(|one: &[u8], other: &[u8], mutant: &mut [u8], seed: u32| {
///     MUTATOR.with_borrow_mut(|mutator| mutator.cross_over(one, other, mutant, seed))
/// });
/// ```
///
/// The limits of the tracer must be those of the producer that renders the choice bytes.
///
/// Mutants grow by steps: half of the time by 32 choice bytes at most, a quarter of the time by 64, and so on, whatever
/// room there is. Large inputs take long and hide what is in them.
///
/// libFuzzer changes an input of its corpus up to five times in a row. To change a mutant once more, its structure must
/// be found, which costs dozens of times what a mutation does; so three of four times another mutant of the same input
/// is made instead.
#[derive(Clone, Debug)]
pub struct FuzzMutator<T> {
    tracer: T,
    /// Parts of all inputs that were seen.
    store: Store,
    /// Traces of recent inputs.
    recall: Recall,
    /// The trace of a mutant that is changed once more.
    once: TracedInput,
    /// The last mutant, and the input that it was made of.
    last: Option<(Key, Key)>,
    mutant: Vec<u8>,
}

/// The place of the trace of the input to change.
#[derive(Clone, Copy)]
enum Base {
    Kept(Key),
    Once,
}

impl<T: Tracer> FuzzMutator<T> {
    /// Returns a mutator of the inputs of a grammar.
    pub fn new(tracer: T) -> FuzzMutator<T> {
        FuzzMutator {
            tracer,
            store: Store::default(),
            recall: Recall::default(),
            once: TracedInput::default(),
            last: None,
            mutant: Vec::new(),
        }
    }

    /// Replaces the first `size` bytes of `data`, which are choice bytes, with a mutant of them; returns the length of
    /// the mutant, at most `max_size`.
    pub fn mutate(&mut self, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
        let most = max_size.min(data.len());
        let mutant = self.mutant(&data[..size.min(data.len())], None, most, seed);
        data[..mutant.len()].copy_from_slice(mutant);
        mutant.len()
    }

    /// Writes the choice bytes of `one` to `mutant`, with a part of `other` in place of one of its own; returns their
    /// number.
    pub fn cross_over(&mut self, one: &[u8], other: &[u8], mutant: &mut [u8], seed: u32) -> usize {
        let made = self.mutant(one, Some(other), mutant.len(), seed);
        mutant[..made.len()].copy_from_slice(made);
        made.len()
    }

    /// Returns the choice bytes of a mutant, at most `most`. With another input, a part of it takes the place of one of
    /// the mutant's own, if that is possible.
    pub fn mutant(&mut self, choices: &[u8], other: Option<&[u8]>, most: usize, seed: u32) -> &[u8] {
        let donor = other.map(|other| self.keep(other, most));
        let base = self.base(choices, most, seed);
        let input = find(&self.recall, &self.once, base);
        let mut mutator = Mutator::new(seed.into()).max_choices(room(input, most, seed));
        let donor = donor.and_then(|donor| self.recall.get(donor));
        let made = donor.is_some_and(|donor| mutator.cross(input, donor, &mut self.tracer, &mut self.mutant))
            || mutator.mutate(input, &self.store, &mut self.tracer, &mut self.mutant).is_some();
        if !made {
            self.mutant.clear();
            self.mutant.extend_from_slice(input.choices());
        }
        self.mutant.truncate(most);
        // A mutant of a mutant has the same origin, an input of the corpus, and its siblings are made of that.
        let origin = match base {
            Base::Kept(base) => Some(base),
            Base::Once => self.last.map(|(_, base)| base),
        };
        self.last = origin.map(|origin| (Key::of(&self.mutant), origin));
        &self.mutant
    }

    /// Decides which input a mutant is made of, and traces it if necessary.
    fn base(&mut self, choices: &[u8], most: usize, seed: u32) -> Base {
        let key = Key::of(choices);
        match self.last {
            Some((mutant, base)) if mutant == key => {
                if !(seed >> 8).is_multiple_of(4) && !self.recall.wants(base, 0) {
                    return Base::Kept(base);
                }
                self.once.retrace(&mut self.tracer, choices, most);
                Base::Once
            }
            _ => Base::Kept(self.keep(choices, most)),
        }
    }

    /// Keeps the trace and the parts of an input of the corpus.
    fn keep(&mut self, choices: &[u8], most: usize) -> Key {
        let key = Key::of(choices);
        if self.recall.wants(key, most) {
            self.recall.trace(key, &mut self.tracer, choices, most);
            self.store.add(self.recall.get(key).unwrap_or(&self.once));
        }
        key
    }
}

/// Returns how many choice bytes a mutant may have.
fn room(input: &TracedInput, most: usize, seed: u32) -> usize {
    const STEP: usize = 32;
    // The seed's upper bits, mixed; its lower ones decide on other things.
    let growth = STEP << (seed.wrapping_mul(0x9E37_79B9) >> 12).trailing_zeros().min(16);
    most.min(input.choices().len() + growth)
}

fn find<'a>(recall: &'a Recall, once: &'a TracedInput, base: Base) -> &'a TracedInput {
    match base {
        Base::Kept(key) => recall.get(key).unwrap_or(once),
        Base::Once => once,
    }
}
