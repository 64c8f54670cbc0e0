//! Reads selectors: `[mariadb@10.6.. innodb_snapshot_isolation=ON, RR]`, and `mysql, at RR:` above known failures.

use super::{problem::Problem, source::Cursor, words::in_bare_value};
use crate::{
    expect::{Selector, ServerMatch},
    level::Level,
    target::{Product, Settings, Version},
};

/// Reads the items of a selector up to the character that closes it, and that character.
pub(super) fn selector(cursor: &mut Cursor<'_>, close: char) -> Result<Selector, Problem> {
    let mut selector = Selector::default();
    let open = cursor.pos;
    let mut only_levels = false;
    loop {
        cursor.skip_blanks();
        if close == ':' && selector.is_any() && cursor.eat_word("everywhere") {
            cursor.skip_blanks();
            match cursor.peek() {
                Some(':') => break,
                _ => return Err(unclosed(cursor, open, close)),
            }
        }
        if close == ':' && cursor.eat_word("at") {
            only_levels = true;
            cursor.skip_blanks();
        }
        item(cursor, &mut selector, only_levels)?;
        cursor.skip_blanks();
        match cursor.peek() {
            Some(',') => cursor.pos += 1,
            Some(char) if char == close => break,
            _ => return Err(unclosed(cursor, open, close)),
        }
    }
    cursor.pos += close.len_utf8();
    Ok(selector)
}

fn unclosed(cursor: &Cursor<'_>, open: usize, close: char) -> Problem {
    if cursor.at_end_or_comment() {
        let end = cursor.text[..cursor.pos].trim_end_matches([' ', '\t']).len();
        let problem = cursor.problem(
            end..end,
            format!("`{close}` is missing"),
            format!("expected `,` or `{close}` here"),
        );
        return match close {
            ':' => problem.help("a group of known failures is headed `mysql@9.7, at RR:`"),
            _ => problem.help(format!("what opened here is `{}`", cursor.text[open..end].trim())),
        };
    }
    cursor
        .unreadable("a selector", format!("expected `,` or `{close}` here"))
        .help("items are separated by commas, a server's settings by blanks: `mysql@9.7 log_bin=ON, RR`")
}

fn item(cursor: &mut Cursor<'_>, selector: &mut Selector, only_levels: bool) -> Result<(), Problem> {
    let start = cursor.pos;
    let word = cursor.take_while(|char| char.is_alphanumeric() || char == '_' || char == '-');
    let span = start..cursor.pos;
    if word.is_empty() {
        return Err(cursor
            .unreadable("a selector", "expected a level or a server here")
            .help("for example `[RR]`, `[mysql@9.7]` or `[mariadb innodb_snapshot_isolation=ON, RR]`"));
    }
    if let Ok(level) = word.parse::<Level>() {
        if selector.levels.contains(&level) {
            let label = format!("{level} is listed already");
            return Err(cursor.problem(span, "a level is listed twice", label));
        }
        selector.levels.push(level);
        return Ok(());
    }
    if only_levels {
        return Err(cursor
            .problem(span, format!("`{word}` is not an isolation level"), "only levels stand behind `at`")
            .help("the levels are RU, RC, RR and SER; servers stand before `at`"));
    }
    let Ok(product) = word.parse::<Product>() else {
        cursor.pos = start;
        return Err(unknown(cursor, word, span));
    };
    let (from, to) = if cursor.eat("@") { versions(cursor)? } else { (None, None) };
    let mut server = ServerMatch { product, from, to, settings: Settings::new() };
    if server.is_empty_range() {
        let label = "it ends before it begins";
        return Err(cursor.problem(start..cursor.pos, "an empty range of versions", label));
    }
    settings(cursor, &mut server.settings)?;
    selector.servers.push(server);
    Ok(())
}

fn unknown(cursor: &Cursor<'_>, word: &str, span: std::ops::Range<usize>) -> Problem {
    if cursor.text[span.end..].starts_with('=') {
        return cursor
            .problem(span, "a setting without its server", "settings stand behind a server")
            .help(format!("for example `mariadb {word}=ON`"));
    }
    let names: Vec<&str> = Product::ALL.iter().map(|product| product.name()).collect();
    let known = format!("the levels are RU, RC, RR and SER; the servers are {}", names.join(", "));
    let problem =
        cursor.problem(span, format!("`{word}` is neither a level nor a server"), "not known in a selector");
    match super::problem::nearest(word, names) {
        Some(name) => problem.help(format!("did you mean `{name}`?")),
        None => problem.help(known),
    }
}

/// `9.7`, `10.1..11.4`, `..10.6` or `8.0..`, behind the `@`.
fn versions(cursor: &mut Cursor<'_>) -> Result<(Option<Version>, Option<Version>), Problem> {
    let start = cursor.pos;
    let written = cursor.take_while(|char| char.is_alphanumeric() || char == '.');
    let wrong = || {
        cursor
            .problem(start..cursor.pos, "a version that cannot be read", "expected digits and dots")
            .help("write `@9.7`, `@10.1..11.4`, `@..10.6` or `@8.0..`")
    };
    let version = |text: &str| match text {
        "" => Ok(None),
        text => text.parse::<Version>().map(Some).map_err(|_| wrong()),
    };
    match written.split_once("..") {
        None => version(written)?.map(|only| (Some(only.clone()), Some(only))).ok_or_else(wrong),
        Some(("", "")) => Err(wrong()),
        Some((from, to)) => Ok((version(from)?, version(to)?)),
    }
}

/// ` name=value name='a value'`
fn settings(cursor: &mut Cursor<'_>, settings: &mut Settings) -> Result<(), Problem> {
    loop {
        let mut ahead = cursor.clone();
        ahead.skip_blanks();
        let start = ahead.pos;
        let name =
            ahead.take_while(|char| char.is_alphanumeric() || char == '_' || char == '-' || char == '.');
        if name.is_empty() || !ahead.eat("=") {
            return Ok(());
        }
        let value = if ahead.peek() == Some('\'') {
            quoted(&mut ahead)?
        } else {
            ahead.take_while(in_bare_value).to_string()
        };
        let key = name.to_ascii_lowercase().replace('-', "_");
        let span = start..ahead.pos;
        if settings.contains_key(&key) {
            let label = format!("`{key}` has a value already");
            return Err(cursor.problem(span, "a setting is named twice", label));
        }
        if value.is_empty() && !cursor.text[..ahead.pos].ends_with('\'') {
            return Err(cursor.problem(span, "a setting without a value", "expected `name=value`"));
        }
        settings.insert(key, value);
        cursor.pos = ahead.pos;
    }
}

/// Text in single quotes, where `''` is a quote. It may go over several lines.
pub(super) fn quoted(cursor: &mut Cursor<'_>) -> Result<String, Problem> {
    let open = cursor.pos;
    cursor.pos += 1;
    let mut text = String::new();
    loop {
        text.push_str(cursor.take_while(|char| char != '\''));
        if cursor.eat("''") {
            text.push('\'');
        } else if cursor.eat("'") {
            return Ok(text);
        } else {
            cursor.pos = open;
            return Err(cursor
                .problem(open..open + 1, "a quote is not closed", "it begins here")
                .help("a quote inside of text is written twice: 'it''s'"));
        }
    }
}
