//! The limits on a run that are looked at while it goes on: time, processes, memory, files, and whether it has stopped.

use std::mem;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::disk::{Disk, in_memory};
use crate::guard::{is_stopped, resident, used};
use crate::limits::Limits;
use crate::run::Outcome;

/// The interval at which the main process of a run is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(10);
/// Time until all of its processes are looked at first, which takes longer. They are looked at soon at first, as a
/// program that forks without end has to be found before there are thousands of them, then less and less often.
const FIRST_WALK: Duration = Duration::from_millis(5);
const WALK: Duration = Duration::from_millis(80);

/// A limit that a run has exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    Time,
    Stopped,
    Memory,
    Processes,
    Disk,
}

impl Excess {
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Excess::Time => Outcome::Timeout,
            Excess::Stopped => Outcome::Stopped,
            Excess::Memory => Outcome::Memory,
            Excess::Processes => Outcome::Processes,
            Excess::Disk => Outcome::Disk,
        }
    }
}

/// Looks at the processes of a run.
#[derive(Debug)]
pub(crate) struct Watch {
    disk: Disk,
    /// Whether the main process was found stopped when it was looked at last, and the others that were.
    was_stopped: bool,
    stopped: Vec<libc::pid_t>,
    /// Time when all processes are looked at next, and the time from then to the look after it.
    walk: Instant,
    until_next: Duration,
    /// Time when the present run was looked at first, and the processor time of its processes up to then.
    base: Option<(Instant, Duration)>,
}

impl Watch {
    /// Begins to watch runs that write to this folder.
    pub(crate) fn new(folder: &Path, limits: &Limits) -> Watch {
        Watch {
            disk: Disk::new(folder, limits.disk),
            was_stopped: false,
            stopped: Vec::new(),
            walk: Instant::now() + FIRST_WALK,
            until_next: FIRST_WALK,
            base: None,
        }
    }

    /// Begins to watch the next run.
    pub(crate) fn begin(&mut self, now: Instant) {
        (self.was_stopped, self.walk, self.until_next) = (false, now + FIRST_WALK, FIRST_WALK);
        self.stopped.clear();
        self.base = None;
    }

    /// Returns how long to wait before the next look at a run that has taken so long.
    pub(crate) fn wait(&self, limits: &Limits, elapsed: Duration) -> Duration {
        until_look(limits, elapsed).min(self.until_next)
    }

    /// Returns the limit that a run exceeds now that has taken so long. `processes` finds all of its processes, or as
    /// many of them.
    pub(crate) fn exceeded(
        &mut self,
        limits: &Limits,
        elapsed: Duration,
        main: libc::pid_t,
        processes: impl Fn(usize) -> Vec<libc::pid_t>,
    ) -> Option<Excess> {
        let (now, most) = (Instant::now(), limits.processes as usize);
        let is_too_large = |memory: u64| limits.memory.is_some_and(|limit| memory > limit);
        let was_stopped = mem::replace(&mut self.was_stopped, is_stopped(main));
        // Something may have let it go on.
        if was_stopped && self.was_stopped {
            return Some(Excess::Stopped);
        }
        // Where runs go on one after the other, nobody says when one begins.
        let is_of_run = |&(at, _): &(Instant, Duration)| now.checked_sub(elapsed).is_none_or(|begun| begun <= at);
        let base = self.base.filter(is_of_run);
        let (is_late, is_walk) = (elapsed >= limits.time.min(limits.longest), now >= self.walk);
        let found = if base.is_none() || is_late || is_walk { processes(most + 1) } else { Vec::new() };
        // Processes that take many inputs have used some time before.
        let (at, before) = base.unwrap_or_else(|| (now, used_by_all(main, &found).unwrap_or_default()));
        self.base = Some((at, before));
        if is_late && let Some(excess) = self.late(limits, elapsed, before, (main, &found)) {
            return Some(excess);
        }
        if is_too_large(resident(main)) {
            return Some(Excess::Memory);
        }
        if !is_walk {
            return None;
        }
        self.until_next = (2 * self.until_next).min(WALK);
        self.walk = now + self.until_next;
        match () {
            () if found.len() > most => Some(Excess::Processes),
            () if is_too_large(found.iter().map(|&process| resident(process)).sum::<u64>() + in_memory(&found)) => {
                Some(Excess::Memory)
            }
            () if self.disk.is_exceeded(&found) => Some(Excess::Disk),
            () => None,
        }
    }

