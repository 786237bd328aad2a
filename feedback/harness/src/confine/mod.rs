//! Confinement: inputs are programs, too (SQL, shell, Lua, JavaScript), and may do anything that their language can do.
//!
//! | part | keeps a program from |
//! |---|---|
//! | `landlock` | writing to files elsewhere, TCP, signals to other processes and tracing them |
//! | `seccomp`, `calls` | sockets, changing other processes, and calls that change the system |
//! | `privileges` | capabilities and groups, where gramjet runs as root |
//! | `namespace` | changing modes, owners and times of files elsewhere; System V and POSIX messages |
//!
//! As much is in force as the kernel offers. All is prepared before there is a new process, which makes system calls
//! alone.

mod calls;
mod landlock;
mod namespace;
mod privileges;
mod refusal;
mod seccomp;

use std::ffi::CString;
use std::fmt;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub(crate) use namespace::Namespaces;
use namespace::Plan;
pub(crate) use privileges::{drop_capabilities, drop_groups};
pub use refusal::refusal;
pub(crate) use seccomp::{Filter, install};

use crate::error::Error;

/// The confinement of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// The program is confined as far as the kernel offers it.
    #[default]
    Confined,
    /// Nothing: for programs that must write outside their temporary folder.
    Unconfined,
}

/// A thing that a confined program may do all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Permission {
    /// Make sockets (Internet, Unix and route sockets), connect and listen.
    Network,
    /// Write to this folder, or file, and what is in it.
    Write(PathBuf),
    /// Signal other processes, and change their limits, priorities and cores.
    Processes,
    /// Use the queues, semaphores and shared memory of System V and POSIX that other processes have.
    Ipc,
    /// Change modes, owners, times and attributes of files that it may not write to.
    Metadata,
    /// Keep the capabilities and groups of root.
    Privileges,
    /// Make any system call.
    SystemCalls,
}

impl Permission {
    /// The permissions that are a name alone.
    const NAMED: [Permission; 6] = [
        Permission::Network,
        Permission::Processes,
        Permission::Ipc,
        Permission::Metadata,
        Permission::Privileges,
        Permission::SystemCalls,
    ];

    /// All permissions, by their names, and what each is for.
    pub const ALL: [(&'static str, &'static str); 7] = [
        ("network", "make sockets, connect and listen"),
        ("write=DIR", "write to this folder"),
        ("processes", "signal other processes, change their limits and priorities, and choose cores of threads"),
        ("ipc", "use messages and shared memory of System V and POSIX that others have"),
        ("metadata", "change modes, owners and times of files elsewhere"),
        ("privileges", "keep the capabilities and groups of root"),
        (
            "system-calls",
            "make any system call: mounts, modules, keys, io_uring, namespaces; with it, all of network and processes",
        ),
    ];
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Permission::Network => f.write_str("network"),
            Permission::Write(path) => write!(f, "write={}", path.display()),
            Permission::Processes => f.write_str("processes"),
            Permission::Ipc => f.write_str("ipc"),
            Permission::Metadata => f.write_str("metadata"),
            Permission::Privileges => f.write_str("privileges"),
            Permission::SystemCalls => f.write_str("system-calls"),
        }
    }
}

impl FromStr for Permission {
    type Err = String;

    fn from_str(text: &str) -> Result<Permission, String> {
        let folder = text.strip_prefix("write=").filter(|path| !path.is_empty()).map(PathBuf::from);
        let mut permissions = Permission::NAMED.into_iter().chain(folder.map(Permission::Write));
        permissions.find(|permission| permission.to_string() == text).ok_or_else(|| {
            let names = Permission::ALL.map(|(name, _)| format!("`{name}`")).join(", ");
            format!("there is no such permission; those that there are: {names}")
        })
    }
}

/// Permissions of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permissions {
    pub(crate) network: bool,
    pub(crate) processes: bool,
    pub(crate) ipc: bool,
    pub(crate) metadata: bool,
    pub(crate) privileges: bool,
    pub(crate) system_calls: bool,
    pub(crate) writable: Vec<PathBuf>,
}

impl Permissions {
    pub(crate) fn add(&mut self, permission: Permission) {
        match permission {
            Permission::Network => self.network = true,
            Permission::Processes => self.processes = true,
            Permission::Ipc => self.ipc = true,
            Permission::Metadata => self.metadata = true,
            Permission::Privileges => self.privileges = true,
            Permission::SystemCalls => self.system_calls = true,
            Permission::Write(path) => self.writable.push(crate::guard::absolute(&path)),
        }
    }
}

/// Part of the confinement that the kernel offers by Landlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offered {
    /// No Landlock: files can be written to.
    Nothing,
    /// Writing to files.
    Files,
    /// Also TCP.
    Network,
    /// Also signals to other processes.
    Signals,
}

/// Returns how much of the confinement this kernel offers by Landlock.
pub fn offered() -> Offered {
    match landlock::version() {
        0 => Offered::Nothing,
        1..=3 => Offered::Files,
        4..=5 => Offered::Network,
        6.. => Offered::Signals,
    }
}

/// The rules for a program, made before it is started.
pub(crate) struct Rules {
    pub(crate) ruleset: Option<OwnedFd>,
    /// A ruleset under which the guard signals none but processes that descend from it, if the program may not either.
    pub(crate) scope: Option<OwnedFd>,
    /// Filters for the guard and all that it starts, and one that each new process adds.
    pub(crate) filters: Vec<Filter>,
    pub(crate) last: Option<Filter>,
    pub(crate) plan: Option<Plan>,
    pub(crate) keeps_privileges: bool,
    pub(crate) is_root: bool,
}

