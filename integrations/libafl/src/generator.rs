//! Inputs from nothing.

use gramjet::{Choices, Producer};
use gramjet_engine::Fastest;
use libafl::Error;
use libafl::generators::Generator;
use libafl::inputs::BytesInput;
use libafl::state::HasRand;
use libafl_bolts::rands::Rand;

/// Generates choice bytes: half of the inputs have at most half of the maximum, a quarter a quarter, and so on. Bytes
/// that would not be read are left out.
#[derive(Clone, Debug)]
pub struct ChoicesGenerator {
    producer: Fastest,
    max_choices: usize,
    text: Vec<u8>,
}

impl ChoicesGenerator {
    pub(crate) fn new(producer: Fastest, max_choices: usize) -> ChoicesGenerator {
        ChoicesGenerator { producer, max_choices, text: Vec::new() }
    }
}

impl<S: HasRand> Generator<BytesInput, S> for ChoicesGenerator {
    fn generate(&mut self, state: &mut S) -> Result<BytesInput, Error> {
        let random = state.rand_mut();
        let most = self.max_choices >> random.next().trailing_zeros().min(usize::BITS - 1);
        let mut source = Choices::random(random.next());
        let mut choices: Vec<u8> = (0..most).map_while(|_| source.next_byte()).collect();
        self.text.clear();
        let read = self.producer.produce(&mut Choices::replay(&choices), &mut self.text);
        choices.truncate(usize::try_from(read).unwrap_or(usize::MAX));
        if choices.is_empty() {
            // LibAFL takes empty inputs for a mistake.
            choices.push(0);
        }
        Ok(BytesInput::new(choices))
    }
}
