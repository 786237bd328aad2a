//! Choice bytes in files: their header, and what `render` and `mutate` make of it.

use std::fs;

use super::{inputs_of, place, run, stdout, text};

const MAGIC: &[u8] = b"\x8aGJC\r\n\x1a\n";
/// Without weights: equally probable alternatives make endless sums.
const SUMS: &str = "sum ::= sum '+' sum | sum '-' sum | sum '*' sum | '(' sum ')' | [0-9]+";

#[test]
fn texts_beyond_the_depth_limit_come_back() {
    let place = place("recorded-deep");
    let (file, choices) = (place.path("in"), place.path("out"));
    let mut beyond = 0;
    let inputs = stdout(&["gen", "json", "-n", "30", "--seed", "1", "--separator", "len32"]);
    for input in inputs_of(&inputs) {
        fs::write(&file, &input).unwrap();
        let parsed = run(&["parse", "json", &file, "--choices", "-o", &choices]);
        assert!(parsed.status.success() && parsed.stderr.is_empty(), "{}", text(&parsed.stderr));
        let recorded = fs::read(&choices).unwrap();
        assert!(recorded.starts_with(MAGIC));
        assert!(stdout(&["render", "json", &choices]) == input);
        let raw = stdout(&["parse", "json", &file, "--choices", "--raw"]);
        assert!(recorded.ends_with(&raw) && !raw.starts_with(MAGIC));
        fs::write(&choices, &raw).unwrap();
        beyond += u32::from(stdout(&["render", "json", &choices]) != input);
    }
    assert!(beyond > 3, "{beyond} texts were beyond the default limit");
}

#[test]
fn the_header_says_how_the_grammar_was_read() {
    let place = place("recorded-how");
    let (lists, sums) = (place.path("list.ebnf"), place.path("sum.ebnf"));
    fs::write(&sums, SUMS).unwrap();
    let (file, choices) = (place.path("in"), place.path("out"));
    for (grammar, input, options) in [
        (&lists, "12", &["--start", "item"][..]),
        (&lists, "[\"a\",[1]]", &["--shape", "balanced"]),
        (&lists, "[\"a\",[1]]", &["--shape", "target-size=300"]),
        (&sums, "1+(2-3)", &[]),
        (&sums, "1+(2-3)", &["--shape", "uniform"]),
    ] {
        fs::write(&file, input).unwrap();
        stdout(&[&["parse", grammar, &file, "--choices", "-o", &choices], options].concat());
        for engine in super::ENGINES {
            assert_eq!(text(&stdout(&["render", grammar, &choices, "--engine", engine])), input, "{options:?}");
        }
        assert_eq!(text(&stdout(&[&["render", grammar, &choices], options].concat())), input, "{options:?}");
    }
}

#[test]
fn other_grammars_and_options_are_refused_with_what_differs() {
    let place = place("recorded-other");
    let (sums, file, choices) = (place.path("sum.ebnf"), place.path("in"), place.path("out"));
    fs::write(&sums, SUMS).unwrap();
    fs::write(&file, "1+(2-3)").unwrap();
    stdout(&["parse", &sums, &file, "--choices", "-o", &choices]);
    let refused = |arguments: &[&str], expected: &str| {
        let output = run(arguments);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    };
    refused(&["render", "json", &choices], "the grammar or its file of tokens is another one, or was changed since");
    refused(
        &["render", &sums, &choices, "--shape", "uniform"],
        "with weights of the shape target-size=1000 at a maximum depth of 32, and the grammar has weights of the shape uniform here",
    );
    refused(
        &["render", place.grammar(), &choices, "--start", "item"],
        "the start rule was the grammar's own, and is `item` here",
    );
    fs::write(&sums, SUMS.replace("0-9", "0-8")).unwrap();
    refused(&["render", &sums, &choices], "is another one, or was changed since");
    let recorded = fs::read(&choices).unwrap();
    fs::write(&choices, &recorded[..20]).unwrap();
    refused(&["render", &sums, &choices], "damaged or cut off; `--raw` takes such bytes");
    fs::write(&choices, [MAGIC, b"\x02"].concat()).unwrap();
    refused(&["render", &sums, &choices], "has version 2, but only 1 is known");
    assert!(run(&["render", &sums, &choices, "--raw"]).status.success());
}

