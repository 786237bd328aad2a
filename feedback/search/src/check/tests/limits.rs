//! Checks of subjects that return at a limit on cost.

use std::cell::Cell;

use super::*;

const LIMIT: u64 = 100_000;

/// Counts steps up to the limit.
#[derive(Default)]
struct Steps(u64);

impl Steps {
    /// Counts a step. Returns true if there is another one.
    fn step(&mut self) -> bool {
        self.0 += 1;
        self.0 < LIMIT
    }
}

/// Returns the cost of a text by a function that counts its steps.
fn counted(count: impl Fn(&[u8], &mut Steps)) -> impl Fn(&[u8]) -> u64 {
    move |text| {
        let mut steps = Steps::default();
        count(text, &mut steps);
        10 + text.len() as u64 + steps.0
    }
}

/// Returns true if `(a+)+b` matches at the beginning of a text.
fn groups(text: &[u8], steps: &mut Steps) -> bool {
    let run = text.iter().take_while(|&&byte| byte == b'a').count();
    (1..=run).rev().any(|taken| !steps.step() || groups(&text[taken..], steps) || text.get(taken) == Some(&b'b'))
}

fn fibonacci(n: usize, steps: &mut Steps) {
    if steps.step() && n >= 2 {
        fibonacci(n - 1, steps);
        fibonacci(n - 2, steps);
    }
}

/// Reads `e ::= t '+' e | t '-' e | t  t ::= 'x' | '(' e ')'` without memory; returns where the text ends.
fn expression(text: &[u8], at: usize, steps: &mut Steps) -> Option<usize> {
    let mut end = None;
    for operator in [Some(b'+'), Some(b'-'), None] {
        if !steps.step() {
            return None;
        }
        end = match text.get(at) {
            Some(b'(') => {
                let end = expression(text, at + 1, steps)?;
                (text.get(end) == Some(&b')')).then_some(end + 1)
            }
            _ => Some(at + 1),
        };
        match (end, operator) {
            (Some(end), Some(operator)) if text.get(end) == Some(&operator) => return expression(text, end + 1, steps),
            _ => {}
        }
    }
    end
}

/// Returns true if `(a+)+` and the end of the text match: a text of `a` alone does at once, and one that ends otherwise
/// after all ways to divide it were tried.
fn whole_groups(text: &[u8], steps: &mut Steps) -> bool {
    let run = text.iter().take_while(|&&byte| byte == b'a').count();
    run > 0 && run == text.len() || (1..=run).rev().any(|taken| !steps.step() || whole_groups(&text[taken..], steps))
}

/// Parts alone may be quick, and the text slow.
#[test]
fn growth_that_needs_the_rest_of_the_text_does_not_pass() {
    let cost = counted(|text, steps| _ = whole_groups(text, steps));
    for max_len in 12..=20 {
        let failed = on("whole-groups", "s ::= letter*  letter ::= [a-c]", |check| {
            check
                .texts(3000)
                .max_len(max_len)
                .cost_limit(LIMIT)
                .growth_within(1.5, &mut |text: &[u8]| cost(text))
                .is_err()
        });
        assert!(failed, "{max_len}");
    }
}

#[test]
fn exponential_growth_up_to_the_limit_is_found() {
    const LETTERS: &str = "s ::= letter*  letter ::= [a-z]";
    let check = |name: &str, grammar: &str, bases: &[&str], cost: &dyn Fn(&[u8]) -> u64| {
        // Some limits are reached by the search, and others by repeated texts alone.
        for max_len in [8, 14, 20, 60] {
            let (runs, spent) = (Cell::new(0), Cell::new(0));
            let cost = |text: &[u8]| {
                let cost = cost(text);
                runs.set(runs.get() + 1);
                spent.set(spent.get() + cost);
                cost
            };
            let failed = on(name, grammar, |check| {
                message(|| check.texts(1000).max_len(max_len).cost_limit(LIMIT).grows_at_most(3.0, cost))
            });
            let is_law = bases.iter().any(|base| failed.contains(&format!("cost ~ {base}^n (95 %")));
            assert!(is_law && failed.contains("grows too fast"), "{name}, {max_len}: {failed}");
            assert!(runs.get() < 4000 && spent.get() < 1000 * LIMIT, "{name}, {max_len}: {runs:?}, {spent:?}");
        }
    };
    let groups = counted(|text, steps| _ = groups(text, steps));
    check("groups", "s ::= letter*  letter ::= [a-c]", &["2.0"], &groups);
    // Two letters may be repeated at once.
    check("fibonacci", LETTERS, &["1.6", "2.6"], &counted(|text, steps| fibonacci(text.len(), steps)));
    let expression = counted(|text, steps| _ = expression(text, 0, steps));
    check("expression", "e ::= t | t '+' e | t '-' e  t ::= 'x' | '(' e ')'", &["3.0"], &expression);
}