impl Rules {
    /// Makes the rules for a program that may write to these folders and files, and runs in `folder`.
    ///
    /// # Errors
    ///
    /// If the kernel can enforce a part of them, and it cannot be made ready: the program must not run without it.
    pub(crate) fn new(
        program: &Path,
        permissions: &Permissions,
        mut writable: Vec<PathBuf>,
        folder: Option<&Path>,
    ) -> Result<Rules, Error> {
        let failed = |what, source: Box<dyn std::error::Error + Send + Sync>| Error::System {
            what,
            source: std::io::Error::other(source),
        };
        writable.extend(permissions.writable.iter().cloned());
        let ruleset = match landlock::version() {
            0 => None,
            _ => landlock::ruleset(permissions, &writable)
                .map_err(|error| failed("the rules of Landlock cannot be made", error.into()))?,
        };
        let filters = match permissions.system_calls || !seccomp::is_offered() {
            true => Vec::new(),
            false => seccomp::filters(permissions, is_of_32_bits(program))
                .map_err(|error| failed("the filters of system calls cannot be made", error.into()))?,
        };
        let last = (!filters.is_empty()).then(seccomp::last);
        let plan = plan(permissions, &writable, folder);
        let (keeps_privileges, is_root) = (permissions.privileges, privileges::is_root());
        // The program inherits what the guard is kept from.
        let scope = if permissions.processes { None } else { landlock::scope() };
        Ok(Rules { ruleset, scope, filters, last, plan, keeps_privileges, is_root })
    }

    /// Lets the program use messages and memory of this process.
    pub(crate) fn share_ipc(&mut self) {
        if let Some(plan) = &mut self.plan {
            plan.messages = false;
        }
    }
}

/// Returns true for a program of 32 bits.
fn is_of_32_bits(program: &Path) -> bool {
    let mut head = [0; 5];
    let read = std::fs::File::open(program).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"\x7fELF\x01"
}

/// Returns the plan for namespaces; `None` if they cannot serve.
fn plan(permissions: &Permissions, writable: &[PathBuf], folder: Option<&Path>) -> Option<Plan> {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
    let folder = folder.map_or_else(std::env::current_dir, |folder| Ok(folder.to_path_buf())).ok()?;
    let writable: Vec<&PathBuf> = writable.iter().filter(|path| path.exists()).collect();
    // Where all may be written to there is nothing to protect.
    let mounts = !permissions.metadata && writable.iter().all(|path| path.parent().is_some());
    let writable = writable.into_iter().map(|path| text(path)).collect::<Option<_>>()?;
    Some(Plan { mounts, messages: !permissions.ipc, writable, folder: text(&folder)? })
}

/// A part of the confinement, and whether this kernel can enforce it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Protection {
    /// Name of what a program is kept from.
    pub what: &'static str,
    /// By what it is enforced here, or why it cannot be.
    pub by: Result<&'static str, &'static str>,
    /// The permission that switches it off.
    pub permission: Option<&'static str>,
}

/// Returns the parts of the confinement. This tries out what cannot be asked, with processes of its own.
pub fn protections() -> Vec<Protection> {
    let version = landlock::version();
    let landlock = |least, why| if version >= least { Ok("Landlock") } else { Err(why) };
    let filtered =
        if seccomp::is_offered() { Ok("seccomp") } else { Err("needs seccomp in the kernel, on a known machine") };
    let plan = Plan { mounts: true, messages: true, writable: Vec::new(), folder: c"/".into() };
    let namespaces = Namespaces::prepare(&plan);
    let by_namespace = |is_there, name| {
        if is_there { Ok(name) } else { Err("needs root or namespaces of users, which a container may not give") }
    };
    let protection = |what, by, permission| Protection { what, by, permission };
    vec![
        protection(
            "writing to files outside its temporary folder",
            landlock(1, "needs Landlock, from Linux 5.13 on"),
            Some("write=DIR"),
        ),
        protection(
            "cutting such files short",
            landlock(3, "needs version 3 of Landlock, from Linux 6.2 on"),
            Some("write=DIR"),
        ),
        protection("sockets, connections and listening", filtered, Some("network")),
        protection(
            "signals to other processes",
            landlock(6, "needs version 6 of Landlock, from Linux 6.12 on"),
            Some("processes"),
        ),
        protection("tracing other processes", landlock(1, "needs Landlock, from Linux 5.13 on"), None),
        protection("limits, priorities and cores of other processes", filtered, Some("processes")),
        protection("mounts, modules, keys, io_uring and other system calls", filtered, Some("system-calls")),
        protection("capabilities of root", Ok("giving them up"), Some("privileges")),
        protection(
            "supplementary groups of root",
            match privileges::gives_up_groups() {
                true => Ok("giving them up"),
                false => Err("needs the right to change groups, which a container may not give"),
            },
            Some("privileges"),
        ),
        protection("new privileges by programs that give them", Ok("no_new_privs"), None),
        protection(
            "modes, owners and times of files elsewhere",
            by_namespace(namespaces.has_mounts(), "a mount namespace"),
            Some("metadata"),
        ),
        protection(
            "messages and shared memory of other processes",
            by_namespace(namespaces.has_messages(), "an IPC namespace"),
            Some("ipc"),
        ),
        protection("core dumps", Ok("a limit"), None),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_read_as_they_are_written() {
        for text in ["network", "write=/a b", "processes", "ipc", "metadata", "privileges", "system-calls"] {
            assert_eq!(text.parse::<Permission>().map(|permission| permission.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "write=", "write", "Network", "ValueError"] {
            let error = text.parse::<Permission>().expect_err("no permission");
            assert!(error.contains("`network`, `write=DIR`"), "{error}");
        }
    }
}
