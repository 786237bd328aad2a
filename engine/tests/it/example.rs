//! The example of use at run time does what it says.

#[allow(dead_code)]
#[path = "../../examples/run_time.rs"]
mod run_time;

#[test]
fn a_grammar_of_run_time_gives_ten_inputs() {
    let mut output = Vec::new();
    run_time::run(None, &mut output).expect("inputs");
    let lists = String::from_utf8(output).expect("text");
    let lists: Vec<&str> = lists.lines().collect();
    assert_eq!(lists.len(), 10);
    assert!(lists.iter().all(|list| list.starts_with('[') && list.ends_with(']') && list.len() <= 62), "{lists:?}");
    assert!(lists.iter().any(|list| list.contains(", ") && list.contains("[[")), "{lists:?}");

    let path = format!("{}/../grammars/expr.ebnf", env!("CARGO_MANIFEST_DIR"));
    let mut output = Vec::new();
    run_time::run(Some(path), &mut output).expect("inputs");
    assert_eq!(output.iter().filter(|&&byte| byte == b'\n').count(), 10);
    assert!(run_time::run(Some("there/is/no/such.ebnf".into()), &mut Vec::new()).is_err());
}
