//! Languages by path, name and text, and the messages for those that cannot be used.

use std::fs;
use std::path::Path;

use gramjet::Inputs;
use gramjet::choices::HeaderError;
use gramjet_compiler::SourceFile;
use gramjet_session::{Bound, EngineKind, Language, ReplayError, Settings, Shape};

fn refusal(name: &str, settings: &Settings) -> String {
    match Language::load(name.as_ref(), settings) {
        Ok(language) => panic!("{name} is usable: {language:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn shipped_grammars_have_names() {
    let json = Language::load("json".as_ref(), &Settings::default()).expect("json ships");
    assert!(json.parse(b"[[true], 1, 2]").is_ok_and(|choices| !choices.is_empty()));
    assert!(json.parse(b"[[true], 1, 2").is_err());
    assert_eq!(json.warnings(), "");
    let said = refusal("jsn", &Settings::default());
    assert!(said.contains("`jsn` not found") && said.contains("did you mean `json`?"), "{said}");
}

#[test]
fn files_may_name_files_beside_them() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages");
    fs::create_dir_all(&folder).expect("a directory");
    let path = folder.join("list.g4");
    fs::write(&path, "grammar list; import items; list : '[' item* ']' EOF ;").expect("a file");
    fs::write(folder.join("items.g4"), "grammar items; item : 'x' | 'y' ;").expect("a file");
    let list = Language::load(path.as_os_str(), &Settings::default()).expect("a grammar of two files");
    assert!(list.parse(b"[xyx]").is_ok());
    fs::write(&path, [b'a', 0xFF]).expect("a file");
    let said = refusal(&path.display().to_string(), &Settings::default());
    assert!(said.contains("it is not UTF-8 text"), "{said}");
}

#[test]
fn settings_are_checked() {
    let settings = |change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        settings
    };
    let said = refusal("json", &settings(&|settings| settings.start = Some("there_is_none".to_string())));
    assert!(said.contains("there_is_none"), "{said}");
    let said = refusal("json", &settings(&|settings| settings.format = Some("xyz".to_string())));
    assert!(said.contains("unknown grammar format `xyz` (known: "), "{said}");
    let said = refusal("json", &settings(&|settings| settings.max_len = Bound::At(0)));
    assert!(said.contains("a maximum length of 0 bytes is too small"), "{said}");
    let said = refusal("json", &settings(&|settings| settings.max_depth = Bound::At(1 << 40)));
    assert!(said.contains("too large"), "{said}");
    let said = "turbo".parse::<EngineKind>().expect_err("no such engine");
    assert!(said.contains("known: auto, jit, vm, reference"), "{said}");
    for kind in EngineKind::ALL.into_iter().filter(|kind| kind.is_available()) {
        assert_eq!(kind.name().parse(), Ok(kind));
        let language = Language::load("expr".as_ref(), &settings(&|settings| settings.engine = kind));
        let name = language.expect("expr ships").engine_name();
        assert!(kind == EngineKind::Auto || name == kind.name(), "{kind:?} {name}");
    }
    let wrong = Language::compile(&SourceFile::new("g.ebnf", "a ::= b"), &Settings::default());
    let said = wrong.expect_err("b is not defined").to_string();
    assert!(said.contains("rule `b` is not defined") && said.contains("g.ebnf:1:7"), "{said}");
}

const SUMS: &str = "sum ::= sum '+' sum | sum '-' sum | sum '*' sum | '(' sum ')' | [0-9]+";

#[test]
fn grammars_without_weights_get_a_shape_and_say_so() {
    let compile =
        |settings: &Settings| Language::compile(&SourceFile::new("g.ebnf", SUMS), settings).expect("it compiles");
    let usual = compile(&Settings::default());
    assert!(usual.warnings().contains("in the mean: taking the shape target-size=1000"), "{}", usual.warnings());
    let lengths: Vec<usize> = Inputs::new(usual.producer(), 1).take(2000).map(|input| input.len()).collect();
    let mean = lengths.iter().sum::<usize>() / lengths.len();
    assert!((800..1250).contains(&mean), "{mean}");
    for settings in [
        Settings { shape: Some(Shape::Uniform), max_depth: Bound::At(4), ..Settings::default() },
        Settings { max_len: Bound::At(100), ..Settings::default() },
    ] {
        assert_eq!(compile(&settings).warnings(), "");
    }
}

#[test]
fn the_line_about_a_shape_comes_after_the_diagnostics() {
    let file = SourceFile::new("g.ebnf", format!("{SUMS}\nother ::= 'x'"));
    let language = Language::compile(&file, &Settings::default()).expect("it compiles");
    let (diagnostic, line) = language.warnings().trim_end().rsplit_once('\n').expect("two lines");
    assert!(diagnostic.contains("rule `other` cannot be reached"), "{diagnostic}");
    assert!(line.starts_with("equally probable") && line.ends_with("(otherwise: the shape `uniform`)"), "{line}");
}

#[test]
fn choice_bytes_with_a_header_are_replayed_under_its_limits() {
    let compile =
        |settings: &Settings| Language::compile(&SourceFile::new("g.ebnf", SUMS), settings).expect("it compiles");
    let (usual, uniform) =
        (compile(&Settings::default()), compile(&Settings { shape: Some(Shape::Uniform), ..Settings::default() }));
    let deep = [b"(".repeat(100), b"7".to_vec(), b")".repeat(100)].concat();
    let choices = usual.parse(&deep).expect("it conforms");
    let recorded = usual.with_header(&choices);
    assert_eq!(usual.without_header(&choices), Ok((None, &choices[..])));
    let replay = |language: &Language, file: &[u8]| {
        let mut text = Vec::new();
        language.replay(&mut *language.producer(), file, &mut text).map(|read| (read, text))
    };
    assert_eq!(replay(&usual, &recorded), Ok((choices.len() as u64, deep.clone())));
    assert!(replay(&usual, &choices).is_ok_and(|(_, text)| text != deep), "without a header the depth is limited");
    let said = replay(&uniform, &recorded).expect_err("another choice map").to_string();
    assert!(
        said.contains(
            "with weights of the shape target-size=1000 at a maximum depth of 32, and the grammar has weights of the shape uniform here"
        ),
        "{said}"
    );
    assert!(matches!(replay(&usual, &recorded[..20]), Err(ReplayError::Header(HeaderError::Damaged))));
}
