//! The limits on a run that are looked at while it goes on: time, processes, memory, files, and whether it has stopped.

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
    /// Whether the main process was found stopped when it was looked at last.
    was_stopped: bool,
    /// Time when all processes are looked at next, and the time from then to the look after it.
    walk: Instant,
    until_next: Duration,
    /// Time when the present run was looked at first, and the processor time of its main process up to then.
    base: Option<(Instant, Duration)>,
}

impl Watch {
    /// Begins to watch runs that write to this folder.
    pub(crate) fn new(folder: &Path, limits: &Limits) -> Watch {
        let disk = Disk::new(folder, limits.disk);
        Watch { disk, was_stopped: false, walk: Instant::now() + FIRST_WALK, until_next: FIRST_WALK, base: None }
    }

    /// Begins to watch the next run.
    pub(crate) fn begin(&mut self, now: Instant) {
        (self.was_stopped, self.walk, self.until_next) = (false, now + FIRST_WALK, FIRST_WALK);
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
        let most = limits.processes as usize;
        let is_too_large = |memory: u64| limits.memory.is_some_and(|limit| memory > limit);
        let was_stopped = std::mem::replace(&mut self.was_stopped, is_stopped(main));
        // Something may have let it go on.
        if was_stopped && self.was_stopped {
            return Some(Excess::Stopped);
        }
        let used_before = self.used_before(elapsed, main);
        if elapsed >= limits.time {
            let found = processes(most + 1);
            // It may wait for a process that has stopped.
            if found.iter().any(|&process| is_stopped(process)) {
                return Some(Excess::Stopped);
            }
            if elapsed >= limits.longest || is_spent(limits, used_before, main, &found) {
                return Some(Excess::Time);
            }
        }
        if is_too_large(resident(main)) {
            return Some(Excess::Memory);
        }
        let now = Instant::now();
        if now < self.walk {
            return None;
        }
        self.until_next = (2 * self.until_next).min(WALK);
        self.walk = now + self.until_next;
        let found = processes(most + 1);
        match () {
            () if found.len() > most => Some(Excess::Processes),
            () if is_too_large(found.iter().map(|&process| resident(process)).sum::<u64>() + in_memory(&found)) => {
                Some(Excess::Memory)
            }
            () if self.disk.is_exceeded(&found) => Some(Excess::Disk),
            () => None,
        }
    }

    /// Returns the processor time that the main process had used when this run was looked at first: a process that
    /// takes many inputs has used some before.
    fn used_before(&mut self, elapsed: Duration, main: libc::pid_t) -> Duration {
        let now = Instant::now();
        // Where runs go on one after the other, nobody says when one begins.
        let is_of_run = |&(at, _): &(Instant, Duration)| now.checked_sub(elapsed).is_none_or(|begun| begun <= at);
        if let Some((_, before)) = self.base.filter(is_of_run) {
            return before;
        }
        let before = used(main).unwrap_or_default();
        self.base = Some((now, before));
        before
    }
}

/// Returns true if the processes of a run have used its time, apart from what the main one had used before.
fn is_spent(limits: &Limits, before: Duration, main: libc::pid_t, found: &[libc::pid_t]) -> bool {
    // Without the time of a process there is only the clock.
    let Some(own) = used(main) else { return true };
    let others = found.iter().filter(|&&process| process != main).filter_map(|&process| used(process));
    own.saturating_sub(before) + others.sum::<Duration>() >= limits.time
}

/// Returns how long to wait before a run is looked at that has taken so long.
pub(crate) fn until_look(limits: &Limits, elapsed: Duration) -> Duration {
    if elapsed < limits.time { (limits.time - elapsed).min(TICK) } else { TICK }
}
