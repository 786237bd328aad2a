//! From choice bytes to texts.

use gramjet::{Choices, Producer};
use gramjet_engine::Fastest;
use libafl::inputs::{BytesInput, ToTargetBytesConverter};
use libafl_bolts::ownedref::OwnedSlice;

/// Renders inputs: the converter of a fuzzer whose executor sends bytes to its target, as
/// `StdFuzzer::builder().target_bytes_converter(grammar.renderer())`.
#[derive(Clone, Debug)]
pub struct Renderer {
    producer: Fastest,
    text: Vec<u8>,
}

impl Renderer {
    pub(crate) fn new(producer: Fastest) -> Renderer {
        Renderer { producer, text: Vec::new() }
    }

    /// Returns the text of choice bytes.
    pub fn render(&mut self, choices: &[u8]) -> &[u8] {
        self.text.clear();
        self.producer.produce(&mut Choices::replay(choices), &mut self.text);
        &self.text
    }
}

impl<S> ToTargetBytesConverter<BytesInput, S> for Renderer {
    fn convert_to_target_bytes<'a>(&mut self, _state: &mut S, input: &'a BytesInput) -> OwnedSlice<'a, u8> {
        OwnedSlice::from(self.render(input.as_ref()).to_vec())
    }
}
