//! Grammars with labelled parts: the table interpreter against the reference, splices, and limits.

use gramjet::Producer;
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_engine::EngineKind;
use gramjet_engine::decisions::{Derivation, Extent, Fit, OpenSite};
use gramjet_engine::reference::Reference;
use gramjet_engine::tracer::Tracer;
use gramjet_engine::vm::Vm;

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

#[test]
fn the_table_interpreter_agrees_with_the_reference() {
    let mut rng = SplitMix(11);
    for (grammar, compiled) in grammars() {
        let (mut vm, mut reference) = (Vm::new(&compiled), Reference::new(&compiled));
        for limits in limits(&compiled) {
            vm.set_limits(limits).expect("it can keep them");
            reference.set_limits(limits).expect("it can keep them");
            for _ in 0..20 {
                let choices = rng.choices(200);
                let (found, expected) = (produce(&mut vm, &choices), produce(&mut reference, &choices));
                let shown = |(text, read): &(Vec<u8>, u64)| (text.escape_ascii().to_string(), *read);
                assert_eq!(shown(&found), shown(&expected), "{grammar}\n{limits:?} {choices:?}");
                if let Some(most) = limits.length() {
                    assert!(found.0.len() as u64 <= most, "{grammar}\n{limits:?} {}", found.0.escape_ascii());
                }
            }
        }
    }
}

#[test]
fn they_run_on_the_table_interpreter() {
    for (grammar, compiled) in grammars() {
        let engine = EngineKind::Auto.make(&compiled).expect("some engine takes it");
        assert_eq!(engine.kind(), EngineKind::Vm, "{grammar}");
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
