//! The guard itself: a process between the harness and the program under test.
//!
//! It adopts the processes that the program leaves (`PR_SET_CHILD_SUBREAPER`), so it finds every process of a run and
//! ends them when the run is over. When the harness is gone, for whatever reason, the socket to it is closed, and the
//! guard ends everything.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io, ptr};

use super::launch::{Launch, Stack};
use super::message::{Reason, Report, Request};
use crate::limits::Limits;
use crate::scratch;
use crate::watch::Watch;

/// The program and the means of a guard.
pub(super) struct Guarded {
    pub(super) launch: Launch,
    /// Descriptor that requests come from.
    pub(super) control: RawFd,
    /// The folder to remove in the end: where it was made, and a descriptor of it.
    pub(super) path: PathBuf,
    pub(super) folder: OwnedFd,
}

/// Serves requests until the harness has gone.
pub(super) fn serve(mut guarded: Guarded) -> ! {
    settle(&guarded);
    let is_scoped = guarded.launch.confine_guard();
    let guarded = &guarded;
    let mut guard = Process { guarded, stack: Stack::new(), is_scoped, server: None };
    while let Some(request) = guard.request() {
        let report = match request {
            Request::Run(limits) => guard.run(&limits),
            Request::Start => guard.start(),
            Request::Sweep => match guard.sweep() {
                Some((process, status)) => Report { process, status, ..Report::default() },
                None => Report::default(),
            },
        };
        if !report.send(guarded.control) {
            break;
        }
    }
    guard.end_all();
    let _ = scratch::remove(&guarded.path, &guarded.folder);
    // SAFETY: ends the process without the handlers that the harness has registered for its own end.
    unsafe { libc::_exit(0) }
}

/// Leaves the terminal's and the harness's affairs.
fn settle(guarded: &Guarded) {
    // SAFETY: system calls without pointers, or with pointers to live values.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    let own = [guarded.control, guarded.folder.as_raw_fd()];
    let mut kept: Vec<RawFd> = guarded.launch.descriptors().chain(own).collect();
    kept.sort_unstable();
    // Other descriptors of the harness are closed here: another guard's socket, for one.
    let mut first = 0;
    for descriptor in kept.into_iter().chain([RawFd::MAX]) {
        if descriptor > first {
            // SAFETY: closes descriptors that this process does not use.
            unsafe { libc::syscall(libc::SYS_close_range, first as u32, descriptor as u32 - 1, 0u32) };
        }
        first = descriptor.saturating_add(1);
    }
}

struct Process<'g> {
    guarded: &'g Guarded,
    stack: Stack,
    is_scoped: bool,
    /// A program that runs on between requests.
    server: Option<libc::pid_t>,
}

