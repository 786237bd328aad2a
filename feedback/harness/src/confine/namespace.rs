//! Namespaces: a program sees all files, but can change modes, owners, times and attributes only of its own; and
//! queues, semaphores and shared memory of System V and POSIX are its own, and vanish with it.
//!
//! The guard prepares them once; each new process enters them. The guard itself stays outside, so that it can remove
//! the program's folder. Where the kernel or a container does not offer this, the program runs without.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::{io, ptr};

/// The namespaces of a program.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    /// Entered first: it gives the right to enter the others, to one who is not root.
    user: Option<OwnedFd>,
    mounts: Option<OwnedFd>,
    messages: Option<OwnedFd>,
}

/// Plan of what is to be prepared.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) mounts: bool,
    pub(crate) messages: bool,
    /// Paths that the program may write to.
    pub(crate) writable: Vec<CString>,
    /// The folder in which the program runs.
    pub(crate) folder: CString,
}

/// `struct mount_attr`.
#[repr(C)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user: u64,
}

const READ_ONLY: u64 = 1;
const AT_RECURSIVE: libc::c_uint = 0x8000;
/// Bits of what a helper says.
const HAS_USER: u8 = 1;
const HAS_MOUNTS: u8 = 2;
const HAS_MESSAGES: u8 = 4;

impl Namespaces {
    /// Prepares as much as is offered of what is planned.
    pub(crate) fn prepare(plan: &Plan) -> Namespaces {
        if !plan.mounts && !plan.messages {
            return Namespaces::default();
        }
        let made = make(plan).unwrap_or_default();
        if made.works(plan) { made } else { Namespaces::default() }
    }

    pub(crate) fn has_user(&self) -> bool {
        self.user.is_some()
    }

    pub(crate) fn has_mounts(&self) -> bool {
        self.mounts.is_some()
    }

    pub(crate) fn has_messages(&self) -> bool {
        self.messages.is_some()
    }

    /// Enters them by system calls alone, so that a new process which shares the memory of its parent can do it.
    pub(crate) fn enter(&self) -> bool {
        [&self.user, &self.mounts, &self.messages].into_iter().flatten().all(|namespace| {
            // SAFETY: a system call without pointers.
            unsafe { libc::setns(namespace.as_raw_fd(), 0) == 0 }
        })
    }

    /// Returns true if a process can enter them, and finds the root and its folder there: they may be others than those
    /// of a process whose root was changed.
    fn works(&self, plan: &Plan) -> bool {
        let (Some(root), Some(folder)) = (identity(c"/"), identity(&plan.folder)) else { return false };
        // SAFETY: the new process makes system calls alone, and ends.
        unsafe {
            let process = libc::fork();
            if process == 0 {
                let is_same = self.enter()
                    && identity(c"/") == Some(root)
                    && libc::chdir(plan.folder.as_ptr()) == 0
                    && identity(c".") == Some(folder);
                libc::_exit(i32::from(!is_same));
            }
            let mut status = 1;
            process > 0 && libc::waitpid(process, &mut status, 0) == process && status == 0
        }
    }
}

fn identity(path: &std::ffi::CStr) -> Option<(libc::dev_t, libc::ino_t)> {
    // SAFETY: zeroes are a value of this type, and the pointers are to live values.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        (libc::stat(path.as_ptr(), &mut found) == 0).then_some((found.st_dev, found.st_ino))
    }
}

