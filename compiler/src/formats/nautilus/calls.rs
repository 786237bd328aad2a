//! The calls `ctx.rule`, `ctx.regex` and `ctx.script` of a Python file.

use super::{add_rule, repeats};
use crate::ast::{Name, Weight};
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Part, Reported, RuleList};
use crate::formats::pattern;
use crate::formats::python;
use crate::formats::scanner::Scanner;

/// An argument of a call.
enum Argument {
    Text(Vec<u8>),
    /// A list of literals.
    List(Vec<String>),
    /// `weight=3.0`.
    Weight(f64),
    /// Code, which is not run.
    Code,
}

/// Reads all calls of a file.
pub(super) fn read(text: &str, rules: &mut RuleList, builder: &mut Builder<'_>) {
    let mut scan = Scanner::new(text);
    loop {
        python::skip_blanks(&mut scan);
        if scan.peek().is_none() || builder.gives_up() {
            return;
        }
        let start = scan.position;
        let call = ["ctx.rule", "ctx.regex", "ctx.script", "ctx.rule_no_idx"]
            .into_iter()
            .find(|call| scan.sees(call) && scan.rest()[call.len()..].trim_start().starts_with('('));
        match call {
            Some(call) => {
                scan.eat(call);
                scan.take_while(char::is_whitespace);
                scan.eat("(");
                // The errors have been reported.
                let _ = Reader { scan: &mut scan, rules, builder }.call(call, start);
            }
            None => {
                skip_statement(&mut scan);
                // A string on its own is a comment.
                if !text[start..].starts_with(['"', '\'']) {
                    let help = "calls of `ctx.rule`, `ctx.regex` and `ctx.script` with literals are read, other code is not run";
                    builder.approximate(first_line(text, start), "Python code is left out", help);
                }
            }
        }
    }
}

/// Returns the line that begins at `start`.
fn first_line(text: &str, start: usize) -> Span {
    let length = text[start..].find('\n').unwrap_or(text.len() - start);
    Span::new(start, start + length)
}

/// Skips a logical line: brackets and long strings may hold line ends.
fn skip_statement(scan: &mut Scanner<'_>) {
    let mut open = 0u32;
    loop {
        match scan.peek() {
            None => return,
            Some('\n') if open == 0 => return,
            Some('"' | '\'') => {
                let at = scan.position;
                if !matches!(python::literal(scan), Some(Ok(_))) && scan.position == at {
                    scan.next();
                }
                continue;
            }
            Some('#') => {
                scan.take_line();
                continue;
            }
            Some('(' | '[' | '{') => open += 1,
            Some(')' | ']' | '}') => open = open.saturating_sub(1),
            _ => {}
        }
        scan.next();
    }
}

struct Reader<'s, 't, 'b, 'd> {
    scan: &'s mut Scanner<'t>,
    rules: &'s mut RuleList,
    builder: &'b mut Builder<'d>,
}

impl Reader<'_, '_, '_, '_> {
    fn call(&mut self, call: &str, start: usize) -> Result<(), Reported> {
        let mut arguments = Vec::new();
        let mut spans = Vec::new();
        loop {
            python::skip_blanks(self.scan);
            if self.scan.eat(")") {
                break;
            }
            let from = self.scan.position;
            if self.scan.peek().is_none() {
                let span = Span::new(start, start + call.len());
                return Err(self.builder.error(span, "this call is not closed", "close it with `)`"));
            }
            self.builder.count(1, self.scan.here())?;
            arguments.push(self.argument()?);
            spans.push(self.scan.span_from(from));
            python::skip_blanks(self.scan);
            if !self.scan.eat(",") && self.scan.peek().is_some_and(|c| c != ')') {
                let message = format!("expected `,` or `)`, found {}", self.scan.found());
                let span = self.scan.here();
                self.scan.next();
                return Err(self.builder.error(span, message, "a call is `ctx.rule(\"NAME\", \"text {OTHER}\")`"));
            }
        }
        let span = self.scan.span_from(start);
        let weight = arguments.iter().zip(&spans).find_map(|(argument, &span)| match argument {
            Argument::Weight(value) => Some(Weight { value: *value, span }),
            _ => None,
        });
        let name = match arguments.first() {
            Some(Argument::Text(name)) => String::from_utf8_lossy(name).into_owned(),
            _ => {
                let help = "its arguments are not literals, and code is not run";
                self.builder.approximate(span, "a call with a computed name is left out", help);
                return Ok(());
            }
        };
        match (call, arguments.get(1)) {
            ("ctx.rule" | "ctx.rule_no_idx", Some(Argument::Text(text))) => {
                add_rule(self.rules, self.builder, (&name, spans[0]), (text, spans[1]), weight)
            }
            ("ctx.regex", Some(Argument::Text(text))) => {
                let regex = String::from_utf8_lossy(text);
                let part = pattern::part(&regex, pattern::Flags::default(), spans[1], self.builder)?;
                let rule = self.rules.rule(Name { text: name, span: spans[0] }, self.builder)?;
                self.rules.add(rule, [(part, weight)]);
                Ok(())
            }
            ("ctx.script", Some(Argument::List(names))) => {
                let code = spans.get(2).map_or("", |span| &self.scan.text[span.start as usize..span.end as usize]);
                let part = script(code, names, span, self.builder)?;
                let rule = self.rules.rule(Name { text: name, span: spans[0] }, self.builder)?;
                self.rules.add(rule, part.map(|part| (part, weight)));
                Ok(())
            }
            _ => {
                let help = "its arguments are not literals, and code is not run";
                self.builder.approximate(span, "a call with computed arguments is left out", help);
                Ok(())
            }
        }
    }

