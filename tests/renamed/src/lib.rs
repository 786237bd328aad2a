//! A crate that knows the library as `gj`: from the macro and from a build script.

/// Producers that the macro has made.
pub mod made {
    gj::grammar! {
        /// Sums.
        pub mod sum = "sum.ebnf" { max_depth: 8 };

        /// Sums without unsafe code.
        pub mod checked = "sum.ebnf" { max_depth: 8, forbid_unsafe: true };
    }
}

/// The producer that the build script has made.
pub mod built {
    include!(concat!(env!("OUT_DIR"), "/sum.rs"));
}

#[cfg(test)]
mod tests {
    use gj::{Inputs, Producer};

    use super::{built, made};

    #[test]
    fn producers_under_another_name_of_the_library_agree() {
        let inputs = |producer: Box<dyn Producer>| Inputs::new(producer, 7).take(100).collect::<Vec<_>>();
        let sums = inputs(Box::<made::sum::Producer>::default());
        assert_eq!(sums, inputs(Box::<made::checked::Producer>::default()));
        assert_eq!(sums, inputs(Box::<built::Producer>::default()));
        assert_eq!(built::render(&[]), b"1");
    }
}
