//! Passwords that the command was started with: taken once, and gone from where others can see them.
//!
//! Every user of a machine may read the arguments of every process, and whoever runs as the same user its environment;
//! both are handed on to what we start. The kernel keeps neither: it shows the bytes that the process was started with,
//! in its own memory. So they are overwritten there, as soon as they have been read.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    ops::Range,
    os::unix::fs::FileExt,
    sync::OnceLock,
};

use model::procfs::Stat;

use super::{ClientEnvironment, SECRET_VARIABLES};

/// The arguments that may hold a password.
static HIDDEN: OnceLock<Vec<String>> = OnceLock::new();

/// The arguments. From here on nobody sees a password in /proc.
pub fn take_arguments() -> Vec<OsString> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let texts = arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
    let _ = HIDDEN.set(texts.filter(|text| !secret_parts(text).is_empty()).collect());
    ClientEnvironment::remember();
    // Where there is no such /proc, they stay to be seen: nothing else depends on it.
    let _ = scrub();
    arguments
}

/// Overwrites what must not be seen.
fn scrub() -> Option<()> {
    let stat = fs::read("/proc/self/stat").ok()?;
    let stat = Stat::parse(&stat)?;
    let (arguments, environment) = (stat.arguments()?, stat.environment()?);
    let memory = OpenOptions::new().write(true).open("/proc/self/mem").ok()?;
    let overwrite = |from: u64, range: Range<usize>| {
        let _ = memory.write_all_at(&vec![b'x'; range.len()], from + range.start as u64);
    };
    for range in in_arguments(&fs::read("/proc/self/cmdline").ok()?) {
        overwrite(arguments, range);
    }
    for range in in_environment(&fs::read("/proc/self/environ").ok()?) {
        overwrite(environment, range);
    }
    Some(())
}

/// Where passwords may stand in a file `cmdline`.
pub fn in_arguments(file: &[u8]) -> Vec<Range<usize>> {
    let of = |(at, text): (usize, String)| {
        secret_parts(&text).into_iter().map(move |range| at + range.start..at + range.end)
    };
    pieces(file).into_iter().flat_map(of).collect()
}

/// Where passwords stand in a file `environ`.
pub fn in_environment(file: &[u8]) -> Vec<Range<usize>> {
    let of = |(at, text): (usize, String)| {
        let (name, value) = text.split_once('=')?;
        let from = at + name.len() + 1;
        SECRET_VARIABLES.contains(&name).then(|| from..from + value.len())
    };
    pieces(file).into_iter().filter_map(of).collect()
}

/// The strings between the zeros, with their places. What is not UTF-8 is shown so that places stay.
fn pieces(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut at = 0;
    let mut found = Vec::new();
    for piece in bytes.split(|byte| *byte == 0) {
        let text = match std::str::from_utf8(piece) {
            Ok(text) => text.to_string(),
            Err(_) => {
                piece.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect()
            }
        };
        found.push((at, text));
        at += piece.len() + 1;
    }
    found
}

/// Where an argument may hold a password. Rather too much than too little: `user:HERE@host`, also where it is no address
/// because something is missing or wrong, and what is named so.
fn secret_parts(text: &str) -> Vec<Range<usize>> {
    let address = text.find("://").map(|at| at + 3);
    let start = address.unwrap_or(0);
    let mut found = Vec::new();
    let end = text.rfind('@').filter(|end| *end > start);
    // Something else may have been written for the colon, and the last `@` ends whatever it was.
    let marks: &[char] = if address.is_some() { &[':', '/', ';', ',', '?', '#', ' '] } else { &[':'] };
    let begin = |end: usize| text[start..end].find(marks).map(|at| start + at + 1);
    if let Some((from, end)) = end.and_then(|end| Some((begin(end)?, end))) {
        found.push(from..end);
    } else if address.is_none() || end.is_some() || text[start..].starts_with('[') {
        // Not an address and not like one, or one without a password.
    } else if let Some(colon) = text[start..].find(':').map(|at| start + at + 1) {
        // Without a host it is no address, but may have been meant as one.
        let rest = &text[colon..];
        let end = rest.find(['/', '?', ']']).unwrap_or(rest.len());
        if !rest[..end].bytes().all(|byte| byte.is_ascii_digit()) {
            found.push(colon..colon + end);
        }
    }
    let small = text.to_ascii_lowercase();
    for name in ["password=", "passwd=", "pwd="] {
        for (at, _) in small.match_indices(name) {
            let from = at + name.len();
            found.push(from..from + text[from..].find('&').unwrap_or(text.len() - from));
        }
    }
    found
}

