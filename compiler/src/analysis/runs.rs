//! Rounds of single bytes: repetitions and right recursion of which engines run several rounds at a time.

use crate::ir::{Choice, Ir, NodeId, RuleId, Site};

/// An item of a repetition that is one byte for most choice bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct ByteItem {
    /// The byte for each choice byte below `bound`. The entries above repeat the last byte.
    pub table: [u8; 256],
    /// Choice bytes from here on lead to other options. 256 if there are none.
    pub bound: u32,
    /// The number of rule instances around the site.
    pub layers: u32,
    /// The greatest cost of an option. With less length left, some options are not available.
    pub max_cost: u64,
}

impl ByteItem {
    /// Returns true if the item is always a single byte, at any depth.
    pub fn is_plain(&self) -> bool {
        self.bound == 256 && self.layers == 0
    }
}

/// Batches are faster if at least this many of the 256 choice bytes lead to a single byte.
const MIN_BOUND: u32 = 64;
/// Bound like [`MIN_BOUND`], but for classes, whose code without batches has no branch.
const MIN_BOUND_OF_CLASS: u32 = 192;

/// Returns the item as single bytes, if batches are faster.
pub fn byte_item(ir: &Ir, node: NodeId) -> Option<ByteItem> {
    if let Some((_, body)) = ir.node(node).in_place() {
        let item = byte_item(ir, body)?;
        return Some(ByteItem { layers: item.layers + 1, ..item });
    }
    let least = if ir.node(node).class().is_some() { MIN_BOUND_OF_CLASS } else { MIN_BOUND };
    single_bytes(ir, node).filter(|item| item.bound >= least)
}

/// Returns the first options of a class or choice that are single bytes, if the site reads one choice byte.
fn single_bytes(ir: &Ir, node: NodeId) -> Option<ByteItem> {
    let (site, facts) = (ir.site_of(node).filter(|site| site.bits() == 8)?, ir.facts(node));
    let (singles, dearest): (Vec<u8>, u64) = if let Some(set) = ir.node(node).class() {
        let members = set.iter().map(|member| set.encode(member));
        (members.map_while(|member| single(member.as_ref())).collect(), set.max_len())
    } else {
        let options = &ir.node(node).choice()?.options;
        let singles = options.iter().map_while(|&option| single(ir.node(option).literal()?));
        (singles.collect(), ir.facts(*options.last()?).min_len)
    };
    // Shorter options would be cheaper than the bytes.
    let last = *singles.last().filter(|_| facts.min_len == 1)?;
    let bound = site.value_of(singles.len() as u32);
    let table = std::array::from_fn(|byte| *singles.get(site.option_of(byte as u32) as usize).unwrap_or(&last));
    Some(ByteItem { table, bound, layers: 0, max_cost: dearest - facts.min_len })
}

fn single(bytes: &[u8]) -> Option<u8> {
    match bytes {
        &[byte] => Some(byte),
        _ => None,
    }
}

/// A tail-recursive rule whose rounds are mostly single bytes. A round either stops, or derives an item and the rule
/// again.
pub struct TailRun {
    /// The node of each round that goes on.
    pub item: NodeId,
    /// Item as single bytes.
    pub bytes: ByteItem,
    /// The node of the round that stops.
    pub stop: NodeId,
    /// The kind of that node.
    pub stops: Stop,
}

/// The kind of the round that stops a [`TailRun`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing.
    Empty,
    /// Item as in the other rounds, which is always a single byte.
    Item,
    /// Anything else.
    Other,
}

/// Returns the run of an instance of `rule` that has jumps back to it.
pub fn tail_run(ir: &Ir, rule: RuleId, body: NodeId) -> Option<TailRun> {
    let Some(Choice { options, slots: None }) = ir.node(body).choice() else { return None };
    let [stop, go] = **options else { return None };
    let &[item, again] = ir.node(go).items()? else { return None };
    // A round that goes on costs one byte more than the end.
    let costs_one = ir.facts(go).min_len == ir.facts(stop).min_len + 1;
    let bytes = byte_item(ir, item).filter(|_| ir.node(again).jump_back() == Some(rule) && costs_one)?;
    let is_item = || bytes.bound == 256 && byte_item(ir, stop).as_ref() == Some(&bytes);
    let stops = if ir.node(stop).is_empty() {
        Stop::Empty
    } else if is_item() {
        Stop::Item
    } else {
        Stop::Other
    };
    Some(TailRun { item, bytes, stop, stops })
}

/// Rounds of single bytes that are written out: `"" | a ("" | b ("" | c))`, or `a | a (b | b c)`.
#[derive(Clone)]
pub struct Chain {
    /// The byte that each round emits for each choice byte of its member. There is at least one round.
    pub rounds: Vec<[u8; 256]>,
    /// Whether the round that stops has a member too.
    pub plus: bool,
    /// The part after the last round that goes on.
    pub end: ChainEnd,
}

impl Chain {
    /// The greatest number of rounds in a chain. One look at the choice bytes decides them all.
    pub const MAX_ROUNDS: usize = 4;
}

/// The part after the last round of a chain.
#[derive(Clone)]
pub enum ChainEnd {
    /// Nothing; only without `plus`.
    Nothing,
    /// A single byte, by its choice byte. Only with `plus`.
    Byte(Box<[u8; 256]>),
    /// Any node.
    Node(NodeId),
}

