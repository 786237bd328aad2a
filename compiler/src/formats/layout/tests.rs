//! Lines of outputs are indented as their blocks say, in Lark and in tree-sitter, with the tokens that users name.

use crate::diagnostics::SourceFile;
use crate::formats::{self, FormatOptions};
use crate::reference::{Limits, render};
use crate::{Options, compile};

const LARK: &str = "start: (_NL | line)*\nline: NAME (\"=\" NAME)? _NL | \"if\" NAME \":\" block\n\
    block: _NL _INDENT line+ _DEDENT\nNAME: /[a-q]+/\n_NL: /(\\r?\\n[\\t ]*)+/\n%declare _INDENT _DEDENT\n%ignore \" \"\n";

/// Its `_indent` stands directly after the colon.
const TREE_SITTER: &str = r#"{"rules": {"file": {"type": "REPEAT", "content": {"type": "SYMBOL", "name": "line"}},
    "line": {"type": "CHOICE", "members": [
        {"type": "SEQ", "members": [{"type": "SYMBOL", "name": "name"}, {"type": "SYMBOL", "name": "_newline"}]},
        {"type": "SEQ", "members": [{"type": "STRING", "value": "if"}, {"type": "SYMBOL", "name": "name"}, {"type": "STRING", "value": ":"},
            {"type": "SYMBOL", "name": "_indent"}, {"type": "REPEAT1", "content": {"type": "SYMBOL", "name": "line"}},
            {"type": "SYMBOL", "name": "_dedent"}]}]},
    "name": {"type": "PATTERN", "value": "[a-q]+"}},
    "externals": [{"type": "SYMBOL", "name": "_newline"}, {"type": "SYMBOL", "name": "_indent"}, {"type": "SYMBOL", "name": "_dedent"}]}"#;

fn options(format: &str, indent: &str) -> Options {
    let reading = FormatOptions { indent: indent.parse().expect(indent), ..FormatOptions::default() };
    Options { format: formats::by_name(format), reading, ..Options::default() }
}

/// Returns the findings, one per line.
fn reported(format: &str, text: &str, indent: &str) -> String {
    let found = match compile(&SourceFile::new("g", text), &options(format, indent)) {
        Ok((_, found)) | Err(found) => found,
    };
    found.iter().map(|found| format!("{}: {}\n", found.severity, found.message)).collect()
}

/// Returns outputs, each from 2048 choice bytes.
fn outputs(format: &str, text: &str, indent: &str) -> Vec<String> {
    let (compiled, _) = compile(&SourceFile::new("g", text), &options(format, indent)).expect("compiles");
    let mut state = 1u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let limits = Limits { max_depth: Some(30), max_len: Some(300) };
    (0..300)
        .map(|_| {
            let choices: Vec<u8> = (0..2048).map(|_| byte()).collect();
            String::from_utf8(render(&compiled.lowered, &compiled.pools, limits, &choices).output).expect("UTF-8")
        })
        .collect()
}

#[test]
fn blocks_are_indented() {
    for (format, text) in [("lark", LARK), ("tree-sitter", TREE_SITTER)] {
        for (indent, unit, levels) in
            [("auto", "    ", 8), ("unit=2,levels=2", "  ", 2), ("unit=tab,levels=1", "\t", 1)]
        {
            let mut deepest = 0;
            for text in outputs(format, text, indent) {
                let (mut level, mut opens) = (0, false);
                for (number, line) in text.lines().enumerate() {
                    let rest = line.trim_start_matches([' ', '\t']);
                    let blanks = &line[..line.len() - rest.len()];
                    // Only Lark's rules have empty lines, and its lexer can produce one at the beginning.
                    assert!(!rest.is_empty() || number == 0 && format == "lark", "an empty line in {text:?}");
                    let new = blanks.len() / unit.len();
                    assert_eq!(blanks, unit.repeat(new), "{text:?}");
                    assert!(if opens { new == level + 1 } else { new <= level }, "{line:?} in {text:?}");
                    opens = rest.starts_with("if") && rest.ends_with(':');
                    level = new;
                    deepest = deepest.max(level);
                }
                assert!(!opens && (text.is_empty() || text.ends_with('\n')), "{text:?}");
            }
            assert_eq!(deepest, levels.min(deepest.max(3)), "{format} {indent}");
        }
    }
}

#[test]
fn tokens_are_found_and_chosen() {
    let read = "tokens for indentation are read as the layout of lines: blocks are indented by 4 spaces a level, up to 8 levels";
    for (format, text, [newline, begin, end]) in [
        ("lark", LARK, ["_NL", "_INDENT", "_DEDENT"]),
        ("tree-sitter", TREE_SITTER, ["_newline", "_indent", "_dedent"]),
    ] {
        assert_eq!(reported(format, text, "auto"), format!("warning: {read}\n"));
        let none = reported(format, text, "none");
        assert!(
            none.contains(&format!("terminal `{begin}` is left out"))
                || none.contains(&format!("token `{begin}` is left out")),
            "{none}"
        );
        let other = |name: &str| if format == "lark" { format!("{name}_X") } else { format!("{name}_x") };
        let renamed =
            [newline, begin, end].iter().fold(text.to_string(), |text, name| text.replace(name, &other(name)));
        assert!(!reported(format, &renamed, "auto").contains(read));
        let names = format!("tokens={}/{}/{}", other(newline), other(begin), other(end));
        assert_eq!(reported(format, &renamed, &names), format!("warning: {read}\n"));
        let wrong = reported(format, text, &names);
        assert!(
            wrong.contains(&format!("error: no rule uses the token `{}` for indentation", other(begin))),
            "{wrong}"
        );
    }
    let never = "start: _INDENT\n%declare _INDENT _DEDENT\nother: _DEDENT\n";
    assert!(
        reported("lark", never, "auto").contains("error: no text with lines and blocks can be derived from `start`")
    );
}

#[test]
fn blanks_between_tokens_are_no_indentation() {
    // Without a blank, a lexer reads `if` and a name as one token. At the beginning of a line there must be no blank.
    let text = LARK.replace("[a-q]", "[a-z]");
    let all: String = outputs("lark", &text, "levels=1,unit=1").concat();
    assert!(all.lines().any(|line| line.starts_with("if ")), "{all}");
    assert!(all.lines().all(|line| !line.starts_with("  ")), "{all}");
}
