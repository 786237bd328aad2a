//! The arithmetic of sites: the option for choice bytes, and the choice bytes for an option (the choice map, items 3
//! and 4).
//!
//! All engines use it: interpreters at run time, compilers for the tables and constants that they emit. The runtime
//! repeats some of it in inlined form. The test suite compares the two.

use super::Slots;

/// A site: a number of options, and their shares of 2^[`Site::bits`] equally probable values.
///
/// Only the first options may be offered. The values are divided among the *units* of the offered options: an option
/// has one unit, or as many as it has slots. A value takes the option of the unit `value * units >> bits`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site<'i> {
    offered: u32,
    slots: Option<&'i Slots>,
}

impl<'i> Site<'i> {
    /// Returns a site with this many equally probable options.
    #[inline]
    pub const fn even(options: u32) -> Site<'i> {
        Site { offered: options, slots: None }
    }

    /// Returns a site with the first `offered` options. If there are slots, the options share the values in proportion
    /// to them.
    #[inline]
    pub const fn new(offered: u32, slots: Option<&'i Slots>) -> Site<'i> {
        Site { offered, slots }
    }

    /// Returns the site with only its first `offered` options.
    #[inline]
    pub const fn narrowed(self, offered: u32) -> Site<'i> {
        Site { offered, ..self }
    }

    /// Returns the number of offered options.
    #[inline]
    pub const fn options(&self) -> u32 {
        self.offered
    }

    /// Returns the slots of a weighted site.
    #[inline]
    pub const fn slots(&self) -> Option<&'i Slots> {
        self.slots
    }

    /// Returns log2 of the number of values: 8, 16 or 24. 0 if there is at most one option.
    #[inline]
    pub fn bits(&self) -> u32 {
        match (self.offered, self.slots) {
            (0 | 1, _) => 0,
            (_, Some(slots)) => slots.bits(),
            (..=0x100, None) => 8,
            (..=0x1_0000, None) => 16,
            (_, None) => 24,
        }
    }

    /// Returns the number of choice bytes that it reads: none to three.
    #[inline]
    pub fn width(&self) -> u32 {
        self.bits() / 8
    }

    /// Returns the number of offered units.
    #[inline]
    pub fn units(&self) -> u32 {
        self.units_before(self.offered)
    }

    /// Returns the units of the options before `option`.
    #[inline]
    fn units_before(&self, option: u32) -> u32 {
        match self.slots {
            Some(_) if option == 0 => 0,
            Some(slots) => slots.ends()[option as usize - 1],
            None => option,
        }
    }

    /// Returns the smallest value that takes `option` or a later one. The number of values if there is none. A value is
    /// a little-endian number of [`Site::width`] bytes.
    #[inline]
    pub fn value_of(&self, option: u32) -> u32 {
        match self.bits() {
            0 => 0,
            bits => (u64::from(self.units_before(option)) << bits).div_ceil(u64::from(self.units())) as u32,
        }
    }

    /// Returns the option that a value takes.
    #[inline]
    pub fn option_of(&self, value: u32) -> u32 {
        let bits = self.bits();
        if bits == 0 {
            return 0;
        }
        let unit = ((u64::from(value) * u64::from(self.units())) >> bits) as u32;
        match self.slots {
            Some(slots) => slots.option_of(unit) as u32,
            None => unit,
        }
    }

    /// Returns the option for each choice byte, if the site reads one.
    pub fn options_of_bytes(&self) -> Option<[u8; 256]> {
        let mut options = [0; 256];
        for option in 1..self.options().min(256) {
            let from = (self.bits() == 8).then(|| self.value_of(option))?;
            options[from as usize..].fill(option as u8);
        }
        (self.bits() == 8).then_some(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(site: Site<'_>) {
        let (options, values) = (site.options(), 1u64 << site.bits());
        for option in (0..options).step_by((options as usize / 1000).max(1)).chain([options - 1]) {
            let value = site.value_of(option);
            assert!(value == 0 || site.option_of(value - 1) < option, "{site:?} {option}");
            // In a narrowed site, a slot may be smaller than a value.
            match site
                .slots()
                .is_some_and(|slots| u64::from(site.units()) > values || slots.ends().len() > options as usize)
            {
                true => assert!(u64::from(value) == values || site.option_of(value) >= option, "{site:?} {option}"),
                false => assert_eq!(site.option_of(value), option, "{site:?}"),
            }
        }
        assert_eq!(site.options_of_bytes().is_some(), site.bits() == 8);
        for (byte, option) in site.options_of_bytes().into_iter().flatten().enumerate() {
            assert_eq!(u32::from(option), site.option_of(byte as u32), "{site:?} {byte}");
        }
    }

    #[test]
    fn the_inverse_is_the_smallest_value() {
        for count in [1, 2, 3, 10, 255, 256, 257, 1000, 65_535, 65_536, 65_537, 1_112_064, 1 << 24] {
            check(Site::even(count));
        }
        for weights in [vec![1.0, 3.0], vec![1e-9, 1.0, 0.2], [vec![1e-9; 300], vec![1.0]].concat()] {
            let slots = Slots::from_weights(&weights).expect("fewer options than slots");
            for offered in 1..=weights.len() {
                check(Site::new(offered as u32, Some(&slots)));
            }
        }
    }

    #[test]
    fn one_option_reads_nothing() {
        let slots = Slots::from_weights(&[1.0, 3.0]).expect("fewer options than slots");
        for site in [Site::even(0), Site::even(1), Site::new(2, Some(&slots)).narrowed(1)] {
            assert_eq!((site.width(), site.option_of(0), site.value_of(0)), (0, 0, 0));
        }
    }
}
