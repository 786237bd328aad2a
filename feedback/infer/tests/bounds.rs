//! Samples and oracles that are difficult: bounds hold, and the grammar still derives the samples.

use gramjet_compiler::{Options as CompileOptions, SourceFile, compile};
use gramjet_infer::{Exhausted, Inferred, Options, Oracle, Unusable, infer};
use gramjet_parse::{Budget, Parser};

/// Returns true if the grammar derives the text.
fn derives(inferred: &Inferred, text: &[u8]) -> bool {
    let file = SourceFile::new("inferred.ebnf", inferred.grammar.as_str());
    let (compiled, _) = compile(&file, &CompileOptions::default()).unwrap_or_else(|_| panic!("{}", inferred.grammar));
    Parser::new(&compiled.lowered).parse(text, &Budget::default()).is_ok()
}

/// Infers with an oracle, and checks that the grammar derives all samples that are not left out.
fn check(samples: &[&[u8]], oracle: &mut dyn Oracle, options: &Options) -> Inferred {
    let samples: Vec<Vec<u8>> = samples.iter().map(|sample| sample.to_vec()).collect();
    let inferred = infer(&samples, oracle, options).expect("a grammar");
    for (number, sample) in samples.iter().enumerate() {
        let is_used = !sample.is_empty() && !inferred.left_out.contains(&number);
        assert!(!is_used || derives(&inferred, sample), "{sample:?}\n{}", inferred.grammar);
    }
    inferred
}

#[test]
fn the_samples_alone_are_a_language() {
    let samples: [&[u8]; 4] = [b"let x = [1, 'it''s'];\n", b"\xFF\x00 (\"\xC3\x28", "é – ü".as_bytes(), b"  \r\n\t"];
    let mut oracle = |text: &[u8]| samples.contains(&text);
    let inferred = check(&samples, &mut oracle, &Options::default());
    assert!(!derives(&inferred, b"let y = [1, 'it''s'];\n"), "{}", inferred.grammar);
}

#[test]
fn an_oracle_without_sense_is_no_harm() {
    // Accepts by a hash of the text, and the samples.
    let samples: [&[u8]; 4] = [b"a(b)[c]{d}", b"if x then y end\nz = 1;", b"1, 2\n3, 4\n", b"\"q\" 'r' -5"];
    for salt in 0..4_u64 {
        let mut oracle = |text: &[u8]| {
            let hash = text.iter().fold(salt, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
            samples.contains(&text) || hash >> 20 & 3 == 0
        };
        check(&samples, &mut oracle, &Options { max_calls: 1500, ..Options::default() });
    }
}

#[test]
fn questions_end_at_each_bound() {
    let samples: [&[u8]; 2] = [b"[1, [2, 3], []]", b"[[[4]], 5]"];
    for max_calls in [0, 20, 50, 100, 200, 400] {
        let mut asked = 0;
        let mut oracle = |text: &[u8]| {
            asked += 1;
            is_list(text)
        };
        let inferred = check(&samples, &mut oracle, &Options { max_calls, ..Options::default() });
        assert!(inferred.calls == asked && asked <= max_calls.max(18), "{asked}");
        assert_eq!(inferred.exhausted, Some(Exhausted::Calls));
    }
    struct Tired(u32);
    impl Oracle for Tired {
        fn accepts(&mut self, text: &[u8]) -> Option<bool> {
            self.0 = self.0.checked_sub(1)?;
            Some(is_list(text))
        }
    }
    let inferred = check(&samples, &mut Tired(150), &Options::default());
    assert_eq!(inferred.exhausted, Some(Exhausted::Oracle));
    let unanswered = infer(&[b"[1]".to_vec()], &mut Tired(0), &Options::default());
    assert_eq!(unanswered.unwrap_err(), Unusable::Unanswered);
}

/// Returns true for numbers in nested brackets.
fn is_list(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut rest = text.split_whitespace().collect::<Vec<_>>().concat();
    while let Some(at) = rest.find(']') {
        let Some(start) = rest[..at].rfind('[') else { return false };
        let inner = &rest[start + 1..at];
        if !inner.is_empty() && inner.split(',').any(|one| one.is_empty() || one.parse::<u32>().is_err()) {
            return false;
        }
        rest.replace_range(start..=at, "0");
    }
    rest == "0" && text.trim_start().starts_with('[')
}

#[test]
fn long_samples_are_left_out_and_nested_ones_are_no_harm() {
    let deep = [vec![b'['; 300], vec![b']'; 300]].concat();
    let long = format!("[{}]", ["1"; 300].join(","));
    let longer = format!("[{}]", ["1"; 2100].join(","));
    let samples: [&[u8]; 4] = [b"[1, 2]", &deep, long.as_bytes(), longer.as_bytes()];
    let options = Options { max_calls: 1500, ..Options::default() };
    let inferred = check(&samples, &mut is_list, &options);
    assert_eq!(inferred.left_out, [3]);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let refused = |samples: &[&[u8]], oracle: fn(&[u8]) -> bool, options: &Options| {
        let samples: Vec<Vec<u8>> = samples.iter().map(|sample| sample.to_vec()).collect();
        infer(&samples, &mut { oracle }, options).expect_err("no grammar")
    };
    let usual = Options::default();
    assert_eq!(refused(&[], |_| true, &usual), Unusable::NoSamples);
    assert_eq!(refused(&[b""], |_| true, &usual), Unusable::NoSamples);
    assert_eq!(refused(&[b"a"], |_| true, &usual), Unusable::AcceptsEverything);
    assert_eq!(refused(&[b"aa", b"b"], |text| text != b"aa", &usual), Unusable::Rejected(0));
    assert_eq!(refused(&[b"aa"], |_| true, &Options { max_sample: 1, ..usual }), Unusable::TooLong);
}
