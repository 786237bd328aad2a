//! Folders that somebody else has filled: nothing in them is followed, waited for, or read beyond a bound.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::fuzz::within;
use super::{Place, gramjet, place, text};

/// A short path to a folder, for the names of sockets.
struct Short(PathBuf);

impl Short {
    fn new(name: &str) -> Short {
        let folder = Path::new("/tmp").join(format!("gf-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Short(folder)
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn pipe(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o644), 0)
        .unwrap();
}

/// Runs a command in the folder of a test, with bounds on its memory and its time.
fn bounded(place: &Place, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.args(["-c", "ulimit -v 6000000; exec \"$@\"", "sh"]).arg(gramjet().get_program()).args(arguments);
    let begin = Instant::now();
    let output = within(&mut command, place).output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(120), "{arguments:?}: {}", text(&output.stderr));
    output
}

/// Fills a folder with entries that are no texts. Returns the names that are to be told; `victim` is a file outside.
fn fill(folder: &Path, victim: &Path, first: u32) -> Vec<String> {
    fs::create_dir_all(folder).unwrap();
    let mut names = Vec::new();
    let mut name = |what: &str| {
        let name = format!("id:{:06},{what}", first + names.len() as u32);
        names.push(name.clone());
        folder.join(name)
    };
    symlink(victim, name("link")).unwrap();
    symlink("/dev/zero", name("zero")).unwrap();
    symlink("/etc/passwd", name("passwd")).unwrap();
    symlink(folder.parent().unwrap(), name("folder")).unwrap();
    symlink("missing", name("dangling")).unwrap();
    symlink(folder.join("self"), folder.join("self")).unwrap();
    pipe(&name("pipe"));
    File::create(name("sparse")).unwrap().set_len(1 << 41).unwrap();
    let unreadable = name("unreadable");
    fs::write(&unreadable, "[]").unwrap();
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o0)).unwrap();
    let _ = UnixListener::bind(name("socket")).unwrap();
    // Root may read whatever it likes.
    if rustix::process::geteuid().is_root() {
        names.retain(|name| !name.ends_with("unreadable"));
    }
    fs::write(folder.join("id:99999999999999999999,op:x"), "[]").unwrap();
    fs::write(folder.join("a\nb"), "[]").unwrap();
    fs::write(folder.join("x".repeat(255)), "[]").unwrap();
    fs::create_dir_all(folder.join("id:000900,folder/deep")).unwrap();
    names.extend(["self".into(), "id:99999999999999999999,op:x".into(), "a\\nb".into(), "x".repeat(255)]);
    names
}

fn assert_told(names: &[String], output: &Output) {
    let said = text(&output.stderr);
    for name in names {
        assert!(
            said.lines().any(|line| line.contains(name.as_str()) && line.ends_with("is left alone")),
            "{name}: {said}"
        );
    }
}

