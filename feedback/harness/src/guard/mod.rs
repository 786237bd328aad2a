//! Processes of the program under test, none of which outlives its run.

mod launch;
mod message;
mod process;

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, ptr};

pub(crate) use launch::{Launch, Parts, find};
use message::{Reason, Report, Request};
pub(crate) use process::{has_ended, is_child, is_gone, is_stopped, resident, used};

use crate::error::Error;
use crate::interrupt::is_interrupted;
use crate::limits::Limits;
use crate::run::{Captured, Outcome, Usage};
use crate::scratch::Scratch;

/// A process that starts the program under test, and ends all processes that the program leaves, also if this process
/// is killed.
pub(crate) struct Guard {
    control: OwnedFd,
    process: libc::pid_t,
    /// The program that runs on; 0 if there is none.
    server: libc::pid_t,
    /// The kernel's list of the guard's children, once it was asked for.
    children: Option<File>,
    program: PathBuf,
    /// This process is root, and the program runs without the privileges of that.
    is_stripped: bool,
    streams: Streams,
}

/// The ends of the program's output that are read.
pub(crate) struct Streams {
    descriptors: [OwnedFd; 2],
    /// Standard output and standard error.
    pub(crate) captured: [Captured; 2],
    buffer: Box<[u8]>,
}

impl Guard {
    /// Starts a guard for the program, which gets two pipes as its output. In the end the guard removes the folder
    /// of `scratch`.
    pub(crate) fn new(mut parts: Parts, scratch: &Scratch) -> Result<Guard, Error> {
        let program = parts.program.clone();
        let is_stripped = parts.rules.as_ref().is_some_and(|rules| rules.is_root && !rules.keeps_privileges);
        let (streams, [stdout, stderr]) = Streams::new()?;
        parts.descriptors.extend([(stdout, 1), (stderr, 2)]);
        let launch = Launch::new(parts)?;
        let (path, folder) = scratch.folder()?;
        let folder = launch::raised(folder)?;
        let (control, theirs) = sockets()?;
        // SAFETY: the new process goes on with `serve` alone, which allocates (the C library keeps its allocator
        // usable) and takes no lock that another thread may hold.
        let process = unsafe { libc::fork() };
        match process {
            -1 => Err(Error::last("a process cannot be made")),
            0 => process::serve(process::Guarded { launch, control: theirs.as_raw_fd(), path, folder }),
            _ => Ok(Guard { control, process, server: 0, children: None, program, is_stripped, streams }),
        }
    }

    /// Returns the output of the program in the last run.
    pub(crate) fn captured(&self) -> &[Captured; 2] {
        &self.streams.captured
    }

    /// Begins to run the program once.
    pub(crate) fn begin(&mut self, limits: &Limits) -> Result<(), Error> {
        self.streams.clear();
        self.send(Request::Run(*limits))
    }

    /// Waits for the end of the run.
    pub(crate) fn end_of_run(&mut self, limits: &Limits) -> Result<(Outcome, Usage), Error> {
        let Limits { longest, kept_output, .. } = *limits;
        if !self.streams.read_until(self.control.as_raw_fd(), Some(longest.saturating_add(GRACE)), kept_output) {
            if !is_interrupted() {
                // The program has stopped it.
                self.end();
            }
            return Err(Error::Guard);
        }
        let report = self.receive()?;
        self.streams.read_rest(kept_output);
        let outcome = match report.reason {
            Some(Reason::Exceeded(excess)) => excess.outcome(),
            Some(Reason::Gone) | None => outcome_of(report.status),
        };
        let (cpu, peak_memory) = (Some(report.user + report.system), Some(report.peak));
        let usage = Usage { wall: report.wall, cpu, peak_memory, ..Usage::default() };
        Ok((outcome, usage))
    }

    /// Starts the program and lets it run on. Returns its process.
    pub(crate) fn start(&mut self) -> Result<libc::pid_t, Error> {
        self.send(Request::Start)?;
        self.server = self.receive()?.process;
        Ok(self.server)
    }

