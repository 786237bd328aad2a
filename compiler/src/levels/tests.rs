//! The rungs of random operator rules, compared with a parser that climbs through the operators of a text.

use arbtest::arbtest;

use super::{Alternative, Binding, Body, Chaining, Rule, ladder};
use crate::ordered::Map;

/// A right-hand side in its plainest form.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Token(char),
    Rule(String),
    Seq(Vec<Item>),
}

impl Body for Item {
    type Rule = String;

    fn items(&self) -> Option<&[Item]> {
        let Item::Seq(items) = self else { return None };
        Some(items)
    }

    fn items_mut(&mut self) -> Option<&mut [Item]> {
        let Item::Seq(items) = self else { return None };
        Some(items)
    }

    fn reference(&self) -> Option<String> {
        let Item::Rule(rule) = self else { return None };
        Some(rule.clone())
    }

    fn refer(&mut self, rule: &String) {
        *self = Item::Rule(rule.clone());
    }

    fn size(&self) -> usize {
        1
    }
}

/// Returns an alternative. Capitals are references: `E` to the operator rule, others to the rule of their name.
fn body(text: &str) -> Item {
    let item = |c: char| if c.is_ascii_uppercase() { Item::Rule(c.to_string()) } else { Item::Token(c) };
    Item::Seq(text.chars().map(item).collect())
}

type Grammar = Map<String, Vec<Item>>;

fn rule(name: &str, alternatives: &[(&str, Binding)]) -> Rule<Item> {
    let alternatives = alternatives.iter().map(|&(text, binding)| Alternative { body: body(text), binding });
    Rule { name: name.to_string(), alternatives: alternatives.collect() }
}

fn plain(rules: &[Rule<Item>]) -> Grammar {
    let bodies = |rule: &Rule<Item>| rule.alternatives.iter().map(|one| one.body.clone()).collect();
    rules.iter().map(|rule| (rule.name.clone(), bodies(rule))).collect()
}

fn with_levels(rules: &[Rule<Item>]) -> Grammar {
    let mut count = 1;
    let fresh = |rule: &String| {
        count += 1;
        format!("{rule}{count}")
    };
    let mut grammar = plain(rules);
    for rung in ladder(rules, fresh).into_values().flatten() {
        grammar.insert(rung.name, rung.alternatives.into_iter().map(|(_, body)| body).collect());
    }
    grammar
}

/// The texts of each length that a rule derives, each with its trees: an instance of the rule stands in brackets unless
/// it is a single token.
type Trees = Map<String, Vec<String>>;

fn trees_of(grammar: &Grammar, name: &str, length: usize, known: &mut Map<(String, usize), Trees>) -> Trees {
    let key = (name.to_string(), length);
    if let Some(trees) = known.get(&key) {
        return trees.clone();
    }
    let mut all = Trees::new();
    for item in &grammar[name] {
        for (text, trees) in sequence(grammar, std::slice::from_ref(item), length, known) {
            let is_bare =
                |tree: &String| text.len() == 1 || matches!(item.items(), Some([Item::Rule(_)])) || tree.is_empty();
            let trees = trees.into_iter().map(|tree| if is_bare(&tree) { tree } else { format!("[{tree}]") });
            all.entry(text.clone()).or_default().extend(trees);
        }
    }
    known.insert(key, all.clone());
    all
}

