//! The values of a schema by number, with their paths, and what references lead to.

use crate::diagnostics::Span;
use crate::formats::json_text::{Json, JsonKind};
use crate::ordered::Map;

use super::decimal::Decimal;

/// The number of a value of the file.
pub(super) type Id = usize;

/// A value of the file.
struct Node<'j> {
    json: &'j Json,
    parent: Id,
    /// The key or the number of the item under the parent.
    segment: String,
    members: Vec<(&'j str, Id)>,
    items: Vec<Id>,
}

/// A schema file.
pub(super) struct Document<'j> {
    text: &'j str,
    nodes: Vec<Node<'j>>,
    lookup: Map<(Id, &'j str), Id>,
    /// The schemas that name themselves, by their addresses.
    addresses: Map<String, Id>,
    anchors: Map<&'j str, Id>,
    /// Whether the keywords beside `$ref` have no effect, as up to draft 7.
    pub(super) is_ref_alone: bool,
    /// Whether the schemas are those of an OpenAPI document, in which `nullable` allows `null`.
    pub(super) is_openapi: bool,
}

impl<'j> Document<'j> {
    /// Returns the values of a file.
    pub(super) fn new(text: &'j str, json: &'j Json) -> Document<'j> {
        let mut document = Document {
            text,
            nodes: Vec::new(),
            lookup: Map::new(),
            addresses: Map::new(),
            anchors: Map::new(),
            is_ref_alone: false,
            is_openapi: false,
        };
        document.add(json, 0, String::new());
        let draft = document.member(0, "$schema").and_then(|id| document.text(id)).unwrap_or("");
        document.is_ref_alone = (3..=7).any(|number| draft.contains(&format!("draft-0{number}")));
        for id in 0..document.nodes.len() {
            document.enter_names(id);
        }
        document
    }

    fn add(&mut self, json: &'j Json, parent: Id, segment: String) -> Id {
        let id = self.nodes.len();
        self.nodes.push(Node { json, parent, segment, members: Vec::new(), items: Vec::new() });
        match &json.kind {
            JsonKind::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    let item = self.add(item, id, number.to_string());
                    self.nodes[id].items.push(item);
                }
            }
            JsonKind::Object(members) => {
                let mut places: Map<&'j str, usize> = Map::new();
                for (key, value) in members {
                    let value = self.add(value, id, key.text.clone());
                    // The last one of equal keys is in force.
                    self.lookup.insert((id, &key.text), value);
                    let own = &mut self.nodes[id].members;
                    match places.get(key.text.as_str()) {
                        Some(&place) => own[place].1 = value,
                        None => {
                            places.insert(&key.text, own.len());
                            own.push((&key.text, value));
                        }
                    }
                }
            }
            _ => {}
        }
        id
    }

    fn enter_names(&mut self, id: Id) {
        for key in ["$id", "id"] {
            if let Some(own) = self.member(id, key).and_then(|own| self.text(own)) {
                match own.strip_prefix('#') {
                    Some(anchor) => drop(self.anchors.insert(anchor, id)),
                    None => {
                        let address = join(&self.base(self.nodes[id].parent), own);
                        self.addresses.entry(address).or_insert(id);
                    }
                }
            }
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(anchor) = self.member(id, key).and_then(|own| self.text(own)) {
                self.anchors.entry(anchor).or_insert(id);
            }
        }
    }

    /// Returns the schema around a value that has an address of its own, or the whole file.
    fn resource(&self, mut id: Id) -> Id {
        while id != 0 && !self.has_address(id) {
            id = self.nodes[id].parent;
        }
        id
    }

    fn has_address(&self, id: Id) -> bool {
        let own = |key| self.member(id, key).and_then(|own| self.text(own));
        own("$id").or(own("id")).is_some_and(|own| !own.starts_with('#'))
    }

    fn base(&self, id: Id) -> String {
        let resource = self.resource(id);
        let own = |key| self.member(resource, key).and_then(|own| self.text(own));
        match own("$id").or(own("id")) {
            Some(own) if resource == 0 => own.trim_end_matches('#').to_string(),
            Some(own) => join(&self.base(self.nodes[resource].parent), own),
            None => String::new(),
        }
    }

    /// Returns the schema that a reference at `from` leads to.
    pub(super) fn target(&self, from: Id, reference: &str) -> Option<Id> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match address {
            "" => self.resource(from),
            _ => *self.addresses.get(&join(&self.base(from), address))?,
        };
        if fragment.is_empty() {
            return Some(resource);
        }
        if !fragment.starts_with('/') {
            return self.anchors.get(fragment).copied();
        }
        self.pointed(resource, fragment).or_else(|| self.pointed(0, fragment).filter(|_| address.is_empty()))
    }

    fn pointed(&self, from: Id, pointer: &str) -> Option<Id> {
        pointer.split('/').skip(1).try_fold(from, |id, segment| {
            let segment = percent_decoded(segment).replace("~1", "/").replace("~0", "~");
            match self.member(id, &segment) {
                Some(member) => Some(member),
                None => self.nodes[id].items.get(segment.parse::<usize>().ok()?).copied(),
            }
        })
    }

    /// Returns the path of a value, such as `#/properties/name`.
    pub(super) fn path(&self, mut id: Id) -> String {
        let mut segments = Vec::new();
        while id != 0 {
            segments.push(self.nodes[id].segment.replace('~', "~0").replace('/', "~1"));
            id = self.nodes[id].parent;
        }
        segments.reverse();
        segments.iter().fold("#".to_string(), |path, segment| path + "/" + segment)
    }

    /// Returns a word that says what a schema is for: the name of its definition or property.
    pub(super) fn word(&self, mut id: Id) -> &str {
        const GENERAL: [&str; 16] = [
            "items",
            "prefixItems",
            "additionalProperties",
            "additionalItems",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "if",
            "then",
            "else",
            "contains",
            "properties",
            "patternProperties",
            "$defs",
            "definitions",
        ];
        loop {
            let segment = self.nodes[id].segment.as_str();
            let parent = self.nodes[id].parent;
            let is_named = ["properties", "$defs", "definitions"].contains(&self.nodes[parent].segment.as_str());
            if id == 0 {
                return "value";
            }
            if is_named || !(GENERAL.contains(&segment) || segment.bytes().all(|byte| byte.is_ascii_digit())) {
                return segment;
            }
            id = parent;
        }
    }

    pub(super) fn json(&self, id: Id) -> &'j Json {
        self.nodes[id].json
    }

    pub(super) fn span(&self, id: Id) -> Span {
        self.nodes[id].json.span
    }

    pub(super) fn member(&self, id: Id, key: &str) -> Option<Id> {
        self.lookup.get(&(id, key)).copied()
    }

    pub(super) fn members(&self, id: Id) -> &[(&'j str, Id)] {
        &self.nodes[id].members
    }

    pub(super) fn items(&self, id: Id) -> &[Id] {
        &self.nodes[id].items
    }

    pub(super) fn is_array(&self, id: Id) -> bool {
        matches!(self.json(id).kind, JsonKind::Array(_))
    }

    pub(super) fn is_object(&self, id: Id) -> bool {
        matches!(self.json(id).kind, JsonKind::Object(_))
    }

    pub(super) fn text(&self, id: Id) -> Option<&'j str> {
        let JsonKind::String(text) = &self.json(id).kind else { return None };
        Some(text)
    }

    pub(super) fn truth(&self, id: Id) -> Option<bool> {
        let JsonKind::Bool(truth) = self.json(id).kind else { return None };
        Some(truth)
    }

    pub(super) fn number(&self, id: Id) -> Option<Decimal> {
        number(self.text, self.json(id))
    }

    /// Returns the number that a value is.
    pub(super) fn exact(&self, json: &Json) -> Option<Decimal> {
        number(self.text, json)
    }

    /// Returns a number of things. Numbers beyond 32 bits become the greatest one.
    pub(super) fn count(&self, id: Id) -> Option<u32> {
        let number = self.number(id).filter(|number| number.is_whole())?.scaled(0).0;
        (number >= 0).then(|| u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Returns the text of a value without blanks.
    pub(super) fn written(&self, json: &Json) -> String {
        let mut out = String::new();
        self.write(json, false, &mut out);
        out
    }

    /// Returns a text that equal values share.
    pub(super) fn canonical(&self, json: &Json) -> String {
        let mut out = String::new();
        self.write(json, true, &mut out);
        out
    }

    fn write(&self, json: &Json, is_canonical: bool, out: &mut String) {
        let source = &self.text[json.span.start as usize..json.span.end as usize];
        match &json.kind {
            JsonKind::Null => out.push_str("null"),
            JsonKind::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
            JsonKind::Number(_) => match number(self.text, json).filter(|_| is_canonical && source.len() < 20) {
                Some(number) => *out += &format!("{}e-{}", number.digits, number.scale),
                None => out.push_str(source),
            },
            JsonKind::String(text) => *out += &quoted(text),
            JsonKind::Array(items) => {
                out.push('[');
                for (number, item) in items.iter().enumerate() {
                    out.push_str(if number > 0 { "," } else { "" });
                    self.write(item, is_canonical, out);
                }
                out.push(']');
            }
            JsonKind::Object(members) => {
                let mut members: Vec<_> = members.iter().map(|(key, value)| (key.text.as_str(), value)).collect();
                if is_canonical {
                    members.sort_by_key(|(key, _)| *key);
                }
                out.push('{');
                for (number, (key, value)) in members.into_iter().enumerate() {
                    out.push_str(if number > 0 { "," } else { "" });
                    *out += &(quoted(key) + ":");
                    self.write(value, is_canonical, out);
                }
                out.push('}');
            }
        }
    }
}

fn number(text: &str, json: &Json) -> Option<Decimal> {
    let JsonKind::Number(_) = json.kind else { return None };
    Decimal::read(&text[json.span.start as usize..json.span.end as usize])
}

/// Returns a string of JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut out = "\"".to_string();
    text.chars().for_each(|c| out += &escaped(c));
    out + "\""
}

