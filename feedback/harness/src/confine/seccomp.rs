//! Filters of system calls (seccomp). They are inherited, and a process cannot take them off.
//!
//! The crate `seccompiler` makes filters for the machine's own calls, each with one answer. It ends a program that
//! calls by another convention, such as one of 32 bits; ours let that pass, to a filter of its own (`foreign`).
//!
//! The kernel needs time to install such filters. So the guard installs them for itself, once, and each
//! new process adds a small one (`last`) for the call that the guard needs.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::Permissions;
use super::calls::{self, Call, Is};

/// A filter that the kernel can take.
pub(crate) type Filter = Vec<libc::sock_filter>;

/// `SECCOMP_FILTER_FLAG_SPEC_ALLOW`: keeps the program as fast as without a filter. Its memory has no secrets that
/// speculation could reveal.
const SPEC_ALLOW: libc::c_ulong = 4;
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const ERRNO: u32 = 0x0005_0000;
const AUDIT_I386: u32 = 0x4000_0003;
/// Offsets in the data that a filter sees.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// Returns the offset of the lower half of an argument, on machines that begin with it.
const fn argument(number: u8) -> u32 {
    16 + 8 * number as u32
}
/// Calls of x32 have numbers from here on.
const X32: u32 = 0x4000_0000;

/// Returns how a filter can be made for this machine.
fn target() -> Option<TargetArch> {
    std::env::consts::ARCH.try_into().ok()
}

/// Returns true if the kernel has filters, and they can be made for this machine.
pub(super) fn is_offered() -> bool {
    const GET_ACTION_AVAIL: libc::c_ulong = 2;
    let action = ERRNO;
    // SAFETY: a pointer to a live value.
    let found = unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0 as libc::c_ulong, &raw const action) };
    found == 0 && target().is_some()
}

/// Makes the filters for a program on a machine that has them ([`is_offered`]).
pub(super) fn filters(
    permissions: &Permissions,
    is_of_32_bits: bool,
) -> Result<Vec<Filter>, seccompiler::BackendError> {
    let (missing, refused) = (calls::missing(), calls::refused(permissions, is_of_32_bits));
    let target = std::env::consts::ARCH.try_into()?;
    Ok(vec![
        native(&missing, libc::ENOSYS, target)?,
        native(&refused, libc::EPERM, target)?,
        foreign(&missing, &refused),
    ])
}

/// Returns a filter that refuses calls of this machine's own convention.
fn native(calls: &[Call], errno: i32, target: TargetArch) -> Result<Filter, seccompiler::BackendError> {
    let condition = |is: &Is| {
        let (argument, operator, value) = match *is {
            Is::Equal(argument, value) => (argument, SeccompCmpOp::Eq, value),
            Is::Other(argument, value) => (argument, SeccompCmpOp::Ne, value),
            Is::Bits(argument, mask, value) => (argument, SeccompCmpOp::MaskedEq(mask.into()), value),
        };
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value.into())
    };
    let mut rules = std::collections::BTreeMap::new();
    for call in calls {
        let Some(number) = call.native else { continue };
        let mut chain = Vec::new();
        for conditions in &call.when {
            chain.push(SeccompRule::new(conditions.iter().map(condition).collect::<Result<_, _>>()?)?);
        }
        rules.insert(number, chain);
    }
    let refuse = SeccompAction::Errno(errno as u32);
    let filter: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refuse, target)?.try_into()?;
    let filter: Vec<sock_filter> = filter;
    let mut filter: Filter = filter.into_iter().map(|step| step_of(step.code, step.jt, step.jf, step.k)).collect();
    spare_others(&mut filter);
    Ok(filter)
}

/// Lets calls by other conventions pass, for which the filter would end the program.
fn spare_others(filter: &mut Filter) {
    if is_check_of_convention(filter) {
        filter[2].k = ALLOW;
    }
}

/// Returns true if a filter begins with a check that ends programs that call by another convention.
fn is_check_of_convention(filter: &[libc::sock_filter]) -> bool {
    let [load, compare, end, ..] = filter else { return false };
    (load.code, load.k) == (LOAD, ARCHITECTURE)
        && (compare.code, compare.jt, compare.jf) == (JUMP_EQUAL, 1, 0)
        && (end.code, end.k) == (RETURN, KILL_PROCESS)
}

