//! Campaigns: searches that run a program on texts of a grammar, in a folder, until time or a budget is used up.
//!
//! [`failing`] looks for texts on which a program fails, [`costly`] for those that cost it most. Both run workers with
//! a program of their own each, confirm what they find in new processes, make it smaller, and keep it in a [`State`],
//! the folder of a search, from which another one goes on. [`Siblings`] are the other searches in a shared folder.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod cores;
#[cfg(target_os = "linux")]
pub mod costly;
mod error;
#[cfg(target_os = "linux")]
pub mod failing;
#[cfg(unix)]
mod folder;
#[cfg(target_os = "linux")]
pub mod rerun;
#[cfg(unix)]
mod siblings;
#[cfg(unix)]
mod state;
mod stop;
#[cfg(target_os = "linux")]
pub mod subject;
#[cfg(target_os = "linux")]
mod watch;
mod words;

#[cfg(target_os = "linux")]
pub use cores::Cores;
pub use error::Error;
#[cfg(unix)]
pub use folder::{LeftAlone, Why};
#[cfg(unix)]
pub use siblings::{Import, Siblings};
#[cfg(unix)]
pub use state::{CHOICES, Place, State, StateError, View};
pub use stop::{Stop, StopReason};
#[cfg(target_os = "linux")]
pub use subject::{Spot, Surroundings, Tested};
#[cfg(target_os = "linux")]
pub use watch::Watch;
pub use words::one_line;
