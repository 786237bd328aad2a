//! The producers in `generated/` are the current output of the Rust backend for the shipped grammars, and all shipped
//! grammars compile without a warning. The test links no producer, so it can renew them when they no longer compile.

use std::path::Path;
use std::{env, fs};

use gramjet_compiler::backend::rust::{EmitOptions, emit};
use gramjet_compiler::{Options, SourceFile, compile};

const COMMAND: &str = "GRAMJET_BLESS=1 cargo test -p gramjet-compiler --test it generated";

#[test]
fn generated_producers_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut grammars: Vec<String> = fs::read_dir(root.join("grammars"))
        .expect("the grammars are there")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".ebnf").map(String::from))
        .collect();
    grammars.sort();
    let mut producers = 0;
    for name in grammars {
        let text = fs::read_to_string(root.join(format!("grammars/{name}.ebnf"))).expect("a grammar");
        let file = SourceFile::new(format!("{name}.ebnf"), text);
        let (compiled, warnings) =
            compile(&file, &Options::default()).unwrap_or_else(|errors| panic!("{}", errors.to_plain_text(&file)));
        assert!(warnings.is_empty(), "{}", warnings.to_plain_text(&file));
        let path = root.join(format!("generated/src/{name}.rs"));
        if !path.exists() {
            continue;
        }
        let header = format!("// Made from grammars/{name}.ebnf; to renew it, run `{COMMAND}`.\n");
        let fresh = header + &emit(&compiled, &EmitOptions::default());
        producers += 1;
        if env::var_os("GRAMJET_BLESS").is_some() {
            fs::write(&path, fresh).expect("the workspace can be written");
        } else {
            let checked_in = fs::read_to_string(&path).unwrap_or_default();
            assert!(checked_in == fresh, "generated/src/{name}.rs is stale; run {COMMAND}");
        }
    }
    assert_eq!(producers, 2, "expr and json");
}
