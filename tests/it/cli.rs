//! The command line, run as users run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod checks;
mod draw;
mod ends;
#[cfg(target_os = "linux")]
mod evolve;
#[cfg(target_os = "linux")]
mod folders;
#[cfg(target_os = "linux")]
mod fuzz;
mod generate;
#[cfg(target_os = "linux")]
mod infer;
mod learn;
mod parse;
mod playground;
mod recorded;
#[cfg(target_os = "linux")]
mod refine;
#[cfg(target_os = "linux")]
mod search;
mod shapes;
mod sizes;
mod suites;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod times;
mod variants;
mod wrong;

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

/// Returns the command, which can be interrupted even if the tests were started with interrupts ignored, as shells do
/// in the background.
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

    /// Returns the output of `gen` with a fixed seed.
    fn generate(&self, arguments: &[&str]) -> Vec<u8> {
        stdout(&[&["gen", self.grammar(), "--seed", "7"], arguments].concat())
    }
}

/// Returns the inputs, each of which follows its length.
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
fn a_file_of_lex_says_what_tokens_are() {
    let place = place("lex");
    let (grammar, lexer, input) = (place.path("sum.y"), place.path("sum.l"), place.path("input"));
    fs::write(&grammar, "%token NUM\n%%\nsum: NUM | sum '+' NUM;\n").unwrap();
    fs::write(&lexer, "%%\n[0-9]+ return NUM;\n\"+\" return yytext[0];\n[ \\n]+ ;\n").unwrap();
    let with = ["--tokens", &lexer];
    let arguments = ["gen", &grammar, "-n", "1", "--seed", "1", "--separator-policy", "space"];
    let generated = run(&[&arguments[..], &with].concat());
    assert!(generated.status.success() && !text(&generated.stderr).contains("no effect"), "{generated:?}");
    let said = text(&generated.stdout);
    assert!(said.chars().all(|c| c.is_ascii_digit() || " +\n".contains(c)), "{said:?}");
    // Texts of others have blanks anywhere, and the choices are those of the policy that says so.
    fs::write(&input, "1 +\n 2+3 ").unwrap();
    let parsed =
        run(&[&["parse", &grammar, &input, "--choices", "--raw", "-o", &place.path("choices")][..], &with].concat());
    assert!(parsed.status.success() && text(&parsed.stderr).contains("--separator-policy any"), "{parsed:?}");
    let without = run(&["check", &grammar]);
    assert!(text(&without.stderr).contains("`sum.l` beside it says what its tokens are: add `--tokens sum.l`"));
    // A file with this extension may be in another notation. Then nothing has a lexer.
    let other = place.path("tokens.lex");
    fs::write(&other, "NUM ::= [0-9]+\n").unwrap();
    let idle = run(&["gen", &grammar, "--seed", "1", "--tokens", &other, "--separator-policy", "space"]);
    assert!(idle.status.success(), "{idle:?}");
    let said = text(&idle.stderr);
    assert!(said.contains("has no effect") && said.contains("; this one is read as yacc"), "{said}");
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
    let all = |name, engine| stdout(&["gen", name, "--seed", "1", "-n", "20", "--engine", engine]);
    let some = |name, engine| stdout(&["gen", name, "--seed", "1", "--max-len", "1200", "-n", "9", "--engine", engine]);
    for name in gramjet_testkit::amount::some(names.clone(), 4) {
        let (by_name, limited) = (|engine| all(name, engine), |engine| some(name, engine));
        assert!(by_name("auto") == by_name("vm") && limited("auto") == limited("vm"), "{name}");
        if gramjet_engine::jit::is_available() {
            assert!(by_name("jit") == by_name("vm") && limited("jit") == limited("vm"), "{name}");
        }
    }
    let mut compiled = 0;
    for name in names {
        let ahead = run(&["gen", name, "--seed", "1", "-n", "20", "--engine", "rust"]);
        if ahead.status.success() {
            compiled += 1;
            assert!(ahead.stdout == all(name, "vm") && some(name, "rust") == some(name, "vm"), "{name}");
        } else {
            let said = text(&ahead.stderr);
            let emitted = run(&["emit", "rust", name]);
            let is_told = match emitted.status.success() {
                true => said.contains(&format!("`gramjet emit rust {name}`")) && said.contains("grammar!"),
                // The same refusal.
                false => said.contains(text(&emitted.stderr).trim_end().trim_start_matches("gramjet: ")),
            };
            assert!(is_told && said.contains("--engine auto"), "{said}");
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

#[test]
fn every_command_stands_on_the_page() {
    let page = include_str!("../../docs/cli.md");
    let listed: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("gramjet ")?.split_whitespace().next())
        .flat_map(|names| names.split('|'))
        .collect();
    let help = stdout(&["--help"]);
    let help = text(&help);
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for name in names.filter(|name| !name.is_empty() && *name != "help") {
        assert!(listed.contains(&name), "`gramjet {name}` is not in the list of docs/cli.md");
    }
}
