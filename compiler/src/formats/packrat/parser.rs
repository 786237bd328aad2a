//! Parses a text into the rules of a PEG, in the notation of Ford's paper and in that of Peggy. They differ in a few
//! signs, which a [`Dialect`] lists.

use super::tree::{Kind, Peg, Rule};
use crate::ast::{MAX_NESTING, Name};
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Reported, rule_weight};
use crate::formats::scanner::Scanner;

mod literals;
mod preamble;
mod rounds;

/// The signs of a notation.
pub(in crate::formats) struct Dialect {
    /// The marks between the name of a rule and its body.
    pub(in crate::formats) defines: &'static [&'static str],
    /// The marks that begin a comment up to the end of its line.
    pub(in crate::formats) comments: &'static [&'static str],
    /// Whether an alternative may be empty.
    pub(in crate::formats) has_empty: bool,
    /// Whether `<` and `>` mark the text that an action sees.
    pub(in crate::formats) has_captures: bool,
    /// Whether three digits after a backslash are a character.
    pub(in crate::formats) has_octal: bool,
    /// The greatest character that `.` and classes of all others take. Peggy reads units of UTF-16, and takes half of
    /// what is beyond them.
    pub(in crate::formats) last: char,
    /// The form of a rule, for messages.
    pub(in crate::formats) form: &'static str,
}

/// Parses the whole text.
pub(in crate::formats) fn parse(text: &str, dialect: &'static Dialect, builder: &mut Builder<'_>) -> Vec<Rule> {
    let scan = Scanner::new(text);
    let mut parser = Parser {
        scan,
        dialect,
        groups: 0,
        is_separator: false,
        halves: Vec::new(),
        rule: String::new(),
        made: Vec::new(),
        builder,
    };
    let mut rules = Vec::new();
    parser.skip_preamble();
    while parser.scan.peek().is_some() && !parser.scan.sees("%%") && !parser.builder.gives_up() {
        match parser.rule() {
            Ok(rule) => rules.push(rule),
            Err(Reported) => parser.skip_to_rule(),
        }
        rules.append(&mut parser.made);
        parser.skip_blanks();
    }
    rules
}

struct Parser<'t, 'b, 'd> {
    scan: Scanner<'t>,
    dialect: &'static Dialect,
    /// The number of open groups.
    groups: u32,
    /// Whether a bar closes what is being read, the separator of rounds.
    is_separator: bool,
    /// The halves of surrogate pairs in the last class, if it has nothing else.
    halves: Vec<(u32, u32)>,
    /// The name of the current rule.
    rule: String,
    /// Rules for parts that stand at two places, made while the current rule is read.
    made: Vec<Rule>,
    builder: &'b mut Builder<'d>,
}

fn begins_name(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphabetic()
}

fn is_of_name(c: char) -> bool {
    begins_name(c) || c.is_alphanumeric()
}

/// Takes a name. `None` if none comes next, or if `$` comes next, which is an operator in front of a term.
fn name_at<'t>(scan: &mut Scanner<'t>) -> Option<&'t str> {
    let is_name = scan.peek().is_some_and(|c| begins_name(c) && c != '$');
    is_name.then(|| scan.take_while(is_of_name))
}

impl<'t> Parser<'t, '_, '_> {
    /// Skips blanks and comments. An open comment is reported and reaches to the end.
    fn skip_blanks(&mut self) {
        let mut scan = self.scan.clone();
        let unclosed = self.skip_in(&mut scan);
        self.scan = scan;
        if let Some(span) = unclosed {
            self.builder.error(span, "this comment is not closed", "close it with `*/`");
        }
    }

    /// Skips blanks and comments in a copy of the text. Returns the beginning of a comment without an end.
    fn skip_in(&self, scan: &mut Scanner<'_>) -> Option<Span> {
        loop {
            scan.take_while(|c| c.is_whitespace() || c == '\u{FEFF}');
            let start = scan.position;
            if self.dialect.comments.iter().any(|mark| scan.sees(mark)) {
                scan.take_line();
            } else if scan.eat("/*") {
                if scan.take_past("*/").is_none() {
                    scan.position = scan.text.len();
                    return Some(Span::new(start, start + 2));
                }
            } else {
                return None;
            }
        }
    }

    fn eat(&mut self, mark: &str) -> bool {
        self.skip_blanks();
        self.scan.eat(mark)
    }

