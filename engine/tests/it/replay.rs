//! E1: same grammar, limits and choice bytes, same output and the same number of bytes read.

use crate::kit::{SplitMix, check_replay, compiled, engines, produce};
use gramjet::{Choices, Inputs, Limits, Producer};
use gramjet_engine::reference::Reference;
use gramjet_engine::vm::Vm;

fn check(name: &str, text: &str) {
    check_replay(name, &compiled(&format!("{name}.ebnf"), text), 60, 200);
}

#[test]
fn paper_grammars() {
    for name in ["json", "expr", "css", "html"] {
        let path = format!("{}/../../shared/grammars/{name}.json", env!("CARGO_MANIFEST_DIR"));
        match std::fs::read_to_string(&path) {
            Ok(text) => check_replay(name, &compiled(&path, &text), 100, 200),
            Err(_) => eprintln!("skipped: {path} is not there"),
        }
    }
}

#[test]
fn shipped_grammars() {
    for name in ["css", "expr", "html", "json", "xml"] {
        let path = format!("{}/../grammars/{name}.ebnf", env!("CARGO_MANIFEST_DIR"));
        match std::fs::read_to_string(&path) {
            Ok(text) => check_replay(name, &compiled(&path, &text), 20, 400),
            Err(_) => eprintln!("skipped: {path} is not there"),
        }
    }
}

#[test]
fn weights_of_all_widths() {
    check("weights8", "s ::= ('a' @ 3 | 'bb' | s s @ 0.5 | '' @ 9 | 'c' t)\nt ::= 'x' @ 7 | 'y' @ 5 | '(' s ')' @ 3");
    check("weights16", "s ::= ('a' @ 10000 | 'bb' | s s @ 3000 | 'cc' s @ 0.5)");
    check("weights-literals", "s ::= t* \nt ::= 'a' @ 3 | 'b' | 'cc' @ 5 | 'ddd' @ 2");
    let many = (0..300).map(|index| format!("'{}' @ {}", "x".repeat(index % 7 + 1), index + 1)).collect::<Vec<_>>();
    check("weights-many", &format!("s ::= t t s? \nt ::= {} | '<' t '>' @ 4000", many.join(" | ")));
}

#[test]
fn sites_of_all_widths() {
    let options = |count: usize| {
        let mut options: Vec<String> = (0..count).map(|index| format!("'<{index}>'")).collect();
        options.push("'(' s ')'".into());
        options.join(" | ")
    };
    for count in [255, 256, 300] {
        check("wide", &format!("s ::= t s?\nt ::= {}", options(count)));
    }
    let wide = compiled(
        "widest.ebnf",
        &format!("s ::= t u s?\nt ::= {}\nu ::= {}", options(70_000), {
            (0..66_000).map(|index| format!("'{index}'")).collect::<Vec<_>>().join(" | ")
        }),
    );
    check_replay("widest", &wide, 6, 40);
}

#[test]
fn classes() {
    check("bytes", "s ::= t*\nt ::= [#b80-#bFF] | [#b00-#bFF] t | '.'");
    check("ascii", "s ::= '\"' ([a-z] | [A-Z] '-')* '\"'");
    check("mixed", "s ::= t*\nt ::= [a-c#xE0-#xE5#x20AC#x1F600-#x1F605]");
    check("large", "s ::= t+\nt ::= [^<&] | [#x7F0-#x9000] | '<' s '>'");
    check("whole", "s ::= [^] ([#xFFF0-#x10010] s)?");
    check("beyond-ascii", "s ::= [#x70-#x90]* ';' [#xE0-#xE5]+");
}

