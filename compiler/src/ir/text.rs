//! The textual form of the IR, printed by `gramjet dump` and read by tests.
//!
//! ```text
//! start <value>
//! rule <value> len=1 height=0 depth=0
//!   (choice "x" (seq "[" (repeat 0 * <value>) "]"))
//! ```
//!
//! Classes are `[30-39 5F]` for bytes and `u[30-39 1F600]` for characters. Weighted choices are
//! `(choice8 @64 "a" @256 "b")` with the end of each option's slots, and `@64=0.251` with its probability if the slots
//! only approximate it. Labelled parts are `(label 0 body)`, `(label 0 x* body)` if their rounds are counted, and
//! `(label 0 x3 body)` if there are always three. They stand in a `(scope 0 1 {1*len(0:2:0)+0}<=255 body)`: its labels,
//! and the fields that bound them. A reference `0:2:1` is a label with the least length and the least number of rounds
//! of its part, as in `(copy 0:2:0)` and `(number u8 {1*len(0:2:0)+1})`. Instances made by passes are
//! `(inline <rule> body)` and `(again <rule>)`. Names are `(define 0 body)`, `(unique 0 body)`,
//! `(declare 0 (copy 0:2:0))`, `(use 0 body)` and
//! `(names 0 1 body)` for a scope, with the numbers of their kinds, whose names are in the line `kinds`. A rule whose
//! shortest text gives two unique names of kind 0 to a scope outside it has `unique=0:2`. A rule whose parameter is
//! label 3 has `parameter=3`, and `(scope 3 =0:2:0 <rule>)` gives it the part with label 0. `unordered` after the start
//! rule means that options need not ascend by length ([`Ir::is_ordered`]).

use std::fmt::Write;

use super::{Choice, Facts, Ir, LabelId, Node, NodeId, RuleId, Scope, Slots};
use crate::charset::{CharSet, Unit};
use crate::derived::Derived;

mod labels;

/// Returns the text of an IR; [`parse`] reads it back.
pub fn print(ir: &Ir) -> String {
    let mut out = String::new();
    name(&mut out, "start ", &ir.rule(ir.start()).name);
    out.push_str(if ir.is_ordered() { "\n" } else { " unordered\n" });
    if !ir.kinds().is_empty() {
        let _ = writeln!(out, "kinds {}", ir.kinds().join(" "));
    }
    for rule in ir.rule_ids() {
        let data = ir.rule(rule);
        name(&mut out, "rule ", &data.name);
        let Facts { min_len, height, min_depth } = data.facts;
        let _ = write!(out, " len={min_len} height={height} depth={min_depth}");
        labels::uniques(&mut out, ir.uniques_of_rule(rule));
        labels::parameters(&mut out, ir.parameters(rule));
        out.push('\n');
        if let Some(body) = ir.body(rule) {
            out.push_str("  ");
            node(&mut out, ir, body, 2);
            out.push('\n');
        }
    }
    out
}

