//! Builds instrumented programs: the work of `gramjet cc`, `gramjet c++` and `gramjet cargo`.
//!
//! [`compile`] stands in for a C or C++ compiler, [`cargo()`] for cargo. Both take the arguments of what they stand in
//! for, run it with more of them, and return its exit status. Programs are linked with the run time in `runtime/`,
//! which is compiled on first use.

mod arguments;
mod cargo;
mod compiler;
mod link_time;
mod macros;
mod response;
mod runtime;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use arguments::{Arguments, Step};
pub use cargo::cargo;
use compiler::{Compiler, CompilerKind};
use runtime::{Passing, Runtime};

use crate::cache::Cache;
use crate::error::Error;

/// The language that a compiler is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// `gramjet cc`: C, the compiler `$GRAMJET_CC`, else the newest clang, else gcc.
    C,
    /// `gramjet c++`: C++, the compiler `$GRAMJET_CXX`, else the newest clang++, else g++.
    Cxx,
}

/// Runs the compiler with these arguments and those for instrumentation; returns its exit status.
///
/// # Errors
///
/// If there is no compiler, or it cannot compile the run time.
pub fn compile(language: Language, arguments: &[OsString]) -> Result<i32, Error> {
    let cache = Cache::new()?;
    let compiler = Compiler::find(language, &cache)?;
    let given = Arguments::new(response::expanded(arguments), compiler.kind);
    if given.step == Step::Ask {
        return run(&compiler, arguments, &cache);
    }
    let link_time = link_time::wanted(&compiler, &given);
    if link_time && given.step == Step::Link && !link_time::required() {
        // The objects have machine code, too, which any linker takes.
        return match succeeds(&compiler, &all(&compiler, &given, true, &cache)?, &cache)? {
            true => Ok(0),
            false => run(&compiler, &all(&compiler, &given, false, &cache)?, &cache),
        };
    }
    run(&compiler, &all(&compiler, &given, link_time, &cache)?, &cache)
}

/// Returns the arguments as given, and those for instrumentation.
fn all(compiler: &Compiler, given: &Arguments, link_time: bool, cache: &Cache) -> Result<Vec<OsString>, Error> {
    let mut all = Vec::new();
    if given.has_sources {
        all.extend(compiling(compiler, given).map(OsString::from));
        all.extend(macros::MACROS.iter().map(OsString::from));
    }
    if link_time {
        all.extend(link_time::FLAGS.iter().map(OsString::from));
        if given.step == Step::Link {
            all.push("-fuse-ld=lld".into());
        }
    }
    all.extend(given.kept.iter().cloned());
    if given.step == Step::Link {
        all.extend(linking(compiler, given, link_time, cache)?);
    }
    Ok(all)
}

/// Returns the additional arguments for a compiler that compiles.
fn compiling(compiler: &Compiler, given: &Arguments) -> impl Iterator<Item = &'static str> {
    let optimise = (!given.has_level).then_some("-O2");
    let counts = given.step != Step::Preprocess;
    let lines = match compiler.kind {
        CompilerKind::Clang(_) => "-gline-tables-only",
        CompilerKind::Gcc => "-g1",
    };
    let flags: &[&str] = match compiler.kind {
        // Said past clang's driver, which would link a run time of its own.
        CompilerKind::Clang(_) => &[
            "-Wno-unused-command-line-argument",
            "-Xclang",
            "-fsanitize-coverage-type=3",
            "-Xclang",
            "-fsanitize-coverage-trace-pc-guard",
            "-Xclang",
            "-fsanitize-coverage-pc-table",
        ],
        CompilerKind::Gcc => &["-fsanitize-coverage=trace-pc"],
    };
    let branches: &[&str] = match compiler.kind {
        CompilerKind::Clang(_) if given.for_fuzzing => &["-Xclang", "-fsanitize=fuzzer-no-link"],
        CompilerKind::Clang(_) | CompilerKind::Gcc => &[],
    };
    let lines = (counts && !given.has_debug).then_some(lines);
    let flags = if counts { flags } else { &[] };
    let branches = if counts { branches } else { &[] };
    optimise.into_iter().chain(lines).chain(flags.iter().chain(branches).copied())
}

/// Returns the library that counts what programs ask for, compiled on first use.
pub(crate) fn demand_library() -> Result<std::path::PathBuf, Error> {
    let cache = Cache::new()?;
    runtime::demand_library(&Compiler::find(Language::C, &cache)?, &cache)
}

/// Functions of the run time that shared libraries call.
const CALLED: [&str; 9] = [
    "__sanitizer_cov_trace_pc_guard",
    "__sanitizer_cov_trace_pc_guard_init",
    "__sanitizer_cov_pcs_init",
    "__sanitizer_cov_trace_pc",
    "gramjet_serve",
    "gramjet_loop",
    "gramjet_input",
    "gramjet_testcase",
    "gramjet_testcase_length",
];

/// Returns the additional arguments for a linker. They come last: constructors run in the order of objects, and the run
/// time's must be last.
fn linking(compiler: &Compiler, given: &Arguments, link_time: bool, cache: &Cache) -> Result<Vec<OsString>, Error> {
    let mut all = Vec::<OsString>::new();
    if given.is_shared {
        // It finds the run time in the executable.
        if given.refuses_undefined {
            all.push("-Wl,-z,undefs".into());
        }
        if link_time {
            all.extend(script(&Runtime::new(compiler, &given.machine, link_time, cache)?));
        }
        return Ok(all);
    }
    if given.is_relocatable {
        return Ok(all);
    }
    let runtime = Runtime::new(compiler, &given.machine, link_time, cache)?;
    if link_time {
        all.extend(script(&runtime));
    }
    all.extend(["-x".into(), "none".into()]);
    if given.has_driver {
        all.push(runtime.driver().into());
    }
    all.push(runtime.counters().into());
    if !given.is_static {
        all.extend(CALLED.iter().map(|name| format!("-Wl,--export-dynamic-symbol={name}").into()));
    }
    Ok(all)
}

/// Returns the arguments for a linker script, in which the path may have commas.
fn script(runtime: &Runtime) -> [OsString; 4] {
    ["-Xlinker".into(), "-T".into(), "-Xlinker".into(), runtime.pages().into()]
}

fn run(compiler: &Compiler, arguments: &[OsString], cache: &Cache) -> Result<i32, Error> {
    let file = response::file_for(arguments, cache)?;
    let status = command(compiler, arguments, file.as_ref()).status();
    status.map(code).map_err(|source| compiler.failed(source))
}

/// Runs a compiler like [`run`], but passes its output on only if it succeeds. Returns true if it does.
fn succeeds(compiler: &Compiler, arguments: &[OsString], cache: &Cache) -> Result<bool, Error> {
    let file = response::file_for(arguments, cache)?;
    let output = command(compiler, arguments, file.as_ref()).stdin(Stdio::inherit()).output();
    let output = output.map_err(|source| compiler.failed(source))?;
    if output.status.success() {
        let said = io::stdout().write_all(&output.stdout).and_then(|()| io::stderr().write_all(&output.stderr));
        said.map_err(|source| compiler.failed(source))?;
    }
    Ok(output.status.success())
}

fn command(compiler: &Compiler, arguments: &[OsString], file: Option<&Passing>) -> Command {
    let mut command = compiler.command();
    match file {
        Some(file) => command.arg(file.argument()),
        None => command.args(arguments),
    };
    command
}

/// Returns the exit status as a shell gives it.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
