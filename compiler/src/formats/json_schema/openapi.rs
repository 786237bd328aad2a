//! OpenAPI 3: the requests of an operation. `--start 'POST /pets'` is the body of a request, or its target where the
//! operation has no body; `--start 'POST /pets?'` is the target with its query string. The reference is
//! `docs/openapi.md`.

use super::document::{Document, Id};
use super::expand::Expansion;
use super::facts::{Count, Facts, Goal, Types};
use super::make::Make;
use super::{Reader, language, values};
use crate::ast::{Expr, Grammar, Name, Rule};
use crate::coding::Coding;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile};
use crate::formats::json_text::{Json, JsonKind};
use crate::formats::{Format, MAX_EXPRESSIONS, Surroundings, glance, json_text, yaml_text};
use crate::ordered::Set;

/// The `openapi` format.
pub struct OpenApi;

/// The methods of operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Lines among which that with the version is sought.
const MOST_LINES: usize = 1000;

/// Operations that a message names.
const MOST_NAMED: usize = 12;

/// Levels of schemas that are alternatives of each other within a parameter.
const MOST_LEVELS: u32 = 16;

/// Rounds of a list in a parameter that has no bound.
const MOST_ITEMS: u32 = 8;

/// The longest text of a parameter that has no bound.
const LONGEST_TEXT: u32 = 24;

impl Format for OpenApi {
    fn name(&self) -> &'static str {
        "openapi"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json", "yaml", "yml"]
    }

    fn looks_like(&self, text: &str) -> bool {
        let is_three = |value: &str| value.trim_start().trim_start_matches(['"', '\'']).starts_with('3');
        match glance::outer_keys(text) {
            Some(keys) => keys.iter().any(|(key, value)| *key == "openapi" && is_three(value)),
            None => text.lines().take(MOST_LINES).filter_map(|line| line.strip_prefix("openapi:")).any(is_three),
        }
    }

    fn parse_within(
        &self,
        file: &SourceFile,
        surroundings: &Surroundings<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Grammar {
        crate::formats::refuse_tokens(self.name(), surroundings, diagnostics);
        if crate::formats::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let is_json = file.text().trim_start_matches('\u{FEFF}').trim_start().starts_with('{');
        let read = if is_json { json_text::read } else { yaml_text::read };
        let Some(json) = read(file.text(), diagnostics) else { return Grammar::default() };
        let mut doc = Document::new(file.text(), &json);
        doc.is_openapi = true;
        let version = doc.member(0, "openapi").map(|version| doc.written(doc.json(version))).unwrap_or_default();
        let version = version.trim_matches('"');
        doc.is_ref_alone = version.starts_with("3.0");
        if !version.starts_with("3.") {
            let message = "this is no document of OpenAPI 3";
            let help = "`\"openapi\": \"3.0.3\"` or a later version is expected; tools convert documents of Swagger 2";
            diagnostics.push(Diagnostic::error(Code::Syntax, doc.span(0), message).help(help));
            return Grammar::default();
        }
        Reader::new(doc, diagnostics).requests(surroundings.start)
    }
}

/// An operation of a path.
#[derive(Clone, Copy)]
struct Operation<'j> {
    method: &'j str,
    path: &'j str,
    /// The path item, which has parameters, too.
    item: Id,
    id: Id,
}

/// A parameter, or a field of a form.
struct Parameter<'j> {
    name: &'j str,
    id: Id,
    is_required: bool,
}

/// Form of a value in a parameter.
#[derive(Clone, Copy)]
struct How<'b> {
    /// Text between the items of a list.
    between: &'b str,
    /// Whether the text must not be empty, and no part of a path that leads elsewhere.
    is_in_path: bool,
    /// Whether it is an item of a list.
    is_item: bool,
    /// Number of schemas that led here.
    level: u32,
}

/// Help for parameters that cannot be made.
const UNABLE: &str = "texts, numbers, truth values and lists of these are made";

