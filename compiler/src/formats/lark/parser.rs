//! Parses a text into the definitions of a Lark grammar.

use crate::ast::{MAX_NESTING, Name};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::formats::builder::{Builder, Reported};
use crate::formats::pattern::Flags;
use crate::formats::scanner::{Scanner, number};

/// The contents of a file.
#[derive(Default)]
pub(super) struct File {
    /// Rules and terminals, in source order.
    pub(super) definitions: Vec<Definition>,
    /// Expressions that may stand between tokens.
    pub(super) ignored: Vec<Item>,
    /// Imports of other files' definitions.
    pub(super) imports: Vec<Import>,
    /// Terminals that are made by code.
    pub(super) declared: Vec<Name>,
}

/// `%import .module.NAME -> OTHER`, `%import module (A, B)`.
pub(super) struct Import {
    /// The names of the module's folders and file.
    pub(super) path: Vec<String>,
    /// Whether the path is relative to the folder of this file.
    pub(super) is_relative: bool,
    /// The imported names, each with its name here.
    pub(super) names: Vec<(String, String)>,
    pub(super) span: Span,
}

/// A rule, a terminal or a template.
pub(super) struct Definition {
    pub(super) name: Name,
    pub(super) parameters: Vec<String>,
    pub(super) body: Item,
    /// Priority: of terminals that match the same text, the lexer takes the one with the highest.
    pub(super) priority: i64,
    /// `%extend`: adds alternatives to an existing definition.
    pub(super) extends: bool,
    /// `%override`: replaces an existing definition.
    pub(super) overrides: bool,
}

/// An expression and its place.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) span: Span,
    pub(super) height: u32,
}

/// The kinds of expressions.
#[derive(Clone)]
pub(super) enum Kind {
    /// A text, and whether its case is free.
    Text(String, bool),
    Pattern(String, Flags),
    Range(char, char),
    Name(String),
    /// `name{argument, argument}`.
    Template(String, Vec<Item>),
    Seq(Vec<Item>),
    Choice(Vec<Item>),
    Repeat(Box<Item>, u32, Option<u32>),
}

/// Returns true if this is the name of a terminal: terminals are in capitals.
pub(super) fn is_terminal(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_uppercase())
}

/// Parses the whole text.
pub(super) fn parse(text: &str, builder: &mut Builder<'_>) -> File {
    let mut parser = Parser { scan: Scanner::new(text), builder, groups: 0, file: File::default() };
    parser.skip_lines();
    while parser.scan.peek().is_some() && !parser.builder.gives_up() {
        if parser.statement().is_err() {
            parser.builder.quiet = true;
            while parser.scan.peek().is_some() && !parser.statement_begins() {
                parser.scan.take_line();
                parser.scan.next();
            }
            parser.builder.quiet = false;
        }
        parser.skip_lines();
    }
    parser.file
}

struct Parser<'t, 'b, 'd> {
    scan: Scanner<'t>,
    builder: &'b mut Builder<'d>,
    groups: u32,
    file: File,
}

impl<'t> Parser<'t, '_, '_> {
    /// Skips blanks and comments on the line, and the line end if the next line begins with `|`.
    fn skip_blanks(&mut self) {
        loop {
            self.scan.take_while(|c| c != '\n' && c.is_whitespace());
            if self.scan.sees("//") || self.scan.sees("#") {
                self.scan.take_line();
            } else if self.scan.sees("\\\n") {
                self.scan.eat("\\\n");
            } else if self.scan.sees("\n") {
                let mut ahead = self.scan.clone();
                skip_lines(&mut ahead);
                let goes_on = self.groups > 0 || ahead.sees("|") || ahead.sees("->") && !ahead.sees("->>");
                if !goes_on {
                    return;
                }
                self.scan = ahead;
            } else {
                return;
            }
        }
    }

    fn skip_lines(&mut self) {
        skip_lines(&mut self.scan);
    }

    fn statement_begins(&self) -> bool {
        let mut ahead = self.scan.clone();
        if ahead.sees("%") {
            return true;
        }
        ahead.take_while(|c| matches!(c, '?' | '!'));
        let name = ahead.take_while(|c| c.is_alphanumeric() || c == '_');
        !name.is_empty() && ahead.take_line().contains(':')
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let message = format!("expected {wanted}, found {}", self.scan.found());
        let help = match wanted {
            "an item" => "an item is a name, text in double quotes, `/pattern/`, `( )` or `[ ]`",
            _ => "a rule is written `name: item item | item`, a terminal `NAME: \"text\"`",
        };
        self.builder.error(self.scan.here(), message, help)
    }

