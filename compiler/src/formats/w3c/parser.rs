//! Parses a text into rules.

use super::terms::{File, Kind, Rule, Term};
use crate::ast::{MAX_NESTING, Name};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Reported, rule_weight};
use crate::formats::scanner::Scanner;

/// The kinds of constraints that specifications put in brackets.
const CONSTRAINTS: &[&str] = &["wfc", "vc", "nsc", "ns", "nc", "gn", "xgc", "xgs", "err"];

/// Returns true if a text in brackets is a constraint, `[wfc: Entity Declared]`.
pub(super) fn is_constraint(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('[') else { return false };
    let inside = inside.trim_start_matches(' ');
    CONSTRAINTS.iter().any(|known| {
        let begins = inside.get(..known.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(known));
        begins && inside[known.len()..].trim_start_matches(' ').starts_with(": ")
    })
}

/// Parses the whole text.
pub(super) fn parse(text: &str, builder: &mut Builder<'_>) -> File {
    let scan = Scanner::new(text);
    let mut parser = Parser { scan, groups: 0, is_explicit: false, has_terminals: false, builder };
    let mut file = File::default();
    loop {
        parser.skip_blanks();
        if parser.scan.peek().is_none() || parser.scan.sees("<?ENCORE?>") || parser.builder.gives_up() {
            break;
        }
        if parser.item(&mut file).is_err() {
            parser.skip_to_rule();
        }
    }
    file.implies_blanks |= file.pass.is_some() || file.rules.iter().any(|rule| rule.is_terminal || rule.is_explicit);
    file
}

struct Parser<'t, 'b, 'd> {
    scan: Scanner<'t>,
    /// The number of open groups.
    groups: u32,
    /// Whether a comment in the current rule says that its blanks are explicit.
    is_explicit: bool,
    /// Whether the rules are terminals from here on.
    has_terminals: bool,
    builder: &'b mut Builder<'d>,
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Takes a name, which may be in angle brackets.
fn name_at<'t>(scan: &mut Scanner<'t>) -> Option<&'t str> {
    let is_bracketed = scan.eat("<");
    if !scan.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    // `Char-'a'` is a difference: no name ends in a minus.
    let taken = scan.take_while(is_of_name);
    let name = taken.trim_end_matches('-');
    scan.position -= taken.len() - name.len();
    (!is_bracketed || scan.eat(">")).then_some(name)
}

