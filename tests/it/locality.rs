//! *Locality*: the bytes outside a part of a derivation do not depend on what is inside it. Decisions, grafts,
//! rewriting, pools, the candidates of the minimiser, and `bulk` rely on it.

use gramjet_engine::decisions::{Derivation, Deriver, Fit, OpenSite};
use gramjet_session::{Language, Random, Settings};

/// Texts of each grammar, and parts that are exchanged in each.
const TEXTS: u64 = 40;
const PARTS: usize = 12;

fn drawn(deriver: &mut Deriver, random: &mut Random) -> Derivation {
    let mut derivation = Derivation::default();
    let mut chooser = |site: &OpenSite<'_>| random.below(site.offered().max(1) as usize) as u32;
    deriver.derive(&[], &mut chooser, &mut derivation);
    derivation
}

#[test]
fn bytes_outside_a_part_do_not_depend_on_what_is_inside() {
    for name in ["expr", "json", "css", "html", "lua", "sql", "dot", "toml"] {
        let language = Language::load(name.as_ref(), &Settings::default()).expect("it ships");
        let (mut drawing, mut replaying) = (language.deriver(Some(300)), language.deriver(None));
        let (mut random, mut exchanged) = (Random::new(7), 0);
        for _ in 0..TEXTS {
            let [one, other] = [drawn(&mut drawing, &mut random), drawn(&mut drawing, &mut random)];
            for _ in 0..PARTS.min(one.parts.len()) {
                let part = &one.parts[random.below(one.parts.len())];
                let Some(in_place) = other.parts.iter().find(|other| other.symbol == part.symbol) else { continue };
                let bytes = |derivation: &Derivation, (from, to): (u32, u32)| {
                    derivation.text[from as usize..to as usize].to_vec()
                };
                let options = |derivation: &Derivation, (from, to): (u32, u32)| -> Vec<u32> {
                    derivation.options().skip(from as usize).take((to - from) as usize).collect()
                };
                let end = one.decisions.len() as u32;
                let spliced = [
                    options(&one, (0, part.decisions.0)),
                    options(&other, in_place.decisions),
                    options(&one, (part.decisions.1, end)),
                ]
                .concat();
                let expected = [
                    bytes(&one, (0, part.text.0)),
                    bytes(&other, in_place.text),
                    bytes(&one, (part.text.1, one.text.len() as u32)),
                ]
                .concat();
                let mut replayed = Derivation::default();
                assert_eq!(replaying.replay(&spliced, &mut replayed), Fit::Exact, "{name}");
                assert_eq!(replayed.text, expected, "{name}");
                assert!(language.parse(&expected).is_ok(), "{name}: {:?}", String::from_utf8_lossy(&expected));
                exchanged += 1;
            }
        }
        assert!(exchanged > 100, "{name}: {exchanged}");
    }
}
