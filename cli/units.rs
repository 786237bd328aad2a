//! Numbers as people write them: sizes, counts, durations, seeds.

use std::fmt;
use std::str::FromStr;

use std::time::Duration;

use gramjet_compiler::shape::Shape;

/// A limit, or the absence of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<T> {
    /// `none`.
    Unlimited,
    /// A number.
    At(T),
}

impl<T> Bound<T> {
    /// Returns the number, if there is one.
    pub fn number(self) -> Option<T> {
        match self {
            Bound::Unlimited => None,
            Bound::At(number) => Some(number),
        }
    }
}

/// Returns a number of bytes. k, M, G, T (with or without B) are powers of 1000, KiB, MiB, GiB, TiB powers of 1024; a
/// fraction is allowed before a unit.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text, "4096, 64KiB or 1MB")?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1000,
        "m" | "mb" => 1000_u64.pow(2),
        "g" | "gb" => 1000_u64.pow(3),
        "t" | "tb" => 1000_u64.pow(4),
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(format!("`{unit}` is not a unit of size (B, k, M, G, T, KiB, MiB, GiB, TiB)")),
    };
    scale(number, factor)
}

/// Returns a number of inputs; k, M, G are powers of 1000.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text, "100, 10k or 2M")?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1000,
        "m" => 1000_u64.pow(2),
        "g" => 1000_u64.pow(3),
        _ => return Err(format!("`{unit}` is not a unit of count (k, M, G)")),
    };
    scale(number, factor)
}

/// Returns a duration: numbers with the units ms, s, m, h, d, one after the other; a number alone is in seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if !rest.starts_with(is_of_number) {
        return Err("a duration is expected, such as 500ms, 30s or 2m".to_string());
    }
    let mut milliseconds = 0_u64;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !is_of_number(c)).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(number_end);
        let unit_end = behind.find(is_of_number).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_end);
        let factor = match unit.trim() {
            "ms" => 1,
            "s" => 1000,
            "" if behind.is_empty() => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            other => return Err(format!("`{other}` is not a unit of time (ms, s, m, h, d)")),
        };
        milliseconds = milliseconds.checked_add(scale(number, factor)?).ok_or_else(too_large)?;
        rest = behind.trim_start();
    }
    Ok(Duration::from_millis(milliseconds))
}

/// Returns a seed: decimal, or hexadecimal after 0x.
pub fn parse_seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16),
        Some(_) => return Err("a seed is a number from 0 to 2^64 - 1".to_string()),
        None => text.parse(),
    };
    parsed.map_err(|_| "a seed is a number from 0 to 2^64 - 1".to_string())
}

/// Returns a number of threads from 1 to 1024, or `auto`.
pub fn parse_jobs(text: &str) -> Result<usize, String> {
    if text == "auto" {
        return Ok(std::thread::available_parallelism().map_or(1, |processors| processors.get().min(1024)));
    }
    match text.parse() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err("a number of threads from 1 to 1024, or `auto`, is expected".to_string()),
    }
}

/// Returns a depth, or `none`.
pub fn parse_depth(text: &str) -> Result<Bound<u32>, String> {
    bound(text, |text| u32::from_str(text).map_err(|_| "a number of levels, or `none`, is expected".to_string()))
}

/// Returns a size, or `none`.
pub fn parse_size_bound(text: &str) -> Result<Bound<u64>, String> {
    bound(text, parse_size)
}

/// Returns a shape of inputs; sizes have units.
pub fn parse_shape(text: &str) -> Result<Shape, String> {
    match text.strip_prefix("target-size=") {
        Some(size) => match parse_size(size)? {
            0 => Err("inputs cannot have 0 bytes in the mean".to_string()),
            bytes => Ok(Shape::TargetSize(bytes)),
        },
        None => text.parse(),
    }
}

/// Returns the extension of a file name, without its dot.
pub fn parse_extension(text: &str) -> Result<String, String> {
    let extension = text.strip_prefix('.').unwrap_or(text);
    if extension.contains(['/', '\\', '\0']) {
        return Err("an extension has no path separator".to_string());
    }
    Ok(extension.to_string())
}

/// Returns a size with three digits and a binary unit, such as `1.50 MiB`.
pub fn display_size(bytes: u64) -> impl fmt::Display {
    struct Size(u64);
    impl fmt::Display for Size {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
            if self.0 < 1024 {
                return write!(f, "{} B", self.0);
            }
            let mut value = self.0 as f64 / 1024.0;
            let mut unit = 0;
            while value >= 1024.0 && unit + 1 < UNITS.len() {
                value /= 1024.0;
                unit += 1;
            }
            write!(f, "{value:.2} {}", UNITS[unit])
        }
    }
    Size(bytes)
}

