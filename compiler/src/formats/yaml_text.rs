//! Values of YAML 1.2 (core schema) as those of JSON, with their places. Several documents, and tags, are not read.

use std::collections::VecDeque;

use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::{Marker, TScalarStyle};

use super::MAX_EXPRESSIONS;
use super::json_text::{Json, JsonKey, JsonKind};
use crate::ast::MAX_NESTING;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::{Map, Set};

/// The greatest number of values, also of those that aliases repeat. A long text counts as several.
const MAX_VALUES: usize = 4 * MAX_EXPRESSIONS;
const VALUE_BYTES: usize = 32;

/// A list or an object that is being read.
struct Open {
    kind: JsonKind,
    /// The key whose value comes next.
    key: Option<JsonKey>,
    anchor: usize,
    start: u32,
}

struct Reader<'t, 'd> {
    text: &'t str,
    /// The byte of each character: places are told in characters.
    bytes: Vec<u32>,
    open: Vec<Open>,
    anchors: Map<usize, (Json, usize)>,
    values: usize,
    whole: Option<Json>,
    diagnostics: &'d mut Diagnostics,
}

/// Reads the first document of a text. Errors are reported.
pub(super) fn read(text: &str, diagnostics: &mut Diagnostics) -> Option<Json> {
    let ends = std::iter::once(text.len());
    let bytes = text.char_indices().map(|(at, _)| at).chain(ends).map(|at| at as u32).collect();
    let mut reader = Reader { text, bytes, open: Vec::new(), anchors: Map::new(), values: 0, whole: None, diagnostics };
    let mut parser = Parser::new_from_str(text);
    loop {
        match parser.next_token() {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, place)) => reader.event(event, place)?,
            Err(error) => {
                let at = reader.byte(error.marker().index());
                reader.error(Code::Syntax, Span { start: at, end: at }, format!("no YAML: {}", error.info()));
                return None;
            }
        }
        if reader.whole.is_some() {
            break;
        }
    }
    if reader.whole.is_none() {
        reader.error(Code::Syntax, Span { start: 0, end: 0 }, "the document is empty".to_string());
    }
    reader.whole
}

impl Reader<'_, '_> {
    fn byte(&self, character: usize) -> u32 {
        self.bytes.get(character).or(self.bytes.last()).copied().unwrap_or(0)
    }

