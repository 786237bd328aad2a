//! Stands in for cargo.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::compiler::Compiler;
use super::runtime::Runtime;
use super::{CALLED, Language, code};
use crate::cache::Cache;
use crate::error::Error;

/// Flags of rustc that instrument; they work with stable releases.
const FLAGS: [&str; 8] = [
    "-C",
    "passes=sancov-module",
    "-C",
    "llvm-args=-sanitizer-coverage-level=3",
    "-C",
    "llvm-args=-sanitizer-coverage-trace-pc-guard",
    "-C",
    "llvm-args=-sanitizer-coverage-pc-table",
];

/// Runs cargo with these arguments so that crates are instrumented, but neither build scripts nor macros; returns its
/// exit status.
///
/// `RUSTFLAGS` is added to; flags of the same kind in cargo's configuration files are not used then, as with
/// `RUSTFLAGS` itself.
///
/// # Errors
///
/// If cargo cannot be run, or there is no C compiler for the run time.
pub fn cargo(arguments: &[OsString]) -> Result<i32, Error> {
    let cache = Cache::new()?;
    let compiler = Compiler::find(Language::C, &cache)?;
    let runtime = Runtime::new(&compiler, &[], false, &cache)?;
    let (toolchain, rest) = match arguments.split_first() {
        Some((first, rest)) if first.as_encoded_bytes().starts_with(b"+") => (Some(first), rest),
        _ => (None, arguments),
    };
    // The program that cargo itself names knows no toolchains.
    let own = env::var_os("CARGO").filter(|_| toolchain.is_none());
    let program = own.unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&program);
    command.args(toolchain).args(rest);
    let mut unless_set = |name: &str, value: &OsStr| {
        if env::var_os(name).is_none() {
            command.env(name, value);
        }
    };
    // With a target, if it is this machine itself, flags are not for build scripts and macros.
    unless_set("CARGO_BUILD_TARGET", &host(toolchain)?);
    unless_set("CARGO_PROFILE_RELEASE_DEBUG", OsStr::new("line-tables-only"));
    unless_set("CUSTOM_LIBFUZZER_PATH", runtime.driver_library().as_os_str());
    unless_set("CUSTOM_LIBCXX", OsStr::new("none"));
    let linked = linked(&runtime);
    let is_harness = names_libfuzzer(rest);
    let flags = FLAGS.iter().map(OsString::from).chain(is_harness.then(|| "--cfg=fuzzing".into()));
    command.env("CARGO_ENCODED_RUSTFLAGS", added("RUSTFLAGS", flags.chain(linked.clone())));
    command.env("CARGO_ENCODED_RUSTDOCFLAGS", added("RUSTDOCFLAGS", linked));
    command.status().map(code).map_err(|source| Error::Program { program: program.into(), source })
}

/// Returns the arguments that link the run time.
fn linked(runtime: &Runtime) -> impl Iterator<Item = OsString> + Clone {
    let mut object = OsString::from("link-arg=");
    object.push(runtime.counters());
    let exported = CALLED.iter().map(|name| format!("link-arg=-Wl,--export-dynamic-symbol={name}").into());
    [object].into_iter().chain(exported).flat_map(|argument| ["-C".into(), argument])
}

/// Returns the flags of an environment variable in the encoded form, and more.
fn added(name: &str, more: impl Iterator<Item = OsString>) -> OsString {
    let separator = "\u{1f}";
    let encoded = env::var_os(format!("CARGO_ENCODED_{name}"));
    let mut all = encoded.unwrap_or_else(|| {
        let plain = env::var(name).unwrap_or_default();
        plain.split_ascii_whitespace().collect::<Vec<_>>().join(separator).into()
    });
    for flag in more {
        if !all.is_empty() {
            all.push(separator);
        }
        all.push(flag);
    }
    all
}

/// Returns the target that this machine is.
fn host(toolchain: Option<&OsString>) -> Result<OsString, Error> {
    let program = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let toolchain = toolchain.filter(|_| env::var_os("RUSTC").is_none());
    let output = Command::new(&program).args(toolchain).arg("-vV").output();
    let output = output.map_err(|source| Error::Program { program: PathBuf::from(&program), source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(OsString::from)
        .ok_or_else(|| Error::Build(format!("{} does not name its host", Path::new(&program).display())))
}

/// Returns true if the package is one of libFuzzer harnesses: code for them alone is built then, as `cargo fuzz` does.
fn names_libfuzzer(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
    let named = arguments.find_map(|argument| {
        let path = argument.to_str()?.strip_prefix("--manifest-path")?;
        Some(path.strip_prefix('=').map(PathBuf::from))
    });
    let path = match named {
        Some(path) => path.or_else(|| arguments.next().map(PathBuf::from)),
        None => env::current_dir()
            .ok()
            .and_then(|folder| folder.ancestors().map(|folder| folder.join("Cargo.toml")).find(|path| path.is_file())),
    };
    path.and_then(|path| fs::read_to_string(path).ok()).is_some_and(|text| text.contains("libfuzzer-sys"))
}
