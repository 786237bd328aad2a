//! The protocol on the two pipes of a fork server: words of four bytes.
//!
//! First comes a handshake, ours or one of AFL++'s two (up to 4.09, and from 4.10 on). Then each run is three words.
//! The first, to the program, says whether the last process was killed. The program answers with its process, and with
//! its status when it has ended or stopped.
//!
//! Before a status our fork server writes what the run has used to shared memory (`counters.rs`), if the harness has
//! asked for it and the program's run time can tell it.
//!
//! A process of ours that takes many inputs answers itself: with the status of a process that SIGSTOP has stopped. The
//! next run has no word for the process then, as it is the same. Where it takes inputs ahead (`ahead.rs`), it answers
//! once there are no more.

/// The file descriptor from which a program reads requests; it writes answers to the next one.
pub(super) const CONTROL: i32 = 198;
/// The file descriptor of the counters of our instrumentation.
pub(super) const MAP: i32 = 196;
/// The file descriptor of what our instrumentation tells of the program.
pub(super) const CONTROL_MAP: i32 = 197;
/// The file descriptor of the input, where it comes by shared memory.
pub(super) const INPUT: i32 = 195;

/// The first word of our instrumentation; the last byte is the version.
pub(super) const GREETING: u32 = 0x474a_5203;
/// The first three bytes of AFL++'s first word, from 4.10 on; the last byte is the version.
pub(super) const AFL_GREETING: u32 = 0x4146_4c00;
pub(super) const AFL_VERSION: u32 = 1;

/// Our instrumentation takes the input from shared memory.
pub(super) const SHARED_INPUT: u32 = 1;

/// Our instrumentation lets processes that take many inputs answer themselves.
pub(super) const ANSWERS_ITSELF: u32 = 2;
/// They take inputs ahead.
pub(super) const TAKES_AHEAD: u32 = 4;
/// Our instrumentation tells what each run has used.
pub(super) const TELLS_USAGE: u32 = 8;
/// The answer of a process that takes many inputs.
pub(super) const HAS_RUN: u32 = (libc::SIGSTOP as u32) << 8 | 0x7f;

/// The features that AFL++ offers, from 4.10 on.
pub(super) mod new {
    pub(crate) const MAP_SIZE: u32 = 1;
    pub(crate) const SHARED_INPUT: u32 = 2;
    pub(crate) const DICTIONARY: u32 = 0x800;
    pub(crate) const ERROR: u32 = 0xeffe_0000;
}

/// The features that AFL++ offers, up to 4.09.
pub(super) mod old {
    pub(crate) const ENABLED: u32 = 0x8000_0001;
    pub(crate) const MAP_SIZE: u32 = 0x4000_0000;
    pub(crate) const SHARED_INPUT: u32 = 0x0100_0000;
    pub(crate) const ERROR: u32 = 0xf800_008f;

    /// Returns the number of counters.
    pub(crate) fn map_size(word: u32) -> usize {
        ((word & 0x00ff_fffe) >> 1) as usize + 1
    }
}

/// Returns the reason why AFL++'s run time could not begin, by its error number.
pub(super) fn afl_error(word: u32) -> String {
    match (word & 0x00ff_ff00) >> 8 {
        1 => "has more counters than its run time was given room for (AFL_MAP_SIZE)".into(),
        2 => "was built for a map of counters at a fixed address that is not free".into(),
        4 | 8 | 16 => "could not attach the shared memory".into(),
        code => format!("reported error {code} of AFL++'s run time"),
    }
}