impl Parser<'_, '_, '_> {
    /// Skips blanks, comments and constraints.
    fn skip_blanks(&mut self) {
        loop {
            self.scan.take_while(char::is_whitespace);
            let rest = self.scan.rest();
            let is_line = rest.starts_with("//") || rest.starts_with('#') && !is_code(rest);
            if is_line {
                self.scan.take_line();
            } else if rest.starts_with("/*") || rest.starts_with("(*") {
                if !self.skip_comment(if rest.starts_with("/*") { "*/" } else { "*)" }) {
                    return;
                }
            } else if is_constraint(rest) {
                self.scan.take_while(|c| c != ']' && c != '\n');
                self.scan.eat("]");
            } else {
                return;
            }
        }
    }

    /// Skips a comment up to its closing mark. Returns false if there is none.
    fn skip_comment(&mut self, close: &str) -> bool {
        let start = self.scan.position;
        self.scan.position += 2;
        match self.scan.take_past(close) {
            Some(inside) => {
                let said = inside.trim().to_ascii_lowercase();
                let mark = said.strip_prefix("ws:").map(str::trim_start);
                self.is_explicit |= mark.is_some_and(|mark| mark.starts_with("explicit"));
                true
            }
            None => {
                let help = format!("close it with `{close}`");
                self.builder.error(Span::new(start, start + 2), "this comment is not closed", help);
                self.scan.position = self.scan.text.len();
                false
            }
        }
    }

    /// Takes the head of a rule in a copy of the text: the number of the production, the name and `::=`.
    fn head(scan: &mut Scanner<'_>) -> Option<Name> {
        let blank = |c: char| c.is_whitespace();
        if scan.eat("[") {
            let number = scan.take_while(|c| c.is_ascii_alphanumeric());
            if !number.starts_with(|c: char| c.is_ascii_digit()) || !scan.eat("]") {
                return None;
            }
            // A class may end a rule, and the name of the next one is on another line then.
            scan.take_while(|c| matches!(c, ' ' | '\t' | '\u{A0}'));
        }
        let start = scan.position;
        let text = name_at(scan)?.to_string();
        let span = scan.span_from(start);
        scan.take_while(blank);
        scan.eat("::=").then_some(Name { text, span })
    }

    fn begins_rule(&self) -> bool {
        let may_begin = self.scan.peek().is_some_and(|c| is_of_name(c) || matches!(c, '[' | '<'));
        may_begin && Self::head(&mut self.scan.clone()).is_some()
    }

    /// Recovers from an error: skips to the next line that begins a rule.
    fn skip_to_rule(&mut self) {
        while self.scan.peek().is_some() {
            self.scan.take_line();
            self.scan.take_while(char::is_whitespace);
            if self.begins_rule() || self.scan.sees("@") {
                return;
            }
        }
    }

    fn item(&mut self, file: &mut File) -> Result<(), Reported> {
        if self.scan.eat("<?TOKENS?>") || self.scan.eat("@terminals") {
            self.has_terminals = true;
            file.implies_blanks = true;
            return Ok(());
        }
        if self.scan.eat("@pass") {
            self.skip_blanks();
            let _ = self.scan.eat("::=") || self.scan.eat(":");
            self.groups = 0;
            file.pass = Some(self.choice()?);
            return self.ended();
        }
        file.rules.push(self.rule()?);
        Ok(())
    }

    fn rule(&mut self) -> Result<Rule, Reported> {
        let mut ahead = self.scan.clone();
        let Some(name) = Self::head(&mut ahead) else { return Err(self.unexpected("a rule")) };
        self.builder.count(rule_weight(&name), name.span)?;
        self.scan = ahead;
        self.groups = 0;
        self.is_explicit = false;
        let body = self.choice()?;
        self.ended()?;
        Ok(Rule { name, body, is_terminal: self.has_terminals, is_explicit: self.is_explicit })
    }

    /// Reports what stands where the next rule should begin.
    fn ended(&mut self) -> Result<(), Reported> {
        self.skip_blanks();
        self.scan.eat(";");
        self.skip_blanks();
        let is_next = self.scan.peek().is_none() || self.scan.sees("@") || self.scan.sees("<?") || self.begins_rule();
        if is_next { Ok(()) } else { Err(self.unexpected("the next rule")) }
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let message = format!("expected {wanted}, found {}", self.scan.found());
        let help = match wanted {
            "an item" => {
                "an item is text in quotes, a class `[a-z]`, a character `#x41`, a name, or a group in parentheses"
            }
            _ => "a rule is written `name ::= item item | item`",
        };
        self.builder.error(self.scan.here(), message, help)
    }

    fn build(&mut self, kind: Kind, span: Span, below: u32) -> Result<Term, Reported> {
        self.builder.count(1, span)?;
        if below >= MAX_NESTING / 2 {
            return Err(self.builder.too_deep(span));
        }
        Ok(Term { kind, span, height: below + 1 })
    }

    fn joined(&mut self, mut parts: Vec<Term>, join: fn(Vec<Term>) -> Kind) -> Result<Term, Reported> {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return Ok(only);
        }
        let height = parts.iter().map(|part| part.height).max().unwrap_or(0);
        let here = Span::new(self.scan.position, self.scan.position);
        let span = parts.iter().map(|part| part.span).reduce(Span::to).unwrap_or(here);
        self.build(join(parts), span, height)
    }

    fn choice(&mut self) -> Result<Term, Reported> {
        let first = self.sequence()?;
        let mut parts = vec![first];
        loop {
            self.skip_blanks();
            if !self.scan.eat("|") {
                return self.joined(parts, Kind::Choice);
            }
            parts.push(self.sequence()?);
        }
    }

    fn sequence(&mut self) -> Result<Term, Reported> {
        let mut parts = Vec::new();
        loop {
            self.skip_blanks();
            let ends = match self.scan.peek() {
                None | Some('|' | ')' | ';' | '@') => true,
                Some('<') => self.scan.sees("<?") || self.begins_rule(),
                Some(_) => self.begins_rule(),
            };
            if ends {
                return self.joined(parts, Kind::Seq);
            }
            parts.push(self.difference()?);
        }
    }

    fn difference(&mut self) -> Result<Term, Reported> {
        let mut left = self.repeated()?;
        loop {
            self.skip_blanks();
            if !self.scan.eat("-") {
                return Ok(left);
            }
            self.skip_blanks();
            let right = self.repeated()?;
            let (span, height) = (left.span.to(right.span), left.height.max(right.height));
            left = self.build(Kind::Minus(Box::new(left), Box::new(right)), span, height)?;
        }
    }

    fn repeated(&mut self) -> Result<Term, Reported> {
        let start = self.scan.position;
        let mut term = self.primary()?;
        loop {
            let (min, max) = match self.scan.peek() {
                Some('?') => (0, Some(1)),
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some(c) if c == ' ' && self.is_sign_behind_blanks() => {
                    self.scan.take_while(|c| c == ' ');
                    continue;
                }
                Some(_) | None => return Ok(term),
            };
            self.scan.next();
            let height = term.height;
            term = self.build(Kind::Repeat(Box::new(term), min, max), self.scan.span_from(start), height)?;
        }
    }

    /// Returns true if a sign of repetition comes after blanks.
    fn is_sign_behind_blanks(&self) -> bool {
        self.scan.rest().trim_start_matches(' ').starts_with(['?', '*', '+'])
    }

    fn primary(&mut self) -> Result<Term, Reported> {
        let start = self.scan.position;
        match self.scan.peek() {
            Some('(') => self.group(),
            Some(quote @ ('"' | '\'')) => {
                self.scan.next();
                let text = self.scan.take_while(|c| c != quote && c != '\n');
                if !self.scan.eat(&quote.to_string()) {
                    let help = format!("close it with `{quote}` on its line; nothing is escaped in it");
                    return Err(self.builder.error(Span::new(start, start + 1), "this literal is not closed", help));
                }
                self.build(Kind::Text(text.to_string()), self.scan.span_from(start), 0)
            }
            Some('#') => {
                let code = self.code()?;
                let set = CharSet::single(Unit::Char, code);
                self.build(Kind::Class(set), self.scan.span_from(start), 0)
            }
            Some('[') => {
                let set = self.class()?;
                self.builder.count(set.ranges().len() / 16, self.scan.span_from(start))?;
                self.build(Kind::Class(set), self.scan.span_from(start), 0)
            }
            Some(_) | None => match name_at(&mut self.scan) {
                Some(name) => self.build(Kind::Name(name.to_string()), self.scan.span_from(start), 0),
                None => {
                    self.scan.position = start;
                    Err(self.unexpected("an item"))
                }
            },
        }
    }

    fn group(&mut self) -> Result<Term, Reported> {
        let open = self.scan.here();
        self.scan.next();
        if self.groups == MAX_NESTING / 2 {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let inside = self.choice()?;
        self.groups -= 1;
        if !self.scan.eat(")") {
            let end = self.scan.here();
            return Err(self.builder.not_closed(open, end));
        }
        Ok(inside)
    }

    /// Returns the character of `#x41`.
    fn code(&mut self) -> Result<u32, Reported> {
        let start = self.scan.position;
        self.scan.position += "#".len();
        self.scan.eat("x");
        let digits = self.scan.take_while(|c| c.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        match code.filter(|_| !digits.is_empty()) {
            Some(character) => Ok(character.into()),
            None => {
                let help = "a character is written `#x41`, up to `#x10FFFF`";
                Err(self.builder.error(self.scan.span_from(start), "this is no character", help))
            }
        }
    }

    fn class(&mut self) -> Result<CharSet, Reported> {
        let start = self.scan.position;
        self.scan.next();
        if self.scan.sees("http") {
            let text = self.scan.take_while(|c| c != ']' && c != '\n').to_string();
            let message = format!("rules of another specification are not read: {}", text.escape_debug());
            let help = "write the rule out in this file";
            return Err(self.builder.error(self.scan.span_from(start), message, help));
        }
        let is_inverted = self.scan.eat("^");
        let mut ranges = Vec::new();
        while !self.scan.eat("]") {
            let from = self.scan.position;
            let low = self.member(start)?;
            let mut ahead = self.scan.clone();
            if !ahead.eat("-") || ahead.sees("]") {
                ranges.push((low, low));
                continue;
            }
            self.scan = ahead;
            let high = self.member(start)?;
            if low > high {
                let help = "the smaller end comes first; a minus that is a member comes last";
                return Err(self.builder.error(self.scan.span_from(from), "this is no range", help));
            }
            ranges.push((low, high));
        }
        let set = CharSet::new(Unit::Char, ranges);
        Ok(if is_inverted { characters().difference(&set) } else { set })
    }

    /// Returns a member of the class that began at byte `start`.
    fn member(&mut self, start: usize) -> Result<u32, Reported> {
        if is_code(self.scan.rest()) {
            return self.code();
        }
        match self.scan.peek() {
            Some(c) if c != '\n' => {
                self.scan.next();
                Ok(c.into())
            }
            Some(_) | None => {
                let span = Span::new(start, start + 1);
                Err(self.builder.error(span, "this class is not closed", "close it with `]` on its line"))
            }
        }
    }
}

/// Returns true if a text begins with a character such as `#x41`.
fn is_code(text: &str) -> bool {
    text.strip_prefix("#x").is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

/// Returns the characters of XML 1.0, production 2.
fn characters() -> CharSet {
    let ranges = [(0x09, 0x0A), (0x0D, 0x0D), (0x20, 0xD7FF), (0xE000, 0xFFFD), (0x1_0000, 0x10_FFFF)];
    CharSet::new(Unit::Char, ranges)
}
