//! The automaton gives the choice bytes that threads give, also for grammars with labels, or leaves the text to them.

use gramjet_compiler::ast;
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_parse::{Budget, Parser};
use gramjet_testkit::{Draw, Rng, Shape, amount, lowered, random_grammar};

use crate::automaton::Compared;
use crate::kit::compiled;

/// Grammars whose texts have one derivation, mostly.
const CLEAR: &[&str] = &[
    "e ::= '<' n:name '>' (e | text)* '</' $n '>' | '<' name '/>'  name ::= [a-c]+  text ::= [A-Z ]+",
    "t ::= c more:(',' c)* ';' (c (',' c){count(more)} ';')*  c ::= [a-z]*",
    "s ::= f:[ab]+ (',' $f '.' | ';')* g:(x:[0-9] y:[xyz]+ $y '!' $x)? '?' $g",
    "p ::= (s ';')+  s ::= 'let ' n:name ' = ' u $declare(v, $n) | 'print ' u | '{ ' $scope(v, (s '; ')*) '}'
     u ::= $use(v, '0') (' + ' ($use(v, '0') | [1-9]))?  name ::= [a-c]{1,2}",
    "e ::= '<' t:n $scope(a, (' ' $unique(a, n) '=' [x-z]*)*) ('/>' | '>' e* '</' $t '>')  n ::= [ab]{1,2}",
    "e ::= '<' t:n $scope(a, (' ' $unique(a, n) '=' [0-9]*)*) ('/>' | '>' e* '</' $t '>')  n ::= [ab] [a-b0-9]*",
    "s ::= ($define(v, [a-c]+) ':' | '(' $use(v, [a-d]+) ')' | '[' $use(v, [a-c]+) ']')*",
    "s ::= $scope(k, $unique(k, [a-c]) (',' $unique(k, [a-c]))* ';' ($use(k, '*') ' ')*) s?",
    "s ::= h:(d:'-'* 'h') ('(' ('x' $h | $h){2} ')')+ m:('.' [0-9]{2})+ (';' [a-c] '!'){count(m)} $m",
    "d ::= m* '<' n:[ab]+ '>' (m | [xyz])* '</' $n '>' m*  m ::= [ ]+ | '!' [a-c]* ' '?",
    "s ::= (' '+ | '!'* | '! ' | ' !!')* 'a' n:[ab]* '=' $n (('-'* '-')* ';' m:[0-9] '~'* '~'* $m)* ('.' | '..')*",
    "s ::= l:(';' [a-c]* )* '=' ('x' [0-9]*){count(l)} '|' ('y' ','*){count(l)} '.' s?",
];

fn check(compared: &mut Compared, compiled: &Compiled, rng: &mut Rng, texts: usize, about: &dyn Fn() -> String) {
    // What earlier texts taught the automaton does not matter.
    let parser = Parser::new(&compiled.lowered);
    compared.texts_by(&|| parser.clone(), compiled, rng, texts, about);
}

