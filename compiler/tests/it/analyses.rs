//! Compares analyses with their definitions: least derivations, recursion, pools, slots.

use std::collections::BTreeSet;

use gramjet_compiler::analysis::recursion::{recursion, references};
use gramjet_compiler::analysis::runs::{ChainEnd, chain};
use gramjet_compiler::analysis::{least, shortest};
use gramjet_compiler::ast;
use gramjet_compiler::ir::{Node, RuleId, Slots, print};
use gramjet_compiler::passes::optimise_unfolded;
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_testkit::form::{Form, Kind, System};
use gramjet_testkit::language::{languages, pool};
use gramjet_testkit::{Draw, Passes, Rng, Shape, compiled, passes, random_grammar};

#[test]
fn facts_are_those_of_plain_iteration() {
    for seed in gramjet_testkit::amount::seeds(0..7500) {
        let shape = if seed % 3 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed), &shape);
        let compiled = compiled(&grammar);
        let system = System::of_grammar(&grammar);
        for (rule, body) in compiled.lowered.bodies() {
            let facts = system.facts(rule.index());
            assert_eq!(compiled.lowered.rule(rule).facts, facts, "rule {}\n{}", rule.index(), ast::dump(&grammar));
            assert_eq!(compiled.lowered.facts(body), facts);
        }
        let recomputed = least::of_ir(&compiled.lowered);
        for (rule, _) in compiled.lowered.bodies() {
            assert_eq!(recomputed[rule.index()], Some(system.facts(rule.index())));
        }
    }
}

#[test]
fn minimum_lengths_are_those_of_the_language() {
    let mut compared = 0;
    for seed in 5000..5300 {
        let grammar = random_grammar(&mut Rng::new(seed), &Shape::ENUMERABLE);
        let system = System::of_grammar(&grammar);
        let Some(languages) = languages(&system, 4, 200) else { continue };
        let compiled = compiled(&grammar);
        for (rule, _) in compiled.lowered.bodies() {
            let min_len = compiled.lowered.rule(rule).facts.min_len;
            match languages[rule.index()].iter().map(Vec::len).min() {
                Some(least) => assert_eq!(min_len, least as u64, "{}", ast::dump(&grammar)),
                None => assert!(min_len > 4, "{}", ast::dump(&grammar)),
            }
            compared += 1;
        }
    }
    assert!(compared > 400, "{compared}");
}

/// Returns true if the pool of `form`, or of one of its parts, is too large to keep all its strings.
fn is_sampled(system: &System, form: &Form) -> bool {
    let count = |form: &Form| pool_size(system, form);
    match &form.kind {
        Kind::Bytes(_) => false,
        Kind::Class(set) => set.len() > 256,
        Kind::Variable(variable, _) => system.variables[*variable].as_ref().is_none_or(|form| is_sampled(system, form)),
        Kind::Seq(items) => {
            items.iter().any(|item| is_sampled(system, item))
                || items.iter().map(count).fold(1, usize::saturating_mul) > 256
        }
        Kind::Choice(options, _) => {
            let least = || options.iter().filter(|option| option.facts.min_depth == form.facts.min_depth);
            least().any(|option| is_sampled(system, option)) || least().map(count).sum::<usize>() > 256
        }
        Kind::Repeat(_, 0, _) | Kind::Repeat(_, _, Some(0)) => false,
        Kind::Repeat(item, min, _) => is_sampled(system, item) || count(item).saturating_pow(*min) > 256,
        Kind::Times(..) | Kind::Scope(..) | Kind::Label(..) | Kind::Derived(_) | Kind::Naming(..) | Kind::Coded(..) => {
            false
        }
    }
}

