//! The messages between the harness and the guard: records of one layout, each in one message of a socket.

use std::os::fd::RawFd;
use std::time::Duration;
use std::{mem, ptr};

use super::process::Used;
use crate::limits::Limits;
use crate::watch::Excess;

/// A request to the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Run the program once, and end the processes that it has left.
    Run(Limits),
    /// Start the program and let it run on.
    Start,
    /// End the processes that a run has left; the program itself runs on.
    Sweep,
}

/// Reasons why a program was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Exceeded(Excess),
    /// The harness has gone.
    Gone,
}

/// The guard's answer.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Report {
    /// The program's process.
    pub(super) process: libc::pid_t,
    /// Error number by which it could not be executed; 0 if it was.
    pub(super) errno: i32,
    /// Its status as `wait` returns it.
    pub(super) status: i32,
    /// Reason why it was ended, if it was.
    pub(super) reason: Option<Reason>,
    pub(super) wall: Duration,
    pub(super) user: Duration,
    pub(super) system: Duration,
    /// The peak of its resident memory in bytes.
    pub(super) peak: u64,
}

impl Report {
    pub(super) fn set(&mut self, status: i32, used: &Used) {
        self.status = status;
        (self.user, self.system, self.peak) = (used.user, used.system, used.peak);
    }

    /// Sends it. Returns true if it was sent.
    pub(super) fn send(self, socket: RawFd) -> bool {
        send(socket, self)
    }

    /// Returns the report that has come; `None` if the guard has gone.
    pub(super) fn receive(socket: RawFd) -> Option<Report> {
        // SAFETY: the guard is this program, and sends its reports.
        unsafe { receive(socket) }
    }
}

impl Request {
    /// Sends it. Returns true if it was sent.
    pub(super) fn send(self, socket: RawFd) -> bool {
        send(socket, self)
    }

    pub(super) fn receive(socket: RawFd) -> Option<Request> {
        // SAFETY: the harness is this program, and sends its requests.
        unsafe { receive(socket) }
    }
}

fn send<T: Copy>(socket: RawFd, message: T) -> bool {
    // SAFETY: the bytes of a live value.
    let sent = unsafe { libc::send(socket, ptr::from_ref(&message).cast(), mem::size_of::<T>(), libc::MSG_NOSIGNAL) };
    sent == mem::size_of::<T>() as isize
}

/// # Safety
///
/// The socket must carry only values of this type.
unsafe fn receive<T: Copy>(socket: RawFd) -> Option<T> {
    let mut message = mem::MaybeUninit::<T>::uninit();
    loop {
        // SAFETY: room for one message.
        let received = unsafe { libc::recv(socket, message.as_mut_ptr().cast(), mem::size_of::<T>(), 0) };
        if received == mem::size_of::<T>() as isize {
            // SAFETY: all bytes are there, and they are a value (this function's contract).
            return Some(unsafe { message.assume_init() });
        }
        if received >= 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return None;
        }
    }
}
