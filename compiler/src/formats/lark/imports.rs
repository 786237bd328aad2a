//! Imports: definitions of other files, with the definitions that these need under names of their own.

use std::rc::Rc;

use super::common;
use super::parser::{self, Definition, File, Import, Item, Kind, relocate};
use crate::ast::Name;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use crate::formats::Loader;
use crate::formats::builder::{Builder, Reported};
use crate::formats::given::from_another;
use crate::ordered::{Map, Set};

/// The greatest number of files of a grammar.
const MAX_FILES: usize = 64;

/// Adds the imported definitions, and the definitions that these need, to those of `file`.
pub(super) fn resolve(file: &mut File, loader: &dyn Loader, builder: &mut Builder<'_>) {
    let imports = std::mem::take(&mut file.imports);
    let own = file.definitions.iter().filter(|definition| !definition.extends);
    let own: Set<String> = own.map(|definition| definition.name.text.clone()).collect();
    let extended = file.definitions.iter().filter(|definition| definition.extends);
    let extended: Set<String> = extended.map(|definition| definition.name.text.clone()).collect();
    let mut importing = Importing {
        loader,
        modules: Map::new(),
        names: Map::new(),
        taken: own.clone(),
        pending: Vec::new(),
        first: Vec::new(),
        last: Vec::new(),
        declared: Vec::new(),
    };
    importing.taken.extend(imports.iter().flat_map(|import| import.names.iter().map(|(_, known)| known.clone())));
    for import in &imports {
        let Ok(path) = importing.module("", &import.path, import.is_relative, import.span, builder) else { continue };
        for (name, known) in import.names.iter().filter(|(_, known)| !own.contains(known)) {
            let source = (path.clone(), name.clone());
            if !importing.defines(&path, name) {
                report_missing(&import.path.join("."), name, import.span, builder);
                continue;
            }
            let other = importing.names.get(&source).cloned().filter(|other| other != known);
            match other {
                // The same definition under a second name.
                Some(other) => importing.add(alias(known, other, import.span), extended.contains(known)),
                None => importing.want(source, known.clone(), import.span, extended.contains(known)),
            }
        }
    }
    while let Some(wanted) = importing.pending.pop() {
        if importing.define(&wanted, builder).is_err() {
            break;
        }
    }
    // A definition must come before its extensions.
    let Importing { first, last, declared, .. } = importing;
    file.definitions.splice(0..0, first);
    file.definitions.extend(last);
    file.declared.extend(declared);
}

fn report_missing(module: &str, name: &str, span: Span, builder: &mut Builder<'_>) {
    let message = format!("`{name}` cannot be imported from `{module}`");
    let help = "the module does not define it; a path is written `.folder.file.NAME`, with the full stop in front for a file beside this one";
    builder.report(Diagnostic::error(Code::UndefinedRule, span, message).help(help));
}

fn alias(known: &str, other: String, span: Span) -> Definition {
    let body = Item { kind: Kind::Name(other), span, height: 1 };
    let name = Name { text: known.to_string(), span };
    Definition { name, parameters: Vec::new(), body, priority: 0, extends: false, overrides: false }
}

/// A definition to be added: its module, its name here, and the place that asks for it.
struct Wanted {
    path: String,
    name: String,
    known: String,
    span: Span,
    is_first: bool,
}

/// A file with imported definitions, and its contents by name.
struct Module {
    file: File,
    /// The places of the definitions.
    definitions: Map<String, Vec<usize>>,
    declared: Set<String>,
    /// For each imported name, the index of the import and of the name in it.
    imports: Map<String, (usize, usize)>,
}

impl Module {
    fn new(file: File) -> Module {
        let mut definitions: Map<String, Vec<usize>> = Map::new();
        for (place, definition) in file.definitions.iter().enumerate() {
            definitions.entry(definition.name.text.clone()).or_default().push(place);
        }
        let declared = file.declared.iter().map(|name| name.text.clone()).collect();
        let mut imports = Map::new();
        for (place, import) in file.imports.iter().enumerate() {
            for (inner, (_, known)) in import.names.iter().enumerate() {
                imports.entry(known.clone()).or_insert((place, inner));
            }
        }
        Module { file, definitions, declared, imports }
    }

    fn defines(&self, name: &str) -> bool {
        self.definitions.contains_key(name) || self.declared.contains(name) || self.imports.contains_key(name)
    }

    /// Returns true if the module only declares this terminal, so that code makes it.
    fn only_declares(&self, name: &str) -> bool {
        self.declared.contains(name) && !self.definitions.contains_key(name)
    }

    fn definitions(&self, name: &str) -> Vec<&Definition> {
        let places = self.definitions.get(name).map_or(&[][..], Vec::as_slice);
        places.iter().map(|&place| &self.file.definitions[place]).collect()
    }

    /// Returns the import that brings a name, and its name in the other module.
    fn import(&self, name: &str) -> Option<(&Import, &str)> {
        let &(place, inner) = self.imports.get(name)?;
        let import = &self.file.imports[place];
        Some((import, &import.names[inner].0))
    }
}

struct Importing<'l> {
    loader: &'l dyn Loader,
    modules: Map<String, Rc<Module>>,
    /// The names of modules' definitions in this grammar.
    names: Map<(String, String), String>,
    /// Names that are defined in this grammar.
    taken: Set<String>,
    pending: Vec<Wanted>,
    first: Vec<Definition>,
    last: Vec<Definition>,
    declared: Vec<Name>,
}

