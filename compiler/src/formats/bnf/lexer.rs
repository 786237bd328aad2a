//! Tokens of BNF. The meaning of a bare word or sign depends on the whole file, so the style of the file is determined
//! first.

use crate::diagnostics::Span;
use crate::formats::builder::Builder;
use crate::formats::scanner::Scanner;
use crate::ordered::Set;

/// The marks that may stand between the name of a rule and its alternatives.
pub(super) const DEFINITIONS: &[&str] = &["::=", ":=", "=", "->", "→", ":"];

/// The style of a file.
pub(super) struct Style<'t> {
    /// The mark between name and alternatives: the first one found in the file.
    pub(super) defines: &'static str,
    /// Whether rule names stand in angle brackets.
    pub(super) bracketed: bool,
    /// Whether literals stand in quotes, so that bare signs are operators.
    pub(super) quoted: bool,
    /// Names of rules that are defined without brackets.
    pub(super) bare_names: Set<&'t str>,
}

impl<'t> Style<'t> {
    /// Finds the style from the lines that define rules and from the quotes.
    pub(super) fn of(text: &'t str) -> Style<'t> {
        let mut style = Style { defines: "::=", bracketed: false, quoted: false, bare_names: Set::new() };
        let mut found = None;
        for line in text.lines() {
            let mut scan = Scanner::new(line);
            if line.trim_start().starts_with(['#', ';']) || line.trim_start().starts_with("//") {
                continue;
            }
            if let Some((name, mark)) = definition(&mut scan, found) {
                style.defines = mark;
                found = Some(mark);
                match name {
                    Some(bare) => drop(style.bare_names.insert(bare)),
                    None => style.bracketed = true,
                }
            }
            style.quoted |= holds_quoted(scan.rest());
        }
        style
    }
}

/// Returns true if a pair of quotes stands in the line.
fn holds_quoted(line: &str) -> bool {
    ['"', '\''].iter().any(|&quote| line.matches(quote).count() >= 2)
}

/// Takes the name of a rule (`None` for one in brackets) and the mark after it, if the line begins with them.
fn definition<'t>(scan: &mut Scanner<'t>, mark: Option<&'static str>) -> Option<(Option<&'t str>, &'static str)> {
    let start = scan.position;
    scan.take_while(char::is_whitespace);
    let name = if scan.sees("<") {
        bracketed_name(scan)?;
        None
    } else {
        let name = scan.take_while(is_bare);
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            scan.position = start;
            return None;
        }
        Some(name)
    };
    scan.take_while(|c| c == ' ' || c == '\t');
    let found = match mark {
        Some(mark) => Some(mark).filter(|mark| scan.sees(mark)),
        None => DEFINITIONS.iter().copied().find(|mark| scan.sees(mark)),
    };
    match found {
        Some(mark) => {
            scan.eat(mark);
            Some((name, mark))
        }
        None => {
            scan.position = start;
            None
        }
    }
}

/// Returns true if a character can be part of a rule name without brackets.
fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '\'')
}

