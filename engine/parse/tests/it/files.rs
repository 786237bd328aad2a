//! Constructs of files that people have, which the shipped grammars read and do not make.

use gramjet_parse::{Budget, Parser};

use crate::kit::{check_inverse, shipped_to_read};

/// Scripts of the shell, each with a construct. `dash -n` accepts them all.
const SCRIPTS: [&str; 30] = [
    // Delimiters of here-documents.
    "cat <<ENDHELP\nSYNOPSIS\nENDHELP\necho\n",
    "cat << _end_of_file_ > \"$x\"\nEOF\n_end_of_file_\n",
    "cat <<'EOS'\nEOF\nEOS x\nEOS\n",
    "cat <<-\\HELP\n\tH\u{e9}\n\tHELP\n",
    "cat <<DATA\nEND\nData\nDATA\n",
    "cat <<eof\nif a\nthen\nfi\neof\n",
    "cat <<'!'\n!a b\n!\n",
    ": <<=cut\n\n=head1 NAME\n\n=back\n\n=cut\n",
    // What follows a here-document in its line, and what is before it.
    "(cat <<'EOF' &&\n#!/bin/sh\nEOF\necho) > x\n",
    "cat > x <<\\EOF ||\na\nEOF\nexit 1\n",
    "cat <<EOF # why\na\nEOF\n",
    "cat <<EOF; exit 0 # why\na\nEOF\n",
    "a &&\n# why\nb &&\ncat <<EOF\nx\nEOF\n",
    // Dollar signs that stand for themselves.
    "a | grep x$ | b $\n",
    "rm $(ls | grep -v ^a$)\n",
    "echo \"a$\\\" $'b\"\n",
    "x=y$; test $x = a$/b -o $x = $\"c\"\n",
    // Comments directly after a sign.
    "exit 0 ;# why\n",
    "a &# why\n",
    "(# why\na)\n",
    "case $a in\nb)# why\nc;;# why\nesac\n",
    "a |# why\nb\n",
    "for a in b;# why\ndo c; done\n",
    // Reserved words directly after what closes a command.
    "if a; then { b; } fi\n",
    "if (a) then b; fi\n",
    "for a in b; do for c in d; do e; done done\n",
    "f() { if a; then case b in c) (d) esac fi }\n",
    "if ! a | { b; } then c; else (d)fi\n",
    // Redirections of a function.
    "f() { a; } > b 2>&1\n",
    "f () ( a ) <b\n",
];

#[test]
fn scripts_of_the_shell() {
    let read = shipped_to_read("sh");
    let parser = Parser::new(&read.lowered);
    for script in SCRIPTS {
        check_inverse(&read, &parser, script.as_bytes(), &|| script.to_string());
    }
}

/// A here-document has an end, which is a whole line and of the kind of its delimiter. A subshell has a command.
#[test]
fn scripts_that_are_wrong() {
    let parser = Parser::new(&shipped_to_read("sh").lowered);
    let ends = ["cat <<EOF\na\n", "cat <<EOF\nEOF2\n", "cat <<DATA\nEOF\n", "cat <<_a\n_a b\n", "cat <<=cut\n=cut 1\n"];
    for script in ends.into_iter().chain(["()\n", "( )\n", "if a; then b; c fi\n"]) {
        assert!(parser.parse(script.as_bytes(), &Budget::default()).is_err(), "{script}");
    }
}

/// Methods whose names begin with a sign directly after a word, as in minified files.
#[test]
fn methods_without_blanks() {
    let class = "class A{async#q(t){}async['x'](){}static async#r(){}get#g(){}}";
    let object = "x={async[a](){},async'b'(){}}";
    for name in ["javascript", "typescript"] {
        let read = shipped_to_read(name);
        let parser = Parser::new(&read.lowered);
        for text in [class, object] {
            check_inverse(&read, &parser, text.as_bytes(), &|| name.to_string());
        }
    }
}

/// Returns a ZIP archive of streamed files with these data: their sizes stand after them.
fn streamed(files: &[Vec<u8>]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    let number = |archive: &mut Vec<u8>, number: usize| archive.extend((number as u32).to_le_bytes());
    for data in files {
        let at = archive.len();
        archive.extend(*b"PK\x03\x04\x14\0\x08\0\x08\0");
        archive.extend([0; 16]);
        archive.extend(*b"\x01\0\0\0f");
        archive.extend(data);
        archive.extend(*b"PK\x07\x08\0\0\0\0");
        number(&mut archive, data.len());
        number(&mut archive, data.len());
        directory.extend(*b"PK\x01\x02\x14\0\x14\0\x08\0\x08\0");
        directory.extend([0; 16]);
        directory.extend(*b"\x01\0\0\0\0\0");
        directory.extend([0; 8]);
        number(&mut directory, at);
        directory.push(b'f');
    }
    let at = archive.len();
    archive.extend(&directory);
    archive.extend(*b"PK\x05\x06\0\0\0\0");
    archive.extend((files.len() as u16).to_le_bytes());
    archive.extend((files.len() as u16).to_le_bytes());
    number(&mut archive, directory.len());
    number(&mut archive, at);
    archive.extend([0; 2]);
    archive
}

/// A streamed file ends at its signature, so what follows in the archive is not read once for each file.
#[test]
fn streamed_files_of_archives_take_linear_steps() {
    let read = shipped_to_read("zip");
    let parser = Parser::new(&read.lowered);
    let steps = |files: usize| {
        let archive = streamed(&vec![vec![b'x'; 300]; files]);
        parser.parse(&archive, &Budget::default()).expect("an archive").work.steps
    };
    let (few, many) = (steps(8), steps(32));
    assert!(many < 6 * few, "{few} steps, then {many}");
}

/// Bytes that begin like the signature of sizes are data.
#[test]
fn streamed_files_with_parts_of_a_signature() {
    let read = shipped_to_read("zip");
    let parser = Parser::new(&read.lowered);
    let texts: [&[u8]; 8] =
        [b"", b"P", b"PK", b"PK\x07", b"PPK\x07PK\x07PKP", b"PKK\x07\x08P\x07", b"PK\x07PK\x07x", b"KPKPK\x07\x07"];
    let files: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
    let archive = streamed(&files);
    let parsed = parser.parse(&archive, &Budget::default()).expect("an archive");
    assert!(!parsed.choices.is_empty());
    for data in files {
        check_inverse(&read, &parser, &streamed(std::slice::from_ref(&data)), &|| data.escape_ascii().to_string());
    }
}
