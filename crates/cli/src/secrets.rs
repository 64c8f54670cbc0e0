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
};

use clap::error::ContextValue;
use dbms::attach::{SECRET_VARIABLES, Surroundings};

/// The arguments. From here on nobody sees a password in /proc.
pub fn take_arguments() -> Vec<OsString> {
    let arguments = std::env::args_os().collect();
    Surroundings::remember();
    // Where there is no such /proc, they stay to be seen: nothing else depends on it.
    let _ = scrub();
    arguments
}

/// Overwrites what must not be seen.
fn scrub() -> Option<()> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything, stand the fields from the third on.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let (arguments, environment) = (field(48)?, field(50)?);
    let memory = OpenOptions::new().write(true).open("/proc/self/mem").ok()?;
    let overwrite = |from: u64, range: Range<usize>| {
        let _ = memory.write_all_at(&vec![b'x'; range.len()], from + range.start as u64);
    };
    for (at, text) in pieces(&fs::read("/proc/self/cmdline").ok()?) {
        for range in secret_parts(&text) {
            overwrite(arguments, at + range.start..at + range.end);
        }
    }
    for (at, text) in pieces(&fs::read("/proc/self/environ").ok()?) {
        if let Some((name, value)) = text.split_once('=')
            && SECRET_VARIABLES.contains(&name)
        {
            let from = at + name.len() + 1;
            overwrite(environment, from..from + value.len());
        }
    }
    Some(())
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

/// Where an argument may hold a password. Rather too much than too little: `user:HERE@host`, and what is named so.
fn secret_parts(text: &str) -> Vec<Range<usize>> {
    let Some(start) = text.find("://").map(|at| at + 3) else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(colon) = text[start..].find(':').map(|at| start + at + 1) {
        let rest = &text[colon..];
        match rest.rfind('@') {
            Some(end) => found.push(colon..colon + end),
            // Without a host it is no address, but may have been meant as one.
            None => {
                let end = rest.find(['/', '?', ']']).unwrap_or(rest.len());
                if !rest[..end].bytes().all(|byte| byte.is_ascii_digit()) {
                    found.push(colon..colon + end);
                }
            }
        }
    }
    for name in ["password=", "passwd="] {
        for (at, _) in text.match_indices(name) {
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

/// The error of the argument parser, which repeats arguments, without passwords.
pub fn without_passwords(mut error: clap::Error) -> clap::Error {
    let parts: Vec<_> = error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in parts {
        let value = match value {
            ContextValue::String(text) => ContextValue::String(redacted(&text)),
            ContextValue::Strings(texts) => {
                ContextValue::Strings(texts.iter().map(|text| redacted(text)).collect())
            }
            other => other,
        };
        error.insert(kind, value);
    }
    error
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
            ("mysql://[::1]:3306", "mysql://[:***]:3306"),
            ("mysql://u:secret", "mysql://u:***"),
            ("mysql://u@h?password=secret&x=1", "mysql://u@h?password=***&x=1"),
            ("mysql@9.7?log_bin=OFF", "mysql@9.7?log_bin=OFF"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }
}
