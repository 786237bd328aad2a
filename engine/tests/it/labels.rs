//! Grammars with labelled parts: the engines against the reference, splices, and limits.

use std::ops::Range;

use gramjet::{Batch, ChoiceSource, Choices, Inputs, Limits, Producer};
use gramjet_compiler::ast;
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_engine::EngineKind;
use gramjet_engine::decisions::{Derivation, Extent, Fit, OpenSite};
use gramjet_engine::kind::Engine;
use gramjet_engine::reference::Reference;
use gramjet_engine::tracer::Tracer;
use gramjet_testkit::{Draw, Rng, Shape, amount, lowered, random_grammar};

use crate::kit::{SplitMix, limits, produce};

/// Grammars with all kinds of what follows from labelled parts, and with names.
pub const GRAMMARS: [&str; 54] = [
    "d ::= e  e ::= '<' n:name a* ('/>' | '>' (e | [a-z])* '</' $n '>')  a ::= ' ' name '=\"' [a-z]* '\"'  name ::= [a-z]+",
    "v ::= 'S' $u8(len(x)) x:([a-z]*) | 'A' $u8(len(y)) y:(v*)",
    "t ::= c r:(',' c)* ';' (c (',' c){count(r)} ';')*  c ::= [a-z]* | '\"' [a-z,]* '\"'",
    "f ::= 'F' k+  k ::= $u32be(len(p) - 4) p:(('IDAT' | 'tEXt') [#b00-#bFF]*) $u32le(crc32(p))",
    "m ::= 'Length: ' $dec(len(b)) #x0A h:(name ': ' name #x0A)* $dec(count(h), 3) b:[a-z]*  name ::= [a-z]+",
    "s ::= x:([ab]* s?) '.' $x | 'c' $leb128(3 * len(y) + 1) y:([a-z]* s?)",
    "s ::= $u16be(crc16ccitt(o)) o:('(' $u8(xor8(i)) i:([ab]* s?) ')')",
    "s ::= a:[ab]+ (b:('<' $a '>') ($b | $a | 'c'))+ $hex(len(a), 2)",
    "s ::= n:[a-c]{1,3} ('x' | $n $n | $n 'y' @ 3)* (l:($n '-')* '!' {count(l)})?",
    "s ::= $u8(2 * len(a) + len(b)) a:[ab]* b:(s | [cd]*)",
    "s ::= r:(s | 'x' | 'yy')* ';' ('z' | $dec(count(r))){count(r)}",
    "s ::= $dec(len(a)) ':' a:($dec(len(b)) ':' b:(s | [ab]*)) | 'e'",
    "s ::= h:($u16le(sum(b), 0) ) b:'x'*",
    "s ::= $u8(len(x)) x:s? 'q' | [a-z]",
    "s ::= a:[ab]* $a ',' $a ',' $a s?",
    "s ::= p:('a' | 'bb' | 'ccc') [x-z]{count(q)} q:'k'* ",
    "s ::= k:'k'{2,5} [x-z]{count(k)} $oct(len(k), 3) | '(' s ')'",
    "s ::= k:'k'{3} [x-z]{count(k)} $HEX(adler32(k), 8) s*",
    "s ::= $u24be(fletcher16(b)) b:(s* [ab]) $u64le(inet16(b))",
    "p ::= $scope(v, s*)  s ::= 'let ' $define(v, n) '=' u ';' | '{' $scope(v, s*) '}' | u ';'  u ::= $use(v, '0') | [1-9]  n ::= [a-c]{1,2}",
    "e ::= '<' t:n $scope(a, (' ' $unique(a, n) '=' [x-z]*)*) ('/>' | '>' e* '</' $t '>')  n ::= [ab]{1,2}",
    "t ::= $scope(c, $unique(c, n) (',' $unique(c, n))* ';' ($use(c, '*') | '(' t ')')*)  n ::= [ab]",
    "s ::= $scope(k, o (',' o){2,}) s? | 'x'  o ::= $unique(k, 'a' | 'bb') | $unique(k, 'c') $unique(k, 'c')",
    "s ::= b:($scope(v, l, (d | s)*)) $dec(len(b)) $b | '.'  d ::= $define(v, [a-c]+) ':' $unique(l, [xy]) $use(v, 'a') $use(l, 'z')",
    "s ::= u:([à-ü]*) $u '|' (t:[a-é]+ $t){2} s?",
    "s ::= $i8(2 * len(x) + 120) x:(s* [ab]) $i16le(len(x)) | $dec(-10..12)",
    "s ::= $u8(offset(x)) [ab]* x:(s | 'c') ($dec(offset(x), 3) | 'd')*",
    "d ::= 'D' $u16le(offset(t)) e:('e' $dec(len(n)) n:[a-z]* d?)* t:('T' $dec(offset(t, e), 4) $i24be(offset(e)))",
    "s ::= r:('(' $hex(len(q)) k:(s | [ab]*) q:'q'* $oct(offset(q, r), 4) ')') c:$r $u32be(offset(c) + len(c))",
    "s ::= a:[ab]* (b:('<' $a '>') $HEX(offset(b), 1) | x:s $u8(2 * offset(x, a)))* $u32be(crc32(a))",
    "s ::= $raw(sha256(b)) b:(s* [ab] n:[c-e]* $hex(md5(n)))",
    "s ::= b:($HEX(sha1(x)) x:([ab]* s?)) ';' $raw(md5(b))",
    "s ::= h:($u8(len(h2)) h2:([ab]* f:($oct(sum(h2, f as ' '), 6) #x00 ' ') s?) $u16be(inet16(h, self as #x00)))",
    "s ::= h:(a:([ab]* $raw(md5(a, self as #x00))) f:('<' $HEX(crc32(h, f as #bFE), 8) '>' s?) $hex(crc16arc(a), 4))",
    "s ::= $bits(4: 4, 4: ceil(len(h) / 4), 3: 0..6, 13: 2 * len(d)) h:[ab]* $bitsle(2: 1, 6: len(d), 8: count(h)) d:([cd]* s?)",
    "s ::= d:([cd]* s?) $bits(12: len(d), 3: 5, 1: 0..1) ($bits(6: offset(h), 8: len(h), 2: 3) | 'x') h:[ab]* '.'",
    "s ::= a:([ab]* s?) $pad(a, 4) n:[xy]+ 'z' $fill(n, 7, '.') $dec(len(a))",
    "s ::= (h:(n:[a-z]+ $fill(n, 5) $oct(len(d), 2)) d:[#b00-#bFF]* $pad(d, 8))* $u16be(len(e)) e:(f:'f'* s? $pad(f, 3))",
    "s ::= $u8(ceil(len(a) / 4)) a:([ab]* s?) ('x' | 'yy'){ceil((len(a) + 1) / 3)} $dec(ceil(2 * len(a) / 3) + 1)",
    "s ::= a:$dec(0..70000) b:($i16be(-300..300) | $leb128(1..20000))* $a $u8(count(b)) s?",
    "s ::= '\"' $jsonstring([#x00-#x7F]* s?) '\"' $base16($u8(len(x)) x:[A-Z]*)",
    "s ::= $u32be(len(d)) $u32be(len(p)) p:$zlib(d:([a-c]* s?)) $u32le(crc32(d)) $u32be(crc32(p))",
    "s ::= n:[a-z]{1,3} '=' $percent($n '&' v:[#b00-#bFF]* $v) '&' $xmltext($n [<>&'a-c]* s?) '<' $n",
    "s ::= p:$gzip0($deflate(a:b:[ab]+)) $u8(len(b)) $hex(md5(a)) $dec(count(a), 3) ($base64(s) | $chunked(s s))?",
    "s ::= $u16be(len(p)) p:$base16(a:$base64(b:[a-z]*)) $u8(len(b)) $u16le(len(a)) $hex(crc32(b), 8) s*",
    "s ::= '\"' $cstring((x:[#b00-#bFF] $x)*) '\"' $dec(offset(t), 3) t:$base16('a' u:'b' $u8(offset(u)) s?)",
    "p ::= $scope(v, (d | '(' $percent($scope(v, d*)) ')' | u)*)  d ::= $unique(v, [a-c]) ';'  u ::= $use(v, '!') ','",
    "z ::= e:(o:'' 'PK' $u16le(len(n)) n:[a-z]+ d:[0-9]*)* c:$each(e, 'CD' $u32be(crc32(d)) $u8(len(n)) $u32le(offset(o)) $n) 'EE' $u16le(count(e)) $u32le(len(c)) $u32le(offset(c))",
    "s ::= r:(a:[ab]* b:(s | 'x') ';'){1,3} '.' ($each(r, $b $a ',') | $each(r, $dec(len(a)) ':' ($a | 'y'))) $u8(count(r))",
    "p ::= o:(at:'' [0-9] ' obj ' [a-z]* ' end ')+ x:('xref ' $dec(count(o)) #xA $each(o, $dec(offset(at), 3) ' n' #xA)) 'start ' $dec(offset(x), 6)",
    "s ::= k:[a-c]{1,3} m:(n:[a-z]+ '=' $k ';' s?){count(k)} $base64($each(m, $n ('-' $k){count(n)} $hex(md5(n)))) $u8(len(k))",
    "c ::= 'C' k*  k ::= $u32be(len(d)) b:('IDAT' d:[#b00-#bFF]*) $u32be(crc32(b))",
    "s ::= f:('<' n:[ab]+ (x:'x'* '|' y:[cd]{2,4})) '>' $n ('-' $y){count(x)} $f $dec(len(n)) s?",
    "e ::= r:(o:('F' n:[a-c]+ ';' e?) $u8(len(o)))* '.' $each(r, $n $dec(offset(o), 3) $o)",
];

