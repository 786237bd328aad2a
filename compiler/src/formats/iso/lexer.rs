//! Tokens of ISO 14977, with its alternative representations of brackets and bars (section 7).

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
    /// A name; blanks between its words are part of it.
    Name(&'t str),
    Text(&'t str),
    Special(&'t str),
    Number(&'t str),
    Defines,
    Comma,
    Bar,
    Minus,
    Star,
    Ends,
    Open(Bracket),
    Close(Bracket),
    Error,
    End,
}

/// A kind of brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bracket {
    Group,
    Option,
    Repetition,
}

impl Bracket {
    /// Returns the usual marks.
    pub(super) fn marks(self) -> (char, char) {
        match self {
            Bracket::Group => ('(', ')'),
            Bracket::Option => ('[', ']'),
            Bracket::Repetition => ('{', '}'),
        }
    }
}

const MARKS: &[(&str, Kind<'static>)] = &[
    ("(/", Kind::Open(Bracket::Option)),
    ("/)", Kind::Close(Bracket::Option)),
    ("(:", Kind::Open(Bracket::Repetition)),
    (":)", Kind::Close(Bracket::Repetition)),
    ("(", Kind::Open(Bracket::Group)),
    (")", Kind::Close(Bracket::Group)),
    ("[", Kind::Open(Bracket::Option)),
    ("]", Kind::Close(Bracket::Option)),
    ("{", Kind::Open(Bracket::Repetition)),
    ("}", Kind::Close(Bracket::Repetition)),
    ("::=", Kind::Defines),
    (":=", Kind::Defines),
    ("=", Kind::Defines),
    (",", Kind::Comma),
    ("|", Kind::Bar),
    ("/", Kind::Bar),
    ("!", Kind::Bar),
    ("-", Kind::Minus),
    ("*", Kind::Star),
    (";", Kind::Ends),
    (".", Kind::Ends),
];

/// Reads tokens on demand.
pub(super) struct Lexer<'t> {
    pub(super) scan: Scanner<'t>,
}

impl<'t> Lexer<'t> {
    /// Returns the next token. At the end, always [`Kind::End`].
    pub(super) fn token(&mut self, builder: &mut Builder<'_>) -> Token<'t> {
        loop {
            self.scan.take_while(char::is_whitespace);
            if !self.scan.sees("(*") {
                break;
            }
            self.comment(builder);
        }
        let start = self.scan.position;
        let kind = self.kind(start, builder);
        Token { kind, span: self.scan.span_from(start) }
    }

    /// Skips a comment, which may contain other comments.
    fn comment(&mut self, builder: &mut Builder<'_>) {
        let start = self.scan.position;
        self.scan.eat("(*");
        let mut open = 1u32;
        while open > 0 {
            self.scan.take_while(|c| c != '(' && c != '*');
            if self.scan.eat("(*") {
                open += 1;
            } else if self.scan.eat("*)") {
                open -= 1;
            } else if self.scan.next().is_none() {
                builder.error(Span::new(start, start + 2), "this comment is not closed", "close it with `*)`");
                return;
            }
        }
    }

    fn kind(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        let Some(first) = self.scan.peek() else { return Kind::End };
        match first {
            '\'' | '"' => return self.quoted(start, first, builder),
            '?' => return self.special(start, builder),
            '0'..='9' => return Kind::Number(self.scan.take_while(|c| c.is_ascii_digit())),
            _ if first.is_alphabetic() || first == '_' || first == '<' => return self.name(),
            _ => {}
        }
        if let Some((mark, kind)) = MARKS.iter().find(|(mark, _)| self.scan.sees(mark)) {
            self.scan.eat(mark);
            return kind.clone();
        }
        // The same character often follows, as in a binary file.
        self.scan.take_while(|c| c == first);
        let span = Span::new(start, start + first.len_utf8());
        let help = match first {
            '+' => "one or more is `{item}-` or `item, {item}`",
            '\0' => "a grammar is UTF-8 text; this looks like a binary file or like UTF-16",
            _ => "text stands in quotes",
        };
        builder.error_of(span, || {
            let found = Scanner { position: start, ..self.scan.clone() }.found();
            (format!("unexpected character {found}"), help)
        });
        Kind::Error
    }

    /// Returns a name: words with blanks between them, on one line.
    fn name(&mut self) -> Kind<'t> {
        let start = self.scan.position;
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        if self.scan.sees("<") {
            let rest = self.scan.rest();
            let length =
                rest.find(['>', '\n']).map_or(rest.len(), |end| end + usize::from(rest[end..].starts_with('>')));
            self.scan.position += length;
            return Kind::Name(self.scan.text[start + 1..self.scan.position].trim_end_matches('>'));
        }
        loop {
            self.scan.take_while(in_word);
            let end = self.scan.position;
            // A hyphen between letters is part of the name, as is common practice. The exception has blanks around it.
            if self.scan.eat("-") && self.scan.peek().is_some_and(in_word) {
                continue;
            }
            self.scan.position = end;
            self.scan.take_while(|c| c == ' ' || c == '\t');
            if !self.scan.peek().is_some_and(|c| c.is_alphabetic() || c == '_') {
                self.scan.position = end;
                return Kind::Name(&self.scan.text[start..end]);
            }
        }
    }

    fn quoted(&mut self, start: usize, quote: char, builder: &mut Builder<'_>) -> Kind<'t> {
        self.scan.next();
        let text = self.scan.take_while(|c| c != quote && c != '\n');
        if self.scan.peek() != Some(quote) {
            let help = format!("close it with `{quote}` on the same line");
            builder.error(self.scan.span_from(start), "this literal is not closed", help);
            return Kind::Error;
        }
        self.scan.next();
        Kind::Text(text)
    }

    fn special(&mut self, start: usize, builder: &mut Builder<'_>) -> Kind<'t> {
        self.scan.next();
        match self.scan.take_past("?") {
            Some(text) => Kind::Special(text.trim()),
            None => {
                builder.error(Span::new(start, start + 1), "this special sequence is not closed", "close it with `?`");
                Kind::Error
            }
        }
    }
}