/// Returns a count with its noun: `1 input`, `2 inputs`.
pub fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || c == '.' || c == '_'
}

/// Returns the number at the front of `text`, and the rest.
fn split_unit<'t>(text: &'t str, example: &str) -> Result<(&'t str, &'t str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !is_of_number(c)).unwrap_or(text.len());
    if end == 0 {
        return Err(format!("a number is expected, such as {example}"));
    }
    Ok((&text[..end], text[end..].trim()))
}

fn bound<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Bound<T>, String> {
    if text == "none" { Ok(Bound::Unlimited) } else { parse(text).map(Bound::At) }
}

/// Returns `number` times `factor`, rounded down, exactly.
fn scale(number: &str, factor: u64) -> Result<u64, String> {
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let no_number = || "a number is expected".to_string();
    if whole.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty()) {
        return Err(no_number());
    }
    if !fraction.is_empty() && factor == 1 {
        return Err("a whole number is expected".to_string());
    }
    // Digits after the eighteenth cannot change a result below 2^64 by more than one.
    let fraction = &fraction[..fraction.len().min(18)];
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let parts: u64 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| no_number())? };
    let scale = 10_u128.pow(fraction.len() as u32);
    let product = u128::from(whole) * u128::from(factor) + u128::from(parts) * u128::from(factor) / scale;
    u64::try_from(product).map_err(|_| too_large())
}

fn too_large() -> String {
    "the number is too large".to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            ("0", 0),
            ("4096", 4096),
            ("12_000", 12_000),
            ("64KiB", 65_536),
            ("64 kib", 65_536),
            ("10G", 10_000_000_000),
            ("10GB", 10_000_000_000),
            ("1.5MB", 1_500_000),
            ("1.5MiB", 1_572_864),
            ("0.1k", 100),
            ("0.0009k", 0),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        let wrong =
            ["", "k", "1.5", ".5k", "1.k", "1..5k", "-1", "1e3", "1KB/s", "99999999T", "18446744073709551616", "１"];
        for text in wrong {
            assert!(parse_size(text).is_err(), "{text}");
        }
        for text in ["abc", "", "-1"] {
            assert_eq!(parse_count(text), Err("a number is expected, such as 100, 10k or 2M".to_string()), "{text}");
            assert!(parse_size(text).is_err_and(|message| message.contains("64KiB")));
            assert!(parse_duration(text).is_err_and(|message| message.contains("30s")));
        }
    }

    #[test]
    fn durations() {
        let cases =
            [("500ms", 500), ("30s", 30_000), ("30", 30_000), ("2m", 120_000), ("1h30m", 5_400_000), ("1.5s", 1500)];
        for (text, milliseconds) in cases {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "5x", "1m30", "1 year", "-5s", "99999999999999999999s", "999999999999999d"] {
            // A number without a unit stands for seconds at the end too.
            assert_eq!(parse_duration(text).is_ok(), text == "1m30", "{text}");
        }
    }

    #[test]
    fn seeds_jobs_and_bounds() {
        assert_eq!(parse_seed("0xff"), Ok(255));
        assert_eq!(parse_seed("18446744073709551615"), Ok(u64::MAX));
        assert!(["", "0x", "0x+1", "-1", "1.5", "18446744073709551616"].iter().all(|text| parse_seed(text).is_err()));
        assert_eq!(parse_jobs("7"), Ok(7));
        assert!(parse_jobs("auto").is_ok_and(|jobs| jobs > 0));
        assert!(["0", "1025", "-1", "x"].iter().all(|text| parse_jobs(text).is_err()));
        assert_eq!(parse_depth("none"), Ok(Bound::Unlimited));
        assert_eq!(parse_depth("9"), Ok(Bound::At(9)));
        assert!(parse_depth("4294967296").is_err());
        assert_eq!(parse_size_bound("1k"), Ok(Bound::At(1000)));
        assert_eq!(parse_extension(".json").as_deref(), Ok("json"));
        assert!(parse_extension("../x").is_err());
    }

    #[test]
    fn sizes_for_people() {
        assert_eq!(display_size(1023).to_string(), "1023 B");
        assert_eq!(display_size(1536).to_string(), "1.50 KiB");
        assert_eq!(display_size(u64::MAX).to_string(), "16.00 EiB");
        assert_eq!(plural(1, "input") + ", " + &plural(2, "byte"), "1 input, 2 bytes");
    }
}