fn compiled(grammar: &str) -> Option<Compiled> {
    let file = SourceFile::new("g.ebnf", grammar);
    compile(&file, &Options::default()).ok().map(|(compiled, _)| compiled)
}

/// Returns the grammars that compile, with their numbers.
fn grammars() -> impl Iterator<Item = (&'static str, Compiled)> {
    GRAMMARS.into_iter().filter_map(|grammar| Some((grammar, compiled(grammar)?)))
}

#[test]
fn most_of_them_compile() {
    assert_eq!(grammars().count(), 52);
}

/// Returns the engines that are held against the reference. Each is there once, as levels are always counted where
/// there are labels.
fn engines(compiled: &Compiled) -> Vec<(&'static str, Engine)> {
    let kinds = [EngineKind::Vm, EngineKind::Jit].into_iter().filter(|kind| kind.is_available());
    kinds.map(|kind| (kind.name(), kind.make(compiled).expect("it takes the grammar"))).collect()
}

/// Compares a text and the number of choice bytes read with the reference's.
fn agree(engines: &mut [(&str, Engine)], reference: &mut Reference, limits: Limits, choices: &[u8], of: &str) {
    reference.set_limits(limits).expect("it can keep them");
    let expected = produce(reference, choices);
    for (name, engine) in engines {
        engine.set_limits(limits).expect("it can keep them");
        let found = produce(engine, choices);
        let shown = |(text, read): &(Vec<u8>, u64)| (text.escape_ascii().to_string(), *read);
        assert_eq!(shown(&found), shown(&expected), "{name} of {of}\n{limits:?} {choices:?}");
        if let Some(most) = limits.length() {
            assert!(found.0.len() as u64 <= most, "{name} of {of}\n{limits:?} {}", found.0.escape_ascii());
        }
    }
}