/// Returns the chain of at most [`Chain::MAX_ROUNDS`] rounds that a node is. Depth must not matter, because references
/// are looked through. That is done only while little must be copied from the rule after the last round: nothing, a
/// byte, a reference, or one more chain that ends so without a reference. (Engines put the bodies of small rules where
/// they are called, so copies that end with references would grow with every rule.)
pub fn chain(ir: &Ir, node: NodeId) -> Option<Chain> {
    let (mut chain, before) = written_out(ir, node);
    if let (Some((rounds, reference)), ChainEnd::Node(rest)) = (before, &chain.end)
        && !is_reference(ir, *rest)
        && !is_closed_chain(ir, *rest)
    {
        chain.rounds.truncate(rounds);
        chain.end = ChainEnd::Node(reference);
    }
    (!chain.rounds.is_empty()).then_some(chain)
}

/// Returns the chain with as many rounds as one look can decide, whatever follows the last round. Also the last
/// reference that was looked through, with the number of rounds before it.
fn written_out(ir: &Ir, node: NodeId) -> (Chain, Option<(usize, NodeId)>) {
    let mut chain = Chain { rounds: Vec::new(), plus: false, end: ChainEnd::Node(node) };
    let mut before = None;
    while let ChainEnd::Node(rest) = chain.end
        && chain.rounds.len() < Chain::MAX_ROUNDS
        && let Some((member, plus, end)) = round(ir, through(ir, rest))
        && (chain.rounds.is_empty() || plus == chain.plus)
    {
        if is_reference(ir, rest) {
            before = Some((chain.rounds.len(), rest));
        }
        chain.rounds.push(member);
        (chain.plus, chain.end) = (plus, end);
    }
    (chain, before)
}

/// Returns true if a node is a chain that ends with nothing or with a byte.
fn is_closed_chain(ir: &Ir, node: NodeId) -> bool {
    matches!(written_out(ir, node).0.end, ChainEnd::Nothing | ChainEnd::Byte(_))
}

fn is_reference(ir: &Ir, node: NodeId) -> bool {
    ir.node(node).reference().is_some()
}

/// Returns the rules that need a function. In IRs with chains, rules that chains always look through need none.
pub fn called_beside_chains(ir: &Ir) -> Vec<bool> {
    if ir.is_ordered() {
        // There are no chains, so all rules need a function.
        return vec![true; ir.rules().len()];
    }
    let mut called = vec![false; ir.rules().len()];
    called[ir.start().index()] = true;
    let mut seen = vec![false; ir.node_count()];
    let mut open: Vec<NodeId> = ir.body(ir.start()).into_iter().collect();
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node.index()], true) {
            continue;
        }
        if let Some(chain) = chain(ir, node).filter(|_| ir.node(node).choice().is_some()) {
            open.extend(match chain.end {
                ChainEnd::Node(rest) => Some(rest),
                ChainEnd::Nothing | ChainEnd::Byte(_) => None,
            });
            continue;
        }
        open.extend(ir.children(node));
        if let Some(rule) = ir.node(node).reference()
            && !std::mem::replace(&mut called[rule.index()], true)
        {
            open.extend(ir.body(rule));
        }
    }
    called
}

/// Returns the node itself, or the body of the rule that it refers to.
fn through(ir: &Ir, mut node: NodeId) -> NodeId {
    while let Some(body) = ir.node(node).reference().and_then(|rule| ir.body(rule)) {
        node = body;
    }
    node
}

/// Returns the first round of a chain: its members, whether the round that stops has one, and the rest if it goes on.
fn round(ir: &Ir, node: NodeId) -> Option<([u8; 256], bool, ChainEnd)> {
    let members = |node: NodeId| byte_item(ir, through(ir, node)).filter(|item| item.bound == 256);
    // This is `a | a a` with the common tail factored out: `("" | a) a`.
    if let Some(&[first, last]) = ir.node(node).items() {
        let (member, false, ChainEnd::Nothing) = round(ir, first)? else { return None };
        return (members(last)?.table == member).then_some((member, true, ChainEnd::Byte(Box::new(member))));
    }
    let Some(Choice { options, slots: None }) = ir.node(node).choice() else { return None };
    let [stop, go] = **options else { return None };
    let (item, rest) = match ir.node(go).items() {
        Some(&[item, rest]) => (item, Some(rest)),
        Some(_) => return None,
        None => (go, None),
    };
    let member = members(item)?.table;
    if ir.node(stop).is_empty() {
        return Some((member, false, rest.map_or(ChainEnd::Nothing, ChainEnd::Node)));
    }
    let rest = rest.filter(|_| members(stop).is_some_and(|stop| stop.table == member))?;
    let end = match members(rest) {
        Some(byte) => ChainEnd::Byte(Box::new(byte.table)),
        None => ChainEnd::Node(rest),
    };
    Some((member, true, end))
}

/// Returns the byte for each choice byte of a pool's site, if all strings are single bytes.
pub fn byte_pool(strings: &[Box<[u8]>]) -> Option<[u8; 256]> {
    // A pool of one string has no site, so it reads no choice byte.
    let single = strings.len() > 1 && strings.iter().all(|string| string.len() == 1);
    let site = Site::even(strings.len() as u32);
    single.then(|| std::array::from_fn(|byte| strings[site.option_of(byte as u32) as usize][0]))
}
