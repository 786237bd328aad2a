//! The place in a function's own code where a call hangs, from the stacks that its interpreter writes when a signal
//! asks for them. Node writes none.

use super::subject::Language;

/// Way of asking an interpreter for its stack: the signal, and the number of the stream to which it is written.
pub(super) struct Asking {
    pub(super) signal: i32,
    pub(super) stream: usize,
}

/// Returns how to ask a process of the language for its stack.
pub(super) fn asking(language: &Language) -> Option<Asking> {
    match language {
        // The worker lets the module `faulthandler` answer this signal.
        Language::Python { .. } => Some(Asking { signal: libc::SIGRTMAX() - 3, stream: 1 }),
        Language::Java { .. } => Some(Asking { signal: libc::SIGQUIT, stream: 0 }),
        Language::Node { .. } => None,
    }
}

/// Returns the innermost frame of the subject's own code in the last stack that was written, as `file:line (function)`.
pub(super) fn place(language: &Language, written: &[u8]) -> Option<String> {
    let written = String::from_utf8_lossy(written);
    match language {
        Language::Python { .. } => of_python(written.rsplit_once("(most recent call first):\n")?.1),
        Language::Java { .. } => of_java(written.rsplit_once("Full thread dump ")?.1),
        Language::Node { .. } => None,
    }
}

/// Returns the frame of a stack as `faulthandler` writes it.
fn of_python(stack: &str) -> Option<String> {
    let frames = stack.lines().map_while(|line| {
        let (file, rest) = line.strip_prefix("  File \"")?.rsplit_once("\", line ")?;
        let (line, function) = rest.split_once(" in ")?;
        Some((file, format!("{file}:{line} ({function})")))
    });
    // The worker itself is no file.
    let frames: Vec<(&str, String)> = frames.filter(|(file, _)| !file.starts_with('<')).collect();
    let is_installed = |file: &str| file.contains("/site-packages/") || file.contains("/dist-packages/");
    let is_own = |file: &str| !file.contains("/lib/python3") || is_installed(file);
    let own = frames.iter().find(|(file, _)| is_own(file)).or(frames.first());
    own.map(|(_, frame)| frame.clone())
}

/// Returns the frame of the thread that calls the method, of a dump of all threads.
fn of_java(dump: &str) -> Option<String> {
    let thread = dump.split("\n\n").find(|thread| thread.contains("\tat gramjet.Worker."))?;
    let frames = thread.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    let frames: Vec<&str> = frames.take_while(|frame| !frame.starts_with("gramjet.")).collect();
    // Frames of the JDK have a module before the file, or are those of reflection.
    let is_own = |frame: &&&str| !["java.", "javax.", "jdk.", "sun."].iter().any(|package| frame.starts_with(package));
    let (method, place) = frames.iter().find(is_own).or(frames.first())?.split_once('(')?;
    Some(format!("{} ({method})", place.trim_end_matches(')')))
}

/// Returns the place that several looks have in common: without the line if that differs, `None` if the functions do.
pub(super) fn common(places: &[String]) -> Option<String> {
    let (first, others) = places.split_first()?;
    if others.iter().all(|place| place == first) {
        return Some(first.clone());
    }
    let without_line = |place: &str| {
        let (place, function) = place.rsplit_once(" (")?;
        Some(format!("{} ({function}", place.rsplit_once(':')?.0))
    };
    let function = without_line(first)?;
    others.iter().all(|place| without_line(place).as_ref() == Some(&function)).then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_of_python_has_the_innermost_frame_that_is_not_the_libraries() {
        let python = Language::Python { module: "m".into(), function: "f".into() };
        let written = "old\nCurrent thread 0x1 (most recent call first):\n  File \"/old.py\", line 1 in f\n\
            Current thread 0x1 (most recent call first):\n  File \"/usr/lib/python3.11/re/__init__.py\", line 166 in match\n  \
            File \"/usr/lib/python3/dist-packages/m.py\", line 7 in value\n  File \"/a.py\", line 3 in f\n  \
            File \"<string>\", line 9 in run\n";
        let place = |written: &str| super::place(&python, written.as_bytes());
        assert_eq!(place(written).as_deref(), Some("/usr/lib/python3/dist-packages/m.py:7 (value)"));
        let standard = "(most recent call first):\n  File \"/usr/lib/python3.11/json/decoder.py\", line 3 in decode\n";
        assert_eq!(place(standard).as_deref(), Some("/usr/lib/python3.11/json/decoder.py:3 (decode)"));
        assert_eq!(place("no stack"), None);
    }

    #[test]
    fn a_dump_of_java_has_the_innermost_own_frame_of_the_thread_that_calls() {
        let java = Language::Java { class_path: "a".into(), class: "A".into(), method: "f".into() };
        let dump = "Full thread dump OpenJDK\n\n\"GC\" #2\n\tat x.Other.run(Other.java:1)\n\n\"main\" #1\n   State: RUNNABLE\n\
            \tat java.util.regex.Pattern$Loop.match(java.base@17/Pattern.java:4830)\n\tat a.Parser.value(Parser.java:12)\n\
            \tat jdk.internal.reflect.X.invoke(java.base@17/X.java:1)\n\tat gramjet.Worker.main(Worker.java:5)\n\n";
        assert_eq!(place(&java, dump.as_bytes()).as_deref(), Some("Parser.java:12 (a.Parser.value)"));
    }

    #[test]
    fn looks_have_a_line_a_function_or_nothing_in_common() {
        let common = |places: &[&str]| super::common(&places.iter().map(|place| place.to_string()).collect::<Vec<_>>());
        assert_eq!(common(&["a.py:1 (f)", "a.py:1 (f)"]).as_deref(), Some("a.py:1 (f)"));
        assert_eq!(common(&["a.py:1 (f)", "a.py:2 (f)"]).as_deref(), Some("a.py (f)"));
        assert_eq!(common(&["a.py:1 (f)", "a.py:1 (g)"]), None);
        assert_eq!(common(&[]), None);
    }
}
