//! Tokens of yacc. Code in braces is one token.

use crate::diagnostics::Span;
use crate::formats::builder::Builder;
use crate::formats::scanner::Scanner;

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Span,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    Name(&'t str),
    /// A name and the colon after it.
    Rule(&'t str),
    /// `'x'`.
    Char(Vec<u8>),
    /// `"text"`.
    Text(Vec<u8>),
    /// `_("text")`, which bison translates in its messages.
    Translated(Vec<u8>),
    Number(&'t str),
    /// `%name`.
    Directive(&'t str),
    /// `%%`.
    Section,
    /// Code in braces, `%{ ... %}`, `%?{ ... }`.
    Code,
    /// `<type>`.
    Type,
    Bar,
    Ends,
    Error,
    End,
}

/// Reads tokens on demand.
pub(super) struct Lexer<'t> {
    pub(super) scan: Scanner<'t>,
}

impl<'t> Lexer<'t> {
    /// Returns the next token. At the end, always [`Kind::End`].
    pub(super) fn token(&mut self, builder: &mut Builder<'_>) -> Token<'t> {
        self.skip_blanks(builder);
        let start = self.scan.position;
        let kind = self.kind(start, builder);
        Token { kind, span: self.scan.span_from(start) }
    }

    fn skip_blanks(&mut self, builder: &mut Builder<'_>) {
        loop {
            self.scan.take_while(char::is_whitespace);
            if self.scan.sees("//") {
                self.scan.take_line();
            } else if self.scan.sees("/*") {
                let start = self.scan.position;
                self.scan.eat("/*");
                if self.scan.take_past("*/").is_none() {
                    self.scan.position = self.scan.text.len();
                    builder.error(Span::new(start, start + 2), "this comment is not closed", "close it with `*/`");
                }
            } else {
                return;
            }
        }
    }

    fn kind(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let Some(first) = self.scan.peek() else { return Kind::End };
        match first {
            '%' => return self.directive(start, builder),
            '{' => return self.code(start, builder),
            '\'' | '"' => return self.quoted(start, first, builder),
            '<' => {
                // `<a<b>>` and `<*>` are types, too.
                if let Some(length) = self.bracketed('<', '>') {
                    self.scan.position += length;
                    return Kind::Type;
                }
            }
            '[' => {
                // A name for actions.
                if let Some(length) = self.bracketed('[', ']') {
                    self.scan.position += length;
                    self.skip_blanks(builder);
                    let start = self.scan.position;
                    return self.kind(start, builder);
                }
            }
            '0'..='9' => return Kind::Number(self.scan.take_while(|c| c.is_ascii_alphanumeric())),
            '|' | ';' => {
                self.scan.next();
                return if first == '|' { Kind::Bar } else { Kind::Ends };
            }
            _ if first.is_alphabetic() || first == '_' || first == '.' => return self.name(builder),
            _ => {}
        }
        self.scan.next();
        let help = "symbols are names, characters such as `'+'` and texts such as `\"+=\"`; code stands in braces";
        builder.error_of(self.scan.span_from(start), || {
            let found = Scanner { position: start, ..self.scan.clone() }.found();
            (format!("unexpected {found}"), help)
        });
        Kind::Error
    }

    fn name(&mut self, builder: &mut Builder<'_>) -> Kind<'t> {
        if self.scan.sees("_(") {
            return self.translated(builder);
        }
        let name = self.scan.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
        let end = self.scan.position;
        self.skip_blanks(builder);
        if let Some(length) = self.bracketed('[', ']') {
            self.scan.position += length;
            self.skip_blanks(builder);
        }
        if self.scan.sees(":") && !self.scan.sees("::") {
            self.scan.next();
            return Kind::Rule(name);
        }
        self.scan.position = end;
        Kind::Name(name)
    }

    /// Returns a text within `_(` and `)`.
    fn translated(&mut self, builder: &mut Builder<'_>) -> Kind<'t> {
        let start = self.scan.position;
        self.scan.eat("_(");
        self.skip_blanks(builder);
        let quote = self.scan.position;
        if self.scan.eat("\"") {
            self.scan.position = quote;
            let kind = self.quoted(quote, '"', builder);
            self.skip_blanks(builder);
            if self.scan.eat(")") {
                return match kind {
                    Kind::Text(text) => Kind::Translated(text),
                    _ => Kind::Error,
                };
            }
        }
        let help = "a text that is translated is written `_(\"text\")`";
        builder.error(self.scan.span_from(start), "this text is not closed", help);
        Kind::Error
    }

    /// Returns the length of the text in brackets here: a type or a name, on one line.
    fn bracketed(&self, open: char, close: char) -> Option<usize> {
        const MOST: usize = 200;
        // This bounds how often a character is read again for an earlier bracket.
        const DEEPEST: u32 = 8;
        let mut depth = 0u32;
        for (at, c) in self.scan.rest().char_indices().take(MOST) {
            match c {
                '\n' => return None,
                _ if c == open && depth == DEEPEST => return None,
                _ if c == open => depth += 1,
                _ if depth == 0 => return None,
                _ if c == close && depth == 1 => return Some(at + c.len_utf8()),
                _ if c == close => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn directive(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        self.scan.next();
        if self.scan.eat("%") {
            return Kind::Section;
        }
        if self.scan.eat("{") {
            if self.scan.take_past("%}").is_none() {
                self.scan.position = self.scan.text.len();
                builder.error(Span::new(start, start + 2), "this code is not closed", "close it with `%}`");
            }
            return Kind::Code;
        }
        if self.scan.eat("?") {
            self.skip_blanks(builder);
            if self.scan.sees("{") {
                return self.code(start, builder);
            }
        }
        let name = self.scan.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if name.is_empty() {
            builder.error(self.scan.span_from(start), "unexpected `%`", "a declaration is `%token`, `%left` and so on");
            return Kind::Error;
        }
        Kind::Directive(name)
    }

    /// Reads code in braces. Texts, characters and comments in it may contain braces.
    fn code(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let mut open = 0u32;
        loop {
            match self.scan.peek() {
                None => {
                    let span = Span::new(start, start + 1);
                    builder.error(span, "this code is not closed", "close it with `}`");
                    return Kind::Code;
                }
                Some('/') if self.scan.sees("/*") || self.scan.sees("//") => self.skip_blanks(builder),
                Some(quote @ ('"' | '\'')) => {
                    self.scan.next();
                    while let Some(c) = self.scan.next() {
                        if c == '\\' {
                            self.scan.next();
                        }
                        // An apostrophe in a language other than C ends at the line end.
                        if c == quote || c == '\n' {
                            break;
                        }
                    }
                }
                Some(c) => {
                    self.scan.next();
                    open += u32::from(c == '{');
                    if c == '}' {
                        open -= 1;
                        if open == 0 {
                            return Kind::Code;
                        }
                    }
                }
            }
        }
    }

    /// Returns a character or text, with the escapes of C.
    fn quoted(&mut self, start: usize, quote: char, builder: &mut Builder<'_>) -> Kind<'t> {
        self.scan.next();
        let mut bytes = Vec::new();
        loop {
            match self.scan.next() {
                Some('\\') => match crate::formats::python::escape(&mut self.scan, false) {
                    crate::formats::python::Escape::Char(c) => {
                        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    crate::formats::python::Escape::Continued => {}
                    crate::formats::python::Escape::None => {
                        bytes.extend(self.scan.next().map(|c| c.to_string().into_bytes()).unwrap_or_default());
                    }
                },
                Some(c) if c == quote => break,
                Some(c) if c != '\n' => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                _ => {
                    let help = format!("close it with `{quote}` on the same line");
                    builder.error(self.scan.span_from(start), "this text is not closed", help);
                    return Kind::Error;
                }
            }
        }
        if quote == '"' { Kind::Text(bytes) } else { Kind::Char(bytes) }
    }
}
