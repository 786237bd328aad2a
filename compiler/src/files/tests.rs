//! Tests of the files beside a grammar file, and of the messages on files that cannot be read.

use std::path::PathBuf;

use super::*;

/// Returns a folder for temporary files of one test.
fn place(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("gramjet-files-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary directory");
    folder
}

#[test]
fn files_come_with_those_beside_them() {
    let folder = place("beside");
    let path = folder.join("list.g4");
    fs::write(&path, "grammar list; import items;").expect("a file");
    fs::write(folder.join("items.g4"), "grammar items;").expect("a file");
    let file = GrammarFile::read_as(&path, Path::new("here/list.g4")).expect("a grammar");
    assert_eq!(file.source.name(), "here/list.g4");
    let loader = file.loader().expect("files have a folder");
    let items = loader.load("items.g4").expect("it is there");
    assert_eq!((items.name(), items.text()), ("here/items.g4", "grammar items;"));
    assert!(loader.load("others.g4").is_err());
    // Whether there is a file is not recorded: what is built does not depend on it.
    assert!(loader.has("items.g4") && loader.has("list.g4") && !loader.has("more.g4"));
    fs::write(folder.join("bad.g4"), b"\xff").expect("a file");
    let said = loader.load("bad.g4").expect_err("no text");
    assert_eq!(said, "it is not UTF-8 text: byte 0xff at offset 0 (line 1)");
    assert_eq!(file.others(), [folder.join("items.g4")]);
    assert_eq!(file.unread(), [folder.join("others.g4"), folder.join("bad.g4")]);
    assert!(GrammarFile::text("<text>", "").loader().is_none());
    fs::remove_dir_all(&folder).expect("it was made above");
}

#[test]
fn what_cannot_be_read_says_why_and_where() {
    let folder = place("unreadable");
    let path = folder.join("x.ebnf");
    let refusal = |path: &Path| GrammarFile::read_as(path, Path::new("x.ebnf")).expect_err("it cannot be read");
    assert!(refusal(&path).to_string().starts_with("cannot read the grammar `x.ebnf`: "));
    assert_eq!(refusal(&folder).to_string(), "cannot read the grammar `x.ebnf`: it is a directory");
    fs::write(&path, b"a = 'b';\nc = '\xff';").expect("a file");
    let unreadable = refusal(&path);
    let text = unreadable.diagnostic.to_plain_text(&unreadable.source);
    let expected = "x.ebnf:2:6: error[unreadable-file]: cannot read the grammar `x.ebnf`: it is not UTF-8 text: byte 0xff \
                    at offset 14 (line 2)\n";
    assert!(text.starts_with(expected), "{text}");
    // An endless stream is read up to one byte over the limit.
    let said = GrammarFile::read_stream(io::repeat(b' '), "<stdin>").expect_err("it is endless").to_string();
    assert_eq!(said, "cannot read the grammar `<stdin>`: it is larger than 256 MiB");
    fs::remove_dir_all(&folder).expect("it was made above");
}

#[test]
fn names_are_of_files_first() {
    let folder = place("names");
    fs::write(folder.join("file"), "").expect("a file");
    let shipped = |name: &str| (name == "json").then_some(());
    let found = |path: &Path| look_up(path.as_os_str(), shipped);
    assert_eq!(found(&folder.join("file")), Named::File);
    assert_eq!(found(&folder), Named::File);
    assert_eq!(found(&folder.join("json")), Named::Nothing);
    assert_eq!(look_up("json".as_ref(), shipped), Named::Shipped(()));
    // A path is never the name of a shipped grammar.
    assert_eq!(look_up("./no/json".as_ref(), |_| Some(())), Named::Nothing);
    assert_eq!(look_up("".as_ref(), shipped), Named::Nothing);
    fs::remove_dir_all(&folder).expect("it was made above");
}
