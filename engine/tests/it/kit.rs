//! Helpers that the tests share: pseudo-random choice bytes, compiled grammars, and the comparison of two producers.

use gramjet::{Choices, Limits, Producer};
use gramjet_compiler::{Compiled, Options, SourceFile, compile};
use gramjet_engine::EngineKind;
use gramjet_engine::jit::Jit;
use gramjet_engine::reference::Reference;
use gramjet_engine::vm::Vm;

/// SplitMix64 (Steele, Lea & Flood 2014).
pub struct SplitMix(pub u64);

impl SplitMix {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns choice bytes; some strings have mostly large bytes, so that repetitions go on for long.
    pub fn choices(&mut self, max_len: u64) -> Vec<u8> {
        let len = self.below(max_len + 1);
        let large = if self.below(3) == 0 { 0x80 } else { 0 };
        (0..len).map(|_| self.next() as u8 | if self.below(8) == 0 { 0 } else { large }).collect()
    }
}

/// Compiles a grammar whose format shows in its name.
pub fn compiled(name: &str, text: &str) -> Compiled {
    match compile(&SourceFile::new(name, text), &Options::default()) {
        Ok((compiled, _)) => compiled,
        Err(diagnostics) => panic!("{name} does not compile: {diagnostics:?}"),
    }
}

pub fn produce(producer: &mut (impl Producer + ?Sized), choices: &[u8]) -> (Vec<u8>, u64) {
    // Output that is there already must stay.
    let mut output = b"before".to_vec();
    let read = producer.produce(&mut Choices::replay(choices), &mut output);
    assert_eq!(&output[..6], b"before");
    (output.split_off(6), read)
}

/// Returns all combinations of depth and length limits under which engines must agree (E1), as far as the grammar can
/// keep them.
pub fn limits(compiled: &Compiled) -> Vec<Limits> {
    let min_len = compiled.min_len();
    let lengths = [None].into_iter().chain([0, 1, 2, 5, 20].map(|more| Some(min_len + more)));
    let depths = [None, Some(0), Some(1), Some(3), Some(8), Some(32)];
    lengths
        .flat_map(|length| depths.map(|depth| Limits::new().max_depth(depth).max_len(length)))
        .filter(|limits| limits.check(min_len, compiled.rule_without_pool()).is_ok())
        .collect()
}

/// Returns the engines that are held against the reference.
pub fn engines(compiled: &Compiled) -> Vec<(&'static str, Box<dyn Producer>)> {
    let kinds = EngineKind::ALL
        .into_iter()
        .filter(|kind| ![EngineKind::Auto, EngineKind::Reference].contains(kind) && kind.is_available());
    let made = kinds.map(|kind| (kind.name(), kind.make(compiled).expect("code within the budget")));
    let mut engines: Vec<(&str, Box<dyn Producer>)> =
        made.map(|(name, engine)| (name, Box::new(engine) as Box<dyn Producer>)).collect();
    engines.push(("vm that counts levels", Box::new(Vm::without_unfolding(compiled))));
    if EngineKind::Jit.is_available() {
        let counting = Jit::without_unfolding(compiled).expect("code within the budget");
        engines.push(("jit that counts levels", Box::new(counting)));
    }
    engines
}

/// Checks that all engines give the same output and read the same bytes for `rounds` choice strings under each of the
/// limits.
pub fn check_replay(name: &str, compiled: &Compiled, rounds: u64, max_choices: u64) {
    let (mut reference, mut engines) = (Reference::new(compiled), engines(compiled));
    for (_, engine) in &engines {
        assert_eq!((engine.min_len(), engine.limits()), (reference.min_len(), reference.limits()));
    }
    let mut random = SplitMix(name.bytes().map(u64::from).sum());
    for limits in limits(compiled) {
        for round in 0..rounds {
            let choices = random.choices(max_choices);
            let limits = limits.max_choices(if round % 4 == 0 { random.below(40) } else { 1 << 20 });
            reference.set_limits(limits).unwrap();
            let expected = produce(&mut reference, &choices);
            for (engine, producer) in &mut engines {
                producer.set_limits(limits).unwrap();
                let found = produce(producer, &choices);
                assert!(
                    expected == found,
                    "{engine} on {name} {limits:?}\nchoices {choices:?}\nexpected {:?} {}\nfound    {:?} {}",
                    String::from_utf8_lossy(&expected.0),
                    expected.1,
                    String::from_utf8_lossy(&found.0),
                    found.1,
                );
            }
        }
    }
}
