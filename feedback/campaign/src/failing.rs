//! The search for the texts on which a program fails.

mod campaign;
mod depth;
mod evidence;
mod examine;
mod exceptions;
mod extremes;
mod finding;
mod history;
mod loops;
mod maker;
mod messages;
mod recent;
mod rejection;
mod replay;
mod sequence;
mod unconfirmed;
mod verdict;
mod worker;

pub use campaign::{Campaign, News, Plan, Progress};
pub use evidence::Standing;
pub use finding::{Call, Finding, REPORT};
pub use maker::{GUIDED, Making};
pub use recent::Recent;
pub use rejection::Rejection;
pub use replay::{Kept, Replay};
pub use unconfirmed::Unconfirmed;
pub use verdict::{Advice, Failed, Judge, Rules, Verdict, parse_exits};
