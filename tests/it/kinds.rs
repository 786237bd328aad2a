//! A new kind of node is cheap to add: the compiler finds all places that must know it, and these are few.
//!
//! No match on kinds has an arm for the rest, which would take a new kind without a word. Code that needs only children
//! or one kind goes by walks and accessors, so few files name kinds in patterns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Pat, Token, UseTree};

/// The enums whose variants are kinds of nodes or follow from them, the home of each, and the most files that may name
/// its variants in patterns.
const ENUMS: [(&str, &str, usize); 5] = [
    ("ExprKind", "compiler/src/ast/node.rs", 20),
    ("Node", "compiler/src/ir/node.rs", 4),
    ("Composition", "compiler/src/ir/node.rs", 8),
    ("First", "compiler/src/ir/node.rs", 7),
    ("Form", "compiler/src/analysis/form.rs", 5),
];

/// The place of a pattern in another one: the steps of [`parts`] that lead to it.
type Position = String;

/// The kinds that a file names.
#[derive(Default)]
struct Found {
    /// The names of the enums in the file, and the enums.
    names: BTreeMap<String, &'static str>,
    /// The enums whose variants are in patterns.
    known: BTreeSet<&'static str>,
    /// The functions with a match that has an arm for the rest.
    with_rest: Vec<String>,
    function: String,
}

impl Found {
    /// Returns what a file names. Tests in it do not count.
    fn of(path: &str, text: &str) -> Found {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut found = Found::default();
        for (name, home, _) in ENUMS {
            let declares = |item: &Item| matches!(item, Item::Enum(item) if item.ident == name);
            if home == path || !file.items.iter().any(declares) {
                found.names.extend((home == path).then(|| (name.to_string(), name)));
                let imports =
                    file.items.iter().filter_map(|item| if let Item::Use(item) = item { Some(item) } else { None });
                imports.for_each(|import| found.import(&import.tree, name));
            }
        }
        found.visit_file(&file);
        found
    }

    /// Notes the names that an import gives to an enum. One of all names of a module may give it its own.
    fn import(&mut self, tree: &UseTree, name: &'static str) {
        match tree {
            UseTree::Path(path) => self.import(&path.tree, name),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, name)),
            UseTree::Name(import) if import.ident != name => {}
            UseTree::Rename(import) if import.ident != name => {}
            UseTree::Rename(import) => drop(self.names.insert(import.rename.to_string(), name)),
            UseTree::Name(_) | UseTree::Glob(_) => drop(self.names.insert(name.to_string(), name)),
        }
    }

    /// Returns the enum that a path leads to a variant of.
    fn enum_of(&self, path: &syn::Path) -> Option<&'static str> {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let [before @ .., name, _] = parts.as_slice() else { return None };
        let is_full = before.last().is_some_and(|module| ["ast", "ir", "node", "form"].contains(&module.as_str()));
        let by_path = ENUMS.iter().find(|(known, ..)| is_full && known == name).map(|(known, ..)| *known);
        by_path.or_else(|| self.names.get(name).copied())
    }

    /// Notes the places in a pattern at which variants stand.
    fn positions(&self, pattern: &Pat, at: &Position, found: &mut BTreeSet<Position>) {
        let variant = match pattern {
            Pat::Path(pattern) => Some(&pattern.path),
            Pat::TupleStruct(pattern) => Some(&pattern.path),
            Pat::Struct(pattern) => Some(&pattern.path),
            _ => None,
        };
        if variant.is_some_and(|path| self.enum_of(path).is_some()) {
            found.insert(at.clone());
        }
        parts(pattern).into_iter().for_each(|(step, part)| self.positions(part, &(at.clone() + &step), found));
    }

    /// Returns true if an arm is for the rest: it has no variant, and takes anything where another arm has one.
    fn has_rest(&self, arms: &[syn::Arm]) -> bool {
        let cases: Vec<&Pat> = arms.iter().flat_map(|arm| cases(&arm.pat)).collect();
        let positions = cases.iter().map(|case| {
            let mut found = BTreeSet::new();
            self.positions(case, &Position::new(), &mut found);
            found
        });
        let positions: Vec<BTreeSet<Position>> = positions.collect();
        let all: BTreeSet<&Position> = positions.iter().flatten().collect();
        let takes_any = |case: &Pat| all.iter().any(|position| takes_anything(case, position));
        cases.iter().zip(&positions).any(|(case, own)| own.is_empty() && takes_any(case))
    }
}

