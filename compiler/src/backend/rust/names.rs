//! Names in emitted code: rule names as identifiers, all different.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

use crate::ir::Ir;

/// The function name of each rule.
pub fn functions(ir: &Ir) -> Vec<Ident> {
    let mut taken = BTreeSet::new();
    ir.rules()
        .iter()
        .map(|rule| {
            let name = format!("rule_{}", words(&rule.name).to_lowercase());
            let mut unique = name.clone();
            let mut number = 1;
            while !taken.insert(unique.clone()) {
                number += 1;
                unique = format!("{name}_{number}");
            }
            Ident::new(&unique, Span::call_site())
        })
        .collect()
}

/// A name for a constant.
pub fn constant(prefix: &str, rule: &str) -> String {
    format!("{prefix}_{}", words(rule).to_uppercase())
}

/// The ASCII letters and digits of a name, what is between them as one underscore; at most 40 characters.
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
