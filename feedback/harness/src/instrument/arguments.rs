//! The meaning of a compiler's arguments.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::compiler::CompilerKind;

/// Last step that a compiler takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A question alone, such as that for its version.
    Ask,
    Preprocess,
    Compile,
    Link,
}

/// The arguments of a compiler, and their meaning.
#[derive(Debug)]
pub(super) struct Arguments {
    /// Arguments that the compiler gets.
    pub(super) kept: Vec<OsString>,
    pub(super) step: Step,
    /// Something is compiled, and not only assembled or linked.
    pub(super) has_sources: bool,
    /// There is a level of optimisation.
    pub(super) has_level: bool,
    /// Debug information is asked for, or asked not to be there.
    pub(super) has_debug: bool,
    /// Objects are made, and not assembly.
    pub(super) makes_object: bool,
    /// Code is compiled for a fuzzer, so conditions that the compiler would turn into code without branches keep them.
    pub(super) for_fuzzing: bool,
    /// A libFuzzer harness is linked.
    pub(super) has_driver: bool,
    pub(super) is_shared: bool,
    pub(super) is_static: bool,
    pub(super) is_relocatable: bool,
    /// A shared library with symbols that nothing defines is refused.
    pub(super) refuses_undefined: bool,
    /// There are options that do not go with optimisation at link time, or that choose how it is done.
    pub(super) forbids_link_time: bool,
    pub(super) reads_stdin: bool,
    /// For which machine and system, as the run time has to be compiled for the same.
    pub(super) machine: Vec<OsString>,
}

/// Options with a value in the next argument, in addition to those of [`Parser::with_value`].
const WITH_VALUE: [&str; 42] = [
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-include",
    "-imacros",
    "-isystem",
    "-idirafter",
    "-iquote",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-imultilib",
    "-iframework",
    "-include-pch",
    "-ivfsoverlay",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xclang",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-mllvm",
    "-u",
    "-T",
    "-A",
    "-e",
    "-aux-info",
    "-F",
    "-framework",
    "--param",
    "-G",
    "-wrapper",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-working-directory",
    "--serialize-diagnostics",
    "-cxx-isystem",
];

/// Options that say for which machine and system, with a value in the next argument.
const MACHINE_WITH_VALUE: [&str; 7] = ["-target", "--sysroot", "-isysroot", "-arch", "-B", "-b", "-V"];
/// Options that say for which machine and system, with a value in the same argument or without one.
const MACHINE: [&str; 12] = [
    "-m16",
    "-m32",
    "-m64",
    "-mx32",
    "-mabi=",
    "-mfloat-abi=",
    "-mfpu=",
    "-mthumb",
    "-marm",
    "--target=",
    "--sysroot=",
    "--gcc-toolchain=",
];

impl Arguments {
    /// Reads the arguments. `arguments` are the given ones, with response files replaced by their contents.
    pub(super) fn new(arguments: Vec<OsString>, kind: CompilerKind) -> Arguments {
        let mut parser = Parser::new(kind);
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            parser.take(argument, &mut rest);
        }
        parser.finish()
    }
}

struct Parser {
    kind: CompilerKind,
    found: Arguments,
    /// The value of `-x`.
    language: Option<OsString>,
    has_inputs: bool,
    has_headers_only: bool,
    /// The arguments for the linker, word by word.
    linker: Vec<Vec<u8>>,
}

impl Parser {
    fn new(kind: CompilerKind) -> Parser {
        let found = Arguments {
            kept: Vec::new(),
            step: Step::Link,
            has_sources: false,
            has_level: false,
            has_debug: false,
            makes_object: true,
            for_fuzzing: false,
            has_driver: false,
            is_shared: false,
            is_static: false,
            is_relocatable: false,
            refuses_undefined: false,
            forbids_link_time: false,
            reads_stdin: false,
            machine: Vec::new(),
        };
        Parser { kind, found, language: None, has_inputs: false, has_headers_only: true, linker: Vec::new() }
    }

    fn take(&mut self, argument: OsString, rest: &mut impl Iterator<Item = OsString>) {
        let bytes = argument.as_bytes().to_vec();
        match bytes.as_slice() {
            b"-" => self.input(&argument),
            [b'-', ..] => {
                if !self.with_value(&argument, rest) && self.option(&bytes) {
                    self.found.kept.push(argument);
                }
                return;
            }
            _ => self.input(&argument),
        }
        self.found.kept.push(argument);
    }

