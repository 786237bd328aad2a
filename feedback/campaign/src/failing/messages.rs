//! The message of a failing program, reduced to what is the same for all inputs that fail for the same reason.

use std::sync::LazyLock;

use regex_lite::Regex;

/// Innermost frames that a key has.
const FRAMES: usize = 3;
/// Characters of a message that a key has.
const LENGTH: usize = 100;

/// Reason that a program gives for its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gist {
    /// The kind of the failure, or the message without what changes from input to input.
    pub(crate) message: String,
    /// The innermost functions, or the place in the source; empty if nothing is said of them.
    pub(crate) frames: Vec<String>,
    /// The message has a form that is known, so it says nothing of the input.
    pub(crate) is_known: bool,
    /// Whether it is the report of a sanitizer, which is a failure whatever the program's exit status is.
    pub(crate) is_sanitizer: bool,
}

/// A regular expression that is compiled once.
macro_rules! regex {
    ($pattern:literal) => {{
        static REGEX: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("a regular expression"));
        &*REGEX
    }};
}

/// Returns what there is to say of the text that a program wrote to standard error.
pub(crate) fn gist(stderr: &str) -> Gist {
    if stderr.is_empty() {
        return Gist::default();
    }
    sanitizer(stderr).or_else(|| undefined(stderr)).or_else(|| panic(stderr)).unwrap_or_else(|| {
        // Where nothing is known of the form, the last line says most.
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Gist { message: normalised(last), ..Gist::default() }
    })
}

/// Returns the report of AddressSanitizer, LeakSanitizer, MemorySanitizer or ThreadSanitizer.
fn sanitizer(stderr: &str) -> Option<Gist> {
    let header =
        regex!(r"(?m)^(?:==\d+==\s?)?(?:ERROR|WARNING): (Address|Leak|Memory|Thread|HWAddress)Sanitizer: ([^\n]*)");
    let found = header.captures(stderr)?;
    let (name, rest) = (&found[1], &found[2]);
    let kind = regex!(r"^[\w-]+(?: [a-z-]+)*").find(rest).map_or(rest, |kind| kind.as_str());
    // What follows the kind says where, which changes.
    let kind = kind.split(" on ").next().unwrap_or(kind);
    let stack = &stderr[found.get(0).map_or(0, |whole| whole.end())..];
    Some(Gist {
        message: format!("{name}Sanitizer: {kind}"),
        frames: frames(stack),
        is_known: true,
        is_sanitizer: true,
    })
}

/// Returns the functions of the first stack of a report that are not the sanitizer's or the C library's.
fn frames(stack: &str) -> Vec<String> {
    let frame = regex!(r"^\s*#\d+ 0x[0-9a-f]+ (?:in )?(.*)$");
    let lines = stack.lines().skip_while(|line| !frame.is_match(line)).map_while(|line| frame.captures(line));
    let functions = lines.map(|found| {
        let text = found.get(1).map_or("", |text| text.as_str());
        // The function, without its place, its module, and its arguments.
        let text = text.rsplit_once(" /").map_or(text, |(function, _)| function);
        text.split([' ', '(']).next().unwrap_or_default().to_string()
    });
    let runtime = regex!(
        r"^(__(asan|interceptor|sanitizer|ubsan|msan|tsan|lsan|libc|pthread|GI)_|_*interceptor_|operator$|malloc$|calloc$|realloc$|free$|abort$|raise$|gsignal$|mem(cpy|move|set|cmp)$|str[a-z]+$)"
    );
    functions.filter(|name| !name.is_empty() && !runtime.is_match(name)).take(FRAMES).collect()
}

/// Returns the report of UndefinedBehaviorSanitizer.
fn undefined(stderr: &str) -> Option<Gist> {
    let found = regex!(r"(?m)^(\S+:\d+):\d+: runtime error: ([^\n]*)").captures(stderr)?;
    let (message, frames) = (normalised(&found[2]), vec![file_of(&found[1])]);
    Some(Gist { message, frames, is_known: true, is_sanitizer: true })
}

