//! Rules and elements of ABNF: recursive descent with two tokens of lookahead.

use std::collections::VecDeque;

use super::core;
use super::lexer::{Kind, Lexer, Token};
use crate::ast::{Expr, Grammar, MAX_NESTING, Name, Rule};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::builder::{Builder, Choosable, Part, Reported, rule_weight};
use crate::formats::scanner::number;
use crate::ordered::Map;

/// Parses the whole text.
pub(super) fn parse(text: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let unit = unit_of(text);
    let mut parser = Parser::new(text, unit, Builder::new(diagnostics));
    parser.rules();
    parser.report_undefined();
    parser.add_core_rules();
    parser.finish()
}

/// Parses the rules of an RFC. What the text does not define stays as references: prose to a name in angle brackets.
pub(super) fn parse_rfc(text: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let mut parser = Parser::new(text, unit_of(text), Builder::new(diagnostics));
    parser.is_rfc = true;
    parser.rules();
    parser.add_core_rules();
    parser.finish()
}

/// Returns true if a text is one rule.
pub(super) fn is_rule(text: &str) -> bool {
    let mut found = Diagnostics::default();
    let mut parser = Parser::new(text, unit_of(text), Builder::new(&mut found));
    parser.is_rfc = true;
    parser.rules();
    parser.rules.len() == 1 && !found.has_errors()
}

/// Returns the unit of a file's numbers: characters if one of them is larger than a byte, else bytes.
fn unit_of(text: &str) -> Unit {
    let mut unheard = Diagnostics::default();
    let mut builder = Builder::new(&mut unheard);
    builder.quiet = true;
    let mut lexer = Lexer::new(text);
    loop {
        let highest = match lexer.token(&mut builder).kind {
            Kind::End => return Unit::Byte,
            Kind::Range(_, high) => high,
            Kind::Values(values) => values.into_iter().max().unwrap_or(0),
            _ => 0,
        };
        if highest > 0xFF {
            return Unit::Char;
        }
    }
}

/// A rule whose alternatives are not joined yet, because `=/` may add some.
struct Open {
    name: Name,
    options: Vec<Choosable>,
    /// Whether it is only prose, which another definition replaces.
    only_prose: bool,
    /// The number of alternatives that it has from a core rule, as long as it is only extended and not defined.
    extends: Option<usize>,
}

struct Parser<'t, 'd> {
    lexer: Lexer<'t>,
    unit: Unit,
    ahead: VecDeque<Token<'t>>,
    last_span: Span,
    builder: Builder<'d>,
    rules: Vec<Open>,
    /// The last definition of each name, by the name in lower case.
    index: Map<String, usize>,
    groups: u32,
    /// Whether this is an RFC. Its rules may extend rules of other documents, and refer to them.
    is_rfc: bool,
}

impl<'t, 'd> Parser<'t, 'd> {
    fn new(text: &'t str, unit: Unit, builder: Builder<'d>) -> Parser<'t, 'd> {
        Parser {
            lexer: Lexer::new(text),
            unit,
            ahead: VecDeque::new(),
            last_span: Span::default(),
            builder,
            rules: Vec::new(),
            index: Map::new(),
            groups: 0,
            is_rfc: false,
        }
    }

