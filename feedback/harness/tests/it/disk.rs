//! Programs that fill the disk of their temporary folder.

use std::path::Path;
use std::time::Duration;

use gramjet_harness::{Command, ForkServer, Limits, Outcome, Program, Target};

use crate::instrument::{compilers, fresh, source, succeeded, wrapper};
use crate::kit::built;

fn limits() -> Limits {
    Limits::default().with_time(Duration::from_secs(30)).with_disk(Some(32 << 20))
}

fn program(path: &Path) -> Program {
    let none: [&str; 0] = [];
    Program::new(path, none).expect("the program").limits(limits())
}

fn is_stopped(target: &mut impl Target) {
    for input in ["n", "u"] {
        assert_eq!(target.run(input.as_bytes()).expect("a run").outcome, Outcome::Disk, "{input}");
        // The room is there again.
        assert_eq!(target.run(b"x").expect("a run").outcome, Outcome::Exit(0), "{input}");
    }
}

#[test]
fn a_program_that_fills_the_disk_is_stopped() {
    let compile = |command: &mut std::process::Command, source: &Path, _: &Path| {
        command.arg(source);
    };
    if let Some(path) = built("fill", "cc", compile) {
        is_stopped(&mut Command::new(program(&path)).expect("a command"));
    }
    if let Some(compiler) = compilers().first() {
        let folder = fresh("fill");
        succeeded(wrapper("cc", compiler, &folder).args(["-o", "fill"]).arg(source("fill.c")));
        is_stopped(&mut ForkServer::new(program(&folder.join("fill"))).expect("a fork server"));
    }
}
