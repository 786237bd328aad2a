//! Programs for tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// A place for files of tests.
pub(crate) fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&place).expect("a folder");
    place
}

/// `tests/programs/torture.c`, compiled.
pub(crate) fn torture() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/torture.c");
        let program = place("programs").join("torture");
        let compiler = env::var_os("CC").unwrap_or("cc".into());
        let done = Command::new(compiler).arg("-O1").arg("-o").arg(&program).arg(source).status();
        assert!(done.expect("a C compiler").success());
        program
    })
}

/// The processes whose name is that of the torture program.
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
