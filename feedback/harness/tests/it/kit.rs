//! Programs for tests.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs};

use gramjet_harness::{Outcome, Target};

/// Returns a place for files of tests.
pub(crate) fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&place).expect("a folder");
    place
}

/// Returns `tests/programs/torture.c`, compiled.
pub(crate) fn torture() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/torture.c");
        let program = place("programs").join("torture");
        let compiler = env::var_os("CC").unwrap_or("cc".into());
        // Another process of the tests may be making it, too.
        let own = program.with_extension(std::process::id().to_string());
        let done = Command::new(compiler).arg("-O1").arg("-o").arg(&own).arg(source).status();
        assert!(done.expect("a C compiler").success());
        fs::rename(own, &program).expect("a new name");
        program
    })
}

/// Returns the torture program under a name of its own, by which its processes are found.
pub(crate) fn torture_as(name: &str) -> PathBuf {
    let program = place("programs").join(name);
    let _ = fs::remove_file(&program);
    fs::copy(torture(), &program).expect("a copy");
    program
}

/// Returns the processes whose name is that of the torture program.
pub(crate) fn processes_of(program: &Path) -> Vec<String> {
    let name = program.file_name().expect("a name").to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let comm = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if comm.trim_end() == name {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

/// Returns a program of `tests/programs`, built by a compiler; `None` where there is no such compiler, unless it must
/// be there.
pub(crate) fn built(name: &str, compiler: &str, arguments: impl Fn(&mut Command, &Path, &Path)) -> Option<PathBuf> {
    if !gramjet_needs::has(compiler) {
        return None;
    }
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.c"));
    // A name of its own, by which its processes are found; the kernel keeps fifteen characters.
    let short = format!("gj{}-{}", NEXT.fetch_add(1, Ordering::Relaxed), std::process::id() % 100_000);
    let program = place("programs").join(short);
    let mut command = Command::new(compiler);
    arguments(&mut command, &source, &program);
    let output = command.arg("-o").arg(&program).output().expect("the compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Returns a program of `tests/programs`, built by the C compiler with these options.
pub(crate) fn compiled(name: &str, options: &[&str]) -> PathBuf {
    let compile = |command: &mut Command, source: &Path, _: &Path| {
        command.args(["-O1", "-Wall", "-Wextra", "-Werror"]).args(options).arg(source);
    };
    built(name, "cc", compile).expect("a C compiler")
}

/// The variable that tells a process of the tests that it is to run the body of a test, with the programs for it.
const BODY: &str = "GRAMJET_TEST_BODY";
/// A user without rights, and its group.
const NOBODY: u32 = 65534;

/// A folder that is removed in the end. Its path is short wherever the tests run: that of a socket has at most 107
/// bytes.
struct Short(PathBuf);

impl Short {
    fn new() -> Short {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("gj-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new("/tmp").join(name);
        fs::create_dir(&folder).expect("a folder");
        Short(folder)
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn is_root() -> bool {
    // SAFETY: a system call without pointers.
    unsafe { libc::geteuid() == 0 }
}

/// Runs the body of a test in a process of its own with a temporary folder of its own, as this user and, if that is
/// root, as one without rights. The folder is empty in the end. `programs` makes what the body needs.
pub(crate) fn everywhere(test: &str, body: fn(&[PathBuf]), programs: impl FnOnce() -> Vec<PathBuf>) {
    if let Some(programs) = env::var_os(BODY) {
        return body(&env::split_paths(&programs).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>());
    }
    let programs = env::join_paths(programs()).expect("paths");
    let this = env::current_exe().expect("this program");
    if !is_root() {
        eprintln!("not run: {test} as another user, which needs root");
    }
    for user in [None, is_root().then_some(NOBODY)].into_iter().take(if is_root() { 2 } else { 1 }) {
        let folder = Short::new();
        let mut process = Command::new(&this);
        process
            .args(["--exact", test, "--nocapture"])
            .env(BODY, &programs)
            .env("TMPDIR", &folder.0)
            .env("HOME", &folder.0);
        if let Some(user) = user {
            std::os::unix::fs::chown(&folder.0, Some(user), Some(user)).expect("the folder gets another owner");
            process.uid(user).gid(user);
        }
        let output = process.output().expect("a process");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains("1 passed"), "as user {user:?}:\n{said}");
        assert_eq!(fs::read_dir(&folder.0).expect("the folder").count(), 0, "as user {user:?}");
    }
}

/// Runs can be begun and waited for apart. Each of the inputs has another outcome.
pub(crate) fn assert_begins(target: &mut impl Target, inputs: &[(&[u8], Outcome)]) {
    for (input, expected) in inputs.iter().chain(inputs) {
        target.start(input).expect("a start");
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(target.finish().expect("a run").outcome, *expected, "{input:?}");
    }
    // The result of a run that nobody has waited for is not taken for that of the next.
    for pair in inputs.windows(2) {
        target.start(pair[0].0).expect("a start");
        target.start(pair[1].0).expect("a start");
        assert_eq!(target.finish().expect("a run").outcome, pair[1].1, "{pair:?}");
    }
    let (input, expected) = &inputs[0];
    assert_eq!(target.run(input).expect("a run").outcome, *expected);
}