/// Returns a panic of Rust, an assertion of C, an exception of C++.
fn panic(stderr: &str) -> Option<Gist> {
    if let Some(found) = regex!(r"panicked at ([^\n]+?:\d+):\d+").captures(stderr) {
        let (message, frames) = ("panic".to_string(), vec![file_of(&found[1])]);
        return Some(Gist { message, frames, is_known: true, is_sanitizer: false });
    }
    if let Some(found) = regex!(r"(\S+:\d+): ([^\n]*?Assertion [^\n]*failed)").captures(stderr) {
        let (message, frames) = (normalised(&found[2]), vec![file_of(&found[1])]);
        return Some(Gist { message, frames, is_known: true, is_sanitizer: false });
    }
    let found = regex!(r"terminate called after throwing an instance of '([^']*)'").captures(stderr)?;
    Some(Gist { message: found[1].to_string(), is_known: true, ..Gist::default() })
}

/// Returns the file name and the line of a place, without the folders before them.
pub(crate) fn file_of(place: &str) -> String {
    place.rsplit('/').next().unwrap_or(place).to_string()
}

/// Returns a message without numbers, addresses, quoted parts and paths.
pub(crate) fn normalised(message: &str) -> String {
    let message = regex!(r"0x[0-9a-fA-F]+").replace_all(message, "0");
    let message = regex!(r#""[^"]*"|'[^']*'|`[^`']*['`]"#).replace_all(&message, "_");
    let message = regex!(r"(?:/[^\s/:]+)+/").replace_all(&message, "");
    let message = regex!(r"\d+").replace_all(&message, "0");
    message.trim().chars().filter(|character| !character.is_control()).take(LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_sanitizers_are_their_kind_and_functions() {
        let report = "some output\n=================\n==77==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x5\n\
            READ of size 1 at 0x602 thread T0\n    #0 0x4a in __interceptor_strlen (/bin/a+0x1)\n    \
            #1 0x55 in parse_value /src/a b/json.c:12:3\n    #2 0x66 in parse(char const*) /src/j.cc:1\n    \
            #3 0x77 in main /src/m.c:5\n\n0x602 is located\n    #0 0x1 in malloc\n";
        let gist = gist(report);
        assert_eq!(gist.message, "AddressSanitizer: heap-buffer-overflow");
        assert_eq!(gist.frames, ["parse_value", "parse", "main"]);
        assert!(gist.is_sanitizer);
        let leak = super::gist("==7==ERROR: LeakSanitizer: detected memory leaks\n");
        assert_eq!((leak.message.as_str(), leak.is_sanitizer), ("LeakSanitizer: detected memory leaks", true));
        let undefined = super::gist("src/x.c:7:9: runtime error: signed integer overflow: 2147483647 + 5 cannot\n");
        assert_eq!(undefined.message, "signed integer overflow: 0 + 0 cannot");
        assert_eq!((undefined.frames, undefined.is_sanitizer), (vec!["x.c:7".to_string()], true));
        // A program may well say these words itself.
        assert!(!super::gist("lua: runtime error: x").is_sanitizer);
    }

    #[test]
    fn panics_assertions_and_exceptions_have_their_place() {
        let said = "thread 'main' (7) panicked at /home/me/src/lib.rs:12:5:\nindex 7 out of 5\nnote: run with";
        let (message, frames) = ("panic".to_string(), vec!["lib.rs:12".to_string()]);
        assert_eq!(gist(said), Gist { message, frames, is_known: true, is_sanitizer: false });
        let said = "prog: /tmp/x.c:41: eat: Assertion `n < 12' failed.\n";
        assert_eq!(gist(said).frames, ["x.c:41"]);
        assert_eq!(gist(said).message, "eat: Assertion _ failed");
        let said = "terminate called after throwing an instance of 'std::bad_alloc'\n  what(): x\n";
        assert_eq!(gist(said).message, "std::bad_alloc");
    }

    #[test]
    fn other_messages_lose_what_changes() {
        assert_eq!(
            gist("first\n/tmp/gramjet-9/input:3: bad token \"x7\" at 0xff\n\n").message,
            "input:0: bad token _ at 0"
        );
        assert_eq!(gist(""), Gist::default());
    }
}
