//! Fuzz targets of cargo-fuzz take a [`Doc`] as they take any other argument: the fuzzer's bytes are the choice bytes.

use arbitrary::{Arbitrary, Result, Unstructured};

use super::Doc;
use crate::producer::Producer;

/// Input of `fuzz_target!(|doc: Doc<json::Producer>| ...)`: all bytes are choice bytes, so that `gramjet render` shows
/// what an artefact of the fuzzer stands for.
impl<'a, P: Producer + Default> Arbitrary<'a> for Doc<P> {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Doc<P>> {
        Ok(Doc::new(<&[u8]>::arbitrary(bytes)?))
    }

    fn arbitrary_take_rest(bytes: Unstructured<'a>) -> Result<Doc<P>> {
        Ok(Doc::new(bytes.take_rest()))
    }
}