/// Sites that a length limit narrows, at every slack.
#[test]
fn narrowed_sites() {
    let text = |len: usize| (0..len).map(|index| char::from(b'a' + (index % 26) as u8)).collect::<String>();
    let options = |lens: &mut dyn Iterator<Item = usize>, weight: &dyn Fn(usize) -> String| {
        lens.map(|len| format!("'{}' s?{}", text(len), weight(len))).collect::<Vec<_>>().join(" | ")
    };
    let (plain, weighted) = (|_| String::new(), |len| format!(" @ {}", len % 7 + 1));
    let grammars = [
        format!("s ::= {}", options(&mut (1..5), &plain)),
        format!("s ::= {}", options(&mut (1..5), &weighted)),
        format!("s ::= {}", options(&mut (1..60), &plain)),
        format!("s ::= {}", options(&mut (1..60), &weighted)),
        format!("s ::= {}", options(&mut (0..9).map(|power| 3usize.pow(power) % 2000 + 1), &plain)),
        format!("s ::= {}", options(&mut (1..60).map(|len| len * 30), &weighted)),
        format!("s ::= t s?\nt ::= {}", (1..200).map(|len| format!("'{}'", text(len))).collect::<Vec<_>>().join(" | ")),
        format!("s ::= t s?\nt ::= {}", (1..9).map(|len| format!("'{}' @ {len}", text(len))).collect::<Vec<_>>().join("|")),
        // Strings of pools that are longer than the shortest, alone and among others.
        "s ::= b c b c | '(' s s ')'\nb ::= 'long' | d\nd ::= 'x' s? | ''\nc ::= 'longest' | 'longer' | e e\ne ::= f\nf ::= 'q'"
            .into(),
        "s ::= t s?\nt ::= [#x3E-#x41#x7E-#x81#x7FE-#x801#xD700-#xFFFF#x10000-#x10001]".into(),
        "s ::= t s?\nt ::= [#x40#x80-#x200#xFFFD-#x20000]".into(),
        "s ::= t s?\nt ::= [#x800-#x900] | [^]".into(),
    ];
    for (number, grammar) in grammars.iter().enumerate() {
        let compiled = compiled(&format!("narrow{number}.ebnf"), grammar);
        let (mut reference, mut engines) = (Reference::new(&compiled), engines(&compiled));
        let mut random = SplitMix(number as u64);
        for round in 0..600 {
            let length = compiled.min_len() + if round % 2 == 0 { random.below(70) } else { random.below(3000) };
            let limits = Limits::new().max_len(length).max_depth(Some(3).filter(|_| round % 3 == 0));
            if limits.check(compiled.min_len(), compiled.rule_without_pool()).is_err() {
                continue;
            }
            reference.set_limits(limits).unwrap();
            let choices = random.choices(300);
            let expected = produce(&mut reference, &choices);
            for (engine, producer) in &mut engines {
                producer.set_limits(limits).unwrap();
                assert!(produce(producer, &choices) == expected, "{engine}, {grammar}, {limits:?}, {choices:?}");
            }
        }
    }
}

#[test]
fn repetitions() {
    check("nested", "s ::= (a{2,4} (',' a*)? ';')+\na ::= 'x' | 'y' b{0,2} | [0-9]{3}\nb ::= ('(' s ')'){1,2} | ''");
    check("counted", "s ::= ('a' | [b-d] 'e'){3,200} ';' ('x' | 'yy' s){70} ('z' (',' | ';;'){90,}){0,80}");
    check("nullable", "s ::= (a* b?)* 'c'?\na ::= '' | 'x'\nb ::= a a | '(' s ')'");
    check("bounded", "s ::= [a-z]{1,8} ('.' [a-z0-9]{2,5}){0,3} ('/' s)?");
    check("runs", "s ::= '\"' ([a-z] | e)* '\"' [0-9]+ w ';' s?\ne ::= '\\\\' ('n' | 't')\nw ::= '' | ' ' w");
}

#[test]
fn tail_recursion() {
    check("again", "s ::= a ';' s | a\na ::= 'x' b | ''\nb ::= 'y' a | 'z' b | '(' s ')'");
    check("lists", "s ::= '[' l ']' | '1'\nl ::= s | s ',' l");
    check(
        "spaces",
        "s ::= w v w\nw ::= '' | p w\np ::= ' ' | '\\n' | '\\t'\nv ::= '{' w '}' | '[' s ']' | d\nd ::= i | i d\ni ::= [0-9]",
    );
    check(
        "strings",
        "s ::= '\"' c '\"' ':' n n\nc ::= '' | k c\nk ::= [a-z] | e\ne ::= '\\\\' ('n' | 'tt')\nn ::= [0-9] | [0-9] n",
    );
    check("strings2", "s ::= q ',' q\nq ::= '<' c '>'\nc ::= k c | 'end'\nk ::= 'a' | 'b' | 'c' | 'dddd' | q");
    check("two-rules", "s ::= a '!'\na ::= 'x' b | 'e'\nb ::= 'y' a | 'z' b | c\nc ::= 'p' c | 'q' a | 'r'");
    check("stops", "s ::= c '!' c | '-' | '=' c\nc ::= k c | s ',' s ';' s\nk ::= [a-z]");
    check("plus", "s ::= n ';' s | n\nn ::= d | d n\nd ::= '0' | '1' | '2' | '3'");
}