impl Process<'_> {
    /// Returns the next request; `None` when the harness has gone.
    fn request(&mut self) -> Option<Request> {
        Request::receive(self.guarded.control)
    }

    /// Starts a program that runs on.
    fn start(&mut self) -> Report {
        self.end_all();
        match self.guarded.launch.start(&mut self.stack) {
            Ok(process) => {
                self.server = Some(process);
                // It alone holds its ends of pipes, so they are closed when it has gone.
                for descriptor in self.guarded.launch.descriptors() {
                    // SAFETY: this process starts no other program, and ends by `_exit`, so nothing closes them again.
                    unsafe { libc::close(descriptor) };
                }
                Report { process, ..Report::default() }
            }
            Err(error) => failed(&error),
        }
    }

    /// Runs the program once.
    fn run(&mut self, limits: &Limits) -> Report {
        let mut watch = Watch::new(&self.guarded.path.join("tmp"), limits);
        let begin = Instant::now();
        watch.begin(begin);
        let process = match self.guarded.launch.start(&mut self.stack) {
            Ok(process) => process,
            Err(error) => return failed(&error),
        };
        let ended = self.wait(process, &mut watch, begin, limits);
        let mut report = Report { process, ..Report::default() };
        let (status, usage) = match ended {
            Ok(ended) => ended,
            Err(reason) => {
                report.reason = Some(reason);
                // All of them before anything is waited for, as the others may go on forking.
                self.kill_all();
                wait_for(process, 0).unwrap_or_default()
            }
        };
        report.wall = begin.elapsed();
        report.set(status, &usage);
        self.end_all();
        report
    }

    /// Waits for the end of the process, or for the reason to end it.
    fn wait(&self, process: libc::pid_t, watch: &mut Watch, begin: Instant, limits: &Limits) -> Result<Ended, Reason> {
        let found = |most| descendants(own(), most).into_iter().map(|found| found.process).collect();
        // SAFETY: a system call without pointers.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0u32) } as RawFd;
        let result = loop {
            if let Some(ended) = wait_for(process, libc::WNOHANG) {
                break Ok(ended);
            }
            let mut polled = [poll_of(pidfd, libc::POLLIN), poll_of(self.guarded.control, 0)];
            poll(&mut polled, if pidfd < 0 { Duration::from_micros(200) } else { watch.wait(limits, begin.elapsed()) });
            if polled[1].revents != 0 {
                break Err(Reason::Gone);
            }
            if polled[0].revents == 0
                && let Some(excess) = watch.exceeded(limits, begin.elapsed(), process, found)
            {
                break Err(Reason::Exceeded(excess));
            }
        };
        if pidfd >= 0 {
            // SAFETY: opened above.
            unsafe { libc::close(pidfd) };
        }
        result
    }

    /// Ends the processes that a run has left, but not the program that runs on; returns its process and status if it
    /// has ended.
    fn sweep(&mut self) -> Option<(libc::pid_t, i32)> {
        let Some(server) = self.server else {
            self.end_all();
            return None;
        };
        for _ in 0..1000 {
            while let Some((process, status, ..)) = wait_any() {
                if process == server {
                    self.end_all();
                    return Some((process, status));
                }
            }
            // Children of this process that were not waited for, so the numbers are still theirs.
            let left: Vec<libc::pid_t> = children(own()).into_iter().filter(|&child| child != server).collect();
            if left.is_empty() {
                break;
            }
            for child in left {
                // SAFETY: a system call without pointers.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
        }
        None
    }

    /// Ends every process that descends from this one, and waits for that.
    fn end_all(&mut self) {
        self.server = None;
        for round in 0..10_000u32 {
            while wait_any().is_some() {}
            if !has_children() {
                return;
            }
            self.kill_all();
            if round > 3 {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }

    /// Sends SIGKILL to every process that descends from this one.
    fn kill_all(&self) {
        if self.is_scoped {
            // SAFETY: a system call without pointers. Within its scope it reaches those that descend from this process,
            // all in one step, so none of them can fork meanwhile.
            unsafe { libc::kill(-1, libc::SIGKILL) };
            return;
        }
        // A process that is stopped forks no more; those that it had forked before are found in the next round.
        let mut stopped: Vec<Descendant> = Vec::new();
        loop {
            let found = descendants(own(), usize::MAX);
            let running: Vec<Descendant> = found.into_iter().filter(|process| !stopped.contains(process)).collect();
            if running.is_empty() {
                break;
            }
            running.iter().for_each(|process| process.signal(libc::SIGSTOP));
            stopped.extend(running);
        }
        stopped.iter().for_each(|process| process.signal(libc::SIGKILL));
    }
}

/// A status and the resources that the process has used.
type Ended = (i32, Used);

/// `rusage`, as far as it is reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub(super) user: Duration,
    pub(super) system: Duration,
    pub(super) peak: u64,
}

fn failed(error: &io::Error) -> Report {
    Report { errno: error.raw_os_error().unwrap_or(libc::EIO), ..Report::default() }
}

/// Waits for one process; `None` if it still runs.
fn wait_for(process: libc::pid_t, options: i32) -> Option<Ended> {
    waited(process, options).map(|(_, status, used)| (status, used))
}

/// Waits for any process that has ended.
fn wait_any() -> Option<(libc::pid_t, i32, Used)> {
    waited(-1, libc::WNOHANG)
}

fn waited(process: libc::pid_t, options: i32) -> Option<(libc::pid_t, i32, Used)> {
    let mut status = 0;
    // SAFETY: zeroes are a value of this type.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let ended = loop {
        // SAFETY: pointers to live values.
        let ended = unsafe { libc::wait4(process, &mut status, options | libc::__WALL, &mut usage) };
        match ended {
            1.. => break ended,
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    };
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    let used = Used { user: time(usage.ru_utime), system: time(usage.ru_stime), peak: usage.ru_maxrss as u64 * 1024 };
    Some((ended, status, used))
}

/// Returns true if there is a child that was not waited for.
fn has_children() -> bool {
    // SAFETY: zeroes are a value of this type, and the pointer is to a live one.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        libc::waitid(libc::P_ALL, 0, &mut info, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT) == 0
    }
}

