//! The function that is run, and the way of running it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::command::Program;
use crate::confine::{Confinement, Permission};
use crate::error::Error;
use crate::limits::Limits;

/// The language of a function, and where the function is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// `python:MODULE:FUNCTION`: the function gets `bytes`.
    Python {
        /// A module as `import` takes it, or a file that ends in `.py`.
        module: String,
        /// A function of it; a name with dots for a method of a class.
        function: String,
    },
    /// `node:FILE#FUNCTION`: the function gets a `Buffer`.
    Node {
        /// A file, or else a package that Node finds from the folder on.
        file: String,
        /// An export of the file; a name with dots stands for a property of it. `default` is for a file that exports a
        /// function alone.
        function: String,
    },
    /// `java:CLASSPATH:CLASS#METHOD`: the method gets `byte[]` or `String`, as it is declared. If it is not static, it
    /// is called on a new object each time.
    Java {
        /// Folders and archives with colons between.
        class_path: String,
        /// A class with its package.
        class: String,
        /// A method of it.
        method: String,
    },
}

/// Counts that are taken of a function. Java's counters are always there: they cost little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Edges that it executes.
    #[default]
    Executed,
    /// Nothing, so that its processor time is its own.
    Nothing,
    /// Microseconds that its lines and what they call take, by samples each millisecond: in Python by the line of the
    /// call, in Node by the function. Not for Java.
    Samples,
}

impl Counting {
    /// Returns its name, as workers take it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Counting::Executed => "executed",
            Counting::Nothing => "nothing",
            Counting::Samples => "samples",
        }
    }
}

/// Kinds of facts that are looked for in a function's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Telling {
    /// Nothing.
    #[default]
    Nothing,
    /// Constants that it compares: see [`Function::words`](super::Function::words).
    Words,
    /// Its regular expressions: see [`Function::expressions`](super::Function::expressions). The process that looks for
    /// them records each one that is compiled, so it is not one to measure.
    Expressions,
}

/// A function of a program in another language.
#[derive(Clone, Debug)]
pub struct Subject {
    pub(super) name: String,
    pub(super) language: Language,
    pub(super) takes_text: bool,
    pub(super) own: Vec<String>,
    pub(super) counting: Counting,
    /// Kind of facts that the worker is asked for.
    pub(super) telling: Telling,
    pub(super) interpreter: Option<PathBuf>,
    pub(super) limits: Limits,
    confinement: Confinement,
    permissions: Vec<Permission>,
    folder: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
}

impl Subject {
    /// Returns the function that a specification names: `python:MODULE:FUNCTION`, `node:FILE#FUNCTION` or
    /// `java:CLASSPATH:CLASS#METHOD`.
    ///
    /// # Errors
    ///
    /// If it names none.
    pub fn new(specification: &str) -> Result<Subject, Error> {
        let language = language(specification).map_err(|what| refused(specification, what))?;
        Ok(Subject {
            name: specification.into(),
            language,
            takes_text: false,
            own: Vec::new(),
            counting: Counting::default(),
            telling: Telling::Nothing,
            interpreter: None,
            limits: Limits::default(),
            confinement: Confinement::default(),
            permissions: Vec::new(),
            folder: None,
            variables: Vec::new(),
        })
    }

    /// Gives the function text. Bytes of the input that are not UTF-8 become U+FFFD.
    pub fn text(mut self) -> Subject {
        self.takes_text = true;
        self
    }

    /// Counts the code of this module of Python's standard library, too. Exceptions have no place in it, and a module
    /// without code in Python is refused.
    ///
    /// Without it that is all code but the language's own; where the function is in the standard library, the code of
    /// its outermost module is counted.
    pub fn own(mut self, module: impl Into<String>) -> Subject {
        self.own.push(module.into());
        self
    }

    /// Sets what is counted.
    pub fn counting(mut self, counting: Counting) -> Subject {
        self.counting = counting;
        self
    }

    /// Sets what is looked for in the counted code when it is loaded first.
    pub fn telling(mut self, telling: Telling) -> Subject {
        self.telling = telling;
        self
    }

    /// Sets the interpreter, in place of the one in `PATH`.
    pub fn interpreter(mut self, interpreter: impl AsRef<Path>) -> Subject {
        self.interpreter = Some(interpreter.as_ref().to_path_buf());
        self
    }

    /// Sets the limits. Those on time and memory hold for each input; the process itself may have used some of the
    /// memory before.
    pub fn limits(mut self, limits: Limits) -> Subject {
        self.limits = limits;
        self
    }