#[test]
fn entries_of_a_folder_that_are_no_texts_are_left_alone_and_named() {
    let (place, short) = (place("folders-own"), Short::new("own"));
    let victim = place.path("victim");
    fs::write(&victim, "precious").unwrap();
    let out = short.0.join("out");
    let out_name = out.to_str().unwrap();
    for command in [&["fuzz", "json", "-n", "20"][..], &["search", "json", "-n", "20", "--study", "0s"]] {
        let _ = fs::remove_dir_all(&out);
        let options = ["-o", out_name, "--no-progress", "--", "cat"];
        assert!(bounded(&place, &[command, &options].concat()).status.success());
        let names = fill(&out.join("queue"), Path::new(&victim), 100);
        for name in ["log.csv", "totals.json", "report.html", "report.json", "sessions"] {
            let _ = fs::remove_file(out.join(name));
            symlink(&victim, out.join(name)).unwrap();
        }
        symlink(place.path(""), out.join("failures/SIGSEGV-1")).unwrap();
        for name in ["streams", "choices"] {
            symlink(place.path(""), out.join(name)).unwrap_or_default();
        }
        let again = bounded(&place, &[command, &options].concat());
        assert!(again.status.success(), "{}", text(&again.stderr));
        assert_told(&names, &again);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(!out.join("log.csv").is_symlink());
        // What was linked to is not filled either.
        assert!(!Path::new(&place.path("input")).exists());
        let _ = fs::remove_file(out.join("report.html"));
        symlink(&victim, out.join("report.html")).unwrap();
        let report = bounded(&place, &["report", out_name]);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{}", text(&report.stderr));
        let replayed = bounded(&place, &["fuzz", "json", "-o", out_name, "--replay", "--", "cat"]);
        assert!(replayed.status.code().is_some_and(|code| code <= 1), "{}", text(&replayed.stderr));
    }
    // Families of texts, and what is said of them.
    fs::create_dir_all(out.join("growth/1")).unwrap();
    symlink("/dev/zero", out.join("growth/1/00001")).unwrap();
    pipe(&out.join("growth/1/00002"));
    pipe(&out.join("growth/1/about"));
    let replayed = bounded(&place, &["search", "json", "-o", out_name, "--replay", "--", "cat"]);
    let said = text(&replayed.stderr);
    assert!(replayed.status.success() && said.contains("growth/1/00001") && said.contains("growth/1/about"), "{said}");
    // The lock and the description, too.
    fs::remove_file(out.join("lock")).unwrap();
    symlink(&victim, out.join("lock")).unwrap();
    let refused = bounded(&place, &["search", "json", "-n", "1", "-o", out_name, "--", "cat"]);
    assert!(refused.status.code() == Some(1) && text(&refused.stderr).contains("a link"), "{}", text(&refused.stderr));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn folders_of_other_searches_are_hostile_ground() {
    let (place, short) = (place("folders-shared"), Short::new("shared"));
    let victim = place.path("victim");
    fs::write(&victim, "{\"secret\":1}").unwrap();
    let shared = short.0.join("s");
    let mut names = fill(&shared.join("other/queue"), Path::new(&victim), 0);
    // Neighbours that are links, have odd names, or other things in the place of a queue.
    symlink(place.path(""), shared.join("neighbour")).unwrap();
    pipe(&shared.join("pipe"));
    fs::create_dir_all(shared.join("a\nb/queue")).unwrap();
    fs::create_dir_all(shared.join("x".repeat(200)).join("queue")).unwrap();
    fs::create_dir_all(shared.join("linked")).unwrap();
    symlink("/etc", shared.join("linked/queue")).unwrap();
    symlink("/etc", shared.join("linked/streams")).unwrap();
    symlink("/etc", shared.join("linked/choices")).unwrap();
    fs::write(shared.join("other/queue/id:000500,op:x"), "[[1]]").unwrap();
    names.extend(["neighbour".into(), "s/pipe".into(), "s/a\\nb".into(), "x".repeat(200), "linked/queue".into()]);
    let fuzz =
        ["fuzz", "json", "-n", "400", "-o", shared.to_str().unwrap(), "--name", "me", "--no-progress", "--", "cat"];
    let found = bounded(&place, &fuzz);
    assert!(found.status.success(), "{}", text(&found.stderr));
    assert_told(&names, &found);
    let own: Vec<PathBuf> = fs::read_dir(shared.join("me/queue")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(own.iter().any(|path| path.to_string_lossy().contains("sync:other,src:000500")), "{own:?}");
    for path in own {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("secret") && !text.contains("root:"), "{text}");
    }
}

#[test]
fn corpora_are_hostile_ground() {
    let (place, short) = (place("folders-corpus"), Short::new("corpus"));
    let victim = place.path("victim");
    fs::write(&victim, "[\"secret\"]").unwrap();
    let corpus = short.0.join("c");
    fill(&corpus, Path::new(&victim), 0);
    for name in ["id:000006,sparse", "id:000007,unreadable"] {
        let _ = fs::remove_file(corpus.join(name));
    }
    let corpus = corpus.to_str().unwrap();
    let out = short.0.join("out").to_str().unwrap().to_string();
    let seeded = ["fuzz", "json", "-n", "5", "--seeds", corpus, "-o", &out, "--no-progress", "--", "cat"];
    let learned = ["learn", "json", corpus, "-o", "weights"];
    for arguments in [&seeded[..], &learned] {
        let done = bounded(&place, arguments);
        let said = text(&done.stderr);
        assert!(done.status.success(), "{arguments:?}: {said}");
        for name in ["link", "zero", "passwd", "folder", "dangling", "pipe", "socket", "self"] {
            assert!(said.lines().any(|line| line.contains(name) && line.ends_with("is left alone")), "{name}: {said}");
        }
    }
    for text in fs::read_dir(Path::new(&out).join("queue")).unwrap() {
        assert!(!fs::read_to_string(text.unwrap().path()).unwrap().contains("secret"));
    }
}

#[test]
fn a_folder_gives_the_program_no_rights() {
    let (place, out) = (place("folders-rights"), "out");
    let script = format!("cat > /dev/null; touch '{}' 2> /dev/null; kill -6 $$\n", place.path("mark"));
    fs::write(place.path("fails.sh"), script).unwrap();
    let found = bounded(&place, &["fuzz", "json", "-n", "3", "--unconfined", "-o", out, "--", "sh", "fails.sh"]);
    assert_eq!(found.status.code(), Some(1), "{}", text(&found.stderr));
    fs::remove_file(place.path("mark")).unwrap();
    let replay = |more: &[&str]| {
        bounded(&place, &[&["fuzz", "json", "-o", out, "--replay"][..], more, &["--", "sh", "fails.sh"]].concat())
    };
    let replayed = replay(&[]);
    let said = text(&replayed.stderr);
    assert!(said.contains("recorded rights are not given to the program: --unconfined"), "{said}");
    assert!(replayed.status.code() == Some(1) && !Path::new(&place.path("mark")).exists(), "{said}");
    assert_eq!(replay(&["--unconfined"]).status.code(), Some(1));
    assert!(Path::new(&place.path("mark")).exists());
}