fn name(out: &mut String, before: &str, name: &str) {
    out.push_str(before);
    out.push('<');
    for character in name.chars() {
        if matches!(character, '>' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('>');
}

fn node(out: &mut String, ir: &Ir, id: NodeId, indent: usize) {
    let nested = |out: &mut String, children: &[NodeId], prefix: &dyn Fn(&mut String, usize)| {
        let broken = ir.shape(id).size > 12;
        for (index, &child) in children.iter().enumerate() {
            if broken {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent + 2));
            } else {
                out.push(' ');
            }
            prefix(out, index);
            node(out, ir, child, indent + 2);
        }
        out.push(')');
    };
    match ir.node(id) {
        Node::Bytes(bytes) => quote(out, bytes),
        Node::Class(set) => {
            out.push_str(if set.unit() == Unit::Byte { "[" } else { "u[" });
            for (index, &(low, high)) in set.ranges().iter().enumerate() {
                let space = if index == 0 { "" } else { " " };
                let _ =
                    if low == high { write!(out, "{space}{low:X}") } else { write!(out, "{space}{low:X}-{high:X}") };
            }
            out.push(']');
        }
        Node::Rule(rule) => name(out, "", &ir.rule(*rule).name),
        Node::Again(rule) => {
            name(out, "(again ", &ir.rule(*rule).name);
            out.push(')');
        }
        Node::Seq(items) => {
            out.push_str("(seq");
            nested(out, items, &|_, _| {});
        }
        Node::Choice(Choice { options, slots: None }) => {
            out.push_str("(choice");
            nested(out, options, &|_, _| {});
        }
        Node::Choice(Choice { options, slots: Some(slots) }) => {
            let _ = write!(out, "(choice{}", slots.bits());
            nested(out, options, &|out, index| {
                let _ = write!(out, "@{}", slots.ends()[index]);
                if !slots.are_exact() {
                    let _ = write!(out, "={:e}", slots.share(index));
                }
                out.push(' ');
            });
        }
        Node::Repeat { item, min, max } => {
            let _ = write!(out, "(repeat {min} ");
            match max {
                Some(max) => {
                    let _ = write!(out, "{max}");
                }
                None => out.push('*'),
            }
            nested(out, &[*item], &|_, _| {});
        }
        Node::Inline { rule, body } => {
            name(out, "(inline ", &ir.rule(*rule).name);
            nested(out, &[*body], &|_, _| {});
        }
        Node::Derived(leaf) => labels::leaf(out, &leaf.derived),
        Node::Times { item, rounds } => {
            out.push_str("(times ");
            labels::value(out, rounds);
            nested(out, &[*item], &|_, _| {});
        }
        Node::Label { label, count, body } => {
            let _ = write!(out, "(label {}", label.index());
            labels::count(out, *count);
            nested(out, &[*body], &|_, _| {});
        }
        Node::Scope(scope) => {
            labels::scope(out, scope);
            nested(out, &[scope.body], &|_, _| {});
        }
        Node::Coded { codec, body } => {
            let _ = write!(out, "(coded {}:{}", codec.coding.name(), codec.growth);
            nested(out, &[*body], &|_, _| {});
        }
        Node::Naming { naming, body } => {
            labels::naming(out, naming);
            nested(out, &[*body], &|_, _| {});
        }
    }
}

fn quote(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02X}");
            }
        }
    }
    out.push('"');
}

/// The error for a text that is not an IR.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {message}")]
pub struct ParseError {
    /// The place of the error, in bytes.
    pub offset: usize,
    /// Message that says what was expected there.
    pub message: String,
}

/// Reads the output of [`print()`]. The facts are taken from the text; [`super::verify()`] checks them.
///
/// # Errors
///
/// At the first place where the text is not an IR.
pub fn parse(text: &str) -> Result<Ir, ParseError> {
    // Reads the names first, so that bodies may refer forward.
    let mut reader = Reader { text, offset: 0, names: Vec::new(), nesting: 0 };
    reader.word("start")?;
    let start = reader.name()?;
    let is_ordered = !reader.rest().starts_with("unordered");
    if !is_ordered {
        reader.word("unordered")?;
    }
    let kinds = reader.kinds();
    let (mut rules, mut uniques, mut parameters) = (Vec::new(), Vec::new(), Vec::new());
    let body_text = reader.offset;
    while !reader.at_end() {
        reader.word("rule")?;
        let name = reader.name()?;
        let min_len = reader.fact("len=")?;
        let facts = Facts { min_len, height: reader.fact("height=")? as u32, min_depth: reader.fact("depth=")? as u32 };
        rules.push((name, facts));
        uniques.push(reader.uniques()?);
        parameters.push(reader.parameters()?);
        reader.skip_body();
    }
    reader.names = rules.iter().map(|(name, _)| name.clone()).collect();
    let start = reader.rule_called(&start)?;
    let mut ir = if is_ordered { Ir::new(rules, start) } else { Ir::new_unordered(rules, start) };
    ir.set_kinds(kinds, if text.contains("(unique ") { uniques } else { Vec::new() });
    if parameters.iter().any(|own| !own.is_empty()) {
        ir.set_parameters(parameters);
    }
    reader.offset = body_text;
    for rule in ir.rule_ids() {
        reader.word("rule")?;
        reader.name()?;
        for fact in ["len=", "height=", "depth="] {
            reader.fact(fact)?;
        }
        reader.uniques()?;
        reader.parameters()?;
        if !reader.at_end() && !reader.rest().starts_with("rule ") {
            let body = reader.node(&mut ir)?;
            ir.set_body(rule, body);
        }
    }
    ir.bound_texts();
    Ok(ir)
}

