//! Processor cores: those that may be used, those that are free, and threads that stay on one.
//!
//! A program that is run again and again and the thread that runs it take turns. Processes that wait for each other are
//! woken faster on the same core than on another one.

use std::{fs, io, mem};

use crate::error::Error;

/// Returns the cores that this thread may use, in ascending order; none where the kernel does not say.
pub(crate) fn allowed() -> Vec<usize> {
    // SAFETY: zeroes are a value of this type, and the pointer is to a live one.
    let set = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Vec::new();
        }
        set
    };
    // SAFETY: numbers within the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// Returns the set of cores that the kernel takes; `None` for an empty one.
pub(crate) fn set(cores: &[usize]) -> Option<libc::cpu_set_t> {
    // SAFETY: zeroes are a value of this type; numbers beyond the set are left out.
    let set = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        cores.iter().filter(|&&core| core < libc::CPU_SETSIZE as usize).for_each(|&core| libc::CPU_SET(core, &mut set));
        set
    };
    (!cores.is_empty()).then_some(set)
}

/// Returns the cores that this thread may use and that no other process is bound to, as other fuzzers are.
pub fn free_cores() -> Vec<usize> {
    let mut free = allowed();
    let own = std::process::id().to_string();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        if name.to_str().is_none_or(|name| name == own || !name.starts_with(|first: char| first.is_ascii_digit())) {
            continue;
        }
        let status = fs::read_to_string(process.path().join("status")).unwrap_or_default();
        if let Some(core) = only_core(&status) {
            free.retain(|&known| known != core);
        }
    }
    free
}

/// Returns the core that a process is bound to, by its file `status`. Threads of the kernel, which have no memory, do
/// not count.
fn only_core(status: &str) -> Option<usize> {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    value("VmSize:")?;
    value("Cpus_allowed_list:")?.parse().ok()
}

/// Keeps this thread on one core from now on, and the processes that it starts, unless they have cores of their own.
///
/// # Errors
///
/// If the thread may not use that core.
pub fn stay_on(core: usize) -> Result<(), Error> {
    let what = "a thread cannot be kept on one core";
    let set = set(&[core]).ok_or(Error::System { what, source: io::Error::from(io::ErrorKind::InvalidInput) })?;
    // SAFETY: a pointer to a live value.
    let result = unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) };
    if result < 0 { Err(Error::last(what)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_are_bound_to_a_core_are_known() {
        assert_eq!(only_core("Name:\tx\nVmSize:\t  8 kB\nCpus_allowed_list:\t3\n"), Some(3));
        assert_eq!(only_core("Name:\tx\nVmSize:\t  8 kB\nCpus_allowed_list:\t0-3\n"), None);
        assert_eq!(only_core("Name:\tx\nVmSize:\t  8 kB\nCpus_allowed_list:\t0,2\n"), None);
        assert_eq!(only_core("Name:\tkthread\nCpus_allowed_list:\t3\n"), None);
    }
}