/// Returns the greatest possible number of strings, counting duplicates.
fn pool_size(system: &System, form: &Form) -> usize {
    match &form.kind {
        Kind::Bytes(_) => 1,
        Kind::Class(set) => set.len() as usize,
        Kind::Variable(variable, _) => system.variables[*variable].as_ref().map_or(0, |form| pool_size(system, form)),
        Kind::Seq(items) => items.iter().map(|item| pool_size(system, item)).fold(1, usize::saturating_mul),
        Kind::Choice(options, _) => {
            let least = options.iter().filter(|option| option.facts.min_depth == form.facts.min_depth);
            least.map(|option| pool_size(system, option)).sum()
        }
        Kind::Repeat(_, 0, _) | Kind::Repeat(_, _, Some(0)) => 1,
        Kind::Repeat(item, min, _) => pool_size(system, item).saturating_pow(*min),
        Kind::Times(..) | Kind::Scope(..) | Kind::Label(..) | Kind::Derived(_) | Kind::Naming(..) | Kind::Coded(..) => {
            0
        }
    }
}

#[test]
fn pools_are_the_strings_of_least_depth() {
    let (mut whole, mut sampled) = (0, 0);
    for seed in 9000..9500 {
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed), &shape);
        let compiled = compiled(&grammar);
        let system = System::of_grammar(&grammar);
        for (rule, _) in compiled.lowered.bodies() {
            let form = system.variables[rule.index()].as_ref().expect("a rule with a body");
            let pool_of_rule = compiled.pools.get(rule).expect("strings are short here");
            let strings: Vec<Vec<u8>> = pool_of_rule.strings.iter().map(|string| string.to_vec()).collect();
            let context = || format!("rule {} of seed {seed}\n{}", rule.index(), ast::dump(&grammar));
            assert!(strings.is_sorted_by(|a, b| (a.len(), a) < (b.len(), b)), "{}", context());
            assert!((1..=256).contains(&strings.len()));
            let shortest = strings[0].len() as u64;
            assert_eq!(pool_of_rule.shortest.is_some(), shortest > form.facts.min_len, "{}", context());
            if let Some(string) = &pool_of_rule.shortest {
                let mut derived = Vec::new();
                derive_shortest(&system, form, &mut derived);
                assert_eq!(**string, *derived, "{}", context());
            }
            let Some(all) = pool(&system, rule.index(), 1500) else { continue };
            if is_sampled(&system, form) {
                sampled += 1;
                assert!(strings.iter().all(|string| all.contains(string)), "{}", context());
                // The least string is never left out, and the sample is not small.
                let least = all.iter().min_by_key(|string| (string.len(), (*string).clone()));
                assert_eq!(Some(&strings[0]), least, "{}", context());
                assert!(strings.len() >= 128.min(all.len() / 2), "{} of {}, {}", strings.len(), all.len(), context());
            } else {
                whole += 1;
                let found: BTreeSet<Vec<u8>> = strings.into_iter().collect();
                assert!(found == all, "{}\nfound {found:?}\nexpected {all:?}", context());
            }
        }
    }
    println!("{whole} whole, {sampled} sampled");
    assert!(whole > 1000 && sampled > 30);
}

fn derive_shortest(system: &System, form: &Form, output: &mut Vec<u8>) {
    match &form.kind {
        Kind::Bytes(bytes) => output.extend(bytes),
        Kind::Class(set) => output.extend(set.encode(set.iter().next().expect("a member")).as_ref()),
        Kind::Variable(variable, _) => {
            derive_shortest(system, system.variables[*variable].as_ref().expect("a rule with a body"), output);
        }
        Kind::Seq(items) => items.iter().for_each(|item| derive_shortest(system, item, output)),
        Kind::Choice(options, _) => derive_shortest(system, &options[0], output),
        Kind::Repeat(_, _, Some(0)) => {}
        Kind::Repeat(item, min, _) => (0..*min).for_each(|_| derive_shortest(system, item, output)),
        Kind::Times(..) | Kind::Scope(..) | Kind::Label(..) | Kind::Derived(_) | Kind::Naming(..) | Kind::Coded(..) => {
        }
    }
}

