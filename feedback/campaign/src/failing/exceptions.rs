//! The classes of the exceptions that a search has met, in the two ways in which the literature on grammar-based
//! fuzzing counts them.

use std::collections::BTreeSet;
use std::ffi::OsString;

use crate::subject::function;

/// Classes that say that an input is invalid, or that a run was stopped.
const EXPECTED: [&str; 2] = ["IllegalArgumentException", "TimeoutException"];

/// The classes of exceptions.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    classes: BTreeSet<String>,
    /// The package of the function under test, with a dot after it.
    own: Option<String>,
}

impl Exceptions {
    /// Returns the exceptions of a function or a program: none so far.
    pub(crate) fn of(command: &[OsString]) -> Exceptions {
        let own = command.first().and_then(|word| package(function(word)?));
        Exceptions { classes: BTreeSet::new(), own }
    }

    /// Adds one.
    pub(crate) fn add(&mut self, class: &str) {
        if !self.classes.contains(class) {
            self.classes.insert(class.to_string());
        }
    }

    /// Returns the number of all classes, and of those that are neither expected nor of the package of the function.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.classes.len(), self.classes.iter().filter(|class| !self.is_expected(class)).count())
    }

    fn is_expected(&self, class: &str) -> bool {
        let name = class.rsplit('.').next().unwrap_or(class);
        EXPECTED.contains(&name) || self.own.as_ref().is_some_and(|own| class.starts_with(own))
    }
}

/// Returns the package of a function in Java, or the outermost one of a function in Python.
fn package(function: &str) -> Option<String> {
    let package = match function.split_once(':')? {
        ("java", rest) => rest.rsplit(':').next()?.split('#').next()?.rsplit_once('.')?.0,
        ("python", rest) => outermost(rest.rsplit_once(':')?.0),
        _ => return None,
    };
    Some(format!("{package}."))
}

/// Returns the outermost package of a module of Python. A file is a module of its own.
fn outermost(module: &str) -> &str {
    match module.strip_suffix(".py") {
        Some(file) => file.rsplit('/').next().unwrap_or(file),
        None => module.split('.').next().unwrap_or(module),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_counted_with_and_without_the_expected_ones() {
        let counts = |command: &str, classes: &[&str]| {
            let mut exceptions = Exceptions::of(&[command.into()]);
            classes.iter().for_each(|class| exceptions.add(class));
            exceptions.counts()
        };
        let java = "java:/usr/share/java/gson.jar:com.google.gson.JsonParser#parseString";
        let classes = [
            "com.google.gson.stream.MalformedJsonException",
            "com.google.gson.JsonSyntaxException",
            "com.google.gsonic.Other",
            "java.lang.IllegalArgumentException",
            "java.util.concurrent.TimeoutException",
            "java.lang.NullPointerException",
            "java.lang.NullPointerException",
        ];
        assert_eq!(counts(java, &classes), (6, 2));
        assert_eq!(counts("python:json.decoder:scan", &["json.decoder.JSONDecodeError", "RecursionError"]), (2, 1));
        let classes = ["parser.Odd", "ValueError", "sub.Other"];
        assert_eq!(counts("python:parser.py:parse", &classes), (3, 2));
        assert_eq!(counts("python:../sub/parser.py:Class.parse", &classes), (3, 2));
        // Node has no packages, nor have classes without one.
        assert_eq!(counts("node:a.js#parse", &["SyntaxError"]), (1, 1));
        assert_eq!(counts("java:classes:Main#main", &["Main", "Error"]), (2, 2));
        assert_eq!(counts("./program", &[]), (0, 0));
    }
}
