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
        Node::Class(set) if set.max_len() == 1 && set.len() <= 256 => {
            let members: Vec<u8> = set.iter().map(|member| set.encode(member).as_ref()[0]).collect();
            let table = std::array::from_fn(|byte| members[(byte * members.len()) >> 8]);
            Some(ByteItem { table, bound: 256, layers: 0, max_cost: 0 })
        }
        Node::Choice(choice) => byte_choice(ir, node, choice),
        Node::Inline { rule, body } if !jumps_to(ir, *body, *rule) => {
            let item = byte_item(ir, *body)?;
            Some(ByteItem { layers: item.layers + 1, ..item })
        }
        _ => None,
    }
}

fn byte_choice(ir: &Ir, node: NodeId, choice: &Choice) -> Option<ByteItem> {
    let count = choice.options.len();
    let option_of = |byte: usize| match &choice.slots {
        None => (byte * count) >> 8,
        Some(slots) => slots.option_of(byte as u32),
    };
    if count > 256 || choice.slots.as_ref().is_some_and(|slots| slots.bits() != 8) {
        return None;
    }
    let single = |option: usize| match ir.node(choice.options[option]) {
        Node::Bytes(bytes) if bytes.len() == 1 => Some(bytes[0]),
        _ => None,
    };
    let singles = (0..count).take_while(|&option| single(option).is_some()).count();
    let bound = (0..256).find(|&byte| option_of(byte) >= singles).unwrap_or(256) as u32;
    if bound < MIN_BOUND {
        return None;
    }
    let table = std::array::from_fn(|byte| single(option_of(byte).min(singles - 1)).unwrap_or(0));
    let max_cost = ir.facts(choice.options[count - 1]).min_len - ir.facts(node).min_len;
    Some(ByteItem { table, bound, layers: 0, max_cost })
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