fn sequence(grammar: &Grammar, items: &[Item], length: usize, known: &mut Map<(String, usize), Trees>) -> Trees {
    let one = |text: &str| Trees::from([(text.to_string(), vec![text.to_string()])]);
    match items {
        [] if length == 0 => one(""),
        [] => Trees::new(),
        [Item::Seq(inner), rest @ ..] => {
            let all: Vec<Item> = inner.iter().chain(rest).cloned().collect();
            sequence(grammar, &all, length, known)
        }
        [first, rest @ ..] => {
            let mut all = Trees::new();
            // Every item has at least one character.
            let longest = length.saturating_sub(rest.len());
            for own in 1..=longest {
                let firsts = match first {
                    Item::Token(token) if own == 1 => one(&token.to_string()),
                    Item::Rule(rule) => trees_of(grammar, rule, own, known),
                    Item::Token(_) | Item::Seq(_) => continue,
                };
                if firsts.is_empty() {
                    continue;
                }
                let behind = sequence(grammar, rest, length - own, known);
                for (left, left_trees) in &firsts {
                    for (right, right_trees) in &behind {
                        let trees = left_trees.iter().flat_map(|a| right_trees.iter().map(move |b| format!("{a}{b}")));
                        all.entry(format!("{left}{right}")).or_default().extend(trees);
                    }
                }
            }
            all
        }
    }
}

/// Climbs through the operators of a text: the innermost open operand takes an operator or lets it pass.
struct Climber<'g> {
    alternatives: &'g [(String, Binding)],
    text: Vec<char>,
    at: usize,
}

impl Climber<'_> {
    /// Returns the alternative of the next token that begins with an operand, or not.
    fn next(&self, begins: bool) -> Option<&(String, Binding)> {
        let token = *self.text.get(self.at)?;
        let is_it = |text: &str| text.starts_with('E') == begins && text.chars().find(|&c| c != 'E') == Some(token);
        self.alternatives.iter().find(|(text, _)| is_it(text))
    }

    /// Reads the rest of an alternative whose first operand was read.
    fn rest(&mut self, text: &str, binding: Binding, tree: &mut String) -> Option<()> {
        for (place, c) in text.char_indices() {
            match c {
                'E' if place == 0 => {}
                'E' if place + 1 == text.len() => tree.push_str(&self.operand(Some(binding))?),
                'E' => tree.push_str(&self.operand(None)?),
                token => {
                    (self.text.get(self.at) == Some(&token)).then_some(())?;
                    tree.push(token);
                    self.at += 1;
                }
            }
        }
        Some(())
    }

    fn operand(&mut self, slot: Option<Binding>) -> Option<String> {
        let (text, binding) = self.next(false)?.clone();
        let mut tree = String::new();
        self.rest(&text, binding, &mut tree)?;
        let mut whole = if text.len() == 1 { tree } else { format!("[{tree}]") };
        while let Some((text, binding)) = self.next(true).cloned() {
            if let Some(slot) = slot.filter(|slot| binding.operator < slot.least()) {
                return slot.lets_pass(binding.operator).then_some(whole);
            }
            let mut tree = whole;
            self.rest(&text, binding, &mut tree)?;
            whole = format!("[{tree}]");
        }
        Some(whole)
    }
}

fn climbed(alternatives: &[(String, Binding)], text: &str) -> Option<String> {
    let mut climber = Climber { alternatives, text: text.chars().collect(), at: 0 };
    let tree = climber.operand(None)?;
    (climber.at == climber.text.len()).then_some(tree)
}

/// Compares the texts of up to `longest` characters, and their trees.
fn compare(rules: &[Rule<Item>], alternatives: &[(String, Binding)], longest: usize) {
    let (before, after) = (plain(rules), with_levels(rules));
    let (mut known, mut known_after) = (Map::new(), Map::new());
    for length in 1..=longest {
        let before = trees_of(&before, "E", length, &mut known);
        let after = trees_of(&after, "E", length, &mut known_after);
        let expected: Map<&String, Vec<String>> =
            before.keys().filter_map(|text| Some((text, vec![climbed(alternatives, text)?]))).collect();
        let found: Map<&String, Vec<String>> = after.iter().map(|(text, trees)| (text, trees.clone())).collect();
        assert_eq!(found, expected, "{alternatives:?}");
        if alternatives.iter().all(|(_, binding)| binding.chaining != Chaining::Never) {
            assert!(before.keys().eq(after.keys()), "{alternatives:?}");
        }
    }
}

