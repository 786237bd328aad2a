//! The system calls that a confined program is refused, with their numbers on this machine and for programs of 32 bits
//! on x86-64.

use super::Permissions;

/// A condition on an argument. The kernel takes these as numbers of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Is {
    /// The argument of this number is this one.
    Equal(u8, u32),
    /// The argument of this number is another one than this.
    Other(u8, u32),
    /// The bits of this mask are these.
    Bits(u8, u32, u32),
}

/// A system call that is refused.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its number on this machine; `None` if there is no such call.
    pub(super) native: Option<i64>,
    /// Its number for programs of 32 bits on x86-64.
    pub(super) i386: Option<u32>,
    /// Lists of conditions. The call is refused if all conditions of one list hold; always if there are no lists.
    pub(super) when: Vec<Vec<Is>>,
}

fn call(native: impl Into<Option<i64>>, i386: impl Into<Option<u32>>) -> Call {
    Call { native: native.into(), i386: i386.into(), when: Vec::new() }
}

/// Returns a call that only programs of 32 bits have.
fn old(i386: u32) -> Call {
    call(None::<i64>, i386)
}

/// A call that only this kind of machine has.
macro_rules! only_x86 {
    ($name:ident) => {{
        #[cfg(target_arch = "x86_64")]
        let number = Some(libc::$name as i64);
        #[cfg(not(target_arch = "x86_64"))]
        let number: Option<i64> = None;
        number
    }};
}

impl Call {
    fn when(mut self, conditions: Vec<Is>) -> Call {
        self.when.push(conditions);
        self
    }

    fn whens(mut self, conditions: impl IntoIterator<Item = Vec<Is>>) -> Call {
        self.when.extend(conditions);
        self
    }
}

/// Calls that fail as if the kernel did not have them, so that programs do without.
pub(super) fn missing() -> Vec<Call> {
    vec![
        call(libc::SYS_io_uring_setup, 425),
        call(libc::SYS_io_uring_enter, 426),
        call(libc::SYS_io_uring_register, 427),
        // Its flags are in memory, where a filter does not see them.
        call(libc::SYS_clone3, 435),
    ]
}

/// Calls that fail for lack of a permission.
pub(super) fn refused(permissions: &Permissions, is_of_32_bits: bool) -> Vec<Call> {
    let mut calls = system();
    if !permissions.processes {
        calls.extend(processes());
    }
    calls.extend(network(permissions.network));
    if !permissions.network {
        calls.extend(datagrams(is_of_32_bits));
    }
    calls
}

/// Calls that change the system as a whole, or that are there for few programs and have had many faults.
fn system() -> Vec<Call> {
    const TIOCSTI: u32 = 0x5412;
    const TIOCLINUX: u32 = 0x541c;
    let namespaces = |argument, others: &[u32]| {
        let bits = [
            libc::CLONE_NEWNS,
            libc::CLONE_NEWCGROUP,
            libc::CLONE_NEWUTS,
            libc::CLONE_NEWIPC,
            libc::CLONE_NEWUSER,
            libc::CLONE_NEWPID,
            libc::CLONE_NEWNET,
        ];
        let bits: Vec<u32> = bits.into_iter().map(|bit| bit as u32).chain(others.iter().copied()).collect();
        bits.into_iter().map(move |bit| vec![Is::Bits(argument, bit, bit)])
    };
    vec![
        call(libc::SYS_add_key, 286),
        call(libc::SYS_request_key, 287),
        call(libc::SYS_keyctl, 288),
        call(libc::SYS_userfaultfd, 374),
        call(libc::SYS_bpf, 357),
        call(libc::SYS_perf_event_open, 336),
        call(libc::SYS_fanotify_init, 338),
        call(libc::SYS_open_by_handle_at, 342),
        call(libc::SYS_pidfd_getfd, 438),
        call(libc::SYS_mount, 21),
        old(22),
        call(libc::SYS_umount2, 52),
        call(libc::SYS_pivot_root, 217),
        call(libc::SYS_chroot, 61),
        call(libc::SYS_open_tree, 428),
        call(libc::SYS_move_mount, 429),
        call(libc::SYS_fsopen, 430),
        call(libc::SYS_fsconfig, 431),
        call(libc::SYS_fsmount, 432),
        call(libc::SYS_fspick, 433),
        call(libc::SYS_mount_setattr, 442),
        // `open_tree_attr` has this number everywhere.
        call(467, 467),
        call(libc::SYS_swapon, 87),
        call(libc::SYS_swapoff, 115),
        call(libc::SYS_unshare, 310).whens(namespaces(0, &[0x80])),
        call(libc::SYS_clone, 120).whens(namespaces(0, &[])),
        // `setns` itself is refused later (`seccomp::last`).
        old(346),
        call(libc::SYS_init_module, 128),
        call(libc::SYS_finit_module, 350),
        call(libc::SYS_delete_module, 129),
        call(libc::SYS_kexec_load, 283),
        call(libc::SYS_kexec_file_load, None::<u32>),
        call(libc::SYS_reboot, 88),
        call(libc::SYS_sethostname, 74),
        call(libc::SYS_setdomainname, 121),
        old(25),
        call(libc::SYS_settimeofday, 79),
        call(libc::SYS_clock_settime, 264),
        old(404),
        call(libc::SYS_clock_adjtime, 343),
        old(405),
        call(libc::SYS_adjtimex, 124),
        call(libc::SYS_acct, 51),
        call(libc::SYS_quotactl, 131),
        call(libc::SYS_quotactl_fd, 443),
        call(only_x86!(SYS_iopl), 110),
        call(only_x86!(SYS_ioperm), 101),
        call(libc::SYS_syslog, 103),
        call(libc::SYS_vhangup, 111),
        call(libc::SYS_ioctl, 54).when(vec![Is::Equal(1, TIOCSTI)]).when(vec![Is::Equal(1, TIOCLINUX)]),
    ]
}