#[test]
fn a_limit_that_slow_growth_explains_is_no_failure() {
    let commas = |text: &[u8]| text.iter().filter(|&&byte| byte == b',').count() as u64;
    let linear = |text: &[u8]| 20 + 3 * text.len() as u64;
    let check = Check::new("json").texts(400).max_len(40);
    // Beyond all texts, reached by those of some kilobytes, and by those of some hundred bytes.
    for limit in [LIMIT, 10_000, 3000] {
        check.clone().cost_limit(limit).grows_at_most(1.2, |text| linear(text).min(limit));
    }
    let quadratic = |text: &[u8]| (linear(text) + commas(text).pow(2)).min(LIMIT);
    check.clone().cost_limit(LIMIT).grows_at_most(2.2, quadratic);
    let failed = message(|| check.clone().cost_limit(LIMIT).grows_at_most(1.5, quadratic));
    assert!(failed.contains("grows too fast") && failed.contains("cost ~ n^2.0 (95 %"), "{failed}");
    // Too little is measured below this limit to prove a law, but enough to rule out faster growth.
    let quadratic = |text: &[u8]| (10 + (text.len() as u64).pow(2)).min(50_000);
    let check = check.cost_limit(50_000);
    check.grows_at_most(2.2, quadratic);
    let failed = message(|| check.grows_at_most(1.5, quadratic));
    assert!(failed.contains("cost ~ n^2.0 (95 %"), "{failed}");
}

/// Of like places in a text, the one where the cost grows fastest counts, although the limit ends all of them.
#[test]
fn growth_is_found_beside_slow_growth_up_to_the_limit() {
    let within = |text: &[u8]| text.split(|&byte| byte == b'{').nth(1).map_or(0, |list| list.len() as u64 - 1);
    let cost = |text: &[u8]| (200 * text.len() as u64 + 4 * within(text).pow(2)).min(LIMIT);
    let failed = on("places", "s ::= '[' l ']' '{' l '}'  l ::= 'a'+", |check| {
        message(|| check.texts(300).max_len(10).cost_limit(LIMIT).grows_at_most(1.5, cost))
    });
    let law = failed.lines().last().unwrap_or_default();
    assert!(law.starts_with("cost ~ n^2.0 (95 %") && law.contains(", stopped at n = "), "{failed}");
    // Both together grow alike.
    assert!(law.ends_with("in the number of rounds of a repetition in `l`") && !law.contains(" and "), "{failed}");
}

#[test]
fn a_limit_that_no_law_explains_is_a_failure() {
    let depth = |text: &[u8]| depth(text).min(9);
    let check = Check::new("json").texts(400).max_len(16).cost_limit(LIMIT);
    // The costs do not show what comes.
    let failed = message(|| check.grows_at_most(9.0, |text| if depth(text) == 9 { LIMIT } else { 10 + depth(text) }));
    assert!(failed.contains("reaches the limit before its growth is known"), "{failed}");
    assert!(failed.lines().last().is_some_and(|law| law.contains("stopped at n = ")), "{failed}");
}

#[test]
fn a_text_of_the_search_that_reaches_the_limit_is_a_failure() {
    let check = Check::new("json").texts(400).max_len(60).cost_limit(20);
    let failed = message(|| check.grows_at_most(1.2, |text| (text.len() as u64).min(20)));
    assert!(failed.contains(", made smaller in "), "{failed}");
    assert!(failed.ends_with("\nit costs 20 or more, as the limit is reached"), "{failed}");
}

#[test]
fn a_bound_is_checked_up_to_the_limit() {
    let check = Check::new("json").texts(2000).max_len(60).cost_limit(10);
    let depth = |text: &[u8]| depth(text).min(10);
    let failed = message(|| check.costs_at_most(|_| 8, depth));
    assert!(failed.ends_with("it costs 9, and for 18 bytes 8 are allowed"), "{failed}");
    // More would be allowed than the cost that is known.
    let failed = message(|| check.costs_at_most(|_| 12, depth));
    assert!(failed.ends_with("it reaches the limit on cost, 10, and for 20 bytes 12 are allowed"), "{failed}");
    check.costs_at_most(|_| 12, |text| depth(text) / 2);
}
