//! Lists of choices in less memory: lists that only one other list refers to are joined to it, as choice bytes.

use crate::arena::{Arena, EMPTY, List, make_room, make_room_for};

/// A list with at least this number of references is kept by itself.
pub(crate) const HEAD: u32 = 2;

/// Up to this number of zeros is written out: as many as a list has bytes, so that lists never grow.
const FEW: u32 = size_of::<List>() as u32;
/// The option of a site has at most this number of choice bytes.
const SITE: usize = 8;

/// Writes the lists with references anew. `references` has the number of references to each list, up to [`HEAD`], and
/// afterwards the places of the lists that are kept by themselves. `encode` appends the bytes of a site's option, the
/// last one first.
pub(crate) fn pack(arena: &mut Arena, references: &mut [u32], encode: impl Fn(u32, u32, &mut Vec<u8>)) {
    let mut packing = Packing::default();
    let mut open = Vec::new();
    // A list is made later than the lists that it is made of.
    for head in 0..arena.lists.len() {
        if references[head] < HEAD {
            continue;
        }
        // From its end to its beginning.
        open.push(head as u32);
        while let Some(index) = open.pop() {
            if index == EMPTY {
                continue;
            }
            let reference = references[index as usize];
            if index as usize != head && reference >= HEAD {
                packing.whole(index);
                continue;
            }
            let list = arena.lists[index as usize];
            open.push(list.before);
            match list.kind {
                List::LIST => open.push(list.value),
                List::ZEROS if list.value > FEW => packing.whole(index),
                List::ZEROS => {
                    packing.part(index, list.value as usize, |bytes| bytes.extend((0..list.value).map(|_| 0)))
                }
                List::PACKED => {
                    let packed = arena.packed_at(list.value);
                    packing.part(index, packed.len(), |bytes| bytes.extend(packed.iter().rev()));
                }
                site => packing.part(index, SITE, |bytes| encode(site, list.value, bytes)),
            }
        }
        references[head] = HEAD
            + packing.finish(|index| match references[index as usize] {
                reference if index as usize != head && reference >= HEAD => {
                    List { before: EMPTY, kind: List::LIST, value: reference - HEAD }
                }
                _ => arena.lists[index as usize],
            });
    }
    for reference in references {
        *reference = reference.checked_sub(HEAD).unwrap_or(EMPTY);
    }
    (arena.lists, arena.packed) = (packing.lists, packing.packed);
}

#[derive(Default)]
struct Packing {
    lists: Vec<List>,
    packed: Vec<u8>,
    /// The parts of the list that is written, and the bytes of the parts that are bytes, from the end on.
    parts: Vec<Part>,
    bytes: Vec<u8>,
}

/// A part of a list: one list as it is, or the bytes of several.
struct Part {
    /// The list, or the last of several.
    list: u32,
    /// Number of lists whose bytes it has.
    lists: u32,
    /// Place where its bytes begin.
    bytes: usize,
}

impl Packing {
    /// Adds a list that stays as it is.
    fn whole(&mut self, list: u32) {
        make_room(&mut self.parts);
        self.parts.push(Part { list, lists: 0, bytes: self.bytes.len() });
    }

    /// Adds a list that becomes bytes, `room` at most. It stands before the ones that are there.
    fn part(&mut self, list: u32, room: usize, write: impl FnOnce(&mut Vec<u8>)) {
        match self.parts.last_mut() {
            Some(part) if part.lists > 0 => part.lists += 1,
            _ => {
                make_room(&mut self.parts);
                self.parts.push(Part { list, lists: 1, bytes: self.bytes.len() });
            }
        }
        make_room_for(&mut self.bytes, room);
        write(&mut self.bytes);
    }

    /// Writes the list, and returns its number. `list_of` gives the replacement of a list that is a part by itself.
    fn finish(&mut self, list_of: impl Fn(u32) -> List) -> u32 {
        let mut before = EMPTY;
        while let Some(Part { list, lists, bytes }) = self.parts.pop() {
            let list = list_of(list);
            let list = match (lists, list.kind) {
                // A list after the empty one.
                (0, List::LIST) if before == EMPTY => {
                    before = list.value;
                    continue;
                }
                (0, _) => List { before, ..list },
                (1, kind) if kind != List::PACKED => List { before, ..list },
                _ => {
                    let value = self.packed.len() as u32;
                    let len = self.bytes.len() - bytes;
                    make_room_for(&mut self.packed, len + 4);
                    self.packed.extend((len as u32).to_le_bytes());
                    self.packed.extend(self.bytes[bytes..].iter().rev());
                    List { before, kind: List::PACKED, value }
                }
            };
            self.bytes.truncate(bytes);
            before = self.lists.len() as u32;
            make_room(&mut self.lists);
            self.lists.push(list);
        }
        before
    }
}
