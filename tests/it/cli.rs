//! The command line, run as users run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod checks;
mod ends;
#[cfg(target_os = "linux")]
mod evolve;
#[cfg(target_os = "linux")]
mod fuzz;
#[cfg(target_os = "linux")]
mod infer;
mod learn;
mod parse;
mod recorded;
#[cfg(target_os = "linux")]
mod refine;
#[cfg(target_os = "linux")]
mod search;
mod shapes;
mod sizes;
mod variants;

/// Lists of words, with line feeds and zero bytes in them.
const GRAMMAR: &str =
    "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9]+ | '\"' [a-z]* #xA? #x0? '\"' @ 2 | list @ 0.3\n";

/// The engines that run any grammar here.
const ENGINES: &[&str] = if gramjet_engine::jit::is_available() {
    &["auto", "reference", "vm", "jit"]
} else {
    &["auto", "reference", "vm"]
};

/// The grammar of the tests, and a directory that one test has for itself.
struct Place {
    directory: PathBuf,
    grammar: PathBuf,
}

fn place(test: &str) -> Place {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{test}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    let grammar = directory.join("list.ebnf");
    fs::write(&grammar, GRAMMAR).unwrap();
    Place { directory, grammar }
}

/// The command, which can be interrupted even if the tests were started with interrupts ignored, as shells do in the
/// background.
fn interruptible() -> Command {
    let mut command = gramjet();
    // SAFETY: between fork and exec, `signal` may be called, and it takes these arguments.
    #[cfg(unix)]
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, || {
            match libc::signal(libc::SIGINT, libc::SIG_DFL) {
                libc::SIG_ERR => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            }
        });
    }
    command
}

