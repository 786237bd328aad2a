//! The compiler wrappers, with real compilers, build systems and programs that run on a fork server.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, fs};

use gramjet_harness::{ForkServer, Limits, Outcome, Program, Target};

use crate::kit::place;

/// Returns a folder with the wrappers `cc`, `c++` and `cargo`: a name without blanks, as build systems want it.
fn wrappers() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let tests = env::current_exe().expect("the tests");
        let command = tests.ancestors().nth(2).expect("the folder of the build").join("examples/instrument");
        assert!(command.exists(), "`cargo test -p gramjet-harness` builds {}", command.display());
        let folder = place("wrappers");
        for name in ["cc", "c++", "cargo"] {
            let own = folder.join(format!("{name}.{}", std::process::id()));
            fs::write(&own, format!("#!/bin/sh\nexec '{}' {name} \"$@\"\n", command.display())).expect("a script");
            fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a script");
            fs::rename(own, folder.join(name)).expect("a script");
        }
        folder
    })
}

/// Returns true if a program is there. Otherwise the test that asks must return.
pub(crate) fn is_there(program: &str) -> bool {
    gramjet_needs::has(program)
}

/// Returns the compilers to test with: the default one, clang without optimisation at link time, gcc.
pub(crate) fn compilers() -> Vec<[(&'static str, &'static str); 3]> {
    let mut found = Vec::new();
    if gramjet_needs::has_for_a_part("clang") {
        found.push([("GRAMJET_CC", ""), ("GRAMJET_CXX", ""), ("GRAMJET_LTO", "")]);
        found.push([("GRAMJET_CC", "clang"), ("GRAMJET_CXX", "clang++"), ("GRAMJET_LTO", "off")]);
    }
    if ["gcc", "g++"].into_iter().all(gramjet_needs::has_for_a_part) {
        found.push([("GRAMJET_CC", "gcc"), ("GRAMJET_CXX", ""), ("GRAMJET_LTO", "")]);
    }
    if found.is_empty() {
        gramjet_needs::lacks("a compiler");
    }
    found
}

/// Returns a folder that is empty.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let folder = place("instrument").join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Returns a wrapper, to be run in a folder with this compiler.
pub(crate) fn wrapper(name: &str, compiler: &[(&str, &str)], folder: &Path) -> Command {
    let mut command = Command::new(wrappers().join(name));
    command.envs(compiler.iter().copied()).env("XDG_CACHE_HOME", place("cache")).current_dir(folder);
    command
}

pub(crate) fn succeeded(command: &mut Command) -> Output {
    let output = command.output().expect("a program");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}\n{}{}", said(&output.stdout), said(&output.stderr));
    output
}

fn server(program: &Path) -> ForkServer {
    let none: [&str; 0] = [];
    let limits = Limits::default().with_time(Duration::from_secs(5));
    let program = Program::new(program, none).expect("the program").limits(limits);
    ForkServer::new(program).expect("a fork server")
}

/// Returns the cost of an input, which is the same each time, whatever was run before.
fn cost(target: &mut ForkServer, input: &[u8]) -> u64 {
    let run = target.run(input).expect("a run");
    assert_eq!(run.outcome, Outcome::Exit(0));
    let first = run.edges.expect("edges").clone();
    for round in 0..100 {
        target.run(&input[..input.len() * (round % 3) / 3]).expect("a run");
        let run = target.run(input).expect("a run");
        assert_eq!(run.edges, Some(&first));
    }
    first.total()
}

/// Checks that twice the input costs about twice as much, beyond what no input costs.
fn grows(target: &mut ForkServer, input: &str) {
    let [none, once, twice] = [0, 1, 2].map(|times| cost(target, input.repeat(times).as_bytes()));
    let (one, two) = (once - none, twice - none);
    assert!(one >= input.len() as u64 / 2, "{none} {once} {twice}");
    assert!((two as f64 / one as f64 - 2.0).abs() < 0.2, "{none} {once} {twice}");
}

