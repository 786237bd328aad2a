//! Rounds of single bytes: repetitions and right recursion that engines make several rounds at a time.

use crate::analysis::jumps::jumps_to;
use crate::ir::{Choice, Ir, Node, NodeId, RuleId};

/// An item of a repetition that mostly is one byte from one choice byte.
pub struct ByteItem {
    /// What a choice byte below `bound` emits.
    pub table: [u8; 256],
    /// Choice bytes from here on lead to other options; 256 if there are none.
    pub bound: u32,
    /// The instances around the site.
    pub layers: i64,
    /// The greatest cost of an option: below it not all options are offered.
    pub max_cost: u64,
}

/// Batches pay if at least so many of 256 choice bytes lead to a single byte.
const MIN_BOUND: u32 = 64;

/// The item as single bytes, if batches of it pay.
pub fn byte_item(ir: &Ir, node: NodeId) -> Option<ByteItem> {
    match ir.node(node) {
        Node::Class(set) if set.max_len() == 1 => single_bytes(ir, node),
        Node::Choice(_) => single_bytes(ir, node).filter(|item| item.bound >= MIN_BOUND),
        Node::Inline { rule, body } if !jumps_to(ir, *body, *rule) => {
            let item = byte_item(ir, *body)?;
            Some(ByteItem { layers: item.layers + 1, ..item })
        }
        _ => None,
    }
}

