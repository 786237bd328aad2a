//! `gramjet draw`: which rules are drawn, in which form, and what is refused.

use super::*;

const PAIRS: &str = "pairs ::= pair (';' pair)*\npair ::= key '=' value\nkey ::= 'a' | 'b' @ 2\n\
                     value ::= [0-9] | '(' pairs ')'\n";

/// Returns a grammar of the test, in a file.
fn pairs(test: &str) -> (Place, String) {
    let place = place(test);
    let grammar = place.path("pairs.ebnf");
    fs::write(&grammar, PAIRS).unwrap();
    (place, grammar)
}

/// Returns the names of the rules that a page draws.
fn drawn(page: &str) -> Vec<&str> {
    let articles = page.split("<article ").skip(1);
    articles.filter_map(|article| article.split_once("id=\"rule-")?.1.split('"').next()).collect()
}

#[track_caller]
pub fn refused(arguments: &[&str], expected: &str) {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert_eq!(text(&output.stderr).trim_end(), expected);
    assert!(output.stdout.is_empty());
}

#[test]
fn rules_are_drawn_alone_or_with_what_they_reach() {
    let (place, grammar) = pairs("draw-rules");
    let page = text(&stdout(&["draw", &grammar]));
    assert_eq!(drawn(&page), ["pairs", "pair", "key", "value"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<h2>Samples</h2>"), "{page}");
    let page = text(&stdout(&["draw", &grammar, "value", "key"]));
    assert_eq!(drawn(&page), ["key", "value"]);
    assert!(!page.contains("<h2>Samples</h2>") && !page.contains("href=\"#rule-pair\""), "{page}");
    let page = text(&stdout(&["draw", &grammar, "pair", "--reach", "--samples", "2"]));
    assert_eq!(drawn(&page), ["pairs", "pair", "key", "value"]);
    assert_eq!(page.matches("<div class=\"sample\">").count(), 2);
    let file = place.path("key.svg");
    stdout(&["draw", &grammar, "key", "-o", &file]);
    assert_eq!(fs::read(&file).unwrap(), stdout(&["draw", &grammar, "key"]));
    assert!(fs::read_to_string(&file).unwrap().starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    let svg = text(&stdout(&["draw", &grammar, "--to", "svg"]));
    assert!(svg.contains("href=\"#rule-pair\"") && svg.contains("id=\"rule-pair\""), "{svg}");
}

#[test]
fn equal_seeds_give_equal_samples() {
    let (_, grammar) = pairs("draw-seeds");
    let page = |seed| stdout(&["draw", &grammar, "--samples", "3", "--seed", seed]);
    assert_eq!(page("5"), page("5"));
    assert_ne!(page("5"), page("6"));
}

#[test]
fn weights_are_shown_on_demand() {
    let (_, grammar) = pairs("draw-weights");
    let svg = |options: &[&str]| text(&stdout(&[&["draw", &grammar, "key"], options].concat()));
    assert!(!svg(&[]).contains("@\u{A0}2") && svg(&["--show-weights"]).contains("@\u{A0}2"));
    let page = |options: &[&str]| text(&stdout(&[&["draw", &grammar], options].concat()));
    assert!(page(&[]).contains("id=\"show-weights\"/>") && page(&[]).contains("@\u{A0}2"));
    assert!(page(&["--show-weights"]).contains("id=\"show-weights\" checked=\"checked\"/>"));
}

#[test]
fn what_a_corpus_never_uses_is_marked() {
    let (place, grammar) = pairs("draw-corpus");
    let corpus = place.path("texts");
    fs::create_dir_all(&corpus).unwrap();
    fs::write(format!("{corpus}/1"), "a=1").unwrap();
    fs::write(format!("{corpus}/2"), "a=5").unwrap();
    fs::write(format!("{corpus}/3"), "no pair").unwrap();
    let output = run(&["draw", &grammar, "--corpus", &corpus, "--samples", "0"]);
    let said = text(&output.stderr);
    assert!(said.contains("gramjet: 2 of 3 files use 2 of 4 alternatives"), "{said}");
    let page = text(&output.stdout);
    assert!(page.contains("2 of 4 alternatives</span> are not used by 2 files"), "{page}");
    let key = text(&stdout(&["draw", &grammar, "key", "--corpus", &corpus]));
    let (used, unused) = key.split_once("<g class=\"unused\">").expect("an unused alternative");
    assert!(used.contains("&quot;a&quot;") && unused.contains("&quot;b&quot;"), "{key}");
    let pairs = text(&stdout(&["draw", &grammar, "pairs", "--corpus", &corpus]));
    assert!(pairs.contains("<g class=\"unused\">"), "the repetition is never taken: {pairs}");
    fs::write(place.path("none"), "?").unwrap();
    let output = run(&["draw", &grammar, "--corpus", &place.path("none")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("none of 1 file conforms"), "{}", text(&output.stderr));
}

#[test]
fn rules_that_no_text_comes_to_are_never_used() {
    let place = place("draw-unused");
    let (grammar, one) = (place.path("g.ebnf"), place.path("one"));
    fs::write(&grammar, "s ::= 'x' | t\nt ::= 'y' u\nu ::= 'z'\n").unwrap();
    fs::write(&one, "x").unwrap();
    let page = text(&stdout(&["draw", &grammar, "--corpus", &one]));
    assert_eq!(page.matches("never used").count(), 2, "{page}");
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let (place, grammar) = pairs("draw-refused");
    refused(&["draw", &grammar, "valu"], "gramjet: the grammar has no rule `valu`; did you mean `value`?");
    refused(
        &["draw", &grammar, "-o", "x.png"],
        "gramjet: the extension of `x.png` is neither .html nor .svg; ask for one with `--to`",
    );
    refused(
        &["draw", &grammar, "--shape", "uniform"],
        "gramjet: a grammar is drawn with its own weights: leave out `--shape` and `--weights`",
    );
    let many = place.path("many.ebnf");
    let rules: Vec<String> = (0..6000).map(|number| format!("r{number} ::= 'a' r{}?", (number + 1) % 6000)).collect();
    fs::write(&many, rules.join("\n")).unwrap();
    let limit = "gramjet: 6000 rules are too many for a drawing, at most 5000 are: name the rules to draw, \
                 such as `gramjet draw GRAMMAR RULE`, without `--reach`";
    refused(&["draw", &many], limit);
    refused(&["draw", &many, "r7", "--reach"], limit);
    assert!(text(&stdout(&["draw", &many, "r7"])).contains(">r8<"));
}

/// Rules as other notations have them.
#[test]
fn grammars_of_all_notations_are_drawn() {
    let place = place("draw-notations");
    let grammars = [
        ("g.g4", "grammar g; s : 'a' t* EOF ; t : ID | '(' s ')' ; ID : [a-z]+ ; WS : [ \\t]+ -> skip ;"),
        ("g.lark", "start: \"a\" t*\nt: /[a-z]+/ | \"(\" start \")\"\n"),
        ("g.pest", "s = { \"a\" ~ t* }\nt = { 'a'..'z' | \"(\" ~ s ~ \")\" }\n"),
        ("g.abnf", "s = \"a\" *t\r\nt = %x61-7A / \"(\" s \")\"\r\n"),
        ("g.y", "%token ID\n%%\ns : 'a' t ;\nt : 'b' | '(' s ')' ;\n%%\n"),
    ];
    for (name, grammar) in grammars {
        let file = place.path(name);
        fs::write(&file, grammar).unwrap();
        let output = run(&["draw", &file]);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains("id=\"rule-t\""), "{name}");
    }
}
