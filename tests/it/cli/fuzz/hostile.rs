//! A campaign on a program that does harm.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{failures, run_in, within};
use crate::cli::{place, text};

/// Harmless words, the failure that was planted, and attacks after which the program goes on as if nothing had been.
const WORDS: &str = "
s ::= harmless @ 30 | 'finding' @ 2 | attack @ 30
harmless ::= 'benign ' [0-9]{1,3}
attack ::= 'input_link_locked' | 'input_folder' | 'input_race' | 'folder_mode' | 'folder_race' | 'names' | 'kinds_of_files'
    | 'outside_written' | 'outside_removed' | 'outside_moved_in' | 'outside_mode' | 'outside_times' | 'daemon' | 'daemons'
    | 'fork_comet' | 'subreaper' | 'death_signal' | 'names_of_processes' | 'kill_harness' | 'kill_victim'
    | 'limits_of_others' | 'affinity_of_others' | 'priority_of_others' | 'ptrace_harness' | 'memory_of_harness'
    | 'output_escapes' | 'output_not_blocking' | 'output_late' | 'protocol_sent' | 'tcp' | 'unix_path' | 'mount'
";

/// Returns the number of processes that run this program.
fn processes_of(program: &Path) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter(|entry| fs::read_link(entry.path().join("exe")).is_ok_and(|link| link == program)).count()
}

/// A process that must outlive a search; it ends with the test, however that ends.
struct Victim(Child);

impl Victim {
    fn new() -> Victim {
        let mut command = Command::new("sleep");
        Victim(command.arg("1000").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "run by ci/test"]
fn a_hostile_program_hides_no_failure_and_harms_nobody() {
    let place = place("fuzz-hostile");
    fs::write(place.path("words.ebnf"), WORDS).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("feedback/harness/tests/programs/hostile/hostile.c");
    let source = source.to_str().unwrap();
    let plain = ["cc", "-w", "-O1", source, "-o", "fork", "-lpthread"];
    let harness = ["cc", "-w", "-O1", "-DHARNESS", "-fsanitize=fuzzer", source, "-o", "persistent", "-lpthread"];
    for arguments in [&plain[..], &harness] {
        let built = run_in(&place, arguments);
        assert!(built.status.success(), "{}", text(&built.stderr));
    }
    for folder in ["outside", "outside/folder", "outside/empty", "temporary"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    fs::write(place.path("outside/file"), "what it says").unwrap();
    let known = |path: &str| {
        let known = fs::metadata(place.path(path)).unwrap();
        (known.mode(), known.nlink(), known.mtime_nsec(), known.ctime_nsec())
    };
    let before = ["outside", "outside/file", "outside/folder"].map(known);
    for program in ["fork", "persistent"] {
        let mut victim = Victim::new();
        // The shell is the process that becomes the command.
        let script = "HOSTILE_HARNESS=$$ exec \"$0\" fuzz words.ebnf --broken never -n 400 --timeout 5s -o \"out-$1\" -- \"./$1\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_gramjet"), program]);
        command.env("HOSTILE_OUTSIDE", place.path("outside")).env("HOSTILE_VICTIM", victim.0.id().to_string());
        command.env("TMPDIR", place.path("temporary"));
        let found = within(&mut command, &place).output().unwrap();
        let said = text(&found.stderr);
        assert_eq!(found.status.code(), Some(1), "{program}: {said}");
        // What a text leaves behind may be too much for the next one: that is true, and kept apart.
        let mut keys = failures(&place.path(&format!("out-{program}")));
        keys.retain(|key| !key.starts_with("sequence-"));
        assert!(keys.len() == 1 && keys[0].starts_with("SIGABRT-"), "{program}: {keys:?} {said}");
        assert!(!said.contains('\u{1b}'), "{program}: {said:?}");
        assert!(victim.0.try_wait().unwrap().is_none(), "{program}: {said}");
        drop(victim);
        assert_eq!(["outside", "outside/file", "outside/folder"].map(known), before, "{program}");
        assert_eq!(fs::read_dir(place.path("temporary")).unwrap().count(), 0, "{program}: {said}");
        assert_eq!(processes_of(Path::new(&place.path(program))), 0, "{program}");
    }
}
