//! Mutants of choice bytes along their structure.

use std::borrow::Cow;

use gramjet::choices::FuzzMutator;
use gramjet_engine::Tracer;
use libafl::Error;
use libafl::corpus::{Corpus, CorpusId};
use libafl::inputs::{BytesInput, ResizableMutator};
use libafl::mutators::{MutationResult, Mutator};
use libafl::random_corpus_id;
use libafl::state::{HasCorpus, HasMaxSize, HasRand};
use libafl_bolts::Named;
use libafl_bolts::rands::Rand;

/// Makes mutants by gramjet's operations on the derivation of the input. One of four replaces a part with a part of
/// another input of the corpus. It keeps the derivations of the corpus and their parts, in bounded memory.
#[derive(Clone, Debug)]
pub struct StructureMutator {
    mutator: FuzzMutator<Tracer>,
}

impl StructureMutator {
    pub(crate) fn new(tracer: Tracer) -> StructureMutator {
        StructureMutator { mutator: FuzzMutator::new(tracer) }
    }
}

impl Named for StructureMutator {
    fn name(&self) -> &Cow<'static, str> {
        static NAME: Cow<'static, str> = Cow::Borrowed("StructureMutator");
        &NAME
    }
}

impl<S> Mutator<BytesInput, S> for StructureMutator
where
    S: HasRand + HasMaxSize + HasCorpus<BytesInput>,
{
    fn mutate(&mut self, state: &mut S, input: &mut BytesInput) -> Result<MutationResult, Error> {
        let word = state.rand_mut().next();
        let (seed, crosses, most) = ((word >> 32) as u32, word % 4 == 0, state.max_size());
        let mutant = if crosses && state.corpus().count() > 0 {
            let id = random_corpus_id!(state.corpus(), state.rand_mut());
            let mut other = state.corpus().get(id)?.borrow_mut();
            let other = other.load_input(state.corpus())?;
            self.mutator.mutant(input.as_ref(), Some(other.as_ref()), most, seed)
        } else {
            self.mutator.mutant(input.as_ref(), None, most, seed)
        };
        if mutant.is_empty() || mutant == AsRef::<Vec<u8>>::as_ref(input) {
            return Ok(MutationResult::Skipped);
        }
        input.resize(mutant.len(), 0);
        input.as_mut().copy_from_slice(mutant);
        Ok(MutationResult::Mutated)
    }

    fn post_exec(&mut self, _state: &mut S, _new_corpus_id: Option<CorpusId>) -> Result<(), Error> {
        Ok(())
    }
}
