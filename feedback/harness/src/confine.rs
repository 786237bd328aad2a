//! Confinement: inputs are programs, too (SQL, shell, Lua, JavaScript), and may do anything that their language can do.
//!
//! A confined program gains no privileges, writes no core dumps, and, where the kernel has Landlock, writes nothing
//! outside its temporary folder, opens no TCP connection, and signals none but its own processes.

use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};

use crate::scratch::Scratch;

/// The confinement of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// As much of the above as the kernel offers.
    #[default]
    Confined,
    /// Nothing: for programs that must write outside their temporary folder.
    Unconfined,
}

/// How much of the confinement the kernel offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offered {
    /// No Landlock: only privileges and core dumps are withheld.
    Nothing,
    /// Writing to files.
    Files,
    /// Also TCP.
    Network,
    /// Also signals to other processes.
    Signals,
}

/// How much of the confinement this kernel offers.
pub fn offered() -> Offered {
    // SAFETY: asks for the version, reads no memory.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, 1u32) };
    match version {
        ..=0 => Offered::Nothing,
        1..=3 => Offered::Files,
        4..=5 => Offered::Network,
        6.. => Offered::Signals,
    }
}

/// Files outside the temporary folder that a program may write to.
const WRITABLE: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// A ruleset for programs that may write to their temporary folder, and to their input if they get it by name; none where the kernel has no Landlock.
pub(crate) fn ruleset(scratch: &Scratch, by_name: bool) -> Result<Option<OwnedFd>, landlock::RulesetError> {
    const NEWEST: ABI = ABI::V6;
    let writing: BitFlags<AccessFs> = AccessFs::from_write(NEWEST);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    if let Ok(folder) = PathFd::new(scratch.temporary()) {
        ruleset = ruleset.add_rule(PathBeneath::new(folder, writing))?;
    }
    if by_name && let Ok(input) = PathFd::new(scratch.input()) {
        ruleset = ruleset.add_rule(PathBeneath::new(input, AccessFs::WriteFile | AccessFs::Truncate))?;
    }
    for device in WRITABLE {
        if let Ok(device) = PathFd::new(device) {
            let access = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
            ruleset = ruleset.add_rule(PathBeneath::new(device, access))?;
        }
    }
    Ok(ruleset.into())
}

/// A ruleset under which a process signals none but those that descend from it; none where the kernel has none.
pub(crate) fn scope() -> Option<OwnedFd> {
    if offered() < Offered::Signals {
        return None;
    }
    let ruleset =
        Ruleset::default().set_compatibility(CompatLevel::BestEffort).scope(Scope::Signal).ok()?.create().ok()?;
    ruleset.into()
}