#[test]
fn c_programs_count_exactly() {
    for compiler in compilers() {
        let folder = fresh("c");
        succeeded(wrapper("cc", &compiler, &folder).arg(source("json_like.c")).args(["-o", "program"]));
        grows(&mut server(&folder.join("program")), &"[]".repeat(100));
    }
}

/// Returns true if the guards of a program have pages of their own, which the counters in shared memory replace.
fn counts_in_place(program: &Path) -> bool {
    let sections = succeeded(Command::new("readelf").arg("-SW").arg(program));
    let sections = String::from_utf8_lossy(&sections.stdout).into_owned();
    let line = sections.lines().find(|line| line.contains(" __sancov_guards ")).expect("guards");
    let fields = line.split("__sancov_guards").nth(1).expect("fields").split_whitespace();
    let numbers: Vec<u64> = fields.filter_map(|field| u64::from_str_radix(field, 16).ok()).collect();
    let (address, size) = (numbers[0], numbers[2]);
    address % 4096 == 0 && size % 4096 == 0
}

#[test]
fn counters_are_in_place_where_clang_has_its_own_linker() {
    if !is_there("clang-19") || !is_there("ld.lld-19") || !is_there("readelf") {
        return;
    }
    let costs = [("", true), ("on", true), ("off", false)].map(|(link_time, is_in_place)| {
        let folder = fresh("place");
        let compiler = [("GRAMJET_CC", "clang-19"), ("GRAMJET_LTO", link_time)];
        succeeded(wrapper("cc", &compiler, &folder).arg("-O1").arg(source("json_like.c")).args(["-o", "program"]));
        let program = folder.join("program");
        assert_eq!(counts_in_place(&program), is_in_place, "GRAMJET_LTO={link_time}");
        cost(&mut server(&program), "[]".repeat(100).as_bytes())
    });
    assert!(costs.iter().all(|&cost| cost > 100) && costs[0] == costs[1], "{costs:?}");
}

/// Three conditions of which none has an effect before all are known.
const CONDITIONS: &str = "#include <unistd.h>\n#include <stdlib.h>\nint main(void) { char text[3] = {0}; int found = 0; \
    if (read(0, text, 3) != 3) return 1; if (text[0] == 'a' && text[1] == 'b' && text[2] == 'c') found = 1; return found; }\n";

#[test]
fn programs_for_fuzzers_keep_their_branches() {
    if !is_there("clang") {
        return;
    }
    let executed = |input: &[u8]| {
        let folder = fresh("branches");
        fs::write(folder.join("conditions.c"), CONDITIONS).expect("a source");
        let mut build = wrapper("cc", &[("GRAMJET_CC", "")], &folder);
        succeeded(build.args(["-O2", "-fsanitize=fuzzer-no-link", "conditions.c", "-o", "program"]));
        let mut target = server(&folder.join("program"));
        target.run(input).expect("a run").edges.expect("edges").executed().to_vec()
    };
    assert!(executed(b"axx") != executed(b"xxx"));
}

#[test]
fn shared_libraries_count_with_the_program() {
    for compiler in compilers() {
        let folder = fresh("library");
        for defs in ["-Wl,-z,defs", "-Wl,--no-undefined"] {
            let mut library = wrapper("cc", &compiler, &folder);
            succeeded(library.args(["-shared", "-fPIC", defs, "-o", "libletters.so"]).arg(source("library.c")));
        }
        succeeded(wrapper("c++", &compiler, &folder).args(["-c", "-o", "user.o"]).arg(source("user.cpp")));
        let mut link = wrapper("c++", &compiler, &folder);
        succeeded(link.args(["user.o", "-L.", "-lletters", "-Wl,-rpath,$ORIGIN", "-o", "program"]));
        let mut target = server(&folder.join("program"));
        let text = "word ".to_string() + &"a".repeat(2000);
        let lone = cost(&mut target, b"word a");
        assert!(cost(&mut target, text.as_bytes()) >= lone + 1999);
        assert!(lone < 1000, "what is done before main is counted: {lone}");
        lines_are_known(&mut target, text.as_bytes(), "library.c:5", "letters");
    }
}