/// A process that descends from this one, and its parent when it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descendant {
    pub(super) process: libc::pid_t,
    parent: libc::pid_t,
}

impl Descendant {
    /// Signals it, if it is still the process that was found, and not another one that has its number now.
    pub(super) fn signal(self, signal: i32) {
        // SAFETY: system calls without pointers, or with a null one; the descriptor has no other owner.
        unsafe {
            let pidfd = libc::syscall(libc::SYS_pidfd_open, self.process, 0u32) as RawFd;
            if pidfd < 0 {
                return;
            }
            // Looked at while the descriptor is open, so both are about one process. Whoever loses its parent is this
            // one's child.
            let parent = parent_of(self.process);
            if parent == Some(self.parent) || parent == Some(own()) {
                libc::syscall(libc::SYS_pidfd_send_signal, pidfd, signal, ptr::null::<libc::siginfo_t>(), 0u32);
            }
            libc::close(pidfd);
        }
    }
}

/// Returns the parent of a process.
fn parent_of(process: libc::pid_t) -> Option<libc::pid_t> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name, in parentheses, can have anything in it.
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Returns the processes that descend from one, or as many of them.
pub(super) fn descendants(root: libc::pid_t, most: usize) -> Vec<Descendant> {
    let children = |parent| children(parent).into_iter().map(move |process| Descendant { process, parent });
    let (mut open, mut found): (Vec<Descendant>, Vec<Descendant>) = (children(root).collect(), Vec::new());
    while let Some(child) = open.pop() {
        found.push(child);
        if found.len() >= most {
            break;
        }
        open.extend(children(child.process));
    }
    found
}

fn own() -> libc::pid_t {
    std::process::id() as libc::pid_t
}

/// Returns the children of a process: those of each of its threads.
fn children(process: libc::pid_t) -> Vec<libc::pid_t> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return found };
    for thread in threads.flatten() {
        let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(text.split_ascii_whitespace().filter_map(|child| child.parse::<libc::pid_t>().ok()));
    }
    found
}

/// Returns true if there is no such process.
pub(crate) fn has_ended(process: libc::pid_t) -> bool {
    // SAFETY: a system call without pointers, which sends no signal.
    unsafe { libc::kill(process, 0) < 0 && *libc::__errno_location() == libc::ESRCH }
}

/// Returns true if there is such a process, and it is a child of another one: numbers of processes are used again.
pub(crate) fn is_child(process: libc::pid_t, parent: libc::pid_t) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let field = text.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
    field.and_then(|field| field.parse().ok()) == Some(parent)
}

/// Returns true if a signal has stopped the process, and nothing lets it go on.
pub(crate) fn is_stopped(process: libc::pid_t) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

/// Returns true if the process has ended, whether it was waited for or not.
pub(crate) fn is_gone(process: libc::pid_t) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    text.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// Returns the processor time of a process, and of its children for which it has waited; `None` if it has ended.
pub(crate) fn used(process: libc::pid_t) -> Option<Duration> {
    // The kernel's number for the clock of all threads of a process (`make_process_cpuclock` in posix-timers.h).
    const SCHEDULED: libc::clockid_t = 2;
    let clock = (!process << 3) | SCHEDULED;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a pointer to a live value.
    if unsafe { libc::clock_gettime(clock, &mut time) } < 0 {
        return None;
    }
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let of_children = text.rsplit_once(')').map_or(0, |(_, rest)| {
        rest.split_ascii_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
    });
    // SAFETY: a system call without pointers.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    let own = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
    Some(own + Duration::from_millis(of_children.saturating_mul(1000) / per_second))
}

/// Returns the resident memory of a process in bytes; 0 if it has ended.
pub(crate) fn resident(process: libc::pid_t) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages = text.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    // SAFETY: a system call without pointers.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64
}

fn poll_of(fd: RawFd, events: i16) -> libc::pollfd {
    libc::pollfd { fd, events, revents: 0 }
}

fn poll(polled: &mut [libc::pollfd], time: Duration) {
    let time = libc::timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    // SAFETY: pointers to live values.
    unsafe { libc::ppoll(polled.as_mut_ptr(), polled.len() as u64, &time, ptr::null()) };
}