/// Calls on other processes. Signals and tracing are Landlock's.
fn processes() -> Vec<Call> {
    const PRIO_PROCESS: u32 = 0;
    const IOPRIO_WHO_PROCESS: u32 = 1;
    let other = |call: Call| call.when(vec![Is::Other(0, 0)]);
    vec![
        other(call(libc::SYS_prlimit64, 340)),
        other(call(libc::SYS_sched_setaffinity, 241)),
        other(call(libc::SYS_sched_setscheduler, 156)),
        other(call(libc::SYS_sched_setparam, 154)),
        other(call(libc::SYS_sched_setattr, 351)),
        other(call(libc::SYS_migrate_pages, 294)),
        other(call(libc::SYS_move_pages, 317)),
        call(libc::SYS_setpriority, 97).when(vec![Is::Other(0, PRIO_PROCESS)]).when(vec![Is::Other(1, 0)]),
        call(libc::SYS_ioprio_set, 289).when(vec![Is::Other(0, IOPRIO_WHO_PROCESS)]).when(vec![Is::Other(1, 0)]),
    ]
}

/// Calls that reach beyond the processes of the program by sockets. With `is_allowed`, only sockets of unusual kinds
/// are refused.
fn network(is_allowed: bool) -> Vec<Call> {
    const UNIX: u32 = libc::AF_UNIX as u32;
    const NETLINK: u32 = libc::AF_NETLINK as u32;
    const KIND: u32 = 0xf;
    let socket = call(libc::SYS_socket, 359);
    if is_allowed {
        let [internet, internet6] = [libc::AF_INET as u32, libc::AF_INET6 as u32];
        let others = [UNIX, internet, internet6, NETLINK].map(|family| Is::Other(0, family)).to_vec();
        let raw = |kind: i32| vec![Is::Other(0, NETLINK), Is::Bits(1, KIND, kind as u32)];
        // Netlink tells a program about the addresses of this machine by its first protocol.
        let netlink = vec![Is::Equal(0, NETLINK), Is::Other(2, 0)];
        // Old programs of 32 bits make all sockets by one call, with arguments in memory.
        return vec![socket.whens([others, raw(libc::SOCK_RAW), raw(10), netlink])];
    }
    // A pair of datagram sockets could send to any socket that has a path.
    let streams = [libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32];
    let kinds = (0..=KIND).filter(|kind| !streams.contains(kind)).map(|kind| vec![Is::Bits(1, KIND, kind)]);
    vec![
        socket,
        call(libc::SYS_socketpair, 360).when(vec![Is::Other(0, UNIX)]).whens(kinds),
        call(libc::SYS_bind, 361),
        call(libc::SYS_connect, 362),
        call(libc::SYS_listen, 363),
    ]
}

/// Calls by which a pair of datagram sockets could be made, or could send to a socket that has a path.
///
/// Programs of 32 bits make sockets by one call with arguments in memory, which a filter does not see, so they can make
/// such a pair; they need it. So nothing that descends from them may send with an address, by either convention. Other
/// programs, which may mix both, cannot make the pair.
fn datagrams(is_of_32_bits: bool) -> Vec<Call> {
    const SOCKETCALL: u32 = 102;
    // `socket`, `bind`, `connect`, `listen`; `socketpair`; `sendto`, `sendmsg`, `sendmmsg`.
    let (never, pair, sends) = ([1, 2, 3, 4], [8], [11, 16, 20]);
    let refused = |numbers: &[u32]| numbers.iter().map(|&number| vec![Is::Equal(0, number)]).collect::<Vec<_>>();
    let socketcall = old(SOCKETCALL).whens(refused(&never)).whens(refused(&sends));
    let [sendto, sendmsg, sendmmsg] = [libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg];
    match is_of_32_bits {
        true => {
            vec![socketcall, call(sendto, 369).when(vec![Is::Other(4, 0)]), call(sendmsg, 370), call(sendmmsg, 345)]
        }
        false => vec![socketcall.whens(refused(&pair)), old(369).when(vec![Is::Other(4, 0)]), old(370), old(345)],
    }
}
