//! Where the pieces of an outline stand in a file, of which a coded part may be written in another way than gramjet
//! writes it.

use std::collections::BTreeMap;
use std::ops::Range;

use gramjet_compiler::outline::{Outline, Piece, What};
use gramjet_parse::decoded;

/// A coded part of a file has at most this many bytes, and this many for each byte of what it stands for. So many parts
/// in a long file are decoded in linear time.
const REACH: usize = 64;
const GROWTH: usize = 16;

/// The file, what the coded parts in it stand for, and the places of pieces in these.
pub struct Layout {
    /// The file or what a coded part stands for, by the number of that part.
    texts: BTreeMap<Option<u32>, Text>,
}

/// A text as it is in the file, and as gramjet writes it.
struct Text {
    own: Vec<u8>,
    written: Vec<u8>,
    /// The ends of coded parts as gramjet writes it, and by how much places from there on are moved.
    moves: Vec<(u64, i64)>,
}

impl Text {
    fn new(own: Vec<u8>, written: Vec<u8>) -> Text {
        Text { own, written, moves: Vec::new() }
    }

    /// Returns the place in the file of a place as gramjet writes it.
    fn place(&self, written: u64) -> usize {
        let before = self.moves.partition_point(|&(end, _)| end <= written);
        let moved = before.checked_sub(1).map_or(0, |last| self.moves[last].1);
        written.saturating_add_signed(moved) as usize
    }

    fn range(&self, written: &Range<u64>) -> Range<usize> {
        self.place(written.start)..self.place(written.end)
    }
}

impl Layout {
    /// Returns the places of pieces in a file. `None` if it is not the text of the outline, but for the forms of coded
    /// parts.
    pub fn of(outline: &Outline, file: &[u8]) -> Option<Layout> {
        let mut layout = Layout { texts: BTreeMap::from([(None, Text::new(file.to_vec(), outline.text.clone()))]) };
        for (number, piece) in outline.pieces.iter().enumerate() {
            layout.add(number as u32, piece)?;
        }
        let whole = layout.texts.get(&None)?;
        (whole.place(outline.text.len() as u64) == file.len()).then_some(layout)
    }

    /// Decodes a piece if it is a coded part.
    fn add(&mut self, number: u32, piece: &Piece) -> Option<()> {
        let What::Coded(coding) = piece.what else { return Some(()) };
        let around = self.texts.get_mut(&piece.within)?;
        let Range { start, end } = piece.place;
        let (written, _) = decoded(coding, around.written.get(start as usize..end as usize)?, None)?;
        let rest = around.own.get(around.place(start)..)?;
        let reach = rest.len().min(REACH + GROWTH * written.len());
        let (own, len) = decoded(coding, &rest[..reach], Some(&written))?;
        let before = around.moves.last().map_or(0, |&(_, by)| by);
        around.moves.push((end, before + len as i64 - (end - start) as i64));
        self.texts.insert(Some(number), Text::new(own, written));
        Some(())
    }

    /// Returns the place of a piece, and its bytes there.
    pub fn bytes(&self, piece: &Piece) -> (usize, &[u8]) {
        let Some(text) = self.texts.get(&piece.within) else { return (0, &[]) };
        let place = text.range(&piece.place);
        (place.start, text.own.get(place).unwrap_or_default())
    }

    /// Returns the number of bytes that a coded part stands for.
    pub fn decoded_len(&self, number: usize) -> usize {
        self.texts.get(&Some(number as u32)).map_or(0, |text| text.own.len())
    }
}
