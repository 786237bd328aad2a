//! Brings the files of one grammar together: imports, the lexer, the parser.

use super::parser;
use super::syntax::{Alternative, Element, ElementKind, Grammar, GrammarKind, Rule};
use crate::ast::Name;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::formats::Surroundings;
use crate::ordered::Set;

/// The greatest number of files of a grammar.
const MAX_FILES: usize = 64;

/// The rules of all files.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) parser: Vec<Rule>,
    /// The lexer rules, in order of priority.
    pub(super) lexer: Vec<Rule>,
    /// Tokens that are declared without a rule.
    pub(super) tokens: Vec<Name>,
    /// Whether literals in parser rules are tokens by themselves.
    pub(super) has_implicit_tokens: bool,
    /// Whether such literals match in both cases.
    pub(super) case_insensitive: bool,
    pub(super) has_code: bool,
    /// The superclass of the lexer.
    pub(super) superclass: Option<String>,
    /// Whether the file is a lexer whose parser was not found.
    pub(super) is_lexer: bool,
}

/// Reads a grammar and the files that it needs.
pub(super) fn read(file: &SourceFile, surroundings: &Surroundings<'_>, diagnostics: &mut Diagnostics) -> Sources {
    let mut reader =
        Reader { surroundings, diagnostics, files: Set::new(), sources: Sources::default(), names: Set::new() };
    let mut main = parser::parse(file.text(), surroundings.options.strict, reader.diagnostics);
    main.is_own = true;
    reader.main(main);
    reader.sources
}

struct Reader<'s, 'd> {
    surroundings: &'s Surroundings<'s>,
    diagnostics: &'d mut Diagnostics,
    /// The names of the files that were read.
    files: Set<String>,
    sources: Sources,
    /// The names of the rules so far.
    names: Set<String>,
}

impl Reader<'_, '_> {
    fn main(&mut self, main: Grammar) {
        let name = main.name.clone().unwrap_or(Name { text: String::new(), span: Span::default() });
        self.files.insert(format!("{}.g4", name.text));
        self.sources.has_implicit_tokens = main.kind == GrammarKind::Combined;
        self.sources.case_insensitive = is_case_insensitive(&main);
        let vocabulary = main.option("tokenVocab").cloned();
        match main.kind {
            GrammarKind::Combined => {
                self.add(main);
                if let Some(vocabulary) = vocabulary {
                    self.vocabulary(&vocabulary, true);
                }
            }
            GrammarKind::Parser => {
                self.add(main);
                let usual =
                    || Name { text: name.text.trim_end_matches("Parser").to_string() + "Lexer", span: name.span };
                self.vocabulary(&vocabulary.unwrap_or_else(usual), false);
            }
            GrammarKind::Lexer => {
                self.add(main);
                let parser = name.text.trim_end_matches("Lexer").to_string() + "Parser";
                match self.surroundings.loader.load(&format!("{parser}.g4")) {
                    // The parser beside it may take its tokens from another lexer.
                    Ok(file) if is_parser_of(&file, &name.text) => {
                        let parser = self.parse(&file, name.span);
                        self.add(parser);
                    }
                    _ => self.sources.is_lexer = true,
                }
            }
        }
    }

    /// Adds the lexer that a parser names.
    fn vocabulary(&mut self, name: &Name, is_optional: bool) {
        let base = name.text.rsplit(['/', '\\']).next().unwrap_or("");
        match self.load(base, name.span) {
            Ok(Some(lexer)) if lexer.kind == GrammarKind::Parser => {
                let message = format!("`{base}.g4` is the grammar of a parser, not of a lexer");
                let help = "`options { tokenVocab = ...; }` names the file with `lexer grammar`";
                self.diagnostics.push(Diagnostic::error(Code::MissingFile, name.span, message).help(help));
            }
            Ok(Some(lexer)) => self.add(lexer),
            Ok(None) => {}
            Err(_) if is_optional => {}
            Err(problem) => {
                let message = format!("the lexer grammar `{base}.g4` cannot be read: {problem}");
                let help = "it stands beside the parser grammar, and `options { tokenVocab = ...; }` names it";
                self.diagnostics.push(Diagnostic::error(Code::MissingFile, name.span, message).help(help));
            }
        }
    }

    /// Returns another file; `None` if it was read before.
    fn load(&mut self, name: &str, span: Span) -> Result<Option<Grammar>, String> {
        let file_name = format!("{name}.g4");
        if self.files.contains(&file_name) {
            return Ok(None);
        }
        if self.files.len() == MAX_FILES {
            return Err(format!("the grammar has more than {MAX_FILES} files"));
        }
        let file = self.surroundings.loader.load(&file_name)?;
        self.files.insert(file_name);
        Ok(Some(self.parse(&file, span)))
    }