fn binding(
    u: &mut arbtest::arbitrary::Unstructured<'_>,
    chains: &[Chaining; 4],
) -> arbtest::arbitrary::Result<Binding> {
    let level = u.int_in_range(0..=3)?;
    Ok(Binding::new(level + 1, chains[level as usize]))
}

#[test]
fn random_operators_have_the_trees_that_climbing_finds() {
    const OPERATORS: [&str; 8] = ["EaE", "EbE", "EcE", "dE", "eE", "Ef", "EgEhE", "iEjE"];
    arbtest(|u| {
        let kinds = [Chaining::Left, Chaining::Right, Chaining::Never];
        let mut chains = [Chaining::Left; 4];
        for chain in &mut chains {
            *chain = *u.choose(&kinds)?;
        }
        let mut alternatives = vec![("x".to_string(), Binding::GREEDY)];
        let mut hidden = Vec::new();
        for text in OPERATORS {
            let mut own = binding(u, &chains)?;
            match u.int_in_range(0..=9)? {
                0..=2 => continue,
                3 => own = Binding::GREEDY,
                4 if text.starts_with('E') => own.operator = u.int_in_range(1..=4)?,
                5 => hidden.push(text),
                _ => {}
            }
            alternatives.push((text.to_string(), own));
        }
        // Some of the alternatives stand in a rule of their own.
        let (own, others): (Vec<_>, Vec<_>) =
            alternatives.iter().map(|(text, own)| (text.as_str(), *own)).partition(|(text, _)| !hidden.contains(text));
        let mut own = own;
        let mut rules = Vec::new();
        if !others.is_empty() {
            own.push(("F", Binding::GREEDY));
            rules.push(rule("F", &others));
        }
        rules.push(rule("E", &own));
        compare(&rules, &alternatives, 7);
        Ok(())
    })
    .budget_ms(2_000);
}

/// Checks the rungs of rules, one per line.
fn check(rules: &[Rule<Item>], expected: &str) {
    let text = |items: &Item| {
        items
            .items()
            .unwrap_or_default()
            .iter()
            .map(|item| match item {
                Item::Token(token) => format!("{token} "),
                Item::Rule(rule) => format!("{rule} "),
                Item::Seq(_) => String::new(),
            })
            .collect::<String>()
            .trim_end()
            .to_string()
    };
    let lines = with_levels(rules)
        .into_iter()
        .map(|(name, all)| format!("{name}: {}\n", all.iter().map(text).collect::<Vec<_>>().join(" | ")));
    assert_eq!(lines.collect::<String>(), expected);
}

#[test]
fn each_rung_has_the_alternatives_that_its_place_allows() {
    let [times, plus, minus] = [3, 2, 1].map(|level| Binding::new(level, Chaining::Left));
    check(
        &[rule("E", &[("E*E", times), ("E+E", plus), ("-E", minus), ("x", Binding::GREEDY), ("(E)", Binding::GREEDY)])],
        "E: E2 * E3 | E4 + E5 | - E | x | ( E )\n\
         E2: E2 * E6 | x | ( E )\n\
         E3: - E | x | ( E )\n\
         E4: E2 * E6 | E4 + E2 | x | ( E )\n\
         E5: E2 * E3 | - E | x | ( E )\n\
         E6: x | ( E )\n",
    );
}

#[test]
fn rules_without_competing_operators_stay() {
    let greedy = Binding::GREEDY;
    check(&[rule("E", &[("E+", greedy), ("x", greedy)])], "E: E + | x\n");
    check(&[rule("E", &[("-E", greedy), ("x", greedy)])], "E: - E | x\n");
    check(&[rule("E", &[("E+E", greedy), ("E", greedy), ("x", greedy)])], "E: E + E | E | x\n");
    check(&[rule("E", &[("E+E", greedy)])], "E: E + E\n");
}
