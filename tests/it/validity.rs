//! Real parsers accept what the shipped grammars derive. A judge that is not installed is skipped, visibly; with
//! `GRAMJET_REQUIRE_JUDGES` set it fails instead.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_testkit::amount;

/// Returns a file in the directory for temporary files of tests.
fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns the documents of a grammar in a file, NUL-separated if no argument is another separator.
pub fn documents_from(grammar: &str, count: u32, arguments: &[&str], name: &str) -> PathBuf {
    let path = temporary(name);
    let separator: &[&str] = if arguments.contains(&"--separator") { &[] } else { &["--separator", "nul"] };
    let status = Command::new(env!("CARGO_BIN_EXE_gramjet"))
        .args(["gen", grammar, "-n", &count.to_string(), "--seed", "11", "--jobs", "2", "-o"])
        .arg(&path)
        .args(separator)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("the binary runs");
    assert!(status.success());
    path
}

/// Has a script of `tests/judges` judge the documents, of which it must accept `bar` percent.
pub fn judge(script: &str, arguments: &[&str], bar: u32, documents: &Path) {
    let required = std::env::var_os("GRAMJET_REQUIRE_JUDGES").is_some();
    let script_path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges").join(script);
    let (program, options): (&str, &[&str]) = match script_path.extension().and_then(OsStr::to_str) {
        Some("lua") => ("lua5.4", &[]),
        Some("mjs") => ("node", &[]),
        Some("scm") => ("guile", &["--no-auto-compile", "-s"]),
        _ => ("python3", &[]),
    };
    let output = Command::new(program)
        .args(options)
        .arg(script_path)
        .args(arguments)
        .stdin(Stdio::from(File::open(documents).expect("the documents were written")))
        .output();
    let output = match output {
        Ok(output) => output,
        Err(_) if !required => return gramjet_needs::lacks(program),
        Err(error) => panic!("{program}: {error}"),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(77) && !required {
        return gramjet_needs::lacks("what ci/judges-setup installs");
    }
    let (accepted, judged) = verdict(&said).unwrap_or_default();
    let is_enough = judged > 0 && accepted * 100 >= judged * u64::from(bar);
    assert!(is_enough, "{script}: {said}{}", String::from_utf8_lossy(&output.stderr));
    eprintln!("{script}: {}", said.trim_end());
}

/// Returns the numbers in the first line of what a judge says.
fn verdict(said: &str) -> Option<(u64, u64)> {
    let (accepted, judged) = said.lines().next()?.strip_prefix("accepted ")?.split_once(" of ")?;
    Some((accepted.parse().ok()?, judged.parse().ok()?))
}

/// The judges of the shipped grammars: the grammar, the script in `tests/judges`, its arguments, and the share of the
/// documents that it must accept, in percent. The second judges that only `ci/judges-setup --all` installs are not
/// here.
const JUDGES: &[(&str, &str, &[&str], u32)] = &[
    ("c", "c_judge.py", &[], 99),
    ("cookie", "cookie_judge.mjs", &[], 100),
    ("cron", "cron_judge.py", &[], 100),
    ("css", "css_judge.py", &[], 100),
    ("csv", "csv_judge.py", &[], 100),
    ("date_time", "date_time_judge.py", &[], 100),
    ("diff", "diff_judge.py", &[], 100),
    ("dockerfile", "dockerfile_judge.mjs", &["--warnings"], 100),
    ("dot", "dot_judge.py", &[], 100),
    ("expr", "expr_judge.py", &[], 100),
    ("flex", "flex_judge.py", &[], 99),
    ("gitignore", "gitignore_judge.py", &[], 100),
    ("glob", "glob_judge.mjs", &[], 100),
    ("go", "go_judge.py", &[], 100),
    ("graphql", "graphql_judge.mjs", &[], 100),
    ("html", "html_judge.py", &[], 100),
    ("http", "http_judge.py", &[], 100),
    ("imf", "imf_judge.py", &[], 100),
    ("ini", "ini_judge.py", &[], 100),
    ("java", "java_judge.py", &[], 100),
    ("javascript", "javascript_judge.mjs", &[], 99),
    ("json", "json_judge.py", &[], 100),
    ("json5", "json5_judge.mjs", &[], 100),
    ("jsonpath", "jsonpath_judge.mjs", &[], 100),
    ("latex_math", "latex_math_judge.mjs", &[], 100),
    ("lua", "lua_judge.lua", &[], 100),
    ("markdown", "markdown_judge.mjs", &[], 100),
    ("nginx", "nginx_judge.py", &[], 100),
    ("png", "png_judge.py", &[], 100),
    ("png", "png_judge.py", &["--pngcheck"], 100),
    ("protobuf", "protobuf_judge.py", &[], 100),
    ("python", "python_judge.py", &[], 99),
    ("regex", "regex_judge.py", &[], 100),
    ("scheme", "scheme_judge.scm", &[], 99),
    ("semver_range", "semver_range_judge.mjs", &[], 100),
    ("sh", "sh_judge.py", &[], 100),
    ("sh", "sh_judge.py", &["--bash"], 100),
    ("solidity", "solidity_judge.mjs", &[], 100),
    ("sql", "sql_judge.py", &[], 99),
    ("svg", "svg_judge.mjs", &[], 100),
    ("tar", "tar_judge.py", &[], 100),
    ("tar", "tar_judge.py", &["--tar"], 100),
    ("toml", "toml_judge.py", &[], 100),
    ("typescript", "typescript_judge.mjs", &[], 100),
    ("uri", "uri_judge.py", &[], 100),
    ("wf", "wf_judge.py", &[], 100),
    ("wkt", "wkt_judge.py", &[], 100),
    ("xml", "xml_judge.py", &[], 100),
    ("xml", "xml_judge.py", &["--xmllint"], 100),
    ("xpath", "xpath_judge.py", &[], 100),
    ("yaml", "yaml_judge.mjs", &[], 100),
    ("yaml", "yaml_judge.py", &[], 99),
    ("zip", "zip_judge.py", &[], 100),
    ("zip", "zip_judge.py", &["--unzip"], 100),
];

/// Documents with a median of fewer tokens would be trivial; but a date and a time are short.
const MEDIAN_TOKENS: usize = 20;
const MEDIAN_TOKENS_OF_DATE_TIME: usize = 10;

/// The judges that read documents with any byte, each with its length before it.
const READ_LENGTHS: &[&str] = &["png_judge.py", "tar_judge.py", "zip_judge.py"];

/// Returns a length that leaves some room beyond the shortest document of a grammar.
fn short_length(shipped: &gramjet_grammars::Shipped) -> String {
    let file = SourceFile::new(shipped.name, shipped.text);
    let compiled = compile(&file, &Options::default()).expect("it compiles").0;
    (compiled.min_len() * 5 / 4).max(100).to_string()
}

/// Returns the number of tokens in the median document: words, and other characters but white space.
fn median_tokens(documents: &Path, have_lengths: bool) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let tokens = |document: &[u8]| -> usize {
        let runs = document.chunk_by(|a, b| is_word(a) && is_word(b));
        runs.filter(|run| !run[0].is_ascii_whitespace()).count()
    };
    let text = std::fs::read(documents).expect("the documents were written");
    let mut counts: Vec<usize> = match have_lengths {
        true => with_lengths(&text).map(tokens).collect(),
        false => text.split(|&byte| byte == 0).map(tokens).collect(),
    };
    counts.sort_unstable();
    counts[counts.len() / 2]
}

