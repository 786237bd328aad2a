//! The file in which the profiler `perf` looks for the names of machine code, `/tmp/perf-PID.map`.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::code::Code;

/// Returns the functions of `code`: address, size and name a line.
pub(super) fn lines(code: &Code) -> String {
    let base = code.instructions().as_ptr() as usize;
    let ends = code.symbols.iter().skip(1).map(|symbol| symbol.at).chain([code.instructions().len()]);
    let mut lines = String::new();
    for (symbol, end) in code.symbols.iter().zip(ends) {
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{:x} {:x} gramjet:{}", base + symbol.at, end - symbol.at, symbol.name.escape_debug());
    }
    lines
}

/// Appends to a map, or makes it. The name can be guessed and anyone can write to its folder. An existing file must
/// therefore be a regular file of this user under this one name: no link leads elsewhere, no other user gets the file,
/// no pipe blocks.
pub(super) fn append(path: &Path, lines: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = match options.open(path) {
        Ok(file) => file,
        // The errors of these systems for symbolic links, and for pipes that nobody reads.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::EMLINK | libc::ENXIO)) => {
            return Err(foreign(path));
        }
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    };
    let found = file.metadata()?;
    // SAFETY: the call has no conditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    if !found.is_file() || found.nlink() != 1 || found.uid() != user {
        return Err(foreign(path));
    }
    file.write_all(lines.as_bytes())
}

fn foreign(path: &Path) -> io::Error {
    let path = path.display();
    io::Error::other(format!("{path} is not a regular file of this user alone; nothing was written, remove it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_map_is_written_to_a_file_of_this_user_alone() {
        let folder = Folder(std::env::temp_dir().join(format!("gramjet-perf-map-{}", std::process::id())));
        fs::create_dir_all(&folder.0).expect("a folder");
        let at = |name: &str| folder.0.join(name);
        append(&at("new"), "1 2 a\n").expect("a new map");
        append(&at("new"), "3 4 b\n").expect("a longer map");
        assert_eq!(fs::read_to_string(at("new")).expect("the map"), "1 2 a\n3 4 b\n");
        assert_eq!(fs::metadata(at("new")).expect("the map").permissions().mode() & 0o777, 0o600);

        fs::write(at("victim"), "mine").expect("a file");
        symlink(at("victim"), at("link")).expect("a link");
        symlink(at("missing"), at("nowhere")).expect("a link");
        fs::hard_link(at("victim"), at("hard")).expect("a link");
        #[cfg(target_os = "linux")]
        {
            let name = std::ffi::CString::new(at("pipe").into_os_string().into_encoded_bytes()).expect("a name");
            // SAFETY: the name is a string that ends with 0 and outlives the call.
            assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        }
        #[cfg(not(target_os = "linux"))]
        fs::create_dir(at("pipe")).expect("a folder");
        fs::create_dir(at("folder")).expect("a folder");
        for name in ["link", "nowhere", "hard", "pipe", "folder"] {
            let error = append(&at(name), "1 2 a\n").expect_err(name).to_string();
            assert!(error.contains(&at(name).display().to_string()), "{error}");
        }
        assert_eq!(fs::read_to_string(at("victim")).expect("the file"), "mine");
        assert!(!at("missing").exists());
    }
}
