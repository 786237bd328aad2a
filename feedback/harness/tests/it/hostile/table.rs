//! The attacks: what each is called in the programs, on which kinds of target it applies, and how it may end.

use gramjet_harness::Outcome;

use super::kinds::{ALL, C, FRESH, IN_MEMORY, Kind};

/// An outcome that is right.
#[derive(Clone, Copy, Debug)]
pub(super) enum Right {
    Exit(i32),
    Signal(i32),
    Timeout,
    Memory,
    Processes,
    Disk,
    Stopped,
    Lost,
    Exception,
    /// The attack is on its own process, whose end may be any.
    Any,
}

use Right::{Any, Disk, Exception, Exit, Lost, Memory, Processes, Signal, Stopped, Timeout};

/// Exit statuses by which the programs say that they could do what they must not, or that they do not know the attack.
const BREACHES: std::ops::RangeInclusive<i32> = 76..=79;

impl Right {
    fn is(self, outcome: &Outcome) -> bool {
        match self {
            Exit(status) => *outcome == Outcome::Exit(status),
            Signal(number) => *outcome == Outcome::Signal(number),
            Timeout => *outcome == Outcome::Timeout,
            Memory => *outcome == Outcome::Memory,
            Processes => *outcome == Outcome::Processes,
            Disk => *outcome == Outcome::Disk,
            Stopped => *outcome == Outcome::Stopped,
            Lost => *outcome == Outcome::Lost,
            Exception => matches!(outcome, Outcome::Exception(_)),
            Any => !matches!(outcome, Outcome::Exit(status) if BREACHES.contains(status)),
        }
    }
}

/// Harm that an attack may do to the next input, on targets that do not end all processes after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum After {
    /// Nothing.
    Nothing,
    /// Output, as it has closed or changed what the process goes on with.
    Output,
    /// Edges and output, as a process that it leaves counts, reads and writes until the guard looks: within 50 ms.
    Counts,
    /// For as long its outcome, too: what is left reads or answers what the process that goes on should, or counts as
    /// its processes.
    Outcome,
    /// All of it, until the process that takes many inputs has ended because of what the attack has done to it.
    Process,
}

/// An attack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// The number that the programs get with the name.
    pub(super) much: u32,
    /// The number in a long run.
    pub(super) much_in_long: u32,
    pub(super) kinds: &'static [Kind],
    /// Whether only a limit ends it, so that the limit on time is short.
    pub(super) is_endless: bool,
    pub(super) after: After,
    rights: &'static [Right],
    /// Right results on targets that take many inputs in one process, if they are others.
    rights_in_process: Option<&'static [Right]>,
}

impl Attack {
    pub(super) fn is_right(&self, kind: Kind, outcome: &Outcome) -> bool {
        let in_process = self.rights_in_process.filter(|_| kind.is_one_process());
        in_process.unwrap_or(self.rights).iter().any(|right| right.is(outcome))
    }

    pub(super) fn input(&self) -> String {
        format!("{} {}", self.name, self.much)
    }

    pub(super) fn input_in_long(&self) -> String {
        format!("{} {}", self.name, self.much_in_long)
    }

    const fn much(mut self, much: u32) -> Attack {
        self.much = much;
        self.much_in_long = much;
        self
    }

    const fn much_in_long(mut self, much: u32) -> Attack {
        self.much_in_long = much;
        self
    }

    const fn on(mut self, kinds: &'static [Kind]) -> Attack {
        self.kinds = kinds;
        self
    }

    const fn stays(mut self) -> Attack {
        self.after = After::Output;
        self
    }

    const fn leaves(mut self) -> Attack {
        self.after = After::Counts;
        self
    }

    const fn meddles(mut self) -> Attack {
        self.after = After::Outcome;
        self
    }

    const fn spoils_process(mut self) -> Attack {
        self.after = After::Process;
        self
    }

    /// Sets the ways in which it may end in a process that takes many inputs.
    const fn in_process(mut self, rights: &'static [Right]) -> Attack {
        self.rights_in_process = Some(rights);
        self
    }
}

/// Returns an attack that ends by itself.
const fn quick(name: &'static str, rights: &'static [Right]) -> Attack {
    Attack {
        name,
        much: 0,
        much_in_long: 0,
        kinds: ALL,
        is_endless: false,
        after: After::Nothing,
        rights,
        rights_in_process: None,
    }
}

/// Returns an attack that ends with a limit.
const fn endless(name: &'static str, rights: &'static [Right]) -> Attack {
    let mut attack = quick(name, rights);
    attack.is_endless = true;
    attack
}

const DONE: &[Right] = &[Exit(0)];
/// Other processes may have had all time.
const SLOW: &[Right] = &[Exit(0), Timeout];
const OWN: &[Right] = &[Any];

