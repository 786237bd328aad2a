//! The data that threads share: frames of callees, and lists of choices. Frames form a graph, as a callee that is
//! called from several places at the same position is parsed once. Lists share their beginnings.

use crate::pack::{HEAD, pack};

/// No list: the empty one.
pub(crate) const EMPTY: u32 = u32::MAX;
/// No frame, no edge.
pub(crate) const NONE: u32 = u32::MAX;

/// The frame of the start rule.
pub(crate) const ROOT: u32 = 0;

/// A callee that is being derived from a position of the text on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub callee: u32,
    pub position: u32,
    /// Beginning and end of its edges.
    pub first_edge: u32,
    pub last_edge: u32,
    /// Whether it has exactly one edge.
    pub single: bool,
    /// If the frame's end is the end of its only caller, and so on: the last frame of that chain, and the choices in
    /// the frames of the chain (Leo 1991). Known when first needed.
    pub top: u32,
    pub top_list: u32,
}

/// A caller of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The state to return to, the count there, and the caller's frame.
    pub state: u32,
    pub count: u32,
    pub frame: u32,
    /// The choices in the caller's frame before the call.
    pub list: u32,
    /// The next edge of the same frame.
    pub next: u32,
}

/// A list of choices: another list and a part after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub before: u32,
    /// A site, whose option is `value`; or a kind.
    pub kind: u32,
    pub value: u32,
}

impl List {
    /// `value` is a list.
    pub const LIST: u32 = u32::MAX;
    /// This number of choice bytes of zero.
    pub const ZEROS: u32 = u32::MAX - 1;
    /// Choice bytes at this place of [`Arena::packed`], after their number in four bytes.
    pub const PACKED: u32 = u32::MAX - 2;
}

/// A thread: its place in the network, the rounds done of the counted repetition around it, and its choices since its
/// frame began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread {
    pub state: u32,
    pub count: u32,
    pub frame: u32,
    pub list: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// Whether lists are not kept: all are empty.
    pub forgets: bool,
    pub frames: Vec<Frame>,
    pub edges: Vec<Edge>,
    pub lists: Vec<List>,
    /// The choice bytes of lists that were joined.
    pub packed: Vec<u8>,
}