/// Lets a helper make the namespaces, and opens them while it lives.
fn make(plan: &Plan) -> io::Result<Namespaces> {
    // SAFETY: system calls without pointers.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // Made before there is another process.
    let maps = [format!("{user} {user} 1"), format!("{group} {group} 1")];
    let (said, to_say) = pipe()?;
    let (wait, end) = pipe()?;
    // SAFETY: the new process makes system calls alone, on data that were prepared, and ends.
    let helper = unsafe { libc::fork() };
    match helper {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let made = [help(plan, &maps)];
            // SAFETY: pointers to live values.
            unsafe {
                libc::close(end.as_raw_fd());
                libc::write(to_say.as_raw_fd(), made.as_ptr().cast(), 1);
                let mut nothing = [0u8];
                libc::read(wait.as_raw_fd(), nothing.as_mut_ptr().cast(), 1);
                libc::_exit(0)
            }
        }
        _ => {
            drop(to_say);
            let mut made = [0u8];
            // SAFETY: room for one byte.
            let got = unsafe { libc::read(said.as_raw_fd(), made.as_mut_ptr().cast(), 1) };
            let made = if got == 1 { made[0] } else { 0 };
            let open = |bit: u8, name: &str| match made & bit {
                0 => Ok(None),
                _ => File::open(format!("/proc/{helper}/ns/{name}")).map(|file| Some(OwnedFd::from(file))),
            };
            let opened = (open(HAS_USER, "user"), open(HAS_MOUNTS, "mnt"), open(HAS_MESSAGES, "ipc"));
            drop(end);
            // SAFETY: it ends, as nothing can be read any more.
            unsafe { libc::waitpid(helper, ptr::null_mut(), 0) };
            let (user, mounts, messages) = (opened.0?, opened.1?, opened.2?);
            let is_empty = mounts.is_none() && messages.is_none();
            Ok(Namespaces { user: user.filter(|_| !is_empty), mounts, messages })
        }
    }
}

/// Makes the namespaces for this process. Returns which there are.
fn help(plan: &Plan, maps: &[String; 2]) -> u8 {
    let flags = if plan.mounts { libc::CLONE_NEWNS } else { 0 } | if plan.messages { libc::CLONE_NEWIPC } else { 0 };
    let mut made = 0;
    // SAFETY: system calls without pointers.
    unsafe {
        // Root needs no namespace of users, in which other users' files would have no owner.
        if libc::unshare(flags) != 0 {
            if libc::unshare(libc::CLONE_NEWUSER | flags) != 0
                || !write(c"/proc/self/setgroups", b"deny")
                || !write(c"/proc/self/uid_map", maps[0].as_bytes())
                || !write(c"/proc/self/gid_map", maps[1].as_bytes())
            {
                return 0;
            }
            made |= HAS_USER;
        }
    }
    if plan.messages {
        made |= HAS_MESSAGES;
    }
    if plan.mounts && protect(plan) {
        made |= HAS_MOUNTS;
    }
    made
}

/// Makes all files read-only but those that the program may write to. Devices can still be written to.
fn protect(plan: &Plan) -> bool {
    let set = |path: &std::ffi::CStr, set, clear| {
        let attributes = Attributes { set, clear, propagation: 0, user: 0 };
        // SAFETY: pointers to live values.
        unsafe {
            let (here, size) = (libc::AT_FDCWD, size_of::<Attributes>());
            let pointer = &raw const attributes;
            libc::syscall(libc::SYS_mount_setattr, here, path.as_ptr(), AT_RECURSIVE, pointer, size) == 0
        }
    };
    let mount = |source: *const libc::c_char, target: *const libc::c_char, flags| {
        // SAFETY: strings that end in a zero byte, or null ones where the kernel expects none.
        unsafe { libc::mount(source, target, ptr::null(), flags, ptr::null()) == 0 }
    };
    // Nothing that is mounted here is seen outside; what is unmounted outside is unmounted here.
    mount(ptr::null(), c"/".as_ptr(), libc::MS_REC | libc::MS_SLAVE)
        && plan.writable.iter().all(|path| mount(path.as_ptr(), path.as_ptr(), libc::MS_BIND | libc::MS_REC))
        && set(c"/", READ_ONLY, 0)
        // What was read-only before stays so.
        && plan.writable.iter().all(|path| set(path, 0, READ_ONLY) || set(path, 0, 0))
}

fn write(path: &std::ffi::CStr, bytes: &[u8]) -> bool {
    // SAFETY: a string that ends in a zero byte, and the bytes of a live value.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        let written = file >= 0 && libc::write(file, bytes.as_ptr().cast(), bytes.len()) == bytes.len() as isize;
        libc::close(file);
        written
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [0; 2];
    // SAFETY: room for two descriptors, which have no other owner.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}