/// The single bytes that the first options of a class or a choice are, if it reads one choice byte.
pub fn single_bytes(ir: &Ir, node: NodeId) -> Option<ByteItem> {
    let (site, facts) = (ir.site_of(node).filter(|site| site.bits() == 8)?, ir.facts(node));
    let (singles, dearest): (Vec<u8>, u64) = match ir.node(node) {
        Node::Class(set) => {
            let members = set.iter().map(|member| set.encode(member));
            (members.map_while(|member| single(member.as_ref())).collect(), set.max_len())
        }
        Node::Choice(choice) => {
            let literals = choice.options.iter().map_while(|&option| match ir.node(option) {
                Node::Bytes(bytes) => single(bytes),
                _ => None,
            });
            (literals.collect(), ir.facts(*choice.options.last()?).min_len)
        }
        _ => return None,
    };
    let last = *singles.last()?;
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

/// Rounds of single bytes that are written out: `"" | a ("" | b ("" | c))`, or `a | a (b | b c)`.
#[derive(Clone)]
pub struct Chain {
    /// What each round emits by its member byte, at least one.
    pub rounds: Vec<[u8; 256]>,
    /// The round that stops has a member, too.
    pub plus: bool,
    /// What comes behind the last round, if it goes on.
    pub end: ChainEnd,
}

impl Chain {
    /// So many rounds are decided by one look at their choice bytes.
    pub const MAX_ROUNDS: usize = 4;
}

/// What comes behind the last round of a chain.
#[derive(Clone)]
pub enum ChainEnd {
    /// Nothing; only without `plus`.
    Nothing,
    /// A single byte, by its choice byte; only with `plus`.
    Byte(Box<[u8; 256]>),
    /// This node.
    Node(NodeId),
}

/// The chain of at most [`Chain::MAX_ROUNDS`] rounds that a node is, if depth does not matter: references are looked through,
/// as long as little of what stands behind the last round need be copied from the rule: it is nothing, a byte, a reference, or
/// one more chain that ends so without a reference. (Engines put the bodies of small rules where they are called, so that copies
/// that end with references would grow with every rule.)
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

/// So many rounds as can be one look, with what stands behind the last round; and the rounds before the last reference that
/// was looked through, with that reference.
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

/// Whether a node is a chain with nothing or a byte behind it.
fn is_closed_chain(ir: &Ir, node: NodeId) -> bool {
    matches!(written_out(ir, node).0.end, ChainEnd::Nothing | ChainEnd::Byte(_))
}

fn is_reference(ir: &Ir, node: NodeId) -> bool {
    matches!(ir.node(node), Node::Rule(_))
}

/// The rules that need a function: where there are chains, not those that are looked through everywhere.
pub fn called_beside_chains(ir: &Ir) -> Vec<bool> {
    if ir.is_ordered() {
        // Nothing is looked through.
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
        if let Some(chain) = chain(ir, node).filter(|_| matches!(ir.node(node), Node::Choice(_))) {
            open.extend(match chain.end {
                ChainEnd::Node(rest) => Some(rest),
                ChainEnd::Nothing | ChainEnd::Byte(_) => None,
            });
            continue;
        }
        match ir.node(node) {
            Node::Rule(rule) if !std::mem::replace(&mut called[rule.index()], true) => open.extend(ir.body(*rule)),
            _ => open.extend(ir.children(node)),
        }
    }
    called
}

/// The node itself, or the body of the rule that it refers to.
fn through(ir: &Ir, mut node: NodeId) -> NodeId {
    while let Node::Rule(rule) = ir.node(node)
        && let Some(body) = ir.body(*rule)
    {
        node = body;
    }
    node
}

/// The first round of a chain: its members, whether the round that stops has one, and what follows if it goes on.
fn round(ir: &Ir, node: NodeId) -> Option<([u8; 256], bool, ChainEnd)> {
    let members = |node: NodeId| byte_item(ir, through(ir, node)).filter(|item| item.bound == 256);
    // `("" | a) a` is `a | a a`, whose tail was shared.
    if let Node::Seq(items) = ir.node(node)
        && let [first, last] = **items
    {
        let (member, false, ChainEnd::Nothing) = round(ir, first)? else { return None };
        return (members(last)?.table == member).then_some((member, true, ChainEnd::Byte(Box::new(member))));
    }
    let Node::Choice(Choice { options, slots: None }) = ir.node(node) else { return None };
    let [stop, go] = **options else { return None };
    let (item, rest) = match ir.node(go) {
        Node::Seq(items) => match **items {
            [item, rest] => (item, Some(rest)),
            _ => return None,
        },
        _ => (go, None),
    };
    let member = members(item)?.table;
    match (ir.node(stop), rest) {
        (Node::Bytes(bytes), None) if bytes.is_empty() => Some((member, false, ChainEnd::Nothing)),
        (Node::Bytes(bytes), Some(rest)) if bytes.is_empty() => Some((member, false, ChainEnd::Node(rest))),
        (_, Some(rest)) if members(stop)?.table == member => {
            let end = match members(rest) {
                Some(byte) => ChainEnd::Byte(Box::new(byte.table)),
                None => ChainEnd::Node(rest),
            };
            Some((member, true, end))
        }
        _ => None,
    }
}

/// What each choice byte of a pool's site emits, if it is one byte.
pub fn byte_pool(strings: &[Box<[u8]>]) -> Option<[u8; 256]> {
    // A pool of one string has no site, so a choice byte would be left over.
    let single = strings.len() > 1 && strings.iter().all(|string| string.len() == 1);
    single.then(|| std::array::from_fn(|byte| strings[(byte * strings.len()) >> 8][0]))
}

/// The item of `"" | item again`, if the body of a tail-recursive rule has this form.
pub fn star_item(ir: &Ir, rule: RuleId, body: NodeId) -> Option<NodeId> {
    let Node::Choice(Choice { options, slots: None }) = ir.node(body) else { return None };
    let [stop, go] = **options else { return None };
    let stops = matches!(ir.node(stop), Node::Bytes(bytes) if bytes.is_empty());
    let Node::Seq(items) = ir.node(go) else { return None };
    let [item, again] = **items else { return None };
    (stops && *ir.node(again) == Node::Again(rule)).then_some(item)
}

/// The item of `item | item again`, if the body of a tail-recursive rule has this form.
pub fn plus_item(ir: &Ir, rule: RuleId, body: NodeId) -> Option<NodeId> {
    let Node::Choice(Choice { options, slots: None }) = ir.node(body) else { return None };
    let [stop, go] = **options else { return None };
    let Node::Seq(items) = ir.node(go) else { return None };
    let [item, again] = **items else { return None };
    (ir.is_written_like(stop, item) && *ir.node(again) == Node::Again(rule)).then_some(item)
}
