//! Texts that have every path.

use super::*;

/// An expression of a grammar, apart from the compiler's.
enum Is {
    Text,
    Rule(&'static str),
    All(Vec<Is>),
    One(Vec<Is>),
    Times(Box<Is>, u32),
}

use Is::{All, One, Rule, Text, Times};

/// Returns the grammar that [`SUMS`] writes.
fn sums() -> Vec<(&'static str, Is)> {
    let more = |item: Is, min: u32| Times(Box::new(item), min);
    vec![
        ("sum", All(vec![Rule("term"), more(All(vec![One(vec![Text, Text]), Rule("term")]), 0)])),
        ("term", One(vec![more(Rule("digit"), 1), All(vec![Text, Rule("sum"), Text]), Rule("call")])),
        ("call", All(vec![more(Text, 0), Text, more(One(vec![Rule("sum"), Rule("digit")]), 0), Text])),
        ("digit", Text),
    ]
}

const SUMS: &str = "sum ::= term (('+' | '-') term)*
    term ::= digit+ | '(' sum ')' | call
    call ::= [a-z]? 'f[' (sum | '!' digit)* ']'
    digit ::= [0-9]";

/// Finds the paths in an expression, by following every way from it.
struct Ways<'g> {
    grammar: &'g [(&'static str, Is)],
    longest: usize,
    found: BTreeSet<String>,
    known: BTreeSet<(*const Is, Vec<String>)>,
}

impl Ways<'_> {
    fn rule(&mut self, name: &'static str, chain: &[String]) {
        let (_, body) = self.grammar.iter().find(|(known, _)| *known == name).expect("a rule");
        let mut number = 0;
        if matches!(body, One(_)) {
            self.follow(name, body, &mut number, true, chain);
        } else {
            let chain = self.step(name.to_string(), chain);
            self.follow(name, body, &mut number, true, &chain);
        }
    }

    /// Adds the paths that end with a step; returns the chain after it.
    fn step(&mut self, name: String, chain: &[String]) -> Vec<String> {
        let mut chain = chain.to_vec();
        chain.push(name);
        self.found.extend((0..chain.len()).map(|at| chain[at..].join(" > ")));
        let surplus = chain.len().saturating_sub(self.longest - 1);
        chain.split_off(surplus)
    }

    /// Follows an expression; `number` counts the choices and repetitions of the rule so far.
    fn follow(&mut self, rule: &'static str, at: &Is, number: &mut u32, is_body: bool, chain: &[String]) {
        let is_new = self.known.insert((at, chain.to_vec()));
        if let One(_) | Times(..) = at {
            *number += 1;
        }
        let group = if is_body { String::new() } else { format!("-{number}") };
        match at {
            Text => {}
            Rule(name) if is_new => self.rule(name, chain),
            Rule(_) => {}
            All(items) => items.iter().for_each(|item| self.follow(rule, item, number, false, chain)),
            One(options) => {
                for (at, option) in (1..).zip(options) {
                    let chain = self.step(format!("{rule}{group}.{at}"), chain);
                    self.follow(rule, option, number, false, &chain);
                }
            }
            Times(item, min) => {
                let before = *number;
                let fewest = self.step(format!("{rule}{group}.fewest"), chain);
                if *min > 0 {
                    self.follow(rule, item, number, false, &fewest);
                }
                *number = before;
                let more = self.step(format!("{rule}{group}.more"), chain);
                self.follow(rule, item, number, false, &more);
            }
        }
    }
}

fn independent(longest: usize) -> BTreeSet<String> {
    let grammar = sums();
    let mut ways = Ways { grammar: &grammar, longest, found: BTreeSet::new(), known: BTreeSet::new() };
    ways.rule("sum", &[]);
    // Chains are longer than paths where they grow from the start.
    ways.found.into_iter().filter(|path| path.split(" > ").count() <= longest).collect()
}

#[test]
fn paths_are_those_of_an_independent_enumeration() {
    let grammar = compiled(SUMS);
    for longest in 1..=4 {
        assert_eq!(all_paths(&grammar, longest), independent(longest), "{longest}");
    }
    assert_eq!(independent(1).len(), 18);
}

#[test]
fn covers_have_all_paths_by_the_parser_too() {
    let grammar = compiled(SUMS);
    for longest in 1..=3 {
        let made = cover(&grammar, longest, Limits::default(), 1).expect("few paths");
        assert_eq!((made.covered, made.beyond_count, made.missing.len()), (made.all, 0, 0), "{longest}");
        let found: BTreeSet<String> =
            made.cases.iter().flat_map(|case| paths_of(&grammar, longest, &case.text)).collect();
        assert_eq!(found, independent(longest), "{longest}");
        let texts: BTreeSet<&[u8]> = made.cases.iter().map(|case| &*case.text).collect();
        assert_eq!(texts.len(), made.cases.len());
        let covers: Vec<&String> = made.cases.iter().flat_map(|case| &case.covers).collect();
        assert!(covers.len() == made.all && made.cases.iter().all(|case| !case.covers.is_empty()));
    }
}