/// gcc's calls have no numbers of their own: they get numbers of their own.
#[test]
fn a_library_by_gcc_counts_with_a_program_by_clang() {
    let compilers = compilers();
    let Some(gcc) = compilers.iter().find(|compiler| compiler[0].1 == "gcc") else { return };
    for clang in compilers.iter().filter(|compiler| compiler[0].1 != "gcc") {
        let folder = fresh("both");
        let mut library = wrapper("cc", gcc, &folder);
        succeeded(library.args(["-g", "-shared", "-fPIC", "-o", "libletters.so"]).arg(source("library.c")));
        let mut link = wrapper("c++", clang, &folder);
        let link = link.args(["-g", "-L.", "-Wl,-rpath,$ORIGIN", "-o", "program"]).arg(source("user.cpp"));
        succeeded(link.arg("-lletters"));
        let mut target = server(&folder.join("program"));
        let text = "word ".to_string() + &"a".repeat(2000);
        let mut edges = |text: &str| target.run(text.as_bytes()).expect("a run").edges.expect("edges").clone();
        let (short, long) = (edges("word a"), edges(&text));
        // What the program does for a word stays the same; the loop of the library has more rounds.
        let more = |edge: &&gramjet_harness::Edge| edge.count - short.count(edge.number).min(edge.count);
        assert!(long.executed().iter().filter(|edge| more(edge) == 0).count() > 5);
        assert!(long.executed().iter().filter(|edge| more(edge) == 1999).count() >= 2);
        lines_are_known(&mut target, text.as_bytes(), "library.c:5", "letters");
    }
}

#[cfg(feature = "lines")]
fn lines_are_known(target: &mut ForkServer, input: &[u8], place: &str, function: &str) {
    let run = target.run(input).expect("a run");
    let hottest = run.edges.and_then(|edges| edges.hottest()).expect("an edge").number;
    let locations = target.locations();
    let line = gramjet_harness::Lines::new().line(&locations, hottest).expect("a line");
    assert_eq!(line.function.as_deref(), Some(function));
    assert!(line.file.is_absolute(), "{line}");
    let (file, wanted) = place.split_once(':').expect("a line");
    assert_eq!(line.file.file_name(), Some(OsStr::new(file)), "{line}");
    assert!(line.line.abs_diff(wanted.parse().expect("a line")) <= 1, "{line}");
}

/// Where debug information stands, and how it is stored, is for the user to choose.
#[test]
#[cfg(feature = "lines")]
fn debug_information_may_be_compressed_or_split() {
    // Optimisation at link time changes nothing of it.
    for compiler in compilers().into_iter().filter(|compiler| !compiler[0].1.is_empty()) {
        let packer = if compiler[0].1 == "gcc" { "dwp" } else { "llvm-dwp" };
        for options in [&["-gz=zlib"][..], &["-gz=zstd"], &["-gsplit-dwarf"], &["-gsplit-dwarf", "-gdwarf-4"]] {
            let folder = fresh("debug");
            // Compilers and linkers that can't write zstd have no such programs.
            let mut library = wrapper("cc", &compiler, &folder);
            let library = library.args(["-g", "-c", "-o", "library.o"]).args(options).arg(source("library.c"));
            if options == ["-gz=zstd"] && !library.output().expect("a compiler").status.success() {
                continue;
            }
            succeeded(library);
            succeeded(wrapper("c++", &compiler, &folder).args(["-c", "-o", "user.o"]).arg(source("user.cpp")));
            let mut link = wrapper("c++", &compiler, &folder);
            let link = link.args(["-g", "user.o", "library.o", "-o", "program"]).args(options);
            if options == ["-gz=zstd"] && !link.output().expect("a linker").status.success() {
                continue;
            }
            succeeded(link);
            let mut target = server(&folder.join("program"));
            let text = "word ".to_string() + &"a".repeat(2000);
            lines_are_known(&mut target, text.as_bytes(), "library.c:5", "letters");
            // Packed into one file, the others are not needed.
            let mut pack = Command::new(packer);
            let pack = pack.args(["-e", "program", "-o", "program.dwp"]).current_dir(&folder);
            if options == ["-gsplit-dwarf"] && pack.output().is_ok_and(|output| output.status.success()) {
                for file in fs::read_dir(&folder).expect("a folder").flatten() {
                    if file.path().extension() == Some(OsStr::new("dwo")) {
                        fs::remove_file(file.path()).expect("a file");
                    }
                }
                lines_are_known(&mut target, text.as_bytes(), "library.c:5", "letters");
            }
        }
    }
}

