//! Privileges: a program has no capabilities and no supplementary groups, also where gramjet runs as root.

/// The version of `capset` with 64 bits, `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;
/// No right follows from being root, or from becoming it, and that stays so: `SECBIT_NOROOT`,
/// `SECBIT_NO_SETUID_FIXUP`, `SECBIT_NO_CAP_AMBIENT_RAISE`, each with its lock.
const SECUREBITS: libc::c_ulong = 0b11 | 0b1100 | 0b1100_0000;

/// Returns true if this process is root.
pub(super) fn is_root() -> bool {
    // SAFETY: a system call without pointers.
    unsafe { libc::geteuid() == 0 }
}

/// Takes the supplementary groups from this process, where that is allowed. Returns true if none is left.
///
/// Makes a system call alone, and not by the function of the C library, which concerns all threads, so that a new
/// process can use it that shares the memory of its parent.
pub(crate) fn drop_groups() -> bool {
    // SAFETY: system calls with null pointers for an empty list.
    unsafe {
        libc::syscall(libc::SYS_setgroups, 0usize, std::ptr::null::<libc::gid_t>()) == 0
            || libc::syscall(libc::SYS_getgroups, 0usize, std::ptr::null::<libc::gid_t>()) == 0
    }
}

/// Takes all capabilities from this process. Returns true if none is left.
///
/// Makes system calls alone, so that a new process which shares the memory of its parent can do it.
pub(crate) fn drop_capabilities() -> bool {
    #[repr(C)]
    struct Header {
        version: u32,
        process: i32,
    }
    let header = Header { version: VERSION, process: 0 };
    let none = [0u32; 6];
    // SAFETY: system calls with pointers to live values.
    unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        // From the first number on that the kernel does not know, it refuses; all are refused without the right to it.
        (0..64).take_while(|&capability| libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) == 0).for_each(drop);
        libc::prctl(libc::PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0);
        libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) == 0
    }
}

/// Tries, in a process of its own, whether root can give up its supplementary groups here.
pub(super) fn gives_up_groups() -> bool {
    // SAFETY: the new process makes system calls alone, and ends.
    unsafe {
        let process = libc::fork();
        if process == 0 {
            libc::_exit(i32::from(!drop_groups()));
        }
        let mut status = 1;
        process > 0 && libc::waitpid(process, &mut status, 0) == process && status == 0
    }
}
