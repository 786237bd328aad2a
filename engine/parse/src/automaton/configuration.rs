//! Configurations: what the machine's future depends on, without positions and choices. They have threads, frames and
//! edges like the machine, in numbers that equal configurations share.

use crate::arena::NONE;
use crate::program::StateId;

/// A thread that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Waiting {
    /// The number of bytes up to the position where it goes on.
    pub ahead: u32,
    /// The place of these bytes in `Program::bytes` if they are those of a literal.
    pub literal: u32,
    pub state: StateId,
    pub count: u32,
    pub frame: u32,
}

/// A caller of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    pub state: StateId,
    pub count: u32,
    pub frame: u32,
}

/// The frame at the bottom of a configuration. Its callers are in the configuration below, if there is one.
pub(super) const BASE: u32 = 0;
/// The frame that returns, in a configuration without threads.
pub(super) const RETURNING: u32 = 1;

/// A configuration. Its registers are the lists of choices of its threads, and then of its edges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Configuration {
    /// Whether its base is the frame of the start rule.
    pub is_lowest: bool,
    /// Whether nothing has been read.
    pub is_start: bool,
    /// Without threads, the next step is that `RETURNING` ends.
    pub threads: Vec<Waiting>,
    /// Flag for each frame: true if it is of a counted repetition.
    pub counted: Vec<bool>,
    /// End of the callers of each frame.
    pub ends: Vec<u32>,
    pub callers: Vec<Caller>,
}

impl Configuration {
    /// Returns the number of registers.
    pub fn registers(&self) -> usize {
        self.threads.len() + self.callers.len()
    }

    /// Returns the callers of a frame, each with its register.
    pub fn callers_of(&self, frame: usize) -> impl Iterator<Item = (Caller, u32)> + '_ {
        let start = if frame == 0 { 0 } else { self.ends[frame - 1] };
        let first = self.threads.len() as u32;
        (start..self.ends[frame]).map(move |place| (self.callers[place as usize], first + place))
    }

    /// Returns the memory that it takes, about, in bytes.
    pub fn size(&self) -> usize {
        size_of::<Configuration>()
            + size_of_val(&*self.threads)
            + size_of_val(&*self.ends)
            + size_of_val(&*self.callers)
    }
}

/// An edge of a graph, with its list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub state: StateId,
    pub count: u32,
    pub frame: u32,
    pub list: u32,
}

/// Threads and frames with any numbers and with lists.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub is_lowest: bool,
    pub threads: Vec<(Waiting, u32)>,
    pub frames: Vec<Vec<Edge>>,
    /// Flag for each frame: true if it is of a counted repetition.
    pub counted: Vec<bool>,
    /// Cost of the search for places to split, in steps.
    pub effort: u64,
}

impl Graph {
    /// Adds the frames of a configuration; the list of a register is made by `list`.
    pub fn add_frames(&mut self, of: &Configuration, number: impl Fn(u32) -> u32, mut list: impl FnMut(u32) -> u32) {
        for frame in 0..of.ends.len() {
            let edges = of.callers_of(frame).map(|(Caller { state, count, frame }, register)| Edge {
                state,
                count,
                frame: number(frame),
                list: list(register),
            });
            let to = number(frame as u32) as usize;
            if self.frames.len() <= to {
                self.frames.resize_with(to + 1, Vec::new);
                self.counted.resize(to + 1, false);
            }
            self.counted[to] |= of.counted[frame];
            self.frames[to].extend(edges);
        }
    }

    /// Returns the configurations from the lowest one on that it falls into where all ways lead through one frame, each
    /// with the lists of its registers.
    pub fn split(&mut self) -> Vec<(Configuration, Vec<u32>)> {
        let mut bases = vec![BASE];
        bases.extend(self.bottlenecks());
        let parts = (0..bases.len()).map(|part| self.number(bases[part], bases.get(part + 1).copied()));
        parts.collect()
    }

    /// Lets the only caller of a frame take its place if the frame ends where the caller ends, and nothing else of the
    /// caller goes on. So right recursion needs no frames. `is_end` says whether a state is the end of a callee; `join`
    /// joins two lists.
    ///
    /// A counted repetition can end in several ways at a position, so its frame stays.
    pub fn contract(&mut self, is_end: impl Fn(StateId) -> bool, mut join: impl FnMut(u32, u32) -> u32) {
        let used = self.uses();
        let caller = |frame: usize| match self.frames[frame][..] {
            [edge]
                if frame as u32 != BASE
                    && !self.counted[frame]
                    && used[frame] > 0
                    && used[edge.frame as usize] == 1 =>
            {
                is_end(edge.state).then_some((edge.frame, edge.list))
            }
            _ => None,
        };
        let callers: Vec<Option<(u32, u32)>> = (0..self.frames.len()).map(caller).collect();
        if callers.iter().all(Option::is_none) {
            return;
        }
        let mut replace = |frame: &mut u32, list: &mut u32| {
            while let Some((caller, before)) = callers[*frame as usize] {
                (*frame, *list) = (caller, join(before, *list));
            }
        };
        self.threads.iter_mut().for_each(|(thread, list)| replace(&mut thread.frame, list));
        self.frames.iter_mut().flatten().for_each(|edge| replace(&mut edge.frame, &mut edge.list));
    }