fn step_of(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn step(code: u16, k: u32) -> libc::sock_filter {
    step_of(code, 0, 0, k)
}

/// Returns this machine's own convention, as filters see it.
const fn audit_value() -> u32 {
    match () {
        () if cfg!(target_arch = "x86_64") => 0xc000_003e,
        () if cfg!(target_arch = "aarch64") => 0xc000_00b7,
        () => 0xc000_00f3,
    }
}

/// Returns a filter for calls by other conventions than this machine's own: those of x32 are not there; those of i386
/// are refused like the machine's own; all others are refused.
fn foreign(missing: &[Call], refused: &[Call]) -> Filter {
    let mut filter = vec![
        step(LOAD, ARCHITECTURE),
        step_of(JUMP_EQUAL, 0, 4, audit_value()),
        step(LOAD, NUMBER),
        step_of(JUMP_AT_LEAST, 0, 1, if cfg!(target_arch = "x86_64") { X32 } else { u32::MAX }),
        step(RETURN, ERRNO | libc::ENOSYS as u32),
        step(RETURN, ALLOW),
        step_of(JUMP_EQUAL, 1, 0, if cfg!(target_arch = "x86_64") { AUDIT_I386 } else { 0 }),
        step(RETURN, ERRNO | libc::EPERM as u32),
        step(LOAD, NUMBER),
    ];
    for (calls, errno) in [(missing, libc::ENOSYS), (refused, libc::EPERM)] {
        for call in calls {
            if let Some(number) = call.i386 {
                append(&mut filter, number, &call.when, errno as u32);
            }
        }
    }
    filter.push(step(RETURN, ALLOW));
    filter
}

/// Refuses a call by its number, which is loaded.
fn append(filter: &mut Filter, number: u32, when: &[Vec<Is>], errno: u32) {
    let refuse = step(RETURN, ERRNO | errno);
    let mut body = Vec::new();
    for conditions in when {
        let len = |is: &Is| if matches!(is, Is::Bits(..)) { 3 } else { 2 };
        // Steps of the rest of this rule, its end included.
        let mut left = conditions.iter().map(len).sum::<u8>() + 1;
        for is in conditions {
            left -= len(is);
            match *is {
                Is::Equal(number, value) => {
                    body.extend([step(LOAD, argument(number)), step_of(JUMP_EQUAL, 0, left, value)]);
                }
                Is::Other(number, value) => {
                    body.extend([step(LOAD, argument(number)), step_of(JUMP_EQUAL, left, 0, value)]);
                }
                Is::Bits(number, mask, value) => {
                    let test = [step(LOAD, argument(number)), step(AND, mask), step_of(JUMP_EQUAL, 0, left, value)];
                    body.extend(test);
                }
            }
        }
        body.push(refuse);
    }
    body.push(if when.is_empty() { refuse } else { step(RETURN, ALLOW) });
    let len = u8::try_from(body.len()).expect("a call has few rules");
    filter.push(step_of(JUMP_EQUAL, 0, len, number));
    filter.extend(body);
}

/// Returns a filter that refuses what the guard needs and the program does not: entering namespaces.
pub(super) fn last() -> Filter {
    vec![
        step(LOAD, ARCHITECTURE),
        step_of(JUMP_EQUAL, 1, 0, audit_value()),
        step(RETURN, ALLOW),
        step(LOAD, NUMBER),
        step_of(JUMP_EQUAL, 0, 1, libc::SYS_setns as u32),
        step(RETURN, ERRNO | libc::EPERM as u32),
        step(RETURN, ALLOW),
    ]
}

/// Installs a filter for this process and those that it will start. Returns whether that was possible.
///
/// Makes system calls alone, so that a new process which shares the memory of its parent can do it.
pub(crate) fn install(filter: &Filter) -> bool {
    const SET_MODE_FILTER: libc::c_ulong = 1;
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: a pointer to a live value with a pointer to that many steps, which the kernel only reads.
    let install = |flags: libc::c_ulong| unsafe {
        libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const program) == 0
    };
    install(SPEC_ALLOW) || install(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_let_calls_by_other_conventions_pass_to_the_filter_for_them() {
        let target = target().expect("a machine that is known");
        let rules = [(libc::SYS_socket, Vec::new())].into();
        let refuse = SeccompAction::Errno(1);
        let filter: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refuse, target)
            .and_then(TryInto::try_into)
            .expect("a filter");
        let filter: Filter = filter.into_iter().map(|step| step_of(step.code, step.jt, step.jf, step.k)).collect();
        assert!(is_check_of_convention(&filter), "seccompiler makes other filters than it did");
        assert_eq!(filter[1].k, audit_value());
        for filter in &filters(&Permissions::default(), false).expect("filters")[..2] {
            assert_eq!((filter[2].code, filter[2].k), (RETURN, ALLOW));
        }
    }

    #[test]
    fn there_are_filters_for_all_permissions() {
        for permissions in [
            Permissions::default(),
            Permissions { network: true, ..Permissions::default() },
            Permissions { processes: true, ..Permissions::default() },
        ] {
            assert_eq!(filters(&permissions, true).expect("filters").len(), 3);
        }
    }
}
