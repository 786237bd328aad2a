//! No struct has more fields than a reader keeps in mind: what lives shorter, or belongs together, is a struct of its
//! own.

use std::fs;
use std::path::{Path, PathBuf};

const MOST: usize = 15;

/// Structs with more fields, by their files, and the reason. Arguments of commands are a field each: they need none.
const EXCEPTIONS: [(&str, &str, &str); 15] = [
    ("compiler/src/tokens/nfa.rs", "Building", LATER),
    ("compiler/src/tokens/modes.rs", "Flattening", LATER),
    ("compiler/src/tokens/layout/mod.rs", "Writer", LATER),
    ("feedback/campaign/src/costly/hunt.rs", "Hunt", LATER),
    ("feedback/campaign/src/costly/hunt.rs", "Plan", LATER),
    ("feedback/campaign/src/failing/campaign.rs", "Campaign", LATER),
    ("feedback/campaign/src/failing/campaign.rs", "Plan", LATER),
    ("feedback/campaign/src/failing/campaign.rs", "Shared", LATER),
    ("feedback/campaign/src/failing/worker.rs", "Worker", LATER),
    ("feedback/search/src/fuzzer.rs", "Fuzzer", LATER),
    ("feedback/search/src/report/data.rs", "Report", "the fields of a file that is written and read"),
    ("feedback/search/src/search.rs", "Search", LATER),
    ("feedback/search/src/strategies/portfolio.rs", "Portfolio", LATER),
    ("feedback/search/src/strategies/portfolio/archive.rs", "Archive", LATER),
    ("feedback/campaign/src/strategies/slackline.rs", "SlackLine", LATER),
];

const LATER: &str = "it is still to be cut along the lifetimes of its fields";

/// Returns the structs of a source with named fields, and how many fields each has.
fn structs(source: &str) -> Vec<(&str, usize)> {
    let mut lines = source.lines();
    let mut structs = Vec::new();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let Some((before, after)) = line.trim_start().split_once("struct ") else { continue };
        if !(before.is_empty() || before.starts_with("pub")) || !line.ends_with('{') {
            continue;
        }
        let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let body = lines.by_ref().take_while(|line| line.trim() != "}" || line.len() > indent + 1);
        let is_field = |line: &&str| {
            let at = line.len() - line.trim_start().len();
            let field = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(super) ");
            let field = field.trim_start_matches("pub(crate) ").trim_start_matches("r#");
            at == indent + 4
                && field.starts_with(|c: char| c.is_ascii_lowercase())
                && field
                    .split_once(": ")
                    .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        };
        structs.push((name, body.filter(is_field).count()));
    }
    structs
}

fn sources(root: &Path) -> Vec<PathBuf> {
    let (mut sources, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                let is_left_out = name.starts_with('.') || name == "target" || name == "node_modules";
                folders.extend((!is_left_out).then_some(path));
            } else if name.ends_with(".rs") {
                sources.push(path);
            }
        }
    }
    sources
}

#[test]
fn structs_have_at_most_15_fields() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut looked_at, mut large) = (0, Vec::new());
    for path in sources(root) {
        let source = fs::read_to_string(&path).expect("a text");
        let file = path.strip_prefix(root).expect("within").display().to_string().replace('\\', "/");
        let is_of_command = |name: &str| file.starts_with("cli/") && (name == "Arguments" || name.ends_with("Args"));
        for (name, fields) in structs(&source) {
            looked_at += 1;
            if fields > MOST && !is_of_command(name) {
                large.push((file.clone(), name.to_string()));
            }
        }
    }
    assert!(looked_at > 500, "{looked_at}");
    let is_known = |file: &str, name: &str| EXCEPTIONS.iter().any(|known| (known.0, known.1) == (file, name));
    let unknown: Vec<_> = large.iter().filter(|(file, name)| !is_known(file, name)).collect();
    assert!(unknown.is_empty(), "cut these structs along the lifetimes of their fields: {unknown:?}");
    let is_large =
        |known: &&(&str, &str, &str)| large.iter().any(|(file, name)| (&**file, &**name) == (known.0, known.1));
    let small: Vec<_> = EXCEPTIONS.iter().filter(|known| !is_large(known)).collect();
    assert!(small.is_empty(), "these are no exceptions any more: {small:?}");
}

#[test]
fn fields_are_counted() {
    let source = "pub(crate) struct One<'a> {\n    /// A: b.\n    a: &'a str,\n    pub(super) b_2: Vec<u8>,\n}\n\
                  struct Unit;\nmod m {\n    pub struct Two {\n        pub r#in: u8,\n    }\n}\nstruct Tuple(u8);\n";
    assert_eq!(structs(source), [("One", 2), ("Two", 1)]);
}