#[test]
fn pools() {
    // The minimum-depth strings of `b` and `c` are longer than their shortest strings.
    check(
        "shortest",
        "s ::= b c | '(' s s ')'\nb ::= 'long' | d\nd ::= 'x' s? | ''\nc ::= 'longest' | 'longer' | e e\ne ::= f\nf ::= 'q'",
    );
    check("long-pool", "s ::= '(' s ')' s | t\nt ::= 'a string of more than fifteen bytes' | 'another' | '<' s '>'");
    // A string that takes several ops, beyond the limit of a rule that nothing is left for.
    check("far-beyond", "s ::= c '!' c | c\nc ::= 'a string of more than thirty bytes here' | k c\nk ::= [a-z]");
    check("many", "s ::= t t '-' s | t\nt ::= [a-f] [0-9] | [x-z] s");
    check("depths", "a ::= 'a' b\nb ::= 'b' c?\nc ::= ('c' | 'k') d\nd ::= 'd' e*\ne ::= 'e' f f\nf ::= 'f' a? | 'g'");
}

#[test]
fn long_literals() {
    let text = |len: usize| (0..len).map(|index| char::from(b'a' + (index % 26) as u8)).collect::<String>();
    for len in [7, 14, 15, 16, 29, 30, 31, 44, 45, 46, 47, 90, 5000] {
        let text = text(len);
        check("long", &format!("s ::= t+ '{text}'\nt ::= '{text}' s? '{text}' | '' | '-' '{text}'"));
    }
}

#[test]
fn one_stream_feeds_many_inputs() {
    for name in ["json", "css"] {
        let path = format!("{}/../../shared/grammars/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: {path} is not there");
            continue;
        };
        let compiled = compiled(&format!("{name}.json"), &text);
        let limits = Limits::new().max_depth(9);
        let mut reference = Reference::new(&compiled);
        let mut vm = Vm::new(&compiled).clone();
        reference.set_limits(limits).unwrap();
        vm.set_limits(limits).unwrap();
        let expected = Inputs::new(reference, 3).take(600);
        assert!(expected.eq(Inputs::new(vm, 3).take(600)));
    }
}

#[test]
fn both_keep_the_bound_on_choice_bytes() {
    let compiled = compiled("bound.ebnf", "s ::= [a-z]* ';' s | ''");
    for producer in [&mut Reference::new(&compiled) as &mut dyn Producer, &mut Vm::new(&compiled)] {
        producer.set_limits(Limits::new().max_choices(100)).unwrap();
        let mut output = Vec::new();
        let mut random = SplitMix(1);
        let choices: Vec<u8> = (0..1000).map(|_| random.next() as u8 | 0x80).collect();
        assert_eq!(producer.produce(&mut Choices::replay(&choices), &mut output), 100);
    }
}

#[test]
fn the_first_limits_are_those_of_the_grammar_file() {
    let limits = |text: &str| Vm::new(&compiled("limits.ebnf", text)).limits();
    assert_eq!(limits("s ::= 'a' s?"), Limits::new().max_depth(Limits::DEFAULT_MAX_DEPTH));
    assert_eq!(limits("%max-depth 7\ns ::= 'a' s?"), Limits::new().max_depth(7));
    assert_eq!(limits("%max-len 9\ns ::= 'a' s?"), Limits::new().max_len(9));
    let long = "a".repeat(70_000);
    assert_eq!(limits(&format!("%max-depth 7\ns ::= '{long}' s?")), Limits::new());
    let vm = Vm::new(&compiled("short.ebnf", "s ::= 'ab'"));
    assert_eq!(produce(&mut vm.clone(), &[]), (b"ab".to_vec(), 0));
    assert!(vm.clone().set_limits(Limits::new().max_len(1)).is_err());
}