#[test]
fn texts_with_one_derivation_are_parsed_by_the_automaton() {
    let few = CLEAR.iter().filter_map(|grammar| {
        let compiled = compiled(grammar);
        let (mut compared, mut rng) = (Compared::default(), Rng::new(5));
        check(&mut compared, &compiled, &mut rng, 200, &|| grammar.to_string());
        (compared.conforming < 120).then(|| format!("{grammar} {compared:?}"))
    });
    assert_eq!(few.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn the_grammars_of_the_tests_agree() {
    for grammar in crate::labels::GRAMMARS {
        let (mut compared, mut rng) = (Compared::default(), Rng::new(6));
        check(&mut compared, &compiled(grammar), &mut rng, 60, &|| grammar.to_string());
    }
}

#[test]
fn random_grammars_agree() {
    let mut compared = Compared::default();
    for seed in amount::seeds(0..20_000) {
        let mut rng = Rng::new(seed + 90_000);
        let shape = [Shape::NAMED, Shape::LABELLED_NAMED, Shape::LABELLED, Shape::GROUPED][seed as usize % 4];
        let grammar = random_grammar(&mut rng, &shape);
        if lowered(&grammar).is_some() {
            let compiled = gramjet_testkit::compiled(&grammar);
            check(&mut compared, &compiled, &mut rng, 4, &|| format!("seed {seed}\n{}", ast::dump(&grammar)));
        }
    }
    println!("{compared:?}");
    assert!(compared.conforming > 500, "{compared:?}");
}

/// Returns a random sequence of parts, copies, counts and names, most of which end where something else begins.
fn sequence(rng: &mut Rng, outer: &[String], depth: usize, next: &mut usize) -> String {
    let label = format!("l{next}");
    *next += 1;
    let seen: Vec<String> = outer.iter().cloned().chain([label.clone()]).collect();
    let part = ["[ab]*", "[a-c]+", "(',' [ab]*)*", "t", "('x' | 'yy')+", "('p' t)*"][rng.below(6)];
    let mut items = vec![format!("{label}:({part})")];
    for _ in 0..1 + rng.below(4) {
        let label = &seen[rng.below(seen.len())];
        // Some have several derivations that have nothing to do with labels.
        items.push(match rng.below(15) {
            0 => format!("${label}"),
            1 => format!("('y' ${label})*"),
            2 => format!("('-' | ${label})"),
            3 => format!("(',' ${label} | 'z'){{count({label})}}"),
            4 if depth > 0 => format!("({} | 'z')", sequence(rng, &seen, depth - 1, next)),
            5 if depth > 0 => format!("('.' {} ';')*", sequence(rng, &seen, depth - 1, next)),
            6 => "('(' s ')')?".to_string(),
            7 => format!("$declare(v, ${label})"),
            8 => "'u' $use(v, '0')".to_string(),
            9 => "$use(v, [ab]+ | '1')".to_string(),
            10 => "w*".to_string(),
            11 => ["(w | '! ' | ('~' w?)+)*", "('~'? '~' | '~!'* w)*"][rng.below(2)].to_string(),
            12 => "(w '!'? | ('!' ' '*)+)* '.'".to_string(),
            13 => "$scope(k, ('k' $unique(k, [ab] [ab12]*))*)".to_string(),
            _ => "$scope(k, ('k' $unique(k, [ab]+) ';' | 'q' $use(k, 'b'))*)".to_string(),
        });
    }
    items.join([" ", " ';' "][rng.below(2)])
}

#[test]
fn random_sequences_agree() {
    let (mut compared, mut grammars) = (Compared::default(), 0);
    for seed in amount::seeds(0..20_000) {
        let mut rng = Rng::new(seed + 50_000);
        let body = sequence(&mut rng, &[], 2, &mut 0);
        let grammar = format!(
            "s ::= '.' | $scope(v, {body})\nt ::= [ab] | '<' n:[ab]* '>' $n | 'd' m:[a-d]* '/' $m\n\
             w ::= ' '+ | '!' ' '? | '~'{{1,2}}"
        );
        let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", &*grammar), &Options::default()) else { continue };
        grammars += 1;
        check(&mut compared, &compiled, &mut rng, 6, &|| format!("seed {seed}\n{grammar}"));
    }
    println!("{grammars} {compared:?}");
    assert!(compared.conforming > grammars, "{grammars} {compared:?}");
}

/// Numbers of parts are left to threads.
#[test]
fn grammars_with_numbers_and_codings_have_no_automaton() {
    for grammar in [
        "s ::= n:[a-z]* ';' $dec(len(n))",
        "s ::= n:[a-z]* ';' $hex(crc32(n), 8)",
        "s ::= $base64([a-z]*) ';'",
        "s ::= n:([a-z] $base64([a-z]*) ';') $n",
        "s ::= f:''* g:'x'{count(f)}",
    ] {
        let parser = Parser::new(&compiled(grammar).lowered);
        let mut rng = Rng::new(1);
        let mut compared = Compared::default();
        check(&mut compared, &compiled(grammar), &mut rng, 20, &|| grammar.to_string());
        assert!(compared.conforming == 0 && parser.has_labels(), "{grammar} {compared:?}");
    }
}

/// A text that the automaton refuses is refused by threads, with their message.
#[test]
fn texts_that_do_not_conform_are_refused() {
    let parser = Parser::new(&compiled(CLEAR[0]).lowered);
    let budget = Budget::default();
    for (text, message) in [
        (&b"<a><b></a></b>"[..], "byte 8: expected `b`, the copy of part `n`, found `a`"),
        (b"<a>X", "byte 4: expected [#x20A-Z], \"<\" or \"</\", found the end of the text"),
    ] {
        assert!(parser.parse_by_automaton(text, &budget).is_none());
        assert_eq!(parser.parse(text, &budget).unwrap_err().to_string(), message);
    }
}