    /// Returns the mark of a definition that comes next in `scan`.
    fn define(&self, scan: &Scanner<'_>) -> Option<&'static str> {
        let found = self.dialect.defines.iter().copied().find(|mark| scan.sees(mark));
        found.filter(|mark| *mark != "=" || !scan.sees("=="))
    }

    /// Returns true if a rule begins here: a name, perhaps a text for messages, and the mark of a definition.
    fn begins_rule(&self) -> bool {
        let mut scan = self.scan.clone();
        if name_at(&mut scan).is_none() {
            return false;
        }
        let mut closed = self.skip_in(&mut scan).is_none();
        if let Some(quote @ ('"' | '\'')) = scan.peek() {
            scan.next();
            loop {
                match scan.next() {
                    Some('\\') => drop(scan.next()),
                    Some('\n') | None => return false,
                    Some(c) if c == quote => break,
                    Some(_) => {}
                }
            }
            closed &= self.skip_in(&mut scan).is_none();
        }
        closed && self.define(&scan).is_some()
    }

    /// Recovers from an error: skips to the next line that begins a rule.
    fn skip_to_rule(&mut self) {
        self.builder.quiet = true;
        while self.scan.peek().is_some() {
            self.scan.take_line();
            self.scan.next();
            let mut ahead = self.scan.clone();
            ahead.take_while(|c| c == ' ' || c == '\t');
            std::mem::swap(&mut self.scan, &mut ahead);
            if self.begins_rule() {
                break;
            }
            self.scan = ahead;
        }
        self.builder.quiet = false;
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        self.skip_blanks();
        let message = format!("expected {wanted}, found {}", self.scan.found());
        let help = match wanted {
            "a term" => "a term is text in quotes, a class `[a-z]`, `.`, a name, or a group in parentheses".to_string(),
            _ => format!("a rule is written `{}`", self.dialect.form),
        };
        self.builder.error(self.scan.here(), message, help)
    }

    fn build(&mut self, kind: Kind, span: Span, below: u32) -> Result<Peg, Reported> {
        Peg::build(kind, span, below, self.builder)
    }

    fn empty(&mut self) -> Result<Peg, Reported> {
        let here = self.scan.position;
        self.build(Kind::Seq(Vec::new()), Span::new(here, here), 0)
    }

    fn rule(&mut self) -> Result<Rule, Reported> {
        let start = self.scan.position;
        let Some(text) = name_at(&mut self.scan) else { return Err(self.unexpected("a rule")) };
        let name = Name { text: text.to_string(), span: self.scan.span_from(start) };
        self.builder.count(rule_weight(&name), name.span)?;
        self.skip_blanks();
        if matches!(self.scan.peek(), Some('"' | '\'')) {
            self.text()?;
            self.skip_blanks();
        }
        let Some(mark) = self.define(&self.scan) else {
            return Err(self.unexpected(&format!("`{}`", self.dialect.defines[0])));
        };
        self.scan.eat(mark);
        (self.groups, self.is_separator) = (0, false);
        self.rule.clone_from(&name.text);
        let body = self.choice()?;
        self.skip_blanks();
        if !self.scan.eat(";") && self.scan.peek().is_some() && !self.begins_rule() && !self.scan.sees("%%") {
            return Err(self.unexpected("the next rule"));
        }
        Ok(Rule { name, modifier: None, body })
    }

    fn choice(&mut self) -> Result<Peg, Reported> {
        let first = self.sequence()?;
        let mut parts = vec![first];
        while self.eat("/") {
            parts.push(self.sequence()?);
        }
        Peg::joined(parts, Kind::Choice, self.scan.here(), self.builder)
    }

    fn sequence(&mut self) -> Result<Peg, Reported> {
        let mut parts = Vec::new();
        loop {
            self.skip_marks()?;
            let ends = match self.scan.peek() {
                None | Some('/' | ')' | ';' | '}') => true,
                Some('|') => self.is_separator,
                Some('%') => self.scan.sees("%%"),
                Some(_) => self.begins_rule(),
            };
            if ends {
                break;
            }
            let before = std::mem::take(&mut self.halves);
            let term = self.term()?;
            match self.pair(&before, &term) {
                Some(set) => {
                    let span = parts.pop().map_or(term.span, |part: Peg| part.span.to(term.span));
                    parts.push(self.build(Kind::Class(set), span, 0)?);
                }
                None => parts.push(term),
            }
        }
        if parts.is_empty() && !self.dialect.has_empty {
            return Err(self.unexpected("a term"));
        }
        Peg::joined(parts, Kind::Seq, self.scan.here(), self.builder)
    }

    /// Skips what stands between terms and has no text: code, and marks around the text that code sees.
    fn skip_marks(&mut self) -> Result<(), Reported> {
        loop {
            self.skip_blanks();
            let has_mark = self.scan.sees("@{") || self.scan.sees("~{");
            if self.scan.sees("{") || has_mark {
                self.scan.position += usize::from(has_mark);
                self.code()?;
            } else if !(self.dialect.has_captures && (self.scan.eat("<") || self.scan.eat(">"))) {
                return Ok(());
            }
        }
    }

    /// Takes code in braces, which are counted.
    fn code(&mut self) -> Result<(), Reported> {
        let open = self.scan.position;
        let mut depth = 0u32;
        loop {
            self.scan.take_while(|c| c != '{' && c != '}');
            match self.scan.next() {
                Some('{') => depth += 1,
                Some(_) if depth > 1 => depth -= 1,
                Some(_) => return Ok(()),
                None => {
                    let span = Span::new(open, open + 1);
                    return Err(self.builder.error(span, "this code is not closed", "close it with `}`"));
                }
            }
        }
    }

    /// Skips a mark for the value of a sequence, and a label.
    fn skip_label(&mut self) {
        if !self.scan.sees("@{") && self.scan.eat("@") {
            self.skip_blanks();
        }
        let mut ahead = self.scan.clone();
        if name_at(&mut ahead).is_some() && self.skip_in(&mut ahead).is_none() && ahead.eat(":") {
            self.scan = ahead;
            self.skip_blanks();
        }
    }

    fn term(&mut self) -> Result<Peg, Reported> {
        self.skip_label();
        let mut signs = Vec::new();
        while let Some(sign @ ('!' | '&' | '$')) = self.scan.peek() {
            let here = self.scan.here();
            if signs.len() as u32 >= MAX_NESTING / 2 {
                return Err(self.builder.too_deep(here));
            }
            self.scan.next();
            self.skip_blanks();
            if sign != '$' && self.scan.sees("{") {
                return self.code_predicate(here.start as usize);
            }
            signs.push((sign, here.start as usize));
        }
        let start = self.scan.position;
        let primary = self.primary()?;
        let mut term = self.repeated(primary, start)?;
        while let Some((sign, from)) = signs.pop() {
            let height = term.height;
            let span = self.scan.span_from(from);
            term = match sign {
                '!' => self.build(Kind::Not(Box::new(term)), span, height)?,
                '&' => self.build(Kind::And(Box::new(term)), span, height)?,
                _ => term,
            };
        }
        Ok(term)
    }

    /// Takes the code of a predicate, which is left out.
    fn code_predicate(&mut self, start: usize) -> Result<Peg, Reported> {
        self.code()?;
        let help = "a grammar cannot run code, so texts may be drawn that it refuses; write the condition as `&term` or `!term`";
        self.builder.approximate(self.scan.span_from(start), "a predicate of code is left out", help);
        self.empty()
    }

    fn primary(&mut self) -> Result<Peg, Reported> {
        let start = self.scan.position;
        match self.scan.peek() {
            Some('(') => self.group(),
            Some('"' | '\'') => {
                let (text, is_free) = self.text()?;
                self.build(Kind::Text(text, is_free), self.scan.span_from(start), 0)
            }
            Some('[') => {
                let set = self.class()?;
                self.build(Kind::Class(set), self.scan.span_from(start), 0)
            }
            Some('.') => {
                self.scan.next();
                self.build(Kind::Class(literals::up_to(self.dialect.last)), self.scan.span_from(start), 0)
            }
            Some(_) => match name_at(&mut self.scan) {
                Some(name) => self.named(name, start),
                None => Err(self.unexpected("a term")),
            },
            None => Err(self.unexpected("a term")),
        }
    }

    fn named(&mut self, name: &str, start: usize) -> Result<Peg, Reported> {
        let mut ahead = self.scan.clone();
        if ahead.eat(".") && name_at(&mut ahead).is_some() {
            self.scan = ahead;
            let help = "copy the rule into this file";
            let message = "rules of other files, which `import` brings, are not read";
            return Err(self.builder.error(self.scan.span_from(start), message, help));
        }
        self.build(Kind::Name(name.to_string()), self.scan.span_from(start), 0)
    }

    fn group(&mut self) -> Result<Peg, Reported> {
        let open = self.scan.here();
        self.scan.next();
        if self.groups == MAX_NESTING / 2 {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let was_separator = std::mem::replace(&mut self.is_separator, false);
        let inside = self.choice()?;
        self.is_separator = was_separator;
        self.groups -= 1;
        if !self.eat(")") {
            let end = self.scan.here();
            return Err(self.builder.not_closed(open, end));
        }
        Ok(inside)
    }
}
