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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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

/// Frames, each with its edges in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The first and the last edge of each frame, as places in `links`.
    ends: Vec<(u32, u32)>,
    /// The edges of all frames, each with the next one of its frame.
    links: Vec<(Edge, u32)>,
}

impl Frames {
    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of edges of all frames.
    pub fn edges(&self) -> usize {
        self.links.len()
    }

    /// Adds a frame.
    pub fn add(&mut self) {
        self.ends.push((NONE, NONE));
    }

    /// Adds an edge to a frame.
    pub fn push(&mut self, frame: u32, edge: Edge) {
        let place = self.links.len() as u32;
        self.links.push((edge, NONE));
        let (first, last) = &mut self.ends[frame as usize];
        match *last {
            NONE => *first = place,
            last => self.links[last as usize].1 = place,
        }
        *last = place;
    }

    /// Returns the place of the first edge of a frame. `NONE` if it has no edges.
    pub fn first(&self, frame: u32) -> u32 {
        self.ends[frame as usize].0
    }

    /// Returns the edge at a place, and the place of the next one.
    pub fn at(&self, place: u32) -> (Edge, u32) {
        self.links[place as usize]
    }

    /// Returns the edges of a frame.
    pub fn of(&self, frame: u32) -> impl Iterator<Item = Edge> + '_ {
        let mut next = self.first(frame);
        std::iter::from_fn(move || {
            let &(edge, behind) = self.links.get(next as usize)?;
            next = behind;
            Some(edge)
        })
    }

    /// Returns the edge of a frame that has only one.
    pub fn only(&self, frame: u32) -> Option<Edge> {
        let (first, last) = self.ends[frame as usize];
        (first == last && first != NONE).then(|| self.links[first as usize].0)
    }

    fn clear(&mut self) {
        self.ends.clear();
        self.links.clear();
    }
}

/// Threads and frames with any numbers and with lists.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub is_lowest: bool,
    pub threads: Vec<(Waiting, u32)>,
    pub frames: Frames,
    /// Flag for each frame: true if it is of a counted repetition.
    pub counted: Vec<bool>,
    /// Cost of the search for places to split, in steps.
    pub effort: u64,
}

impl Graph {
    /// Removes all threads and frames.
    pub fn clear(&mut self, is_lowest: bool) {
        self.is_lowest = is_lowest;
        self.threads.clear();
        self.frames.clear();
        self.counted.clear();
        self.effort = 0;
    }

    /// Adds the frames of a configuration; the list of a register is made by `list`.
    pub fn add_frames(&mut self, of: &Configuration, number: impl Fn(u32) -> u32, mut list: impl FnMut(u32) -> u32) {
        for frame in 0..of.ends.len() {
            let to = number(frame as u32);
            while self.frames.len() <= to as usize {
                self.frames.add();
                self.counted.push(false);
            }
            self.counted[to as usize] |= of.counted[frame];
            for (Caller { state, count, frame }, register) in of.callers_of(frame) {
                self.frames.push(to, Edge { state, count, frame: number(frame), list: list(register) });
            }
        }
    }

    /// Returns the bases of the configurations that it falls into where all ways lead through one frame, from the
    /// lowest one on.
    pub fn bases(&mut self) -> Vec<u32> {
        let mut bases = vec![BASE];
        bases.extend(self.bottlenecks());
        bases
    }

