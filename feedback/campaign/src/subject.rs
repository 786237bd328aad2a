//! The program under test, however it is run.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use gramjet_harness::{
    Command, Confinement, Counting, Demanded, Error, ForkServer, Function, Limits, Lines, Locations, Permission,
    Program, RegularExpression, Run, Subject, Target, Telling, instrumentation, stay_on, words_of,
};
use gramjet_session::hash;

/// Surroundings that programs are run in.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Limits on time, memory, processes, files and output.
    pub limits: Limits,
    /// Confinement of programs.
    pub confinement: Confinement,
    /// Permissions that programs have although they are confined.
    pub allowed: &'static [Permission],
    /// Functions get text, not bytes.
    pub text: bool,
    /// Modules of Python's standard library that are counted.
    pub counted: &'static [String],
    /// Counts that are taken of functions.
    pub counting: Counting,
    /// Kind of facts that are looked for in the code of functions.
    pub telling: Telling,
    /// The core of a program with a fork server, and of the thread that runs it; `None` for any.
    pub core: Option<usize>,
    /// Processor time is measured also where that takes time for each run.
    pub times_rounds: bool,
    /// Kinds of what programs ask for that are counted.
    pub demanded: Demanded,
}

impl Default for Surroundings {
    /// Returns the usual limits, for a confined program.
    fn default() -> Surroundings {
        Surroundings {
            limits: Limits::default(),
            confinement: Confinement::Confined,
            allowed: &[],
            text: false,
            counted: &[],
            counting: Counting::default(),
            telling: Telling::Nothing,
            core: None,
            times_rounds: false,
            demanded: Demanded::default(),
        }
    }
}

impl Surroundings {
    /// Returns the same surroundings on this core.
    pub fn on(self, core: Option<usize>) -> Surroundings {
        Surroundings { core, ..self }
    }

    /// Returns the same surroundings with these modules of Python's standard library counted.
    pub fn counting(self, counted: &'static [String]) -> Surroundings {
        Surroundings { counted, ..self }
    }

    /// Returns the same surroundings in which this is counted of functions.
    pub fn of_functions(self, counting: Counting) -> Surroundings {
        Surroundings { counting, ..self }
    }

    /// Returns the same surroundings in which functions tell words, for [`Tested::words`].
    pub fn telling_words(self) -> Surroundings {
        Surroundings { telling: Telling::Words, ..self }
    }

    /// Returns the same surroundings in which functions tell regular expressions, for [`Tested::expressions`].
    pub fn telling_expressions(self) -> Surroundings {
        Surroundings { telling: Telling::Expressions, ..self }
    }

    /// Returns the same surroundings with a measurement of processor time wherever it is possible.
    pub fn timed(self, times_rounds: bool) -> Surroundings {
        Surroundings { times_rounds, ..self }
    }

    /// Returns the same surroundings in which it is counted what programs ask for.
    pub fn demanding(self, demanded: Demanded) -> Surroundings {
        Surroundings { demanded, ..self }
    }
}

/// A program or function that is ready to take inputs.
pub struct Tested {
    by: By,
    /// Places of the edges of the program, once they were asked for.
    places: Option<(Locations, Lines)>,
}

/// Ways of running a program or a function.
enum By {
    Command(Box<Command>),
    ForkServer(Box<ForkServer>),
    Function(Box<Function>),
}

/// A place in the sources of the program under test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The file, as the compiler or the interpreter names it.
    pub file: PathBuf,
    /// From 1 on.
    pub line: u32,
    /// Empty if it is not known.
    pub function: String,
}

impl Spot {
    /// Returns `file:line`, where files of packages and of the libraries of Rust and Python are named without the
    /// folders of this machine.
    pub fn place(&self) -> String {
        format!("{}:{}", shown(&self.file).display(), self.line)
    }
}

impl fmt::Display for Spot {
    /// Writes `file:line (function)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())?;
        if self.function.is_empty() { Ok(()) } else { write!(f, " ({})", self.function) }
    }
}

