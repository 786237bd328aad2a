//! The compiler's messages about a grammar: spans, diagnostics and the list that collects them.
//!
//! The library only *describes*; the command line and the macro render.

use crate::ordered::sort_by_key;

use std::fmt;

/// A half-open range of byte offsets into a [`SourceFile`]'s text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from byte `start` up to, not including, byte `end`.
    ///
    /// Offsets beyond 4 GiB are clamped; [`SourceFile::new`] refuses such files anyway.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// Returns the smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A grammar file: its name as the user wrote it, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
}

impl SourceFile {
    /// Returns a source file called `name` (a path, or a description such as `<inline>`).
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        SourceFile { name: name.into(), text: text.into() }
    }

    /// Returns the name as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line and column of a byte offset, both counted from 1; the column counts characters.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

/// The severity of a diagnostic: errors stop the compilation, warnings don't.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the grammar still compiles.
    Warning,
    /// The grammar does not compile.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

macro_rules! codes {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// A stable name for each kind of diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $doc] $variant,)* }

        impl Code {
            /// Every code, in documentation order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// Returns the name that is printed in brackets, such as `undefined-rule`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// Returns one or two sentences that say what the code means.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$variant => $doc,)* }
            }

            /// Returns a page of text, in Markdown: what the code means, an example, and what to do.
            pub fn page(self) -> &'static str {
                match self { $(Code::$variant => include_str!(concat!("diagnostics/explain/", $name, ".md")),)* }
            }

            /// Returns the code with this name.
            pub fn by_name(name: &str) -> Option<Code> {
                Code::ALL.iter().copied().find(|code| code.name() == name)
            }
        }
    };
}

codes! {
    Syntax "syntax" "The text is not a grammar in this format.",
    UndefinedRule "undefined-rule" "A rule is referenced but never defined.",
    DuplicateRule "duplicate-rule" "The same rule is defined twice.",
    UnreachableRule "unreachable-rule" "A rule cannot be reached from the start rule.",
    UnproductiveRule "unproductive-rule" "A rule derives no finite string, so no derivation through it ends.",
    UnusedWeight "unused-weight" "A weight stands where there is nothing to choose from.",
    ZeroWeights "zero-weights" "Every alternative of a choice has weight 0.",
    EmptyClass "empty-class" "A class has no members.",
    ClassDifference "class-difference" "The operands of a difference are not both classes.",
    TooDeep "too-deep" "An expression is nested too deeply.",
    TooLarge "too-large" "A part of the grammar exceeds a budget of the compiler.",
    UnknownDirective "unknown-directive" "A directive is not known or its value is not understood.",
    ImpossibleLimit "impossible-limit" "A limit on depth or length cannot be kept.",
    NoRules "no-rules" "The grammar defines no rule.",
    NotExpressible "not-expressible" "The notation that a grammar is converted to cannot say something.",
    Notation "notation" "The notation of a grammar file is a guess, or one that is not read.",
    UnreadableFile "unreadable-file" "The grammar, or the file of weights, cannot be read.",
    MissingFile "missing-file" "Another file that the grammar needs cannot be read.",
    NotContextFree "not-context-free" "Something that a context-free grammar cannot say was left out.",
    UndefinedToken "undefined-token" "A token is used that no lexer rule makes.",
    Indentation "indentation" "Tokens for indentation are read as blanks at the beginnings of lines, up to a number of levels.",
    ShadowedRule "shadowed-rule" "A lexer rule matches nothing that an earlier rule does not match first.",
    CutRecursion "cut-recursion" "A lexer rule nests in itself; what nests deeper than some levels is not looked at.",
    LoneSurrogate "lone-surrogate" "A literal or set needs half of a surrogate pair, which no text holds.",
    AmbiguousBoundary "ambiguous-boundary" "A lexer may not cut between two tokens that stand next to each other.",
    UnboundedLength "unbounded-length" "The expected length of inputs has no bound, as recursion outgrows itself.",
    HugeClass "huge-class" "A class has more than 65536 members, nearly all of them rare characters.",
    UnreachableSize "unreachable-size" "No weights give inputs of the mean size that was asked for.",
    InvalidWeights "invalid-weights" "A file of weights cannot be understood.",
    UndefinedLabel "undefined-label" "A label is referred to that is not seen there.",
    DuplicateLabel "duplicate-label" "A label is given twice where both would be seen.",
    LateLabel "late-label" "Bytes follow from a part that stands later and can only follow from an earlier one.",
    CyclicLabel "cyclic-label" "Bytes follow from a part that they are a part of, or that follows from them.",
    Parameters "parameters" "A rule gets no labels for its parameters, or too many, or they are used in a way that they cannot.",
    CodedLabel "coded-label" "Something follows from a part across the border of a coding in a way that it cannot.",
    NarrowField "narrow-field" "A number does not fit where it is to be written.",
    MisplacedPadding "misplaced-padding" "Padding does not follow its part in the same sequence, once and without a label.",
    StrayBlank "stray-blank" "Bytes count as others in the checksum of a part that does not contain it.",
    NoRepetition "no-repetition" "The rounds of a part are counted that is no repetition.",
    UndefinedKind "undefined-kind" "A kind of names is used or bounded that no part of the grammar gives.",
    MixedKind "mixed-kind" "Some names of a kind are unique, and others are not.",
    DependentName "dependent-name" "A name follows from other parts of the text.",
    EmptyName "empty-name" "A name, or what stands where none is seen, can be empty.",
    UnscopedName "unscoped-name" "A unique name is in no part that bounds where names of its kind are seen.",
    ShortName "short-name" "A name can be shorter than what stands where none is seen, in a part that is measured.",
    LooseSchema "loose-schema" "A keyword of a JSON Schema is not honoured, so more documents are drawn than are valid.",
    UnsatisfiableSchema "unsatisfiable-schema" "No value is valid under a JSON Schema.",
    StaleWeights "stale-weights" "A file of weights was made for another grammar, or for an earlier form of this one.",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One finding about a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The kind of finding.
    pub code: Code,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// The place. `None` for findings about the grammar as a whole.
    pub span: Option<Span>,
    /// Other places that matter, each with a label.
    pub related: Vec<(Span, String)>,
    /// A hint on how to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns an error at `span`.
    pub fn error(code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: span.into(),
            related: Vec::new(),
            help: None,
        }
    }

    /// Returns a warning at `span`.
    pub fn warning(code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Returns the diagnostic with a hint on how to fix it.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Returns the diagnostic with one more place.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Returns the diagnostic as plain text: `file:line:column: error[code]: message`, the source line with carets, the
    /// other places, the hint.
    pub fn to_plain_text(&self, file: &SourceFile) -> String {
        let mut text = String::new();
        match self.span {
            Some(span) => {
                let (line, column) = file.line_column(span.start);
                text += &format!("{}:{line}:{column}: ", file.name());
                text += &format!("{}[{}]: {}", self.severity, self.code, self.message);
                text += &caret_excerpt(file, span);
            }
            None => {
                text += &format!("{}: {}[{}]: {}", file.name(), self.severity, self.code, self.message);
            }
        }
        for (span, label) in &self.related {
            let (line, column) = file.line_column(span.start);
            text += &format!("\n  note: {}:{line}:{column}: {label}", file.name());
        }
        if let Some(help) = &self.help {
            text += &format!("\n  help: {help}");
        }
        text
    }
}