    /// Returns the process of the program that runs on.
    pub(crate) fn server(&self) -> libc::pid_t {
        self.server
    }

    /// Kills a process that the program that runs on has started, if it is one.
    pub(crate) fn kill(&self, process: libc::pid_t) {
        let found = process::descendants(self.process, usize::MAX);
        if let Some(found) = found.into_iter().find(|found| found.process == process) {
            found.signal(libc::SIGKILL);
        }
    }

    /// Ends the processes that a run has left; the program itself runs on. Returns the program's own status if it has
    /// ended.
    pub(crate) fn sweep(&mut self) -> Result<Option<i32>, Error> {
        self.send(Request::Sweep)?;
        self.receive().map(|report| (report.process != 0).then_some(report.status))
    }

    /// Returns the program's processes, or as many of them.
    pub(crate) fn processes(&self, most: usize) -> Vec<libc::pid_t> {
        process::descendants(self.process, most).into_iter().map(|descendant| descendant.process).collect()
    }

    /// Returns true if there may be processes that runs of the program have left, beside the program itself.
    pub(crate) fn has_leftovers(&mut self) -> bool {
        let file = match self.children.take() {
            Some(file) => Ok(file),
            None => File::open(format!("/proc/{0}/task/{0}/children", self.process)),
        };
        let Ok(file) = file else { return true };
        // The guard has one thread, and one child, unless others were left to it.
        let mut found = [0; 32];
        let got = file.read_at(&mut found, 0);
        self.children = Some(file);
        got.map_or(true, |got| found[..got].split(|&byte| byte == b' ').filter(|child| !child.is_empty()).count() > 1)
    }

    /// Returns the output of the program.
    pub(crate) fn streams(&mut self) -> &mut Streams {
        &mut self.streams
    }

    fn send(&self, request: Request) -> Result<(), Error> {
        if request.send(self.control.as_raw_fd()) { Ok(()) } else { Err(Error::Guard) }
    }

    fn receive(&self) -> Result<Report, Error> {
        let report = Report::receive(self.control.as_raw_fd()).ok_or(Error::Guard)?;
        if report.errno != 0 {
            let source = io::Error::from_raw_os_error(report.errno);
            let source = match source.kind() {
                io::ErrorKind::PermissionDenied if self.is_stripped => io::Error::new(
                    source.kind(),
                    format!("{source}; it has no privileges although gramjet is root: `--allow privileges` keeps them"),
                ),
                _ => source,
            };
            return Err(Error::Program { program: self.program.clone(), source });
        }
        Ok(report)
    }
}

impl Guard {
    /// Ends the guard at once.
    fn end(&self) {
        // SAFETY: a child of this process that was not waited for, so the number is still its own.
        unsafe { libc::kill(self.process, libc::SIGKILL) };
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: shuts down a socket that this process has open; the guard ends then, also if the program has stopped
        // it.
        unsafe {
            libc::shutdown(self.control.as_raw_fd(), libc::SHUT_RDWR);
            libc::kill(self.process, libc::SIGCONT);
            libc::waitpid(self.process, ptr::null_mut(), 0);
        }
    }
}

/// A guard may take this long to answer, beyond the limit on the program: it ends all processes of the run first.
const GRACE: Duration = Duration::from_secs(30);
/// Time after which it is seen that runs were interrupted.
const SLICE: Duration = Duration::from_millis(50);
/// The most reads from a stream at one time: one takes the default capacity of a pipe.
const READS: usize = 16;

/// Returns the outcome that a status means.
pub(crate) fn outcome_of(status: i32) -> Outcome {
    if libc::WIFSIGNALED(status) {
        Outcome::Signal(libc::WTERMSIG(status))
    } else {
        Outcome::Exit(libc::WEXITSTATUS(status))
    }
}