impl Tested {
    /// Returns the function that the first word names (`python:`, `node:`, `java:`), else the program with its
    /// arguments: by its fork server if it is instrumented.
    pub fn new(command: &[OsString], surroundings: Surroundings) -> Result<Tested, Error> {
        let Surroundings { limits, confinement, allowed, text, counted, counting, telling, core, .. } = surroundings;
        let (name, arguments) = command.split_first().expect("clap asks for one word");
        if let Some(specification) = function(name) {
            let subject = Subject::new(specification)?.limits(limits).confinement(confinement);
            let subject = allowed.iter().cloned().fold(subject, Subject::allow);
            let subject = if text { subject.text() } else { subject }.counting(counting).telling(telling);
            let subject = counted.iter().fold(subject, |subject, module| subject.own(module));
            return Ok(Tested::by(By::Function(Box::new(Function::new(subject)?))));
        }
        let program = Program::new(name, arguments)?.limits(limits).confinement(confinement);
        let program = allowed.iter().cloned().fold(program, Program::allow);
        let program = program.counts(surroundings.demanded);
        let is_instrumented = instrumentation(program.path()).is_ok_and(|found| found.by.is_some());
        if is_instrumented {
            let program = match core {
                Some(core) => program.core(core),
                None => program,
            };
            let program = if surroundings.times_rounds { program.times_rounds() } else { program };
            Ok(Tested::by(By::ForkServer(Box::new(ForkServer::new(program)?))))
        } else {
            Ok(Tested::by(By::Command(Box::new(Command::new(program)?))))
        }
    }

    /// Returns a program or function by one line. A line that only has plain words, the first of which names a program,
    /// needs no shell, and a program of it that is instrumented is run by its fork server; other lines are commands of
    /// the shell.
    pub fn line(line: &str, surroundings: Surroundings) -> Result<Tested, Error> {
        let words = plain_words(line);
        match words.first() {
            Some(word) if function(word).is_some() => Tested::new(&words, surroundings),
            Some(_) => Tested::new(&words, surroundings).or_else(|_| Tested::shell(line, surroundings, None)),
            None => Tested::shell(line, surroundings, None),
        }
    }

    /// Returns a command of the shell; `@@` stands for the input's file. The variable names another file, which holds
    /// what [`Tested::hand`] says.
    pub fn shell(command: &str, surroundings: Surroundings, variable: Option<&str>) -> Result<Tested, Error> {
        let program = Program::new("/bin/sh", ["-c", command])?;
        let program = program.limits(surroundings.limits).confinement(surroundings.confinement);
        let program = surroundings.allowed.iter().cloned().fold(program, Program::allow);
        let program = match variable {
            Some(variable) => program.second_file(variable),
            None => program,
        };
        Ok(Tested::by(By::Command(Box::new(Command::new(program)?))))
    }

    /// Says what the other file of a command holds from the next run on.
    pub fn hand(&mut self, bytes: &[u8]) {
        if let By::Command(command) = &mut self.by {
            command.hand(bytes);
        }
    }

    fn by(by: By) -> Tested {
        Tested { by, places: None }
    }

    /// Returns true if it counts its edges.
    pub fn counts_edges(&self) -> bool {
        !matches!(self.by, By::Command(_))
    }

    /// Returns true if the sum of its counts is known while it runs. AFL++'s counters wrap.
    pub fn sums_edges(&self) -> bool {
        match &self.by {
            By::Command(_) => false,
            By::ForkServer(server) => !server.instrumentation().is_by_afl(),
            By::Function(_) => true,
        }
    }

    /// Returns true if the processor time of runs is known; else time by the clock stands for it.
    pub fn knows_cpu(&self) -> bool {
        match &self.by {
            By::Function(_) => true,
            By::Command(command) => command.measures().cpu,
            By::ForkServer(server) => server.measures().cpu,
        }
    }

    /// Returns true if the peak of memory of each run is known.
    pub fn knows_memory(&self) -> bool {
        match &self.by {
            By::Command(command) => command.measures().peak_memory,
            By::ForkServer(server) => server.measures().peak_memory,
            By::Function(_) => false,
        }
    }

    /// Returns true if it is counted what each run allocates.
    pub fn knows_allocations(&self) -> bool {
        match &self.by {
            By::Command(command) => command.measures().allocated,
            By::ForkServer(server) => server.measures().allocated,
            By::Function(_) => false,
        }
    }

    /// Returns true if the depth of the stack of each run is counted.
    pub fn knows_stack(&self) -> bool {
        match &self.by {
            By::Command(command) => command.measures().stack,
            By::ForkServer(server) => server.measures().stack,
            By::Function(_) => false,
        }
    }

    /// Returns true if a process takes many inputs, so that what an input does may depend on earlier ones.
    pub fn has_history(&self) -> bool {
        match &self.by {
            By::Command(_) => false,
            By::ForkServer(server) => server.instrumentation().is_persistent,
            By::Function(_) => true,
        }
    }

    /// Returns true if it is a program that counts its edges. An exception of a function may only say that a text is
    /// invalid.
    pub fn is_guided_program(&self) -> bool {
        matches!(self.by, By::ForkServer(_))
    }

    /// Returns the constants that the program's input may have to contain: those in its file, or those that a function
    /// tells.
    pub fn words(&self) -> Vec<Vec<u8>> {
        match &self.by {
            By::Command(command) => words_of(command.program().path()),
            By::ForkServer(server) => words_of(server.program().path()),
            By::Function(function) => function.words().to_vec(),
        }
    }

