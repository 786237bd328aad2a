//! The victims, which the attacks must not harm: files, a process, sockets, and the harness itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process};

/// The name of files that attacks try to make in folders that everyone may write to.
const LEFT: &str = "gramjet-hostile-left";

pub(super) struct Victims {
    folder: PathBuf,
    files: BTreeMap<PathBuf, String>,
    process: Child,
    states: [String; 2],
    tcp: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    datagrams: UnixDatagram,
    hidden: UnixListener,
}

impl Victims {
    /// Makes victims in a folder, of which nothing is kept.
    pub(super) fn new(folder: &Path) -> Victims {
        let folder = folder.join("outside");
        clear(&folder);
        fs::create_dir(&folder).expect("a folder");
        for name in ["folder", "empty"] {
            fs::create_dir(folder.join(name)).expect("a folder");
        }
        for (name, mode) in [("file", 0o644), ("private", 0o600), ("program", 0o755), ("folder/inner", 0o444)] {
            fs::write(folder.join(name), format!("what {name} says\n")).expect("a file");
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).expect("its mode");
        }
        symlink("file", folder.join("link")).expect("a link");
        let stream = UnixListener::bind(folder.join("socket")).expect("a socket");
        let datagrams = UnixDatagram::bind(folder.join("datagrams")).expect("a socket");
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a socket");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let name = format!("gramjet-hostile-{}-{}", process::id(), tcp.local_addr().expect("an address").port());
        let name = SocketAddr::from_abstract_name(name).expect("a name");
        let hidden = UnixListener::bind_addr(&name).expect("a socket");
        stream.set_nonblocking(true).and_then(|()| hidden.set_nonblocking(true)).expect("sockets");
        tcp.set_nonblocking(true).and_then(|()| udp.set_nonblocking(true)).expect("sockets");
        datagrams.set_nonblocking(true).expect("sockets");
        let mut victim = Command::new("sleep");
        victim.arg("infinity").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = victim.spawn().expect("a process");
        // Its name is that of its program only once it is executed.
        while state(process.id()).contains("deleted") || !comm(process.id()).starts_with("sleep") {
            std::thread::sleep(Duration::from_millis(1));
        }
        let states = [state(process.id()), state(process::id())];
        let files = snapshot(&folder);
        Victims { folder, files, process, states, tcp, udp, stream, datagrams, hidden }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the variables that name the victims to the programs.
    pub(super) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let hidden = self.hidden.local_addr().expect("an address");
        let hidden = String::from_utf8_lossy(hidden.as_abstract_name().expect("a name")).into_owned();
        let text = |value: &dyn ToString| OsString::from(value.to_string());
        vec![
            ("HOSTILE_OUTSIDE", self.folder.clone().into()),
            ("HOSTILE_VICTIM", text(&self.process.id())),
            ("HOSTILE_HARNESS", text(&process::id())),
            ("HOSTILE_TCP", text(&self.tcp.local_addr().expect("an address").port())),
            ("HOSTILE_UDP", text(&self.udp.local_addr().expect("an address").port())),
            ("HOSTILE_ABSTRACT", hidden.into()),
        ]
    }

    /// Returns what was harmed; nothing if all is as it was.
    pub(super) fn harm(&self) -> Vec<String> {
        let mut harm = Vec::new();
        let now = snapshot(&self.folder);
        for path in self.files.keys().chain(now.keys().filter(|path| !self.files.contains_key(*path))) {
            let (before, after) = (self.files.get(path), now.get(path));
            if before != after {
                harm.push(format!("{} was {before:?} and is {after:?}", path.display()));
            }
        }
        for (what, process, before) in
            [("the victim", self.process.id(), &self.states[0]), ("the harness", process::id(), &self.states[1])]
        {
            let after = state(process);
            for (before, after) in before.lines().zip(after.lines()).filter(|(before, after)| before != after) {
                harm.push(format!("{what} had {before:?} and has {after:?}"));
            }
            if after.lines().count() != before.lines().count() {
                harm.push(format!("{what} has ended"));
            }
        }
        let mut met = |what: &str, result: std::io::Result<()>| match result {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            result => harm.push(format!("{what} was met: {result:?}")),
        };
        met("the TCP socket", self.tcp.accept().map(drop));
        met("the UDP socket", self.udp.recv(&mut [0]).map(drop));
        met("the socket with a path", self.stream.accept().map(drop));
        met("the datagram socket with a path", self.datagrams.recv(&mut [0]).map(drop));
        met("the abstract socket", self.hidden.accept().map(drop));
        harm.extend(left_anywhere());
        harm.extend(left_objects());
        harm
    }

    /// Returns the processes of runs that live although their targets are gone, once they have had time to end.
    pub(super) fn processes_left(&self) -> Vec<String> {
        let begin = Instant::now();
        loop {
            reap(self.process.id());
            let left: Vec<u32> = children().into_iter().filter(|&child| child != self.process.id()).collect();
            if left.is_empty() {
                return Vec::new();
            }
            if begin.elapsed() > Duration::from_secs(20) {
                let told = left.iter().map(|&child| format!("process {child} is left: {:?}", comm(child))).collect();
                for child in left {
                    // SAFETY: a system call without pointers; the child was not waited for.
                    unsafe { libc::kill(child as i32, libc::SIGKILL) };
                }
                return told;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Victims {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// Makes this process the parent of those that lose theirs, so that none can hide.
pub(super) fn adopt() {
    // SAFETY: a system call without pointers.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Waits for children that have ended, but not for the victim, whose end its owner must see.
fn reap(victim: u32) {
    for child in children().into_iter().filter(|&child| child != victim) {
        // SAFETY: a system call with a null pointer.
        unsafe { libc::waitpid(child as i32, std::ptr::null_mut(), libc::WNOHANG | libc::__WALL) };
    }
}

fn children() -> Vec<u32> {
    let mut found = Vec::new();
    for thread in fs::read_dir("/proc/self/task").expect("/proc").flatten() {
        let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(text.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    found
}

fn comm(process: u32) -> String {
    fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default().trim_end().to_string()
}

/// Returns what other processes could change of a process, a line each.
fn state(process: u32) -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}")).unwrap_or_default();
    let stat = read("stat");
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace().collect();
    if fields.is_empty() || fields[0] == "Z" {
        return String::new();
    }
    // The numbers of proc(5) less those of the name and what is before it, and one.
    let [nice, policy, priority] = [19, 41, 40].map(|number: usize| fields[number - 3]);
    let status = read("status");
    let kept = ["Cpus_allowed_list", "NoNewPrivs", "Seccomp", "TracerPid", "Uid", "Gid"];
    let status: Vec<&str> = status.lines().filter(|line| kept.iter().any(|kept| line.starts_with(kept))).collect();
    let stopped = if ["T", "t"].contains(&fields[0]) { "stopped" } else { "goes on" };
    // SAFETY: a system call without pointers.
    let io = unsafe { libc::syscall(libc::SYS_ioprio_get, 1, process) };
    format!(
        "{stopped}\nnice {nice}, policy {policy}, priority {priority}, io {io}\n{}oom {}{}\n",
        read("limits"),
        read("oom_score_adj"),
        status.join("\n")
    )
}

/// Returns all that is known of each file of a folder.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let Ok(known) = fs::symlink_metadata(&path) else { continue };
        let content = match known.file_type() {
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&path)),
            kind if kind.is_file() => {
                format!("{:?}", fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
            }
            _ => String::new(),
        };
        if known.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        // The time of change is that of all else, too.
        let text = format!(
            "mode {:o}, {} names, owner {}:{}, device {}, changed {}.{}, written {}.{}: {content}",
            known.mode(),
            known.nlink(),
            known.uid(),
            known.gid(),
            known.dev(),
            known.ctime(),
            known.ctime_nsec(),
            known.mtime(),
            known.mtime_nsec(),
        );
        found.insert(path, text);
    }
    found
}

/// Returns what is in the temporary folder of this process.
pub(super) fn files_left() -> Vec<String> {
    let entries = fs::read_dir(env::temp_dir()).into_iter().flatten().flatten();
    entries.map(|entry| format!("{} is left", entry.path().display())).collect()
}

fn left_anywhere() -> Vec<String> {
    let home = env::var("HOME").unwrap_or_default();
    let folders = [home.as_str(), "/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock", "/dev/mqueue"];
    let mut left = Vec::new();
    for path in folders.iter().map(|folder| Path::new(folder).join(LEFT)).filter(|path| path.exists()) {
        let _ = fs::remove_file(&path);
        left.push(format!("{} is left", path.display()));
    }
    left
}

/// Returns the objects of System V and a queue of POSIX, which attacks have made with this process's number as their
/// key.
fn left_objects() -> Vec<String> {
    let mut left = Vec::new();
    for kind in ["shm", "sem", "msg"] {
        let text = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let [key, number, ..] = fields[..] else { continue };
            if key == process::id().to_string() {
                // SAFETY: system calls without pointers that matter.
                unsafe {
                    let number = number.parse().unwrap_or(-1);
                    match kind {
                        "shm" => libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()),
                        "sem" => libc::semctl(number, 0, libc::IPC_RMID),
                        _ => libc::msgctl(number, libc::IPC_RMID, std::ptr::null_mut()),
                    };
                }
                left.push(format!("an object of System V is left ({kind})"));
            }
        }
    }
    let queue = PathBuf::from(format!("/dev/mqueue/gramjet-hostile-{}", process::id()));
    let name = std::ffi::CString::new(format!("/gramjet-hostile-{}", process::id())).expect("a name");
    // SAFETY: a string that ends in a zero byte.
    if unsafe { libc::mq_unlink(name.as_ptr()) } == 0 || queue.exists() {
        left.push("a queue of POSIX is left".into());
    }
    left
}

/// Removes a folder, whatever was done to it.
pub(super) fn clear(folder: &Path) {
    if !folder.exists() {
        return;
    }
    if fs::remove_dir_all(folder).is_ok() {
        return;
    }
    let quiet = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        let _ = command.args(arguments).arg(folder).stdout(Stdio::null()).stderr(Stdio::null()).status();
    };
    quiet("chattr", &["-R", "-i", "-a"]);
    quiet("umount", &["-l"]);
    quiet("chmod", &["-R", "u+rwx"]);
    quiet("rm", &["-rf"]);
}
