//! Outlines: what stands where in a text.

use gramjet_compiler::Compiled;
use gramjet_compiler::outline::{Outline, Piece, What, number, title};
use gramjet_compiler::reference::{self, Limits, Trace};
use gramjet_testkit::{Rng, Shape, amount, lowered, random_grammar};

use crate::labels::compiled;

/// Returns a line for each piece: its depth, name, place and number.
fn lines(compiled: &Compiled, choices: &[u8]) -> String {
    let ir = &compiled.lowered;
    let outline = Outline::of(ir, &compiled.pools, choices);
    let line = |piece: &Piece| {
        let name = match piece.what {
            What::Rule(rule) => compiled.told(rule).to_string(),
            What::Label(label) => format!("{}:", ir.label_name(label).unwrap_or_default()),
            What::Derived(node) => title(ir, node),
            What::Coded(coding) => coding.name().to_string(),
        };
        let within = piece.within.map_or(String::new(), |within| format!("in {within}, "));
        let text = outline.text.get(piece.place.start as usize..piece.place.end as usize).unwrap_or_default();
        let number = match piece.what {
            What::Derived(node) if piece.within.is_none() => number(ir, node, text),
            _ => None,
        };
        let number = number.map_or(String::new(), |number| format!(" = {number}"));
        format!("{}{name} {within}{:?}{number}\n", "  ".repeat(piece.depth as usize), piece.place)
    };
    outline.pieces.iter().map(line).collect()
}

#[test]
fn pieces_stand_where_they_are_in_the_complete_text() {
    // The number gets its second digit when all is known.
    let grammar = "s ::= $dec(len(b)) w b:[a-z]* $pad(b, 4) $u16be(offset(b)) $b\nw ::= 'w'*";
    let expected = "\
s 0..29
  $dec(len(b)) 0..2 = 12
  w 2..3
  b: 3..15
  $pad(b, 4) 15..15
  $u16be(offset(b)) 15..17 = 3
  $b 17..29
";
    let choices = [&[255, 0][..], &[255, 0].repeat(12), &[0]].concat();
    assert_eq!(lines(&compiled(grammar), &choices), expected);
}

#[test]
fn pieces_of_coded_parts_have_places_in_what_these_stand_for() {
    let grammar = "s ::= 'a' p:$base16(d:('b' $u8(len(c)) c:$percent(e '/'))) $u8(len(p)) $hex(crc32(d), 8)\ne ::= '%'";
    let expected = "\
s 0..25
  p: 1..17
    base16 1..17
      d: in 2, 0..8
        $u8(len(c)) in 2, 1..2
        c: in 2, 2..8
          percent in 2, 2..8
            e in 6, 0..1
  $u8(len(p)) 17..18 = 16
  $hex(crc32(d), 8) 18..26 = 0x5C1D3B9A
";
    let found = lines(&compiled(grammar), &[]);
    let without_sum = |text: &str| text.split(" = 0x").next().unwrap_or_default().replace("s 0..25", "s 0..26");
    assert_eq!(without_sum(&found), without_sum(expected));
}

/// Pieces are within those around them, and there is one for each instance of a rule.
#[test]
fn pieces_of_random_grammars_are_within_each_other() {
    let mut cases = 0;
    for seed in amount::seeds(0..4000) {
        let mut rng = Rng::new(seed);
        let shape = if seed % 2 == 0 { Shape::MIRRORED } else { Shape::MIRRORED_CODED_NAMED };
        let grammar = random_grammar(&mut rng, &shape);
        if lowered(&grammar).is_none() {
            continue;
        }
        let compiled = gramjet_testkit::compiled(&grammar);
        let choices = rng.choice_string(20);
        let outline = Outline::of(&compiled.lowered, &compiled.pools, &choices);
        let mut open: Vec<&Piece> = Vec::new();
        for piece in &outline.pieces {
            open.truncate(piece.depth as usize);
            if let Some(around) = open.last().filter(|around| around.within == piece.within) {
                let is_within = around.place.start <= piece.place.start && piece.place.end <= around.place.end;
                assert!(is_within, "seed {seed}: {piece:?} in {around:?}");
            }
            open.push(piece);
        }
        let (mut trace, mut text) = (Trace::default(), Vec::new());
        let mut bytes = choices.iter().copied();
        let ir = &compiled.lowered;
        reference::run(ir, &compiled.pools, Limits::default(), &mut || bytes.next(), &mut text, Some(&mut trace));
        assert_eq!(text, outline.text, "seed {seed}");
        let rules = outline.pieces.iter().filter(|piece| matches!(piece.what, What::Rule(_)));
        assert_eq!(rules.count(), trace.instances.len(), "seed {seed}");
        cases += outline.pieces.len();
    }
    assert!(cases > 0, "no grammar was tried");
}
