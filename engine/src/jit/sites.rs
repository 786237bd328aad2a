//! The data on sites for the slow paths.

use gramjet_compiler::ir::Slots;

/// A site that a length limit can narrow.
#[derive(Debug, Default)]
pub(super) struct Site {
    /// Number of bytes that each option costs more than the shortest, ascending.
    pub costs: Vec<u64>,
    /// Number of copies of a part that each option has more than the first one; empty if none has some.
    pub copies: Vec<i64>,
    /// The slots of a weighted site.
    pub slots: Option<Slots>,
    /// The string that each option emits, where the slow path does that too.
    pub strings: Vec<Box<[u8]>>,
    /// Emitted where no option is offered.
    pub shortest: Option<Box<[u8]>>,
}