#[test]
fn all_engines_agree_with_the_reference() {
    let mut rng = SplitMix(11);
    for (grammar, compiled) in grammars() {
        let (mut engines, mut reference) = (engines(&compiled), Reference::new(&compiled));
        for limits in limits(&compiled) {
            for _ in 0..20 {
                agree(&mut engines, &mut reference, limits, &rng.choices(200), grammar);
            }
        }
    }
}

/// The grammars of formats that ship.
const SHIPPED: [&str; 3] = ["png", "tar", "zip"];

#[test]
fn all_engines_agree_with_the_reference_on_the_grammars_of_formats() {
    let mut rng = SplitMix(3);
    for name in ["xml", "csv", "values", "ipv4", "png", "tar", "codings", "zip", "blocks"] {
        let folder = if SHIPPED.contains(&name) { "grammars" } else { "tests/labelled" };
        let path = format!("{}/../{folder}/{name}.ebnf", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: {path} is not there");
            continue;
        };
        let compiled = compiled(&text).expect("it compiles");
        let (mut engines, mut reference) = (engines(&compiled), Reference::new(&compiled));
        for length in [None, Some(0), Some(20), Some(300)] {
            for depth in [None, Some(2), Some(40)] {
                let length = length.map(|more: u64| compiled.min_len() + more);
                for _ in 0..10 {
                    let limits = Limits::new().max_depth(depth).max_len(length);
                    agree(&mut engines, &mut reference, limits, &rng.choices(500), name);
                }
            }
        }
    }
}