/// Returns the documents of a text in which each has its length before it.
fn with_lengths(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = text.split_first_chunk()?;
        let document;
        (document, text) = rest.split_at(u32::from_le_bytes(*length) as usize);
        Some(document)
    })
}

#[test]
#[ignore = "run by ci/test"]
fn shipped_grammars_are_accepted_by_their_judges() {
    for shipped in gramjet_grammars::SHIPPED {
        let judges: Vec<_> = JUDGES.iter().filter(|(grammar, ..)| *grammar == shipped.name).collect();
        assert!(!judges.is_empty(), "{} has no judge", shipped.name);
        // Near the limits most of a document comes from pools.
        let length = short_length(shipped);
        let ways = [(500, &[][..]), (200, &["--max-depth", "2"]), (200, &["--max-len", &length])];
        let have_lengths = READ_LENGTHS.contains(&judges[0].1);
        let separator = ["--separator", if have_lengths { "len32" } else { "nul" }];
        for (count, arguments) in amount::some(ways, 3) {
            let name = format!("{}{}.nul", shipped.name, arguments.concat());
            let path = documents_from(shipped.name, count, &[arguments, &separator].concat(), &name);
            if arguments.is_empty() {
                let tokens = median_tokens(&path, have_lengths);
                let least = if shipped.name == "date_time" { MEDIAN_TOKENS_OF_DATE_TIME } else { MEDIAN_TOKENS };
                assert!(tokens >= least, "{}: {tokens} tokens", shipped.name);
            }
            for (_, script, script_arguments, bar) in &judges {
                judge(script, script_arguments, *bar, &path);
            }
        }
    }
}

#[test]
fn json_is_accepted_by_serde_json_and_python() {
    let all = amount::part(500_000) as u32;
    let path = documents_from("grammars/json.ebnf", all, &["--max-depth", "32"], "json.nul");
    let text = std::fs::read(&path).expect("the documents were written");
    let mut count = 0;
    for document in text.strip_suffix(b"\0").expect("each document ends with a NUL").split(|&byte| byte == 0) {
        let value: Result<serde_json::Value, _> = serde_json::from_slice(document);
        assert!(value.is_ok(), "{value:?}: {}", String::from_utf8_lossy(document));
        count += 1;
    }
    assert_eq!(count, all);
    judge("json_judge.py", &[], 100, &path);
}
