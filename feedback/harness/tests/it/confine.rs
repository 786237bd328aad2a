//! Confinement: what a program is refused, by which part, and which permission lets it.

use std::io::Read;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process};
use std::time::Duration;
use std::{env, fs};

use gramjet_harness::{
    Command, Confinement, ForkServer, Limits, Outcome, Permission, Program, Target, instrumentation, offered,
    protections, refusal,
};

use crate::kit::{compiled, everywhere, is_root, place};

const EPERM: i32 = 1;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const EROFS: i32 = 30;
const ENOSYS: i32 = 38;

/// Attempts at what a program needs, which are allowed.
const NEEDED: [&str; 8] = ["own-file", "own-mode", "own-limit", "own-cores", "thread", "fork", "pair", "memory"];

const NETWORK: [(&str, i32); 7] = [
    ("tcp", EPERM),
    ("tcp6", EPERM),
    ("udp", EPERM),
    ("netlink", EPERM),
    ("unix", EPERM),
    ("unix-path", EPERM),
    ("unix-abstract", EPERM),
];
/// Refused with `Permission::Network`, too, except for one who is root with all privileges.
const UNUSUAL: [&str; 3] = ["raw", "packet", "vsock"];
const PROCESSES: [(&str, i32); 7] = [
    ("signal", EPERM),
    ("limit", EPERM),
    ("cores", EPERM),
    ("scheduler", EPERM),
    ("priority", EPERM),
    ("priority-of-user", EPERM),
    ("io-priority", EPERM),
];
const SYSTEM: [(&str, i32); 22] = [
    ("io_uring", ENOSYS),
    ("clone3", ENOSYS),
    ("keys", EPERM),
    ("add-key", EPERM),
    ("userfaultfd", EPERM),
    ("bpf", EPERM),
    ("perf", EPERM),
    ("mount", EPERM),
    ("umount", EPERM),
    ("chroot", EPERM),
    ("fsopen", EPERM),
    ("unshare", EPERM),
    ("unshare-user", EPERM),
    ("clone", EPERM),
    ("setns", EPERM),
    ("swapon", EPERM),
    ("module", EPERM),
    ("reboot", EPERM),
    ("hostname", EPERM),
    ("clock", EPERM),
    ("handle", EPERM),
    ("type-ahead", EPERM),
];
const METADATA: [(&str, i32); 4] = [("chmod", EROFS), ("utimes", EROFS), ("chown", EROFS), ("xattr", EROFS)];
const FILES: [(&str, i32); 2] = [("write", EACCES), ("truncate", EACCES)];
/// By the conventions of 32 bits, from a program of 64.
const OLD: [(&str, i32); 9] = [
    ("old-tcp", EPERM),
    ("old-socketcall", EPERM),
    ("old-pair", EPERM),
    ("old-limit", EPERM),
    ("old-io_uring", ENOSYS),
    ("old-clone3", ENOSYS),
    ("old-keys", EPERM),
    ("old-priority-of-user", EPERM),
    ("old-unshare", EPERM),
];

/// Things outside of the program: a file, sockets, a process and memory.
struct Outside {
    folder: PathBuf,
    process: Child,
    segment: i32,
    _listeners: [UnixListener; 2],
    _datagrams: UnixDatagram,
}

impl Outside {
    fn new() -> Outside {
        let folder = env::temp_dir().join("outside");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("file"), "precious").expect("a file");
        let name = format!("gramjet-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name).expect("a name");
        let listeners = [
            UnixListener::bind(folder.join("socket")).expect("a socket"),
            UnixListener::bind_addr(&address).expect("a socket"),
        ];
        // SAFETY: a system call without pointers.
        let segment = unsafe { libc::shmget(libc::IPC_PRIVATE, 4096, libc::IPC_CREAT | 0o600) };
        let process = Process::new("sleep").arg("1000").spawn().expect("a process");
        let datagrams = UnixDatagram::bind(folder.join("datagrams")).expect("a socket");
        Outside { folder, process, segment, _listeners: listeners, _datagrams: datagrams }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("file")
    }