pub(super) const ATTACKS: &[Attack] = &[
    // The input.
    quick("input_remove", DONE),
    quick("input_link", DONE),
    quick("input_link_locked", DONE),
    quick("input_link_dangling", DONE),
    quick("input_immutable", DONE),
    quick("input_rename", DONE),
    quick("input_second_name", DONE),
    quick("input_mode", DONE),
    quick("input_folder", DONE),
    quick("input_fifo", DONE),
    quick("input_device", DONE),
    quick("input_victim", DONE),
    quick("input_written", DONE),
    quick("input_lease", DONE).leaves(),
    quick("input_race", DONE).leaves(),
    // The temporary folder.
    quick("folder_race", DONE).leaves(),
    quick("folder_mode", DONE),
    quick("folder_remove", DONE),
    quick("folder_rename", DONE),
    quick("folder_left", DONE).stays(),
    quick("folders_deep", SLOW).much(2000).much_in_long(20_000),
    quick("names", DONE),
    quick("kinds_of_files", DONE),
    quick("many_files", SLOW).much(500).much_in_long(20_000),
    quick("disk_filled", &[Disk]).much(100),
    quick("disk_filled_without_names", &[Disk]).much(100).on(FRESH),
    quick("disk_filled_by_one_left", DONE).much(100).meddles(),
    quick("sparse_file", DONE).stays(),
    // Files outside.
    quick("outside_made", DONE),
    quick("outside_written", DONE),
    quick("outside_removed", DONE),
    quick("outside_moved_in", DONE),
    quick("outside_by_link", DONE),
    quick("outside_mode", DONE),
    quick("outside_owner", DONE),
    quick("outside_times", DONE),
    quick("outside_attributes", DONE),
    quick("outside_anywhere", DONE),
    quick("outside_by_proc", DONE),
    quick("outside_by_handle", DONE),
    // Processes that stop.
    quick("stop_self", &[Stopped]),
    quick("stop_by_terminal", &[Stopped, Exit(0)]),
    quick("stop_from_terminal", &[Stopped, Exit(0)]),
    quick("stop_in_thread", &[Stopped]),
    quick("stop_child", DONE).meddles(),
    endless("stop_child_and_wait", &[Timeout, Stopped]),
    quick("stop_by_child", &[Stopped, Timeout]),
    // Processes that are left, and many of them.
    endless("fork_bomb", &[Processes, Timeout]).in_process(&[Processes, Timeout, Memory]),
    quick("fork_comet", DONE).meddles(),
    quick("daemon", DONE).leaves(),
    quick("daemons", DONE).leaves(),
    endless("daemons_and_wait", &[Timeout]),
    endless("vfork", &[Timeout]),
    quick("clones", DONE).on(FRESH).leaves(),
    quick("exit_from_thread", &[Exit(5)]),
    quick("exit_after_main_thread", &[Exit(6)]).on(FRESH),
    quick("threads", DONE).on(FRESH),
    quick("death_signal", DONE).leaves(),
    quick("subreaper", DONE).leaves(),
    quick("names_of_processes", DONE).leaves(),
    quick("arguments", DONE).leaves(),
    endless("exec_without_end", &[Timeout]).in_process(&[Timeout, Lost]),
    quick("exec_of_another", OWN),
    // Signals.
    endless("handlers", &[Timeout]),
    endless("handler_of_faults", &[Timeout]).in_process(OWN).on(C),
    quick("alarm", &[Signal(14)]).in_process(OWN),
    endless("blocked_signals", &[Timeout]),
    quick("kill_harness", DONE),
    quick("kill_victim", DONE),
    quick("kill_group", &[Signal(9), Lost]),
    quick("kill_parent", &[Exit(0), Lost, Signal(9)]),
    quick("kill_ancestors", &[Exit(0), Lost, Signal(9)]),
    quick("kill_all", &[Exit(0), Lost, Signal(9)]),
    quick("kill_by_descriptor", DONE),
    // The state of other processes, and its own.
    quick("limits_of_others", &[Exit(0), Lost, Signal(9)]),
    quick("affinity_of_others", DONE),
    quick("priority_of_others", DONE),
    quick("ptrace_victim", DONE),
    quick("ptrace_harness", DONE),
    quick("ptrace_parent", &[Exit(0), Lost, Timeout]),
    quick("memory_of_victim", DONE),
    quick("memory_of_harness", DONE),
    quick("oom_score", DONE),
    quick("real_time", DONE),
    quick("locked_memory", DONE).on(C),
    quick("own_limits", DONE).on(FRESH),
    quick("core_dump", &[Signal(6)]),
    // Output.
    quick("output_escapes", DONE),
    quick("output_huge", SLOW).much(16),
    endless("output_without_end", &[Timeout]),
    quick("output_closed", DONE).stays().on(C),
    quick("output_not_blocking", DONE),
    quick("output_stolen", DONE).leaves(),
    quick("output_late", DONE).leaves(),
    quick("terminal", DONE),
    quick("kernel_log", DONE),
    // Memory and descriptors.
    endless("memory_filled", &[Memory, Timeout]).much(100).in_process(&[Memory, Timeout, Exception]),
    endless("memory_filled_by_children", &[Memory, Timeout]),
    endless("memory_filled_without_pages", &[Memory, Timeout, Exit(0)]).much(24).on(FRESH),
    quick("stack", &[Signal(11)]).in_process(OWN),
    quick("descriptors_filled", DONE).on(FRESH),
    quick("descriptors_closed", DONE).in_process(OWN),
    quick("descriptors_closed_but_output", DONE).in_process(OWN),
    quick("descriptors_kept", DONE).leaves(),
    quick("protocol_words", OWN).spoils_process(),
    quick("protocol_half", OWN).spoils_process(),
    quick("protocol_half", OWN).much(1).spoils_process(),
    quick("protocol_flood", OWN).spoils_process(),
    quick("protocol_closed", OWN).spoils_process(),
    // Where a request is lost, time passes until the limit.
    endless("protocol_read", OWN).meddles(),
    quick("protocol_words_later", OWN).meddles(),
    quick("protocol_sent", DONE),
    // What is shared with the harness. In languages, counters of edges that were not met yet are not looked at.
    quick("shared_truncated", OWN),
    quick("shared_sealed", OWN),
    quick("shared_extended", OWN),
    quick("shared_emptied", OWN),
    quick("shared_written", OWN).on(C),
    quick("shared_written", OWN).on(IN_MEMORY).spoils_process(),
    quick("shared_written", OWN).much(1).on(C),
    quick("shared_written", OWN).much(1).on(IN_MEMORY).spoils_process(),
    quick("shared_written_later", OWN).meddles(),
    quick("map_removed", OWN).spoils_process(),
    quick("map_protected", OWN).spoils_process(),
    quick("map_overwritten", OWN).on(C),
    quick("map_overwritten", OWN).on(IN_MEMORY).spoils_process(),
    quick("map_overwritten", OWN).much(1).on(C),
    quick("map_overwritten", OWN).much(1).on(IN_MEMORY).spoils_process(),
    quick("map_replaced", OWN).on(FRESH),
    quick("overflow", OWN).much(200).on(C),
    quick("overflow", OWN).much(5000).on(C),
    quick("overflow", OWN).much(100_000).on(C),
    quick("overflow", OWN).much(40_000_000).on(C),
    quick("underflow", OWN).much(5000).on(C),
    quick("underflow", OWN).much(40_000_000).on(C),
    quick("own_memory_by_proc", DONE),
    // Sockets.
    quick("tcp", DONE),
    quick("mptcp", DONE),
    quick("udp", DONE),
    quick("udp_without_connection", DONE),
    quick("tcp_fast_open", DONE),
    quick("tcp_6", DONE),
    quick("listen", DONE),
    quick("other_protocols", DONE),
    quick("unix_path", DONE),
    quick("unix_path_datagram", DONE),
    quick("unix_abstract", DONE),
    quick("unix_link", DONE),
    quick("socket_pair", DONE),
    // The rest of the machine.
    quick("io_uring", DONE),
    quick("keys", DONE),
    quick("userfaultfd", DONE),
    quick("bpf", DONE),
    quick("mount", DONE),
    quick("namespaces", DONE),
    quick("namespaces_of_others", DONE),
    quick("chroot", DONE),
    quick("clock", DONE),
    quick("kernel", DONE),
    quick("identity", DONE),
    quick("capabilities", DONE),
    quick("left_objects", DONE),
    quick("watches", SLOW),
    quick("calls_of_32_bits", DONE),
    quick("calls_of_x32", DONE),
    // What the languages can do themselves.
    quick("language_process", DONE).on(IN_MEMORY).leaves(),
    quick("language_fork", DONE).on(&[Kind::Python]).leaves(),
    quick("language_threads", DONE).on(IN_MEMORY),
    quick("language_signals", DONE).on(&[Kind::Python, Kind::Node]),
    quick("language_files", &[Exit(0), Exception]).on(IN_MEMORY),
    quick("language_descriptors", OWN).on(&[Kind::Python, Kind::Node]),
    quick("language_streams", DONE).on(&[Kind::Python, Kind::Java]).stays(),
    quick("language_exit", &[Exit(5)]).on(IN_MEMORY),
];
