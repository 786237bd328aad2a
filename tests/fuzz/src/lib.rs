//! The steps of every fuzz target with a text: a format reads it, the grammar is checked and printed, and the result of
//! a printer is read again.

use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::{Diagnostics, SourceFile};
use gramjet_compiler::formats::{self, Format};
use gramjet_compiler::print;

/// Reads `text` in the format called `name`.
///
/// # Panics
///
/// If there is no such format, a place is not in the text, or what a printer wrote is not understood.
pub fn read(name: &str, text: &str) {
    let format = formats::by_name(name).expect("the target names a format");
    read_in(format, text);
}

/// Reads `text` in the format that it looks like.
pub fn read_any(text: &str) {
    let file = SourceFile::new("<fuzz>", text);
    read_in(formats::detect(&file), text);
}

fn read_in(format: &dyn Format, text: &str) {
    let file = SourceFile::new("<fuzz>", text);
    let mut diagnostics = Diagnostics::default();
    let grammar = format.parse(&file, &mut diagnostics);
    let is_sound = check(&grammar, None, &mut diagnostics).is_some();
    for diagnostic in diagnostics.iter() {
        let span = diagnostic.span.unwrap_or_default();
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{diagnostic:?}");
    }
    diagnostics.to_plain_text(&file);
    if !is_sound {
        return;
    }
    for printer in print::ALL {
        let Some(printed) = printer.print(&grammar, &mut Diagnostics::default()) else { continue };
        let Some(reader) = formats::by_name(printer.name()) else { continue };
        let file = SourceFile::new("<printed>", printed);
        let mut diagnostics = Diagnostics::default();
        let back = reader.parse(&file, &mut diagnostics);
        check(&back, None, &mut diagnostics);
        assert!(!diagnostics.has_errors(), "{}\n{}", diagnostics.to_plain_text(&file), file.text());
    }
}
