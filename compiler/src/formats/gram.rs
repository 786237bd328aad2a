//! The `.gram` grammars of TreeLine and SlackLine (Alsaeed & Young): BNF with `*`, `+`, `?`, groups, classes, and
//! merges of rules as Glade learns them.

use super::Format;
use super::builder::{Builder, Choosable, Part, Reported, RuleList};
use super::scanner::Scanner;
use crate::ast::{Grammar, MAX_NESTING, Name};
use crate::charset::{CharSet, RangeList, Unit};
use crate::diagnostics::{Diagnostics, SourceFile, Span};
use crate::ordered::Map;

/// The `gram` format.
pub struct Gram;

impl Format for Gram {
    fn name(&self) -> &'static str {
        "gram"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["gram"]
    }

    /// Looks for a comment of one of its two kinds, in a text that can be read. EBNF texts, which may have such
    /// comments too, are excluded.
    fn looks_like(&self, text: &str) -> bool {
        let is_read_by = |format: &dyn Format| {
            let mut found = Diagnostics::default();
            let grammar = format.parse(&SourceFile::new("", text), &mut found);
            !grammar.rules.is_empty() && !found.has_errors()
        };
        let has_comments = text.contains('#') || text.contains("/*");
        text.len() <= MAX_GLANCE && has_comments && is_read_by(self) && !is_read_by(&super::ebnf::Ebnf)
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let mut builder = Builder::new(diagnostics);
        let mut parser = Parser { scan: Scanner::new(file.text()), groups: 0, builder: &mut builder };
        let (mut rules, mut merges) = (RuleList::default(), Vec::new());
        parser.skip_blanks();
        while parser.scan.peek().is_some() && !parser.builder.gives_up() {
            if parser.statement(&mut rules, &mut merges).is_err() {
                parser.builder.quiet = true;
                parser.skip_statement();
                parser.builder.quiet = false;
            }
            parser.skip_blanks();
        }
        let rules = merge(rules, &merges);
        Grammar { rules: rules.finish(&mut builder), ..Grammar::default() }
    }
}

/// Larger texts are not parsed to detect the format.
const MAX_GLANCE: usize = 1 << 20;

/// Joins the rules that a merge equates into one, under the name of the first.
fn merge(rules: RuleList, merges: &[Vec<Name>]) -> RuleList {
    if merges.is_empty() {
        return rules;
    }
    let mut parents: Map<&str, &str> = Map::new();
    fn root<'n>(parents: &mut Map<&'n str, &'n str>, name: &'n str) -> &'n str {
        let mut root = name;
        while let Some(&parent) = parents.get(root).filter(|&&parent| parent != root) {
            root = parent;
        }
        // Shortens the path that has been walked.
        let mut at = name;
        while let Some(parent) = parents.insert(at, root).filter(|&parent| parent != root && parent != at) {
            at = parent;
        }
        root
    }
    for names in merges {
        for name in &names[1..] {
            let (to, from) = (root(&mut parents, &names[0].text), root(&mut parents, &name.text));
            parents.insert(from, to);
        }
    }
    // The first defined member represents its group.
    let mut first: Map<&str, String> = Map::new();
    let mut merged = RuleList::default();
    let mut renamed: Map<String, String> = Map::new();
    let all = rules.into_rules();
    for (name, _) in &all {
        if let Some((&key, _)) = parents.get_key_value(name.text.as_str()) {
            let set = root(&mut parents, key);
            let to = first.entry(set).or_insert_with(|| name.text.clone());
            renamed.insert(name.text.clone(), to.clone());
        }
    }
    // Members without a definition of their own refer to the representative too.
    let names: Vec<&str> = parents.keys().copied().collect();
    for name in names {
        if let Some(to) = first.get(root(&mut parents, name)) {
            renamed.entry(name.to_string()).or_insert_with(|| to.clone());
        }
    }
    for (name, mut options) in all {
        let to = renamed.get(&name.text).cloned().unwrap_or_else(|| name.text.clone());
        let place = merged.place(Name { text: to, span: name.span });
        for (part, _) in &mut options {
            part.expr.each_mut(&mut |expr| {
                if let Some(reference) = expr.as_rule_mut()
                    && let Some(to) = renamed.get(reference)
                {
                    reference.clone_from(to);
                }
            });
        }
        merged.add(place, options);
    }
    merged
}