/// The rules that each rule reaches in one or more steps, by Warshall's algorithm.
#[test]
fn recursion_is_reachability() {
    for seed in 0..300 {
        let shape = if seed % 2 == 0 { Shape::VARIED } else { Shape::ENUMERABLE };
        let grammar = random_grammar(&mut Rng::new(seed + 40_000), &shape);
        let Passes { lowered, results, .. } = passes(&grammar, &Default::default());
        for ir in std::iter::once(&lowered).chain(results.iter().map(|(_, ir)| ir)) {
            let count = ir.rules().len();
            let mut reach = vec![vec![false; count]; count];
            let references = references(ir);
            for rule in 0..ir.rules().len() {
                let targets = &references[rule];
                targets.iter().for_each(|target| reach[rule][target.index()] = true);
            }
            for via in 0..count {
                for from in 0..count {
                    for to in 0..count {
                        reach[from][to] |= reach[from][via] && reach[via][to];
                    }
                }
            }
            let found = recursion(ir);
            let position = |rule: RuleId| found.bottom_up().iter().position(|&other| other == rule);
            for (rule, _) in ir.bodies() {
                assert_eq!(found.is_recursive(rule), reach[rule.index()][rule.index()], "{}", print(ir));
                for (other, _) in ir.bodies() {
                    let (there, back) = (reach[rule.index()][other.index()], reach[other.index()][rule.index()]);
                    assert_eq!(found.same_component(rule, other), rule == other || (there && back));
                    assert!(!there || back || position(other) < position(rule), "callees come first");
                }
            }
            assert_eq!(found.bottom_up().len(), ir.bodies().count());
        }
    }
}

#[test]
fn steps_are_those_of_the_shortest_derivation() {
    fn count(system: &System, form: &Form) -> u64 {
        match &form.kind {
            Kind::Bytes(_) | Kind::Class(_) | Kind::Repeat(_, 0, _) => 1,
            Kind::Variable(variable, _) => 1 + count(system, system.variables[*variable].as_ref().expect("a body")),
            Kind::Seq(items) => 1 + items.iter().map(|item| count(system, item)).sum::<u64>(),
            Kind::Choice(options, _) => 1 + count(system, &options[0]),
            Kind::Repeat(item, min, _) => 1 + count(system, item) * u64::from(*min),
            Kind::Times(..)
            | Kind::Scope(..)
            | Kind::Label(..)
            | Kind::Derived(_)
            | Kind::Naming(..)
            | Kind::Coded(..) => 0,
        }
    }
    for seed in 0..300 {
        let grammar = random_grammar(&mut Rng::new(seed + 70_000), &Shape::VARIED);
        let compiled = compiled(&grammar);
        let system = System::of_ir(&compiled.lowered);
        let steps = shortest::steps(&compiled.lowered);
        for (rule, _) in compiled.lowered.bodies() {
            let form = system.variables[rule.index()].as_ref().expect("a rule with a body");
            assert_eq!(steps[rule.index()], count(&system, form), "{}", print(&compiled.lowered));
        }
    }
}

#[test]
fn slots_keep_their_laws() {
    let mut rng = Rng::new(3);
    for round in 0..2000 {
        let count = if round % 50 == 0 { rng.between(200, 3000) } else { rng.between(2, 40) };
        let magnitudes = rng.between(1, 30) as i32;
        let weights: Vec<f64> = (0..count)
            .map(|_| (1 + rng.below(1000)) as f64 * 10f64.powi(rng.below(magnitudes as usize) as i32 - magnitudes / 2))
            .collect();
        let slots = Slots::from_weights(&weights).expect("there are enough slots");
        let sum: f64 = weights.iter().sum();
        let whole = f64::from(1u32 << slots.bits());
        assert_eq!(slots.ends().len(), count);
        assert_eq!(slots.ends().last(), Some(&(1 << slots.bits())));
        for (option, weight) in weights.iter().enumerate() {
            assert!(slots.count(option) >= 1);
            assert!((f64::from(slots.count(option)) / whole - weight / sum).abs() <= 1.0 / 256.0);
        }
        // The narrowest sufficient width.
        let raised: f64 = weights.iter().map(|weight| (weight / sum * 256.0).max(1.0)).sum();
        assert!(slots.bits() > 8 || count <= 256);
        assert!(slots.bits() == 8 || raised > 257.0, "{} bits, though {raised} slots of 256 are wanted", slots.bits());
        // A greater weight never has fewer slots.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]));
        assert!(order.windows(2).all(|pair| slots.count(pair[0]) <= slots.count(pair[1]) + 1), "{weights:?} {slots:?}");
        for slot in (0..1 << slots.bits()).step_by(if slots.bits() == 8 { 1 } else { 257 }) {
            let option = slots.option_of(slot);
            assert!(slot < slots.ends()[option] && (option == 0 || slot >= slots.ends()[option - 1]));
        }
        let shares: Vec<f64> = (0..count).map(|option| slots.share(option)).collect();
        assert!(weights.iter().zip(&shares).all(|(weight, share)| (weight / sum - share).abs() <= 1e-11));
        let again = Slots::from_ends(slots.bits(), slots.ends().to_vec()).map(|slots| slots.with_shares(shares));
        assert_eq!(again, Some(slots));
    }
    assert_eq!(Slots::from_ends(8, vec![3, 3, 256]), None);
    assert_eq!(Slots::from_ends(8, vec![0, 256]), None);
    assert_eq!(Slots::from_ends(8, vec![3, 255]), None);
    assert_eq!(Slots::from_ends(12, vec![3, 4096]), None);
    assert_eq!(Slots::from_ends(8, vec![]), None);
}

