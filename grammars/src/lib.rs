//! The grammars that ship with [gramjet](https://docs.rs/gramjet), as texts in its EBNF notation.
//!
//! ```
//! let json = gramjet_grammars::by_name("json").expect("it ships");
//! assert_eq!(json.description, "JSON texts");
//! assert!(json.text.contains("::="));
//! ```
//!
//! Their table says what each was written from and which parsers judge it:
//! [README.md](https://github.com/gramjet/gramjet/tree/main/grammars).

#![forbid(unsafe_code)]

macro_rules! shipped {
    ($($name:ident $description:literal $source:literal;)*) => {
        /// All grammars that ship, in alphabetical order.
        pub const SHIPPED: &[Shipped] = &[$(
            Shipped {
                name: stringify!($name),
                text: include_str!(concat!("../", stringify!($name), ".ebnf")),
                description: $description,
                source: $source,
            },
        )*];
    };
}

/// A grammar that ships.
#[derive(Clone, Copy)]
pub struct Shipped {
    /// The name that the command line knows it by.
    pub name: &'static str,
    /// The grammar, in gramjet's EBNF.
    pub text: &'static str,
    /// The language that it describes.
    pub description: &'static str,
    /// The source that it was written from.
    pub source: &'static str,
}

impl std::fmt::Debug for Shipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shipped").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns the shipped grammar called `name`.
pub fn by_name(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

// A line for each grammar: its name, that of its file, what it describes, and what it was written from.
shipped! {
    c "C translation units" "ISO/IEC 9899:2011 (C11)";
    cookie "values of Set-Cookie" "RFC 6265; RFC 6265bis";
    cron "expressions of cron" "crontab(5) of cronie; POSIX.1-2017, crontab";
    css "CSS style sheets" "CSS 2.1 and CSS 3 modules";
    csv "CSV files" "RFC 4180";
    date_time "dates and times" "RFC 3339; ISO 8601-1:2019";
    diff "differences between files, unified format" "POSIX.1-2017, diff; GNU diffutils; git-diff";
    dockerfile "Dockerfiles" "Docker, Dockerfile reference";
    dot "graphs in the DOT language" "Graphviz, DOT Language";
    expr "arithmetic expressions" "Gopinath & Zeller 2019, Figure 1";
    flex "flex specifications" "Lexical Analysis With Flex, for Flex 2.6.2";
    gitignore ".gitignore files" "git 2.43, gitignore(5)";
    glob "glob patterns" "Bash 5.2, pattern matching and brace expansion";
    go "Go source files" "The Go Programming Language Specification, Go 1.18";
    graphql "GraphQL documents" "GraphQL, October 2021";
    html "HTML documents" "HTML, living standard: sections 3.2.6, 4, 13.1";
    http "HTTP/1.1 requests" "RFC 9112; RFC 9110";
    imf "Internet messages (mail)" "RFC 5322; a little of RFC 2045 to 2047";
    ini "INI files" "configparser: Supported INI File Structure";
    java "Java compilation units" "The Java Language Specification, Java SE 17";
    javascript "ECMAScript 5 programs" "ECMA-262, edition 5.1";
    json "JSON texts" "RFC 8259";
    json5 "JSON5 documents" "The JSON5 Data Interchange Format, 1.0.0";
    jsonpath "JSONPath queries" "RFC 9535";
    latex_math "formulas of LaTeX" "KaTeX 0.16; The TeXbook; amsmath";
    lua "Lua chunks" "Lua 5.4 Reference Manual";
    markdown "Markdown texts" "CommonMark 0.31.2";
    nginx "configuration files of nginx" "nginx documentation";
    png "PNG images" "Portable Network Graphics, W3C, third edition";
    protobuf "Protocol Buffers definitions (.proto)" "Protocol Buffers, language specifications 2 and 3";
    python "Python modules" "The Python Language Reference, 3.11";
    regex "regular expressions of PCRE2" "PCRE2 10.42, pcre2pattern";
    scheme "Scheme programs and data" "R7RS, small language";
    semver_range "ranges of versions, as npm has them" "npm's semver, Range Grammar; Semantic Versioning 2.0.0";
    sh "scripts of the POSIX shell" "POSIX.1-2017, Shell Command Language";
    solidity "Solidity source files" "Solidity 0.8.25, Language Grammar";
    sql "SQL scripts, SQLite's dialect" "SQL As Understood By SQLite, 3.40";
    svg "SVG images, above all paths" "SVG 1.1, second edition";
    tar "tape archives (ustar)" "POSIX.1-2017, pax: ustar Interchange Format";
    toml "TOML documents" "TOML 1.0.0";
    typescript "TypeScript modules" "The TypeScript Handbook and the parser of TypeScript 5.9; ECMA-262";
    uri "URIs and relative references" "RFC 3986";
    wf "texts of words" "POSIX.1-2017, wc";
    wkt "well-known text of geometries" "OGC 06-103r4, section 7";
    xml "XML documents" "XML 1.0, fifth edition; Namespaces in XML 1.0";
    xpath "XPath expressions" "XPath 1.0";
    yaml "YAML documents, made in flow style" "YAML 1.2.2";
    zip "ZIP archives" "PKWARE, APPNOTE.TXT 6.3.10; RFC 1951";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_each_has_a_line() {
        let names: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        let folder = env!("CARGO_MANIFEST_DIR");
        let files = std::fs::read_dir(folder).expect("the grammars are there");
        let mut files: Vec<String> = files
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".ebnf").map(String::from))
            .collect();
        files.sort();
        assert_eq!(files, names);
    }
}
