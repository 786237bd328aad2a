//! Inputs for property tests with proptest: a failing input shrinks to a small one, and every input on the way is
//! valid.
//!
//! ```
//! use proptest::prelude::*;
//!
//! gramjet::grammar! {
//!     mod list = ebnf "list ::= '[' (item (',' item)*)? ']'  item ::= [0-9]+ | list";
//! }
//!
//! proptest! {
//!     // An argument of type `Doc` is all that is needed; `docs` sets limits.
//!     #[test]
//!     fn brackets_are_balanced(list: gramjet::Doc<list::Producer>) {
//!         let count = |bracket| list.iter().filter(|&&byte| byte == bracket).count();
//!         prop_assert_eq!(count(b'['), count(b']'));
//!     }
//! }
//! # fn main() {}
//! ```

use std::fmt;

use ::proptest::arbitrary::Arbitrary;
use ::proptest::prelude::any;
use ::proptest::strategy::{NewTree, Strategy, ValueTree};
use ::proptest::test_runner::TestRunner;

use super::{Doc, Shrinker};
use crate::choices::Choices;
use crate::producer::Producer;

/// Returns the inputs of a producer, within its limits.
pub fn docs<P: Producer + Clone>(producer: P) -> Docs<P> {
    Docs { producer, max_choices: Docs::<P>::DEFAULT_MAX_CHOICES }
}

/// The strategy that [`docs`] makes.
#[derive(Clone, Copy)]
pub struct Docs<P> {
    producer: P,
    max_choices: usize,
}

impl<P> Docs<P> {
    /// No input has more choice bytes, unless [`Docs::max_choices`] says otherwise.
    pub const DEFAULT_MAX_CHOICES: usize = 2048;

    /// Sets the bound on choice bytes: no input has more than `bytes` choice bytes; after them it is completed in the
    /// shortest way. Half of the inputs have at most half as many, a quarter a quarter, and so on.
    #[must_use]
    pub fn max_choices(self, bytes: usize) -> Docs<P> {
        Docs { max_choices: bytes, ..self }
    }
}

impl<P> fmt::Debug for Docs<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Docs").field("max_choices", &self.max_choices).finish_non_exhaustive()
    }
}

impl<P: Producer + Clone> Strategy for Docs<P> {
    type Tree = DocTree<P>;
    type Value = Doc<P>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Docs<P>> {
        // proptest records the seeds of its own generator, so failures are found again.
        let (seed, scale) = any::<(u64, u32)>().new_tree(runner)?.current();
        let most = self.max_choices >> scale.trailing_zeros().min(usize::BITS - 1);
        let mut random = Choices::random(seed);
        let choices: Vec<u8> = (0..most).map_while(|_| random.next_byte()).collect();
        let mut producer = self.producer.clone();
        let doc = Doc::with(&mut producer, &choices);
        Ok(DocTree { shrinker: Shrinker::new(producer, doc) })
    }
}

/// An input and its simpler variants.
pub struct DocTree<P> {
    shrinker: Shrinker<P>,
}

impl<P: Producer> ValueTree for DocTree<P> {
    type Value = Doc<P>;

    fn current(&self) -> Doc<P> {
        self.shrinker.current().clone()
    }

    fn simplify(&mut self) -> bool {
        self.shrinker.accept()
    }

    fn complicate(&mut self) -> bool {
        self.shrinker.reject()
    }
}

impl<P: Producer + Default + Clone + 'static> Arbitrary for Doc<P> {
    type Parameters = ();
    type Strategy = Docs<P>;

    fn arbitrary_with((): ()) -> Docs<P> {
        docs(P::default())
    }
}
