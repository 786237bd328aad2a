//! Choice bytes of the same derivation with a length limit and without.
//!
//! Under a length limit the options offered are the first ones of all, so the number of an option means the same, and
//! only its choice bytes differ. If a text is within the limit, each of its options is offered: at each site, the bytes
//! emitted and the fewest still to come are at most the length of the text.

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ir::{Ir, NodeId, RuleId, Site};
use gramjet_compiler::machine::{Decide, Decided, Kind, NONE, Part, Position, Recorder, ample_slack};

use super::{Drawing, Grammar};

/// Direction in which choice bytes are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From those without a length limit to those with it.
    Within,
    /// The reverse.
    Without,
}

/// Reads the choice bytes of one derivation, and writes others.
pub(super) struct Rewriting<'r> {
    grammar: &'r Grammar,
    direction: Direction,
    from: &'r [u8],
    to: &'r mut Vec<u8>,
    /// Whether each option that was read was offered.
    fits: bool,
}

impl<'r> Rewriting<'r> {
    pub(super) fn new(
        grammar: &'r Grammar,
        direction: Direction,
        from: &'r [u8],
        to: &'r mut Vec<u8>,
    ) -> Rewriting<'r> {
        Rewriting { grammar, direction, from, to, fits: true }
    }

    /// Returns true if the derivation is the same, after all sites.
    pub(super) fn is_exact(&self) -> bool {
        self.fits && self.from.is_empty()
    }

    fn read(&mut self, width: u32) -> u32 {
        let (bytes, rest) = self.from.split_at(self.from.len().min(width as usize));
        self.from = rest;
        bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
    }
}

impl Decide for &mut Rewriting<'_> {
    const FORCED: bool = true;

    fn decide(&mut self, node: NodeId, limited: Site<'_>) -> Decided {
        let whole = whole_site(&self.grammar.lowered, &self.grammar.pools, node);
        let (read, written) = match self.direction {
            // Bytes that are missing stay so.
            Direction::Within if self.from.is_empty() => return Decided::default(),
            Direction::Within => (whole, limited),
            Direction::Without => (limited, whole),
        };
        let value = self.read(read.width());
        let wanted = read.option_of(value);
        let option = wanted.min(written.options().saturating_sub(1));
        self.fits &= option == wanted;
        push(written, if read.options() == written.options() { value } else { written.value_of(option) }, self.to);
        Decided { option, missing: 0 }
    }
}

/// Reads the options of one derivation from its choice bytes.
pub(super) struct Options<'f> {
    pub(super) from: &'f [u8],
    pub(super) options: Vec<u32>,
    /// The number of sites whose bytes are missing.
    missing: usize,
}

impl<'f> Options<'f> {
    /// Returns the options of these choice bytes, before any is read.
    pub(super) fn of(from: &'f [u8]) -> Options<'f> {
        Options { from, options: Vec::new(), missing: 0 }
    }
}

impl Decide for &mut Options<'_> {
    const FORCED: bool = true;

    fn decide(&mut self, _node: NodeId, site: Site<'_>) -> Decided {
        // Bytes that are missing stay so.
        if self.from.is_empty() {
            self.missing += 1;
            return Decided::default();
        }
        let (bytes, rest) = self.from.split_at(self.from.len().min(site.width() as usize));
        self.from = rest;
        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
        let option = site.option_of(value);
        self.options.push(option);
        Decided { option, missing: 0 }
    }

    fn replace(&mut self, option: u32) {
        // An option that is not the first one has bytes, and so do all before it.
        self.options.resize(self.options.len() + std::mem::take(&mut self.missing), 0);
        if let Some(last) = self.options.last_mut() {
            *last = option;
        }
    }
}

/// Writes the choice bytes of options.
pub(super) struct Writing<'w> {
    pub(super) options: std::slice::Iter<'w, u32>,
    pub(super) to: &'w mut Vec<u8>,
    /// Whether each option was offered.
    pub(super) fits: bool,
}

