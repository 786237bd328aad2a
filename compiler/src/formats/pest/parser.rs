//! Parses a text into the rules of a PEG.

use crate::ast::{MAX_NESTING, Name};
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Reported};
use crate::formats::packrat::tree::{Kind, Peg, Rule};
use crate::formats::scanner::{Scanner, number};

/// Parses the whole text.
pub(super) fn parse(text: &str, builder: &mut Builder<'_>) -> Vec<Rule> {
    let mut parser = Parser { scan: Scanner::new(text), builder, groups: 0 };
    let mut rules = Vec::new();
    parser.skip_blanks();
    while parser.scan.peek().is_some() && !parser.builder.gives_up() {
        match parser.rule() {
            Ok(rule) => rules.push(rule),
            Err(Reported) => {
                // Continues at the next line that begins a rule.
                parser.builder.quiet = true;
                while parser.scan.peek().is_some() {
                    parser.scan.take_line();
                    parser.scan.next();
                    let mut ahead = parser.scan.clone();
                    let name = ahead.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
                    ahead.take_while(|c| c == ' ' || c == '\t');
                    if !name.is_empty() && ahead.sees("=") {
                        break;
                    }
                }
                parser.builder.quiet = false;
            }
        }
        parser.skip_blanks();
    }
    rules
}

struct Parser<'t, 'b, 'd> {
    scan: Scanner<'t>,
    builder: &'b mut Builder<'d>,
    groups: u32,
}

