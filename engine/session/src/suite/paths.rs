//! Paths of successive steps (k-paths: Havrikov and Zeller, "Systematically Covering Input Structure", ASE 2019).

use gramjet::choices::SpanKind;
use gramjet_engine::decisions::{Derivation, Deriver};

use super::steps::{FEWEST, MORE, NONE, Steps};

/// All paths of at most a number of steps that a grammar allows.
#[derive(Clone, Debug)]
pub struct Paths {
    nodes: Vec<Node>,
    /// The path of each single step; none for steps that the start does not reach.
    roots: Vec<u32>,
    longest: usize,
}

/// A path: one that is a step shorter, and its last step.
#[derive(Clone, Copy, Debug)]
struct Node {
    before: u32,
    step: u32,
    /// The paths that are a step longer, by their last steps.
    longer: (u32, u32),
}

/// Reason why there are no paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the grammar has more than {most} paths of {longest} steps; ask for shorter ones")]
pub struct TooMany {
    /// The most paths that there may be.
    pub most: usize,
    /// The steps of a path.
    pub longest: usize,
}

impl Paths {
    /// The most paths.
    pub const MOST: usize = 1 << 21;

    /// Returns all paths of one to `longest` steps.
    ///
    /// # Errors
    ///
    /// If there are more than [`Paths::MOST`].
    pub fn new(steps: &Steps, longest: usize) -> Result<Paths, TooMany> {
        let mut paths = Paths { nodes: Vec::new(), roots: vec![NONE; steps.len()], longest };
        for step in reachable(steps) {
            paths.roots[step as usize] = paths.nodes.len() as u32;
            paths.nodes.push(Node { before: NONE, step, longer: (0, 0) });
        }
        let mut level = 0..paths.nodes.len();
        for _ in 1..longest {
            let end = level.end;
            for path in level {
                let begin = paths.nodes.len() as u32;
                for next in steps.next(paths.nodes[path].step) {
                    paths.nodes.push(Node { before: path as u32, step: next.step, longer: (0, 0) });
                }
                paths.nodes[path].longer = (begin, paths.nodes.len() as u32);
                if paths.nodes.len() > Paths::MOST {
                    return Err(TooMany { most: Paths::MOST, longest });
                }
            }
            level = end..paths.nodes.len();
        }
        Ok(paths)
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the greatest number of steps of a path.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the steps of a path, in order.
    pub fn steps(&self, path: u32) -> Vec<u32> {
        let before = |&path: &u32| Some(self.nodes[path as usize].before).filter(|&before| before != NONE);
        let mut steps: Vec<u32> =
            std::iter::successors(Some(path), before).map(|path| self.nodes[path as usize].step).collect();
        steps.reverse();
        steps
    }

    /// Returns the names of the steps of a path.
    pub fn told(&self, path: u32, steps: &Steps) -> String {
        let names: Vec<&str> = self.steps(path).into_iter().map(|step| steps.get(step).name.as_str()).collect();
        names.join(" > ")
    }

    /// Returns for each step whether it begins a path for which `is_wanted`.
    pub(super) fn beginning(&self, is_wanted: impl Fn(u32) -> bool) -> Vec<bool> {
        let mut begins = vec![false; self.roots.len()];
        let mut first = vec![NONE; self.nodes.len()];
        for (path, node) in self.nodes.iter().enumerate() {
            first[path] = if node.before == NONE { node.step } else { first[node.before as usize] };
            begins[first[path] as usize] |= is_wanted(path as u32);
        }
        begins
    }

    /// Returns the path with one more step.
    fn extended(&self, path: u32, step: u32) -> Option<u32> {
        let (begin, end) = self.nodes[path as usize].longer;
        let longer = &self.nodes[begin as usize..end as usize];
        longer.binary_search_by_key(&step, |node| node.step).ok().map(|at| begin + at as u32)
    }

    /// Returns the paths that are a step longer.
    pub(super) fn longer(&self, path: u32) -> std::ops::Range<u32> {
        let (begin, end) = self.nodes[path as usize].longer;
        begin..end
    }

    /// Writes the paths that end with a step, given those that end with the step before it.
    pub(super) fn ending(&self, before: &[u32], step: u32, paths: &mut Vec<u32>) {
        paths.clear();
        paths.extend(Some(self.roots[step as usize]).filter(|&root| root != NONE));
        paths.extend(before.iter().filter_map(|&path| self.extended(path, step)));
    }

    /// Returns the paths of a derivation, ascending. Steps in instances of rules beyond `max_depth` do not count.
    pub fn of(&self, steps: &Steps, derivation: &Derivation, deriver: &Deriver, max_depth: Option<u32>) -> Vec<u32> {
        let mut found = Vec::new();
        // The open steps: where each ends, and the paths that end with it.
        let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
        for (number, part) in derivation.parts.iter().enumerate() {
            while open.last().is_some_and(|&(end, _)| end <= number as u32) {
                open.pop();
            }
            if max_depth.is_some_and(|most| part.depth > most) {
                continue;
            }
            if let Some(step) = step_of(steps, derivation, deriver, number) {
                let mut paths = Vec::new();
                self.ending(open.last().map_or(&[], |(_, before)| before), step, &mut paths);
                found.extend_from_slice(&paths);
                open.push((part.next, paths));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Returns the step that a part of a derivation is, if it is one.
pub(super) fn step_of(steps: &Steps, derivation: &Derivation, deriver: &Deriver, number: usize) -> Option<u32> {
    let part = &derivation.parts[number];
    match part.kind {
        SpanKind::Rule => steps.of_rule(deriver.rule_of(part.symbol)? as u32),
        SpanKind::Choice => {
            let place = deriver.node_of(part.symbol)?;
            let (from, to) = part.decisions;
            let own = derivation.decisions[from as usize..to as usize].first()?;
            (own.place == place).then(|| steps.of_node(place, own.option)).flatten()
        }
        SpanKind::Repetition { .. } => {
            let has_more = derivation.within(number).any(|part| part.kind == SpanKind::Round);
            steps.of_node(deriver.node_of(part.symbol)?, if has_more { MORE } else { FEWEST })
        }
        SpanKind::Pool | SpanKind::Round => None,
    }
}

/// Returns the steps that the start reaches, ascending.
fn reachable(steps: &Steps) -> Vec<u32> {
    let mut known = vec![false; steps.len()];
    let mut open: Vec<u32> = steps.first().iter().map(|next| next.step).collect();
    while let Some(step) = open.pop() {
        if !std::mem::replace(&mut known[step as usize], true) {
            open.extend(steps.next(step).iter().map(|next| next.step));
        }
    }
    (0..steps.len() as u32).filter(|&step| known[step as usize]).collect()
}