/// Returns a character as it stands in strings.
pub(super) fn escaped(c: char) -> String {
    match c {
        '"' => "\\\"".to_string(),
        '\\' => "\\\\".to_string(),
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        '\u{8}' => "\\b".to_string(),
        '\u{C}' => "\\f".to_string(),
        '\0'..='\u{1F}' => format!("\\u{:04x}", u32::from(c)),
        _ => c.to_string(),
    }
}

/// Returns an address that may be relative to another.
fn join(base: &str, address: &str) -> String {
    let address = address.trim_end_matches('#');
    if address.contains("://") || address.starts_with("urn:") || base.is_empty() {
        return address.to_string();
    }
    let host = base.find("://").map_or(0, |at| at + 3);
    let host_end = base[host..].find('/').map_or(base.len(), |at| host + at);
    if address.starts_with('/') {
        return base[..host_end].to_string() + address;
    }
    let folder = base.rfind('/').filter(|&at| at >= host).map_or(base.len(), |at| at);
    format!("{}/{}", &base[..folder], address.trim_start_matches("./"))
}

fn percent_decoded(segment: &str) -> String {
    if !segment.contains('%') {
        return segment.to_string();
    }
    let (mut bytes, mut rest) = (Vec::new(), segment.as_bytes());
    while let Some((&first, more)) = rest.split_first() {
        let code = more.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