/// Compares the engines with the reference: 6 choice strings under 4 limits for each seed whose grammar is sound.
/// Returns the number of cases.
fn agree_on_random(seeds: Range<u64>, shape: &Shape) -> u64 {
    let mut cases = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let grammar = random_grammar(&mut rng, shape);
        if lowered(&grammar).is_none() {
            continue;
        }
        let compiled = gramjet_testkit::compiled(&grammar);
        let (mut engines, mut reference) = (engines(&compiled), Reference::new(&compiled));
        let of = format!("seed {seed}\n{}", ast::dump(&grammar));
        for _ in 0..6 {
            let choices = rng.choice_string(90);
            for _ in 0..4 {
                let depth = Some(rng.below(6) as u32).filter(|_| rng.below(3) > 0);
                let length = Some(compiled.min_len() + rng.below(40) as u64).filter(|_| rng.below(4) > 0);
                let limits = Limits::new().max_depth(depth).max_len(length);
                if limits.check(compiled.min_len(), compiled.rule_without_pool()).is_err() {
                    continue;
                }
                // Copies of recursive parts double the text with each byte.
                let most = if length.is_none() { 5 } else { 90 };
                agree(&mut engines, &mut reference, limits, &choices[..choices.len().min(most)], &of);
                cases += 1;
            }
        }
    }
    cases
}

/// The shapes of random grammars with labels, names, codings, mirrors and parameters.
const SHAPES: [Shape; 9] = [
    Shape::LABELLED,
    Shape::NAMED,
    Shape::LABELLED_NAMED,
    Shape::CODED,
    Shape::CODED_NAMED,
    Shape::MIRRORED,
    Shape::MIRRORED_CODED_NAMED,
    Shape::CALLED,
    Shape::CALLED_MIXED,
];

#[test]
fn all_engines_agree_with_the_reference_on_random_grammars() {
    let seeds = amount::seeds(0..4_000);
    let asked = 24 * SHAPES.len() as u64 * (seeds.end - seeds.start);
    let cases: u64 = SHAPES.iter().map(|shape| agree_on_random(seeds.clone(), shape)).sum();
    println!("{cases} of {asked} cases");
    assert!(cases > asked / 2);
}

/// A bit field that is a constant, in a grammar in which nothing else follows from parts. No notation leaves one.
#[test]
fn constant_bit_fields_are_written() {
    assert!(agree_on_random(601_451..601_452, &Shape::LABELLED) > 0);
}

#[test]
#[ignore = "it takes minutes"]
fn all_engines_agree_with_the_reference_in_a_long_run() {
    let cases: u64 = SHAPES.iter().map(|shape| agree_on_random(100_000..120_000, shape)).sum();
    println!("{cases} cases");
    assert!(cases > 1_000_000);
}

