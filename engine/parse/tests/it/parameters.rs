//! Reading what follows from the parameters of rules.

use gramjet_compiler::reference::{Limits, render};
use gramjet_compiler::{Options, SourceFile, compile};
use gramjet_parse::{Budget, Parser};

/// Returns the text that the choice bytes of a text produce; the message if there are none.
fn read(grammar: &str, text: &str, repairs: bool) -> Result<String, String> {
    let file = SourceFile::new("g.ebnf", grammar);
    let Ok((compiled, _)) = compile(&file, &Options::default()) else { panic!("{grammar} does not compile") };
    let parser = Parser::new(&compiled.lowered);
    let parse = if repairs { Parser::repair } else { Parser::parse };
    let parsed = parse(&parser, text.as_bytes(), &Budget::default()).map_err(|error| error.to_string())?;
    let found = render(&compiled.lowered, &compiled.pools, Limits::default(), &parsed.choices).output;
    Ok(String::from_utf8_lossy(&found).into_owned())
}

const BLOCKS: &str = "s ::= none:'' $call(block, none)  \
    block(in) ::= $call(line, in) ($in $call(line, in))*  \
    line(in) ::= 'p;' | 'i:' deeper:($in ' '+) $call(block, deeper)";

#[test]
fn parameters_are_compared() {
    for text in ["p;", "i: p;", "i:  i:   p;   p;  p;p;", "i: i:  i:   p; p;"] {
        assert_eq!(read(BLOCKS, text, false).as_deref(), Ok(text));
    }
    let error = read(BLOCKS, "i:  p; p;", false).expect_err("it has another indentation");
    assert!(error.contains("byte 7: expected `  `, the copy of part `in`"), "{error}");
    let swapped = "s ::= a:[a-z]+ '=' b:[a-z]+ ';' $call(r, b, a)  r(x, y) ::= $x ',' $y ('!' $call(r, y, x))?";
    assert_eq!(read(swapped, "ab=c;c,ab!ab,c", false).as_deref(), Ok("ab=c;c,ab!ab,c"));
    assert!(read(swapped, "ab=c;ab,c", false).is_err());
}

/// Whether such a rule is empty follows from what is passed to it.
#[test]
fn rules_that_can_be_empty_are_read() {
    let grammar = "s ::= n:[a-z]* ':' $call(r, n) $call(q, n) '.' $call(r, n)  \
        r(t) ::= $t  q(t) ::= '' | ',' $call(r, t) $call(q, t) | $call(r, t)";
    for text in [":.", ":,,.", "a:a.a", "ab:abab.ab", "ab:ab,ab,ab.ab", "a:a,aa.a"] {
        assert_eq!(read(grammar, text, false).as_deref(), Ok(text));
    }
    for text in ["a:.a", "a:a.", "ab:ab,.ab", "a:a,b.a"] {
        assert!(read(grammar, text, false).is_err(), "{text}");
    }
}

#[test]
fn wrong_copies_of_parameters_are_mended() {
    let elements = "s ::= '<' n:[a-z]+ '>' s* $call(close, n)  close(tag) ::= $call(end, tag) '>'  end(t) ::= '</' $t";
    assert_eq!(read(elements, "<a><b></c></d>", true).as_deref(), Ok("<a><b></b></a>"));
    assert!(read(elements, "<a><b></c></d>", false).is_err());
    let counted = "s ::= n:'x'* ':' $call(r, n)  r(t) ::= $dec(count(t)) ',' 'y'{count(t)} $hex(crc32(t), 8)";
    assert_eq!(read(counted, "xx:2,yy00000000", true).as_deref(), Ok("xx:2,yyf8e1180f"));
}

#[test]
fn parameters_are_read_in_codings_and_mirrors() {
    let grammar = "s ::= e:(n:[a-z]+ ';')* $each(e, $call(row, n)) $base64(k:[a-z] $call(row, k))  \
        row(t) ::= '<' $t $base16lower($t) '>'";
    for text in ["PGE8YTYxPg==", "ab;c;<ab6162><c63>eDx4Nzg+"] {
        let found = read(grammar, text, false);
        assert!(found.is_ok() == text.starts_with("ab"), "{text}: {found:?}");
    }
}