    /// Returns true if the option has its value in the next argument; both are dealt with then.
    fn with_value(&mut self, option: &OsStr, rest: &mut impl Iterator<Item = OsString>) -> bool {
        let Some(name) = option.to_str() else { return false };
        let is_machine = MACHINE_WITH_VALUE.contains(&name);
        let is_other = WITH_VALUE.contains(&name) || matches!(name, "-x" | "-l" | "-z" | "-Xlinker");
        if !is_machine && !is_other {
            return false;
        }
        self.found.kept.push(option.into());
        let Some(value) = rest.next() else { return true };
        match name {
            "-x" => self.language = (value != "none").then(|| value.clone()),
            "-z" => self.linker.extend([b"-z".to_vec(), value.as_bytes().to_vec()]),
            "-Xlinker" => self.linker.push(value.as_bytes().to_vec()),
            _ if is_machine => self.found.machine.extend([option.into(), value.clone()]),
            _ => {}
        }
        self.found.kept.push(value);
        true
    }

    /// Returns true if an option in one argument is kept.
    fn option(&mut self, option: &[u8]) -> bool {
        let found = &mut self.found;
        match option {
            b"-E" | b"-M" | b"-MM" => found.step = Step::Preprocess,
            b"-S" => {
                found.makes_object = false;
                self.not_linked();
            }
            b"-c" | b"-fsyntax-only" | b"--precompile" | b"--analyze" => self.not_linked(),
            b"-emit-llvm" => found.makes_object = false,
            b"-shared" | b"--shared" => found.is_shared = true,
            b"-static" | b"-static-pie" | b"--static" => found.is_static = true,
            b"-r" => found.is_relocatable = true,
            b"-fno-integrated-as" | b"-fno-lto" | b"-fembed-bitcode" => found.forbids_link_time = true,
            [b'-', b'O', ..] => found.has_level = true,
            [b'-', b'x', language @ ..] => {
                self.language = (language != b"none").then(|| OsStr::from_bytes(language).into());
            }
            [b'-', b'g', name @ ..] => found.has_debug |= !name.starts_with(b"cc-") && !name.starts_with(b"record"),
            [b'-', b'W', b'l', b',', words @ ..] => {
                self.linker.extend(words.split(|&byte| byte == b',').map(<[u8]>::to_vec));
            }
            _ => return self.named(option),
        }
        true
    }

    /// Returns true if an option that is recognised by its beginning is kept.
    fn named(&mut self, option: &[u8]) -> bool {
        let found = &mut self.found;
        let value = |name: &str| option.strip_prefix(name.as_bytes());
        if let Some(list) = value("-fsanitize=") {
            return self.sanitizers(list);
        }
        for name in ["allowlist", "ignorelist"] {
            if self.kind != CompilerKind::Gcc && value(&format!("-fsanitize-coverage-{name}=")).is_some() {
                found.kept.push("-Xclang".into());
                return true;
            }
        }
        // The program has one instrumentation, ours.
        if value("-fsanitize-coverage=").or(value("-fno-sanitize-coverage=")).is_some() {
            return false;
        }
        if MACHINE
            .iter()
            .any(|name| if name.ends_with('=') { value(name).is_some() } else { option == name.as_bytes() })
        {
            found.machine.push(OsString::from_vec(option.to_vec()));
        }
        let other_linker = value("-fuse-ld=").is_some_and(|linker| linker != b"lld") || value("--ld-path=").is_some();
        found.forbids_link_time |= other_linker || value("-flto").is_some();
        true
    }

    /// Removes libFuzzer's instrumentation from the list; returns whether the argument is kept as it is.
    fn sanitizers(&mut self, list: &[u8]) -> bool {
        let names: Vec<&[u8]> = list.split(|&byte| byte == b',').collect();
        let is_other = |name: &&&[u8]| !matches!(**name, b"fuzzer" | b"fuzzer-no-link");
        let others: Vec<&[u8]> = names.iter().filter(is_other).copied().collect();
        self.found.has_driver |= names.contains(&&b"fuzzer"[..]);
        if others.len() == names.len() {
            return true;
        }
        self.found.for_fuzzing = true;
        if !others.is_empty() {
            let list = [&b"-fsanitize="[..], &others.join(&b',')].concat();
            self.found.kept.push(OsString::from_vec(list));
        }
        false
    }

    fn not_linked(&mut self) {
        if self.found.step == Step::Link {
            self.found.step = Step::Compile;
        }
    }

    fn input(&mut self, name: &OsStr) {
        self.has_inputs = true;
        self.found.reads_stdin |= name == "-";
        let language = match &self.language {
            Some(language) => of_language(language.as_bytes()),
            None => of_suffix(Path::new(name)),
        };
        self.found.has_sources |= matches!(language, Input::Source | Input::Header);
        self.has_headers_only &= language == Input::Header;
    }