impl Importing<'_> {
    /// Returns the path of a module named by a file in `folder`. Reads the module if necessary.
    fn module(
        &mut self,
        folder: &str,
        path: &[String],
        is_relative: bool,
        span: Span,
        builder: &mut Builder<'_>,
    ) -> Result<String, Reported> {
        let name = path.join("/");
        let embedded = if is_relative { None } else { common::module(&name) };
        let place = match embedded {
            Some(_) => name,
            None => format!("{folder}{name}.lark"),
        };
        if self.modules.contains_key(&place) {
            return Ok(place);
        }
        if self.modules.len() >= MAX_FILES {
            let message = format!("the grammar is spread over more than {MAX_FILES} files");
            return Err(builder.report(Diagnostic::error(Code::TooLarge, span, message)));
        }
        let file = match embedded {
            Some(text) => SourceFile::new(&place, &text),
            None => self.loader.load(&place).map_err(|problem| {
                let message = format!("`{place}`, from which this imports, cannot be read: {problem}");
                let help = "modules are files beside the grammar; of those that come with Lark `common` and `unicode` are known";
                builder.report(Diagnostic::error(Code::MissingFile, span, message).help(help))
            })?,
        };
        let mut found = Diagnostics::default();
        let mut inner = Builder::new(&mut found);
        let module = parser::parse(file.text(), &mut inner);
        let expressions = inner.expressions();
        for diagnostic in from_another(&file, &found) {
            builder.report(diagnostic);
        }
        builder.count(expressions, span)?;
        self.modules.insert(place.clone(), Rc::new(Module::new(module)));
        Ok(place)
    }

    fn defines(&self, path: &str, name: &str) -> bool {
        self.modules.get(path).is_some_and(|module| module.defines(name))
    }

    fn want(&mut self, source: (String, String), known: String, span: Span, is_first: bool) {
        if let crate::ordered::Entry::Vacant(entry) = self.names.entry(source.clone()) {
            entry.insert(known.clone());
            self.taken.insert(known.clone());
            self.pending.push(Wanted { path: source.0, name: source.1, known, span, is_first });
        }
    }

    fn add(&mut self, definition: Definition, is_first: bool) {
        if is_first { self.first.push(definition) } else { self.last.push(definition) }
    }

    /// Returns the name in this grammar of a module's definition `name`. Terminals of `common` keep their names where
    /// these are free.
    fn known(&mut self, path: &str, name: &str, span: Span) -> String {
        let source = (path.to_string(), name.to_string());
        if let Some(known) = self.names.get(&source) {
            return known.clone();
        }
        let is_declared = self.modules.get(path).is_some_and(|module| module.only_declares(name));
        // A terminal that code makes keeps its name.
        if is_declared {
            self.declared.push(Name { text: name.to_string(), span });
            return name.to_string();
        }
        // No name in Lark contains a full stop.
        let known = match path {
            "common" | "unicode" if !self.taken.contains(name) => name.to_string(),
            _ => format!("{name}.of.{}", path.trim_end_matches(".lark").replace('/', ".")),
        };
        self.want(source, known.clone(), span, false);
        known
    }

    /// Adds the definitions of `wanted`.
    fn define(&mut self, wanted: &Wanted, builder: &mut Builder<'_>) -> Result<(), Reported> {
        let Wanted { path, name, .. } = wanted;
        let Some(module) = self.modules.get(path).cloned() else { return Ok(()) };
        let found = module.definitions(name);
        if found.iter().all(|found| found.extends) {
            self.define_elsewhere(&module, wanted, builder)?;
        }
        self.define_from(&found, wanted, builder)
    }

    /// Adds a definition that the module imports itself.
    fn define_elsewhere(
        &mut self,
        module: &Module,
        wanted: &Wanted,
        builder: &mut Builder<'_>,
    ) -> Result<(), Reported> {
        let Wanted { path, name, known, span, is_first } = wanted;
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let Some((import, original)) = module.import(name) else { return Ok(()) };
        let place = self.module(&folder, &import.path, import.is_relative, *span, builder)?;
        if self.defines(&place, original) {
            let other = self.known(&place, original, *span);
            self.add(alias(known, other, *span), *is_first);
        } else {
            report_missing(&import.path.join("."), original, *span, builder);
        }
        Ok(())
    }

    /// Adds the definitions from the module itself.
    fn define_from(
        &mut self,
        found: &[&Definition],
        wanted: &Wanted,
        builder: &mut Builder<'_>,
    ) -> Result<(), Reported> {
        let Wanted { path, known, span, is_first, .. } = wanted;
        let overrides = found.iter().any(|found| found.overrides);
        for definition in found.iter().filter(|found| !overrides || found.overrides || found.extends) {
            let mut body = definition.body.clone();
            let mut parts = 0;
            relocate(&mut body, *span, &mut |reference| {
                parts += 1;
                if !definition.parameters.contains(reference) {
                    *reference = self.known(path, reference, *span);
                }
            });
            builder.count(1 + parts, *span)?;
            let name = Name { text: known.clone(), span: *span };
            let Definition { ref parameters, priority, extends, .. } = **definition;
            let parameters = parameters.clone();
            self.add(Definition { name, parameters, body, priority, extends, overrides: false }, *is_first);
        }
        Ok(())
    }
}
