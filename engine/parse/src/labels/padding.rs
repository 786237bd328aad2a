//! The steps of threads at padding.

use gramjet_compiler::derived::Padding;

use super::faults::{Fault, Right};
use super::{Mode, Threads};
use crate::arena::Thread;
use crate::error::{Attempt, Expected};
use crate::program::Program;
use crate::program::operations::Place;

impl Threads<'_, '_> {
    /// Reads the padding of a part. Where wrong bytes are accepted, it is all filler bytes that come, none, or as many
    /// bytes as it should have that are all alike. Others would be taken from the part.
    pub(super) fn padding(&mut self, thread: Thread, place: Place, padding: Padding, next: u32) {
        let Some(part) = self.contexts.get(thread.count).known(place) else { return };
        let width = padding.width(part.length().into()) as usize;
        let (program, filler) = (self.program, padding.filler);
        let bytes = vec![filler; width];
        let attempt =
            |read, frame| Attempt::derived(program.expected_padding(place, padding, bytes.clone(), None), read, frame);
        if part.length() as u64 <= padding.greatest() && self.literal(&bytes, attempt, thread.frame) {
            self.read(width, next, thread);
        } else if self.mode != Mode::Strict {
            let rest = &self.text[self.position..self.bound(thread)];
            let run = rest.iter().take(padding.most() as usize).take_while(|&&byte| byte == filler).count();
            let mut widths = vec![0, run];
            let alike = rest.get(..width).filter(|bytes| bytes.windows(2).all(|pair| pair[0] == pair[1]));
            widths.extend(alike.map(<[u8]>::len));
            widths.sort_unstable();
            widths.dedup();
            for width in widths {
                let found = (self.position as u32, (self.position + width) as u32);
                let right = Right::Padding(place, padding, bytes.len() as u32);
                let list = self.fault(thread.list, Fault { found, right, within: self.frame(thread) });
                self.read(width, next, Thread { list, ..thread });
            }
        }
    }
}

impl Program {
    /// Returns the expectation of padding.
    pub(super) fn expected_padding(
        &self,
        place: Place,
        padding: Padding,
        bytes: Vec<u8>,
        found: Option<Vec<u8>>,
    ) -> Expected {
        let (name, to) = (self.name_of(place), padding.to);
        let multiple = if padding.is_exact { "" } else { "a multiple of " };
        let origin = format!("the padding of part `{name}` to {multiple}{to} bytes");
        let is_text = padding.filler.is_ascii_graphic() || padding.filler == b' ';
        Expected::Derived { bytes, is_text, origin, found }
    }
}
