//! Names in emitted code: rule names as identifiers, all different.

use proc_macro2::{Ident, Span};

use crate::ir::Ir;
use crate::ordered::{Map, Set};

/// Makes names unique: a name that is taken gets a number.
#[derive(Default)]
pub struct Taken {
    names: Set<String>,
    /// The last number given to each name.
    numbers: Map<String, usize>,
}

impl Taken {
    /// Returns `name`, with a number if it is taken.
    pub fn unique(&mut self, name: &str) -> Ident {
        let number = self.numbers.entry(name.to_string()).or_insert(1);
        let mut unique = name.to_string();
        while !self.names.insert(unique.clone()) {
            *number += 1;
            unique = format!("{name}_{number}");
        }
        Ident::new(&unique, Span::call_site())
    }
}

/// Returns the function name of each rule; rules without a body are not called.
pub fn functions(ir: &Ir) -> Vec<Ident> {
    let mut taken = Taken::default();
    ir.rule_ids()
        .map(|rule| match ir.body(rule) {
            Some(_) => taken.unique(&format!("rule_{}", words(&ir.rule(rule).name).to_lowercase())),
            None => Ident::new("rule", Span::call_site()),
        })
        .collect()
}

/// Returns a name for a constant.
pub fn constant(prefix: &str, rule: &str) -> String {
    format!("{prefix}_{}", words(rule).to_uppercase())
}

/// Returns the ASCII letters and digits of a name. Other characters become single underscores. At most 40 characters.
fn words(name: &str) -> String {
    let mut words = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            words.push(character);
        } else if !words.is_empty() && !words.ends_with('_') {
            words.push('_');
        }
        if words.len() >= 40 {
            break;
        }
    }
    words.trim_end_matches('_').to_string()
}