#[test]
fn limits_that_are_given_count_more_than_those_of_the_header() {
    let place = place("recorded-limits");
    let (file, choices) = (place.path("in"), place.path("out"));
    let input = [b"[".repeat(40), b"]".repeat(40)].concat();
    fs::write(&file, &input).unwrap();
    stdout(&["parse", "json", &file, "--choices", "-o", &choices]);
    assert_eq!(stdout(&["render", "json", &choices]), input);
    let same = run(&["render", "json", &choices, "--max-depth", "none"]);
    assert!(same.stdout == input && same.stderr.is_empty(), "{}", text(&same.stderr));
    let other = run(&["render", "json", &choices, "--max-depth", "10"]);
    assert!(other.status.success() && other.stdout != input);
    let said = text(&other.stderr);
    assert!(said.contains("recorded with `--max-depth none`, and `--max-depth 10` is asked for"), "{said}");
}

#[test]
fn variants_are_made_of_choice_bytes_and_written_as_such() {
    let place = place("recorded-variants");
    let (file, choices, folder) = (place.path("in"), place.path("out"), place.path("variants/"));
    fs::write(&file, "[1,[2,\"a\"],[]]").unwrap();
    stdout(&["parse", place.grammar(), &file, "--choices", "-o", &choices]);
    let of_text = stdout(&["mutate", place.grammar(), &file, "-n", "9", "--seed", "3"]);
    assert_eq!(stdout(&["mutate", place.grammar(), &choices, "-n", "9", "--seed", "3"]), of_text);
    stdout(&["mutate", place.grammar(), &file, "-n", "9", "--seed", "3", "--choices", "-o", &folder]);
    let rendered: Vec<Vec<u8>> = (0..9)
        .map(|number| [&stdout(&["render", place.grammar(), &format!("{folder}{number}")])[..], b"\n"].concat())
        .collect();
    assert_eq!(rendered.concat(), of_text);
    // The header says how the grammar is read, for variants, too.
    let (number, item) = (place.path("number"), place.path("item"));
    fs::write(&number, "17").unwrap();
    stdout(&["parse", place.grammar(), &number, "--start", "item", "--choices", "-o", &item]);
    assert!(!stdout(&["mutate", place.grammar(), &item, "-n", "9"]).is_empty());
    // Choice bytes of another grammar are no text of this one.
    let other = run(&["mutate", "json", &choices]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stderr).contains("is another one, or was changed since"), "{}", text(&other.stderr));
    assert_eq!(run(&["mutate", place.grammar(), &file, "-n", "2", "--choices"]).status.code(), Some(2));
}

#[test]
fn headers_have_the_options_of_lexers() {
    let place = place("recorded-lexer");
    let (grammar, tokens) = (place.path("B.g4"), place.path("tokens.ebnf"));
    let (file, choices) = (place.path("in"), place.path("out"));
    let text_of = "grammar B; tokens { INDENT, DEDENT } s : l+ EOF ; l : ID NEWLINE | 'if' ':' NEWLINE INDENT l+ DEDENT ; \
                   ID : ~[\\n :]+ ; NEWLINE : '\\n' ; WS : ' ' -> skip ;";
    fs::write(&grammar, text_of).unwrap();
    fs::write(&tokens, "ID ::= [x-z]").unwrap();
    for (input, options) in [
        ("if:\n  b\n", &["--indent", "unit=2"][..]),
        ("if:\n\tb\n", &["--indent", "unit=tab,levels=3"]),
        ("if :\n    b\n", &["--separator-policy", "any"]),
        ("if:\n    \u{e9}\n", &["--alphabet", "unicode", "--separator-policy", "auto"]),
    ] {
        fs::write(&file, input).unwrap();
        stdout(&[&["parse", &grammar, &file, "--choices", "-o", &choices], options].concat());
        assert_eq!(text(&stdout(&["render", &grammar, &choices])), input, "{options:?}");
    }
    fs::write(&file, "if:\n  b\n").unwrap();
    stdout(&["parse", &grammar, &file, "--indent", "unit=2", "--choices", "-o", &choices]);
    let other = text(&run(&["render", &grammar, &choices, "--indent", "unit=3"]).stderr);
    assert!(other.contains("the indentation was `unit=2,levels=8`, and is `unit=3,levels=8` here"), "{other}");
    // A start rule that the grammar does not have is the header's.
    stdout(&["parse", &grammar, &file, "--indent", "unit=2", "--start", "l", "--choices", "-o", &choices]);
    let foreign = run(&["render", "json", &choices]);
    let said = text(&foreign.stderr);
    assert_eq!(foreign.status.code(), Some(2), "{said}");
    assert!(said.contains("the start rule `l` is from the header of the choice bytes"), "{said}");
}