/// Returns the patterns of an arm.
fn cases(pattern: &Pat) -> Vec<&Pat> {
    match pattern {
        Pat::Or(pattern) => pattern.cases.iter().flat_map(cases).collect(),
        Pat::Paren(pattern) => cases(&pattern.pat),
        _ => vec![pattern],
    }
}

/// Returns the parts of a pattern, each with the step that leads to it. Parts that are the whole have an empty step.
fn parts(pattern: &Pat) -> Vec<(String, &Pat)> {
    fn numbered<'p>(name: &str, all: impl IntoIterator<Item = &'p Pat>) -> Vec<(String, &'p Pat)> {
        all.into_iter().enumerate().map(|(number, part)| (format!("{name}{number}/"), part)).collect()
    }
    let last = |path: &syn::Path| path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string());
    match pattern {
        Pat::Ident(pattern) => pattern.subpat.iter().map(|(_, inner)| (String::new(), &**inner)).collect(),
        Pat::Or(pattern) => pattern.cases.iter().map(|case| (String::new(), case)).collect(),
        Pat::Paren(pattern) => vec![(String::new(), &pattern.pat)],
        Pat::Reference(pattern) => vec![(String::new(), &pattern.pat)],
        Pat::Slice(pattern) => numbered("slice", &pattern.elems),
        Pat::Struct(pattern) => {
            let name = |field: &syn::FieldPat| match &field.member {
                syn::Member::Named(name) => format!("{}.{name}/", last(&pattern.path)),
                syn::Member::Unnamed(number) => format!("{}{}/", last(&pattern.path), number.index),
            };
            pattern.fields.iter().map(|field| (name(field), &*field.pat)).collect()
        }
        Pat::Tuple(pattern) => numbered("", &pattern.elems),
        Pat::TupleStruct(pattern) => numbered(&last(&pattern.path), &pattern.elems),
        _ => Vec::new(),
    }
}

/// Returns true if a pattern takes anything at a position. After `..`, all positions are taken for such.
fn takes_anything(pattern: &Pat, position: &str) -> bool {
    match pattern {
        Pat::Wild(_) | Pat::Rest(_) => true,
        // Other names are constants and variants.
        Pat::Ident(pattern) if pattern.subpat.is_none() => !pattern.ident.to_string().starts_with(char::is_uppercase),
        _ => parts(pattern).into_iter().any(|(step, part)| match part {
            Pat::Rest(_) => true,
            _ => position.strip_prefix(&step).is_some_and(|position| takes_anything(part, position)),
        }),
    }
}

/// Returns true if what has these attributes is only in tests.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.meta.require_list().is_ok_and(|list| list.path.is_ident("cfg") && list.tokens.to_string() == "test")
    })
}

impl<'f> Visit<'f> for Found {
    fn visit_item(&mut self, item: &'f Item) {
        let is_left_out = matches!(item, Item::Mod(module) if is_for_tests(&module.attrs));
        if !is_left_out {
            visit::visit_item(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'f syn::Signature) {
        self.function = signature.ident.to_string();
    }

    fn visit_pat(&mut self, pattern: &'f Pat) {
        let path = match pattern {
            Pat::Path(pattern) => Some(&pattern.path),
            Pat::TupleStruct(pattern) => Some(&pattern.path),
            Pat::Struct(pattern) => Some(&pattern.path),
            _ => None,
        };
        self.known.extend(path.and_then(|path| self.enum_of(path)));
        visit::visit_pat(self, pattern);
    }

    fn visit_expr_match(&mut self, found: &'f syn::ExprMatch) {
        if self.has_rest(&found.arms) {
            self.with_rest.push(self.function.clone());
        }
        visit::visit_expr_match(self, found);
    }

    /// Reads `matches!`, and other macros whose arguments are expressions.
    fn visit_macro(&mut self, call: &'f syn::Macro) {
        let of_matches = |input: ParseStream<'_>| {
            let (value, _) = (input.parse::<Expr>()?, input.parse::<Token![,]>()?);
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard = input.parse::<Option<Token![if]>>()?.map(|_| input.parse::<Expr>()).transpose()?;
            input.parse::<Option<Token![,]>>()?;
            Ok((pattern, [Some(value), guard]))
        };
        let values: Vec<Expr> = if call.path.is_ident("matches") {
            let (pattern, values) = call.parse_body_with(of_matches).expect("a value and a pattern");
            self.visit_pat(&pattern);
            values.into_iter().flatten().collect()
        } else {
            let values = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
            values.into_iter().flatten().collect()
        };
        values.iter().for_each(|value| self.visit_expr(value));
    }
}

/// Returns the code of the repository by path. Tests are left out.
fn code() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut code, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() && !["target", "tests"].contains(&name.as_str()) && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).expect("a text");
                code.push((path.strip_prefix(root).expect("within").to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    code
}

/// Returns what the files that speak of kinds name. They are read once.
fn found() -> &'static [(String, Found)] {
    static FOUND: OnceLock<Vec<(String, Found)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let is_named = |text: &str| ENUMS.iter().any(|(name, ..)| text.contains(name));
        let files = code().into_iter().filter(|(_, text)| is_named(text));
        files.map(|(path, text)| (path.clone(), Found::of(&path, &text))).collect()
    })
}

