//! Choice bytes with a header: writes a grammar's header, and checks whether a header belongs to a grammar.

use std::fmt::Write as _;

use gramjet::Limits;
use gramjet::choices::Header;
use gramjet_compiler::formats::ZeroWeights;
use gramjet_compiler::shape::{InForce, Shape};
use gramjet_compiler::tokens::{Alphabet, Indent, SeparatorPolicy};
use gramjet_compiler::{Compiled, Fingerprints, Options};

/// Reading of the grammar with which choice bytes were recorded, as the recipe in their header says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The start rule, if it is not the grammar's own.
    pub start: Option<String>,
    /// Policy for separators between tokens, in formats with a lexer.
    pub separators: SeparatorPolicy,
    /// The characters that complements of sets drew from, if not the usual ones.
    pub alphabet: Option<Alphabet>,
    /// Reading of tokens for indentation, in formats whose grammars leave them to code.
    pub indent: Indent,
    /// Treatment of alternatives of weight 0: whether they belonged to the language.
    pub zero_weights: ZeroWeights,
    /// Origin of the weights.
    pub weights: InForce,
}

/// Choice bytes that mean nothing, or something else, under the grammar at hand; the text names the differences.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Foreign(String);

impl Recipe {
    /// Returns the recipe of a grammar that was compiled with these options.
    pub fn new(compiled: &Compiled, options: &Options) -> Recipe {
        Recipe {
            start: options.start.clone(),
            separators: Some(options.reading.separators).filter(|_| compiled.has_lexer).unwrap_or_default(),
            alphabet: options.reading.alphabet.filter(|_| compiled.has_lexer),
            indent: options.reading.indent,
            zero_weights: options.zero_weights(),
            weights: compiled.weights,
        }
    }

    /// Returns the header of choice bytes of the grammar with these fingerprints, which stand for their text under
    /// `limits`.
    pub fn header(&self, fingerprints: Fingerprints, limits: Limits) -> Header {
        Header { choices: fingerprints.choices, grammar: fingerprints.grammar, limits, recipe: self.text() }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |key: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key}={}", value.escape_default());
        };
        if let Some(start) = &self.start {
            line("start", start);
        }
        if let Some(name) = name_of(SeparatorPolicy::ALL, self.separators) {
            line("separators", name);
        }
        if let Some(name) = self.alphabet.and_then(|alphabet| name_of(Alphabet::ALL, alphabet)) {
            line("alphabet", name);
        }
        if self.indent != Indent::default() {
            line("indent", &self.indent.to_string());
        }
        if let (ZeroWeights::Keep, Some(name)) = (self.zero_weights, name_of(ZeroWeights::ALL, self.zero_weights)) {
            line("zero-weights", name);
        }
        match self.weights {
            InForce::Own => line("weights", "own"),
            InForce::File => line("weights", "file"),
            InForce::Shape { shape, depth } => {
                line("shape", &shape.to_string());
                line("depth", &depth.map_or_else(|| "none".to_string(), |depth| depth.to_string()));
            }
        }
        text
    }

    /// Returns the recipe in a header. Entries that are missing or not understood take the usual values.
    pub fn of(header: &Header) -> Recipe {
        let value = |key: &str| {
            let lines = header.recipe.lines().filter_map(|line| line.split_once('='));
            lines.into_iter().find(|(found, _)| *found == key).map(|(_, value)| value)
        };
        let weights = match (value("shape").and_then(|shape| shape.parse::<Shape>().ok()), value("weights")) {
            (Some(shape), _) => InForce::Shape { shape, depth: value("depth").and_then(|depth| depth.parse().ok()) },
            (None, Some("file")) => InForce::File,
            (None, _) => InForce::Own,
        };
        Recipe {
            start: value("start").map(unescaped),
            separators: value("separators").and_then(SeparatorPolicy::by_name).unwrap_or_default(),
            alphabet: value("alphabet").and_then(Alphabet::by_name),
            indent: value("indent").and_then(|indent| unescaped(indent).parse().ok()).unwrap_or_default(),
            zero_weights: value("zero-weights").and_then(ZeroWeights::by_name).unwrap_or(ZeroWeights::Drop),
            weights,
        }
    }

    /// Checks whether choice bytes with this header have the same meaning under the grammar here, whose recipe this is,
    /// as when they were recorded.
    ///
    /// # Errors
    ///
    /// If they do not: the differences.
    pub fn check(&self, here: Fingerprints, header: &Header) -> Result<(), Foreign> {
        if header.choices == here.choices {
            return Ok(());
        }
        let there = Recipe::of(header);
        let mut differences = self.differences(&there);
        // The fingerprint of the grammar depends on separators and alphabets, too.
        let how = |recipe: &Recipe| (recipe.separators, recipe.alphabet, recipe.indent, recipe.zero_weights);
        if header.grammar != here.grammar && how(&there) == how(self) {
            differences.insert(0, "the grammar or its file of tokens is another one, or was changed since".to_string());
        }
        if differences.is_empty() {
            differences.push("weights are from another file, or the versions of gramjet differ".to_string());
        }
        Err(Foreign(format!(
            "the choice bytes were recorded under another choice map (fingerprint {:016x}, that of the grammar here is {:016x}): {}",
            header.choices,
            here.choices,
            differences.join("; ")
        )))
    }

    /// Returns the differences, for people.
    fn differences(&self, there: &Recipe) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, there: String, here: String| {
            if there != here {
                found.push(format!("{what} was {there}, and is {here} here"));
            }
        };
        let start = |start: &Option<String>| {
            start
                .as_ref()
                .map_or_else(|| "the grammar's own".to_string(), |start| format!("`{}`", start.escape_debug()))
        };
        compare("the start rule", start(&there.start), start(&self.start));
        let separators = |policy| format!("`{}`", name_of(SeparatorPolicy::ALL, policy).unwrap_or("another"));
        compare("the separator policy", separators(there.separators), separators(self.separators));
        let alphabet = |alphabet: Option<Alphabet>| {
            alphabet.map_or_else(
                || "the usual".to_string(),
                |alphabet| format!("`{}`", name_of(Alphabet::ALL, alphabet).unwrap_or("another")),
            )
        };
        compare("the alphabet", alphabet(there.alphabet), alphabet(self.alphabet));
        compare("the indentation", format!("`{}`", there.indent), format!("`{}`", self.indent));
        let zero = |setting| format!("`{}`", name_of(ZeroWeights::ALL, setting).unwrap_or("another"));
        compare("the setting of zero weights", zero(there.zero_weights), zero(self.zero_weights));
        if there.weights != self.weights {
            found.push(format!("they were recorded with {}, and the grammar has {} here", there.weights, self.weights));
        }
        found
    }
}