    /// Lets the only caller of a frame take its place if the frame ends where the caller ends, and nothing else of the
    /// caller goes on. So right recursion needs no frames. `is_end` says whether a state is the end of a callee; `join`
    /// joins two lists.
    ///
    /// A counted repetition can end in several ways at a position, so its frame stays.
    pub fn contract(&mut self, is_end: impl Fn(StateId) -> bool, mut join: impl FnMut(u32, u32) -> u32) {
        let used = self.uses();
        let caller = |frame: usize| {
            let edge = self.frames.only(frame as u32)?;
            let is_free = frame as u32 != BASE && !self.counted[frame] && used[frame] > 0;
            (is_free && used[edge.frame as usize] == 1 && is_end(edge.state)).then_some((edge.frame, edge.list))
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
        self.frames.links.iter_mut().for_each(|(edge, _)| replace(&mut edge.frame, &mut edge.list));
    }

    /// Returns how many threads and edges that can be reached lead to each frame.
    fn uses(&self) -> Vec<u32> {
        let mut reached = vec![false; self.frames.len()];
        let roots = self.threads.iter().map(|(thread, _)| thread.frame).chain([BASE]);
        self.reach(&mut reached, roots.collect());
        let mut uses = vec![0; self.frames.len()];
        self.threads.iter().for_each(|(thread, _)| uses[thread.frame as usize] += 1);
        for (frame, _) in (0..).zip(reached).filter(|(_, reached)| *reached) {
            self.frames.of(frame).for_each(|edge| uses[edge.frame as usize] += 1);
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
        let divides = self.dividing(&sources, &way);
        (0..way.len()).rev().filter(|&place| divides[place]).map(|place| way[place]).collect()
    }

    /// Returns the bottlenecks where each frame that can be reached has one caller, which is so in most texts: the
    /// frames that the ways from all sources have in common.
    fn common_way(&self, sources: &[u32]) -> Option<Vec<u32>> {
        if self.is_lowest && self.frames.first(BASE) != NONE {
            return None;
        }
        let mut ways = vec![0; self.frames.len()];
        let mut way = Vec::new();
        for &source in sources {
            let mut frame = source;
            way.clear();
            while frame != BASE {
                let edge = self.frames.only(frame)?;
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
        // Each frame with the place of its next edge.
        let mut way: Vec<(u32, u32)> = Vec::new();
        let mut next = Some(from);
        loop {
            match next.take() {
                Some(BASE) => return way.into_iter().map(|(frame, _)| frame).collect(),
                Some(frame) if !std::mem::replace(&mut reached[frame as usize], true) => {
                    way.push((frame, self.frames.first(frame)))
                }
                _ => {}
            }
            let Some((_, place)) = way.last_mut() else { return Vec::new() };
            if *place == NONE {
                way.pop();
            } else {
                let (edge, behind) = self.frames.at(*place);
                (next, *place) = (Some(edge.frame), behind);
            }
        }
    }

    /// Returns for each frame of a way whether all ways from the sources to the base lead through it, and whether it
    /// keeps what is above it apart from what is below.
    ///
    /// Follows the frames of the way one after the other, each when nothing else is left. So each edge is followed
    /// once. A frame divides if it is then the only one that was reached of those further on, and no edge leads from
    /// below to above.
    fn dividing(&self, sources: &[u32], way: &[u32]) -> Vec<bool> {
        let mut search = Search {
            graph: self,
            places: vec![NONE; self.frames.len()],
            stages: vec![NONE; self.frames.len()],
            open: Vec::new(),
            furthest: 0,
            crossed: vec![0; way.len() + 2],
        };
        (0..).zip(way).for_each(|(place, &frame)| search.places[frame as usize] = place);
        search.places[BASE as usize] = way.len() as u32;
        sources.iter().for_each(|&source| search.reach(0, source));
        search.follow(0);
        let mut divides = Vec::with_capacity(way.len());
        for (place, &frame) in (0..).zip(way) {
            divides.push(search.furthest == place);
            search.follow_edges(place + 1, frame);
            search.follow(place + 1);
        }
        search.follow_edges(way.len() as u32 + 1, BASE);
        search.follow(way.len() as u32 + 1);
        let mut crossed = 0;
        for (divides, change) in divides.iter_mut().zip(&search.crossed) {
            crossed += change;
            *divides &= crossed == 0;
        }
        divides
    }

    /// Marks all frames that can be reached, but does not go on from those that are marked.
    fn reach(&self, marked: &mut [bool], mut open: Vec<u32>) {
        while let Some(frame) = open.pop() {
            if !std::mem::replace(&mut marked[frame as usize], true) {
                open.extend(self.frames.of(frame).map(|edge| edge.frame));
            }
        }
    }

    /// Makes `into` the configuration above `base`: up to the threads, or up to the frame `returning`. `lists` become
    /// those of its registers.
    pub fn number(&self, base: u32, returning: Option<u32>, into: &mut Configuration, lists: &mut Vec<u32>) {
        let mut numbers = vec![NONE; self.frames.len()];
        let mut order = Vec::with_capacity(self.frames.len());
        order.push(base);
        numbers[base as usize] = BASE;
        let mut known = |frame: u32, order: &mut Vec<u32>| {
            let number = &mut numbers[frame as usize];
            if *number == NONE {
                *number = order.len() as u32;
                order.push(frame);
            }
            *number
        };
        let Configuration { threads, counted, ends, callers, .. } = into;
        threads.clear();
        counted.clear();
        ends.clear();
        callers.clear();
        lists.clear();
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
        let mut at = 0;
        while at < order.len() {
            if at > 0 || is_lowest {
                for Edge { state, count, frame, list } in self.frames.of(order[at]) {
                    callers.push(Caller { state, count, frame: known(frame, &mut order) });
                    lists.push(list);
                }
            }
            ends.push(callers.len() as u32);
            at += 1;
        }
        counted.extend(order.iter().map(|&frame| self.counted[frame as usize]));
        (into.is_lowest, into.is_start) = (is_lowest, false);
    }
}

/// A search along a way, in stages: stage 0 begins with the sources, and each frame of the way begins another one.
struct Search<'g> {
    graph: &'g Graph,
    /// The place of each frame on the way, the base last. `NONE` for all other frames.
    places: Vec<u32>,
    /// The stage in which each frame was reached. `NONE` if it was not.
    stages: Vec<u32>,
    open: Vec<u32>,
    /// The furthest place on the way that was reached.
    furthest: u32,
    /// Edges from below a place of the way to above it: their number at each place, less that at the place before.
    crossed: Vec<i64>,
}

impl Search<'_> {
    fn reach(&mut self, stage: u32, frame: u32) {
        let place = self.places[frame as usize];
        match self.stages[frame as usize] {
            NONE => {
                self.stages[frame as usize] = stage;
                if place == NONE {
                    self.open.push(frame);
                } else {
                    self.furthest = self.furthest.max(place);
                }
            }
            // The frame is above those of the way that were followed since, but it is not above itself.
            before => {
                self.cross(before, stage, 1);
                if before <= place && place < stage {
                    self.cross(place, place + 1, -1);
                }
            }
        }
    }

    /// Counts an edge at the places of the way from `from` up to `to`.
    fn cross(&mut self, from: u32, to: u32, count: i64) {
        self.crossed[from as usize] += count;
        self.crossed[to as usize] -= count;
    }

    fn follow_edges(&mut self, stage: u32, frame: u32) {
        let graph = self.graph;
        graph.frames.of(frame).for_each(|edge| self.reach(stage, edge.frame));
    }

    fn follow(&mut self, stage: u32) {
        while let Some(frame) = self.open.pop() {
            self.follow_edges(stage, frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says the same as [`Graph::dividing`] of one frame, by its definition.
    fn divides(graph: &Graph, sources: &[u32], frame: u32) -> bool {
        let mut above = vec![false; graph.frames.len()];
        above[frame as usize] = true;
        graph.reach(&mut above, sources.to_vec());
        if above[BASE as usize] {
            return false;
        }
        let mut below = vec![false; graph.frames.len()];
        below[frame as usize] = true;
        let mut open: Vec<u32> = graph.frames.of(frame).map(|edge| edge.frame).collect();
        if graph.is_lowest {
            open.extend(graph.frames.of(BASE).map(|edge| edge.frame));
        }
        graph.reach(&mut below, open);
        (0..graph.frames.len()).all(|other| other == frame as usize || !(above[other] && below[other]))
    }

    #[test]
    fn frames_divide_by_the_definition() {
        let mut state = 1u64;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % below
        };
        let (mut divided, mut crossed) = (0, 0);
        for _ in 0..20_000 {
            let count = 2 + draw(8);
            let mut graph = Graph { is_lowest: draw(2) == 0, ..Graph::default() };
            (0..count).for_each(|_| graph.frames.add());
            for frame in if graph.is_lowest { 0 } else { 1 }..count {
                for _ in 0..draw(3) {
                    // Most edges lead to a frame a little nearer to the base.
                    let to = if draw(5) > 0 { frame.saturating_sub(1) } else { draw(count) };
                    graph.frames.push(frame, Edge { state: 0, count: 0, frame: to, list: 0 });
                }
            }
            let sources: Vec<u32> = (0..=draw(3)).map(|_| draw(count)).collect();
            let way = graph.some_way(sources[0]);
            let expected: Vec<bool> = way.iter().map(|&frame| divides(&graph, &sources, frame)).collect();
            assert_eq!(graph.dividing(&sources, &way), expected, "{sources:?} {graph:?}");
            divided += expected.iter().filter(|divides| **divides).count();
            crossed += expected.iter().filter(|divides| !**divides).count();
        }
        assert!(divided > 1000 && crossed > 1000, "{divided} divide and {crossed} do not");
    }
}
