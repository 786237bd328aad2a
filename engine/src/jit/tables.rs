//! The constant tables of machine code in the making: equal tables are stored once.

use rustc_hash::FxHashMap;

/// Bytes of tables, with their places.
#[derive(Default)]
pub(super) struct Tables {
    pub bytes: Vec<u8>,
    /// Place of each table. Looked up only, never iterated.
    known: FxHashMap<Vec<u8>, i32>,
}

/// Bytes read beyond a table's end must still be memory of the tables.
const PADDING: usize = 64;

impl Tables {
    /// Returns the place of a table that begins at a multiple of `alignment`, a power of two up to 64.
    pub fn add(&mut self, table: Vec<u8>, alignment: usize) -> i32 {
        if let Some(&place) = self.known.get(&table)
            && (place as usize).is_multiple_of(alignment)
        {
            return place;
        }
        let place = self.reserve(table.len(), alignment);
        self.bytes[place as usize..][..table.len()].copy_from_slice(&table);
        self.known.insert(table, place);
        place
    }

    /// Returns the place of `len` zeros that are filled in later.
    pub fn reserve(&mut self, len: usize, alignment: usize) -> i32 {
        let place = self.bytes.len().next_multiple_of(alignment);
        self.bytes.resize(place + len, 0);
        // The assembler stops long before tables have 2^31 bytes.
        place as i32
    }

    /// Returns the tables, padded.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + PADDING, 0);
        self.bytes
    }
}