#[cfg(not(feature = "lines"))]
fn lines_are_known(_: &mut ForkServer, _: &[u8], _: &str, _: &str) {}

#[test]
fn harnesses_for_libfuzzer_are_linked_with_our_driver() {
    for compiler in compilers() {
        let folder = fresh("harness");
        succeeded(wrapper("cc", &compiler, &folder).args(["-fsanitize=fuzzer", "-c"]).arg(source("harness.c")));
        succeeded(wrapper("cc", &compiler, &folder).args(["-fsanitize=fuzzer", "harness.o", "-o", "program"]));
        let mut target = server(&folder.join("program"));
        assert!(target.instrumentation().is_persistent);
        target.run(b"the first input of a process").expect("a run");
        let (short, long) = (cost(&mut target, b"some text"), cost(&mut target, &[b'.'; 1000]));
        assert!(long >= short, "{short} {long}");
        assert_eq!(target.run(b"BUG").expect("a run").outcome, Outcome::Signal(6));
        // It takes its input in memory also where it is called as a program that reads a file.
        let program = Program::new(folder.join("program"), ["@@"]).expect("the program");
        let mut target = ForkServer::new(program).expect("a target");
        target.run(b"the first input of a process").expect("a run");
        assert_eq!(cost(&mut target, b"some text"), short);
    }
}

#[test]
fn counts_are_the_same_a_hundred_times() {
    for compiler in compilers() {
        let folder = fresh("exact");
        succeeded(wrapper("cc", &compiler, &folder).args(["-O2", "-o", "program"]).arg(source("json_like.c")));
        let mut target = server(&folder.join("program"));
        let text = b"[1, [true, [\"text\", {\"a\": [2, 3]}]], null]".repeat(20);
        let first = target.run(&text).expect("a run").edges.expect("edges").clone();
        assert!(first.total() > 5, "{}", first.total());
        for _ in 0..100 {
            assert_eq!(target.run(&text).expect("a run").edges.expect("edges"), &first);
        }
    }
}

#[test]
fn sanitizers_go_with_it() {
    let program = "#include <stdint.h>\n#include <stddef.h>\nint LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n\
        volatile int sum = 0; for (size_t i = 0; i < size; i++) sum += data[i];\n\
        if (size && data[0] == 'o') sum += data[size];\n\
        if (size && data[0] == 's') sum = 1 << (sum + 1000);\n return 0; }\n";
    for compiler in compilers() {
        let folder = fresh("sanitizers");
        fs::write(folder.join("a.c"), program).expect("a source");
        let flags = ["-fsanitize=address,undefined,fuzzer", "-fno-sanitize-recover=all", "a.c", "-o", "program"];
        let output = wrapper("cc", &compiler, &folder).args(flags).output().expect("a compiler");
        if !output.status.success() {
            // Debian has the libraries of sanitizers in a package of their own.
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("libclang_rt") || said.contains("libasan"), "{said}");
            continue;
        }
        let mut target = server(&folder.join("program"));
        target.run(b"").expect("a run");
        cost(&mut target, b"a text");
        for (input, report) in [(&b"over"[..], "heap-buffer-overflow"), (b"shift", "shift exponent")] {
            let run = target.run(input).expect("a run");
            assert_ne!(run.outcome, Outcome::Exit(0));
            let said = String::from_utf8_lossy(&run.stderr.bytes);
            assert!(said.contains(report), "{said}");
        }
    }
}