struct Parser<'t, 'b, 'd> {
    scan: Scanner<'t>,
    groups: u32,
    builder: &'b mut Builder<'d>,
}

impl Parser<'_, '_, '_> {
    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            self.scan.take_while(char::is_whitespace);
            if self.scan.sees("#") {
                self.scan.take_line();
            } else if self.scan.sees("/*") {
                let start = self.scan.position;
                self.scan.eat("/*");
                if self.scan.take_past("*/").is_none() {
                    let span = Span::new(start, start + 2);
                    self.scan.position = self.scan.text.len();
                    self.builder.error(span, "this comment is not closed", "close it with `*/`");
                }
            } else {
                return;
            }
        }
    }

    /// Moves past the next semicolon that is not part of a literal.
    fn skip_statement(&mut self) {
        loop {
            self.scan.take_while(|c| !matches!(c, ';' | '"' | '\'' | '[' | '#' | '/'));
            match self.scan.peek() {
                None => return,
                Some(quote @ ('"' | '\'')) => drop(self.quoted(quote)),
                Some('[') => drop(self.quoted(']')),
                Some(c) => {
                    let position = self.scan.position;
                    self.skip_blanks();
                    if self.scan.position == position {
                        self.scan.next();
                    }
                    if c == ';' {
                        return;
                    }
                }
            }
        }
    }

    fn unexpected(&mut self, wanted: &str, help: &str) -> Reported {
        let message = format!("expected {wanted}, found {}", self.scan.found());
        self.builder.error(self.scan.here(), message, help)
    }

    /// Reads `name`, with or without angle brackets. They are not part of the result.
    fn name(&mut self) -> Option<Name> {
        let start = self.scan.position;
        let bracket = self.scan.eat("<");
        let text = self.scan.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.scan.position = start;
            return None;
        }
        if bracket {
            self.scan.eat(">");
        }
        Some(Name { text: text.to_string(), span: self.scan.span_from(start) })
    }

    fn statement(&mut self, rules: &mut RuleList, merges: &mut Vec<Vec<Name>>) -> Result<(), Reported> {
        const HELP: &str = "a rule is written `name ::= item item | item ;`";
        let Some(name) = self.name() else { return Err(self.unexpected("a rule", HELP)) };
        self.skip_blanks();
        if self.scan.eat(":::") {
            self.builder.count(1, name.span)?;
            merges.push(self.merged(name)?);
        } else {
            if !self.scan.eat("::=") && !self.scan.eat(":") {
                return Err(self.unexpected("`::=`", HELP));
            }
            self.skip_blanks();
            let place = rules.rule(name, self.builder)?;
            self.groups = 0;
            let options = self.alternatives()?;
            rules.add(place, options);
        }
        self.skip_blanks();
        if self.scan.eat(";") { Ok(()) } else { Err(self.unexpected("`;`", HELP)) }
    }

    /// Reads `[name, name]`, after `name :::`.
    fn merged(&mut self, name: Name) -> Result<Vec<Name>, Reported> {
        const HELP: &str = "a merge is written `name ::: [name, name];`";
        let mut names = vec![name];
        self.skip_blanks();
        if !self.scan.eat("[") {
            return Err(self.unexpected("`[`", HELP));
        }
        loop {
            self.skip_blanks();
            let Some(name) = self.name() else { return Err(self.unexpected("a name", HELP)) };
            self.builder.count(1, name.span)?;
            names.push(name);
            self.skip_blanks();
            if self.scan.eat("]") {
                return Ok(names);
            }
            if !self.scan.eat(",") {
                return Err(self.unexpected("`,` or `]`", HELP));
            }
        }
    }

    fn alternatives(&mut self) -> Result<Vec<Choosable>, Reported> {
        let mut options = Vec::new();
        loop {
            let start = self.scan.here();
            let mut parts = Vec::new();
            self.skip_blanks();
            while self.scan.peek().is_some_and(|c| !matches!(c, ';' | '|' | ')')) {
                parts.push(self.primary()?);
                self.skip_blanks();
            }
            options.push((self.builder.seq(parts, Span { end: start.start, ..start })?, None));
            if !self.scan.eat("|") {
                return Ok(options);
            }
        }
    }

    fn primary(&mut self) -> Result<Part, Reported> {
        let start = self.scan.position;
        let item = self.symbol()?;
        self.skip_blanks();
        let (min, max) = match self.scan.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            _ => return Ok(item),
        };
        self.scan.next();
        self.builder.repeat(item, min, max, self.scan.span_from(start))
    }

    fn symbol(&mut self) -> Result<Part, Reported> {
        let start = self.scan.position;
        match self.scan.peek() {
            Some('(') => self.group(),
            Some(quote @ ('"' | '\'')) => {
                let text = self.quoted(quote)?;
                self.builder.bytes(text, self.scan.span_from(start))
            }
            Some('[') => {
                let members = self.quoted(']')?;
                self.class(&members, self.scan.span_from(start))
            }
            _ => match self.name() {
                Some(name) => self.builder.rule(name.text, name.span),
                None => {
                    Err(self.unexpected("an item", "an item is a name, text in quotes, a class `[a-z]` or a group"))
                }
            },
        }
    }

    fn group(&mut self) -> Result<Part, Reported> {
        let open = self.scan.here();
        self.scan.next();
        if self.groups == MAX_NESTING {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let options = self.alternatives()?;
        self.groups -= 1;
        if !self.scan.eat(")") {
            let end = self.scan.here();
            return Err(self.builder.not_closed(open, end));
        }
        self.builder.choice(options, open)
    }

    /// Returns the characters up to `end`, with Python's escapes. The opening mark comes next.
    fn quoted(&mut self, end: char) -> Result<String, Reported> {
        let start = self.scan.position;
        self.scan.next();
        let mut characters = String::new();
        loop {
            match self.scan.next() {
                Some('\\') => match super::python::escape(&mut self.scan, false) {
                    super::python::Escape::Char(character) => characters.push(character),
                    super::python::Escape::Continued => {}
                    // Python keeps such a backslash. Here it is dropped: `[\]]`, `[\-]`.
                    super::python::Escape::None => characters.extend(self.scan.next()),
                },
                Some(c) if c == end => return Ok(characters),
                Some(c) if c != '\n' => characters.push(c),
                _ => {
                    let span = Span::new(start, self.scan.position);
                    let what = if end == ']' { "class" } else { "literal" };
                    let help = format!("close it with `{end}` on the same line; a line break is `\\n`");
                    return Err(self.builder.error(span, format!("this {what} is not closed"), help));
                }
            }
        }
    }

    fn class(&mut self, members: &str, span: Span) -> Result<Part, Reported> {
        let mut ranges = RangeList::default();
        let mut rest = members.chars();
        while let Some(low) = rest.next() {
            let mut behind = rest.clone();
            let mut high = low;
            if behind.next() == Some('-')
                && let Some(end) = behind.next()
            {
                high = end;
                rest = behind;
            }
            if low > high {
                let message = "this class has a reversed range";
                return Err(self.builder.error(span, message, "the smaller end comes first"));
            }
            ranges.push(u32::from(low), u32::from(high));
        }
        self.builder.class(CharSet::new(Unit::Char, ranges.into_merged()), span)
    }
}

#[cfg(test)]
mod tests;
