//! The bulk engine: gigabytes of inputs by tables for a branch-free pushdown machine. It draws with the grammar's own
//! probabilities and does not replay choice bytes. `docs/bulk.md` describes the construction.
//!
//! ```
//! use gramjet::Limits;
//! use gramjet_compiler::{Options, SourceFile, compile};
//! use gramjet_engine::bulk::{Bulk, Effort, Framing};
//!
//! let file = SourceFile::new("sums.ebnf", "sum ::= number ('+' number)*  number ::= [1-9] [0-9]*");
//! let (compiled, _) = compile(&file, &Options::default()).expect("a grammar");
//! let mut bulk = Bulk::new(&compiled, Limits::new(), Framing::default(), Effort::default())?;
//! bulk.restart(7, 0);
//! let block = bulk.next_block();
//! let mut start = 0;
//! for &end in block.ends {
//!     assert!(block.bytes[start..end].iter().all(|byte| byte.is_ascii_digit() || *byte == b'+'));
//!     start = end;
//! }
//! # Ok::<(), gramjet_engine::bulk::NotInBulk>(())
//! ```

mod ahead;
mod chunks;
mod classes;
mod fill;
mod frames;
mod lanes;
mod plan;
mod producer;
mod search;
mod tables;
mod traffic;
mod unfold;
#[cfg(target_arch = "x86_64")]
mod wide;
mod work;

pub use gramjet::rt::simd::Simd;
pub use producer::{Bulk, Effort, Framing, Inputs, NotInBulk};