#[test]
fn macros_of_afl_choose_the_fork_server() {
    for compiler in compilers() {
        let folder = fresh("macros");
        succeeded(wrapper("cc", &compiler, &folder).arg(source("afl_macros.c")).args(["-Wall", "-o", "program"]));
        let mut target = server(&folder.join("program"));
        let found = target.instrumentation();
        assert!(found.is_persistent && found.is_deferred, "{found:?}");
        target.run(b"").expect("a run");
        grows(&mut target, &"a".repeat(300));
        assert_eq!(target.run(b"BUG").expect("a run").outcome, Outcome::Signal(6));
        let by_hand = Command::new(folder.join("program")).stdin(std::process::Stdio::null()).status();
        assert!(by_hand.expect("a run without a harness").success());
    }
}

#[test]
fn it_stands_in_for_a_compiler() {
    for compiler in compilers() {
        let folder = fresh("stands-in");
        let run = |name: &str, arguments: &[&str]| {
            let output = succeeded(wrapper(name, &compiler, &folder).args(arguments));
            String::from_utf8(output.stdout).expect("text")
        };
        fs::write(folder.join("a.c"), "#include \"a.h\"\nint b(void);\nint main(void) { return A - b(); }\n")
            .expect("a file");
        fs::write(folder.join("b.c"), "int b(void) { return 1; }\n").expect("a file");
        fs::write(folder.join("a.h"), "#define A 1\n").expect("a file");
        fs::write(folder.join("c.cc"), "#include <string>\nint main() { return std::string(\"a\").size() - 1; }\n")
            .expect("a file");
        assert!(
            run("cc", &["--version"]).contains("Free Software Foundation")
                || run("cc", &["--version"]).contains("clang")
        );
        assert!(!run("cc", &["-dumpmachine"]).is_empty());
        assert!(run("cc", &["-E", "a.c"]).contains("return 1 - b()"));
        assert_eq!(run("cc", &["-MM", "a.c"]), "a.o: a.c a.h\n");
        run("cc", &["-v"]);
        run("cc", &["-Wl,--version"]);
        let runs = |program: &str| succeeded(&mut Command::new(folder.join(program)));
        run("cc", &["a.c", "b.c", "-o", "both"]);
        run("cc", &["-c", "a.c", "b.c"]);
        run("cc", &["-o", "linked", "a.o", "b.o"]);
        fs::write(folder.join("arguments"), "-O1 -o 'with a blank'\n\"a.c\" b.o").expect("a file");
        run("cc", &["@arguments"]);
        run("cc", &["-static", "-Werror", "a.c", "b.c", "-o", "static"]);
        run("cc", &["-x", "c", "a.c", "-x", "c", "b.c", "-o", "language"]);
        run("c++", &["c.cc", "-o", "cxx"]);
        for program in ["both", "linked", "with a blank", "static", "language", "cxx"] {
            runs(program);
        }
        // Libraries that GNU ar has made, and relocatable objects.
        succeeded(Command::new("ar").args(["rcs", "libb.a", "b.o"]).current_dir(&folder));
        run("cc", &["a.o", "libb.a", "-o", "archive"]);
        run("cc", &["-r", "-nostdlib", "a.o", "b.o", "-o", "whole.o"]);
        run("cc", &["whole.o", "-o", "relocatable"]);
        runs("archive");
        runs("relocatable");
        // Assembly, and precompiled headers.
        run("cc", &["-S", "b.c"]);
        assert!(fs::read_to_string(folder.join("b.s")).expect("assembly").contains("__sanitizer_cov"));
        run("cc", &["a.c", "b.s", "-o", "assembly"]);
        run("cc", &["a.h", "-o", "a.h.gch"]);
        runs("assembly");
        // The wrapper reports the compiler's errors, and its exit status.
        let mut wrong = wrapper("cc", &compiler, &folder);
        let output = wrong.args(["a.c", "-o", "lone"]).output().expect("a compiler");
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((said.matches("undefined").count() > 0, said.contains("cov_trace")), (true, false), "{said}");
    }
}