    fn argument(&mut self) -> Result<Argument, Reported> {
        let start = self.scan.position;
        if self.scan.sees("weight") {
            let mut ahead = self.scan.clone();
            ahead.eat("weight");
            ahead.take_while(char::is_whitespace);
            if ahead.eat("=") {
                ahead.take_while(char::is_whitespace);
                let digits = ahead.take_while(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-'));
                if let Some(value) = digits.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0) {
                    *self.scan = ahead;
                    return Ok(Argument::Weight(value));
                }
            }
        }
        match python::literal(self.scan) {
            Some(Ok(bytes)) if self.ends() => return Ok(Argument::Text(bytes)),
            Some(Err(())) if self.scan.peek().is_none() => {
                let span = Span::new(start, start + 1);
                return Err(self.builder.error(
                    span,
                    "this string is not closed",
                    "close it with the same quotation mark",
                ));
            }
            _ => self.scan.position = start,
        }
        if let Some(names) = self.list() {
            return Ok(Argument::List(names));
        }
        self.scan.position = start;
        self.skip_code();
        Ok(Argument::Code)
    }

    /// Returns true if the argument ends here.
    fn ends(&self) -> bool {
        let mut ahead = self.scan.clone();
        python::skip_blanks(&mut ahead);
        matches!(ahead.peek(), None | Some(',' | ')' | ']'))
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        if !self.scan.eat("[") {
            return None;
        }
        loop {
            python::skip_blanks(self.scan);
            if self.scan.eat("]") {
                return Some(names);
            }
            self.builder.count(1, self.scan.here()).ok()?;
            let name = python::literal(self.scan)?.ok()?;
            names.push(String::from_utf8(name).ok()?);
            python::skip_blanks(self.scan);
            self.scan.eat(",");
        }
    }

    /// Skips to the comma or bracket that ends the argument.
    fn skip_code(&mut self) {
        let mut open = 0u32;
        // The commas between a lambda's parameters do not end the argument.
        let mut parameters = self.scan.sees("lambda");
        loop {
            match self.scan.peek() {
                None => return,
                Some(',') if open == 0 && !parameters => return,
                Some(')' | ']' | '}') if open == 0 => return,
                Some(':') if open == 0 => parameters = false,
                Some('"' | '\'') => {
                    let at = self.scan.position;
                    if !matches!(python::literal(self.scan), Some(Ok(_))) && self.scan.position == at {
                        self.scan.next();
                    }
                    continue;
                }
                Some('(' | '[' | '{') => open += 1,
                Some(')' | ']' | '}') => open -= 1,
                _ => {}
            }
            self.scan.next();
        }
    }
}

/// Returns the expression of a script that only puts its arguments into a text: `lambda a, b: b"<%s>%s" % (a, b)`.
fn script(code: &str, names: &[String], span: Span, builder: &mut Builder<'_>) -> Result<Option<Part>, Reported> {
    let Some(pieces) = formatted(code, names) else {
        let help = "write a rule in its place; only `lambda a, b: b\"%s%s\" % (a, b)` is understood";
        builder.approximate(span, "a script is left out", help);
        return Ok(None);
    };
    let used: Vec<String> = pieces.iter().filter_map(|piece| piece.as_ref().err().cloned()).collect();
    if repeats(&used) {
        let help = "the script puts the same text into several places, a grammar draws each on its own";
        builder.approximate(span, "a script repeats one of its arguments", help);
    }
    let mut parts = Vec::new();
    for piece in pieces {
        parts.push(match piece {
            Ok(text) => builder.bytes(text, span)?,
            Err(name) => builder.rule(name, span)?,
        });
    }
    builder.seq(parts, span).map(Some)
}

/// Returns the text pieces (`Ok`) and names (`Err`) of a lambda that only formats text.
fn formatted(code: &str, names: &[String]) -> Option<Vec<Result<Vec<u8>, String>>> {
    let (parameters, body) = code.strip_prefix("lambda")?.split_once(':')?;
    let parameters: Vec<&str> = parameters.split(',').map(str::trim).collect();
    let named = |argument: &str| {
        let place = parameters.iter().position(|parameter| *parameter == argument)?;
        names.get(place).cloned()
    };
    let mut scan = Scanner::new(body.trim());
    let Some(text) = python::literal(&mut scan) else {
        // `lambda a: a`, or a sum of parameters.
        return body.split('+').map(|argument| Some(Err(named(argument.trim())?))).collect();
    };
    let text = text.ok()?;
    let rest = scan.rest().trim();
    let arguments = match rest.strip_prefix('%') {
        None if rest.is_empty() => Vec::new(),
        None => return None,
        Some(arguments) => {
            let arguments = arguments.trim();
            let inside = arguments.strip_prefix('(').and_then(|inside| inside.strip_suffix(')')).unwrap_or(arguments);
            inside.split(',').map(str::trim).filter(|argument| !argument.is_empty()).collect()
        }
    };
    let mut arguments = arguments.into_iter();
    let formats = rest.starts_with('%');
    let mut pieces = Vec::new();
    let mut literal = Vec::new();
    let mut bytes = text.into_iter();
    while let Some(byte) = bytes.next() {
        if byte != b'%' || !formats {
            literal.push(byte);
            continue;
        }
        match bytes.next()? {
            b'%' => literal.push(b'%'),
            b's' | b'b' => {
                pieces.push(Ok(std::mem::take(&mut literal)));
                pieces.push(Err(named(arguments.next()?)?));
            }
            _ => return None,
        }
    }
    pieces.push(Ok(literal));
    pieces.retain(|piece| !matches!(piece, Ok(text) if text.is_empty()));
    arguments.next().is_none().then_some(pieces)
}
