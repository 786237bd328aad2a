//! A small set of texts that together have every path of steps that a grammar allows.
//!
//! Each text is led along the shortest way to a path that no text has yet, and takes other such paths on the way, as
//! long as that costs few bytes. At the end, texts whose paths the others have are left out.

use std::collections::BTreeMap;

use gramjet_compiler::Compiled;
use gramjet_compiler::limits::Limits;

use super::case::Case;
use super::lead::{Demands, Lead};
use super::paths::TooMany;
use super::steps::Ways;
use super::walk::Otherwise;

/// The bytes that a text may have for what it takes beside the path that it is for.
const BESIDE: u64 = 200;
/// At most this many paths that no text has are named.
pub const MOST_NAMED: usize = 1000;

/// Texts, and the paths that they have.
#[derive(Clone, Debug)]
pub struct Cover {
    /// The texts, short ones first.
    pub cases: Vec<Case>,
    /// The number of paths that the texts have.
    pub covered: usize,
    /// The number of paths that the grammar allows without limits.
    pub all: usize,
    /// The paths that no text within the limits can have, up to [`MOST_NAMED`].
    pub beyond: Vec<String>,
    /// The number of such paths.
    pub beyond_count: usize,
    /// The paths that could be within the limits, but no text was found: what follows from other parts may forbid it.
    pub missing: Vec<String>,
}

/// Makes texts along paths.
struct Maker<'c> {
    lead: Lead<'c>,
    /// For each path the number of texts that have it.
    covered: Vec<u32>,
    /// Whether texts go out of their way for paths that no text has.
    goes_far: bool,
}

/// A text that is made.
struct Made {
    text: Vec<u8>,
    /// The path that it was made for.
    aim: u32,
    /// The paths that it has, ascending.
    paths: Vec<u32>,
}

/// Returns texts of a grammar that have every path of at most `longest` steps, as far as the limits allow.
///
/// Two sets are made: in one, texts take what is wanted where they come by, in the other they also go out of their way
/// for it. Which has fewer texts depends on the grammar. That one is returned.
///
/// # Errors
///
/// If there are too many paths.
pub fn cover(compiled: &Compiled, longest: usize, limits: Limits, seed: u64) -> Result<Cover, TooMany> {
    let [by_the_way, far] = [false, true].map(|goes_far| cover_once(compiled, longest, limits, seed, goes_far));
    let (by_the_way, far) = (by_the_way?, far?);
    let size = |cover: &Cover| (cover.cases.len(), cover.cases.iter().map(|case| case.text.len()).sum::<usize>());
    Ok(if size(&far) < size(&by_the_way) { far } else { by_the_way })
}

fn cover_once(
    compiled: &Compiled,
    longest: usize,
    limits: Limits,
    seed: u64,
    goes_far: bool,
) -> Result<Cover, TooMany> {
    let lead = Lead::new(compiled, longest, limits, seed)?;
    let mut maker = Maker { covered: vec![0; lead.paths.len()], lead, goes_far };
    let mut made: Vec<Made> = Vec::new();
    let (mut beyond, mut missing) = (Vec::new(), Vec::new());
    for path in maker.order() {
        if maker.covered[path as usize] > 0 {
            continue;
        }
        match maker.text_with(path) {
            Some(text) => made.push(text),
            None if maker.is_beyond(path) => beyond.push(path),
            None => missing.push(path),
        }
    }
    for paths in [&mut beyond, &mut missing] {
        paths.retain(|&path| maker.covered[path as usize] == 0);
        paths.sort_unstable();
    }
    Ok(maker.conclude(made, beyond, missing))
}