#[test]
fn many_arguments_go_through_a_file() {
    for compiler in compilers() {
        let folder = fresh("many");
        let definitions: String = (0..9000).map(|number| format!("-DN{number}\n")).collect();
        fs::write(folder.join("arguments"), definitions).expect("a file");
        fs::write(folder.join("a.c"), "int main(void) { return sizeof NAME - 4 + N8999 - 1; }\n").expect("a file");
        fs::write(folder.join("one"), "-DNAME=\"\\\"a b\\\"\" a.c").expect("a file");
        let mut command = wrapper("cc", &compiler, &folder);
        succeeded(command.args(["@arguments", "@one", "-o", "program"]));
        succeeded(&mut Command::new(folder.join("program")));
    }
}

#[test]
#[ignore = "run by ci/test"]
fn builds_in_parallel_share_a_run_time() {
    for compiler in compilers() {
        let folder = fresh("parallel");
        let cache = folder.join("cache");
        let program = source("json_like.c");
        let running: Vec<_> = (0..6)
            .map(|number| {
                let mut command = wrapper("cc", &compiler, &folder);
                command.env("XDG_CACHE_HOME", &cache).arg(&program).args(["-o", &format!("program{number}")]);
                command.spawn().expect("a compiler")
            })
            .collect();
        for mut process in running {
            assert!(process.wait().expect("a compiler").success());
        }
        let kept = fs::read_dir(cache.join("gramjet")).expect("a cache").flatten().map(|entry| entry.file_name());
        let mut kept: Vec<String> = kept.map(|name| name.to_string_lossy().into_owned()).collect();
        kept.retain(|name| name.contains('.') || name.starts_with("runtime"));
        assert_eq!(kept.len(), 1, "{kept:?}");
    }
}

#[test]
fn without_a_home_the_run_time_is_kept_elsewhere() {
    let Some(compiler) = compilers().first().copied() else { return };
    let folder = fresh("homeless");
    let mut command = wrapper("cc", &compiler, &folder);
    command.env("XDG_CACHE_HOME", "/proc/no/such/folder").env("TMPDIR", &folder);
    succeeded(command.arg(source("json_like.c")).args(["-o", "program"]));
    cost(&mut server(&folder.join("program")), b"[]");
    assert!(fs::read_dir(&folder).expect("a folder").flatten().any(|entry| entry.path().is_dir()));
}

#[test]
#[ignore = "run by ci/test"]
fn projects_of_cmake_are_built() {
    if !is_there("cmake") {
        return;
    }
    for compiler in compilers() {
        let folder = fresh("cmake");
        let lists = format!(
            "cmake_minimum_required(VERSION 3.10)\nproject(words C CXX)\ninclude(CheckFunctionExists)\n\
             check_function_exists(no_such_function MISSING)\nif(MISSING)\n  message(FATAL_ERROR found)\nendif()\n\
             add_library(letters SHARED {})\nadd_library(more STATIC {})\nadd_executable(words {})\n\
             target_link_options(letters PRIVATE -Wl,-z,defs)\ntarget_link_libraries(words letters more)\n",
            source("library.c").display(),
            source("json_like.c").display(),
            source("user.cpp").display()
        );
        fs::write(folder.join("CMakeLists.txt"), lists).expect("a file");
        let mut configure = Command::new("cmake");
        configure.args(["-S", ".", "-B", "build"]).current_dir(&folder).envs(compiler);
        configure.env("CC", wrappers().join("cc")).env("CXX", wrappers().join("c++"));
        succeeded(configure.env("XDG_CACHE_HOME", place("cache")));
        let mut build = Command::new("cmake");
        build.args(["--build", "build"]).current_dir(&folder).envs(compiler);
        succeeded(build.env("XDG_CACHE_HOME", place("cache")));
        grows(&mut server(&folder.join("build/words")), &"word ".repeat(100));
    }
}

/// Returns the wrapper of cargo, without what the cargo that runs the tests has set.
fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = wrapper("cargo", &[], folder);
    for (name, _) in env::vars().filter(|(name, _)| name.starts_with("CARGO") || name.starts_with("RUST")) {
        if !matches!(name.as_str(), "CARGO_HOME" | "RUSTUP_HOME" | "RUSTUP_TOOLCHAIN") {
            command.env_remove(name);
        }
    }
    command.args(arguments).env("CARGO_TARGET_DIR", folder.join("target"));
    command
}