    fn item(&mut self, kind: Kind, span: Span, below: u32) -> Result<Item, Reported> {
        self.builder.count(1, span)?;
        if below >= MAX_NESTING / 2 {
            return Err(self.builder.too_deep(span));
        }
        Ok(Item { kind, span, height: below + 1 })
    }

    fn statement(&mut self) -> Result<(), Reported> {
        self.groups = 0;
        let start = self.scan.position;
        let (mut extends, mut overrides) = (false, false);
        if self.scan.sees("%") {
            self.scan.next();
            match self.scan.take_while(|c| c.is_ascii_alphabetic()) {
                "import" => return self.import(start),
                "ignore" => {
                    let item = self.choice()?;
                    self.file.ignored.push(item);
                    return self.line_end();
                }
                "declare" => {
                    self.skip_blanks();
                    while let Some(name) = self.name() {
                        self.builder.count(1, name.span)?;
                        self.file.declared.push(name);
                        self.skip_blanks();
                    }
                    return self.line_end();
                }
                "extend" => extends = true,
                "override" => overrides = true,
                other => {
                    let message = format!("unknown directive `%{other}`");
                    let help = "the directives are `%import`, `%ignore`, `%declare`, `%override` and `%extend`";
                    let diagnostic = Diagnostic::error(Code::UnknownDirective, self.scan.span_from(start), message);
                    return Err(self.builder.report(diagnostic.help(help)));
                }
            }
            self.skip_blanks();
        }
        // These marks only shape the tree.
        self.scan.take_while(|c| matches!(c, '?' | '!'));
        let name = self.name().ok_or(()).map_err(|()| self.unexpected("a rule"))?;
        let mut parameters = Vec::new();
        if self.scan.eat("{") {
            loop {
                self.scan.take_while(char::is_whitespace);
                let parameter = self.name().ok_or(()).map_err(|()| self.unexpected("a parameter"))?;
                self.builder.count(1, parameter.span)?;
                parameters.push(parameter.text);
                self.scan.take_while(char::is_whitespace);
                if self.scan.eat("}") {
                    break;
                }
                if !self.scan.eat(",") {
                    return Err(self.unexpected("`,` or `}`"));
                }
            }
        }
        let mut priority = 0;
        if self.scan.eat(".") {
            let digits = self.scan.take_while(|c| c.is_ascii_digit() || matches!(c, '-' | '+'));
            priority = digits.parse().unwrap_or(0);
        }
        self.skip_blanks();
        if !self.scan.eat(":") {
            return Err(self.unexpected("`:`"));
        }
        let body = self.choice()?;
        self.line_end()?;
        self.file.definitions.push(Definition { name, parameters, body, priority, extends, overrides });
        Ok(())
    }

    fn line_end(&mut self) -> Result<(), Reported> {
        self.skip_blanks();
        match self.scan.peek() {
            None | Some('\n') => Ok(()),
            _ => Err(self.unexpected("the end of the line")),
        }
    }