    /// Returns the limit on time that a run exceeds, or that it waits for a process that has stopped, from its main
    /// process and all that were found.
    fn late(
        &mut self,
        limits: &Limits,
        elapsed: Duration,
        before: Duration,
        (main, found): (libc::pid_t, &[libc::pid_t]),
    ) -> Option<Excess> {
        let is_over = elapsed >= limits.longest;
        let others = found.iter().copied().filter(|&process| process != main);
        let stopped: Vec<libc::pid_t> = others.filter(|&process| is_stopped(process)).collect();
        // Something may have let them go on, too, unless this look is the last one.
        let is_waited_for = |process: &libc::pid_t| is_over || self.stopped.contains(process);
        if stopped.iter().any(is_waited_for) || is_over && self.was_stopped {
            return Some(Excess::Stopped);
        }
        self.stopped = stopped;
        // A main process that has ended has a status, which comes before the clock runs out.
        let is_spent = || used_by_all(main, found).is_some_and(|used| used.saturating_sub(before) >= limits.time);
        (is_over || is_spent()).then_some(Excess::Time)
    }
}

/// Returns the processor time that the processes of a run have used; `None` if the main one has ended. A process that
/// another one has waited for is part of that one's time.
fn used_by_all(main: libc::pid_t, found: &[libc::pid_t]) -> Option<Duration> {
    let others = found.iter().filter(|&&process| process != main).filter_map(|&process| used(process));
    Some(used(main)? + others.sum::<Duration>())
}

/// Returns how long to wait before a run is looked at that has taken so long.
pub(crate) fn until_look(limits: &Limits, elapsed: Duration) -> Duration {
    if elapsed < limits.time { (limits.time - elapsed).min(TICK) } else { TICK }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").spawn().expect("a process")
    }

    #[test]
    fn a_process_that_others_wait_for_has_to_be_stopped_for_two_looks() {
        let limits = Limits::default().with_time(Duration::from_millis(1));
        let (mut main, mut other) = (sleeper(), sleeper());
        let (process, helper) = (main.id() as libc::pid_t, other.id() as libc::pid_t);
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(helper, libc::SIGSTOP) };
        while !is_stopped(helper) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut watch = Watch::new(Path::new("/nowhere"), &limits);
        let mut look = || watch.exceeded(&limits, Duration::from_millis(2), process, |_| vec![process, helper]);
        assert_eq!([look(), look()], [None, Some(Excess::Stopped)]);
        for child in [&mut main, &mut other] {
            child.kill().and_then(|()| child.wait()).expect("an end");
        }
        // A run whose process is gone is bounded by the clock alone, whichever limit is greater.
        let mut watch = Watch::new(Path::new("/nowhere"), &limits);
        let mut look = |limits, elapsed| watch.exceeded(&limits, elapsed, process, |_| Vec::new());
        assert_eq!(look(limits, Duration::from_millis(2)), None);
        assert_eq!(look(limits, limits.longest), Some(Excess::Time));
        let short = limits.with_time(Duration::from_secs(9)).with_longest(Duration::from_millis(2));
        assert_eq!(look(short, Duration::from_millis(2)), Some(Excess::Time));
    }

    #[test]
    fn time_that_processes_have_used_before_does_not_count() {
        let limits = Limits::default().with_time(Duration::from_millis(1));
        let mut helper = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a process");
        let process = helper.id() as libc::pid_t;
        while used(process).is_none_or(|used| used < Duration::from_millis(50)) {
            std::thread::sleep(Duration::from_millis(1));
        }
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(process, libc::SIGSTOP) };
        while !is_stopped(process) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut main = sleeper();
        let number = main.id() as libc::pid_t;
        let mut watch = Watch::new(Path::new("/nowhere"), &limits);
        assert_eq!(watch.exceeded(&limits, Duration::from_millis(2), number, |_| vec![number, process]), None);
        for child in [&mut main, &mut helper] {
            child.kill().and_then(|()| child.wait()).expect("an end");
        }
    }
}