/// Returns the line of `span` with carets below. Long lines are cut to a window around the span. Only the text in the
/// window is read: many errors in one long line would otherwise take quadratic time.
fn caret_excerpt(file: &SourceFile, span: Span) -> String {
    const WINDOW: usize = 120;
    let text = file.text();
    let mut start = (span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let in_line = |c: &char| *c != '\n';
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let mut before: Vec<char> = text[..start].chars().rev().take_while(in_line).take(WINDOW / 2).collect();
    before.reverse();
    let after: String = text[start..].chars().take_while(in_line).take(WINDOW - before.len()).map(visible).collect();
    let marked = text.get(start..(span.end as usize).min(text.len())).unwrap_or("");
    let marked = marked.chars().take_while(in_line).take(WINDOW - before.len()).filter(|&c| c != '\r').count();
    let indent = " ".repeat(before.len());
    let before: String = before.into_iter().map(visible).collect();
    format!("\n  | {}\n  | {indent}{}", format!("{before}{after}").trim_end(), "^".repeat(marked.max(1)))
}

/// The findings about one grammar, in source order after [`Diagnostics::sort`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    suppressed: usize,
    /// Whether the list is known to hold no warning that an error could replace. Saves a search for each of a million
    /// errors.
    only_errors: bool,
}

impl Diagnostics {
    /// Further findings are only counted.
    pub const MAX: usize = 200;

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < Self::MAX {
            self.list.push(diagnostic);
        } else {
            // An error replaces a warning, so that two hundred warnings do not hide it.
            if diagnostic.severity == Severity::Error
                && !self.only_errors
                && let Some(place) = self.list.iter().rposition(|old| old.severity == Severity::Warning)
            {
                self.list[place] = diagnostic;
            } else if diagnostic.severity == Severity::Error {
                self.only_errors = true;
            }
            self.suppressed += 1;
        }
    }

    /// Returns true if another error would only be counted. Then its text is not needed.
    pub fn is_full(&self) -> bool {
        self.list.len() >= Self::MAX && self.only_errors
    }

    /// Counts an error without listing it; for lists that are full.
    pub fn count_error(&mut self) {
        self.suppressed += 1;
    }

    /// Returns the findings.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Returns the findings that `change` returns. Those for which it returns `None` are left out.
    pub fn filter_map(self, change: impl FnMut(Diagnostic) -> Option<Diagnostic>) -> Diagnostics {
        Diagnostics {
            list: self.list.into_iter().filter_map(change).collect(),
            suppressed: self.suppressed,
            only_errors: false,
        }
    }

    /// Returns the number of findings that were counted but not kept.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }

    /// Returns true if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if one of the findings is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Sorts by place, so that the order does not depend on the order of the checks.
    pub fn sort(&mut self) {
        sort_by_key(&mut self.list, |d| (d.span.map_or((u32::MAX, 0), |span| (span.start, span.end)), d.code));
    }

    /// Returns all findings as plain text, one paragraph each.
    pub fn to_plain_text(&self, file: &SourceFile) -> String {
        let mut parts: Vec<String> = self.list.iter().map(|diagnostic| diagnostic.to_plain_text(file)).collect();
        if self.suppressed > 0 {
            parts.push(format!("{}: and {} more", file.name(), self.suppressed));
        }
        parts.join("\n")
    }
}
