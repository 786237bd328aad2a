//! An input together with its choice bytes: an argument for property tests and fuzz targets.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::choices::Choices;
use crate::producer::Producer;

#[cfg(feature = "arbitrary")]
mod arbitrary;
mod blind;
#[cfg(feature = "proptest")]
// The example shows a property test as users write it.
#[allow(clippy::test_attr_in_doctest)]
pub mod proptest;
#[cfg(feature = "quickcheck")]
mod quickcheck;
mod shrink;

pub use shrink::Shrinker;

/// A valid input of the producer `P`, made of choice bytes. Shown as text.
///
/// ```
/// gramjet::grammar! {
///     mod sum = ebnf "sum ::= number ('+' number)*  number ::= [1-9] [0-9]*";
/// }
/// type Sum = gramjet::Doc<sum::Producer>;
///
/// let sum = Sum::new(&[0xFF, 0x80]);
/// assert_eq!(sum.as_str(), Some("90"));
/// assert_eq!(format!("{sum:?}"), "\"90\"");
/// ```
pub struct Doc<P> {
    choices: Vec<u8>,
    text: Vec<u8>,
    producer: PhantomData<fn() -> P>,
}

impl<P: Producer + Default> Doc<P> {
    /// Returns the input of these choice bytes, within the limits that the producer begins with. Every byte string is a
    /// choice string.
    pub fn new(choices: &[u8]) -> Doc<P> {
        Doc::with(&mut P::default(), choices)
    }
}

impl<P: Producer> Doc<P> {
    /// Returns the input of these choice bytes, within the limits of a producer. Choice bytes that are not read are
    /// dropped.
    pub fn with(producer: &mut P, choices: &[u8]) -> Doc<P> {
        let mut text = Vec::new();
        let read = producer.produce(&mut Choices::replay(choices), &mut text) as usize;
        Doc { choices: choices[..read.min(choices.len())].to_vec(), text, producer: PhantomData }
    }
}

impl<P> Doc<P> {
    /// Returns an input and its choice bytes, all of which are read.
    fn of(text: &[u8], choices: &[u8]) -> Doc<P> {
        Doc { choices: choices.to_vec(), text: text.to_vec(), producer: PhantomData }
    }

    /// Returns the input.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the input, if it is UTF-8, as that of most grammars is.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.text).ok()
    }

    /// Returns the choice bytes that were read.
    pub fn choices(&self) -> &[u8] {
        &self.choices
    }

    /// Returns the input by itself.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }
}

impl<P> Clone for Doc<P> {
    fn clone(&self) -> Doc<P> {
        Doc { choices: self.choices.clone(), text: self.text.clone(), producer: PhantomData }
    }
}

impl<P> Deref for Doc<P> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.text
    }
}

impl<P> AsRef<[u8]> for Doc<P> {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl<P> PartialEq for Doc<P> {
    fn eq(&self, other: &Doc<P>) -> bool {
        self.text == other.text
    }
}

impl<P> Eq for Doc<P> {}

impl<P> fmt::Debug for Doc<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => fmt::Debug::fmt(text, f),
            None => write!(f, "b\"{}\"", self.text.escape_ascii()),
        }
    }
}