/// Returns a program that cargo has built, in the folder of whichever target.
fn built(folder: &Path, name: &str) -> PathBuf {
    let targets = fs::read_dir(folder.join("target")).expect("a folder").flatten();
    targets.map(|entry| entry.path().join(name)).find(|path| path.is_file()).expect("a program")
}

#[test]
#[ignore = "run by ci/test"]
fn crates_are_instrumented_and_build_scripts_are_not() {
    if !is_there("cc") {
        return;
    }
    let folder = fresh("crate");
    let manifest = "[package]\nname = \"brackets\"\nedition = \"2021\"\n[workspace]\n";
    let script = "fn main() { for i in 0..10 { assert!(std::env::args().count() + i > 0) } }\n";
    let program = "use std::io::Read;\n/// ```\n/// assert_eq!(brackets::deep(b\"[[\"), 2);\n/// ```\n\
        pub fn deep(text: &[u8]) -> u32 {\n    let mut deep = 0;\n    for &byte in text {\n        if byte == b'[' { deep += 1 }\n    }\n    deep\n}\n";
    let main = "use std::io::Read;\nfn main() {\n    let mut text = Vec::new();\n    std::io::stdin().read_to_end(&mut text).unwrap();\n\
        println!(\"{}\", brackets::deep(&text));\n}\n";
    fs::create_dir(folder.join("src")).expect("a folder");
    let library = program.replacen("use std::io::Read;\n", "", 1);
    for (name, text) in
        [("Cargo.toml", manifest), ("build.rs", script), ("src/lib.rs", &library), ("src/main.rs", main)]
    {
        fs::write(folder.join(name), text).expect("a file");
    }
    let cargo = |arguments: &[&str]| succeeded(&mut cargo(&folder, arguments));
    // What rustc instruments is counted whichever compiler has made the run time.
    for compiler in compilers() {
        let mut build = self::cargo(&folder, &["build", "--release", "--offline"]);
        succeeded(build.envs(compiler));
        let mut target = server(&built(&folder, "release/brackets"));
        grows(&mut target, &"[]".repeat(500));
        lines_are_known(&mut target, "[".repeat(2000).as_bytes(), "lib.rs:6", "deep");
    }
    cargo(&["test", "--offline"]);
    let run = cargo(&["run", "--offline", "--quiet", "--", "ignored"]);
    assert_eq!(run.stdout, b"0\n");
}

#[test]
#[ignore = "run by ci/test"]
fn fuzz_targets_in_rust_are_linked_with_our_driver() {
    if !is_there("cc") {
        return;
    }
    let folder = fresh("fuzz-target");
    let manifest =
        "[package]\nname = \"target\"\nedition = \"2021\"\n[dependencies]\nlibfuzzer-sys = \"0.4\"\n[workspace]\n";
    let main = "#![no_main]\nlibfuzzer_sys::fuzz_target!(|data: &[u8]| {\n    let mut sum = 0u32;\n\
        for &byte in data { if byte == b'[' { sum += 1 } }\n    if cfg!(fuzzing) && data.starts_with(b\"BUG\") { panic!(\"found\") }\n\
        std::hint::black_box(sum);\n});\n";
    fs::create_dir(folder.join("src")).expect("a folder");
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    fs::write(folder.join("src/main.rs"), main).expect("a file");
    let output = cargo(&folder, &["build", "--offline"]).output().expect("cargo");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        // Nothing on this machine has ever needed the package.
        assert!(said.contains("--offline") || said.contains("offline mode"), "{said}");
        return;
    }
    let mut target = server(&built(&folder, "debug/target"));
    target.run(b"the first input of a process").expect("a run");
    grows(&mut target, &"[]".repeat(300));
    assert_eq!(target.run(b"BUG").expect("a run").outcome, Outcome::Signal(6));
}
