//! `gramjet parse`.

use std::fs;

use super::{draw::refused, gramjet, place, run, stdout, text};

const NESTED: &str = "list ::= '[' (item (',' item)*)? ']'\nitem ::= [0-9]+ | list\n";

#[test]
fn choices_are_rendered_to_the_same_text() {
    let place = place("parse-choices");
    let (file, choices) = (place.path("in"), place.path("out"));
    for input in super::inputs_of(&place.generate(&["-n", "50", "--separator", "len32"])) {
        fs::write(&file, &input).unwrap();
        stdout(&["parse", place.grammar(), &file, "--choices", "-o", &choices]);
        assert_eq!(stdout(&["render", place.grammar(), &choices]), input);
    }
    // Strings of pools can lie beyond the depth limit; without a header the message names the limits that bring the
    // text back.
    let mut beyond = 0;
    for (name, seed) in ["json", "expr"].into_iter().flat_map(|name| ["1", "2", "3", "4", "5"].map(|seed| (name, seed)))
    {
        let input = stdout(&["gen", name, "--seed", seed, "--separator", "none"]);
        fs::write(&file, &input).unwrap();
        // Inputs of the grammar have no alternatives of weight 0.
        let generated = ["--zero-weights", "drop"];
        let parsed = run(&[&["parse", name, &file, "--choices", "--raw", "-o", &choices], &generated[..]].concat());
        assert!(parsed.status.success());
        let told = text(&parsed.stderr);
        let limits = told.split('`').find(|part| part.starts_with("--max-depth")).unwrap_or_default();
        beyond += u32::from(!limits.is_empty());
        let render: Vec<&str> = ["render", name, &choices].into_iter().chain(limits.split_whitespace()).collect();
        assert_eq!(stdout(&render), input, "{name}, seed {seed}: {told}");
    }
    assert!(beyond > 0, "no text beyond the limits was tried");
}

#[test]
fn the_json_grammar_takes_all_of_rfc_8259() {
    let place = place("parse-json");
    let file = place.path("in.json");
    let deep = format!("{{\n{}\"a\" : [ 1,\r\n\t2 ]}}\n\n", " ".repeat(300));
    let long = format!("[{}0]", "-0.5E+007, ".repeat(1000));
    let string = format!("\"{}\\\\\\/\\u00e9\u{7f}\u{1F600}\"", "x y".repeat(1000));
    let number = format!("{}.{}e-{}", "7".repeat(40), "0".repeat(400), "9".repeat(9));
    let members = format!("{{{}\"\":null,\"\":{{}}}}", "\"k\":[true,false],".repeat(500));
    let texts = [&deep, &long, &string, &number, &members, "[[],{}]", "{\"a\":1,\"b\":2}", "1.7976931348623157e308"];
    // What the RFC allows and readers differ on.
    for json in ["1e999", "-0.1E+12345", "[\"\\ud800\"]", "\u{feff}[]"] {
        fs::write(&file, json).unwrap();
        assert!(run(&["parse", "json", &file]).status.success(), "{json}");
        assert!(!run(&["parse", "json", &file, "--zero-weights", "drop"]).status.success(), "{json}");
    }
    for json in texts {
        assert!(serde_json::from_str::<serde_json::Value>(json).is_ok(), "{json}");
        fs::write(&file, json).unwrap();
        assert!(run(&["parse", "json", &file]).status.success(), "{json}");
    }
    for wrong in ["", "[1,]", "{a:1}", "[01]", "\"\t\"", "[1 2]", "[]\u{feff}", "nul", "'a'", "+1", ".5"] {
        fs::write(&file, wrong).unwrap();
        assert!(!run(&["parse", "json", &file]).status.success(), "{wrong}");
    }
}