    fn name(&mut self) -> Option<Name> {
        let start = self.scan.position;
        let text = self.scan.take_while(|c| c.is_alphanumeric() || c == '_');
        if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            self.scan.position = start;
            return None;
        }
        Some(Name { text: text.to_string(), span: self.scan.span_from(start) })
    }

    /// Parses `%import common.NAME -> OTHER`, `%import .module (A, B)`.
    fn import(&mut self, start: usize) -> Result<(), Reported> {
        self.skip_blanks();
        let is_relative = self.scan.eat(".");
        let module = self.scan.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        let mut path: Vec<String> = module.split('.').map(str::to_string).collect();
        if path.iter().any(String::is_empty) {
            return Err(self.unexpected("the name of a module"));
        }
        self.skip_blanks();
        let mut names: Vec<(String, String)> = Vec::new();
        if self.scan.eat("(") {
            let inside = self.scan.take_past(")").unwrap_or("");
            for name in inside.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                self.builder.count(1, self.scan.span_from(start))?;
                names.push((name.to_string(), name.to_string()));
            }
        } else if let Some(name) = path.pop().filter(|_| !path.is_empty()) {
            let mut known = name.clone();
            if self.scan.eat("->") {
                self.skip_blanks();
                known = self.name().ok_or(()).map_err(|()| self.unexpected("a name"))?.text;
            }
            self.builder.count(1, self.scan.span_from(start))?;
            names.push((name, known));
        } else {
            return Err(self.unexpected("the name of what is imported"));
        }
        let span = self.scan.span_from(start);
        self.file.imports.push(Import { path, is_relative, names, span });
        self.line_end()
    }

    /// Parses alternatives, each with an optional name for its node.
    fn choice(&mut self) -> Result<Item, Reported> {
        let mut parts = Vec::new();
        loop {
            // Nothing before the first bar is an alternative, as elsewhere.
            parts.push(self.sequence()?);
            self.skip_blanks();
            if self.scan.eat("->") {
                self.skip_blanks();
                if self.name().is_none() {
                    return Err(self.unexpected("a name"));
                }
                self.skip_blanks();
            }
            if !self.scan.eat("|") {
                return self.joined(parts, Kind::Choice, self.scan.here());
            }
        }
    }

    fn sequence(&mut self) -> Result<Item, Reported> {
        let mut parts = Vec::new();
        let start = Span { end: self.scan.here().start, ..self.scan.here() };
        loop {
            self.skip_blanks();
            match self.scan.peek() {
                None | Some('\n' | '|' | ')' | ']' | '}' | ',') => break,
                Some('-') if self.scan.sees("->") => break,
                _ => parts.push(self.repeated()?),
            }
        }
        self.joined(parts, Kind::Seq, start)
    }

    fn joined(&mut self, mut parts: Vec<Item>, join: fn(Vec<Item>) -> Kind, empty: Span) -> Result<Item, Reported> {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return Ok(only);
        }
        let height = parts.iter().map(|part| part.height).max().unwrap_or(0);
        let span = parts.iter().map(|part| part.span).reduce(Span::to).unwrap_or(empty);
        self.item(join(parts), span, height)
    }

    fn repeated(&mut self) -> Result<Item, Reported> {
        let start = self.scan.position;
        let item = self.atom()?;
        // A blank may stand before a tilde, but not before the other signs.
        let (min, max) = match self.scan.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            _ => {
                let before = self.scan.position;
                self.scan.take_while(|c| c == ' ' || c == '\t');
                if !self.scan.eat("~") {
                    self.scan.position = before;
                    return Ok(item);
                }
                let bounds = self.rounds(start)?;
                let height = item.height;
                return self.item(
                    Kind::Repeat(Box::new(item), bounds.0, Some(bounds.1)),
                    self.scan.span_from(start),
                    height,
                );
            }
        };
        self.scan.next();
        let height = item.height;
        self.item(Kind::Repeat(Box::new(item), min, max), self.scan.span_from(start), height)
    }

    /// Parses `3` or `2..5`, after a tilde.
    fn rounds(&mut self, start: usize) -> Result<(u32, u32), Reported> {
        self.scan.take_while(|c| c == ' ' || c == '\t');
        let low = number(self.scan.take_while(|c| c.is_ascii_digit()));
        self.scan.take_while(|c| c == ' ' || c == '\t');
        let high = if self.scan.eat("..") {
            self.scan.take_while(|c| c == ' ' || c == '\t');
            number(self.scan.take_while(|c| c.is_ascii_digit()))
        } else {
            low
        };
        match (low, high) {
            (Some(low), Some(high)) if low <= high => Ok((low, high)),
            _ => Err(self.builder.error(
                self.scan.span_from(start),
                "this is no number of rounds",
                "write `item ~ 3` or `item ~ 2..5`",
            )),
        }
    }

    fn atom(&mut self) -> Result<Item, Reported> {
        let start = self.scan.position;
        match self.scan.peek() {
            Some('(') => self.group("(", ")"),
            Some('[') => {
                let inside = self.group("[", "]")?;
                let height = inside.height;
                self.item(Kind::Repeat(Box::new(inside), 0, Some(1)), self.scan.span_from(start), height)
            }
            Some('"') => self.text(start),
            Some('/') => self.pattern(start),
            _ => match self.name() {
                Some(name) if self.scan.eat("{") => self.template(name.text, start),
                Some(name) => self.item(Kind::Name(name.text), name.span, 0),
                None => Err(self.unexpected("an item")),
            },
        }
    }

    fn template(&mut self, name: String, start: usize) -> Result<Item, Reported> {
        self.groups += 1;
        if self.groups > MAX_NESTING / 2 {
            return Err(self.builder.too_deep(self.scan.span_from(start)));
        }
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.choice()?);
            self.skip_blanks();
            if self.scan.eat("}") {
                break;
            }
            if !self.scan.eat(",") {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.groups -= 1;
        let height = arguments.iter().map(|item| item.height).max().unwrap_or(0);
        self.item(Kind::Template(name, arguments), self.scan.span_from(start), height)
    }

    fn group(&mut self, open: &str, close: &str) -> Result<Item, Reported> {
        let span = self.scan.here();
        self.scan.eat(open);
        if self.groups >= MAX_NESTING / 2 {
            return Err(self.builder.too_deep(span));
        }
        self.groups += 1;
        let inside = self.choice()?;
        self.skip_blanks();
        self.groups -= 1;
        if !self.scan.eat(close) {
            let diagnostic = Diagnostic::error(Code::Syntax, span, format!("this `{open}` is not closed"))
                .related(self.scan.here(), format!("`{close}` is missing before this"))
                .help(format!("close it with `{close}`"));
            return Err(self.builder.report(diagnostic));
        }
        Ok(inside)
    }

    /// Reads `"text"`, `"text"i` or `"a".."z"`.
    fn text(&mut self, start: usize) -> Result<Item, Reported> {
        let text = self.quoted(start)?;
        if self.scan.sees("..") && self.scan.rest()[2..].trim_start().starts_with('"') {
            self.scan.eat("..");
            self.scan.take_while(|c| c == ' ');
            let from = self.scan.position;
            let high = self.quoted(from)?;
            let single = |text: &str| text.chars().next().filter(|c| c.len_utf8() == text.len());
            let span = self.scan.span_from(start);
            return match (single(&text), single(&high)) {
                (Some(low), Some(high)) if low <= high => self.item(Kind::Range(low, high), span, 0),
                _ => Err(self.builder.error(
                    span,
                    "this is no range of characters",
                    "a range is `\"a\"..\"z\"`, the smaller end first",
                )),
            };
        }
        let free = self.scan.sees("i") && !self.scan.rest()[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if free {
            self.scan.next();
        }
        self.item(Kind::Text(text, free), self.scan.span_from(start), 0)
    }

    /// Returns a text with Python's escapes, at its opening quote.
    fn quoted(&mut self, start: usize) -> Result<String, Reported> {
        self.scan.eat("\"");
        let mut text = String::new();
        loop {
            match self.scan.next() {
                Some('\\') => match crate::formats::python::escape(&mut self.scan, false) {
                    crate::formats::python::Escape::Char(character) => text.push(character),
                    crate::formats::python::Escape::Continued => {}
                    crate::formats::python::Escape::None => text.push('\\'),
                },
                Some('"') => return Ok(text),
                Some(c) if c != '\n' => text.push(c),
                _ => {
                    let help = "close it with `\"` on the same line; a line break is `\\n`";
                    return Err(self.builder.error(self.scan.span_from(start), "this text is not closed", help));
                }
            }
        }
    }

    /// Reads `/pattern/flags`, at its opening slash.
    fn pattern(&mut self, start: usize) -> Result<Item, Reported> {
        self.scan.next();
        let from = self.scan.position;
        loop {
            match self.scan.next() {
                Some('\\') => drop(self.scan.next()),
                Some('/') => break,
                Some(c) if c != '\n' => {}
                _ => {
                    let help = "close it with `/` on the same line; a slash in it is `\\/`";
                    return Err(self.builder.error(self.scan.span_from(start), "this pattern is not closed", help));
                }
            }
        }
        let pattern = self.scan.text[from..self.scan.position - 1].to_string();
        let mut flags = Flags { plain_classes: true, ..Flags::default() };
        for letter in self.scan.take_while(|c| matches!(c, 'i' | 'm' | 's' | 'l' | 'u' | 'x')).chars() {
            flags.add(letter);
        }
        self.item(Kind::Pattern(pattern, flags), self.scan.span_from(start), 0)
    }
}

/// Skips blanks, line ends and comments.
fn skip_lines(scan: &mut Scanner<'_>) {
    loop {
        scan.take_while(char::is_whitespace);
        if !scan.sees("//") && !scan.sees("#") {
            return;
        }
        scan.take_line();
    }
}

/// Gives all parts of an expression one place, and lets `rename` change the names in it.
pub(super) fn relocate(item: &mut Item, span: Span, rename: &mut impl FnMut(&mut String)) {
    item.span = span;
    match &mut item.kind {
        Kind::Text(..) | Kind::Pattern(..) | Kind::Range(..) => {}
        Kind::Name(name) => rename(name),
        Kind::Template(name, items) => {
            rename(name);
            items.iter_mut().for_each(|item| relocate(item, span, rename));
        }
        Kind::Seq(items) | Kind::Choice(items) => {
            items.iter_mut().for_each(|item| relocate(item, span, rename));
        }
        Kind::Repeat(item, ..) => relocate(item, span, rename),
    }
}