    /// Returns how many threads and edges that can be reached lead to each frame.
    fn uses(&self) -> Vec<u32> {
        let mut reached = vec![false; self.frames.len()];
        let roots = self.threads.iter().map(|(thread, _)| thread.frame).chain([BASE]);
        self.reach(&mut reached, roots.collect());
        let mut uses = vec![0; self.frames.len()];
        self.threads.iter().for_each(|(thread, _)| uses[thread.frame as usize] += 1);
        for (frame, _) in self.frames.iter().zip(reached).filter(|(_, reached)| *reached) {
            frame.iter().for_each(|edge| uses[edge.frame as usize] += 1);
        }
        uses
    }

    /// Returns the frames that all ways from the threads to the base lead through, and that keep what is above them
    /// apart from what is below; the lowest one first.
    fn bottlenecks(&mut self) -> Vec<u32> {
        let sources: Vec<u32> = self.threads.iter().map(|(thread, _)| thread.frame).collect();
        if let Some(way) = self.common_way(&sources) {
            self.effort += (way.len() * self.frames.len() / 8) as u64;
            return way;
        }
        let way = self.some_way(sources[0]);
        self.effort += (way.len() * self.frames.len() / 8) as u64;
        way.into_iter().rev().filter(|&frame| self.divides(&sources, frame)).collect()
    }

    /// Returns the bottlenecks where each frame that can be reached has one caller, which is so in most texts: the
    /// frames that the ways from all sources have in common.
    fn common_way(&self, sources: &[u32]) -> Option<Vec<u32>> {
        if self.is_lowest && !self.frames[BASE as usize].is_empty() {
            return None;
        }
        let mut ways = vec![0; self.frames.len()];
        let mut way = Vec::new();
        for &source in sources {
            let mut frame = source;
            way.clear();
            while frame != BASE {
                let [edge] = self.frames[frame as usize][..] else { return None };
                // A way without an end would not be a way to the base.
                if way.len() > self.frames.len() {
                    return None;
                }
                ways[frame as usize] += 1;
                way.push(frame);
                frame = edge.frame;
            }
        }
        way.reverse();
        way.retain(|&frame| ways[frame as usize] == sources.len());
        Some(way)
    }

    /// Returns frames that lead from one to the base, the base excluded.
    fn some_way(&self, from: u32) -> Vec<u32> {
        let mut reached = vec![false; self.frames.len()];
        let mut way: Vec<(u32, usize)> = Vec::new();
        let mut next = Some(from);
        loop {
            match next.take() {
                Some(BASE) => return way.into_iter().map(|(frame, _)| frame).collect(),
                Some(frame) if !std::mem::replace(&mut reached[frame as usize], true) => way.push((frame, 0)),
                _ => {}
            }
            let Some((frame, edge)) = way.last_mut() else { return Vec::new() };
            next = self.frames[*frame as usize].get(*edge).map(|edge| edge.frame);
            *edge += 1;
            if next.is_none() {
                way.pop();
            }
        }
    }

    fn divides(&self, sources: &[u32], frame: u32) -> bool {
        let mut above = vec![false; self.frames.len()];
        above[frame as usize] = true;
        self.reach(&mut above, sources.to_vec());
        if above[BASE as usize] {
            return false;
        }
        let mut below = vec![false; self.frames.len()];
        below[frame as usize] = true;
        let mut open: Vec<u32> = self.frames[frame as usize].iter().map(|edge| edge.frame).collect();
        if self.is_lowest {
            open.extend(self.frames[BASE as usize].iter().map(|edge| edge.frame));
        }
        self.reach(&mut below, open);
        (0..self.frames.len()).all(|other| other == frame as usize || !(above[other] && below[other]))
    }

    /// Marks all frames that can be reached, but does not go on from those that are marked.
    fn reach(&self, marked: &mut [bool], mut open: Vec<u32>) {
        while let Some(frame) = open.pop() {
            if !std::mem::replace(&mut marked[frame as usize], true) {
                open.extend(self.frames[frame as usize].iter().map(|edge| edge.frame));
            }
        }
    }

    /// Returns the configuration above `base`: up to the threads, or up to the frame `returning`. With the lists of its
    /// registers.
    pub fn number(&self, base: u32, returning: Option<u32>) -> (Configuration, Vec<u32>) {
        let mut numbers = vec![NONE; self.frames.len()];
        let mut order = vec![base];
        numbers[base as usize] = BASE;
        let mut known = |frame: u32, order: &mut Vec<u32>| {
            let number = &mut numbers[frame as usize];
            if *number == NONE {
                *number = order.len() as u32;
                order.push(frame);
            }
            *number
        };
        let (mut threads, mut lists) = (Vec::new(), Vec::new());
        match returning {
            Some(frame) => {
                known(frame, &mut order);
            }
            None => {
                for &(thread, list) in &self.threads {
                    threads.push(Waiting { frame: known(thread.frame, &mut order), ..thread });
                    lists.push(list);
                }
            }
        }
        let is_lowest = self.is_lowest && base == BASE;
        let (mut ends, mut callers) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < order.len() {
            if at > 0 || is_lowest {
                for &Edge { state, count, frame, list } in &self.frames[order[at] as usize] {
                    callers.push(Caller { state, count, frame: known(frame, &mut order) });
                    lists.push(list);
                }
            }
            ends.push(callers.len() as u32);
            at += 1;
        }
        let counted = order.iter().map(|&frame| self.counted[frame as usize]).collect();
        (Configuration { is_lowest, is_start: false, threads, counted, ends, callers }, lists)
    }
}