#[test]
fn beyond_the_depth_limit_it_is_said_how_to_render() {
    let place = place("parse-deep");
    let (grammar, file, choices) = (place.path("nested.ebnf"), place.path("in"), place.path("out"));
    fs::write(&grammar, NESTED).unwrap();
    let input = [b"[".repeat(100), b"]".repeat(100)].concat();
    fs::write(&file, &input).unwrap();
    let uniform = ["--shape", "uniform"];
    let output = run(&[&["parse", &grammar, &file, "--choices", "--raw", "-o", &choices], &uniform[..]].concat());
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("render it with `--max-depth none --max-len none --max-choices"), "{said}");
    assert_eq!(stdout(&[&["render", &grammar, &choices, "--max-depth", "none"], &uniform[..]].concat()), input);
    // The weights that a grammar gets by default depend on the limits.
    let shaped = run(&["parse", &grammar, &file, "--choices", "--raw", "-o", &choices]);
    let said = text(&shaped.stderr);
    assert!(
        said.contains("mean this under weights of the shape target-size=1000 at a maximum depth of 32 alone"),
        "{said}"
    );
}

#[test]
fn trees() {
    let place = place("parse-trees");
    let (grammar, file) = (place.path("nested.ebnf"), place.path("in"));
    fs::write(&grammar, NESTED).unwrap();
    fs::write(&file, "[1,[]]").unwrap();
    expect_test::expect![[r#"
        list 0..6 "[1,[]]"
          item 1..2 "1"
          item 3..5 "[]"
            list 3..5 "[]"
    "#]]
    .assert_eq(&text(&stdout(&["parse", &grammar, &file, "--tree"])));
    let json: serde_json::Value = serde_json::from_slice(&stdout(&["parse", &grammar, &file, "--json"])).unwrap();
    assert_eq!((&json["rule"], &json["start"], &json["end"]), (&"list".into(), &0.into(), &6.into()));
    let items = json["children"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    assert_eq!(items[1]["children"][0]["rule"], "list");
    assert_eq!(items[0]["choices"].as_array().unwrap().len(), 2);
}

#[test]
fn trees_as_pictures() {
    let place = place("parse-pictures");
    let (grammar, file, picture) = (place.path("nested.ebnf"), place.path("in"), place.path("tree.svg"));
    fs::write(&grammar, NESTED).unwrap();
    fs::write(&file, "[1,[]]").unwrap();
    let drawn = stdout(&["parse", &grammar, &file, "--svg"]);
    assert!(text(&drawn).starts_with("<svg ") && text(&drawn).contains(">item \u{203A} list<"), "{}", text(&drawn));
    stdout(&["parse", &grammar, &file, "--tree", "-o", &picture]);
    assert_eq!(fs::read(&picture).unwrap(), drawn);
    let folder = place.path("pictures/");
    stdout(&["parse", &grammar, &file, &picture.replace("tree.svg", "in"), "--svg", "-o", &folder]);
    assert_eq!(fs::read(format!("{folder}in.svg")).unwrap(), drawn);
    refused(
        &["parse", &grammar, &file, &file, "--tree", "-o", &picture],
        &format!("gramjet: `{picture}` can show the tree of one file: use `--svg -o DIR/` for several"),
    );
    refused(
        &["parse", &grammar, &file, &file, "--svg"],
        "gramjet: `--svg` of several files needs a directory: `-o DIR/`",
    );
}

#[test]
fn what_does_not_conform_is_told_and_the_rest_is_done() {
    let place = place("parse-wrong");
    let (grammar, good, bad) = (place.path("nested.ebnf"), place.path("good"), place.path("bad"));
    fs::write(&grammar, NESTED).unwrap();
    fs::write(&good, "[7]").unwrap();
    fs::write(&bad, "[7,\n é]").unwrap();
    assert!(stdout(&["parse", &grammar, &good]).is_empty());
    let output = run(&["parse", &grammar, &good, &bad, "-v"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("good` conforms: 3 bytes, "), "{said}");
    assert!(
        said.contains(
            "bad:1:4: byte 3: expected [0-9] or \"[\", found the byte 0x0A\n  in `list`, which begins at 1:1"
        )
    );
    assert!(said.contains("gramjet: 1 of 2 files were not parsed"), "{said}");
    // A text that is read from standard input.
    fs::write(&bad, "[").unwrap();
    let stdin = fs::File::open(&bad).unwrap();
    let output = gramjet().args(["parse", &grammar, "-"]).stdin(stdin).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("<stdin>:1:2: byte 1: expected "), "{}", text(&output.stderr));
}

#[test]
fn several_files_go_to_a_directory() {
    let place = place("parse-many");
    let (grammar, folder) = (place.path("nested.ebnf"), place.path("streams/"));
    fs::write(&grammar, NESTED).unwrap();
    let files: Vec<String> = ["[]", "[1]"]
        .iter()
        .enumerate()
        .map(|(number, content)| {
            let file = place.path(&format!("in{number}"));
            fs::write(&file, content).unwrap();
            file
        })
        .collect();
    let refused = run(&["parse", &grammar, &files[0], &files[1], "--choices"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("`-o DIR/`"));
    stdout(&["parse", &grammar, &files[0], &files[1], "--choices", "-o", &folder]);
    for (number, content) in ["[]", "[1]"].iter().enumerate() {
        let choices = place.path(&format!("streams/in{number}.choices"));
        assert_eq!(text(&stdout(&["render", &grammar, &choices])), *content);
    }
}

#[test]
fn budgets_are_kept() {
    let place = place("parse-budget");
    let (grammar, file) = (place.path("ambiguous.ebnf"), place.path("in"));
    fs::write(&grammar, "s ::= s s | 'a' | ''\n").unwrap();
    fs::write(&file, "a".repeat(3000)).unwrap();
    let output = run(&["parse", &grammar, &file, "--max-steps", "1M"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("too ambiguous for this text; `--max-steps` raises the bound"));
}

#[test]
fn files_of_the_same_name_do_not_overwrite_each_other() {
    let place = place("parse-same");
    let (grammar, folder) = (place.path("nested.ebnf"), place.path("out/"));
    fs::write(&grammar, NESTED).unwrap();
    for (directory, content) in [("a", "[1]"), ("b", "[22]"), ("c", "[]")] {
        fs::create_dir_all(place.path(directory)).unwrap();
        fs::write(place.path(&format!("{directory}/x")), content).unwrap();
    }
    fs::write(place.path("c/x-2"), "[[]]").unwrap();
    let files = ["a/x", "b/x", "c/x-2", "c/x"].map(|file| place.path(file));
    stdout(&["parse", &grammar, "--choices", "-o", &folder, &files[0], &files[1], &files[2], &files[3]]);
    for (name, content) in [("x", "[1]"), ("x-2", "[22]"), ("x-2-2", "[[]]"), ("x-3", "[]")] {
        let choices = place.path(&format!("out/{name}.choices"));
        assert_eq!(text(&stdout(&["render", &grammar, &choices])), content, "{name}");
    }
}

#[test]
fn files_that_cannot_be_read_are_told_and_the_rest_is_done() {
    let place = place("parse-missing");
    let (grammar, good) = (place.path("nested.ebnf"), place.path("good"));
    fs::write(&grammar, NESTED).unwrap();
    fs::write(&good, "[7]").unwrap();
    let output = run(&["parse", &grammar, &place.path("missing"), &good, "--tree"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("list 0..3"), "{}", text(&output.stdout));
    let said = text(&output.stderr);
    assert!(said.contains("cannot read") && said.contains("1 of 2 files were not parsed"), "{said}");
}

const CALLS: &str = r#"grammar Calls;
calls : call* EOF ;
call : 'call' ID ('(' (expr (',' expr)*)? ')')? ';' ;
expr : ID | INT | STRING | '-' expr | expr '+' expr ;
ID : [a-z]+ ;
INT : [0-9]+ ;
STRING : '"' ~["\r\n]* '"' ;
BLOCK : '/*' .*? '*/' -> skip ;
LINE : '//' ~[\r\n]* -> channel(HIDDEN) ;
WS : [ \t\r\n]+ -> skip ;
"#;

#[test]
fn hidden_matches_that_may_go_on_are_read_wherever_they_end() {
    let place = place("parse-others-ends");
    let (grammar, file) = (place.path("Names.g4"), place.path("in"));
    for (hidden, input) in [
        ("WS : ' '+ '\\n'? -> skip ;", "a b"),
        ("WS : [ \\n]+ -> skip ; B : '/*' .*? '*/' '\\n'? -> skip ;", "a /* x */ b /* y */\nc"),
        ("WS : [ \\n]+ -> skip ; D : '--' ('[[' .*? ']]' | ~[\\r\\n]*) -> skip ;", "a -- x\nb --[[ y\n]] c"),
        ("NL : ('\\r' '\\n'? | '\\n') -> skip ;", "a\rb\r\nc\nd"),
        ("C : '#' [0-9]* '!'? -> skip ;", "a#12 b#3!c"),
    ] {
        let spaces = if hidden.contains("WS") { "" } else { "S : ' ' -> skip ;" };
        fs::write(&grammar, format!("grammar Names; names : NAME* EOF ; NAME : [a-z] ; {hidden} {spaces}")).unwrap();
        fs::write(&file, input).unwrap();
        let parsed = run(&["parse", &grammar, &file]);
        assert!(parsed.status.success(), "{hidden} {input:?} {}", text(&parsed.stderr));
    }
}

/// A grammar reads more than it makes: alternatives of weight 0 are for texts.
#[test]
fn alternatives_of_weight_0_are_for_texts() {
    let place = place("parse-zero-weights");
    let (grammar, file, choices) = (place.path("pairs.ebnf"), place.path("in"), place.path("out"));
    fs::write(
        &grammar,
        "pairs ::= (pair #xA)+\npair ::= [a-z]{1,4} s '=' s [0-9]+\ns ::= ' ' | blank* @ 0\nblank ::= [ \t]\n",
    )
    .unwrap();
    let input = "ab=1\nc \t=  22\nd = 3\n";
    fs::write(&file, input).unwrap();
    stdout(&["parse", &grammar, &file, "--choices", "-o", &choices]);
    assert_eq!(stdout(&["render", &grammar, &choices]), input.as_bytes());
    assert!(!run(&["parse", &grammar, &file, "--zero-weights", "drop"]).status.success());
    let made = text(&stdout(&["gen", &grammar, "-n", "200", "--seed", "1", "--separator", "none"])).to_string();
    assert!(made.lines().all(|line| line.contains(" = ")), "{made}");
    // Variants have the blanks of the file, or those that the grammar makes.
    let variants = text(&stdout(&["mutate", &grammar, &file, "-n", "200", "--separator", "none"])).to_string();
    assert!(
        variants.lines().any(|line| line.contains("\t=")) && variants.lines().any(|line| line.contains(" = ")),
        "{variants}"
    );
    let parsed = run(&["parse", &grammar, &file, "--choices", "--raw", "-o", &choices]);
    assert!(text(&parsed.stderr).contains("--zero-weights keep"), "{}", text(&parsed.stderr));
    assert_eq!(stdout(&["render", &grammar, &choices, "--zero-weights", "keep"]), input.as_bytes());
    let misspelt = run(&["parse", &grammar, &file, "--zero-weights", "kep"]);
    assert_eq!(misspelt.status.code(), Some(2));
    stdout(&["parse", &grammar, &file, "--choices", "-o", &choices]);
    let refused = run(&["render", &grammar, &choices, "--zero-weights", "drop"]);
    assert!(text(&refused.stderr).contains("the setting of zero weights was `keep`"), "{}", text(&refused.stderr));
}

#[test]
fn hidden_text_through_other_modes_ends_where_the_lexer_ends_it() {
    let place = place("parse-modes");
    let (grammar, lexer, file) = (place.path("Nested.g4"), place.path("NestedLexer.g4"), place.path("in"));
    let rules = "A : 'a' ; WS : ' ' -> skip ; OPEN : '/*' -> skip, pushMode(C) ; HASH : '#' -> skip, pushMode(D) ; \
                 mode C ; MORE : '/*' -> skip, pushMode(C) ; END : '*/' -> skip, popMode ; ANY : . -> skip ; \
                 mode D ; LONG : '<!--' -> skip ; LINE : '\\n' -> skip, popMode ; OTHER : ~'\\n' -> skip ;";
    fs::write(&lexer, format!("lexer grammar NestedLexer; {rules}")).unwrap();
    fs::write(&grammar, "parser grammar Nested; options { tokenVocab = NestedLexer; } s : A+ EOF ;").unwrap();
    let parses = |input: &str| {
        fs::write(&file, input).unwrap();
        run(&["parse", &grammar, &file]).status.success()
    };
    for right in ["a a", "a /* x */ a", "a/* /* y */ **/a", "/**/a", "a # <!-a <!-- *\n a", "a /*/ * /*/*//**/*/*/*/ a"]
    {
        assert!(parses(right), "{right:?}");
    }
    for wrong in ["a /* x */ a */ a", "a /* /* */ a", "a /*/ a", "a /* # */ a */", "a # \n */ a"] {
        assert!(!parses(wrong), "{wrong:?}");
    }
}

/// Texts have blanks and comments where their authors like, the grammar generates few of them.
#[test]
#[ignore = "run by ci/test"]
fn texts_of_others_have_hidden_matches_anywhere() {
    let place = place("parse-others");
    let (grammar, file, choices) = (place.path("Calls.g4"), place.path("in"), place.path("out"));
    fs::write(&grammar, CALLS).unwrap();
    let texts = [
        "",
        " // nothing",
        "/**/\ncall a;\n",
        "call\tf ( 1,2 , \"x \u{e9}\t\" ) ;",
        "// first\r\n\ncall/* between */g(-  7+x)\n\n;  // last",
        "call a(b/* ** / */,c);call d;//",
        "call a(1+- 2 //\n+/*\n*/3);",
    ];
    for input in texts {
        fs::write(&file, input).unwrap();
        stdout(&["parse", &grammar, &file, "--choices", "-o", &choices]);
        assert_eq!(stdout(&["render", &grammar, &choices]), input.as_bytes(), "{input:?}");
        let parsed = run(&["parse", &grammar, &file, "--choices", "--raw", "-o", &choices]);
        let said = text(&parsed.stderr);
        assert!(parsed.status.success() && said.contains("--separator-policy any"), "{input:?} {said}");
        let with_any = ["--separator-policy", "any", "--shape", "uniform"];
        stdout(&[&["parse", &grammar, &file, "--choices", "--raw", "-o", &choices], &with_any[..]].concat());
        let rendered = stdout(&[&["render", &grammar, &choices, "--max-depth", "none"], &with_any[..]].concat());
        assert_eq!(rendered, input.as_bytes(), "{input:?}");
        assert!(run(&["mutate", &grammar, &file, "-n", "5", "--seed", "1"]).status.success(), "{input:?}");
    }
    for wrong in ["calla;", "call a", "call a(1 2);", "call a; /*", "call a('x');", "call 1;"] {
        fs::write(&file, wrong).unwrap();
        assert!(!run(&["parse", &grammar, &file]).status.success(), "{wrong:?}");
    }
    // The inputs that the grammar generates conform, too, and a grammar read as for generating parses them.
    for policy in ["auto", "space", "any"] {
        let input =
            stdout(&["gen", &grammar, "-n", "1", "--seed", "3", "--separator-policy", policy, "--separator", "none"]);
        fs::write(&file, &input).unwrap();
        assert!(run(&["parse", &grammar, &file]).status.success(), "{policy} {}", text(&input));
    }
    fs::write(&file, "call  a ;").unwrap();
    assert!(!run(&["parse", &grammar, &file, "--separator-policy", "auto"]).status.success());
}

/// Checks a table of a file whose stream is not the one that gramjet writes: its places are those in the file.
#[test]
fn a_table_says_what_stands_where() {
    let place = place("parse-annotate");
    let (grammar, file) = (place.path("packed.ebnf"), place.path("in"));
    let rules = "file ::= name $u16be(len(p)) p:$zlib(d:line+) $u32be(crc32(d)) end\n\
        name ::= [a-z]{2}\nline ::= [a-z]* #x1B\nend ::= '.' '.'?\n";
    fs::write(&grammar, rules).unwrap();
    // A stored block of four bytes.
    let stream = b"\x78\x01\x01\x04\0\xFB\xFFab\x1B\x1B\x02\xFF\x00\xFA";
    fs::write(&file, [&b"xy\0\x0F"[..], stream, b"\xCA\xDE\x52\x42.."].concat()).unwrap();
    let table = text(&stdout(&["parse", &grammar, &file, "--annotate"]));
    let lines: Vec<String> = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expected in [
        "0 78 79 name \"xy\"",
        "2 00 0f $u16be(len(p)) 15",
        "4 78 01 01 04 00 fb ff 61 .. $zlib stands for 4 bytes",
        "+0 61 62 1b line",
        "+3 1b line",
        "19 ca de 52 42 $u32be(crc32(d)) 0xCADE5242",
        "23 2e 2e end \"..\"",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected:?} in\n{table}");
    }
    assert!(!table.contains('\x1B'), "{table}");
    // With a wrong checksum, the table is of the text with the right one.
    fs::write(&file, [&b"xy\0\x0F"[..], stream, b"\xCA\xDE\x52\x43.."].concat()).unwrap();
    let repaired = text(&stdout(&["parse", &grammar, &file, "--repair", "--annotate"]));
    assert!(repaired.contains("0xCADE5242"), "{repaired}");
}

/// Writes archives and an image by other programs: all forms of tar, methods of ZIP in any order, an image in chunks.
const OTHERS: &str = "
import io, struct, sys, tarfile, zipfile, zlib

class Pipe(io.RawIOBase):
    def __init__(self, path):
        self.file = open(path, 'wb')
    def writable(self):
        return True
    def write(self, data):
        return self.file.write(data)

place = sys.argv[1]
for name, form in [('ustar', tarfile.USTAR_FORMAT), ('gnu', tarfile.GNU_FORMAT), ('pax', tarfile.PAX_FORMAT)]:
    with tarfile.open(place + name + '.tar', 'w', format=form) as archive:
        for member in ['a.txt', 'd\\u00e9/' + 'long' * 30 if name != 'ustar' else 'b']:
            entry = tarfile.TarInfo(member)
            entry.size, entry.uname = 3, 'me'
            archive.addfile(entry, io.BytesIO(b'abc'))
for name, file in [('files', open(place + 'files.zip', 'wb')), ('streams', Pipe(place + 'streams.zip'))]:
    with zipfile.ZipFile(file, 'w') as archive:
        archive.comment = b'said'
        for number in range(5):
            method = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][number % 2]
            archive.writestr(f'd{number}/', '', compress_type=zipfile.ZIP_STORED)
            archive.writestr(f'd{number}/f', 'words ' * 20 * number, compress_type=method)
def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
rows = zlib.compress(b'\\0\\1\\2\\3' * 50)
with open(place + 'chunks.png', 'wb') as file:
    file.write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 3, 50, 8, 0, 0, 0, 0)))
    file.write(chunk(b'exAm', b'x') + chunk(b'IDAT', rows[:9]) + chunk(b'IDAT', rows[9:]) + chunk(b'IEND', b''))
";

#[test]
fn files_of_other_programs_come_back() {
    if !gramjet_needs::has_for_a_part("python3") {
        return;
    }
    let place = place("parse-binary");
    let made = std::process::Command::new("python3").args(["-c", OTHERS, &place.path("")]).status().unwrap();
    assert!(made.success());
    for name in ["ustar.tar", "gnu.tar", "pax.tar", "files.zip", "streams.zip", "chunks.png"] {
        let (file, choices) = (place.path(name), place.path("choices"));
        let grammar = &name[name.len() - 3..];
        stdout(&["parse", grammar, &file, "--choices", "-o", &choices]);
        assert!(stdout(&["render", grammar, &choices]) == fs::read(&file).unwrap(), "{name}");
        let generated = run(&["parse", grammar, &file, "--zero-weights", "drop"]);
        assert!(!generated.status.success(), "{name} has nothing that is only read");
    }
}