impl Parser<'_, '_, '_> {
    /// Skips blanks and comments, which may contain other comments.
    fn skip_blanks(&mut self) {
        loop {
            self.scan.take_while(char::is_whitespace);
            if self.scan.sees("//") {
                self.scan.take_line();
            } else if self.scan.sees("/*") {
                let start = self.scan.position;
                self.scan.eat("/*");
                let mut open = 1u32;
                while open > 0 {
                    self.scan.take_while(|c| c != '/' && c != '*');
                    if self.scan.eat("/*") {
                        open += 1;
                    } else if self.scan.eat("*/") {
                        open -= 1;
                    } else if self.scan.next().is_none() {
                        let span = Span::new(start, start + 2);
                        self.builder.error(span, "this comment is not closed", "close it with `*/`");
                        return;
                    }
                }
            } else {
                return;
            }
        }
    }

    fn eat(&mut self, mark: &str) -> bool {
        self.skip_blanks();
        self.scan.eat(mark)
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        self.skip_blanks();
        let message = format!("expected {wanted}, found {}", self.scan.found());
        let help = match wanted {
            "a term" => "a term is text in double quotes, a range `'a'..'z'`, a name, or a group in parentheses",
            _ => "a rule is written `name = { term ~ term | term }`",
        };
        self.builder.error(self.scan.here(), message, help)
    }

    fn peg(&mut self, kind: Kind, span: Span, below: u32) -> Result<Peg, Reported> {
        Peg::build(kind, span, below, self.builder)
    }

    fn rule(&mut self) -> Result<Rule, Reported> {
        let start = self.scan.position;
        let text = self.scan.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.scan.position = start;
            return Err(self.unexpected("a rule"));
        }
        let name = Name { text: text.to_string(), span: self.scan.span_from(start) };
        if !self.eat("=") {
            return Err(self.unexpected("`=`"));
        }
        self.skip_blanks();
        let modifier = self.scan.peek().filter(|c| matches!(c, '_' | '@' | '$' | '!'));
        if modifier.is_some() {
            self.scan.next();
        }
        if !self.eat("{") {
            return Err(self.unexpected("`{`"));
        }
        self.groups = 0;
        let body = self.choice()?;
        if !self.eat("}") {
            return Err(self.unexpected("`}`"));
        }
        Ok(Rule { name, modifier, body })
    }

    fn choice(&mut self) -> Result<Peg, Reported> {
        self.eat("|");
        let first = self.sequence()?;
        let mut parts = vec![first];
        while self.eat("|") {
            parts.push(self.sequence()?);
        }
        Peg::joined(parts, Kind::Choice, Span::default(), self.builder)
    }

    fn sequence(&mut self) -> Result<Peg, Reported> {
        let first = self.term()?;
        let mut parts = vec![first];
        while self.eat("~") {
            parts.push(self.term()?);
        }
        Peg::joined(parts, Kind::Seq, Span::default(), self.builder)
    }

    fn term(&mut self) -> Result<Peg, Reported> {
        self.skip_blanks();
        let start = self.scan.position;
        // A tag, `#name = term`, only matters to readers of the tree.
        if self.scan.eat("#") {
            self.scan.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            if !self.eat("=") {
                return Err(self.unexpected("`=`"));
            }
            self.skip_blanks();
        }
        let mut predicates = Vec::new();
        while let Some(mark @ ('!' | '&')) = self.scan.peek() {
            if predicates.len() as u32 >= MAX_NESTING / 2 {
                let span = self.scan.here();
                return Err(self.builder.too_deep(span));
            }
            predicates.push((mark, self.scan.position));
            self.scan.next();
            self.skip_blanks();
        }
        let mut term = self.primary(start)?;
        loop {
            self.skip_blanks();
            let (min, max) = match self.scan.peek() {
                Some('?') => (0, Some(1)),
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('{') => self.bounds()?,
                _ => break,
            };
            // The sign, or the closing brace.
            self.scan.next();
            let (span, height) = (self.scan.span_from(start), term.height);
            term = self.peg(Kind::Repeat(Box::new(term), min, max), span, height)?;
        }
        while let Some((mark, from)) = predicates.pop() {
            let height = term.height;
            let inside = Box::new(term);
            let kind = if mark == '!' { Kind::Not(inside) } else { Kind::And(inside) };
            term = self.peg(kind, self.scan.span_from(from), height)?;
        }
        Ok(term)
    }

    /// Reads `{2}`, `{2,}`, `{,5}` or `{2,5}` up to the closing brace.
    fn bounds(&mut self) -> Result<(u32, Option<u32>), Reported> {
        let start = self.scan.position;
        self.scan.next();
        let inside = self.scan.take_while(|c| c.is_ascii_digit() || c == ',' || c.is_whitespace());
        let (low, high) = inside.split_once(',').unwrap_or((inside, inside));
        let (low, high) = (low.trim(), high.trim());
        let min = if low.is_empty() { Some(0) } else { number(low) };
        let max = if high.is_empty() { Some(None) } else { number(high).map(Some) };
        match (min, max) {
            (Some(min), Some(max))
                if self.scan.sees("}") && !inside.trim().is_empty() && max.is_none_or(|max| min <= max) =>
            {
                Ok((min, max))
            }
            _ => {
                let span = self.scan.span_from(start);
                Err(self.builder.error(span, "this is no repetition", "write `{2}`, `{2,}`, `{,5}` or `{2,5}`"))
            }
        }
    }

    fn primary(&mut self, start: usize) -> Result<Peg, Reported> {
        match self.scan.peek() {
            Some('(') => self.group(),
            Some('"' | '^') => {
                let free = self.scan.eat("^");
                self.skip_blanks();
                let text = self.quoted('"')?;
                self.peg(Kind::Text(text, free), self.scan.span_from(start), 0)
            }
            Some('\'') => self.range(start),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.scan.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
                self.named(name, start)
            }
            _ => Err(self.unexpected("a term")),
        }
    }

    fn named(&mut self, name: &str, start: usize) -> Result<Peg, Reported> {
        match name {
            "PUSH" => {
                self.skip_blanks();
                let inside = self.group()?;
                let height = inside.height;
                return self.peg(Kind::Push(Box::new(inside)), self.scan.span_from(start), height);
            }
            "PUSH_LITERAL" => {
                self.skip_blanks();
                let inside = self.group()?;
                return self.peg(Kind::Seq(vec![]), inside.span, 0);
            }
            "PEEK" if self.scan.sees("[") => {
                self.scan.take_while(|c| c != ']' && c != '\n');
                self.scan.eat("]");
            }
            "PEEK" | "PEEK_ALL" | "POP" | "POP_ALL" => {}
            "DROP" => return self.peg(Kind::Seq(vec![]), self.scan.span_from(start), 0),
            _ => return self.peg(Kind::Name(name.to_string()), self.scan.span_from(start), 0),
        }
        self.peg(Kind::Pushed, self.scan.span_from(start), 0)
    }

    fn group(&mut self) -> Result<Peg, Reported> {
        let open = self.scan.here();
        if !self.scan.eat("(") {
            return Err(self.unexpected("`(`"));
        }
        if self.groups == MAX_NESTING / 2 {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let inside = self.choice()?;
        self.groups -= 1;
        if !self.eat(")") {
            let end = self.scan.here();
            return Err(self.builder.not_closed(open, end));
        }
        Ok(inside)
    }

    fn range(&mut self, start: usize) -> Result<Peg, Reported> {
        let low = self.quoted('\'')?;
        if !self.eat("..") {
            return Err(self.unexpected("`..`"));
        }
        self.skip_blanks();
        if !self.scan.sees("'") {
            return Err(self.unexpected("the end of the range"));
        }
        let high = self.quoted('\'')?;
        let span = self.scan.span_from(start);
        let single = |text: &str| text.chars().next().filter(|c| c.len_utf8() == text.len());
        match (single(&low), single(&high)) {
            (Some(low), Some(high)) if low <= high => self.peg(Kind::Range(low, high), span, 0),
            _ => Err(self.builder.error(
                span,
                "this is no range of characters",
                "a range is `'a'..'z'`, the smaller end first",
            )),
        }
    }

    /// Returns a text, at its opening quote.
    fn quoted(&mut self, quote: char) -> Result<String, Reported> {
        let start = self.scan.position;
        if self.scan.peek() != Some(quote) {
            return Err(self.unexpected("a term"));
        }
        self.scan.next();
        let mut text = String::new();
        loop {
            match self.scan.next() {
                Some('\\') => {
                    let from = self.scan.position - 1;
                    match self.escape() {
                        Some(character) => text.push(character),
                        None => {
                            let help =
                                "escapes are `\\n`, `\\r`, `\\t`, `\\0`, `\\\\`, `\\'`, `\\\"`, `\\x41` and `\\u{E9}`";
                            return Err(self.builder.error(self.scan.span_from(from), "unknown escape", help));
                        }
                    }
                }
                Some(c) if c == quote => return Ok(text),
                // A text may contain line feeds.
                Some(c) => text.push(c),
                None => {
                    let span = Span::new(start, start + 1);
                    return Err(self.builder.error(
                        span,
                        "this literal is not closed",
                        format!("close it with `{quote}`"),
                    ));
                }
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.scan.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            same @ ('\\' | '\'' | '"') => same,
            'x' => {
                let digits =
                    self.scan.rest().get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
                self.scan.position += 2;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            'u' if self.scan.eat("{") => {
                let digits = self.scan.take_while(|c| c.is_ascii_hexdigit());
                let value = u32::from_str_radix(digits, 16).ok()?;
                if !self.scan.eat("}") {
                    return None;
                }
                char::from_u32(value)?
            }
            _ => return None,
        })
    }
}
