//! Landlock: what a program may write to, TCP, and which processes it may signal.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};

use super::Permissions;

/// The newest version of the rules that is asked for; the kernel takes as much of it as it knows.
const NEWEST: ABI = ABI::V9;

/// Files outside the temporary folder that a program may write to.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// Returns the version of Landlock that the kernel has; 0 if it has none.
pub(super) fn version() -> u32 {
    // SAFETY: asks for the version, reads no memory.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, 1u32) };
    u32::try_from(version).unwrap_or(0)
}

/// Returns a ruleset for programs that may write to these folders and files, and what is in them; `None` where the
/// kernel has no Landlock.
pub(super) fn ruleset(permissions: &Permissions, writable: &[PathBuf]) -> Result<Option<OwnedFd>, RulesetError> {
    let mut writing: BitFlags<AccessFs> = AccessFs::from_write(NEWEST);
    let mut scope: BitFlags<Scope> = Scope::from_all(NEWEST);
    if permissions.network {
        writing.remove(AccessFs::ResolveUnix);
        scope.remove(Scope::AbstractUnixSocket);
    }
    if permissions.processes {
        scope.remove(Scope::Signal);
    }
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(writing)?;
    if !permissions.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    if !scope.is_empty() {
        ruleset = ruleset.scope(scope)?;
    }
    let mut ruleset = ruleset.create()?;
    for path in writable {
        let access = if path.is_dir() { writing } else { AccessFs::WriteFile | AccessFs::Truncate };
        if let Ok(path) = PathFd::new(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(path, access))?;
        }
    }
    for device in DEVICES {
        if let Ok(device) = PathFd::new(device) {
            let access = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
            ruleset = ruleset.add_rule(PathBeneath::new(device, access))?;
        }
    }
    Ok(ruleset.into())
}

/// Returns a ruleset under which a process signals none but those that descend from it; `None` where the kernel has
/// none.
pub(super) fn scope() -> Option<OwnedFd> {
    if version() < 6 {
        return None;
    }
    let ruleset =
        Ruleset::default().set_compatibility(CompatLevel::BestEffort).scope(Scope::Signal).ok()?.create().ok()?;
    ruleset.into()
}
