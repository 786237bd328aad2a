//! The edges of a subject: their numbers and their places in its sources.

use std::collections::HashMap;
use std::fmt;

/// Place of an edge in the sources.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgePlace {
    /// The file, as the language names it.
    pub file: String,
    /// The line that the edge leads to, from 1 on.
    pub line: u32,
    /// The function.
    pub function: String,
}

impl fmt::Display for EdgePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} ({})", self.file, self.line, self.function)
    }
}

/// The most edges, and the most bytes of their keys: a worker can announce edges without end.
const EDGES: usize = 1 << 21;
const BYTES: usize = 1 << 28;

/// The known edges, by their keys.
#[derive(Default)]
pub(super) struct Table {
    numbers: HashMap<Vec<u8>, u32>,
    places: Vec<EdgePlace>,
    /// Number of bytes of all keys.
    bytes: usize,
}

impl Table {
    /// Returns the number of an edge, from 1 on; 0 if there is no room for another one. `key` is its file, its function
    /// and its mark there, with zero bytes between.
    pub(super) fn number(&mut self, key: &[u8], line: u32) -> u32 {
        if let Some(&number) = self.numbers.get(key) {
            return number;
        }
        if self.places.len() >= EDGES || self.bytes + key.len() > BYTES {
            return 0;
        }
        self.bytes += key.len();
        let mut parts = key.split(|&byte| byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
        let mut part = || parts.next().unwrap_or_default();
        self.places.push(EdgePlace { file: part(), line, function: part() });
        let number = self.places.len() as u32;
        self.numbers.insert(key.to_vec(), number);
        number
    }

    pub(super) fn place(&self, number: u32) -> Option<&EdgePlace> {
        self.places.get((number as usize).checked_sub(1)?)
    }

    /// Returns how many edges are known.
    pub(super) fn len(&self) -> u32 {
        self.places.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_keeps_its_number() {
        let mut table = Table::default();
        assert_eq!(table.number(b"a.py\0f\x001", 1), 1);
        assert_eq!(table.number(b"a.py\0g\x001", 7), 2);
        assert_eq!(table.number(b"a.py\0f\x001", 1), 1);
        assert_eq!(table.place(2).map(ToString::to_string).as_deref(), Some("a.py:7 (g)"));
        assert_eq!((table.place(0), table.place(3), table.len()), (None, None, 2));
    }

    #[test]
    fn a_full_table_takes_no_further_edges() {
        let mut table = Table { bytes: BYTES - 10, ..Table::default() };
        assert_eq!(table.number(b"a.py\0f\x001", 1), 1);
        assert_eq!(table.number(b"a.py\0g\x001", 7), 0);
        assert_eq!(table.number(b"a.py\0f\x001", 1), 1);
    }
}
