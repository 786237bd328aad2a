//! `gramjet check`: lints, levels, JSON, explanations.

use expect_test::expect;
use serde_json::Value;

use super::*;

fn json(arguments: &[&str]) -> (Value, Output) {
    let output = run(&[&["check", "--json"], arguments].concat());
    (serde_json::from_slice(&output.stdout).expect("JSON"), output)
}

/// Grammars that cannot be read at all are reported in the same form.
#[test]
fn refusals_as_json() {
    let place = place("checks-refusals");
    let (bytes, list) = (place.path("bytes.ebnf"), place.path("list.ebnf"));
    fs::write(&bytes, b"list ::= 'x'\nitem ::= '\xff'\n").unwrap();
    fs::write(&list, "list ::= 'four' | 'fives'\n").unwrap();
    let folder = place.path(".");
    /// Arguments, the grammar that is named, the code, a part of the message, the line.
    type Refusal<'a> = (&'a [&'a str], &'a str, &'a str, &'a str, Option<u64>);
    let cases: &[Refusal<'_>] = &[
        (&[&bytes], &bytes, "unreadable-file", "byte 0xff at offset 23 (line 2)", Some(2)),
        (&[&folder], &folder, "unreadable-file", "it is a directory", None),
        (&["no-such-grammar"], "no-such-grammar", "unreadable-file", "not found", None),
        (&[&list, "--weights", &bytes], &list, "unreadable-file", "cannot read the weights", Some(2)),
        (&["-", "--weights", "-"], "<stdin>", "unreadable-file", "cannot both come from standard input", None),
        (&[&list, "--max-len", "3"], &list, "impossible-limit", "has 4 bytes", None),
        (&[&list, "--start", "lost"], &list, "undefined-rule", "lost", None),
    ];
    for &(arguments, grammar, code, message, line) in cases {
        let (report, output) = json(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!((&report["schema"], &report["grammar"]), (&Value::from(1), &Value::from(grammar)), "{arguments:?}");
        assert!(report["compiles"] == false && report["facts"].is_null(), "{arguments:?}");
        let found = &report["diagnostics"][0];
        assert_eq!((&found["code"], &found["severity"]), (&Value::from(code), &Value::from("error")), "{arguments:?}");
        assert!(found["message"].as_str().is_some_and(|said| said.contains(message)), "{found}");
        assert_eq!(found["line"].as_u64(), line, "{found}");
    }
}

#[test]
fn findings_as_json() {
    let place = place("checks-json");
    let file = place.path("wrong.ebnf");
    fs::write(&file, "list ::= \"[\" itms \"]\"\nitems ::= \"ä\" itms\n").unwrap();
    let (_, output) = json(&[&file]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), format!("gramjet: {file} does not compile: 1 error, 1 warning\n"));
    expect![[r#"
        {
          "schema": 1,
          "gramjet": "VERSION",
          "grammar": "wrong.ebnf",
          "compiles": false,
          "diagnostics": [
            {
              "severity": "error",
              "code": "undefined-rule",
              "message": "rule `itms` is not defined (used 2 times)",
              "hint": "did you mean `items`?",
              "file": "wrong.ebnf",
              "line": 1,
              "column": 14,
              "end_line": 1,
              "end_column": 18,
              "span": {
                "start": 13,
                "end": 17
              },
              "related": [
                {
                  "message": "also used here",
                  "file": "wrong.ebnf",
                  "line": 2,
                  "column": 15,
                  "end_line": 2,
                  "end_column": 19,
                  "span": {
                    "start": 37,
                    "end": 41
                  }
                }
              ]
            },
            {
              "severity": "warning",
              "code": "unreachable-rule",
              "message": "rule `items` cannot be reached from `list`",
              "hint": "refer to it from a rule that can be reached, make it the start rule, or remove it",
              "file": "wrong.ebnf",
              "line": 2,
              "column": 1,
              "end_line": 2,
              "end_column": 6,
              "span": {
                "start": 22,
                "end": 27
              },
              "related": []
            }
          ],
          "not_shown": 0,
          "facts": null
        }
    "#]]
    .assert_eq(&text(&output.stdout).replace(&file, "wrong.ebnf").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn facts_as_json() {
    let place = place("checks-facts");
    let file = place.path("pair.ebnf");
    fs::write(&file, "%max-depth 3\npair ::= '(' side '.' side ')'\nside ::= pair | [ab] @ 3\n").unwrap();
    let (found, output) = json(&[&file]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let facts = &found["facts"];
    assert_eq!((&found["compiles"], &found["diagnostics"]), (&true.into(), &Value::Array(Vec::new())));
    expect![[r#"{"spectral_radius":0.7071067811865476,"rules":["pair","side"],"expected_length":9.0,"expected_length_within_max_depth":8.0}"#]]
        .assert_eq(&facts["growth"].to_string().replace("0.7071067811865475", "0.7071067811865476"));
    expect![[r#"{"max_depth":3,"max_depth_is_default":false,"max_len":null,"max_choices":67108864}"#]]
        .assert_eq(&facts["limits"].to_string());
    for (field, value) in [("rules", 2), ("alternatives", 2), ("shortest", 5)] {
        assert_eq!(facts[field], value, "{field}");
    }
    assert_eq!((&facts["start"], &facts["shape"]), (&"pair".into(), &Value::Null));
    let mean = facts["sample"]["mean"].as_f64().unwrap();
    assert!((7.0..9.0).contains(&mean), "{mean}");
    let (shaped, _) = json(&[&file, "--shape", "target-size", "40", "--max-depth", "none"]);
    assert_eq!(shaped["facts"]["shape"], "target-size=40");
    let expected = shaped["facts"]["growth"]["expected_length"].as_f64().unwrap();
    assert!((38.0..42.0).contains(&expected), "{expected}");
}

#[test]
fn unbounded_lengths_are_found_and_denied() {
    let place = place("checks-levels");
    let file = place.path("expr.ebnf");
    fs::write(&file, "e ::= e '+' e | e '*' e | '(' e ')' | [0-9]\n").unwrap();
    let check = |arguments: &[&str]| run(&[&["check", &file], arguments].concat());
    let output = check(&[]);
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("warning[unbounded-length]: the expected length") && said.contains("1.250"), "{said}");
    let said = text(&output.stdout);
    assert!(
        said.contains("growth     spectral radius 1.250, no bound on the expected length without limits"),
        "{said}"
    );
    // A limit of the user decides, and so do weights.
    for arguments in
        [["--max-depth", "9"], ["--max-len", "99"], ["--shape", "balanced"], ["--allow", "unbounded-length"]]
    {
        let output = check(&arguments);
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?} {output:?}");
    }
    for arguments in [
        &["--deny", "warnings"][..],
        &["--deny", "unbounded-length", "--allow", "warnings"],
        &["--deny", "warnings", "--allow", "huge-class"],
    ] {
        let output = check(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(
            said.contains("error[unbounded-length]") && said.contains("warnings that are denied: 1 error"),
            "{said}"
        );
    }
    // Generation is not bothered.
    assert!(run(&["gen", &file, "--seed", "1"]).stderr.is_empty());
    assert_eq!(run(&["check", &file, "--deny", "nonsense"]).status.code(), Some(2));
}

#[test]
fn huge_classes_are_found_unless_they_are_rare() {
    let place = place("checks-classes");
    let file = place.path("text.ebnf");
    fs::write(&file, "text ::= '\"' [^\"]* '\"'").unwrap();
    assert!(text(&run(&["check", &file]).stderr).contains("warning[huge-class]: this class has 1112032 members"));
    fs::write(&file, "text ::= '\"' ([ -!#-~] @ 20 | [^\"])* '\"'").unwrap();
    assert_eq!(text(&run(&["check", &file, "--deny", "warnings"]).stderr), "");
}

/// What only texts have is examined, but nothing is drawn from its classes.
#[test]
fn what_only_texts_have_is_examined() {
    let place = place("checks-texts");
    let file = place.path("text.ebnf");
    fs::write(
        &file,
        "text ::= 'a' | other @ 0\nother ::= [^a] more | nothing\nmore ::= [^b]*\nnothing ::= nothing 'x'",
    )
    .unwrap();
    let said = |options: &[&str]| text(&run(&[&["check", &file][..], options].concat()).stderr).to_string();
    let dropped = said(&[]);
    assert!(dropped.contains("warning[unproductive-rule]") && dropped.contains("nothing"), "{dropped}");
    let kept = said(&["--zero-weights", "keep"]);
    assert!(kept.contains("error[unproductive-rule]"), "{kept}");
    fs::write(&file, "text ::= 'a' | other @ 0\nother ::= [^a] more\nmore ::= [^b]*").unwrap();
    assert_eq!(said(&["--zero-weights", "keep", "--deny", "warnings"]), "");
}

#[test]
fn options_for_lexers_are_said_to_have_no_effect_without_one() {
    let place = place("checks-lexers");
    let (grammar, antlr, choices) = (place.grammar(), place.path("Name.g4"), place.path("choices"));
    fs::write(&antlr, "grammar Name; name : A EOF ; A : [a-z] ~[a] ;").unwrap();
    fs::write(&choices, "abc").unwrap();
    let (policy, alphabet) = (["--separator-policy", "space"], ["--alphabet", "ascii"]);
    for arguments in [
        &["gen", grammar, "--seed", "1"][..],
        &["gen", "json", "--seed", "1"],
        &["gen", "json", "--seed", "1", "--engine", "bulk", "--coverage"],
        &["check", grammar],
        &["check", grammar, "--json"],
        &["render", grammar, &choices],
        &["parse", grammar, &choices],
        &["dump", "ast", grammar],
        &["emit", "rust", grammar],
        &["convert", grammar, "-", "--to", "fuzzingbook"],
        &["weights", grammar, "--shape", "balanced"],
    ] {
        let without = run(arguments);
        let with = run(&[arguments, &policy, &alphabet].concat());
        assert_eq!((with.status, text(&with.stdout)), (without.status, text(&without.stdout)), "{arguments:?}");
        let (said, said_without) = (text(&with.stderr), text(&without.stderr));
        let mut rest = said.lines();
        for option in ["--separator-policy", "--alphabet"] {
            let line = rest.next().unwrap();
            assert!(
                line.starts_with(&format!("gramjet: warning: `{option}` has no effect on ")),
                "{arguments:?}: {said}"
            );
            assert!(
                line.ends_with(
                    ": it is for grammars of ANTLR, and those of yacc with a file of lex; this one is read as ebnf"
                ),
                "{line}"
            );
        }
        assert!(rest.eq(said_without.lines()), "{arguments:?}: {said}");
    }
    for grammar in [&[&antlr[..]][..], &["--format", "g4", &antlr]] {
        let output = run(&[&["gen", "--seed", "1"], grammar, &policy, &alphabet].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn what_no_context_free_grammar_can_say_is_refused_if_it_must_be() {
    let place = place("checks-strict");
    for (name, grammar) in [
        ("a.g4", "grammar G; a : { act(); } 'x' ;"),
        ("a.pest", "a = { PUSH(\"x\") ~ POP }"),
        ("a.lark", "start: /a\\bb/ | \"x\""),
        ("a.iso", "a = ? any character ?;"),
        ("a.y", "%%\na : 'x' | error 'y' ;"),
    ] {
        let file = place.path(name);
        fs::write(&file, grammar).unwrap();
        let format = if name == "a.iso" { &["--format", "iso-ebnf"][..] } else { &[] };
        for command in [&["gen", &file, "--seed", "1"][..], &["convert", &file, "-", "--to", "ebnf"]] {
            let command = [command, format].concat();
            let output = run(&command);
            let said = text(&output.stderr);
            assert!(output.status.success() && said.contains("warning[not-context-free]"), "{command:?} {said}");
            let output = run(&[&command[..], &["--strict"]].concat());
            let said = text(&output.stderr);
            assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{command:?} {said}");
            assert!(said.contains("error[not-context-free]") && !said.contains("warning["), "{command:?} {said}");
        }
    }
}

#[test]
fn codes_are_explained() {
    expect![[r#"
        # duplicate-rule

        Two definitions have the same name. gramjet does not guess whether the second replaces the first or
        adds to it.

        ## Example

        ```ebnf
        digit ::= [0-4]
        digit ::= [5-9]
        ```

        ## Remedy

        Write both as alternatives of one rule, `digit ::= [0-4] | [5-9]`, or rename one of them. In ABNF
        `digit =/ ...` adds alternatives to a rule.
    "#]]
    .assert_eq(&text(&stdout(&["check", "--explain", "duplicate-rule"])));
    for code in gramjet_compiler::diagnostics::Code::ALL {
        assert!(text(&stdout(&["check", "--explain", code.name()])).contains("## Remedy"), "{code}");
    }
    let output = run(&["check", "--explain", "duplicate-rules"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("duplicate-rule"), "{output:?}");
    assert_eq!(run(&["check"]).status.code(), Some(2));
}