    /// Returns the regular expressions of a function's code, if they were asked for; none of other programs.
    pub fn expressions(&self) -> &[RegularExpression] {
        match &self.by {
            By::Command(_) | By::ForkServer(_) => &[],
            By::Function(function) => function.expressions(),
        }
    }

    /// Returns the place of an edge in the sources; `None` if that is not known.
    pub fn spot(&mut self, edge: u32) -> Option<Spot> {
        match &mut self.by {
            By::Command(_) => None,
            By::Function(function) => function.place(edge).map(|place| Spot {
                file: from_here(Path::new(&place.file)),
                line: place.line,
                function: place.function.clone(),
            }),
            By::ForkServer(server) => {
                let (locations, lines) = self.places.get_or_insert_with(|| (server.locations(), Lines::new()));
                let line = lines.line(locations, edge)?;
                Some(Spot { file: from_here(&line.file), line: line.line, function: line.function.unwrap_or_default() })
            }
        }
    }

    /// Keeps this thread on the core of its program, if that is a fork server. Functions may use all cores.
    pub fn stay_beside(&self, surroundings: Surroundings) {
        if let (By::ForkServer(_), Some(core)) = (&self.by, surroundings.core) {
            // On another core the thread is slower, and nothing else.
            let _ = stay_on(core);
        }
    }

    /// Returns what identifies an edge everywhere: functions number edges as they are first executed.
    pub fn identity(&self, edge: u32) -> u64 {
        let place = match &self.by {
            By::Function(function) => function.place(edge),
            _ => None,
        };
        place.map_or(u64::from(edge), |place| hash(place.to_string().as_bytes()))
    }

    /// Returns how it is run, for the user.
    pub fn describe(&self) -> &'static str {
        match &self.by {
            By::Command(_) => "a process for each input, not instrumented",
            By::ForkServer(server) if server.instrumentation().is_persistent => "persistent, guided by coverage",
            By::ForkServer(_) => "fork server, guided by coverage",
            By::Function(_) => "function in a worker process, guided by coverage",
        }
    }
}

/// Returns a file for the user: `NAME-VERSION/src/lib.rs` in a crate that cargo has downloaded,
/// `library/core/src/lib.rs` in Rust's own library, `python3.11/json/decoder.py` in Python's, `NAME/index.js` in a
/// package of Python or Node, unless it is within the current folder; others as they are.
fn shown(file: &Path) -> &Path {
    if let Some(own) = of_package(file).filter(|_| file.is_absolute()) {
        return own;
    }
    let mut rest = file.components();
    while !rest.as_path().as_os_str().is_empty() {
        let mut after = rest.clone();
        let first: Vec<_> = after.by_ref().take(3).map(|component| component.as_os_str().to_string_lossy()).collect();
        let is_before = match first.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
            ["registry", "src", index] => is_index(index),
            ["/", "rustc", _] | ["rustlib", "src", "rust"] => true,
            _ => false,
        };
        if is_before && after.clone().count() > 1 {
            return after.as_path();
        }
        rest.next();
    }
    file
}

/// Returns the part of a file's name from its package on, or from the folder of Python's own library on.
fn of_package(file: &Path) -> Option<&Path> {
    let mut rest = file.components();
    let mut library = None;
    while let Some(part) = rest.next() {
        let (part, after) = (part.as_os_str().to_string_lossy(), rest.as_path());
        if ["site-packages", "dist-packages", "node_modules"].contains(&&*part) && after.iter().count() > 0 {
            return Some(after);
        }
        let version = after.iter().next().and_then(|version| version.to_str()?.strip_prefix("python3"));
        let is_version = |version: &str| version.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
        if (part == "lib" || part == "lib64") && version.is_some_and(is_version) {
            library.get_or_insert(after);
        }
    }
    library
}

/// Returns true if a folder has the name that cargo gives to that of a registry: with 16 hexadecimal digits at the end.
fn is_index(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, hash)| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns a path as seen from the current folder, if it is within it.
fn from_here(file: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    here.and_then(|here| file.strip_prefix(here).ok()).unwrap_or(file).to_path_buf()
}

impl Target for Tested {
    fn room(&self) -> usize {
        match &self.by {
            By::Command(command) => command.room(),
            By::ForkServer(server) => server.room(),
            By::Function(function) => function.room(),
        }
    }

    fn start(&mut self, input: &[u8]) -> Result<(), Error> {
        match &mut self.by {
            By::Command(command) => command.start(input),
            By::ForkServer(server) => server.start(input),
            By::Function(function) => function.start(input),
        }
    }

