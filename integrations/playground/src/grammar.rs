//! The grammar that a request has: its diagnostics and its drawing. And the grammars and notations to choose from.

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::{Diagnostic, Severity, Span};
use gramjet_compiler::formats::{self, Format, FormatOptions, Surroundings};
use gramjet_compiler::shape::Weighting;
use gramjet_compiler::{Compiled, Diagnostics, Options, SourceFile, compile, examine};
use gramjet_grammars::SHIPPED;
use serde_json::{Value, json};

use super::draw::{Drawing, MOST_RULES, Rules, TooLarge};
use super::request::Request;

/// The most rules that are drawn unasked. A browser lays a diagram out in the thread of the whole page, which nothing
/// can stop.
const RULES_UNASKED: usize = 300;
/// The most bytes of a diagram that is drawn unasked.
const BYTES_UNASKED: usize = 4 << 20;
/// The most bytes of a diagram.
const MOST_BYTES: usize = 16 << 20;

/// A grammar as it is asked for.
pub struct Asked {
    file: SourceFile,
    format: Option<&'static dyn Format>,
}

impl Asked {
    /// Returns the grammar of a request. If the notation is empty, the grammar's text decides.
    pub fn new(request: &Request) -> Result<Asked, String> {
        let file = SourceFile::new("grammar", request.text("grammar")?);
        let format = match request.text("notation")? {
            "" => None,
            name => Some(formats::by_name(name).ok_or_else(|| format!("no such notation: {name:?}"))?),
        };
        Ok(Asked { file, format })
    }

    /// Returns the notation, and what the compiler has to say about the grammar.
    pub fn diagnostics(&self) -> Value {
        let (diagnostics, is_usable) = match examine(&self.file, &self.options_for_inputs()) {
            Ok((_, diagnostics)) => (diagnostics, true),
            Err(diagnostics) => (diagnostics, false),
        };
        let notation = self.format.unwrap_or_else(|| formats::detect(&self.file)).name();
        let list: Vec<Value> = diagnostics.iter().map(|diagnostic| self.described(diagnostic)).collect();
        json!({ "notation": notation, "usable": is_usable, "diagnostics": list, "more": diagnostics.suppressed() })
    }

    fn described(&self, diagnostic: &Diagnostic) -> Value {
        let is_error = matches!(diagnostic.severity, Severity::Error);
        let place = diagnostic.span.map(|span| self.place(span));
        json!({
            "error": is_error,
            "code": diagnostic.code.name(),
            "message": diagnostic.message,
            "place": place,
            "help": diagnostic.help,
        })
    }

    /// Returns a place as people count it, and as a text box of a page does, in which each end of a line is one unit.
    fn place(&self, span: Span) -> Value {
        let (line, column) = self.file.line_column(span.start);
        let units = |offset: u32| {
            let before = self.file.text().get(..offset as usize).unwrap_or_default();
            before.encode_utf16().count() - before.matches("\r\n").count()
        };
        json!({ "line": line, "column": column, "start": units(span.start), "end": units(span.end) })
    }

    /// Returns the page that `gramjet draw` writes, without samples. If it is large, and the request does not say that
    /// it is wanted all the same, the answer says how large it is.
    pub fn drawing(&self, is_wanted: bool) -> Result<Value, String> {
        let mut diagnostics = Diagnostics::default();
        let (_, mut grammar) = formats::read_as(self.format, &self.file, &Surroundings::default(), &mut diagnostics);
        let start =
            check(&grammar, None, &mut diagnostics).map(|checked| checked.grammar.rules[checked.start].name.clone());
        grammar.start = grammar.start.or(start);
        match diagnostics.has_errors() {
            true => Err("There is no diagram: the grammar has errors.".to_string()),
            false => drawn(&grammar, is_wanted),
        }
    }

    /// Returns the grammar for generating inputs, as `gramjet gen` compiles it, or why there is none.
    pub fn for_inputs(&self) -> Result<Compiled, String> {
        self.compiled(&self.options_for_inputs(), "There are no inputs")
    }

    /// Returns the grammar for reading texts, or why there is none.
    pub fn for_texts(&self) -> Result<Compiled, String> {
        let reading = FormatOptions::of_others();
        let options = Options { format: self.format, reading, weighting: Weighting::Own, ..Options::default() };
        self.compiled(&options, "No text can be parsed")
    }

    fn options_for_inputs(&self) -> Options {
        Options { format: self.format, weighting: Weighting::ByDefault, ..Options::default() }
    }

    /// Returns the compiled grammar, or what follows from its first error.
    fn compiled(&self, options: &Options, effect: &str) -> Result<Compiled, String> {
        compile(&self.file, options).map(|(compiled, _)| compiled).map_err(|diagnostics| {
            let error = diagnostics.iter().find(|diagnostic| matches!(diagnostic.severity, Severity::Error));
            error.map_or_else(|| format!("{effect}."), |error| format!("{effect}: {}", self.with_place(error)))
        })
    }

    fn with_place(&self, diagnostic: &Diagnostic) -> String {
        let place = diagnostic.span.map(|span| self.file.line_column(span.start));
        let place = place.map_or_else(String::new, |(line, column)| format!("line {line}, column {column}: "));
        format!("{place}{}", diagnostic.message)
    }
}

fn drawn(grammar: &Grammar, is_wanted: bool) -> Result<Value, String> {
    let rules = Rules::new(grammar);
    let count = rules.count();
    if count > MOST_RULES {
        return Err(format!("{count} rules are too many for a diagram: at most {MOST_RULES} are drawn."));
    }
    if count > RULES_UNASKED && !is_wanted {
        return Ok(json!({ "large": format!("The diagram has {count} rules") }));
    }
    let shown: Vec<usize> = (0..count).collect();
    let drawing = Drawing { rules: &rules, shown: &shown, usage: None, has_weights: false };
    match drawing.html("Grammar", "") {
        Ok(page) if page.len() > MOST_BYTES => Err(too_large()),
        Ok(page) if page.len() > BYTES_UNASKED && !is_wanted => {
            Ok(json!({ "large": format!("The diagram has {} MiB", page.len() >> 20) }))
        }
        Ok(page) => Ok(json!({ "page": page })),
        Err(TooLarge) => Err(too_large()),
    }
}

fn too_large() -> String {
    format!("The diagram would have more than {} MiB: use the command.", MOST_BYTES >> 20)
}

/// Returns the shipped grammars and the notations.
pub fn lists() -> Value {
    let shipped: Vec<Value> = SHIPPED
        .iter()
        .map(|one| json!({ "name": one.name, "description": one.description, "text": one.text }))
        .collect();
    let notations: Vec<&str> = formats::ALL.iter().map(|format| format.name()).collect();
    json!({ "shipped": shipped, "notations": notations })
}