#[test]
fn batches_are_texts_one_after_the_other() {
    for (grammar, compiled) in grammars() {
        let limits = Limits::new().max_depth(Some(12)).max_len(compiled.min_len() + 300);
        for separator in [&b""[..], b"\n", b"-- a longer separator --"] {
            let mut reference = Inputs::new(Reference::with_limits(&compiled, limits), 5);
            let mut expected = Vec::new();
            for _ in 0..400 {
                reference.append_to(&mut expected);
                expected.extend_from_slice(separator);
            }
            for (name, mut engine) in engines(&compiled) {
                let (mut found, mut ends) = (Vec::new(), Vec::new());
                engine.set_limits(limits).expect("it can keep them");
                let mut engine = Inputs::new(engine, 5);
                while ends.len() < 400 {
                    let left = 400 - ends.len() as u64;
                    let full = found.len() + 3000;
                    engine.append_batch(&mut found, Batch::new(left, &mut ends).until_full(full).separator(separator));
                }
                assert_eq!(ends.last(), Some(&found.len()));
                let shown = |text: &[u8]| text.escape_ascii().to_string();
                assert!(found == expected, "{name} of {grammar}\n{}\n{}", shown(&found), shown(&expected));
            }
        }
    }
}

/// Copies double the text, which ends at 64 MiB.
#[test]
fn without_a_limit_texts_are_bounded() {
    let compiled = compiled("s ::= 'x' | n:s $n | n:s $n $n ';'").expect("it compiles");
    let texts = engines(&compiled).into_iter().map(|(_, mut engine)| {
        engine.set_limits(Limits::new()).expect("it can keep none");
        produce(&mut engine, &[0x80; 60])
    });
    let texts: Vec<(Vec<u8>, u64)> = texts.collect();
    assert!(texts[0].0.len() > 1 << 25 && texts[0].0.len() <= 1 << 26, "{}", texts[0].0.len());
    assert!(texts.iter().all(|text| *text == texts[0]));
}

/// A choice source that panics does not leave labelled parts behind.
#[test]
fn a_text_after_a_panic_is_right() {
    struct Few(usize);
    impl ChoiceSource for Few {
        fn fill(&mut self, buffer: &mut [u8]) -> usize {
            assert!(self.0 > 0, "no more choice bytes");
            self.0 -= 1;
            buffer.fill(0xC5);
            buffer.len()
        }
    }
    for (grammar, compiled) in grammars() {
        let limits = Limits::new().max_depth(Some(2000)).max_len(compiled.min_len() + 20_000);
        let mut reference = Reference::with_limits(&compiled, limits);
        let expected = produce(&mut reference, &[0x9C; 90]);
        for (name, mut engine) in engines(&compiled) {
            engine.set_limits(limits).expect("it can keep them");
            let (mut few, mut output) = (Few(1), Vec::new());
            let mut choices = Choices::from_source(&mut few);
            let produced = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for _ in 0..1000 {
                    engine.produce(&mut choices, &mut output);
                }
            }));
            assert!(produced.is_err(), "{name} of {grammar}");
            assert!(produce(&mut engine, &[0x9C; 90]) == expected, "{name} of {grammar}");
        }
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", unix))]
fn they_run_as_machine_code() {
    for (grammar, compiled) in grammars() {
        let engine = EngineKind::Auto.make(&compiled).expect("some engine takes it");
        assert_eq!(engine.kind(), EngineKind::Jit, "{grammar}");
    }
}

#[test]
fn what_follows_from_parts_follows_splices() {
    let mut rng = SplitMix(5);
    for (grammar, compiled) in grammars() {
        let mut deriver = Tracer::new(&compiled).deriver(Some(compiled.min_len() + 80));
        let mut drawn = || {
            let mut derivation = Derivation::default();
            let mut chooser = |site: &OpenSite<'_>| rng.below(site.offered().max(1).into()) as u32;
            deriver.derive(&[], &mut chooser, &mut derivation);
            derivation
        };
        let texts: Vec<Derivation> = (0..20).map(|_| drawn()).collect();
        for (one, other) in texts.iter().zip(&texts[1..]) {
            for (number, part) in one.parts.iter().enumerate() {
                let Some(place) = other.parts.iter().position(|other| other.symbol == part.symbol) else { continue };
                let mut grafted = Derivation::default();
                if deriver.graft((one, number), (other, place), Extent::Whole, &mut grafted) {
                    let (options, mut replayed) = (grafted.options().collect::<Vec<u32>>(), Derivation::default());
                    assert_eq!(deriver.replay(&options, &mut replayed), Fit::Exact, "{grammar}");
                    assert_eq!(replayed, grafted, "{grammar}");
                }
            }
        }
    }
}