impl Streams {
    /// Returns the ends that are read, and those that the program writes to.
    fn new() -> Result<(Streams, [OwnedFd; 2]), Error> {
        let ((stdout, to_stdout), (stderr, to_stderr)) = (pipe_from_program()?, pipe_from_program()?);
        let captured = [Captured::default(), Captured::default()];
        let buffer = vec![0; 1 << 16].into_boxed_slice();
        Ok((Streams { descriptors: [stdout, stderr], captured, buffer }, [to_stdout, to_stderr]))
    }

    pub(crate) fn clear(&mut self) {
        self.captured.iter_mut().for_each(Captured::clear);
    }

    /// Reads what the program writes until `other` can be read, and all that was written before that; returns whether
    /// `other` can be read, which may not be before `time` has passed, or before all runs were interrupted.
    pub(crate) fn read_until(&mut self, other: RawFd, time: Option<Duration>, kept: usize) -> bool {
        let begin = Instant::now();
        loop {
            let poll_of = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            let mut polled =
                [poll_of(other), poll_of(self.descriptors[0].as_raw_fd()), poll_of(self.descriptors[1].as_raw_fd())];
            // A program that writes without end must not put the end off.
            let left = time.map(|time| time.saturating_sub(begin.elapsed()));
            let left = left.map_or(SLICE, |left| left.min(SLICE));
            let left = libc::timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            // SAFETY: pointers to live values.
            unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as u64, ptr::from_ref(&left), ptr::null()) };
            let is_over = polled[0].revents != 0;
            for stream in 0..2 {
                let is_there = polled[stream + 1].revents & libc::POLLIN != 0;
                // The same call sees output that was written before `other` could be read.
                let reads = if is_over { READS } else { 1 };
                if is_there {
                    let _ = (0..reads).take_while(|_| self.read(stream, kept)).count();
                }
            }
            if is_over {
                return true;
            }
            if time.is_some_and(|time| begin.elapsed() >= time) || is_interrupted() {
                return false;
            }
        }
    }

    /// Reads the available bytes.
    pub(crate) fn read_rest(&mut self, kept: usize) {
        for stream in 0..2 {
            let _ = (0..READS).take_while(|_| self.read(stream, kept)).count();
        }
    }

    /// Reads once; whether there was something.
    fn read(&mut self, stream: usize, kept: usize) -> bool {
        let descriptor = self.descriptors[stream].as_raw_fd();
        // SAFETY: the buffer has that many bytes.
        let read = unsafe { libc::read(descriptor, self.buffer.as_mut_ptr().cast(), self.buffer.len()) };
        let Ok(read @ 1..) = usize::try_from(read) else { return false };
        self.captured[stream].take(&self.buffer[..read], kept);
        true
    }
}

/// Returns true if there is something to read, or the other end is gone.
pub(crate) fn has_input(descriptor: &OwnedFd) -> bool {
    let mut polled = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: a pointer to a live value.
    unsafe { libc::poll(&mut polled, 1, 0) != 0 }
}

/// Makes a pipe from the program: the end that the harness reads, which does not block, and the end for the program.
pub(crate) fn pipe_from_program() -> Result<(OwnedFd, OwnedFd), Error> {
    let (read, written) = pipe()?;
    unblock(&read)?;
    Ok((read, written))
}

/// Makes a pipe to the program: the end for the program, and the end that the harness writes, which does not block. The
/// program can write to the pipe, too, and fill it up.
pub(crate) fn pipe_to_program() -> Result<(OwnedFd, OwnedFd), Error> {
    let (read, written) = pipe()?;
    unblock(&written)?;
    Ok((read, written))
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Error> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which have no other owner.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(Error::last("a pipe cannot be made"));
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Makes operations on one end of a pipe fail that would have to wait.
fn unblock(end: &OwnedFd) -> Result<(), Error> {
    // SAFETY: a system call without pointers.
    let result = unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    if result < 0 { Err(Error::last("a pipe cannot be set up")) } else { Ok(()) }
}

fn sockets() -> Result<(OwnedFd, OwnedFd), Error> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which have no other owner.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) < 0 {
            return Err(Error::last("a socket cannot be made"));
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Returns a path that does not depend on the folder that the process is in.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