fn name_of<T: Copy + PartialEq>(all: &'static [(&'static str, T)], value: T) -> Option<&'static str> {
    all.iter().find(|(_, known)| *known == value).map(|&(name, _)| name)
}

/// Returns a value as it was before [`str::escape_default`].
fn unescaped(value: &str) -> String {
    let mut rest = value;
    let mut text = String::new();
    while let Some((before, behind)) = rest.split_once('\\') {
        text.push_str(before);
        let mut characters = behind.chars();
        let code = behind.strip_prefix("u{").and_then(|code| code.split_once('}'));
        rest = match (characters.next(), code) {
            (Some('u'), Some((code, behind))) => {
                text.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
                behind
            }
            (Some(short), _) => {
                text.push(match short {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                });
                characters.as_str()
            }
            (None, _) => "",
        };
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::shape::Weighting;
    use gramjet_compiler::{SourceFile, compile};

    use super::*;

    const LISTS: &str = "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z] | list";

    fn compiled(text: &str, options: &Options) -> (Compiled, Recipe) {
        let (compiled, _) = compile(&SourceFile::new("g.ebnf", text), options).expect("the grammar compiles");
        let recipe = Recipe::new(&compiled, options);
        (compiled, recipe)
    }

    #[test]
    fn recipes_are_read_back() {
        let shaped = InForce::Shape { shape: Shape::TargetSize(1000), depth: Some(32) };
        let unlimited = InForce::Shape { shape: Shape::Deep, depth: None };
        for weights in [InForce::Own, InForce::File, shaped, unlimited] {
            for start in [None, Some("value"), Some("a=b\n'\\\u{e9}\u{1}")] {
                let (compiled, _) = compiled(LISTS, &Options::default());
                let (start, alphabet) = (start.map(str::to_string), Some(Alphabet::Unicode));
                for indent in ["auto", "none", "unit=2", "unit=tab,levels=3", "tokens=NL/IN/DE", "levels=5,tokens=/A/B"]
                {
                    let indent = indent.parse().expect("an option");
                    let (start, separators) = (start.clone(), SeparatorPolicy::Any);
                    let zero_weights = if weights == InForce::Own { ZeroWeights::Keep } else { ZeroWeights::Drop };
                    let recipe = Recipe { start, separators, alphabet, indent, zero_weights, weights };
                    assert_eq!(Recipe::of(&recipe.header(compiled.fingerprints, Limits::new())), recipe);
                }
            }
        }
    }

    #[test]
    fn what_differs_is_said() {
        let own = Options::default();
        let (lists, recipe) = compiled(LISTS, &own);
        let header = recipe.header(lists.fingerprints, Limits::new());
        assert_eq!(recipe.check(lists.fingerprints, &header), Ok(()));
        let said = |text: &str, options: &Options| {
            let (other, recipe) = compiled(text, options);
            recipe.check(other.fingerprints, &header).expect_err("another choice map").to_string()
        };
        let start = said(LISTS, &Options { start: Some("item".to_string()), ..own.clone() });
        assert!(start.contains("the start rule was the grammar's own, and is `item` here"), "{start}");
        let shape = Options { weighting: Weighting::Shape(Shape::TargetSize(300)), ..own.clone() };
        let shape = said(LISTS, &shape);
        let expected = "recorded with the grammar's own weights, and the grammar has weights of the shape target-size=300 at a maximum depth of 32 here";
        assert!(shape.contains(expected), "{shape}");
        let other = said(&LISTS.replace("a-z", "a-y"), &own);
        assert!(other.contains("the grammar or its file of tokens is another one, or was changed since"), "{other}");
    }
}