/// Returns the chains in the start rule with an unfolded limit: the number of rounds, whether the round that stops has
/// a member, and the end.
fn chains_of(text: &str, max_depth: u32) -> Vec<(usize, bool, &'static str)> {
    let Ok((compiled, _)) = compile(&SourceFile::new("g.ebnf", text), &Options::default()) else {
        panic!("the grammar compiles")
    };
    let Some(ir) = optimise_unfolded(&compiled.lowered, &compiled.pools, max_depth, 10_000) else { return Vec::new() };
    let (mut chains, mut open) = (Vec::new(), Vec::from_iter(ir.body(ir.start())));
    while let Some(node) = open.pop() {
        let Some(chain) = chain(&ir, node) else {
            open.extend(ir.children(node));
            continue;
        };
        let end = match chain.end {
            ChainEnd::Nothing => "nothing",
            ChainEnd::Byte(_) => "byte",
            ChainEnd::Node(rest) if matches!(ir.node(rest), Node::Rule(_)) => "rule",
            ChainEnd::Node(_) => "node",
        };
        chains.push((chain.rounds.len(), chain.plus, end));
    }
    chains
}

#[test]
fn unfolded_right_recursion_is_a_chain() {
    let star = "s ::= '' | (' ' | #x9) s";
    assert_eq!([0, 1, 2, 3].map(|depth| chains_of(star, depth)), [1, 2, 3, 4].map(|n| vec![(n, false, "nothing")]));
    assert_eq!(chains_of(star, 9), [(4, false, "node")]);
    // The pool of `s` is sorted, the grammar's options are not. One level before the limit the tail is shared.
    let plus = "s ::= d | d s\nd ::= '7' | '3' | '5'";
    assert_eq!([1, 2, 3].map(|depth| chains_of(plus, depth)), [2, 3, 4].map(|n| vec![(n, true, "byte")]));
    assert_eq!(chains_of(plus, 9), [(4, true, "node")]);
    for none in ["s ::= '' | 'ab' s", "s ::= '' | s [ab]", "s ::= ('' | [ab]) @ 3 | [ab] s", "s ::= '' | [ab] s [cd]"] {
        assert!(chains_of(none, 3).iter().all(|&(rounds, ..)| rounds == 1), "{none}");
    }
    // `s` with three levels left is a function. The part that chains leave of it is copied if it is one more chain.
    let shared = "t ::= s ',' u\nu ::= '1' | s v s\nv ::= '2' | s x s\nx ::= s '.' s s\ns ::= '' | (' ' | #x9) s";
    assert!(chains_of(shared, 7).iter().all(|&(rounds, _, end)| rounds == 4 && end != "rule"));
    assert!(chains_of(shared, 9).contains(&(3, false, "rule")));
}