impl Maker<'_> {
    /// Returns all paths, long ones first, those of a length in an order that the seed decides.
    fn order(&mut self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.lead.paths.len() as u32).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.lead.random.below(at + 1));
        }
        order.sort_by_cached_key(|&path| std::cmp::Reverse(self.lead.paths.steps(path).len()));
        order
    }

    /// Returns the way from the start along a path, short by a measure.
    fn spine(&self, path: u32, ways: &Ways) -> Vec<u32> {
        let steps = self.lead.paths.steps(path);
        let mut spine = ways.to(steps[0]);
        spine.extend_from_slice(&steps[1..]);
        spine
    }

    /// Returns true if no text within the limits can have a path.
    fn is_beyond(&self, path: u32) -> bool {
        let steps = self.lead.paths.steps(path);
        let pairs = steps.windows(2).map(|pair| (pair[0], pair[1]));
        let deeper = |(from, to): (u32, u32)| {
            let next = self.lead.steps.next(from);
            next.binary_search_by_key(&to, |next| next.step).map_or(0, |at| u64::from(next[at].deeper))
        };
        let [by_bytes, by_depth] = &self.lead.ways;
        let extra = steps[1..].iter().map(|&step| self.lead.steps.get(step).extra);
        let bytes = extra.fold(by_bytes.cost[steps[0] as usize], u64::saturating_add);
        let depth = pairs.map(deeper).fold(by_depth.cost[steps[0] as usize], u64::saturating_add);
        self.lead.limits.max_len.is_some_and(|most| self.lead.steps.min_len().saturating_add(bytes) > most)
            || self.lead.limits.max_depth.is_some_and(|most| depth > u64::from(most))
    }

    /// Returns a text that has a path; `None` if none was found within the limits.
    fn text_with(&mut self, path: u32) -> Option<Made> {
        let [by_bytes, by_depth] = [0, 1].map(|measure| self.spine(path, &self.lead.ways[measure]));
        let (shortest, lavish, has_labels) = (Otherwise::Shortest, Otherwise::Lavish, self.lead.ir.has_labels());
        let tries =
            [(&by_bytes, BESIDE, shortest), (&by_bytes, 0, shortest), (&by_depth, 0, shortest), (&by_bytes, 0, lavish)];
        let tries = tries.into_iter().filter(|&(.., otherwise)| otherwise != lavish || has_labels);
        for (spine, beside, otherwise) in tries {
            let (text, paths) = self.text_along(spine, beside, otherwise);
            if paths.binary_search(&path).is_ok() {
                paths.iter().for_each(|&path| self.covered[path as usize] += 1);
                return Some(Made { text, aim: path, paths });
            }
        }
        None
    }

    /// Returns a text that is led along steps, and its paths.
    fn text_along(&mut self, spine: &[u32], beside: u64, otherwise: Otherwise) -> (Vec<u8>, Vec<u32>) {
        let Maker { lead, covered, goes_far } = self;
        let forced = BTreeMap::new();
        let near = if *goes_far && beside > 0 {
            let begins = lead.paths.beginning(|path| covered[path as usize] == 0);
            lead.steps.near(|step| begins[step as usize])
        } else {
            Vec::new()
        };
        let led = lead.derive(&Demands { spine, covered, beside, near: &near, forced: &forced, otherwise });
        if !led.is_led {
            return Default::default();
        }
        let paths = lead.paths.of(&lead.steps, &led.derivation, &lead.deriver, lead.limits.max_depth);
        (led.derivation.text, paths)
    }

    /// Leaves out what is not needed, and says what the others are for.
    fn conclude(mut self, mut made: Vec<Made>, beyond: Vec<u32>, missing: Vec<u32>) -> Cover {
        join_equal(&mut made);
        let mut counts = vec![0u32; self.lead.paths.len()];
        made.iter().flat_map(|text| &text.paths).for_each(|&path| counts[path as usize] += 1);
        // Short texts have few paths, so most of them are not needed.
        made.retain(|text| {
            let is_needed = text.paths.iter().any(|&path| counts[path as usize] == 1);
            if !is_needed {
                text.paths.iter().for_each(|&path| counts[path as usize] -= 1);
            }
            is_needed
        });
        made.sort_by_key(|text| text.text.len());
        self.covered.fill(0);
        let cases = made.into_iter().map(|made| self.case(made)).collect();
        let told = |paths: &[u32]| {
            paths.iter().take(MOST_NAMED).map(|&path| self.lead.paths.told(path, &self.lead.steps)).collect()
        };
        Cover {
            cases,
            covered: self.covered.iter().filter(|&&texts| texts > 0).count(),
            all: self.lead.paths.len(),
            beyond: told(&beyond),
            beyond_count: beyond.len(),
            missing: told(&missing),
        }
    }

    fn case(&mut self, made: Made) -> Case {
        let new: Vec<u32> = made.paths.into_iter().filter(|&path| self.covered[path as usize] == 0).collect();
        new.iter().for_each(|&path| self.covered[path as usize] += 1);
        let is_aim = new.binary_search(&made.aim).is_ok();
        let about = if is_aim { made.aim } else { new.last().copied().unwrap_or(made.aim) };
        let told = self.lead.paths.told(about, &self.lead.steps);
        let rule = self.lead.paths.steps(about).last().map(|&step| self.lead.steps.get(step).rule);
        let why = format!("no text before it has {told}");
        let covers = new.iter().map(|&path| self.lead.paths.told(path, &self.lead.steps)).collect();
        let rule = rule.map(|rule| self.lead.rule_name(rule));
        Case { covers, rule, ..Case::valid(&told.replace(" > ", "-"), made.text, why) }
    }
}

/// Joins texts that are equal: different derivations may have the same text.
fn join_equal(made: &mut Vec<Made>) {
    made.sort_by(|a, b| (a.text.len(), &a.text).cmp(&(b.text.len(), &b.text)));
    made.dedup_by(|later, kept| {
        let is_same = later.text == kept.text;
        if is_same {
            kept.paths.append(&mut later.paths);
            kept.paths.sort_unstable();
            kept.paths.dedup();
        }
        is_same
    });
}