    fn program(&self, path: &Path, permissions: &[Permission]) -> Program {
        let none: [&str; 0] = [];
        let program = Program::new(path, none).expect("the program");
        let program = permissions.iter().cloned().fold(program, Program::allow);
        program
            .limits(Limits::default().with_time(Duration::from_secs(20)))
            .variable("OUTSIDE", self.file())
            .variable("SOCKET", self.folder.join("socket"))
            .variable("DATAGRAMS", self.folder.join("datagrams"))
            .variable("ABSTRACT", format!("gramjet-test-{}", std::process::id()))
            .variable("OTHER", self.process.id().to_string())
            .variable("SEGMENT", self.segment.to_string())
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        // SAFETY: removes the segment that was made above.
        unsafe { libc::shmctl(self.segment, libc::IPC_RMID, std::ptr::null_mut()) };
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns what a program is told that tries something.
fn told(target: &mut impl Target, attempt: &str) -> i32 {
    let number = raw(target, attempt);
    // Landlock and the namespace of mounts refuse these, and give their own errors.
    if number == EROFS && FILES.iter().any(|&(file, _)| file == attempt) { EACCES } else { number }
}

/// Returns the error number that a program writes.
fn raw(target: &mut impl Target, attempt: &str) -> i32 {
    let run = target.run(attempt.as_bytes()).expect("a run");
    assert_eq!(run.outcome, Outcome::Exit(0), "{attempt}");
    let number = String::from_utf8_lossy(&run.stdout.bytes).parse().expect("a number");
    assert_ne!(number, 9999, "{attempt} is not known");
    number
}

fn assert_told(target: &mut impl Target, expected: &[(&str, i32)], about: &str) {
    for &(attempt, error) in expected {
        assert_eq!(told(target, attempt), error, "{about}: {attempt}");
    }
}

/// Returns the attempts that this kernel can refuse.
fn refused(kinds: &[&[(&'static str, i32)]]) -> Vec<(&'static str, i32)> {
    kinds.concat()
}

/// Returns true if the kernel enforces the protection that this permission switches off.
fn enforces(permission: &str) -> bool {
    let is_it = |protection: &gramjet_harness::Protection| protection.permission == Some(permission);
    let is_enforced = protections().iter().filter(|protection| is_it(protection)).all(|found| found.by.is_ok());
    if !is_enforced {
        eprintln!("not run: tests of what `{permission}` switches off, which this kernel does not enforce");
    }
    is_enforced
}

fn check_reach(programs: &[PathBuf]) {
    let outside = Outside::new();
    let everything = refused(&[&NETWORK, &PROCESSES, &SYSTEM, &FILES]);
    for path in programs {
        let about = kind_of(path);
        let target = |program: Program| -> Box<dyn FnMut(&str) -> i32> {
            match about {
                "a fork server" => {
                    let mut target = ForkServer::new(program).expect("a target");
                    Box::new(move |attempt| told(&mut target, attempt))
                }
                _ => {
                    let mut target = Command::new(program).expect("a target");
                    Box::new(move |attempt| told(&mut target, attempt))
                }
            }
        };
        let mut confined = target(outside.program(path, &[]));
        let mut free = target(outside.program(path, &[]).confinement(Confinement::Unconfined));
        for needed in NEEDED {
            assert_eq!(confined(needed), 0, "{about}: {needed}");
        }
        let enforced = enforces("network") && enforces("processes") && enforces("write=DIR");
        for (attempt, error) in everything.iter().copied().filter(|_| enforced) {
            assert_eq!(confined(attempt), error, "{about}: {attempt}");
            // Others than root may not do some of these in any case.
            if is_root() || !SYSTEM.contains(&(attempt, error)) && attempt != "raw" {
                assert_ne!(free(attempt), error, "{about}, unconfined: {attempt}");
            }
        }
        for unusual in UNUSUAL.into_iter().chain(["mptcp", "datagram-pair"]) {
            assert_eq!(confined(unusual), EPERM, "{about}: {unusual}");
        }
        assert_eq!(free("datagram-pair"), 0, "{about}, unconfined");
        if enforces("metadata") {
            for (attempt, error) in METADATA {
                assert_eq!(confined(attempt), error, "{about}: {attempt}");
                assert_eq!(free(attempt), 0, "{about}, unconfined: {attempt}");
            }
        }
        if enforces("ipc") {
            assert_eq!((confined("others-memory"), free("others-memory")), (EINVAL, 0), "{about}");
        }
        assert_eq!((confined("capabilities"), confined("groups")), (0, 0), "{about}");
        assert_eq!(free("capabilities"), if is_root() { EPERM } else { 0 }, "{about}");
        if about == "64 bits" && cfg!(target_arch = "x86_64") {
            assert_eq!(confined("old-getpid"), 0);
            for (attempt, error) in OLD {
                assert_eq!(confined(attempt), error, "{attempt}");
                if is_root() {
                    assert_ne!(free(attempt), error, "unconfined: {attempt}");
                }
            }
            assert_eq!(confined("x32"), ENOSYS);
        }
        if about == "32 bits" {
            assert_eq!(confined("old-socketcall"), EPERM);
            assert_ne!(free("old-socketcall"), EPERM);
        }
    }
    let file = fs::File::open(outside.file()).and_then(|mut file| file.read_to_string(&mut String::new()));
    // Only programs that are free have cut it.
    assert_eq!(file.expect("the file"), 0);
}

/// Returns the kind of a probe.
fn kind_of(path: &Path) -> &'static str {
    let is_of_32_bits = fs::read(path).expect("the program")[4] == 1;
    match instrumentation(path).expect("the program").by {
        Some(_) => "a fork server",
        None if is_of_32_bits => "32 bits",
        None => "64 bits",
    }
}

/// Returns the probe for 64 bits, with a fork server, and for 32 bits, where it can be built.
fn probes() -> Vec<PathBuf> {
    let mut probes = vec![compiled("reach", &["-pthread"])];
    probes.extend(crate::fork_server::own("reach"));
    let old = Process::new("cc").args(["-m32", "-x", "c", "-", "-o", "/dev/null"]).stdin(main_of_c()).output();
    if old.is_ok_and(|output| output.status.success()) {
        probes.push(compiled("reach", &["-pthread", "-m32"]));
    } else if cfg!(target_arch = "x86_64") {
        gramjet_needs::lacks_for_a_part("a compiler for 32 bits");
    }
    probes
}

fn main_of_c() -> fs::File {
    let path = place("programs").join("main.c");
    fs::write(&path, "#include <stdio.h>\nint main(void) { return 0; }\n").expect("a file");
    fs::File::open(path).expect("the file")
}

#[test]
fn a_program_reaches_nothing_but_its_own() {
    everywhere("confine::a_program_reaches_nothing_but_its_own", check_reach, probes);
}

fn check_permissions(programs: &[PathBuf]) {
    if !enforces("network") || !enforces("write=DIR") || !enforces("processes") {
        return;
    }
    let outside = Outside::new();
    let target =
        |permissions: &[Permission]| Command::new(outside.program(&programs[0], permissions)).expect("a target");
    let all = refused(&[&NETWORK, &PROCESSES, &FILES]);
    let allowed = |permission: Permission, kind: &[(&str, i32)]| {
        // A process without capabilities may not change one that has some.
        let is_about_others = permission == Permission::Processes && is_root();
        let second = if is_about_others { Permission::Privileges } else { permission.clone() };
        let mut target = target(&[permission.clone(), second]);
        for &(attempt, error) in &all {
            let is_allowed = kind.iter().any(|&(allowed, _)| allowed == attempt);
            let expected = if is_allowed { 0 } else { error };
            assert_eq!(told(&mut target, attempt), expected, "with {permission}: {attempt}");
        }
        target
    };
    let mut target_with_network = allowed(Permission::Network, &NETWORK);
    for unusual in UNUSUAL {
        assert_eq!(told(&mut target_with_network, unusual), EPERM, "{unusual}");
    }
    allowed(Permission::Processes, &PROCESSES);
    allowed(Permission::Write(outside.folder.clone()), &FILES);
    let mut writes = target(&[Permission::Write(outside.file())]);
    assert_told(&mut writes, &[("write", 0), ("truncate", 0), ("chmod", 0)], "one file");
    if enforces("metadata") {
        let mut target = allowed(Permission::Metadata, &[]);
        assert_told(&mut target, &METADATA.map(|(attempt, _)| (attempt, 0)), "with metadata");
        assert_eq!(raw(&mut target, "write"), EACCES, "by Landlock");
    }
    if enforces("ipc") {
        assert_eq!(told(&mut allowed(Permission::Ipc, &[]), "others-memory"), 0);
    }
    let mut privileged = allowed(Permission::Privileges, &[]);
    assert_eq!(told(&mut privileged, "capabilities"), if is_root() { EPERM } else { 0 });
    // It is the filter that refuses these, and not the lack of privileges.
    assert_told(&mut privileged, &SYSTEM, "with privileges");
    if is_root() {
        let mut free = target(&[Permission::Privileges, Permission::SystemCalls]);
        for (attempt, error) in SYSTEM {
            assert_ne!(told(&mut free, attempt), error, "with system calls: {attempt}");
        }
    }
}

#[test]
fn each_permission_lets_one_kind_of_thing() {
    let probe = || vec![compiled("reach", &["-pthread"])];
    everywhere("confine::each_permission_lets_one_kind_of_thing", check_permissions, probe);
}

fn check_programs(_: &[PathBuf]) {
    // What each is to write. Interpreters start threads, read many files and ask for many things.
    let programs: [(&str, &[&str], &str); 6] = [
        (
            "python3",
            &[
                "-c",
                "import threading, subprocess, tempfile, multiprocessing\nt = threading.Thread(target=print); t.start(); t.join()\nprint(subprocess.check_output(['echo', 'yes']).decode(), tempfile.TemporaryFile())",
            ],
            "yes",
        ),
        (
            "python3",
            &["-c", "import asyncio\nasync def main(): await asyncio.sleep(0); print('yes')\nasyncio.run(main())"],
            "yes",
        ),
        (
            "node",
            &[
                "-e",
                "new (require('worker_threads').Worker)('console.log(require(\"child_process\").execSync(\"echo yes\").toString())', {eval: true})",
            ],
            "yes",
        ),
        ("sh", &["-c", "ulimit -n 100; nice -n 1 echo yes | cat"], "yes"),
        ("java", &["-version"], "version"),
        ("gcc", &["--version"], "gcc"),
    ];
    for (name, arguments, expected) in programs {
        let Ok(program) = Program::new(name, arguments) else {
            // The test's own process has counted that.
            continue;
        };
        let limits = Limits::default().with_time(Duration::from_secs(60)).with_memory(None);
        let mut target = Command::new(program.limits(limits)).expect("a target");
        for _ in 0..2 {
            let run = target.run(b"").expect("a run");
            let written = [&*run.stdout.bytes, &run.stderr.bytes].concat();
            let written = String::from_utf8_lossy(&written);
            assert!(run.outcome == Outcome::Exit(0) && written.contains(expected), "{name}: {} {written}", run.outcome);
        }
    }
}

#[test]
fn interpreters_and_tools_work_confined() {
    let programs = || {
        for name in ["python3", "node", "java", "gcc"] {
            gramjet_needs::has_for_a_part(name);
        }
        Vec::new()
    };
    everywhere("confine::interpreters_and_tools_work_confined", check_programs, programs);
}

fn check_sanitizers(programs: &[PathBuf]) {
    for path in programs {
        let program = Program::new(path, [""; 0]).expect("the program");
        let limits = Limits::default().with_time(Duration::from_secs(60)).with_memory(None);
        let mut target = Command::new(program.limits(limits)).expect("a target");
        for (input, expected) in
            [("l", "LeakSanitizer: detected memory leaks"), ("o", "AddressSanitizer: heap-buffer-overflow"), ("c", "")]
        {
            let run = target.run(input.as_bytes()).expect("a run");
            let said = String::from_utf8_lossy(&run.stderr.bytes);
            assert_eq!(run.outcome == Outcome::Exit(0), expected.is_empty(), "{input}: {said}");
            assert!(said.contains(expected), "{input}: {said}");
            // The symbolizer is a process of its own.
            assert!(expected.is_empty() || said.contains("sanitized.c:"), "{input}: {said}");
        }
    }
}

#[test]
fn sanitizers_and_their_symbolizers_work_confined() {
    let programs = || {
        let options = ["-g", "-fsanitize=address"];
        let newest = crate::kit::built("sanitized", "clang", |command, source, _| {
            command.args(options).args(["-O0"]).arg(source);
        });
        newest.into_iter().chain([compiled("sanitized", &options)]).collect()
    };
    everywhere("confine::sanitizers_and_their_symbolizers_work_confined", check_sanitizers, programs);
}

#[test]
fn a_program_that_needs_privileges_to_be_executed_is_named_with_the_permission() {
    fn check(_: &[PathBuf]) {
        if !is_root() {
            return;
        }
        let folder = env::temp_dir().join("of-another");
        fs::create_dir(&folder).expect("a folder");
        fs::copy("/bin/true", folder.join("true")).expect("a copy");
        std::os::unix::fs::chown(&folder, Some(12345), Some(12345)).expect("another owner");
        fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("its own alone");
        let program = Program::new(folder.join("true"), [""; 0]).expect("the program");
        let mut target = Command::new(program.clone()).expect("a target");
        let error = target.run(b"").expect_err("it cannot be executed").to_string();
        assert!(error.contains("`--allow privileges`"), "{error}");
        let mut target = Command::new(program.allow(Permission::Privileges)).expect("a target");
        assert_eq!(target.run(b"").expect("a run").outcome, Outcome::Exit(0));
        fs::remove_dir_all(folder).expect("the folder");
    }
    let test = "confine::a_program_that_needs_privileges_to_be_executed_is_named_with_the_permission";
    everywhere(test, check, Vec::new);
}

#[test]
fn each_protection_says_by_what_or_why_not() {
    let protections = protections();
    assert!(protections.len() > 10);
    for protection in protections {
        let (Ok(said) | Err(said)) = protection.by;
        assert!(!said.is_empty() && !protection.what.is_empty());
    }
    let _ = offered();
    assert_eq!(refusal(b"bind: Operation not permitted"), Some("Operation not permitted"));
}
