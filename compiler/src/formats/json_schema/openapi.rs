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
use crate::formats::{Format, Surroundings, glance, json_text, yaml_text};

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
        let version = doc.member(0, "openapi").and_then(|version| doc.text(version)).unwrap_or("");
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

    fn operations(&self) -> Vec<Operation<'j>> {
        let paths = self.doc.member(0, "paths").map_or(&[][..], |paths| self.doc.members(paths));
        let of_path = |&(path, item): &(&'j str, Id)| {
            let item = self.followed_object(item);
            let members = self.doc.members(item).iter().filter(|(method, _)| METHODS.contains(method));
            members.map(move |&(method, id)| Operation { method, path, item, id }).collect::<Vec<_>>()
        };
        paths.iter().flat_map(of_path).collect()
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

    /// Returns the object that a reference leads to, or the object itself.
    fn followed_object(&self, mut id: Id) -> Id {
        for _ in 0..MOST_LEVELS {
            let reference = self.doc.member(id, "$ref").and_then(|at| self.doc.text(at));
            match reference.and_then(|reference| self.doc.target(id, reference)) {
                Some(target) => id = target,
                None => break,
            }
        }
        id
    }

    fn member_of(&self, id: Id, key: &str) -> Option<Id> {
        self.doc.member(id, key).map(|member| self.followed_object(member))
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
        if let Some(&(_, media)) = kinds.iter().find(|(kind, _)| is_json(kind)) {
            let goal = self.doc.member(media, "schema").map_or_else(Vec::new, values::only);
            let blanks = make.rule(self.shared("blanks"));
            let value = self.value(goal, "body");
            return Some(make.seq([blanks.clone(), value, blanks]));
        }
        if let Some(&(_, media)) = kinds.iter().find(|(kind, _)| is_form(kind)) {
            let fields = self.doc.member(media, "schema").map_or_else(Vec::new, |schema| self.fields(schema));
            return Some(self.pairs(fields, make));
        }
        let kinds: Vec<String> = kinds.iter().map(|(kind, _)| format!("`{}`", kind.escape_debug())).collect();
        let message = format!("the body of this request is {}", kinds.join(" or "));
        self.error(content, message, "bodies in JSON and forms (`application/x-www-form-urlencoded`) are made");
        None
    }

    /// Returns the fields of a form: the properties of an object.
    fn fields(&self, schema: Id) -> Vec<Parameter<'j>> {
        let schema = self.followed_object(schema);
        let required = self.doc.member(schema, "required").map_or(&[][..], |list| self.doc.items(list));
        let required: Vec<&str> = required.iter().filter_map(|&item| self.doc.text(item)).collect();
        let properties = self.doc.member(schema, "properties").map_or(&[][..], |list| self.doc.members(list));
        let field = |&(name, id): &(&'j str, Id)| Parameter { name, id, is_required: required.contains(&name) };
        properties.iter().map(field).collect()
    }

    /// Returns the parameters of an operation at a place. Its own are in force before those of the path.
    fn parameters(&self, operation: Operation<'j>, place: &str) -> Vec<Parameter<'j>> {
        let lists = [operation.item, operation.id].map(|id| self.doc.member(id, "parameters"));
        let all = lists.into_iter().flatten().flat_map(|list| self.doc.items(list));
        let mut found: Vec<Parameter<'j>> = Vec::new();
        for id in all.map(|&id| self.followed_object(id)) {
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
            parts.push(make.text(before));
            let known = in_path.iter().find(|parameter| parameter.name == name);
            let schema = known.and_then(|parameter| self.schema_of(parameter.id));
            parts.push(self.plain_rule(name, schema, ",", true));
            rest = after;
        }
        parts.push(make.text(rest));
        let query = self.parameters(operation, "query");
        if !query.is_empty() {
            let is_empty = query.iter().all(|parameter| !parameter.is_required);
            let pairs = self.some_pairs(query, make);
            let query = make.seq([make.text("?"), pairs]);
            parts.push(if is_empty { make.maybe(query) } else { query });
        }
        make.seq(parts)
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
        let some = self.some_pairs(parameters, make);
        if is_empty { make.maybe(some) } else { some }
    }

    /// Returns at least one pair. The pairs stand in order.
    fn some_pairs(&mut self, parameters: Vec<Parameter<'j>>, make: Make) -> Expr {
        let pairs: Vec<(Expr, bool)> =
            parameters.iter().map(|parameter| (self.pair(parameter, make), parameter.is_required)).collect();
        // What follows each pair, from the last one on.
        let (mut firsts, mut rest) = (Vec::new(), make.empty());
        for (pair, is_required) in pairs.into_iter().rev() {
            if is_required {
                firsts.clear();
            }
            firsts.push(make.seq([pair.clone(), rest.clone()]));
            let next = make.seq([make.text("&"), pair]);
            let body = make.seq([if is_required { next } else { make.maybe(next) }, rest]);
            let name = self.fresh("rest");
            self.add(Rule::new(Name { text: name.clone(), span: make.0 }, body));
            rest = make.rule(name);
        }
        firsts.reverse();
        make.any(firsts)
    }

    /// Returns a name and its value, or several such pairs for a list.
    fn pair(&mut self, parameter: &Parameter<'j>, make: Make) -> Expr {
        let name = encoded(parameter.name);
        let is_parameter = self.doc.member(parameter.id, "in").is_some();
        let schema = if is_parameter { self.schema_of(parameter.id) } else { Some(parameter.id) };
        let key = make.text(format!("{name}="));
        if is_parameter && self.doc.member(parameter.id, "content").is_some() {
            let goal = schema.map_or_else(Vec::new, values::only);
            let value = self.value(goal, parameter.name);
            return make.seq([key, Expr::coded(Coding::Percent, value, make.0)]);
        }
        let style = self.doc.member(parameter.id, "style").and_then(|at| self.doc.text(at)).unwrap_or("form");
        let explode = self.doc.member(parameter.id, "explode").and_then(|at| self.doc.truth(at));
        let between = match (style, explode.unwrap_or(style == "form")) {
            ("form", true) => format!("&{name}="),
            ("spaceDelimited", _) => "%20".to_string(),
            ("pipeDelimited", _) => "|".to_string(),
            _ => ",".to_string(),
        };
        let value = self.plain_rule(parameter.name, schema, &between, false);
        make.seq([key, value])
    }

    /// Returns the values of a schema as plain text, in percent-encoding where it is needed, as a rule of its own.
    fn plain_rule(&mut self, name: &str, schema: Option<Id>, between: &str, is_in_path: bool) -> Expr {
        let make = Make(self.doc.span(schema.unwrap_or(self.current)));
        let body = match schema {
            Some(schema) => self.plain(values::only(schema), between, is_in_path, 0),
            None => self.plain_text(None, is_in_path, make),
        };
        let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let word: String = name.chars().map(clean).take(40).collect();
        let name = self.fresh(word.trim_matches('-'));
        self.add(Rule::new(Name { text: name.clone(), span: make.0 }, body));
        make.rule(name)
    }

    fn plain(&mut self, goal: Goal, between: &str, is_in_path: bool, level: u32) -> Expr {
        let goal = self.resolved(goal);
        let make = Make(self.doc.span(goal.first().map_or(self.current, |literal| literal.schema)));
        if goal.is_empty() || level > MOST_LEVELS {
            return self.plain_text(None, is_in_path, make);
        }
        let alternatives = match self.expand(&goal) {
            Expansion::Goals(goals) => {
                goals.into_iter().map(|goal| self.plain(goal, between, is_in_path, level + 1)).collect()
            }
            Expansion::Facts(leaves) => {
                let leaves = leaves.into_iter().filter(|facts| facts.conflict.is_none());
                leaves.flat_map(|facts| self.plain_leaf(&facts, (between, is_in_path, level), make)).collect::<Vec<_>>()
            }
        };
        if alternatives.is_empty() {
            let message = format!("`{}` has no value that a parameter can have", self.doc.path(self.current));
            self.error(goal[0].schema, message, "texts, numbers, truth values and lists of these are made");
        }
        make.any(alternatives)
    }

    /// Returns the values that fulfil facts, as plain text.
    fn plain_leaf(&mut self, facts: &Facts<'j>, how: (&str, bool, u32), make: Make) -> Vec<Expr> {
        let (between, is_in_path, level) = how;
        for &at in &facts.loose {
            self.loose(at, "is not honoured");
        }
        if let Some(listed) = &facts.values {
            let fulfils = |value: &&&Json| values::fulfils(value, facts, self);
            let texts: Vec<String> = listed.iter().filter(fulfils).map(|value| self.plain_listed(value)).collect();
            return texts
                .into_iter()
                .filter(|text| !is_in_path || !text.is_empty())
                .map(|text| make.text(text))
                .collect();
        }
        let types = facts.types;
        let mut found = Vec::new();
        if types.has(Types::STRING) {
            found.push(self.plain_text(Some(facts), is_in_path, make));
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
        } else if types.has(Types::ARRAY) {
            let items = facts.arrays.layers.iter().find_map(|&layer| self.doc.member(layer, "items"));
            let item = match items {
                Some(items) => self.plain(values::only(items), ",", true, level + 1),
                None => self.plain_text(None, true, make),
            };
            let Count { min, max } = facts.arrays.count;
            let (min, max) = (min.max(1), max.unwrap_or(min.saturating_add(MOST_ITEMS)));
            if max > 0 {
                let more = make.seq([make.text(between), item.clone()]);
                found.push(make.seq([item, make.many(more, min - 1, Some(max.max(min) - 1))]));
            }
        }
        found
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
                // An empty part of a path is another path.
                let min = length.min.max(u32::from(is_in_path));
                let max = length.max.unwrap_or(min.saturating_add(LONGEST_TEXT));
                make.many(any, min, Some(max.max(min)))
            }
        };
        match texts.as_bytes() {
            Some(bytes) => make.text(encoded(&String::from_utf8_lossy(bytes))),
            None => Expr::coded(Coding::Percent, texts, make.0),
        }
    }
}

/// Returns a text in percent-encoding (RFC 3986, section 2).
fn encoded(text: &str) -> String {
    let mut coded = Vec::new();
    Coding::Percent.encode(text.as_bytes(), &mut coded);
    String::from_utf8_lossy(&coded).into_owned()
}