    fn finish(mut self) -> Arguments {
        for (at, word) in self.linker.iter().enumerate() {
            let is_after_z = at > 0 && self.linker[at - 1] == b"-z";
            match word.as_slice() {
                b"-shared" | b"--shared" | b"-Bshareable" => self.found.is_shared = true,
                b"-r" | b"--relocatable" | b"-i" => self.found.is_relocatable = true,
                b"--no-undefined" | b"-no-undefined" | b"-zdefs" => self.found.refuses_undefined = true,
                b"defs" if is_after_z => self.found.refuses_undefined = true,
                _ => {}
            }
        }
        self.found.step = match self.found.step {
            _ if !self.has_inputs => Step::Ask,
            Step::Link if self.has_headers_only => Step::Compile,
            step => step,
        };
        self.found
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Source,
    /// To be precompiled.
    Header,
    /// Assembly, objects, libraries.
    Other,
}

fn of_language(language: &[u8]) -> Input {
    match language {
        _ if language.ends_with(b"-header") => Input::Header,
        b"assembler" | b"assembler-with-cpp" | b"ir" => Input::Other,
        _ => Input::Source,
    }
}

fn of_suffix(name: &Path) -> Input {
    match name.extension().unwrap_or_default().as_bytes() {
        b"c" | b"i" | b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" | b"ii" | b"m" | b"mi" | b"mm"
        | b"mii" | b"M" => Input::Source,
        b"h" | b"hh" | b"H" | b"hp" | b"hxx" | b"hpp" | b"HPP" | b"h++" | b"tcc" => Input::Header,
        // Without `-x` the only known fact about standard input is that it is text.
        _ if name == Path::new("-") => Input::Source,
        _ => Input::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Arguments {
        Arguments::new(text.split_ascii_whitespace().map(OsString::from).collect(), CompilerKind::Clang(19))
    }

    #[test]
    fn the_last_step_is_known() {
        for (text, step) in [
            ("--version", Step::Ask),
            ("-v", Step::Ask),
            ("-dumpmachine", Step::Ask),
            ("-Wl,--version", Step::Ask),
            ("-E a.c", Step::Preprocess),
            ("-MM -c a.c", Step::Preprocess),
            ("-MD -MF a.d -c a.c -o a.o", Step::Compile),
            ("-S a.c", Step::Compile),
            ("a.h", Step::Compile),
            ("-x c++-header a", Step::Compile),
            ("-v a.c", Step::Link),
            ("-xc - -o a", Step::Link),
            ("a.o -lm", Step::Link),
        ] {
            assert_eq!(parsed(text).step, step, "{text}");
        }
    }

    #[test]
    fn values_of_options_are_no_inputs() {
        assert!(!parsed("-o a.c b.o -I c.c -include d.h -L e.c").has_sources);
        assert!(parsed("-x none a.c").has_sources);
        assert!(!parsed("-x assembler a.c -x none b.s").has_sources);
        assert!(parsed("-c -x c a.txt").has_sources);
    }

    #[test]
    fn libfuzzers_instrumentation_is_taken_out() {
        let kept = |text: &str| parsed(text).kept.join(OsStr::new(" "));
        assert_eq!(kept("-fsanitize=fuzzer,address a.c"), "-fsanitize=address a.c");
        assert_eq!(kept("-fsanitize=fuzzer-no-link -fsanitize=undefined a.c"), "-fsanitize=undefined a.c");
        assert_eq!(kept("-fsanitize-coverage=trace-cmp a.c"), "a.c");
        let flags = "-Xclang -fsanitize-coverage-allowlist=l a.c";
        assert_eq!(kept("-fsanitize-coverage-allowlist=l a.c"), flags);
        assert!(parsed("-fsanitize=address,fuzzer a.c").has_driver);
        assert!(!parsed("-fsanitize=fuzzer-no-link a.c").has_driver);
        assert!(parsed("-fsanitize=fuzzer-no-link a.c").for_fuzzing);
        assert!(parsed("-fsanitize=address,fuzzer a.c").for_fuzzing && !parsed("-fsanitize=address a.c").for_fuzzing);
    }

    #[test]
    fn what_is_linked_is_known() {
        for text in ["-shared a.o -Wl,-z,defs", "-shared -z defs a.o", "-shared a.o -Xlinker --no-undefined"] {
            let found = parsed(text);
            assert!(found.is_shared && found.refuses_undefined, "{text}");
        }
        assert!(parsed("-nostdlib -Wl,-r a.o").is_relocatable);
        assert!(parsed("-static a.o").is_static);
        assert!(!parsed("-Wl,-soname,defs -shared a.o").refuses_undefined);
    }

    #[test]
    fn the_machine_is_known() {
        let machine = parsed("-m32 -O1 --sysroot=/s -target t -g0 a.c").machine;
        assert_eq!(machine, ["-m32", "--sysroot=/s", "-target", "t"]);
        assert!(
            parsed("-O1 a.c").has_level && parsed("-ggdb3 a.c").has_debug && !parsed("-gcc-toolchain a.c").has_debug
        );
    }
}
