//! Campaigns: searches that run a program on texts of a grammar, in a folder, until time or a budget is used up.
//!
//! [`failing`] looks for texts on which a program fails, [`costly`] for those that cost it most. Both run workers with
//! a program of their own each, confirm what they find in new processes, make it smaller, and keep it in a [`State`],
//! the folder of a search, from which another one goes on. [`Siblings`] are the other searches in a shared folder.
//! [`strategies`] has the strategies of publications.

#![forbid(unsafe_code)]

#[cfg(all(feature = "programs", target_os = "linux"))]
mod cores;
#[cfg(all(feature = "programs", target_os = "linux"))]
pub mod costly;
mod error;
#[cfg(all(feature = "programs", target_os = "linux"))]
pub mod failing;
#[cfg(all(feature = "programs", unix))]
mod folder;
#[cfg(all(feature = "programs", target_os = "linux"))]
pub mod rerun;
#[cfg(all(feature = "programs", unix))]
mod siblings;
#[cfg(all(feature = "programs", unix))]
mod state;
#[cfg(feature = "programs")]
mod stop;
pub mod strategies;
#[cfg(all(feature = "programs", target_os = "linux"))]
pub mod subject;
#[cfg(all(feature = "programs", target_os = "linux"))]
mod watch;
mod words;

#[cfg(all(feature = "programs", target_os = "linux"))]
pub use cores::Cores;
pub use error::Error;
#[cfg(all(feature = "programs", unix))]
pub use folder::{LeftAlone, Why};
#[cfg(all(feature = "programs", unix))]
pub use siblings::{Import, Siblings};
#[cfg(all(feature = "programs", unix))]
pub use state::{CHOICES, Place, State, StateError, View};
#[cfg(feature = "programs")]
pub use stop::{Stop, StopReason};
#[cfg(all(feature = "programs", target_os = "linux"))]
pub use subject::{Spot, Surroundings, Tested};
#[cfg(all(feature = "programs", target_os = "linux"))]
pub use watch::Watch;
pub use words::one_line;