    fn error(&mut self, code: Code, span: Span, message: String) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    /// Takes an event; `None` after an error.
    fn event(&mut self, event: Event, place: Marker) -> Option<()> {
        let start = self.byte(place.index());
        let span = Span { start, end: start };
        match event {
            Event::Scalar(text, style, anchor, _) => {
                // The end is known where the text stands as it is.
                let is_whole = self.text.get(start as usize..).is_some_and(|rest| rest.starts_with(&text));
                let span = Span { end: start + if is_whole { text.len() as u32 } else { 0 }, ..span };
                let json = Json { kind: self.scalar(&text, style, span), span };
                let size = size(&json);
                self.value(json, size, anchor)
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some((json, size)) => {
                    let (json, size) = (json.clone(), *size);
                    self.value(json, size, 0)
                }
                None => {
                    self.error(Code::Syntax, span, "the alias stands within what it refers to".to_string());
                    None
                }
            },
            Event::SequenceStart(anchor, _) => self.begin(JsonKind::Array(Vec::new()), anchor, span),
            Event::MappingStart(anchor, _) => self.begin(JsonKind::Object(Vec::new()), anchor, span),
            Event::SequenceEnd | Event::MappingEnd => {
                let Open { kind, anchor, start, .. } = self.open.pop()?;
                let json = Json { kind: merged(kind), span: Span { start, end: span.end.max(start) } };
                let size = if anchor > 0 { size(&json) } else { 0 };
                self.value(json, size, anchor)
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart | Event::DocumentEnd => {
                Some(())
            }
        }
    }

    fn begin(&mut self, kind: JsonKind, anchor: usize, span: Span) -> Option<()> {
        if self.open.len() >= MAX_NESTING as usize {
            self.error(Code::TooDeep, span, format!("values are nested more than {MAX_NESTING} levels deep"));
            return None;
        }
        self.open.push(Open { kind, key: None, anchor, start: span.start });
        Some(())
    }

    /// Takes a value, which may be a key.
    fn value(&mut self, json: Json, size: usize, anchor: usize) -> Option<()> {
        self.values += size.max(1);
        if self.values > MAX_VALUES {
            self.error(Code::TooLarge, json.span, format!("the document has more than {MAX_VALUES} values"));
            return None;
        }
        if anchor > 0 {
            self.anchors.insert(anchor, (json.clone(), size.max(1)));
        }
        let text = self.text.get(json.span.start as usize..json.span.end as usize).unwrap_or("");
        match self.open.last_mut() {
            None => self.whole = Some(json),
            Some(Open { kind: JsonKind::Array(items), .. }) => items.push(json),
            Some(Open { kind: JsonKind::Object(members), key, .. }) => match key.take() {
                Some(key) => members.push((key, json)),
                None => {
                    let text = match json.kind {
                        JsonKind::String(text) => text,
                        _ => text.to_string(),
                    };
                    *key = Some(JsonKey { text, span: json.span });
                }
            },
            Some(_) => {}
        }
        Some(())
    }

    /// Returns the value that a scalar is: a plain one may be a number, a truth value or null.
    fn scalar(&mut self, text: &str, style: TScalarStyle, span: Span) -> JsonKind {
        if style != TScalarStyle::Plain {
            return JsonKind::String(text.to_string());
        }
        match text {
            "" | "~" | "null" | "Null" | "NULL" => JsonKind::Null,
            "true" | "True" | "TRUE" => JsonKind::Bool(true),
            "false" | "False" | "FALSE" => JsonKind::Bool(false),
            // A number is read again at its place.
            _ if is_number(text) && self.text.get(span.start as usize..span.end as usize) == Some(text) => {
                text.parse().map_or_else(|_| JsonKind::String(text.to_string()), JsonKind::Number)
            }
            _ => {
                if is_other_number(text) {
                    let message = format!("`{}` is read as a text", text.escape_debug());
                    let help = "write the number as JSON does, or the text in quotes";
                    self.diagnostics.push(Diagnostic::warning(Code::LooseSchema, span, message).help(help));
                }
                JsonKind::String(text.to_string())
            }
        }
    }
}

/// Returns true if a text is a number of YAML, and none of JSON.
fn is_other_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_radix = |prefix: &str, radix| {
        digits.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && digits.parse::<f64>().is_ok();
    !is_number(text) && (is_plain || is_radix("0x", 16) || is_radix("0o", 8))
}

/// Returns true if a text is a number of JSON.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (text, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// Returns an object with the members that `<<` refers to, where it has no own ones.
fn merged(kind: JsonKind) -> JsonKind {
    let JsonKind::Object(members) = kind else { return kind };
    if !members.iter().any(|(key, _)| key.text == "<<") {
        return JsonKind::Object(members);
    }
    let (merges, mut own): (Vec<_>, Vec<_>) = members.into_iter().partition(|(key, _)| key.text == "<<");
    let mut known: Set<String> = own.iter().map(|(key, _)| key.text.clone()).collect();
    let mut queue: VecDeque<Json> = merges.into_iter().map(|(_, value)| value).collect();
    while let Some(value) = queue.pop_front() {
        match value.kind {
            JsonKind::Array(items) => items.into_iter().rev().for_each(|item| queue.push_front(item)),
            JsonKind::Object(others) => {
                for (key, value) in others {
                    if known.insert(key.text.clone()) {
                        own.push((key, value));
                    }
                }
            }
            _ => {}
        }
    }
    JsonKind::Object(own)
}

/// Returns the number of values in a value.
fn size(json: &Json) -> usize {
    match &json.kind {
        JsonKind::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        JsonKind::Object(members) => {
            1 + members.iter().map(|(key, value)| size(value) + key.text.len() / VALUE_BYTES).sum::<usize>()
        }
        JsonKind::String(text) => 1 + text.len() / VALUE_BYTES,
        JsonKind::Null | JsonKind::Bool(_) | JsonKind::Number(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &Json) -> String {
        match &json.kind {
            JsonKind::Null => "null".to_string(),
            JsonKind::Bool(truth) => truth.to_string(),
            JsonKind::Number(number) => number.to_string(),
            JsonKind::String(text) => format!("{text:?}"),
            JsonKind::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
            JsonKind::Object(members) => {
                let members = members.iter().map(|(key, value)| format!("{}:{}", key.text, shown(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }

    fn read_as(text: &str) -> Result<String, String> {
        let mut diagnostics = Diagnostics::default();
        let json = read(text, &mut diagnostics);
        json.map(|json| shown(&json)).ok_or_else(|| diagnostics.iter().map(|one| one.message.clone()).collect())
    }

    #[test]
    fn values_are_those_of_json() {
        for (text, expected) in [
            ("a: 1\nb: [x, 'y', 2.5e3, -0]\n", r#"{a:1,b:["x","y",2500,-0]}"#),
            ("é: é\nn: 12\n", r#"{é:"é",n:12}"#),
            ("200:\n  - ~\n  -\n  - True\n  - 0x1F\n  - 007\n", r#"{200:[null,null,true,"0x1F","007"]}"#),
            ("a: +.5\nb: 1.2.3\n", r#"{a:"+.5",b:"1.2.3"}"#),
            ("a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n", "{a:{b:1},c:{b:1},d:{e:2,b:1}}"),
            ("a: |\n  two\n  lines\n", r#"{a:"two\nlines\n"}"#),
        ] {
            assert_eq!(read_as(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["a: [1", "", "a: *x\n", "\ta: 1\n b"] {
            assert!(read_as(text).is_err(), "{text:?}");
        }
    }

    /// Merging and repeated keys take linear time: this ends at once.
    #[test]
    fn large_objects_are_merged() {
        let members = |from: usize| (from..from + 50_000).map(|key| format!("k{key}: 1, ")).collect::<String>();
        let text = format!("a: &a {{{}}}\nb: {{<<: *a, {}}}\n", members(0), members(25_000));
        assert!(read_as(&text).is_ok_and(|json| json.matches(":1").count() == 125_000));
    }

    #[test]
    fn aliases_of_aliases_end_in_an_error() {
        let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n".to_string();
        for number in 1..12 {
            let items = vec![format!("*a{}", number - 1); 8].join(", ");
            text += &format!("a{number}: &a{number} [{items}]\n");
        }
        assert!(read_as(&text).is_err_and(|message| message.contains("more than")));
        assert!(read_as(&"[".repeat(100_000)).is_err());
        // So do those of a long text.
        let text = format!("a: &a {}\nb: [{}1]\n", "x".repeat(1 << 20), "*a, ".repeat(20_000));
        assert!(read_as(&text).is_err_and(|message| message.contains("more than")));
    }
}