impl Arena {
    /// Returns the memory that is in use, in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.frames) + size_of_val(&*self.edges) + size_of_val(&*self.lists) + self.packed.len()
    }

    /// Returns the memory that it takes in bytes, with room to grow.
    pub fn capacity(&self) -> usize {
        size_of::<Frame>() * self.frames.capacity()
            + size_of::<Edge>() * self.edges.capacity()
            + size_of::<List>() * self.lists.capacity()
            + self.packed.capacity()
    }

    /// Returns the bytes at a place of `packed`.
    pub fn packed_at(&self, place: u32) -> &[u8] {
        let place = place as usize;
        let (len, rest) = self.packed[place..].split_at(4);
        &rest[..u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize]
    }

    pub fn add_frame(&mut self, callee: u32, position: u32) -> u32 {
        let (first_edge, last_edge) = (NONE, NONE);
        make_room(&mut self.frames);
        self.frames.push(Frame { callee, position, first_edge, last_edge, single: false, top: NONE, top_list: EMPTY });
        self.frames.len() as u32 - 1
    }

    pub fn add_edge(&mut self, to: u32, state: u32, count: u32, frame: u32, list: u32) {
        let edge = self.edges.len() as u32;
        make_room(&mut self.edges);
        self.edges.push(Edge { state, count, frame, list, next: NONE });
        let frame = &mut self.frames[to as usize];
        // The end of the start rule's frame is also the end of the text.
        frame.single = frame.first_edge == NONE && to != ROOT;
        if frame.first_edge == NONE {
            frame.first_edge = edge;
        } else {
            self.edges[frame.last_edge as usize].next = edge;
        }
        frame.last_edge = edge;
    }

    pub fn append(&mut self, before: u32, kind: u32, value: u32) -> u32 {
        if self.forgets {
            return EMPTY;
        }
        make_room(&mut self.lists);
        self.lists.push(List { before, kind, value });
        self.lists.len() as u32 - 1
    }

    /// Joins two lists, one after the other.
    pub fn join(&mut self, before: u32, behind: u32) -> u32 {
        match (before, behind) {
            (EMPTY, list) | (list, EMPTY) => list,
            _ => self.append(before, List::LIST, behind),
        }
    }

    /// Returns the list, followed by `count` zeros.
    pub fn zeros(&mut self, mut list: u32, mut count: u64) -> u32 {
        while count > 0 && !self.forgets {
            let some = u32::try_from(count).unwrap_or(u32::MAX);
            list = self.append(list, List::ZEROS, some);
            count -= u64::from(some);
        }
        list
    }

    /// Appends the bytes of some lists, one after the other. Returns false if there would be more than `most`.
    pub fn write(
        &self,
        lists: &[u32],
        most: usize,
        bytes: &mut Vec<u8>,
        encode: impl Fn(u32, u32, &mut Vec<u8>),
    ) -> bool {
        let start = bytes.len();
        // Lists lead from their ends to their beginnings.
        let mut open = lists.to_vec();
        while let Some(list) = open.pop() {
            if list == EMPTY {
                continue;
            }
            let List { before, kind, value } = self.lists[list as usize];
            open.push(before);
            match kind {
                List::LIST => open.push(value),
                List::ZEROS => {
                    if bytes.len() + value as usize > most {
                        return false;
                    }
                    make_room_for(bytes, value as usize);
                    bytes.resize(bytes.len() + value as usize, 0);
                }
                List::PACKED => {
                    let packed = self.packed_at(value);
                    make_room_for(bytes, packed.len());
                    bytes.extend(packed.iter().rev());
                }
                site => encode(site, value, bytes),
            }
        }
        bytes[start..].reverse();
        bytes.len() <= most
    }

    /// Returns the frame at which a chain of ends ends, and the choices in it: the end of `frame` may be the end of its
    /// only caller, and so on. `is_end` says whether a state is the end of a callee.
    pub fn top(&mut self, frame: u32, is_end: impl Fn(u32) -> bool) -> (u32, u32) {
        let mut chain = Vec::new();
        let mut at = frame;
        let (mut top, mut list) = loop {
            let data = self.frames[at as usize];
            if data.top != NONE {
                break (data.top, data.top_list);
            }
            match data.single.then(|| self.edges[data.first_edge as usize]) {
                Some(edge) if is_end(edge.state) => {
                    chain.push((at, edge.list));
                    at = edge.frame;
                }
                _ => break (at, EMPTY),
            }
        };
        for (frame, before_call) in chain.into_iter().rev() {
            list = self.join(list, before_call);
            let data = &mut self.frames[frame as usize];
            (data.top, data.top_list) = (top, list);
            top = data.top;
        }
        (top, list)
    }

    /// Returns the lists of the frames from the start rule down to that of `thread`, if every frame on the way has one
    /// caller.
    pub fn way_down(&self, thread: &Thread) -> Option<Vec<u32>> {
        let mut edges = Vec::new();
        let mut frame = thread.frame;
        while frame != ROOT {
            let data = &self.frames[frame as usize];
            if !data.single {
                return None;
            }
            edges.push(data.first_edge);
            frame = self.edges[data.first_edge as usize].frame;
        }
        edges.reverse();
        (self.frames[ROOT as usize].first_edge == NONE).then_some(edges)
    }

    /// Drops everything that none of `threads` needs, and renumbers. Lists with a single reference are packed with the
    /// lists that they are made of; `encode` gives the bytes of a site's option.
    pub fn compact<'t>(
        &mut self,
        threads: impl Iterator<Item = &'t mut Thread>,
        encode: impl Fn(u32, u32, &mut Vec<u8>),
    ) {
        let threads: Vec<&mut Thread> = threads.collect();
        let mut frames = vec![NONE; self.frames.len()];
        // First the number of references to each, then its new number.
        let mut lists = vec![0; self.lists.len()];
        let mut open = vec![ROOT];
        frames[ROOT as usize] = 0;
        let mark = |lists: &mut Vec<u32>, list: u32, count: u32| {
            if list != EMPTY {
                let references = &mut lists[list as usize];
                *references = references.saturating_add(count).min(HEAD);
            }
        };
        for thread in &threads {
            mark(&mut lists, thread.list, HEAD);
            if std::mem::replace(&mut frames[thread.frame as usize], 0) == NONE {
                open.push(thread.frame);
            }
        }
        while let Some(frame) = open.pop() {
            let mut edge = self.frames[frame as usize].first_edge;
            while edge != NONE {
                let data = self.edges[edge as usize];
                mark(&mut lists, data.list, HEAD);
                if std::mem::replace(&mut frames[data.frame as usize], 0) == NONE {
                    open.push(data.frame);
                }
                edge = data.next;
            }
        }
        // A list is made later than the lists that it is made of.
        for index in (0..self.lists.len()).rev() {
            if lists[index] != 0 {
                let List { before, kind, value } = self.lists[index];
                mark(&mut lists, before, 1);
                if kind == List::LIST {
                    mark(&mut lists, value, 1);
                }
            }
        }
        for (next, mark) in frames.iter_mut().filter(|mark| **mark == 0).enumerate() {
            *mark = next as u32;
        }
        pack(self, &mut lists, encode);
        let list_now = |list: u32| if list == EMPTY { EMPTY } else { lists[list as usize] };
        let mut edges = Vec::new();
        let mut kept = Vec::with_capacity(frames.iter().filter(|&&frame| frame != NONE).count());
        for (old, frame) in self.frames.iter().enumerate().filter(|(old, _)| frames[*old] != NONE) {
            debug_assert_eq!(frames[old] as usize, kept.len());
            let mut frame = Frame { first_edge: NONE, last_edge: NONE, top: NONE, top_list: EMPTY, ..*frame };
            let mut edge = self.frames[old].first_edge;
            while edge != NONE {
                let data = self.edges[edge as usize];
                let new = edges.len() as u32;
                if frame.first_edge == NONE {
                    frame.first_edge = new;
                }
                frame.last_edge = new;
                let next = if data.next == NONE { NONE } else { new + 1 };
                make_room(&mut edges);
                edges.push(Edge { frame: frames[data.frame as usize], list: list_now(data.list), next, ..data });
                edge = data.next;
            }
            kept.push(frame);
        }
        (self.frames, self.edges) = (kept, edges);
        for thread in threads {
            (thread.frame, thread.list) = (frames[thread.frame as usize], list_now(thread.list));
        }
    }
}

