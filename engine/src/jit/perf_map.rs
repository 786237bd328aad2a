//! The file in which the profiler `perf` looks for the names of machine code, `/tmp/perf-PID.map`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;

use super::code::Code;

/// The functions of `code`: address, size and name a line.
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
    let flags =
        OFlags::CREATE | OFlags::APPEND | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => file,
        // The errors of these systems for symbolic links.
        Err(Errno::LOOP | Errno::MLINK | Errno::NXIO) => return Err(foreign(path)),
        Err(error) => {
            return Err(io::Error::new(io::Error::from(error).kind(), format!("{}: {error}", path.display())));
        }
    };
    let found = fstat(&file)?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    if !is_file || found.st_nlink != 1 || found.st_uid != rustix::process::geteuid().as_raw() {
        return Err(foreign(path));
    }
    File::from(file).write_all(lines.as_bytes())
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
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
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