impl<'j> Reader<'j, '_> {
    /// Returns the requests that a start rule names, or those of the only operation.
    fn requests(mut self, start: Option<&str>) -> Grammar {
        let operations = self.operations();
        let (found, is_target) = match (start, operations.as_slice()) {
            (Some(start), all) => {
                let (name, is_target) = start.strip_suffix('?').map_or((start, false), |name| (name, true));
                let is_named = |operation: &&Operation<'j>| self.is_called(operation, name.trim_end());
                (all.iter().find(is_named).copied(), is_target)
            }
            (None, &[only]) => (Some(only), false),
            (None, _) => (None, false),
        };
        let Some(operation) = found else {
            self.report_choice(start, &operations);
            return Grammar::default();
        };
        let name = format!("{} {}", operation.method.to_ascii_uppercase(), operation.path);
        let name = start.map_or(name, str::to_string);
        self.current = operation.id;
        let body = if is_target { None } else { self.body(operation) };
        let body = body.unwrap_or_else(|| self.target(operation));
        self.finish(name, body)
    }

    fn operations(&mut self) -> Vec<Operation<'j>> {
        let paths = self.doc.member(0, "paths").map_or(&[][..], |paths| self.doc.members(paths)).to_vec();
        let mut found = Vec::new();
        for (path, item) in paths {
            let item = self.followed_object(item);
            let members = self.doc.members(item).iter().filter(|(method, _)| METHODS.contains(method));
            found.extend(members.map(|&(method, id)| Operation { method, path, item, id }));
        }
        found
    }

    fn is_called(&self, operation: &Operation<'j>, name: &str) -> bool {
        let own = self.doc.member(operation.id, "operationId").and_then(|id| self.doc.text(id));
        let by_path = name.split_once(' ').is_some_and(|(method, path)| {
            method.eq_ignore_ascii_case(operation.method) && path.trim_start() == operation.path
        });
        by_path || own == Some(name)
    }

    fn report_choice(&mut self, start: Option<&str>, operations: &[Operation<'_>]) {
        let message = match start {
            Some(start) => format!("there is no operation `{}`", start.escape_debug()),
            None if operations.is_empty() => "the document has no operation".to_string(),
            None => "a document of OpenAPI has several kinds of requests, and none is chosen".to_string(),
        };
        let shown = |operation: &Operation<'_>| {
            format!("`{} {}`", operation.method.to_ascii_uppercase(), operation.path.escape_debug())
        };
        let mut named: Vec<String> = operations.iter().take(MOST_NAMED).map(shown).collect();
        if operations.len() > MOST_NAMED {
            named.push(format!("and {} more", operations.len() - MOST_NAMED));
        }
        let example = operations.first().map_or_else(|| "`POST /pets`".to_string(), shown).replace('`', "'");
        let help = format!("`--start {example}`; the operations are {}", named.join(", "));
        let at = self.doc.member(0, "openapi").unwrap_or(0);
        let diagnostic = Diagnostic::error(Code::UndefinedRule, self.doc.span(at), message);
        self.diagnostics.push(if operations.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    /// Returns the object that a reference leads to, or the object itself. A reference that leads nowhere is reported.
    fn followed_object(&mut self, mut id: Id) -> Id {
        for _ in 0..MOST_LEVELS {
            let Some(at) = self.doc.member(id, "$ref") else { return id };
            let Some(reference) = self.doc.text(at) else { return id };
            match self.doc.target(id, reference) {
                Some(target) => id = target,
                None => {
                    let message = format!("the reference `{}` leads to nothing in this file", reference.escape_debug());
                    self.undefined(at, message);
                    return id;
                }
            }
        }
        self.report_cycle(id);
        id
    }

    fn member_of(&mut self, id: Id, key: &str) -> Option<Id> {
        let member = self.doc.member(id, key)?;
        Some(self.followed_object(member))
    }

    /// Returns the body of a request: JSON, or a form. `None` if the operation has none.
    fn body(&mut self, operation: Operation<'j>) -> Option<Expr> {
        let body = self.member_of(operation.id, "requestBody")?;
        let content = self.doc.member(body, "content")?;
        let kinds = self.doc.members(content).to_vec();
        let essence = |kind: &str| kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        let is_json = |kind: &str| {
            let kind = essence(kind);
            kind == "application/json" || kind.ends_with("+json") || kind == "*/*" || kind == "application/*"
        };
        let is_form = |kind: &str| essence(kind) == "application/x-www-form-urlencoded";
        let make = Make(self.doc.span(content));
        if kinds.is_empty() {
            return None;
        }
        let exact = kinds.iter().find(|(kind, _)| essence(kind) == "application/json");
        if let Some(&(_, media)) = exact.or_else(|| kinds.iter().find(|(kind, _)| is_json(kind))) {
            let goal = self.doc.member(media, "schema").map_or_else(Vec::new, values::only);
            let blanks = make.rule(self.shared("blanks"));
            let value = self.value(goal, "body");
            return Some(make.seq([blanks.clone(), value, blanks]));
        }
        if let Some(&(_, media)) = kinds.iter().find(|(kind, _)| is_form(kind)) {
            let mut fields = Vec::new();
            if let Some(schema) = self.doc.member(media, "schema") {
                self.add_fields(schema, &mut fields, 0);
            }
            return Some(self.pairs(fields, make));
        }
        let kinds: Vec<String> = kinds.iter().map(|(kind, _)| format!("`{}`", kind.escape_debug())).collect();
        let message = format!("the body of this request is {}", kinds.join(" or "));
        self.error(content, message, "bodies in JSON and forms (`application/x-www-form-urlencoded`) are made");
        None
    }

    /// Adds the fields of a form: the properties of an object, and of those that it consists of.
    fn add_fields(&mut self, schema: Id, fields: &mut Vec<Parameter<'j>>, level: u32) {
        let schema = self.followed_object(schema);
        if level > MOST_LEVELS {
            return;
        }
        let required = self.doc.member(schema, "required").map_or(&[][..], |list| self.doc.items(list));
        let required: Set<&str> = required.iter().filter_map(|&item| self.doc.text(item)).collect();
        let properties = self.doc.member(schema, "properties").map_or(&[][..], |list| self.doc.members(list));
        for &(name, id) in properties {
            fields.push(Parameter { name, id, is_required: required.contains(&name) });
        }
        for part in self.doc.member(schema, "allOf").map_or(&[][..], |list| self.doc.items(list)).to_vec() {
            self.add_fields(part, fields, level + 1);
        }
        for key in ["anyOf", "oneOf", "patternProperties", "not", "if"] {
            if let Some(at) = self.doc.member(schema, key) {
                self.loose(at, "is not honoured in a form");
            }
        }
    }

    /// Returns the parameters of an operation at a place. Its own are in force before those of the path.
    fn parameters(&mut self, operation: Operation<'j>, place: &str) -> Vec<Parameter<'j>> {
        let lists = [operation.item, operation.id].map(|id| self.doc.member(id, "parameters"));
        let all: Vec<Id> = lists.into_iter().flatten().flat_map(|list| self.doc.items(list)).copied().collect();
        let mut found: Vec<Parameter<'j>> = Vec::new();
        for id in all {
            let id = self.followed_object(id);
            let text = |key: &str| self.doc.member(id, key).and_then(|at| self.doc.text(at));
            let (Some(name), true) = (text("name"), text("in") == Some(place)) else { continue };
            let is_required = self.doc.member(id, "required").and_then(|at| self.doc.truth(at)) == Some(true);
            found.retain(|known| known.name != name);
            found.push(Parameter { name, id, is_required });
        }
        found
    }

    /// Returns the target of a request: its path, with a query string if there are parameters for it.
    fn target(&mut self, operation: Operation<'j>) -> Expr {
        let make = Make(self.doc.span(operation.id));
        let in_path = self.parameters(operation, "path");
        let mut parts = Vec::new();
        let mut rest = operation.path;
        while let Some((before, name, after)) = rest
            .split_once('{')
            .and_then(|(before, rest)| rest.split_once('}').map(|(name, after)| (before, name, after)))
        {
            parts.push(make.text(literal(before)));
            let known = in_path.iter().find(|parameter| parameter.name == name);
            let schema = known.and_then(|parameter| self.schema_of(parameter.id));
            let (start, between) = self.path_style(known.map(|parameter| parameter.id), name);
            let value = self.plain_rule(name, schema, &between, true);
            if value.is_none() {
                let at = schema.unwrap_or(operation.id);
                let message = format!("the parameter `{}` has no value that a path can have", name.escape_debug());
                self.error(at, message, UNABLE);
            }
            parts.push(make.text(start));
            parts.extend(value);
            rest = after;
        }
        parts.push(make.text(literal(rest)));
        let query = self.parameters(operation, "query");
        if !query.is_empty() {
            let is_empty = query.iter().all(|parameter| !parameter.is_required);
            let mark = if operation.path.contains('?') { "&" } else { "?" };
            if let Some(pairs) = self.some_pairs(query, make) {
                let query = make.seq([make.text(mark), pairs]);
                parts.push(if is_empty { make.maybe(query) } else { query });
            }
        }
        make.seq(parts)
    }

    /// Returns what stands before the value of a parameter of the path, and between the items of a list (RFC 6570).
    fn path_style(&self, parameter: Option<Id>, name: &str) -> (String, String) {
        let member = |key: &str| parameter.and_then(|id| self.doc.member(id, key));
        let is_exploded = member("explode").and_then(|at| self.doc.truth(at)) == Some(true);
        match (member("style").and_then(|at| self.doc.text(at)), is_exploded) {
            (Some("label"), true) => (".".to_string(), ".".to_string()),
            (Some("label"), false) => (".".to_string(), ",".to_string()),
            (Some("matrix"), true) => (format!(";{}=", encoded(name)), format!(";{}=", encoded(name))),
            (Some("matrix"), false) => (format!(";{}=", encoded(name)), ",".to_string()),
            _ => (String::new(), ",".to_string()),
        }
    }

    /// Returns the schema of a parameter, or of the field of a form that is one itself.
    fn schema_of(&self, parameter: Id) -> Option<Id> {
        let of_content = || {
            let content = self.doc.member(parameter, "content")?;
            self.doc.member(self.doc.members(content).first()?.1, "schema")
        };
        self.doc.member(parameter, "schema").or_else(of_content)
    }

    /// Returns pairs of names and values with `&` between them, or nothing if none is required.
    fn pairs(&mut self, parameters: Vec<Parameter<'j>>, make: Make) -> Expr {
        let is_empty = parameters.iter().all(|parameter| !parameter.is_required);
        if parameters.is_empty() {
            return make.empty();
        }
        let Some(some) = self.some_pairs(parameters, make) else { return make.empty() };
        if is_empty { make.maybe(some) } else { some }
    }

    /// Returns at least one pair. The pairs stand in order. `None` if there is none: a parameter that cannot be made is
    /// left out if it need not be there.
    fn some_pairs(&mut self, parameters: Vec<Parameter<'j>>, make: Make) -> Option<Expr> {
        let mut pairs = Vec::new();
        for parameter in &parameters {
            match self.pair(parameter, make) {
                Some(pair) => pairs.push((pair, parameter.is_required)),
                None if parameter.is_required => {
                    let name = parameter.name.escape_debug();
                    let message = format!("the parameter `{name}` has no value that can be made");
                    self.error(parameter.id, message, UNABLE);
                }
                None => self.loose(parameter.id, "is left out: its values are objects or nested lists"),
            }
        }
        // What follows each pair, from the last one on.
        let (mut firsts, mut rest) = (Vec::new(), make.empty());
        for (number, (pair, is_required)) in pairs.into_iter().enumerate().rev() {
            if is_required {
                firsts.clear();
            }
            firsts.push(make.seq([pair.clone(), rest.clone()]));
            if number == 0 {
                break;
            }
            let next = make.seq([make.text("&"), pair]);
            let body = make.seq([if is_required { next } else { make.maybe(next) }, rest]);
            let name = self.fresh("rest");
            self.add(Rule::new(Name { text: name.clone(), span: make.0 }, body));
            rest = make.rule(name);
        }
        firsts.reverse();
        (!firsts.is_empty()).then(|| make.any(firsts))
    }

    /// Returns a name and its value, or several such pairs for a list.
    fn pair(&mut self, parameter: &Parameter<'j>, make: Make) -> Option<Expr> {
        let name = encoded(parameter.name);
        let is_parameter = self.doc.member(parameter.id, "in").is_some();
        let schema = if is_parameter { self.schema_of(parameter.id) } else { Some(parameter.id) };
        let key = make.text(format!("{name}="));
        if is_parameter && self.doc.member(parameter.id, "content").is_some() {
            let goal = schema.map_or_else(Vec::new, values::only);
            let value = self.value(goal, parameter.name);
            return Some(make.seq([key, Expr::coded(Coding::Percent, value, make.0)]));
        }
        let style = self.doc.member(parameter.id, "style").and_then(|at| self.doc.text(at)).unwrap_or("form");
        let explode = self.doc.member(parameter.id, "explode").and_then(|at| self.doc.truth(at));
        let between = match (style, explode.unwrap_or(style == "form")) {
            (_, true) => format!("&{name}="),
            ("spaceDelimited", false) => "%20".to_string(),
            ("pipeDelimited", false) => "%7C".to_string(),
            _ => ",".to_string(),
        };
        let value = self.plain_rule(parameter.name, schema, &between, false)?;
        Some(make.seq([key, value]))
    }

    /// Returns the values of a schema as plain text, in percent-encoding where it is needed, as a rule of its own.
    /// `None` if there is none.
    fn plain_rule(&mut self, name: &str, schema: Option<Id>, between: &str, is_in_path: bool) -> Option<Expr> {
        let make = Make(self.doc.span(schema.unwrap_or(self.current)));
        let how = How { between, is_in_path, is_item: false, level: 0 };
        let alternatives = match schema {
            Some(schema) => self.plain(values::only(schema), how),
            None => vec![self.plain_text(None, is_in_path, make)],
        };
        if alternatives.is_empty() {
            return None;
        }
        let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let word: String = name.chars().map(clean).take(40).collect();
        let name = self.fresh(word.trim_matches('-'));
        self.add(Rule::new(Name { text: name.clone(), span: make.0 }, make.any(alternatives)));
        Some(make.rule(name))
    }

    /// Returns the values that fulfil a goal, as plain text, as alternatives.
    fn plain(&mut self, goal: Goal, how: How<'_>) -> Vec<Expr> {
        let goal = self.resolved(goal);
        let make = Make(self.doc.span(goal.first().map_or(self.current, |literal| literal.schema)));
        // Alternatives of alternatives multiply.
        self.size += 16;
        if self.size > MAX_EXPRESSIONS {
            return Vec::new();
        }
        if goal.is_empty() || how.level > MOST_LEVELS {
            return vec![self.plain_text(None, how.is_in_path, make)];
        }
        match self.expand(&goal) {
            Expansion::Goals(goals) => {
                goals.into_iter().flat_map(|goal| self.plain(goal, How { level: how.level + 1, ..how })).collect()
            }
            Expansion::Facts(leaves) => {
                let leaves = leaves.into_iter().filter(|facts| facts.conflict.is_none());
                leaves.flat_map(|facts| self.plain_leaf(&facts, how, make)).collect()
            }
        }
    }

    /// Returns the values that fulfil facts, as plain text.
    fn plain_leaf(&mut self, facts: &Facts<'j>, how: How<'_>, make: Make) -> Vec<Expr> {
        for &at in &facts.loose {
            self.loose(at, "is not honoured");
        }
        if let Some(listed) = &facts.values {
            let fulfils = |value: &&&Json| {
                let is_plain = !matches!(value.kind, JsonKind::Array(_) | JsonKind::Object(_) | JsonKind::Null);
                is_plain && values::fulfils(value, facts, self)
            };
            let texts: Vec<String> = listed.iter().filter(fulfils).map(|value| self.plain_listed(value)).collect();
            // These parts of a path lead elsewhere.
            let is_part = |text: &String| !how.is_in_path || !["", ".", ".."].contains(&text.as_str());
            return texts.into_iter().filter(is_part).map(|text| make.text(text)).collect();
        }
        let types = facts.types;
        let mut found = Vec::new();
        if types.has(Types::STRING) {
            found.push(self.plain_text(Some(facts), how.is_in_path, make));
        }
        if types.has(Types::NUMBER) {
            found.extend(self.number(types, &facts.numbers, &facts.excluded, make));
        }
        if types.has(Types::TRUTH) {
            found.extend(["true", "false"].map(|word| make.text(word)));
        }
        // Any value is mostly a text.
        if types == Types::ALL {
            found.truncate(1);
        } else if types.has(Types::ARRAY) && !how.is_item {
            found.extend(self.plain_list(facts, how, make));
        }
        found
    }

    /// Returns the lists that fulfil facts, of at least one item. Lists in lists cannot be written.
    fn plain_list(&mut self, facts: &Facts<'j>, how: How<'_>, make: Make) -> Option<Expr> {
        for &layer in &facts.arrays.layers {
            for key in ["uniqueItems", "contains", "prefixItems"] {
                if let Some(at) = self.doc.member(layer, key) {
                    self.loose(at, "is not honoured in a parameter");
                }
            }
        }
        let items = facts.arrays.layers.iter().filter_map(|&layer| self.doc.member(layer, "items"));
        let items: Goal = items.flat_map(values::only).collect();
        let of_item = How { is_item: true, is_in_path: true, level: how.level + 1, ..how };
        let item = if items.is_empty() { vec![self.plain_text(None, true, make)] } else { self.plain(items, of_item) };
        let Count { min, max } = facts.arrays.count;
        let (min, max) = (min.max(1), max.unwrap_or(min.saturating_add(MOST_ITEMS)));
        if item.is_empty() || max == 0 {
            return None;
        }
        let item = make.any(item);
        let name = self.fresh("item");
        self.add(Rule::new(Name { text: name.clone(), span: make.0 }, item));
        let more = make.seq([make.text(how.between), make.rule(name.clone())]);
        Some(make.seq([make.rule(name), make.many(more, min - 1, Some(max.max(min) - 1))]))
    }

    fn plain_listed(&self, value: &Json) -> String {
        match &value.kind {
            JsonKind::String(text) => encoded(text),
            _ => encoded(&self.doc.written(value)),
        }
    }

    /// Returns the texts that fulfil facts, in percent-encoding.
    fn plain_text(&mut self, facts: Option<&Facts<'j>>, is_in_path: bool, make: Make) -> Expr {
        let texts = facts.map(|facts| self.texts(&facts.strings, &facts.excluded, make));
        let length = facts.map_or(Count { min: 0, max: None }, |facts| facts.strings.length);
        let texts = match texts {
            Some(Some(Some(texts))) => texts,
            Some(None) => return make.never(),
            _ => {
                let any = make.any_or_read([make.class(&[language::PRINTABLE])], [make.class(&[language::ANY])]);
                // An empty part of a path is another path, and so is one of points.
                let min = length.min.max(u32::from(is_in_path));
                let max = length.max.unwrap_or(min.saturating_add(LONGEST_TEXT)).max(min);
                if is_in_path {
                    let others = [make.class(&[(0, 0x2D), (0x2F, 0x10_FFFF)])];
                    let first = make.any_or_read([make.class(&[(0x20, 0x2D), (0x2F, 0x7E)])], others);
                    make.seq([first, make.many(any, min - 1, Some(max - 1))])
                } else {
                    make.many(any, min, Some(max))
                }
            }
        };
        match texts.as_bytes() {
            Some(bytes) => make.text(encoded(&String::from_utf8_lossy(bytes))),
            None => Expr::coded(Coding::Percent, texts, make.0),
        }
    }
}

/// Returns a literal part of a path: what cannot stand in one is in percent-encoding (RFC 3986, section 3.3).
fn literal(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_code = |at: usize| bytes.get(at + 1..at + 3).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit));
    let keeps = |at: usize, byte: u8| match byte {
        b'%' => is_code(at),
        _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte),
    };
    let mut out = String::new();
    for (at, &byte) in bytes.iter().enumerate() {
        if keeps(at, byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

/// Returns a text in percent-encoding (RFC 3986, section 2).
fn encoded(text: &str) -> String {
    let mut coded = Vec::new();
    Coding::Percent.encode(text.as_bytes(), &mut coded);
    String::from_utf8_lossy(&coded).into_owned()
}