    /// Parses another file. Findings are reported at `span`, which names the file.
    fn parse(&mut self, file: &SourceFile, span: Span) -> Grammar {
        let mut found = Diagnostics::default();
        let mut grammar = parser::parse(file.text(), self.surroundings.options.strict, &mut found);
        for diagnostic in found.iter() {
            let place = diagnostic.span.map_or(String::new(), |span| {
                let (line, column) = file.line_column(span.start);
                format!("{line}:{column}: ")
            });
            self.diagnostics.push(Diagnostic {
                message: format!("{}:{place}{}", file.name(), diagnostic.message),
                span: Some(span),
                related: Vec::new(),
                ..diagnostic.clone()
            });
        }
        relocate(&mut grammar, span);
        grammar
    }

    /// Adds a grammar's rules, then those of its imports. Rules with a known name are dropped.
    fn add(&mut self, grammar: Grammar) {
        let case_insensitive = is_case_insensitive(&grammar);
        self.sources.has_code |= grammar.has_code;
        if grammar.kind != GrammarKind::Parser && self.sources.superclass.is_none() {
            self.sources.superclass = grammar.option("superClass").map(|name| name.text.clone());
        }
        self.sources.tokens.extend(grammar.tokens);
        for mut rule in grammar.rules {
            let is_new = self.names.insert(rule.name.text.clone());
            if !is_new {
                let rules = if rule.is_lexical() { &self.sources.lexer } else { &self.sources.parser };
                // Rules of the importing file replace those of the imported file, without a report.
                let is_told = grammar.is_own && self.diagnostics.suppressed() == 0;
                if is_told && let Some(first) = rules.iter().find(|other| other.name.text == rule.name.text) {
                    let message = format!("rule `{}` is defined twice", rule.name.text);
                    self.diagnostics.push(
                        Diagnostic::error(Code::DuplicateRule, rule.name.span, message)
                            .related(first.name.span, "it is first defined here")
                            .help("rename one of them, or write both as alternatives of one rule"),
                    );
                }
                continue;
            }
            rule.case_insensitive.get_or_insert(case_insensitive);
            if rule.is_lexical() { self.sources.lexer.push(rule) } else { self.sources.parser.push(rule) }
        }
        for import in grammar.imports {
            match self.load(&import.text, import.span) {
                Ok(Some(grammar)) => self.add(grammar),
                Ok(None) => {}
                Err(problem) => {
                    let message = format!("the imported grammar `{}.g4` cannot be read: {problem}", import.text);
                    let help = "an imported grammar stands beside the file that imports it";
                    self.diagnostics.push(Diagnostic::error(Code::MissingFile, import.span, message).help(help));
                }
            }
        }
    }
}

/// Returns true if a file holds a parser grammar that takes its tokens from `lexer` or names no lexer.
fn is_parser_of(file: &SourceFile, lexer: &str) -> bool {
    // If it is the parser, it is parsed again and its errors are reported.
    let grammar = parser::parse(file.text(), false, &mut Diagnostics::default());
    let names = |vocabulary: &Name| vocabulary.text.rsplit(['/', '\\']).next() == Some(lexer);
    grammar.kind == GrammarKind::Parser && grammar.option("tokenVocab").is_none_or(names)
}

fn is_case_insensitive(grammar: &Grammar) -> bool {
    grammar.option("caseInsensitive").is_some_and(|value| value.text == "true")
}

/// Gives everything in the grammar the place `span`.
fn relocate(grammar: &mut Grammar, span: Span) {
    let names = grammar.imports.iter_mut().chain(&mut grammar.tokens);
    names.for_each(|name| name.span = span);
    for rule in &mut grammar.rules {
        rule.name.span = span;
        relocate_all(&mut rule.alternatives, span);
    }
}

fn relocate_all(alternatives: &mut [Alternative], span: Span) {
    for alternative in alternatives {
        alternative.elements.iter_mut().for_each(|element| relocate_element(element, span));
        for command in &mut alternative.commands {
            command.name.span = span;
        }
    }
}

fn relocate_element(element: &mut Element, span: Span) {
    element.span = span;
    match &mut element.kind {
        ElementKind::Literal(_)
        | ElementKind::Set(_)
        | ElementKind::Name(_)
        | ElementKind::Wildcard
        | ElementKind::Predicate(_) => {}
        ElementKind::Not(inner) | ElementKind::Repeat { item: inner, .. } => relocate_element(inner, span),
        ElementKind::Block(alternatives) => relocate_all(alternatives, span),
    }
}
