//! Blocks of outputs are indented as their lines say, with the user's options.

use expect_test::expect;

use crate::diagnostics::{Diagnostics, SourceFile};
use crate::formats::g4::G4;
use crate::formats::{self, Format, FormatOptions, Surroundings};
use crate::reference::{Limits, render};
use crate::tokens::{Indent, SeparatorPolicy};
use crate::{Options, compile};

/// A grammar with indented blocks.
const BLOCKS: &str = "grammar G; tokens { INDENT, DEDENT } file : (NEWLINE | stmt)* EOF ; stmt : small (';' small)* NEWLINE | 'if' ID ':' block ; \
    small : ID '=' ID | 'pass' ; block : small NEWLINE | NEWLINE INDENT stmt+ DEDENT ; ID : [a-c]+ ; \
    NEWLINE : ('\\r'? '\\n' | '\\r') [ \\t]* {code();} ; WS : [ \\t]+ -> skip ; COMMENT : '#' ~[\\r\\n]* -> skip ;";

/// Returns outputs under these options, each from 4096 choice bytes.
fn outputs(text: &str, reading: FormatOptions, count: usize) -> Vec<String> {
    let options = Options { format: formats::by_name("g4"), reading, ..Options::default() };
    let (compiled, _) = compile(&SourceFile::new("g.g4", text), &options).expect("compiles");
    let mut state = 1u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let limits = Limits { max_depth: Some(30), max_len: Some(300) };
    (0..count)
        .map(|_| {
            let choices: Vec<u8> = (0..4096).map(|_| byte()).collect();
            String::from_utf8(render(&compiled.lowered, &compiled.pools, limits, &choices).output).expect("UTF-8")
        })
        .collect()
}

#[test]
fn blocks_are_indented() {
    let indented = |spec: &str| FormatOptions { indent: spec.parse().expect(spec), ..FormatOptions::default() };
    for (spec, unit, levels) in [("auto", "    ", 8), ("unit=2,levels=3", "  ", 3), ("unit=tab,levels=1", "\t", 1)] {
        for separators in [SeparatorPolicy::Auto, SeparatorPolicy::Space] {
            let mut deepest = 0;
            for text in outputs(BLOCKS, FormatOptions { separators, ..indented(spec) }, 200) {
                let mut level = 0;
                let mut opens = false;
                let all: Vec<&str> = text.lines().collect();
                for (number, line) in all.iter().enumerate() {
                    let line = line.trim_end();
                    let rest = line.trim_start_matches([' ', '\t']);
                    let blanks = &line[..line.len() - rest.len()];
                    assert!(!rest.is_empty() || number == 0, "an empty line in {text:?}");
                    let new = blanks.len() / unit.len();
                    assert_eq!(blanks, unit.repeat(new), "{text:?}");
                    assert!(if opens { new == level + 1 } else { new <= level }, "{line:?} in {text:?}");
                    opens = rest.starts_with("if") && rest.trim_end().ends_with(':');
                    level = new;
                    deepest = deepest.max(level);
                }
                assert!(!opens && (text.is_empty() || text.ends_with('\n')), "{text:?}");
            }
            assert_eq!(deepest, levels.min(deepest.max(3)), "{spec}");
        }
    }
}

#[test]
fn indentation_is_reported_and_chosen() {
    let shown = |text: &str, spec: &str| {
        let indent = spec.parse().expect(spec);
        let mut diagnostics = Diagnostics::default();
        let options = FormatOptions { indent, ..FormatOptions::default() };
        let surroundings = Surroundings { options, ..Surroundings::default() };
        G4.parse_within(&SourceFile::new("g.g4", text), &surroundings, &mut diagnostics);
        let lines = diagnostics.iter().map(|found| format!("{}: {}", found.severity, found.message));
        lines.filter(|line| !line.contains("an action")).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        warning: tokens for indentation are read as the layout of lines: blocks are indented by 4 spaces a level, up to 8 levels"#]]
    .assert_eq(&shown(BLOCKS, "auto"));
    assert!(shown(BLOCKS, "none").contains("no lexer rule makes the token `INDENT`"));
    let other = BLOCKS.replace("INDENT", "BEGIN").replace("DEDENT", "END").replace("NEWLINE", "LINE");
    assert!(shown(&other, "auto").contains("no lexer rule makes the token `BEGIN`"));
    assert!(shown(&other, "tokens=LINE/BEGIN/END").contains("up to 8 levels"));
    assert!(shown(BLOCKS, "tokens=LINE/BEGIN/END").contains("error: no rule uses the token `BEGIN`"));
    for wrong in ["levels=0", "levels=1000", "unit=0", "unit=x", "tokens=A/B", "tokens=//", "deep", ""] {
        assert!(wrong.parse::<Indent>().is_err(), "{wrong}");
    }
}

#[test]
fn lines_end_as_their_lexer_rule_says() {
    for (rule, end) in [("'\\r\\n' ' '*", "\r\n"), ("'\\r' | ';'", "\r"), ("';' '\\n'?", ";")] {
        let text = BLOCKS.replace("('\\r'? '\\n' | '\\r') [ \\t]*", rule).replace("(';' small)*", "");
        for separators in [SeparatorPolicy::Auto, SeparatorPolicy::Any] {
            let mut lines = 0;
            for output in outputs(&text, FormatOptions { separators, ..FormatOptions::default() }, 50) {
                let rest = output.replace(end, "");
                assert!(!rest.contains(['\r', '\n', ';']) || separators == SeparatorPolicy::Any, "{output:?}");
                lines += output.matches(end).count();
            }
            assert!(lines > 50, "{rule}");
        }
    }
}