/// The text without what may be a password.
fn redacted(text: &str) -> String {
    let mut ranges = secret_parts(text);
    ranges.sort_by_key(|range| range.start);
    let (mut shown, mut from) = (String::new(), 0);
    for range in ranges {
        if range.start >= from {
            shown.push_str(&text[from..range.start]);
            shown.push_str("***");
        }
        from = from.max(range.end);
    }
    shown + &text[from..]
}

/// Any text for people, without what may be a password in an argument that it repeats, whole or in part.
pub fn hide(text: &str) -> String {
    HIDDEN.get().into_iter().flatten().fold(text.to_string(), |text, argument| hide_one(&text, argument))
}

fn hide_one(text: &str, argument: &str) -> String {
    let mut text = text.replace(argument, &redacted(argument));
    for range in secret_parts(argument).into_iter().filter(|range| range.start > 0 && !range.is_empty()) {
        // With the mark before it, and as a whole word: a short password is part of much else.
        let Some(secret) = argument.get(range.start - 1..range.end) else { continue };
        let mut at = 0;
        while let Some(found) = text[at..].find(secret).map(|found| at + found) {
            let end = found + secret.len();
            if text[end..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
                at = end;
            } else {
                text.replace_range(found + 1..end, "***");
                at = found + 4;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        for (text, shown) in [
            ("mysql://u:secret@h:3306", "mysql://u:***@h:3306"),
            ("--target=mysql://u:se@cr?et@h/db?a=b", "--target=mysql://u:***@h/db?a=b"),
            ("mysql://u@h:3306", "mysql://u@h:3306"),
            ("mysql://[::1]:3306", "mysql://[::1]:3306"),
            ("mysql://u@[::1]:3306", "mysql://u@[::1]:3306"),
            ("mysql://u:secret@[::1]:3306", "mysql://u:***@[::1]:3306"),
            ("mysql://u:secret", "mysql://u:***"),
            ("mysql://u@h?password=secret&x=1", "mysql://u@h?password=***&x=1"),
            ("mysql@9.7?log_bin=OFF", "mysql@9.7?log_bin=OFF"),
            ("mysql:/u:secret@h:3306", "mysql:***@h:3306"),
            ("u:secret@h:3306", "u:***@h:3306"),
            ("mysql://u/secret@h:3306", "mysql://u/***@h:3306"),
            ("mysql://u@h?PASSWORD=secret", "mysql://u@h?PASSWORD=***"),
            ("mysql://u@/run/x:y.sock", "mysql://u@/run/x:y.sock"),
            ("/tmp/a.iso", "/tmp/a.iso"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }

    #[test]
    fn an_argument_that_is_repeated_shows_no_password() {
        for (text, argument, shown) in [
            ("cannot read mysql://u:pw@h", "mysql://u:pw@h", "cannot read mysql://u:***@h"),
            ("no `u:pw@h` and no :pwd", "x@u:pw@h", "no `u:***@h` and no :pwd"),
            ("`mysql:u:pw` and :pw", "mysql:u:pw@h", "`mysql:***` and :pw"),
            ("root is root", "mysql://root:root@h", "root is root"),
        ] {
            assert_eq!(hide_one(text, argument), shown);
        }
    }
}
