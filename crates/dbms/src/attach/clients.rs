//! The configuration files of the databases' own clients, as far as they hold a name or a password.

use model::Secret;

/// `~/.my.cnf`: the user and the password of `[client]` and of the sections of the command line client; later ones win.
pub fn my_cnf(text: &str) -> (Option<String>, Option<Secret>) {
    let (mut user, mut password) = (None, None);
    let mut ours = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            ours = matches!(
                section.trim(),
                "client" | "mysql" | "mariadb" | "client-mariadb" | "mariadb-client"
            );
            continue;
        }
        if !ours || line.starts_with(['#', ';']) {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        match name.trim() {
            "user" => user = Some(my_value(value)),
            "password" => password = Some(Secret::new(my_value(value))),
            _ => {}
        }
    }
    (user, password)
}

/// Quotes around it go; a `#` outside of them begins a comment; `\s` is a blank.
fn my_value(text: &str) -> String {
    let text = text.trim();
    let inner = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let rest = &text[1..];
            rest.rfind(quote).map_or(rest, |end| &rest[..end])
        }
        _ => text.split_once(" #").map_or(text, |(value, _)| value.trim_end()),
    };
    let mut value = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match chars.next() {
            Some('s') => value.push(' '),
            Some('t') => value.push('\t'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('b') => value.push('\u{8}'),
            Some(other @ ('\\' | '"' | '\'')) => value.push(other),
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

/// `~/.pgpass`: `host:port:database:user:password`, where `*` fits everything and `\` takes away a meaning.
pub fn pgpass(text: &str, host: &str, port: u16, database: &str, user: &str) -> Option<Secret> {
    let port = port.to_string();
    let wanted = [host, &port, database, user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for want in wanted {
            let (field, after) = pg_field(rest)?;
            if field != "*" && field != want {
                return None;
            }
            rest = after;
        }
        let password = pg_field(&format!("{rest}:")).map(|(field, _)| field)?;
        (!password.is_empty()).then(|| Secret::new(password))
    })
}

/// The next field and what follows its colon.
fn pg_field(text: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ':' => return Some((field, &text[at + 1..])),
            '\\' => field.push(chars.next().map_or('\\', |(_, c)| c)),
            c => field.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn my_cnf_is_read_as_the_client_does() {
        let text =
            "[mysqld]\nuser=mysql\npassword=no\n[client]\nuser = a\npassword=\"x # y\" \n# password=z\n";
        let (user, password) = my_cnf(text);
        assert_eq!((user.as_deref(), password.as_ref().map(Secret::reveal)), (Some("a"), Some("x # y")));
        let (_, password) = my_cnf("[mysql]\npassword=a\\sb\\\\c # why\n");
        assert_eq!(password.unwrap().reveal(), "a b\\c");
        assert_eq!(my_cnf("user=a\n"), (None, None));
    }

    #[test]
    fn pgpass_is_read_as_libpq_does() {
        let text = "# a comment\nother:5432:*:me:no\nh:*:*:me:a\\:b\n*:*:*:*:last\n";
        let get = |host, user| pgpass(text, host, 5432, "db", user).map(|s| s.reveal().to_string());
        assert_eq!(get("h", "me").as_deref(), Some("a:b"));
        assert_eq!(get("h", "you").as_deref(), Some("last"));
        assert_eq!(pgpass("h:1:d:u:p", "h", 2, "d", "u"), None);
    }
}