impl Decide for &mut Writing<'_> {
    const FORCED: bool = true;

    fn decide(&mut self, _node: NodeId, site: Site<'_>) -> Decided {
        let Some(&wanted) = self.options.next() else { return Decided::default() };
        let option = wanted.min(site.options().saturating_sub(1));
        self.fits &= option == wanted;
        push(site, site.value_of(option), self.to);
        Decided { option, missing: 0 }
    }

    fn replace(&mut self, _option: u32) {
        self.fits = false;
    }
}

/// Returns the site of a node with all its options; for a reference to a rule, that of the rule's pool.
fn whole_site<'i>(ir: &'i Ir, pools: &Pools, node: NodeId) -> Site<'i> {
    match ir.node(node).instance() {
        Some(rule) => pool_site(pools, rule),
        None => ir.site_of(node).unwrap_or(Site::even(1)),
    }
}

fn pool_site<'i>(pools: &Pools, rule: RuleId) -> Site<'i> {
    Site::even(pools.get(rule).map_or(1, |pool| pool.strings.len() as u32))
}

fn push(site: Site<'_>, value: u32, choices: &mut Vec<u8>) {
    choices.extend_from_slice(&value.to_le_bytes()[..site.width() as usize]);
}

/// Draws a part within a length, and writes its choice bytes without a length limit.
pub(super) struct Fitting<'f, 'd> {
    grammar: &'f Grammar,
    part: Part,
    drawing: Drawing<'d>,
}

impl<'f, 'd> Fitting<'f, 'd> {
    pub(super) fn new(grammar: &'f Grammar, part: Part, drawing: Drawing<'d>) -> Fitting<'f, 'd> {
        Fitting { grammar, part, drawing }
    }
}

impl Decide for Fitting<'_, '_> {
    const FORCED: bool = true;

    fn decide(&mut self, node: NodeId, site: Site<'_>) -> Decided {
        let Grammar { lowered, pools, .. } = self.grammar;
        let whole = match self.part {
            // There is no reference to it.
            Part::Pool(rule) => pool_site(pools, rule),
            _ => whole_site(lowered, pools, node),
        };
        let before = self.drawing.choices.len();
        let decided = self.drawing.decide(node, site);
        if site.options() != whole.options() {
            self.drawing.choices.truncate(before);
            push(whole, whole.value_of(decided.option), self.drawing.choices);
        }
        decided
    }
}

/// Writes no text.
pub(super) struct Unwritten;

impl Recorder for Unwritten {
    const TEXT: bool = false;
}

/// Notes whether there is an instance beyond the depth limit that has a pool, but no room for a string of it. Without a
/// length limit there is none.
pub(super) struct Crowded<'p> {
    pub(super) pools: &'p Pools,
    pub(super) max_depth: Option<u32>,
    pub(super) found: &'p mut bool,
}

impl Recorder for Crowded<'_> {
    fn begin(&mut self, kind: Kind, part: Part, depth: u32, _at: Position) -> u32 {
        if let (Kind::Instance, Part::Rule(rule)) = (kind, part) {
            *self.found |= self.max_depth.is_some_and(|most| depth > most) && self.pools.get(rule).is_some();
        }
        NONE
    }
}

/// Returns the least slack with which all sites of a grammar offer all their options: the greatest of those of its
/// nodes, and of its pools.
pub(super) fn ample_room(ir: &Ir, pools: &Pools) -> (u64, u64) {
    let of_nodes = (0..ir.node_count()).map(|node| ample_slack(ir, NodeId::new(node))).max();
    let of_pool = |rule: RuleId| {
        let longest = pools.get(rule)?.strings.last()?.len() as u64;
        Some(longest.saturating_sub(ir.rule(rule).facts.min_len))
    };
    let of_pools = (0..ir.rules().len()).filter_map(|rule| of_pool(RuleId::new(rule))).max();
    (of_nodes.unwrap_or(0), of_pools.unwrap_or(0))
}