struct Reader<'t> {
    text: &'t str,
    offset: usize,
    names: Vec<String>,
    nesting: u32,
}

impl<'t> Reader<'t> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { offset: self.offset, message: message.into() })
    }

    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.offset..];
        let trimmed = rest.trim_start();
        self.offset += rest.len() - trimmed.len();
        trimmed
    }

    fn at_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    fn word(&mut self, word: &str) -> Result<(), ParseError> {
        if !self.rest().starts_with(word) {
            return self.error(format!("expected `{word}`"));
        }
        self.offset += word.len();
        Ok(())
    }

    fn name(&mut self) -> Result<String, ParseError> {
        self.word("<")?;
        let mut name = String::new();
        let mut characters = self.text[self.offset..].char_indices();
        while let Some((offset, character)) = characters.next() {
            match character {
                '>' => {
                    self.offset += offset + 1;
                    return Ok(name);
                }
                '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => name.push(character),
            }
        }
        self.error("expected `>`")
    }

    fn fact(&mut self, key: &str) -> Result<u64, ParseError> {
        self.word(key)?;
        self.number(10)
    }

    fn number(&mut self, radix: u32) -> Result<u64, ParseError> {
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_digit(radix)).unwrap_or(rest.len());
        match u64::from_str_radix(&rest[..digits], radix) {
            Ok(number) => {
                self.offset += digits;
                Ok(number)
            }
            Err(_) => self.error("expected a number"),
        }
    }

    /// Reads `=` and a probability.
    fn share(&mut self) -> Result<f64, ParseError> {
        self.word("=")?;
        let rest = self.rest();
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        match rest[..length].parse::<f64>() {
            Ok(share) if share > 0.0 && share < 1.0 => {
                self.offset += length;
                Ok(share)
            }
            _ => self.error("expected a probability between 0 and 1"),
        }
    }

    /// Skips to the next line that begins with `rule`.
    fn skip_body(&mut self) {
        self.offset = match self.text[self.offset..].find("\nrule ") {
            Some(offset) => self.offset + offset + 1,
            None => self.text.len(),
        };
    }

    fn rule_called(&self, name: &str) -> Result<RuleId, ParseError> {
        match self.names.iter().position(|known| known == name) {
            Some(index) => Ok(RuleId::new(index)),
            None => self.error(format!("unknown rule <{name}>")),
        }
    }

    fn node(&mut self, ir: &mut Ir) -> Result<NodeId, ParseError> {
        self.nesting += 1;
        if self.nesting > 2000 {
            return self.error("nested too deeply");
        }
        let node = self.node_inside(ir);
        self.nesting -= 1;
        node
    }

    fn node_inside(&mut self, ir: &mut Ir) -> Result<NodeId, ParseError> {
        let rest = self.rest();
        if rest.starts_with('"') {
            let bytes = self.quoted()?;
            return Ok(ir.bytes(bytes));
        }
        if rest.starts_with('[') || rest.starts_with("u[") {
            let unit = if rest.starts_with('u') { Unit::Char } else { Unit::Byte };
            self.word(if unit == Unit::Char { "u[" } else { "[" })?;
            let mut ranges = Vec::new();
            while !self.rest().starts_with(']') {
                let low = self.number(16)? as u32;
                let high = if self.rest().starts_with('-') {
                    self.word("-")?;
                    self.number(16)? as u32
                } else {
                    low
                };
                ranges.push((low, high));
            }
            self.word("]")?;
            let set = CharSet::new(unit, ranges);
            return if set.is_empty() { self.error("empty class") } else { Ok(ir.class(set)) };
        }
        if rest.starts_with('<') {
            let name = self.name()?;
            let rule = self.rule_called(&name)?;
            return Ok(ir.reference(rule));
        }
        self.word("(")?;
        let rest = self.rest();
        let head = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
        self.offset += head.len();
        let node = match head {
            "seq" => {
                let items = self.nodes(ir)?;
                ir.seq(items)
            }
            "choice" => {
                let options = self.nodes(ir)?;
                if options.is_empty() {
                    return self.error("a choice needs an option");
                }
                ir.choice(options, None)
            }
            "choice8" | "choice16" | "choice24" => {
                let bits = head["choice".len()..].parse().unwrap_or(8);
                let (mut options, mut ends, mut shares) = (Vec::new(), Vec::new(), Vec::new());
                while !self.rest().starts_with(')') {
                    self.word("@")?;
                    ends.push(self.number(10)? as u32);
                    if self.text[self.offset..].starts_with('=') {
                        shares.push(self.share()?);
                    }
                    options.push(self.node(ir)?);
                }
                match Slots::from_ends(bits, ends) {
                    Some(slots) if shares.is_empty() => ir.choice(options, Some(slots)),
                    Some(slots) if shares.len() == options.len() => ir.choice(options, Some(slots.with_shares(shares))),
                    Some(_) => return self.error("either all options have a probability or none"),
                    None => return self.error("the ends of the slots do not ascend to the width"),
                }
            }
            "repeat" => {
                let min = self.number(10)? as u32;
                let max = if self.rest().starts_with('*') {
                    self.word("*")?;
                    None
                } else {
                    Some(self.number(10)? as u32)
                };
                let item = self.node(ir)?;
                ir.repeat(item, min, max)
            }
            "inline" => {
                let name = self.name()?;
                let rule = self.rule_called(&name)?;
                let body = self.node(ir)?;
                ir.inline(rule, body)
            }
            "again" => {
                let name = self.name()?;
                let rule = self.rule_called(&name)?;
                ir.again(rule)
            }
            "times" => {
                let rounds = self.value()?;
                let item = self.node(ir)?;
                ir.times(item, rounds)
            }
            "label" => {
                let label = LabelId::new(self.number(10)? as u32);
                let count = self.count()?;
                let body = self.node(ir)?;
                ir.label(label, count, body)
            }
            "scope" => {
                let empty = NodeId::new(0);
                let scope = self.scope(empty)?;
                let body = self.node(ir)?;
                ir.scope(Scope { body, ..scope })
            }
            "define" | "unique" | "declare" | "use" | "names" => {
                let naming = self.naming(if head == "names" { "scope" } else { head })?;
                let body = self.node(ir)?;
                ir.naming(naming, body)
            }
            "coded" => {
                let codec = self.codec()?;
                let body = self.node(ir)?;
                ir.coded(codec, body)
            }
            "copy" => {
                let known = self.known()?;
                ir.derived(Derived::Copy(known))
            }
            "bits" | "bitsle" => ir.derived(self.bits(head)?),
            "pad" | "fill" => ir.derived(self.padding(head)?),
            "number" => {
                let form = self.form()?;
                let value = self.value()?;
                ir.derived(Derived::Number(value, form))
            }
            _ => return self.error("expected a node"),
        };
        self.word(")")?;
        Ok(node)
    }

    fn nodes(&mut self, ir: &mut Ir) -> Result<Vec<NodeId>, ParseError> {
        let mut nodes = Vec::new();
        while !self.rest().starts_with(')') {
            nodes.push(self.node(ir)?);
        }
        Ok(nodes)
    }

    fn quoted(&mut self) -> Result<Vec<u8>, ParseError> {
        self.word("\"")?;
        let mut bytes = Vec::new();
        let source = self.text.as_bytes();
        loop {
            let Some(&byte) = source.get(self.offset) else { return self.error("expected `\"`") };
            self.offset += 1;
            match byte {
                b'"' => return Ok(bytes),
                b'\\' => {
                    let escape = source.get(self.offset).copied().unwrap_or(b'"');
                    self.offset += 1;
                    bytes.push(match escape {
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'x' => {
                            let digits = self.text.get(self.offset..self.offset + 2).unwrap_or("");
                            self.offset += digits.len();
                            match u8::from_str_radix(digits, 16) {
                                Ok(byte) => byte,
                                Err(_) => return self.error("expected two hexadecimal digits"),
                            }
                        }
                        other => other,
                    });
                }
                _ => bytes.push(byte),
            }
        }
    }
}
