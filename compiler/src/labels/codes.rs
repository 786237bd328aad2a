//! Coded parts of a text that is being derived.
//!
//! The text of such a part is derived in place, with a slack of its own. At its end it is settled and coded. So nothing
//! in it waits for parts outside, and what is outside sees no more of it than its length and its bytes.

use super::settle::{self, Moves, Piece, Span};
use super::{FREE, Labels};
use crate::ir::{Codec, Ir, LabelId, NodeId};

/// The coded parts of a text.
#[derive(Debug, Default)]
pub(super) struct Codes {
    open: Vec<OpenCode>,
    /// The texts of complete parts that others follow from, before they were coded.
    kept: Vec<Vec<u8>>,
    /// Places in the part that was coded last.
    moves: Option<Moves>,
}

/// A coded part that is being derived.
#[derive(Debug)]
struct OpenCode {
    codec: Codec,
    from: u64,
    first_mark: u32,
    inserted: i64,
    /// The number of open scopes around it.
    scopes: usize,
    /// The slack outside at the beginning, and the bytes that it has besides for the shortest text of the part.
    outside: u64,
    shortest: u64,
    /// The labels of its whole text, with its rounds.
    labels: Vec<(LabelId, u64)>,
}

impl Codes {
    /// Returns the number of open coded parts.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Forgets the texts.
    pub fn restart(&mut self) {
        self.open.clear();
        self.kept.clear();
        self.moves = None;
    }

    /// Returns a text before it was coded.
    pub fn kept(&self) -> &[Vec<u8>] {
        &self.kept
    }
}

impl Labels {
    /// Begins a coded part at the byte `emitted` of the output. Returns the slack within it.
    pub(super) fn begin_code(&mut self, ir: &Ir, (codec, body): (Codec, NodeId), emitted: u64, slack: u64) -> u64 {
        let outside = if slack >= FREE { u64::MAX } else { slack };
        let within = ir.facts(body).min_len.saturating_add_signed(self.extra(ir, body));
        let shortest = codec.longest(within);
        let most = match outside {
            u64::MAX => u64::MAX,
            outside => codec.most_within(outside.saturating_add(shortest)),
        };
        // Offsets count from the beginning of the part.
        let most = most.min(ir.longest_text().unwrap_or(u64::MAX));
        self.names.begin_text();
        let (first_mark, inserted, scopes) = (self.marks.len() as u32, self.inserted, self.scopes.len());
        let labels = Vec::new();
        self.codes.open.push(OpenCode {
            codec,
            from: emitted,
            first_mark,
            inserted,
            scopes,
            outside,
            shortest,
            labels,
        });
        if most == u64::MAX { u64::MAX } else { most.saturating_sub(within) }
    }

    /// Ends the coded part that was begun last, at the end of the output, which begins at `base`. Returns the slack
    /// after it.
    pub(super) fn end_code(&mut self, ir: &Ir, output: &mut Vec<u8>, base: usize) -> u64 {
        let Some(open) = self.codes.open.pop() else { return u64::MAX };
        self.names.end_text(&output[base..]);
        let marks = self.marks.split_off(open.first_mark as usize);
        let piece = Piece { base, from: open.from, first_mark: open.first_mark, kept: &self.codes.kept };
        let mut moves = settle::settle(ir, &marks, &piece, output);
        let begin = base + open.from as usize;
        let text = output.split_off(begin);
        open.codec.coding.encode(&text, output);
        let coded = (output.len() - begin) as u64;
        moves.code(open.from, text.len() as u64, coded);
        self.codes.moves = Some(moves);
        self.inserted = open.inserted;
        if !open.labels.is_empty() {
            let len = text.len() as u64;
            self.codes.kept.push(text);
            for (label, rounds) in open.labels {
                let kept = Some(self.codes.kept.len() as u32 - 1);
                self.know(ir, label, Span { raw: (0, len), len, rounds, marks: (0, 0), kept });
            }
        }
        match open.outside {
            u64::MAX => u64::MAX,
            outside => outside.saturating_add(open.shortest).saturating_sub(coded),
        }
    }

    /// Notes the label of the whole text of an open coded part, if it is one. The part is known once it is coded.
    pub(super) fn ends_with_code(&mut self, label: LabelId, rounds: u64) -> bool {
        let scopes = self.scopes.len();
        let Some(open) = self.codes.open.last_mut().filter(|open| open.scopes == scopes) else { return false };
        open.labels.push((label, rounds));
        true
    }

    /// Returns the places in the part that was coded last, once.
    pub fn take_moves(&mut self) -> Option<Moves> {
        self.codes.moves.take()
    }
}