    fn peek(&mut self, distance: usize) -> &Token<'t> {
        while self.ahead.len() <= distance {
            let token = self.lexer.token(&mut self.builder);
            self.ahead.push_back(token);
        }
        &self.ahead[distance]
    }

    fn take(&mut self) -> Token<'t> {
        self.peek(0);
        let token = self.ahead.pop_front().unwrap_or_else(|| self.lexer.token(&mut self.builder));
        self.last_span = token.span;
        token
    }

    fn take_if(&mut self, kind: &Kind<'_>) -> bool {
        let found = self.peek(0).kind == *kind;
        if found {
            self.take();
        }
        found
    }

    /// Returns true if a rule begins here. No element is a name before an equals sign.
    fn rule_begins(&mut self) -> bool {
        matches!(self.peek(0).kind, Kind::Name(_) | Kind::Prose(_))
            && matches!(self.peek(1).kind, Kind::Defines | Kind::Extends)
    }

    fn rules(&mut self) {
        while self.peek(0).kind != Kind::End && !self.builder.gives_up() {
            let is_rule = self.rule_begins();
            if !is_rule {
                self.unexpected("a rule");
            }
            if !is_rule || self.rule().is_err() {
                self.builder.quiet = true;
                while self.peek(0).kind != Kind::End && !self.rule_begins() {
                    self.take();
                }
                self.builder.quiet = false;
            }
        }
    }

    fn rule(&mut self) -> Result<(), Reported> {
        let token = self.take();
        let (Kind::Name(text) | Kind::Prose(text)) = token.kind else { return Err(Reported) };
        let name = Name { text: text.trim().to_string(), span: token.span };
        let key = name.text.to_ascii_lowercase();
        let extends = self.take().kind == Kind::Extends;
        self.groups = 0;
        let (place, of_core) = match self.index.get(&key) {
            Some(&place) if extends => (place, None),
            Some(&place) if self.rules[place].extends.is_some() => {
                // It was extended before. The alternatives of its definition come first.
                let open = &mut self.rules[place];
                open.name = name;
                (place, open.extends.take())
            }
            _ => {
                let mut options = Vec::new();
                if let Some((core, body)) = core::by_name(&key).filter(|_| extends) {
                    options = self.core_rule(core, body, name.span);
                }
                let of_core = extends.then_some(options.len());
                self.builder.count(rule_weight(&name), name.span)?;
                // A broken rule is kept, so that references to it are not reported too.
                self.index.insert(key, self.rules.len());
                self.rules.push(Open { name, options, only_prose: false, extends: of_core });
                (self.rules.len() - 1, None)
            }
        };
        self.rules[place].only_prose |= !extends && self.is_only_prose();
        let options = self.alternatives()?;
        let all = &mut self.rules[place].options;
        let replaced = of_core.map_or(all.len()..all.len(), |of_core| 0..of_core);
        all.splice(replaced, options);
        let span = self.last_span;
        self.rule_end(span)
    }

    /// Returns true if prose follows, and then the next rule.
    fn is_only_prose(&mut self) -> bool {
        matches!(self.peek(0).kind, Kind::Prose(_)) && (self.peek(1).kind == Kind::End || self.second_begins_rule())
    }

    /// Reports the rules that are only extended. Those of the core are defined elsewhere.
    fn report_undefined(&mut self) {
        for open in self.rules.iter().filter(|open| open.extends == Some(0)) {
            let message = format!("rule `{}` is extended but not defined", open.name.text);
            let help = "one definition is written with `=`, others with `=/`";
            self.builder.error(open.name.span, message, help);
        }
    }

    /// Returns true if a rule begins at the token after the next.
    fn second_begins_rule(&mut self) -> bool {
        matches!(self.peek(1).kind, Kind::Name(_)) && matches!(self.peek(2).kind, Kind::Defines | Kind::Extends)
    }

    fn rule_end(&mut self, _rule: Span) -> Result<(), Reported> {
        if self.peek(0).kind == Kind::End {
            return Ok(());
        }
        if !self.rule_begins() {
            let help = match self.peek(0).kind {
                Kind::Close => Some("there is no `(` before it in this rule; as text it is `\")\"`"),
                Kind::CloseBracket => Some("there is no `[` before it in this rule; as text it is `\"]\"`"),
                _ => None,
            };
            if let Some(help) = help {
                let span = self.peek(0).span;
                let found = &self.lexer.scan.text[span.start as usize..span.end as usize];
                return Err(self.builder.error(span, format!("unmatched `{found}`"), help));
            }
            return Err(self.unexpected("the next rule"));
        }
        if !self.peek(0).starts_line {
            let span = self.peek(0).span;
            let help = "each rule begins on a line of its own";
            self.builder.error(span, "this rule begins inside of a line", help);
        }
        Ok(())
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let token = self.peek(0);
        let span = token.span;
        let found = match token.kind {
            // The lexer has reported it.
            Kind::Error => return Reported,
            Kind::End => "the end of the file".to_string(),
            Kind::Text(..) => "a string".to_string(),
            Kind::Prose(_) => "prose".to_string(),
            _ => format!("`{}`", &self.lexer.scan.text[span.start as usize..span.end as usize]),
        };
        let help = match wanted {
            "an element" => {
                "an element is a name, a string, a number such as `%x41`, a group `(...)` or an option `[...]`"
            }
            _ => "a rule is written `name = elements`, on a line of its own",
        };
        self.builder.error(span, format!("expected {wanted}, found {found}"), help)
    }

    fn alternatives(&mut self) -> Result<Vec<Choosable>, Reported> {
        let mut options = Vec::new();
        loop {
            options.push((self.concatenation()?, None));
            if !self.take_if(&Kind::Slash) {
                return Ok(options);
            }
        }
    }

    fn alternation(&mut self) -> Result<Part, Reported> {
        let options = self.alternatives()?;
        self.builder.choice(options, self.last_span)
    }

    fn concatenation(&mut self) -> Result<Part, Reported> {
        let mut parts = Vec::new();
        loop {
            let ends = matches!(self.peek(0).kind, Kind::Slash | Kind::Close | Kind::CloseBracket | Kind::End);
            if ends || self.rule_begins() {
                break;
            }
            parts.push(self.repetition()?);
        }
        if parts.is_empty() {
            return Err(self.unexpected("an element"));
        }
        self.builder.seq(parts, self.last_span)
    }

    /// Parses `[n]*[m]element`, `nelement`, or the same with `#` for a list.
    fn repetition(&mut self) -> Result<Part, Reported> {
        let start = self.peek(0).span;
        let least = self.bound()?;
        let kind = self.peek(0).kind.clone();
        let (min, max) = match kind {
            Kind::Star | Kind::Hash => {
                self.take();
                let most = if self.peek(0).sticks { self.bound()? } else { None };
                if let (Some(least), Some(most)) = (least, most)
                    && least > most
                {
                    let span = start.to(self.last_span);
                    return Err(self.builder.error(
                        span,
                        "the bounds of this repetition are reversed",
                        "the smaller bound comes first",
                    ));
                }
                (least.unwrap_or(0), most)
            }
            _ => match least {
                None => return self.element(),
                Some(count) => (count, Some(count)),
            },
        };
        let element = self.element()?;
        let span = start.to(self.last_span);
        match kind {
            Kind::Hash => self.list(element, min, max, span),
            _ => self.builder.repeat(element, min, max, span),
        }
    }

    fn bound(&mut self) -> Result<Option<u32>, Reported> {
        let token = self.peek(0);
        let (Kind::Number(digits), span) = (&token.kind, token.span) else { return Ok(None) };
        let Some(value) = number(digits) else {
            let help = format!("a bound is a whole number up to {}", u32::MAX);
            return Err(self.builder.error(span, "this is not a number of rounds", help));
        };
        self.take();
        Ok(Some(value))
    }

    /// Returns the meaning of `n#m item`: items with commas and optional blanks between them, in the form that a sender
    /// writes.
    fn list(&mut self, item: Part, min: u32, max: Option<u32>, span: Span) -> Result<Part, Reported> {
        if max == Some(0) {
            return self.builder.bytes("", span);
        }
        let blank = self.builder.class(CharSet::new(Unit::Byte, [(9, 9), (32, 32)]), span)?;
        let before = self.builder.repeat(blank.clone(), 0, None, span)?;
        let after = self.builder.repeat(blank, 0, None, span)?;
        let comma = self.builder.bytes(",", span)?;
        let more = self.builder.seq(vec![before, comma, after, item.clone()], span)?;
        let more = self.builder.repeat(more, min.saturating_sub(1), max.map(|max| max - 1), span)?;
        let list = self.builder.seq(vec![item, more], span)?;
        if min == 0 { self.builder.repeat(list, 0, Some(1), span) } else { Ok(list) }
    }

    fn element(&mut self) -> Result<Part, Reported> {
        if self.rule_begins() {
            return Err(self.unexpected("an element"));
        }
        match self.peek(0).kind {
            Kind::Open => return self.group(&Kind::Close),
            Kind::OpenBracket => return self.group(&Kind::CloseBracket),
            Kind::Name(_) | Kind::Text(..) | Kind::Values(_) | Kind::Range(..) | Kind::Prose(_) => {}
            _ => return Err(self.unexpected("an element")),
        }
        let Token { kind, span, .. } = self.take();
        match kind {
            Kind::Name(name) => self.builder.rule(name, span),
            Kind::Text(text, true) => self.builder.bytes(text, span),
            Kind::Text(text, false) => self.builder.any_case(text, span),
            Kind::Values(values) => {
                let mut bytes = Vec::new();
                for value in values {
                    if self.unit == Unit::Char && char::from_u32(value).is_none() {
                        let help = "code points are 0 to D7FF and E000 to 10FFFF";
                        return Err(self.builder.error(span, "half of a surrogate pair is no character", help));
                    }
                    bytes.extend_from_slice(CharSet::empty(self.unit).encode(value).as_ref());
                }
                self.builder.bytes(bytes, span)
            }
            Kind::Range(low, high) if low > high => {
                Err(self.builder.error(span, "this range is reversed", "the smaller end comes first"))
            }
            Kind::Range(low, high) => self.builder.class(CharSet::new(self.unit, [(low, high)]), span),
            // Angle brackets may stand around the name of a rule (RFC 5234, section 2.1). A text that is no name is
            // reported when all names are known.
            Kind::Prose(text) => self.builder.rule(format!("<{text}>"), span),
            _ => Err(Reported),
        }
    }

    fn group(&mut self, close: &Kind<'_>) -> Result<Part, Reported> {
        let open = self.take().span;
        if self.groups == MAX_NESTING {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let inside = self.alternation()?;
        self.groups -= 1;
        if !self.take_if(close) {
            let end = self.peek(0).span;
            let (what, mark) = if *close == Kind::Close { ("group", ")") } else { ("option", "]") };
            let diagnostic = Diagnostic::error(Code::Syntax, open, format!("this {what} is not closed"))
                .related(end, format!("`{mark}` is missing before this"))
                .help(format!("close it with `{mark}`"));
            return Err(self.builder.report(diagnostic));
        }
        match close {
            Kind::Close => Ok(inside),
            _ => self.builder.repeat(inside, 0, Some(1), open.to(self.last_span)),
        }
    }

    /// Returns the alternatives of a core rule, with the place of its first use as their span.
    fn core_rule(&mut self, name: &str, body: &'t str, span: Span) -> Vec<Choosable> {
        // Numbers of a single byte mean the same in both units, except for OCTET.
        let lexer = std::mem::replace(&mut self.lexer, Lexer::new(body));
        let ahead = std::mem::take(&mut self.ahead);
        let unit = std::mem::replace(&mut self.unit, Unit::Byte);
        let last_span = self.last_span;
        let mut options = self.alternatives().unwrap_or_default();
        (self.lexer, self.ahead, self.unit, self.last_span) = (lexer, ahead, unit, last_span);
        debug_assert!(!options.is_empty() || self.builder.gives_up(), "{name}");
        for (part, _) in &mut options {
            part.expr.each_mut(&mut |expr| expr.span = span);
        }
        options
    }

    /// Adds the core rules that are used but not defined.
    fn add_core_rules(&mut self) {
        let mut checked = 0;
        while checked < self.rules.len() {
            let mut missing: Vec<(&str, &str, Span)> = Vec::new();
            for (part, _) in &mut self.rules[checked].options {
                part.expr.each_mut(&mut |expr| {
                    if let Some(name) = expr.as_rule()
                        && let Some((core, body)) = core::by_name(name.trim_matches(['<', '>']))
                        && !self.index.contains_key(&core.to_ascii_lowercase())
                    {
                        missing.push((core, body, expr.span));
                    }
                });
            }
            for (core, body, span) in missing {
                let key = core.to_ascii_lowercase();
                if !self.index.contains_key(&key) {
                    self.index.insert(key, self.rules.len());
                    let options = self.core_rule(core, body, span);
                    let name = Name { text: core.to_string(), span };
                    self.rules.push(Open { name, options, only_prose: false, extends: None });
                }
            }
            checked += 1;
        }
    }

    /// Joins the alternatives and gives references the spelling of the definition.
    fn finish(mut self) -> Grammar {
        let mut spelling: Map<String, String> = Map::new();
        let real = |open: &&Open| !open.only_prose;
        for open in self.rules.iter().filter(real) {
            spelling.entry(open.name.text.to_ascii_lowercase()).or_insert_with(|| open.name.text.clone());
        }
        // In an RFC, a name in another case is of another document: `<host, see [RFC3986]>` beside a rule `Host`. So is
        // the name of the rule itself.
        let is_rfc = self.is_rfc;
        let mut grammar = Grammar::default();
        for Open { mut name, mut options, only_prose, .. } in self.rules {
            let key = name.text.to_ascii_lowercase();
            if only_prose && spelling.contains_key(&key) {
                continue;
            }
            name.text = spelling.get(&key).cloned().unwrap_or(name.text);
            for (part, _) in &mut options {
                part.expr.each_mut(&mut |expr| {
                    let span = expr.span;
                    let Some(reference) = expr.as_rule_mut() else { return };
                    if let Some(text) = reference.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
                        let is_own = |known: &String| text.trim_start().starts_with(known) && *known != name.text;
                        let known = prose_name(text, &spelling).filter(|known| !is_rfc || is_own(known));
                        match known {
                            Some(known) => *reference = known,
                            None if is_rfc => {}
                            None => {
                                report_prose(&mut self.builder, text, span);
                                *expr = Expr::bytes([], span);
                            }
                        }
                    } else if let Some(known) = spelling.get(&reference.to_ascii_lowercase()) {
                        reference.clone_from(known);
                    }
                });
            }
            let empty = Expr::empty(name.span);
            let body = if options.is_empty() { None } else { self.builder.choice(options, name.span).ok() };
            grammar.rules.push(Rule::new(name, body.map_or(empty, |part| part.expr)));
        }
        grammar
    }
}

/// Returns the rule that prose names: the text is its name, or begins with its name and a comma
/// (`<host, see [URI], Section 3.2.2>`).
fn prose_name(text: &str, spelling: &Map<String, String>) -> Option<String> {
    let name = text.split(',').next().unwrap_or(text).trim().to_ascii_lowercase();
    spelling.get(&name).cloned()
}

fn report_prose(builder: &mut Builder<'_>, text: &str, span: Span) {
    let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect();
    let message = format!("prose says nothing that could be derived: `<{shown}>`");
    let diagnostic = Diagnostic::error(Code::UndefinedRule, span, message).help(
        "add the rule to this file: prose that begins with the name of a rule and a comma stands for that rule, and a rule \
         that is only prose gives way to another definition of its name",
    );
    builder.report(diagnostic);
}