    /// Sets the confinement.
    pub fn confinement(mut self, confinement: Confinement) -> Subject {
        self.confinement = confinement;
        self
    }

    /// Lets it do this although it is confined.
    pub fn allow(mut self, permission: Permission) -> Subject {
        self.permissions.push(permission);
        self
    }

    /// Sets the folder that it runs in, where modules and files are searched for; by default that of this process.
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Subject {
        self.folder = Some(folder.as_ref().to_path_buf());
        self
    }

    /// Adds an environment variable to those of this process.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Subject {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Returns the language, and where the function is.
    pub fn language(&self) -> &Language {
        &self.language
    }

    pub(super) fn error(&self, what: impl Into<String>) -> Error {
        refused(&self.name, what.into())
    }

    /// Returns what the worker tells, as it is said to it.
    pub(super) fn telling_name(&self) -> &'static str {
        let is_counted = match self.counting {
            Counting::Executed => true,
            Counting::Nothing | Counting::Samples => false,
        };
        match self.telling {
            Telling::Words if is_counted => "words",
            Telling::Expressions if is_counted => "expressions",
            Telling::Words | Telling::Expressions | Telling::Nothing => "nothing",
        }
    }

    /// Returns the program that calls the function, with the limits and the rights of this one.
    pub(super) fn set_up(&self, mut program: Program) -> Program {
        for (name, value) in &self.variables {
            program = program.variable(name, value);
        }
        if let Some(folder) = &self.folder {
            program = program.folder(folder);
        }
        let program = self.permissions.iter().cloned().fold(program, Program::allow);
        program.limits(self.limits).confinement(self.confinement)
    }

    /// Returns the interpreter, by default the one of this name in `PATH`.
    pub(super) fn interpreter_or(&self, name: &str) -> OsString {
        self.interpreter.as_deref().map_or(OsStr::new(name), Path::as_os_str).into()
    }
}

fn refused(name: &str, what: String) -> Error {
    Error::Subject { subject: name.into(), what }
}

fn language(specification: &str) -> Result<Language, String> {
    let (language, place) = specification.split_once(':').unwrap_or((specification, ""));
    let part = |part: &str, name: &str| match part {
        "" => Err(format!("names no {name}")),
        part => Ok(part.to_string()),
    };
    match language {
        "python" => {
            let (module, function) =
                place.rsplit_once(':').ok_or("is to be `python:MODULE:FUNCTION`, with a second colon")?;
            Ok(Language::Python { module: part(module, "module")?, function: part(function, "function")? })
        }
        "node" => {
            let (file, function) = place.rsplit_once('#').ok_or("is to be `node:FILE#FUNCTION`")?;
            Ok(Language::Node { file: part(file, "file")?, function: part(function, "function")? })
        }
        "java" => {
            let form = "is to be `java:CLASSPATH:CLASS#METHOD`";
            let (class_path, rest) = place.rsplit_once(':').ok_or(form)?;
            let (class, method) = rest.split_once('#').ok_or(form)?;
            let class_path = part(class_path, "class path")?;
            Ok(Language::Java { class_path, class: part(class, "class")?, method: part(method, "method")? })
        }
        _ => Err("begins with no language that is known, which are `python:`, `node:` and `java:`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_names_a_language_and_a_function() {
        let subject = Subject::new("python:html.parser:HTMLParser.feed").expect("a subject");
        let expected = Language::Python { module: "html.parser".into(), function: "HTMLParser.feed".into() };
        assert_eq!(subject.language(), &expected);
        let subject = Subject::new("java:a.jar:b:org.Parser#parse").expect("a subject");
        let (class_path, class, method) = ("a.jar:b".into(), "org.Parser".into(), "parse".into());
        assert_eq!(subject.language(), &Language::Java { class_path, class, method });
        for (wrong, expected) in [
            ("python:json", "python:json: is to be `python:MODULE:FUNCTION`, with a second colon"),
            ("python::loads", "python::loads: names no module"),
            ("perl:a:b", "perl:a:b: begins with no language that is known, which are `python:`, `node:` and `java:`"),
            ("java:a:b", "java:a:b: is to be `java:CLASSPATH:CLASS#METHOD`"),
            ("node:a.js:b", "node:a.js:b: is to be `node:FILE#FUNCTION`"),
        ] {
            assert_eq!(Subject::new(wrong).expect_err("an error").to_string(), expected);
        }
    }
}