/// Makes room for one more element, and for a quarter of the present ones: a vector by itself would double.
#[inline]
pub(crate) fn make_room<T>(list: &mut Vec<T>) {
    make_room_for(list, 1);
}

/// Makes room for some more elements, and for a quarter of the present ones.
#[inline]
pub(crate) fn make_room_for<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more + (list.len() / 4).max(64));
    }
}

/// The places where threads have been at one position of the text: an open hash table that is emptied by counting.
#[derive(Debug)]
pub(crate) struct Seen {
    slots: Vec<(u32, u32, u32, u32)>,
    generation: u32,
    used: usize,
}

impl Seen {
    pub fn new() -> Seen {
        Seen { slots: vec![(0, 0, 0, 0); 1 << 10], generation: 1, used: 0 }
    }

    /// Returns the memory that it takes in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.slots)
    }

    pub fn clear(&mut self) {
        self.used = 0;
        match self.generation.checked_add(1) {
            Some(generation) => self.generation = generation,
            None => {
                self.slots.fill((0, 0, 0, 0));
                self.generation = 1;
            }
        }
    }

    /// Adds a place; says whether it is new.
    #[inline]
    pub fn insert(&mut self, state: u32, count: u32, frame: u32) -> bool {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        let slot = (self.generation, state, count, frame);
        let mask = self.slots.len() - 1;
        let key = (u64::from(state) | u64::from(frame) << 32) ^ u64::from(count).rotate_left(20);
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        loop {
            let found = self.slots[at];
            if found == slot {
                return false;
            }
            if found.0 != self.generation {
                self.slots[at] = slot;
                self.used += 1;
                return true;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0, 0, 0); self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, larger);
        self.used = 0;
        for (generation, state, count, frame) in old {
            if generation == self.generation {
                self.insert(state, count, frame);
            }
        }
    }
}
