//! What a stretch of straight code reads and writes at most: the reservations of emitted code.
//!
//! The code of a node may rely on a reservation of the node's [`Needs`]. Where the node is a *barrier* (it calls, loops or
//! reserves on its own), the reservation covers only what comes before that, and what follows the node needs a new one.

use crate::analysis::jumps::jumps_to;
use crate::analysis::pools::{Pool, Pools};
use crate::ir::{Ir, Node, NodeId};

/// Choice bytes read and output bytes written from a node's beginning up to its first barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Choice bytes.
    pub choices: usize,
    /// Output bytes.
    pub output: usize,
    /// Whether some path through the node leaves less than was reserved for what follows.
    pub barrier: bool,
}

/// Longer literals and pool strings reserve on their own.
pub const MAX_LITERAL: usize = 256;

/// A reservation covers at most this much; longer stretches are cut.
const MAX_CHOICES: usize = 128;
const MAX_OUTPUT: usize = 1024;

impl Needs {
    const BARRIER: Needs = Needs { choices: 0, output: 0, barrier: true };

    fn straight(choices: usize, output: usize) -> Needs {
        Needs { choices, output, barrier: false }
    }

    /// Of either.
    pub fn or(self, other: Needs) -> Needs {
        Needs {
            choices: self.choices.max(other.choices),
            output: self.output.max(other.output),
            barrier: self.barrier || other.barrier,
        }
    }

    /// Of this and then `next`; `None` if a reservation must not cover both.
    pub fn then(self, next: Needs) -> Option<Needs> {
        let (choices, output) = (self.choices + next.choices, self.output + next.output);
        let fits = self == Needs::default() || (choices <= MAX_CHOICES && output <= MAX_OUTPUT);
        fits.then_some(Needs { choices, output, barrier: next.barrier })
    }
}

/// The needs of every node.
pub fn needs(ir: &Ir, pools: &Pools) -> Vec<Needs> {
    let mut needs: Vec<Needs> = Vec::with_capacity(ir.node_count());
    // Children come before their parents in the arena.
    for index in 0..ir.node_count() {
        let node = NodeId::new(index);
        let of = |child: NodeId| needs[child.index()];
        let own = match ir.node(node) {
            Node::Bytes(bytes) if bytes.len() > MAX_LITERAL => Needs::BARRIER,
            Node::Bytes(bytes) => Needs::straight(0, bytes.len()),
            Node::Class(set) => Needs::straight(width(set.len() as usize), set.max_len() as usize),
            Node::Rule(_) | Node::Again(_) | Node::Repeat { .. } => Needs::BARRIER,
            Node::Seq(items) => sequence(items.iter().map(|item| needs[item.index()])),
            Node::Choice(choice) => {
                let site = match &choice.slots {
                    Some(slots) => slots.bits() as usize / 8,
                    None => width(choice.options.len()),
                };
                let options = choice.options.iter().map(|&option| of(option)).fold(Needs::default(), Needs::or);
                Needs { choices: site + options.choices, ..options }
            }
            Node::Inline { rule, body } => {
                if jumps_to(ir, *body, *rule) {
                    Needs::BARRIER
                } else {
                    match pools.get(*rule).map(pool_needs) {
                        Some(pool) => of(*body).or(pool),
                        None => of(*body),
                    }
                }
            }
        };
        needs.push(own);
    }
    needs
}

/// The needs of items one after the other, up to the first barrier or cut.
pub fn sequence(items: impl IntoIterator<Item = Needs>) -> Needs {
    let mut sum = Needs::default();
    for item in items {
        match sum.then(item) {
            Some(next) => sum = next,
            None => return Needs { barrier: true, ..sum },
        }
        if sum.barrier {
            break;
        }
    }
    sum
}

fn pool_needs(pool: &Pool) -> Needs {
    let longest = pool.strings.iter().map(|string| string.len()).max().unwrap_or(0);
    match longest > MAX_LITERAL {
        true => Needs::BARRIER,
        false => Needs::straight(width(pool.strings.len()), longest),
    }
}

/// How many choice bytes a site of this many equally probable options reads.
pub fn width(options: usize) -> usize {
    match options {
        0 | 1 => 0,
        2..=256 => 1,
        257..=65536 => 2,
        _ => 3,
    }
}