#[test]
fn every_text_of_a_cover_is_needed() {
    let grammar = compiled(SUMS);
    for longest in 1..=3 {
        let made = cover(&grammar, longest, Limits::default(), 3).expect("few paths");
        let own: Vec<BTreeSet<String>> =
            made.cases.iter().map(|case| paths_of(&grammar, longest, &case.text)).collect();
        let count = |path: &String| own.iter().filter(|paths| paths.contains(path)).count();
        assert!(own.iter().all(|paths| paths.iter().any(|path| count(path) == 1)), "{longest}");
    }
    let json = cover(&shipped("json"), 2, Limits::default(), 3).expect("few paths");
    assert_eq!(json.covered, json.all);
    assert!(json.cases.len() < json.all / 4, "{} texts", json.cases.len());
}

#[test]
fn a_seed_makes_one_cover() {
    let grammar = compiled(SUMS);
    let texts = |seed| -> Vec<Vec<u8>> {
        let made = cover(&grammar, 2, Limits::default(), seed).expect("few paths");
        made.cases.into_iter().map(|case| case.text).collect()
    };
    assert_eq!(texts(7), texts(7));
    assert_ne!(texts(7), texts(8));
}

#[test]
fn random_texts_have_no_other_paths_and_come_to_all() {
    let grammar = compiled(SUMS);
    let (mut deriver, mut random) = (Tracer::new(&grammar).deriver(Some(40)), Random::new(1));
    let steps = Steps::new(&grammar);
    let paths = Paths::new(&steps, 2).expect("few paths");
    let mut found = BTreeSet::new();
    for _ in 0..4000 {
        let mut derivation = Derivation::default();
        let mut chooser = |site: &OpenSite<'_>| random.below(site.offered().max(1) as usize) as u32;
        deriver.derive(&[], &mut chooser, &mut derivation);
        found.extend(paths.of(&steps, &derivation, &deriver, None));
    }
    assert_eq!(found.len(), paths.len());
}

#[test]
fn paths_beyond_the_limits_are_told() {
    let nested = compiled("a ::= '<' b '>'  b ::= 'x' | '[' c ']'  c ::= 'y' | '{' d '}'  d ::= 'z'");
    let of = |max_depth, max_len| {
        let made = cover(&nested, 1, Limits { max_depth, max_len }, 0).expect("few paths");
        assert!(made.missing.is_empty(), "{:?}", made.missing);
        assert!(made.cases.iter().all(|case| max_len.is_none_or(|most| case.text.len() as u64 <= most)));
        (made.covered, made.beyond)
    };
    assert_eq!(of(None, None), (6, vec![]));
    assert_eq!(of(None, Some(4)).1, ["b.2", "c.1", "c.2", "d"]);
    assert_eq!(of(Some(2), None).1, ["d"]);
    assert_eq!(of(Some(3), Some(7)), (6, vec![]));
}

#[test]
fn choices_alone_matter_where_bytes_follow_from_others() {
    let labelled = [
        "s ::= $u8(len(d)) d:(a | b)*  a ::= 'a' | 'A'  b ::= 'b' e:'e'{0,2} c{count(e)}  c ::= 'c' | 'C'",
        "f ::= n:name '=' ($n | v) ';' v:v  name ::= [a-z]{1,3}  v ::= 'x' | 'y' $base64(w)  w ::= 'p' | 'q' w",
    ];
    for text in labelled {
        let grammar = compiled(text);
        let made = cover(&grammar, 2, Limits::default(), 0).expect("few paths");
        assert_eq!((made.covered, made.missing), (made.all, vec![]), "{text}");
        let parser = Parser::new(&grammar.lowered);
        for case in &made.cases {
            assert!(parser.parse(&case.text, &Budget::default()).is_ok(), "{text}: {:?}", case.text);
        }
    }
}

#[test]
fn too_many_paths_are_refused() {
    let bushy = compiled("e ::= 'x' | '(' e ')' | '[' e ']' | '{' e '}' | '<' e '>'");
    let refusal = cover(&bushy, 16, Limits::default(), 0).expect_err("more than can be kept");
    assert!(refusal.to_string().contains("ask for shorter ones"), "{refusal}");
}
