//! Tests of what a search shows on a terminal while it runs.

use std::fs::File;
use std::os::fd::FromRawFd as _;

use super::*;

/// Returns a terminal with this many columns: its two ends, of which a program has the second one.
fn terminal(columns: u16) -> (File, File) {
    let (mut outer, mut inner) = (0, 0);
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the numbers and the size are valid for the call, and both other pointers may be null.
    let opened = unsafe {
        libc::openpty(&raw mut outer, &raw mut inner, std::ptr::null_mut(), std::ptr::null(), &raw const size)
    };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both files were opened here, and nothing else closes them.
    unsafe { (File::from_raw_fd(outer), File::from_raw_fd(inner)) }
}

/// Searches on a terminal until it shows a line of which this is true. Returns that line and all that was shown.
fn shown(place: &Place, columns: u16, is_wanted: impl Fn(&str) -> bool) -> (String, String) {
    let (mut outer, inner) = terminal(columns);
    let options = ["search", "names.ebnf", "--max-len", "400", "--study", "0s", "--time", "2m", "--", "./names"];
    let mut gramjet = interruptible();
    let gramjet = within(gramjet.args(options).env("TERM", "xterm"), place);
    let mut running = Running::start(gramjet.stderr(inner));
    // This end is open in the search alone, so that reading ends with it.
    gramjet.stderr(std::process::Stdio::null());
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    // Where the search ends by itself, the system reports the end as an error.
    while let Ok(length @ 1..) = outer.read(&mut part) {
        bytes.extend_from_slice(&part[..length]);
        let said = text(&bytes);
        if let Some(wanted) = lines(&said).into_iter().find(|line| is_wanted(line)) {
            assert_eq!(running.interrupt(), Some(130), "{said}");
            return (wanted, said);
        }
    }
    panic!("the search has ended by itself: {}", text(&bytes));
}

/// Returns what was drawn, line by line, without the commands to the terminal. The last one may not be whole yet.
fn lines(said: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = said.chars();
    while let Some(character) = rest.next() {
        if character == '\x1b' {
            rest.find(char::is_ascii_alphabetic);
            plain.push('\n');
        } else {
            plain.push(character);
        }
    }
    let mut lines: Vec<String> = plain.split(['\r', '\n']).map(|line| line.trim().to_string()).collect();
    lines.pop();
    lines.retain(|line| !line.is_empty());
    lines
}

#[test]
fn a_terminal_shows_the_best_cost_the_rate_and_the_operators() {
    let place = names("search-terminal");
    let (line, said) = shown(&place, 200, |line| line.contains("; ") && line.ends_with(" %"));
    // `▁▃█ 9012 runs in 2 s (4408/s), best 2750, 13 edges; next 41 %, redraw 22 %, copy 9 %`
    let number = |from: &str, to: &str| -> u64 {
        let rest = line.split(from).nth(1).and_then(|rest| rest.split(to).next());
        rest.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{from}..{to} in {line}"))
    };
    assert!(number(" s (", "/s)") > 0 && number(", best ", ",") > 100, "{line}");
    let shares = line.rsplit("; ").next().unwrap();
    let percent = shares.split(", ").map(|share| {
        let (operator, percent) = share.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        assert!(operator.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{line}");
        percent.strip_suffix(" %").and_then(|percent| percent.parse().ok()).unwrap_or_else(|| panic!("{line}"))
    });
    let percent: Vec<u64> = percent.collect();
    assert!((2..=3).contains(&percent.len()) && percent.is_sorted_by(|one, other| one >= other), "{line}");
    assert!(percent[0] > 0 && percent.iter().sum::<u64>() <= 101, "{line}");
    // Better texts are above it, and stay.
    assert!(said.contains(" edges  "), "{said}");
}

#[test]
fn the_line_ends_where_the_terminal_does() {
    let place = names("search-narrow");
    let (line, said) = shown(&place, 30, |line| line.contains(" runs in "));
    assert!(line.chars().count() <= 30 && !line.contains(" edges"), "{line}: {said}");
}
