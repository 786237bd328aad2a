//! Inputs as arguments of properties for quickcheck; failing ones shrink by their choice bytes.

use quickcheck::{Arbitrary, Gen};

use super::{Doc, Shrinker};
use crate::choices::Choices;
use crate::producer::Producer;

/// The maximum number of choice bytes for each unit of quickcheck's size, which is 100 by default.
const CHOICES_A_UNIT: usize = 16;

impl<P: Producer + Default + 'static> Arbitrary for Doc<P> {
    /// Returns an input. Half of the inputs have at most half of the maximum of choice bytes, a quarter a quarter, and
    /// so on.
    fn arbitrary(random: &mut Gen) -> Doc<P> {
        // quickcheck's own numbers are extreme ones more often than others.
        let mut source = Choices::random(u64::arbitrary(random));
        let scale = source.next_byte().unwrap_or(0).trailing_zeros();
        let most = (CHOICES_A_UNIT * random.size()) >> scale;
        let choices: Vec<u8> = (0..most).map_while(|_| source.next_byte()).collect();
        Doc::new(&choices)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Doc<P>>> {
        // quickcheck asks again what the first failing one shrinks to.
        let mut shrinker = Shrinker::new(P::default(), self.clone());
        Box::new(std::iter::from_fn(move || shrinker.reject().then(|| shrinker.current().clone())))
    }
}
