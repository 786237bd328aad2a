//! The header is made from the crate, and is the one that is checked in.

use std::path::Path;

#[test]
fn the_header_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("the configuration");
    let sources = ["calls", "bytes", "grammar", "session"].map(|module| root.join(format!("src/{module}.rs")));
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(source);
    }
    let mut header = Vec::new();
    builder.generate().expect("a header").write(&mut header);
    let header = without_safety(&String::from_utf8(header).expect("UTF-8 text"));
    let path = root.join("include/gramjet.h");
    if std::env::var_os("GRAMJET_BLESS").is_some() {
        std::fs::write(&path, header).expect("the workspace can be written");
        return;
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        header == checked_in,
        "include/gramjet.h is stale; run GRAMJET_BLESS=1 cargo test -p gramjet-capi --test it header"
    );
}

/// C takes for granted what Rust documents of unsafe functions: these sections are left out, with the line before them.
fn without_safety(header: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_within = false;
    for line in header.lines() {
        if line == "// # Safety" {
            is_within = true;
            kept.pop();
        }
        is_within &= line.starts_with("//");
        if !is_within {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}
