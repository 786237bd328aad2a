//! The pages on the codes of diagnostics: each has all sections, and its example produces its code.

use gramjet_compiler::diagnostics::{Code, SourceFile};
use gramjet_compiler::{Options, examine, formats};

/// Codes that need more than a grammar file.
const WITHOUT_GRAMMAR: &[Code] = &[
    Code::Notation,
    Code::UnreadableFile,
    Code::NotExpressible,
    Code::UnreachableSize,
    Code::InvalidWeights,
    Code::StaleWeights,
];

#[test]
fn every_code_has_a_page() {
    for &code in Code::ALL {
        let page = code.page();
        assert!(Code::by_name(code.name()) == Some(code));
        assert!(page.ends_with('\n') && page.len() > 300, "{code}");
        let parts: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(parts, ["## Example", "## Remedy"], "{code}");
        assert!(page.lines().all(|line| line.chars().count() <= 130), "{code}");
    }
}

#[test]
fn every_code_is_in_the_documentation() {
    let table = include_str!("../../../docs/lints.md");
    for code in Code::ALL {
        assert!(table.contains(&format!("\n| `{code}` | ")), "{code}");
    }
}

#[test]
fn examples_are_examples() {
    for &code in Code::ALL {
        let page = code.page();
        let fence = page.split("```").nth(1).unwrap_or_else(|| panic!("{code} has no example"));
        let (format, text) = fence.split_once('\n').expect("a fence has lines");
        if WITHOUT_GRAMMAR.contains(&code) {
            assert!(["console", "json"].contains(&format), "{code}");
            continue;
        }
        let nested = format!("{}'x'{}", "(".repeat(201), ")".repeat(201));
        let file = SourceFile::new("example", text.replace("NESTED", &nested));
        let options = Options { format: formats::by_name(format), ..Options::default() };
        assert!(options.format.is_some(), "{code}: {format}");
        let (Ok((_, found)) | Err(found)) = examine(&file, &options);
        assert!(found.iter().any(|found| found.code == code), "{code}: {}", found.to_plain_text(&file));
    }
}
