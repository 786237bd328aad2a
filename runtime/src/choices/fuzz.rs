//! The mutators behind the interface of libFuzzer's custom mutators: choice bytes are the fuzzer's data.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::choices::{Mutator, Store, TracedInput, Tracer};

/// What a custom mutator of libFuzzer keeps: the parts of all that it was shown.
///
/// With `libfuzzer-sys`, a fuzz target that takes choice bytes is given it so:
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
#[derive(Clone, Debug)]
pub struct FuzzMutator<T> {
    tracer: T,
    /// Parts of all that came by.
    store: Store,
    /// Hashes of the choice bytes whose parts have been stored: the fuzzer shows the same ones often. Never iterated.
    stored: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
    input: TracedInput,
    /// The other of two inputs.
    other: TracedInput,
    mutant: Vec<u8>,
}

/// So many hashes are kept.
const MAX_STORED: usize = 1 << 16;

impl<T: Tracer> FuzzMutator<T> {
    /// A mutator of the inputs of a grammar.
    pub fn new(tracer: T) -> FuzzMutator<T> {
        FuzzMutator {
            tracer,
            store: Store::default(),
            stored: HashSet::default(),
            input: TracedInput::default(),
            other: TracedInput::default(),
            mutant: Vec::new(),
        }
    }

    /// Replaces the first `size` bytes of `data`, which are choice bytes, by those of a mutant; returns how many they are,
    /// at most `max_size`.
    pub fn mutate(&mut self, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
        let most = max_size.min(data.len());
        self.trace(&data[..size.min(data.len())], most);
        self.store();
        let mut mutator = Mutator::new(seed.into()).max_choices(most);
        let made = mutator.mutate(&self.input, &self.store, &mut self.tracer, &mut self.mutant);
        self.write(made.is_some(), &mut data[..most])
    }

    /// Writes the choice bytes of `one`, with a part of `other` in place of one of its own, to `mutant`; returns how many they
    /// are.
    pub fn cross_over(&mut self, one: &[u8], other: &[u8], mutant: &mut [u8], seed: u32) -> usize {
        let most = mutant.len();
        self.trace(other, most);
        self.store();
        std::mem::swap(&mut self.input, &mut self.other);
        self.trace(one, most);
        let mut mutator = Mutator::new(seed.into()).max_choices(most);
        let made = mutator.cross(&self.input, &self.other, &mut self.mutant);
        self.write(made, mutant)
    }

    fn trace(&mut self, choices: &[u8], most: usize) {
        self.input.retrace(&mut self.tracer, choices, most);
    }

    /// Stores the parts of the input, if it is new.
    fn store(&mut self) {
        if self.stored.len() >= MAX_STORED {
            self.stored.clear();
        }
        if self.stored.insert(self.stored.hasher().hash_one(self.input.choices())) {
            self.store.add(&self.input);
        }
    }

    /// Writes the mutant, or what it would have been made of.
    fn write(&self, made: bool, data: &mut [u8]) -> usize {
        let bytes = if made { &self.mutant } else { self.input.choices() };
        let len = bytes.len().min(data.len());
        data[..len].copy_from_slice(&bytes[..len]);
        len
    }
}