fn gramjet() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramjet"));
    command.env_clear().stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    gramjet().args(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> Vec<u8> {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    output.stdout
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Place {
    fn grammar(&self) -> &str {
        self.grammar.to_str().unwrap()
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).to_str().unwrap().to_string()
    }

    /// The output of `gen` with a fixed seed.
    fn generate(&self, arguments: &[&str]) -> Vec<u8> {
        stdout(&[&["gen", self.grammar(), "--seed", "7"], arguments].concat())
    }
}

/// The inputs, each of which follows its length.
fn inputs_of(mut framed: &[u8]) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    while let Some((length, behind)) = framed.split_first_chunk::<4>() {
        let (input, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
        inputs.push(input.to_vec());
        framed = behind;
    }
    assert!(framed.is_empty());
    inputs
}

#[test]
fn the_bulk_engine_makes_the_same_with_any_number_of_threads_and_shards() {
    let place = place("bulk");
    let bulk = |arguments: &[&str]| place.generate(&[&["--engine", "bulk"], arguments].concat());
    let expected = bulk(&["-n", "50000"]);
    assert!(expected.len() > 100_000);
    for jobs in ["2", "3"] {
        assert!(bulk(&["-n", "50000", "--jobs", jobs]) == expected, "{jobs} jobs");
    }
    let shards = ["0/3", "1/3", "2/3"].map(|shard| bulk(&["-n", "50000", "--shard", shard]));
    assert!(shards.concat() == expected);
    assert!(expected.starts_with(&bulk(&["-n", "5"])));
    let some = bulk(&["--bytes", "70k"]);
    assert!(expected.starts_with(&some) && some.len() >= 70_000 && some.ends_with(b"\n"));
    assert!(bulk(&["--time", "0s"]).is_empty());
    // The same inputs as other engines could make, after their lengths and in files.
    let framed = inputs_of(&bulk(&["-n", "1000", "--separator", "len32"]));
    assert_eq!(framed.len(), 1000);
    let folder = place.path("files/");
    bulk(&["-n", "300", "-o", &folder]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 300);
    // With more work at the tables too the number of threads makes no difference.
    let larger = bulk(&["-n", "50000", "--optimise", "3"]);
    assert!(larger == bulk(&["-n", "50000", "--optimise", "3", "--jobs", "2"]));
    let refused = run(&["gen", place.grammar(), "--engine", "bulk", "--optimise", "0"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    let refused = run(&["gen", place.grammar(), "--engine", "bulk", "--max-len", "50"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
fn engines_are_measured_only_where_the_output_may_depend_on_them() {
    let place = place("measured");
    // The rest of the output is not read.
    let said = |arguments: &[&str]| {
        let mut run = gramjet();
        run.args(["gen", place.grammar(), "-v"]).args(arguments);
        let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(run.stdout.take());
        text(&run.wait_with_output().unwrap().stderr).lines().next().unwrap().to_string()
    };
    // Either engine may be faster here; the message names the measurement.
    let unseeded = said(&["--bytes", "20G"]);
    assert!(unseeded.contains("bulk") && unseeded.contains("MiB/s"), "{unseeded}");
    let limited = said(&["--bytes", "20G", "--max-len", "1000"]);
    assert!(limited.contains("not bulk, as a limit on the length"), "{limited}");
    for arguments in [&["--bytes", "20G", "--seed", "1"][..], &["-n", "10"], &["--bytes", "20G", "--engine", "vm"]] {
        let said = said(arguments);
        assert!(!said.contains("bulk"), "{said}");
    }
}

#[test]
fn the_output_depends_on_the_seed_alone() {
    let place = place("seed");
    let expected = place.generate(&["-n", "3000"]);
    assert!(expected.len() > 10_000);
    for jobs in ["1", "2", "3", "auto"] {
        assert!(place.generate(&["-n", "3000", "--jobs", jobs]) == expected, "{jobs} jobs");
    }
    for engine in ENGINES {
        assert!(place.generate(&["-n", "3000", "--engine", engine]) == expected, "{engine}");
    }
    let start = place.generate(&["-n", "300"]);
    assert!(expected.starts_with(&start));
    assert!(stdout(&["gen", place.grammar(), "-n", "3000", "--seed", "8"]) != expected);
    let random = || stdout(&["gen", place.grammar(), "-n", "100"]);
    assert!(random() != random());
}

#[test]
fn shards_are_the_run() {
    let place = place("shards");
    let whole = place.generate(&["-n", "3000"]);
    let shards = |count: u32| (0..count).map(move |index| format!("{index}/{count}"));
    for count in [1, 3, 20] {
        let union: Vec<u8> =
            shards(count).flat_map(|shard| place.generate(&["-n", "3000", "--shard", &shard])).collect();
        assert!(union == whole, "{count} shards");
    }
    // Blocks of 256 inputs take turns; the first shard's first block is the run's.
    let first = place.generate(&["--bytes", "20k", "--shard", "0/2"]);
    let second = place.generate(&["--bytes", "20k", "--shard", "1/2", "--jobs", "2"]);
    assert!(whole.starts_with(&place.generate(&["-n", "256"])));
    assert!(first.starts_with(&place.generate(&["-n", "256"])));
    let second_block = &place.generate(&["-n", "512"])[place.generate(&["-n", "256"]).len()..];
    assert!(second.len() >= 10_000 && second.starts_with(&second_block[..second_block.len().min(10_000)]));

    let slurm = gramjet()
        .args(["gen", place.grammar(), "--seed", "7", "-n", "3000", "--shard", "auto"])
        .env("SLURM_ARRAY_TASK_ID", "3")
        .env("SLURM_ARRAY_TASK_MIN", "1")
        .env("SLURM_ARRAY_TASK_COUNT", "3")
        .output()
        .unwrap();
    assert!(slurm.stdout == place.generate(&["-n", "3000", "--shard", "2/3"]));
    let none = run(&["gen", place.grammar(), "--seed", "7", "--shard", "auto"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("SLURM_ARRAY_TASK_ID"));
}

#[test]
fn separators() {
    let place = place("separators");
    let all = |separator| place.generate(&["-n", "300", "--separator", separator]);
    let inputs = inputs_of(&all("len32"));
    assert_eq!(inputs.len(), 300);
    assert!(all("none") == inputs.concat());
    let joined = |byte| inputs.iter().flat_map(|input| input.iter().copied().chain([byte])).collect::<Vec<u8>>();
    assert!(all("newline") == joined(b'\n'));
    assert!(all("nul") == joined(0));
    assert!(place.generate(&["-n", "300"]) == joined(b'\n'));
}

#[test]
fn amounts() {
    let place = place("amounts");
    assert!(place.generate(&["-n", "1"]) == place.generate(&[]));
    for nothing in [["-n", "0"], ["--bytes", "0"]] {
        assert!(place.generate(&nothing).is_empty());
    }
    let many = place.generate(&["-n", "2000", "--separator", "none"]);
    for (size, bytes) in [("1", 1), ("2000", 2000), ("3KiB", 3072), ("5kB", 5000)] {
        let made = place.generate(&["--bytes", size, "--separator", "none"]);
        assert!(made.len() >= bytes && many.starts_with(&made), "{size}");
        assert!(place.generate(&["--bytes", size, "--separator", "none", "--jobs", "3"]) == made, "{size}");
    }
    // The last input is the one that reaches the size.
    let mut total = 0;
    let whole = inputs_of(&place.generate(&["-n", "2000", "--separator", "len32"]));
    let ends = whole.iter().map(|input| {
        total += input.len();
        total
    });
    let expected = ends.into_iter().find(|&end| end >= 4999);
    assert_eq!(Some(place.generate(&["--bytes", "4999", "--separator", "none"]).len()), expected);
    let timed = place.generate(&["--time", "50ms"]);
    assert!(timed.starts_with(&place.generate(&["-n", "1"])) && timed.ends_with(b"]\n"));
}

#[test]
fn files() {
    let place = place("files");
    let expected = place.generate(&["-n", "2000"]);
    for arguments in [&[][..], &["--mmap"], &["--no-mmap"], &["--write-mode", "mmap"], &["--jobs", "2", "--mmap"]] {
        if cfg!(not(target_os = "linux")) && arguments.iter().any(|argument| argument.ends_with("mmap")) {
            continue;
        }
        let file = place.path("output");
        // Whatever was there before is gone.
        fs::write(&file, vec![0; 1 << 20]).unwrap();
        let out = place.generate(&[&["-n", "2000", "-o", &file], arguments].concat());
        assert!(out.is_empty() && fs::read(&file).unwrap() == expected, "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn large_files_by_mmap() {
    let place = place("large");
    let (written, mapped) = (place.path("written"), place.path("mapped"));
    // Long words make many windows in little time, so that the file has to grow.
    fs::write(&place.grammar, format!("long ::= ('{}' | '{}')+", "a".repeat(9999), "b".repeat(8888))).unwrap();
    place.generate(&["--bytes", "40M", "-o", &written, "--no-mmap"]);
    place.generate(&["--bytes", "40M", "-o", &mapped, "--mmap", "--jobs", "2"]);
    let written = fs::read(written).unwrap();
    assert!(written.len() >= 40_000_000 && fs::read(mapped).unwrap() == written);
}

#[test]
fn directories() {
    let place = place("directories");
    let folder = place.path("corpus/deep");
    let inputs = |folder: &str| {
        let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    };
    place.generate(&["-n", "600", "-o", &folder, "--ext", "txt"]);
    let names = inputs(&folder);
    assert_eq!(names.len(), 600);
    assert!(names[0].ends_with("00000000.txt") && names[599].ends_with("00000599.txt"));
    let content: Vec<u8> = names.iter().flat_map(|name| fs::read(name).unwrap()).collect();
    assert!(content == place.generate(&["-n", "600", "--separator", "none"]));

    let shared = place.path("shared/");
    for shard in ["0/3", "1/3", "2/3"] {
        place.generate(&["-n", "600", "-o", &shared, "--shard", shard, "--jobs", "2"]);
    }
    let names = inputs(&shared);
    assert_eq!(names.len(), 600);
    assert!(names.iter().flat_map(|name| fs::read(name).unwrap()).eq(content));
}

#[test]
fn wrong_arguments_are_code_2() {
    let place = place("wrong");
    let grammar = place.grammar();
    let cases: &[(&[&str], &str)] = &[
        (&[], "Usage"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["gen"], "GRAMMAR"),
        (&["gen", grammar, "-n", "-1"], "-1"),
        (&["gen", grammar, "-n", "1", "--bytes", "1"], "cannot be used with"),
        (&["gen", grammar, "--bytes", "10X"], "not a unit of size"),
        (&["gen", grammar, "--time", "1y"], "not a unit of time"),
        (&["gen", grammar, "--jobs", "0"], "threads"),
        (&["gen", grammar, "--shard", "3/3", "--seed", "1"], "shard 3 does not exist"),
        (&["gen", grammar, "--shard", "0/3"], "--seed"),
        (&["gen", grammar, "--engine", "rust"], "shipped"),
        (&["gen", grammar, "--format", "cobol"], "possible values"),
        (&["gen", grammar, "--mmap"], "-o"),
        (&["gen", grammar, "--ext", "x"], "--output"),
        (
            &["gen", grammar, "--max-len", "1"],
            "length of 1 byte is too small: the shortest input of this grammar has 2 bytes",
        ),
        (&["gen", grammar, "-n", "abc"], "a number is expected, such as 100"),
        (&["gen", grammar, "-n", "-5"], "a number is expected, such as 100"),
        (&["gen", grammar, "--seed", "-1"], "a seed is a number from 0 to 2^64 - 1"),
        (&["gen", grammar, "--seed", "-0x1"], "invalid value '-0x1' for '--seed <SEED>': a seed is a number"),
        (&["gen", grammar, "-s", "-0X1f"], "invalid value '-0X1f' for '--seed <SEED>': a seed is a number"),
        (&["gen", grammar, "--max-depth", "-1"], "a number of levels, or `none`, is expected"),
        (&["gen", grammar, "-o", grammar, "--ext", "txt"], "is not a directory; `--ext`"),
        (&["gen", grammar, "--start", "lits"], "lits"),
        (&["gen", "no-such-grammar"], "`gramjet grammars` lists"),
        (&["gen", "no/such/file"], "no such file"),
        (&["gen", &grammar.replace("list.ebnf", "lst.ebnf")], "list.ebnf"),
        (&["gen", ""], "empty"),
        (&["dump", "nonsense", grammar], "possible values"),
        (&["emit", "cobol", grammar], "possible values"),
        (&["completions", "dos"], "possible values"),
        (&["man", "nonsense"], "no command"),
        (&["render", "-", "-"], "standard input"),
    ];
    for (arguments, expected) in cases {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn bad_grammars() {
    let place = place("bad");
    let file = place.path("bad.ebnf");
    let refused = |content: &[u8], code, expected: &str| {
        fs::write(&file, content).unwrap();
        let output = run(&["gen", &file]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(expected) && output.stdout.is_empty(), "{message}");
        assert!(!message.contains('\u{1b}'), "no colours in a file: {message}");
        message
    };
    let message = refused(b"a ::= 'x' b\nc ::= 'y'\n", 2, "error[undefined-rule]");
    assert!(message.contains("bad.ebnf:1:11") && message.contains("^"), "{message}");
    let forced = |variables: &[(&str, &str)]| {
        let mut command = gramjet();
        text(&command.args(["gen", &file]).envs(variables.iter().copied()).output().unwrap().stderr)
    };
    assert!(forced(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!forced(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
    refused(b"a ::= 'x", 2, "does not compile: ");
    refused(b"", 2, "does not compile: ");
    refused(b"a ::= '\xff'", 2, "not UTF-8 text: byte 0xff at offset 7");
    // An excerpt of a long line is short.
    let long = format!("a ::= {} b", "'x' ".repeat(500_000));
    let message = refused(long.as_bytes(), 2, "error[");
    assert!(message.len() < 2000, "{} bytes", message.len());
    for command in ["check", "emit rust", "dump pools"].map(|command| command.split(' ').collect::<Vec<_>>()) {
        let output = run(&[&command[..], &[&file]].concat());
        assert_eq!(output.status.code(), Some(2), "{command:?}");
    }
    // The understood part is shown, and the error.
    fs::write(&file, "a ::= 'x'\nb ::= c\n").unwrap();
    let dumped = run(&["dump", "ast", &file]);
    assert!(dumped.status.code() == Some(2) && text(&dumped.stderr).contains("error[undefined-rule]"));
    assert!(text(&dumped.stdout).contains("\"x\""), "{}", text(&dumped.stdout));
    fs::write(&file, "a ::= 'x'\nb ::= 'y'\n").unwrap();
    for stage in ["ast", "share-tails"] {
        let dumped = run(&["dump", stage, &file]);
        assert!(dumped.status.success() && text(&dumped.stderr).contains("warning[unreachable-rule]"));
    }
    let help = text(&stdout(&["dump", "--help"]));
    assert!(help.contains("beyond the depth limit") && help.contains("Repetitions of a fixed"), "{help}");
    let directory = run(&["gen", place.directory.to_str().unwrap()]);
    assert_eq!(directory.status.code(), Some(2));
    assert!(text(&directory.stderr).contains("directory"));
}

#[test]
fn tokens_of_yacc_stand_in_a_file() {
    let place = place("tokens");
    let (grammar, tokens) = (place.path("calc.y"), place.path("calc.ebnf"));
    std::fs::write(&grammar, "%token NUM ID\n%%\ns: NUM \"if\" ID;\n").unwrap();
    std::fs::write(&tokens, "NUM ::= '7'\nID ::= 'if' | 'x'\n").unwrap();
    assert_eq!(text(&stdout(&["gen", &grammar, "--tokens", &tokens, "-n", "2"])), "7ifx\n7ifx\n");
    let refused = run(&["gen", &grammar]);
    assert_eq!(refused.status.code(), Some(2));
    let refused = run(&["gen", "json", "--tokens", &tokens]);
    assert!(text(&refused.stderr).contains("take no file of tokens"), "{}", text(&refused.stderr));
    std::fs::write(&tokens, "NUM ::= '7\n").unwrap();
    let refused = run(&["gen", &grammar, "--tokens", &tokens]);
    assert!(text(&refused.stderr).contains("calc.ebnf:1:9: "), "{}", text(&refused.stderr));
}

#[test]
fn standard_input_is_a_grammar() {
    let place = place("stdin");
    let file = fs::File::open(&place.grammar).unwrap();
    let output = gramjet().args(["gen", "-", "--seed", "7", "-n", "50"]).stdin(file).output().unwrap();
    assert!(output.stdout == place.generate(&["-n", "50"]));
}

#[test]
fn render_replays() {
    let place = place("render");
    let choices = place.path("choices");
    fs::write(&choices, [200, 10, 20, 30, 255, 0, 0, 0, 0, 0, 0, 0, 9, 9]).unwrap();
    let expected = stdout(&["render", place.grammar(), &choices]);
    assert!(expected.starts_with(b"[") && expected.ends_with(b"]"));
    for engine in ENGINES {
        assert_eq!(stdout(&["render", place.grammar(), &choices, "--engine", engine]), expected);
    }
    let piped = gramjet()
        .args(["render", place.grammar(), "-", "-v"])
        .stdin(fs::File::open(&choices).unwrap())
        .output()
        .unwrap();
    assert_eq!(piped.stdout, expected);
    assert!(text(&piped.stderr).contains("of 14 choice bytes"), "{}", text(&piped.stderr));
    fs::write(&choices, []).unwrap();
    assert_eq!(stdout(&["render", place.grammar(), &choices]), b"[]");
    let file = place.path("out");
    stdout(&["render", place.grammar(), &choices, "--max-len", "2", "-o", &file]);
    assert_eq!(fs::read(file).unwrap(), b"[]");
    assert_eq!(run(&["render", place.grammar(), &place.path("nothing")]).status.code(), Some(1));
}

#[test]
fn limits_are_kept_and_told() {
    let place = place("limits");
    let told = |arguments: &[&str]| {
        let output = run(&[&["gen", place.grammar(), "-v", "-n", "50"], arguments].concat());
        assert!(output.status.success());
        text(&output.stderr)
    };
    assert!(told(&[]).contains("maximum depth 32 (default"), "{}", told(&[]));
    assert!(told(&[]).contains("(random)"));
    assert!(told(&["--max-depth", "none"]).contains("no maximum depth"));
    assert!(told(&["--max-depth", "3"]).contains("maximum depth 3,"));
    let message = told(&["--max-len", "1KiB", "--max-choices", "9", "--seed", "0x10"]);
    for part in ["no maximum depth", "maximum length 1024 bytes", "at most 9 choice bytes", "seed 16,", "50 inputs ("] {
        assert!(message.contains(part), "{message}");
    }
    let framed = place.generate(&["-n", "500", "--max-len", "6", "--separator", "len32"]);
    assert!(inputs_of(&framed).iter().all(|input| (2..=6).contains(&input.len())));
    let directive = place.path("directive.ebnf");
    fs::write(&directive, format!("%max-depth 5\n{GRAMMAR}")).unwrap();
    let output = run(&["gen", &directive, "-v"]);
    assert!(text(&output.stderr).contains("maximum depth 5,"), "{}", text(&output.stderr));
}

#[test]
fn texts() {
    let place = place("texts");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(text(&stdout(&["completions", shell])).contains("gramjet"), "{shell}");
    }
    assert!(text(&stdout(&["man"])).contains(".TH gramjet 1"));
    assert!(text(&stdout(&["man", "gen"])).contains(".TH gramjet-gen 1"));
    assert!(text(&stdout(&["--version"])).starts_with("gramjet "));
    assert!(text(&stdout(&["gen", "--help"])).contains("--max-depth"));
    let check = text(&stdout(&["check", place.grammar()]));
    for part in ["start      list", "recursive  list, item", "shortest   2 bytes", "lengths    mean"] {
        assert!(check.contains(part), "{check}");
    }
    for stage in ["ast", "ir", "pools"] {
        assert!(text(&stdout(&["dump", stage, place.grammar()])).contains("list"), "{stage}");
    }
    let source = stdout(&["emit", "rust", place.grammar()]);
    assert!(text(&source).contains("gramjet"));
    let deep = place.path("deep.ebnf");
    fs::write(&deep, "%max-depth 5\na ::= b | 'x'\nb ::= 'x'{70000} a\n").unwrap();
    let renamed = stdout(&["emit", "rust", place.grammar(), "--library", "::gramyet"]);
    assert_eq!(text(&renamed), text(&source).replace("::gramjet::", "::gramyet::"));
    let refused = run(&["emit", "rust", place.grammar(), "--library", "g j"]);
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("is not the path of a library"));
    let emitted = run(&["emit", "rust", &deep]);
    assert!(emitted.status.success() && text(&emitted.stderr).contains("maximum depth 5"), "{}", text(&emitted.stderr));
    assert!(run(&["emit", "rust", place.grammar()]).stderr.is_empty());
    let file = place.path("list.rs");
    assert!(stdout(&["emit", "rust", place.grammar(), "-o", &file]).is_empty());
    assert!(fs::read(file).unwrap() == source);
}

#[test]
fn help_has_arguments_under_the_headings_that_they_belong_to() {
    let commands = ["gen", "check", "weights", "render", "parse", "mutate", "minimise", "dump", "emit", "convert"];
    for command in commands {
        let help = text(&stdout(&[command, "--help"]));
        let section = |heading: &str| {
            let behind =
                help.split_once(&format!("\n{heading}:\n")).unwrap_or_else(|| panic!("{command}: {heading}")).1;
            let lines = behind.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
            let names =
                lines.filter_map(|line| line.trim().split([' ', ',']).next().filter(|_| !line.starts_with("        ")));
            names.filter(|name| !name.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(section("Shape of the inputs"), ["--shape", "--weights"], "{command}");
        assert_eq!(
            section("Reading the grammar"),
            ["--separator-policy", "--alphabet", "--indent", "--tokens", "--zero-weights", "--strict"],
            "{command}"
        );
        let positional = section("Arguments").len();
        let usage = help.lines().find(|line| line.starts_with("Usage: ")).unwrap();
        assert_eq!(
            positional,
            usage.split(['<', '[']).count() - 1 - usize::from(usage.contains("[OPTIONS]")),
            "{usage}"
        );
    }
}

#[test]
fn shipped_grammars() {
    let list = text(&stdout(&["grammars"]));
    let first_words = list.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    let names: Vec<&str> = first_words.collect();
    assert!(names.contains(&"json"), "{list}");
    let mut compiled = 0;
    for name in names {
        let by_name = |engine| stdout(&["gen", name, "--seed", "1", "-n", "20", "--engine", engine]);
        let limited = |engine| stdout(&["gen", name, "--seed", "1", "--max-len", "900", "-n", "9", "--engine", engine]);
        assert!(by_name("auto") == by_name("vm") && limited("auto") == limited("vm"), "{name}");
        if gramjet_engine::jit::is_available() {
            assert!(by_name("jit") == by_name("vm") && limited("jit") == limited("vm"), "{name}");
        }
        let ahead = run(&["gen", name, "--seed", "1", "-n", "20", "--engine", "rust"]);
        if ahead.status.success() {
            compiled += 1;
            assert!(ahead.stdout == by_name("vm") && limited("rust") == limited("vm"), "{name}");
        } else {
            let said = text(&ahead.stderr);
            assert!(said.contains(&format!("`gramjet emit rust {name}`")) && said.contains("grammar!"), "{said}");
        }
    }
    assert_eq!(compiled, if cfg!(feature = "ahead-of-time") { 5 } else { 2 });
}

#[test]
fn verbose_says_which_engine_runs_and_why() {
    let place = place("engine");
    let said = |arguments: &[&str]| text(&run(&[&["gen", "-v", "--seed", "1"], arguments].concat()).stderr);
    let shipped = said(&["json"]);
    assert!(shipped.contains("engine rust (compiled ahead of time"), "{shipped}");
    let file = said(&[place.grammar()]);
    if gramjet_engine::jit::is_available() {
        assert!(file.contains("engine jit (") && file.contains("KiB of machine code"), "{file}")
    } else {
        assert!(file.contains("engine vm (machine code is made for x86-64"), "{file}")
    }
    let table = said(&[place.grammar(), "--engine", "vm"]);
    assert!(table.contains("engine vm,"), "{table}");
}

#[test]
fn machine_code_is_listed_with_the_names_of_rules() {
    let place = place("asm");
    let output = run(&["emit", "asm", place.grammar()]);
    if !gramjet_engine::jit::is_available() {
        assert_eq!(output.status.code(), Some(2));
        return assert!(text(&output.stderr).contains("x86-64"));
    }
    let listing = text(&output.stdout);
    assert!(listing.contains("\n<list>:\n") && listing.contains("call <list>"), "{listing}");
    assert!(listing.contains("\n<[entry]>:\n"), "{listing}");
    let limited = text(&stdout(&["emit", "asm", place.grammar(), "--max-depth", "5", "--max-len", "100"]));
    // r12 holds the depth, r13 the slack.
    assert!(limited.contains("r12") && limited.contains("sub r13"), "{limited}");
    let unlimited = text(&stdout(&["emit", "asm", place.grammar(), "--max-len", "100"]));
    assert!(!unlimited.contains("cmp r12"), "{unlimited}");
}

#[test]
#[cfg(target_os = "linux")]
fn machine_code_is_named_for_perf_on_request() {
    let place = place("perf");
    if !gramjet_engine::jit::is_available() {
        return;
    }
    let output = gramjet().args(["gen", place.grammar()]).env("GRAMJET_PERF_MAP", "1").output().unwrap();
    let message = text(&output.stderr);
    let path = message.trim_end().rsplit(' ').next().unwrap().to_string();
    let map = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(map.lines().any(|line| line.ends_with(" gramjet:list")), "{map}");
    assert!(run(&["gen", place.grammar()]).stderr.is_empty());
}

#[test]
fn grammars_are_converted() {
    let place = place("convert");
    for (name, beginning) in
        [("out.ebnf", "list ::= \"[\" (item (\",\" item)*)? \"]\"\n"), ("out.json", "{\n  \"<list>\": [[\"[\", ")]
    {
        assert!(stdout(&["convert", place.grammar(), &place.path(name)]).is_empty());
        let written = fs::read_to_string(place.path(name)).unwrap();
        assert!(written.starts_with(beginning), "{written}");
        // Another grammar, but the same language: a list in brackets.
        let made = text(&stdout(&["gen", &place.path(name), "-n", "3", "--seed", "1", "--max-len", "40"]));
        assert!(made.starts_with('[') && made.trim_end().ends_with(']'), "{made}");
    }
    assert_eq!(stdout(&["convert", place.grammar(), "-", "--to", "ebnf"]), fs::read(place.path("out.ebnf")).unwrap());
    let refused = run(&["convert", place.grammar(), &place.path("out.abnf")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("error[not-expressible]: ABNF has no weights"), "{}", text(&refused.stderr));
    assert!(!Path::new(&place.path("out.abnf")).exists());
    let weighted = place.path("weighted.ebnf");
    fs::write(&weighted, "a ::= 'x' @ 3 | ('y' @ 0 | 'z' @ 2 | a 'w')* 'v'\n").unwrap();
    assert_eq!(
        text(&stdout(&["convert", &weighted, "-", "--to", "abnf", "--drop-weights"])),
        "a = %s\"x\" / *(%s\"z\" / a %s\"w\") %s\"v\"\n"
    );
    let unknown = run(&["convert", place.grammar(), &place.path("out.txt")]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("known: .ebnf, .w3c, .json, .abnf, .g4"), "{}", text(&unknown.stderr));
}

#[test]
fn formats_are_known_by_extension_text_and_option() {
    let place = place("formats");
    fs::write(place.path("a.abnf"), "a = %s\"x\"\n").unwrap();
    fs::write(place.path("a.txt"), "<a> ::= \"x\"\n").unwrap();
    fs::write(place.path("b.txt"), "x\n").unwrap();
    for arguments in [&["a.abnf"][..], &["a.txt"], &["b.txt", "--format", "regex"]] {
        let path = place.path(arguments[0]);
        assert_eq!(stdout(&[&["gen", &path][..], &arguments[1..]].concat()), b"x\n", "{arguments:?}");
    }
}
