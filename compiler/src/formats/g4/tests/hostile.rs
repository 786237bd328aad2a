//! Hostile and mutated texts; the sample of public grammars, if present.

use gramjet_testkit::amount::part;

use super::*;

#[test]
fn hostile_texts() {
    let length = part(2_000_000) as usize;
    let fill = |unit: &str| unit.repeat(length / unit.len());
    let survives = |text: String, expected| testing::survives(&G4, &text, expected);
    survives(format!("grammar g; a : {}", fill("(")), "too-deep");
    survives(format!("grammar g; a : {}", fill("'x' ")), "the file ends");
    survives(format!("grammar g; a : X ; X : {} ;", fill("'xy' | ")), "");
    survives(format!("grammar g; a : X ; X : 'x' {} ;", fill("'xy'* ")), "");
    survives(format!("grammar g; {}", fill("a : 'x' ; ")), "is defined twice");
    survives(fill("grammar g; "), "unexpected");
    survives(fill("{"), "this action is not closed");
    survives(fill("[a"), "these arguments are not closed");
    survives(fill("\0"), "U+0000");
    survives(format!("grammar g; a : X ; X : {}'x'{} ;", "(".repeat(49), ")*".repeat(49)), "");
    survives(format!("grammar g; a : {}'x'{} ;", "(".repeat(49), ")*".repeat(49)), "");
    let count = part(100_000);
    let rules: String = (0..count).map(|i| format!("r{i} : 'k{i}' r{} | ;\n", i + 1)).collect();
    survives(format!("grammar g; {rules} r{count} : 'x' ;"), "");
    let chain: String = (0..count).map(|i| format!("fragment F{i} : F{} ;\n", i + 1)).collect();
    survives(format!("grammar g; a : F ; F : F0 ; {chain} fragment F{count} : 'x' ;"), "");
    let doubling: String = (0..40).map(|i| format!("fragment F{i} : F{} F{} ;\n", i + 1, i + 1)).collect();
    survives(format!("grammar g; a : F ; F : F0 ; {doubling} fragment F40 : 'x' ;"), "");
    let counter: String = "[ab]* 'a'".to_string() + &"[ab]".repeat(24);
    survives(format!("grammar g; a : (F | ID)* ; F : {counter} ; ID : [a-z]+ ;"), "");
    let tokens: String = (0..part(5_000)).map(|i| format!("| 't{i}' ")).collect();
    survives(format!("grammar g; a : ('t' {tokens})* ; ID : [a-z0-9]+ ; WS : ' ' -> skip ;"), "");
}

#[test]
fn many_changes_of_the_mode() {
    let pops = ", popMode".repeat(part(100_000) as usize);
    let any = |lexer: &str, expected: &str| {
        let file = SourceFile::new("g", lexer);
        let found = testing::ends(expected, || {
            let mut diagnostics = Diagnostics::default();
            let surroundings = Surroundings { options: FormatOptions::of_others(), ..Surroundings::default() };
            G4.parse_within(&file, &surroundings, &mut diagnostics);
            diagnostics.to_plain_text(&file)
        });
        assert!(found.contains(expected), "{}", &found[..found.len().min(2000)]);
    };
    any(&format!("grammar g; a : A EOF ; A : 'a' ; B : 'b' -> skip{pops} ;"), "changes the mode more than 64 times");
    // Each rule leaves other moves after a pop.
    let rules: String = (0..part(2_000))
        .map(|at| {
            let command = |bit: i32| if at >> bit & 1 == 1 { ", pushMode(M)" } else { ", mode(M)" };
            let moves: String = (0..11).map(command).collect();
            format!("B{at} : 'b{at}' -> skip, pushMode(M), popMode{moves} ;\n")
        })
        .collect();
    any(&format!("lexer grammar g; A : 'a' ; {rules} mode M ; {rules}"), "");
    let parser = format!("grammar g; a : A+ EOF ; A : 'a' ; {rules} ");
    any(&parser.replace("(M)", "(DEFAULT_MODE)"), "too many ways back");
}

const SAMPLES: &[&str] = &[
    r#"grammar g; options { caseInsensitive = true; } start : (stmt ';')* EOF ; stmt : 'let' ID '=' expr | 'if' expr stmt ;
       expr : <assoc=right> expr '^' expr | '-' expr | ID | NUM | STR ; ID : [a-z_] [a-z_0-9]* ; NUM : [0-9]+ ('.' [0-9]*)? ;
       STR : '"' (~["\\] | '\\' .)*? '"' ; WS : [ \t\r\n]+ -> channel(HIDDEN) ; C : '/*' (C | .)*? '*/' -> skip ;"#,
    r"lexer grammar L; A : '<' -> pushMode(M) ; T : ~[<]+ ; mode M; B : '>' -> popMode ; N : [\p{L}_]+ ; S : ' ' -> more ;
      Q : '\'' -> more, mode(N2) ; mode N2; R : '\'' -> type(A), mode(M) ; X : . -> more ;",
];

#[test]
fn mutations_do_no_harm() {
    let tokens =
        ["(", ")", "*", "?", "|", ";", ":", "~", "'", "[", "]", "{", "}", "->", "EOF", "..", "A", "expr", "mode "];
    testing::mutations(SAMPLES, &tokens, 1500, |text| {
        testing::everything(&G4, text);
    });
}

/// The sample of public grammars, if it is in a folder beside the project.
#[test]
#[ignore = "run by ci/test"]
fn public_grammars_compile() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/g4");
    let Ok(index) = std::fs::read_to_string(folder.join("index.tsv")) else { return };
    struct Folder(std::path::PathBuf);
    impl Loader for Folder {
        fn load(&self, name: &str) -> Result<SourceFile, String> {
            let text = std::fs::read_to_string(self.0.join(name)).map_err(|error| error.to_string())?;
            Ok(SourceFile::new(name, text))
        }
    }
    for line in index.lines().skip(1) {
        let mut fields = line.split('\t');
        let (Some(name), Some(start)) = (fields.next(), fields.next()) else { continue };
        let here = folder.join(name);
        let Ok(entries) = std::fs::read_dir(&here) else { continue };
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "g4"));
        files.sort();
        // Of several grammars in a folder, the one that has the start rule.
        let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let begins = |line: &str| {
            let rest = line.trim_start().strip_prefix(start).map(str::trim_start);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@', '[']))
        };
        let has_start = |path: &&std::path::PathBuf| read(path).lines().any(begins);
        let Some(path) = files.iter().find(has_start) else { panic!("{name}: no file has the rule `{start}`") };
        let text = read(path);
        let loader = Folder(here);
        testing::ends(name, || {
            for length in [text.len(), text.len() * 2 / 3, text.len() / 3] {
                let cut: String = text.chars().take(length).collect();
                let is_whole = cut == text;
                let file = SourceFile::new(path.display().to_string(), cut);
                let mut diagnostics = Diagnostics::default();
                let surroundings =
                    Surroundings { start: is_whole.then_some(start), loader: &loader, ..Surroundings::default() };
                let grammar = G4.parse_within(&file, &surroundings, &mut diagnostics);
                crate::check::check(&grammar, None, &mut diagnostics);
                // Two import grammars that are not in the sample.
                let lacks_file = diagnostics.iter().any(|diagnostic| diagnostic.code == Code::MissingFile);
                let is_sound = lacks_file || !diagnostics.has_errors();
                assert!(!is_whole || is_sound, "{name}: {}", diagnostics.to_plain_text(&file));
            }
        });
    }
}
