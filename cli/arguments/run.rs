//! The way of running a program under test, as the user asks for it.

use std::time::Duration;

use clap::Args;
use gramjet_harness::{Confinement, Limits, Offered, Permission, offered};
use regex_lite::Regex;

use crate::failure::say;
use crate::units::{self, Bound};
use gramjet_campaign::Cores;
use gramjet_campaign::subject::Surroundings;

/// Options for running the program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of the program")]
pub struct RunArgs {
    /// A run whose processes need more memory is stopped; `none` for no limit.
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = units::parse_size_bound)]
    pub memory: Bound<u64>,

    /// A run that writes more to its temporary folder is stopped; `none` for no limit.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = units::parse_size_bound)]
    pub disk: Bound<u64>,

    /// Let the program do anything that this user may do. Without it, it may write to its temporary folder only, make
    /// no sockets, and change no other process, nor the system. `gramjet confinement` lists what is enforced here.
    #[arg(long)]
    pub unconfined: bool,

    /// Let the program do this although it is confined: `network`, `write=DIR`, `processes`, `ipc`, `metadata`,
    /// `privileges` or `system-calls`. Can be given several times.
    #[arg(long, value_name = "PERMISSION", value_parser = parse_permission)]
    pub allow: Vec<Permission>,

    /// Functions get text (`str` in Python, a string in JavaScript), not bytes.
    #[arg(long)]
    pub text: bool,

    /// Let the system choose the cores. Without it, each thread and its program stay on a core of their own, if the
    /// program is instrumented and enough cores are free: no other process is bound to them. `gramjet search` may make
    /// texts on a further core that is free.
    #[arg(long)]
    pub no_affinity: bool,
}

impl RunArgs {
    /// The usual limit on memory.
    pub const MEMORY: u64 = 2 << 30;
    /// The usual limit on files.
    pub const DISK: u64 = 1 << 30;

    /// Returns the limits and the confinement of a run that may take this long.
    pub fn surroundings(&self, timeout: Duration) -> Surroundings {
        let limits = Limits::default().with_time(timeout).with_memory(self.memory.number());
        let limits = limits.with_disk(self.disk.number());
        let confinement = if self.unconfined { Confinement::Unconfined } else { Confinement::Confined };
        // There are few of them, and they live as long as the process.
        let allowed: &'static [Permission] = Vec::leak(self.allow.clone());
        Surroundings { limits, confinement, allowed, text: self.text, ..Surroundings::default() }
    }

    /// Returns the cores of a search with this many workers.
    pub fn cores(&self, workers: usize) -> Cores {
        if self.no_affinity { Cores::any(workers) } else { Cores::find(workers) }
    }

    /// Warns where the kernel cannot confine the program as far as it is asked to.
    pub fn warn_of_confinement(&self) {
        if !self.unconfined && offered() < Offered::Network {
            say!(
                "gramjet: this kernel does not keep the program from all files and connections (`gramjet confinement`); run \
                 what you do not trust in a container"
            );
        }
    }
}

/// Returns a permission; the folder that it names is the one as seen from here.
fn parse_permission(text: &str) -> Result<Permission, String> {
    let permission = text.parse().map_err(|error| {
        format!("{error}; `gramjet fuzz --expect CLASS` is for exceptions that say that an input is invalid")
    })?;
    Ok(match permission {
        Permission::Write(path) => Permission::Write(std::path::absolute(&path).unwrap_or(path)),
        other => other,
    })
}

/// Returns the permissions as options, as they are recorded.
pub fn permission_options(allowed: &[Permission]) -> impl Iterator<Item = String> {
    allowed.iter().map(|permission| format!("--allow={permission}"))
}

/// Returns a limit on time, which is not 0.
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    match units::parse_duration(text)? {
        Duration::ZERO => Err("no program can be that fast".to_string()),
        timeout => Ok(timeout),
    }
}

/// Returns a regular expression.
pub fn parse_regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| error.to_string())
}