/// Takes `<name>`, if that comes next, and returns the name.
fn bracketed_name<'t>(scan: &mut Scanner<'t>) -> Option<&'t str> {
    let rest = scan.rest().strip_prefix('<')?;
    let end = rest.find(['<', '>', '|', '"', '\n'])?;
    let name = &rest[..end];
    let named = rest[end..].starts_with('>') && name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if named {
        scan.position += end + 2;
    }
    named.then_some(name)
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Span,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    /// The beginning of a rule: its name and the mark.
    Rule(&'t str),
    Name(&'t str),
    Text(String),
    Empty,
    Bar,
    Open(char),
    Close(char),
    /// `?`, `*` or `+`.
    Postfix(char),
    /// An error that has been reported already.
    Error,
    End,
}

/// Reads tokens on demand.
pub(super) struct Lexer<'t> {
    pub(super) scan: Scanner<'t>,
    style: Style<'t>,
    starts_line: bool,
    /// The end of the last comment in `(* ... *)`: a bracket and a star after it begin none.
    last_comment: usize,
    /// The end of the last comment in `/* ... */`, likewise.
    last_block: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Lexer<'t> {
        let last_comment = text.rfind("*)").unwrap_or(0);
        let last_block = text.rfind("*/").unwrap_or(0);
        Lexer { scan: Scanner::new(text), style: Style::of(text), starts_line: true, last_comment, last_block }
    }

    /// Returns the next token. At the end, always [`Kind::End`].
    pub(super) fn token(&mut self, builder: &mut Builder<'_>) -> Token<'t> {
        loop {
            match self.scan.peek() {
                Some('\n') => self.starts_line = true,
                Some(blank) if blank.is_whitespace() => {}
                // A line that could begin a rule can also be a comment. Where text stands in quotes, bare signs begin
                // comments anywhere.
                Some('#' | ';' | '/') if self.begins_line_comment() => {
                    self.scan.take_line();
                    continue;
                }
                Some('/') if self.style.quoted && self.scan.sees("/*") && self.scan.position + 2 <= self.last_block => {
                    self.scan.position += 2;
                    self.scan.take_past("*/");
                    continue;
                }
                Some('(') if self.scan.sees("(*") && self.scan.position < self.last_comment => {
                    self.scan.take_past("*)");
                    continue;
                }
                Some(';' | '.') if self.ends_rule() => {}
                _ => break,
            }
            self.scan.next();
        }
        let start = self.scan.position;
        let kind = self.kind(start, builder);
        self.starts_line = false;
        Token { kind, span: self.scan.span_from(start) }
    }

    fn begins_line_comment(&self) -> bool {
        let is_mark = self.scan.sees("#") || self.scan.sees("//");
        self.starts_line && (is_mark || self.scan.sees(";")) || self.style.quoted && is_mark
    }

    fn kind(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let Some(first) = self.scan.peek() else { return Kind::End };
        if self.starts_line {
            let mut scan = self.scan.clone();
            if definition(&mut scan, Some(self.style.defines)).is_some() {
                let name = match bracketed_name(&mut self.scan) {
                    Some(name) => name,
                    None => self.scan.take_while(is_bare),
                };
                self.scan.position = scan.position;
                return Kind::Rule(name);
            }
        }
        if let Some(name) = bracketed_name(&mut self.scan) {
            return if name.eq_ignore_ascii_case("empty") || name.eq_ignore_ascii_case("epsilon") {
                Kind::Empty
            } else {
                Kind::Name(name)
            };
        }
        match first {
            '"' | '\'' if self.style.quoted => return self.text(start, first, builder),
            '|' => {
                self.scan.next();
                return Kind::Bar;
            }
            'ε' | 'λ' => {
                self.scan.next();
                return Kind::Empty;
            }
            '(' | '[' | '{' if self.style.quoted => {
                self.scan.next();
                return Kind::Open(first);
            }
            ')' | ']' | '}' if self.style.quoted => {
                self.scan.next();
                return Kind::Close(first);
            }
            '*' | '+' | '?' if self.style.quoted => {
                self.scan.next();
                return Kind::Postfix(first);
            }
            _ => {}
        }
        self.word(first, start, builder)
    }

    /// Returns true if the sign here is the last on its line and does nothing but end the rule.
    fn ends_rule(&self) -> bool {
        let behind = &self.scan.rest()[1..];
        let behind = behind.trim_start_matches([' ', '\t', '\r']);
        let is_comment = self.style.quoted && ["#", "//", "/*"].iter().any(|mark| behind.starts_with(mark));
        (behind.is_empty() || behind.starts_with('\n') || is_comment)
            && (self.style.quoted || self.style.bracketed && self.scan.sees(";"))
    }

    /// Returns a word or sign without quotes.
    fn word(&mut self, first: char, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let word = if first.is_alphanumeric() || first == '_' {
            self.scan.take_while(is_bare)
        } else if self.style.quoted {
            self.scan.next();
            let found = &self.scan.text[start..self.scan.position];
            let help = "text stands in quotes here; a rule begins on a new line";
            builder.error(self.scan.span_from(start), format!("unexpected `{}`", found.escape_debug()), help);
            return Kind::Error;
        } else {
            // Signs up to a blank, a bar, a word or a name in brackets.
            self.scan.next();
            while let Some(c) = self.scan.peek() {
                let mut ahead = self.scan.clone();
                if c.is_whitespace() || c == '|' || c.is_alphanumeric() || bracketed_name(&mut ahead).is_some() {
                    break;
                }
                self.scan.next();
            }
            &self.scan.text[start..self.scan.position]
        };
        let is_epsilon = word.eq_ignore_ascii_case("epsilon") || word.eq_ignore_ascii_case("lambda");
        if self.style.bare_names.contains(word) {
            Kind::Name(word)
        } else if is_epsilon {
            Kind::Empty
        } else if self.style.quoted && !self.style.bracketed {
            Kind::Name(word)
        } else {
            Kind::Text(word.to_string())
        }
    }

    /// Returns a literal, at its opening quote.
    fn text(&mut self, start: usize, quote: char, builder: &mut Builder<'_>) -> Kind<'t> {
        self.scan.next();
        let mut text = String::new();
        loop {
            match self.scan.peek() {
                None | Some('\n' | '\r') => {
                    let help = format!("close it with `{quote}` on the same line; a line break is `\\n`");
                    builder.error(self.scan.span_from(start), "this literal is not closed", help);
                    return Kind::Text(text);
                }
                Some('\\') => {
                    self.scan.next();
                    text.push(self.escaped(quote));
                }
                Some(c) => {
                    self.scan.next();
                    if c == quote {
                        return Kind::Text(text);
                    }
                    text.push(c);
                }
            }
        }
    }

    /// Returns the character that a backslash, which has been taken, stands for. Most notations have no escapes. So a
    /// backslash stands for itself, except before the letters below, and before a quote unless that quote must end the
    /// literal.
    fn escaped(&mut self, quote: char) -> char {
        let rest = self.scan.rest();
        let mut behind = rest.chars();
        let found = match behind.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('\\') => '\\',
            Some(c) if c == quote => {
                let ends = behind.next().is_none_or(|c| c.is_whitespace() || matches!(c, '|' | ';' | ')' | ']' | '}'));
                // Searches the rest of the line, but at most 200 characters.
                let line = rest[1..].chars().take(200).take_while(|&c| c != '\n');
                if ends && line.filter(|&c| c == quote).count() % 2 == 0 {
                    return '\\';
                }
                quote
            }
            _ => return '\\',
        };
        self.scan.next();
        found
    }
}