    fn renew(&mut self) -> Result<(), Error> {
        match &mut self.by {
            By::Command(command) => command.renew(),
            By::ForkServer(server) => server.renew(),
            By::Function(function) => function.renew(),
        }
    }

    fn finish(&mut self) -> Result<Run<'_>, Error> {
        match &mut self.by {
            By::Command(command) => command.finish(),
            By::ForkServer(server) => server.finish(),
            By::Function(function) => function.finish(),
        }
    }
}

/// Returns the specification of a function, if the word is one.
pub fn function(word: &OsString) -> Option<&str> {
    let word = word.to_str()?;
    ["python:", "node:", "java:"].iter().any(|language| word.starts_with(language)).then_some(word)
}

/// Returns true if a command is a function of Python.
pub fn is_python(command: &[OsString]) -> bool {
    command.first().and_then(function).is_some_and(|function| function.starts_with("python:"))
}

/// Returns the words of a line, if a shell takes each as it stands and the first one as the name of a program; else
/// none.
fn plain_words(line: &str) -> Vec<OsString> {
    let is_plain = |word: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+=:,./@%#".contains(&byte);
        !word.starts_with('#') && word.bytes().all(is_plain)
    };
    let words: Vec<&str> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    let is_command = words.first().is_some_and(|word| !word.contains('=')) && words.iter().all(|word| is_plain(word));
    if is_command { words.into_iter().map(OsString::from).collect() } else { Vec::new() }
}

/// Returns the words of a command as a shell takes them.
pub fn quoted(words: &[OsString]) -> OsString {
    let mut line = Vec::new();
    for word in words {
        if !line.is_empty() {
            line.push(b' ');
        }
        let word = word.as_bytes();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+=:,./@%".contains(byte);
        if !word.is_empty() && word.iter().all(is_plain) {
            line.extend(word);
            continue;
        }
        line.push(b'\'');
        for &byte in word {
            if byte == b'\'' { line.extend(br"'\''") } else { line.push(byte) }
        }
        line.push(b'\'');
    }
    OsString::from_vec(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_need_no_shell() {
        assert_eq!(plain_words(" jq  . @@"), ["jq", ".", "@@"]);
        assert_eq!(plain_words("node:a.js#parse"), ["node:a.js#parse"]);
        for line in
            ["", "! grep x", "a | b", "cat < @@", "X=1 a", "echo #x", "a 'b c'", "a *", "a; b", "a $b", "~/a", "a\nb"]
        {
            assert_eq!(plain_words(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn files_of_packages_are_shown_without_the_folders_of_the_machine() {
        let registry = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        let hash = "59807616e1fa2540724bfbac14d7976d7e4a3860";
        let toolchain = "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust";
        for (file, expected) in [
            (format!("{registry}/roxmltree-0.20.0/src/parse.rs"), "roxmltree-0.20.0/src/parse.rs"),
            (format!("{}/a-1.0.0/b.rs", &registry[9..]), "a-1.0.0/b.rs"),
            (format!("/rustc/{hash}/library/core/src/slice/mod.rs"), "library/core/src/slice/mod.rs"),
            (format!("{toolchain}/library/alloc/src/vec/mod.rs"), "library/alloc/src/vec/mod.rs"),
            ("/home/me/registry/src/a-b/c/d.rs".into(), "/home/me/registry/src/a-b/c/d.rs"),
            ("/home/me/rustc/src/a/b.rs".into(), "/home/me/rustc/src/a/b.rs"),
            ("/usr/lib/python3.11/json/decoder.py".into(), "python3.11/json/decoder.py"),
            ("/venv/lib/python3.11/site-packages/markdown/core.py".into(), "markdown/core.py"),
            ("/usr/lib/python3/dist-packages/yaml/reader.py".into(), "yaml/reader.py"),
            ("/srv/node_modules/marked/lib/a.js".into(), "marked/lib/a.js"),
            ("/usr/lib64/python3.13/ast.py".into(), "python3.13/ast.py"),
            ("node_modules/marked/lib/a.js".into(), "node_modules/marked/lib/a.js"),
            ("/home/me/lib/python3.11-app/a.py".into(), "/home/me/lib/python3.11-app/a.py"),
            ("../a.c".into(), "../a.c"),
            (registry.into(), registry),
        ] {
            let spot = Spot { file: PathBuf::from(&file), line: 3, function: "f".into() };
            assert_eq!(spot.to_string(), format!("{expected}:3 (f)"), "{file}");
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["./a", "x y", "it's", "@@", ""].map(OsString::from);
        assert_eq!(quoted(&words), r"./a 'x y' 'it'\''s' @@ ''");
    }
}
