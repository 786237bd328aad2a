//! The files of a program, whatever it does to them.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use gramjet_harness::{Command, Confinement, ForkServer, Limits, Outcome, Program, Target, left_behind};

use crate::kit::{compiled, everywhere, is_root};

/// Attacks of the program, by the first letter of its input; `programs/files.c` says what each is.
const ATTACKS: &[u8] = b"shmldftp0ianwr";

fn program(path: &Path, argument: Option<&str>, confinement: Confinement, victim: &Path) -> Program {
    let is_confined = confinement == Confinement::default();
    let program = Program::new(path, argument).expect("the program").confinement(confinement);
    let program = program.limits(Limits::default().with_time(Duration::from_secs(20))).variable("VICTIM", victim);
    if is_confined { program.variable("CONFINED", "1") } else { program }
}

/// Runs all attacks, and a harmless input after each. Each run reads its own input, and the user's file stays.
fn attack(target: &mut impl Target, victim: &Path, about: &str) {
    for (number, attack) in ATTACKS.iter().enumerate() {
        for letter in [*attack, b'c'] {
            let input = format!("{}{}", letter as char, "x".repeat(number * 7 % 40));
            let run = target.run(input.as_bytes()).expect("a run");
            let found = (run.outcome, String::from_utf8_lossy(&run.stdout.bytes).into_owned());
            assert_eq!(found, (Outcome::Exit(0), input), "{about}, after {}", *attack as char);
        }
        assert_eq!(fs::read_to_string(victim).expect("the user's file"), "precious", "{}", *attack as char);
    }
}

fn files(programs: &[PathBuf]) {
    let base = env::temp_dir();
    let own = base.join("own");
    fs::create_dir(&own).expect("a folder");
    let victim = own.join("victim");
    fs::write(&victim, "precious").expect("a file");
    for confinement in [Confinement::default(), Confinement::Unconfined] {
        for argument in [None, Some("@@")] {
            let about = format!("{confinement:?} {argument:?}");
            let program = |path| program(path, argument, confinement, &victim);
            attack(&mut Command::new(program(&programs[0])).expect("a target"), &victim, &about);
            if let Some(path) = programs.get(1) {
                attack(&mut ForkServer::new(program(path)).expect("a target"), &victim, &about);
            }
        }
    }
    fs::remove_dir_all(&own).expect("the folder");
    assert_eq!(left_behind(), []);
    let left: Vec<_> = fs::read_dir(&base).expect("the folder").flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, [""; 0].map(PathBuf::from));
}

#[test]
fn inputs_reach_the_program_and_no_other_file_whatever_it_does_to_its_own() {
    everywhere("scratch::inputs_reach_the_program_and_no_other_file_whatever_it_does_to_its_own", files, || {
        [Some(compiled("files", &[])), crate::fork_server::own("files")].into_iter().flatten().collect()
    });
}

#[test]
fn what_cannot_be_removed_is_named() {
    fn check(_: &[PathBuf]) {
        if !is_root() {
            return;
        }
        let base = env::temp_dir();
        // A mount that is in use cannot be told from a folder by its name.
        let script = "mkdir $TMPDIR/full; mount -t tmpfs none $TMPDIR/full; touch $TMPDIR/full/file";
        let program = Program::new("sh", ["-c", script]).expect("sh").confinement(Confinement::Unconfined);
        let mut target = Command::new(program).expect("a target");
        target.run(b"").expect("a run");
        drop(target);
        assert_eq!(left_behind(), [], "a mount is taken away");
        let outer = base.join("gramjet-outer");
        fs::create_dir(&outer).expect("a folder");
        let script = format!("mv $(dirname $TMPDIR) {0}/; chattr +i {0}", outer.display());
        let program = Program::new("sh", ["-c", &script]).expect("sh").confinement(Confinement::Unconfined);
        let mut target = Command::new(program).expect("a target");
        target.run(b"").expect("a run");
        drop(target);
        let left = left_behind();
        let thawed = std::process::Command::new("chattr").arg("-i").arg(&outer).status();
        assert_eq!(left.len(), 1, "{left:?} {thawed:?}");
        assert!(left[0].path.starts_with(&outer) && left[0].why.contains("not permitted"), "{left:?}");
        fs::remove_dir_all(outer).expect("the folder");
    }
    everywhere("scratch::what_cannot_be_removed_is_named", check, Vec::new);
}

#[test]
fn a_second_file_is_handed_over() {
    fn check(_: &[PathBuf]) {
        let script = "cat; cat $SECOND; rm -f $SECOND; ln -s /etc/passwd $SECOND; true";
        for confinement in [Confinement::default(), Confinement::Unconfined] {
            let program = Program::new("sh", ["-c", script]).expect("sh").confinement(confinement);
            let mut target = Command::new(program.second_file("SECOND")).expect("a target");
            for (input, second) in [("one", "two"), ("three", ""), ("", "four")] {
                target.hand(second.as_bytes());
                let run = target.run(input.as_bytes()).expect("a run");
                assert_eq!(String::from_utf8_lossy(&run.stdout.bytes), format!("{input}{second}"));
            }
        }
    }
    everywhere("scratch::a_second_file_is_handed_over", check, Vec::new);
}
