//! The producers in `generated/` are what the Rust backend makes of the shipped grammars today.

use std::path::Path;

use gramjet_compiler::backend::rust::{EmitOptions, emit};
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_generated::SHIPPED;

#[test]
fn generated_producers_are_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for shipped in SHIPPED {
        let file = SourceFile::new(format!("{}.ebnf", shipped.name), shipped.text);
        let (compiled, _) =
            compile(&file, &Options::default()).unwrap_or_else(|errors| panic!("{}", errors.to_plain_text(&file)));
        let header = format!(
            "// Made from grammars/{}.ebnf; to renew it, run `GRAMJET_BLESS=1 cargo test --test it generated`.\n",
            shipped.name
        );
        let fresh = header + &emit(&compiled, &EmitOptions::default());
        let path = root.join(format!("generated/src/{}.rs", shipped.name));
        if std::env::var_os("GRAMJET_BLESS").is_some() {
            std::fs::write(&path, fresh).expect("the workspace can be written");
        } else {
            let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                checked_in == fresh,
                "{} is stale; run GRAMJET_BLESS=1 cargo test --test it generated",
                path.display()
            );
        }
    }
}