#[test]
fn no_match_on_kinds_has_an_arm_for_the_rest() {
    let found = found();
    let with_rest: Vec<String> = found
        .iter()
        .flat_map(|(path, found)| found.with_rest.iter().map(move |function| format!("{path}: {function}")))
        .collect();
    assert!(with_rest.is_empty(), "{with_rest:#?}");
}

#[test]
fn few_files_know_the_kinds() {
    let found = found();
    for (name, _, most) in ENUMS {
        let knowing: Vec<&String> =
            found.iter().filter(|(_, found)| found.known.contains(name)).map(|(path, _)| path).collect();
        assert!(!knowing.is_empty(), "no file names variants of {name}");
        assert!(knowing.len() <= most, "{} files name variants of {name}: {knowing:#?}", knowing.len());
    }
}

#[test]
fn arms_for_the_rest_are_found_in_all_their_forms() {
    let found = |code: &str| {
        let text = format!("use crate::ast::{{Expr, ExprKind as Kind}}; use super::Node; fn f() {{ {code} }}");
        let found = Found::of("a.rs", &text);
        (found.with_rest.len(), found.known.len())
    };
    for (arms, expected) in [
        ("Kind::Rule(_) => 1, _ => 2", (1, 1)),
        ("Kind::Rule(_) => 1, rest => 2", (1, 1)),
        ("Kind::Rule(_) => 1, Kind::Seq(_) | _ => 2", (1, 1)),
        ("Some(Kind::Rule(_)) => 1, None | Some(_) => 2", (1, 1)),
        ("Some(Kind::Rule(_)) => 1, Some(Kind::Seq(_)) => 2, None => 3", (0, 1)),
        ("(Kind::Rule(a), Kind::Rule(b)) => 1, (Kind::Rule(_) | Kind::Seq(_), _) => 2", (0, 1)),
        ("(1, Kind::Rule(a)) => 1, (_, _) => 2", (1, 1)),
        ("(1, Kind::Rule(a)) => 1, (..) => 2", (1, 1)),
        ("&ir::Composition::Rounds { min: 0, .. } => 1, other @ _ => 2", (1, 1)),
        ("Node::Bytes(_) => match kind { Kind::Seq(_) => 1, _ => 2 }, Node::Seq(_) => 1", (1, 2)),
        ("Other::Rule(_) => 1, _ => 2", (0, 0)),
    ] {
        assert_eq!(found(&format!("match value {{ {arms} }};")), expected, "{arms}");
    }
    assert_eq!(found("if let Kind::Rule(name) = kind {}"), (0, 1));
    assert_eq!(found("let Kind::Rule(name) = kind else { return };"), (0, 1));
    assert_eq!(found("assert!(matches!(kind, Kind::Rule(name) if name.is_empty()));"), (0, 1));
    assert_eq!(found("let kind = Kind::Rule(name);"), (0, 0));
    assert_eq!(found("assert!(match kind { Kind::Seq(_) => true, _ => false });"), (1, 1));
}
