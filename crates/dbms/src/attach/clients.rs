//! The configuration files of the databases' own clients, as far as they hold a name or a password.

use model::Secret;

/// The sections that the command line clients of MySQL and MariaDB read; `[mariadb]` is the server's.
const SECTIONS: [&str; 5] = ["client", "client-server", "client-mariadb", "mysql", "mariadb-client"];

/// `~/.my.cnf`: the user and the password of the clients' sections; later ones win. Files that it includes are not read.
pub fn my_cnf(text: &str) -> (Option<String>, Option<Secret>) {
    let (mut user, mut password) = (None, None);
    let mut ours = false;
    for line in text.lines().map(str::trim) {
        if let Some((section, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            ours = SECTIONS.contains(&section.trim());
            continue;
        }
        if !ours || line.starts_with(['#', ';', '!']) {
            continue;
        }
        let Some((name, value)) = uncommented(line).split_once('=') else { continue };
        match name.trim() {
            "user" => user = Some(my_value(value)),
            "password" => password = Some(Secret::new(my_value(value))),
            _ => {}
        }
    }
    (user, password)
}

/// The line up to a `#` outside of quotes, which begins a comment wherever it stands.
fn uncommented(line: &str) -> &str {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return &line[..at],
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c && !escaped => quote = None,
            (None | Some(_), _) => {}
        }
        escaped = quote.is_some() && c == '\\' && !escaped;
    }
    line
}

/// Quotes around all of it go; `\s` is a blank.
fn my_value(text: &str) -> String {
    let text = text.trim();
    let quoted = |quote| text.strip_prefix(quote).and_then(|rest: &str| rest.strip_suffix(quote));
    let inner = quoted('"').or_else(|| quoted('\'')).unwrap_or(text);
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
        for (line, want) in [
            ("password=ab#cd", "ab"),
            ("password='ab#cd' # why", "ab#cd"),
            ("password=\"a\\\"#b\"", "a\"#b"),
            ("password=\"ab\"cd", "\"ab\"cd"),
            ("password = ", ""),
            ("password=a=b", "a=b"),
            ("!include /x\npassword=a;b", "a;b"),
        ] {
            let (_, password) = my_cnf(&format!("[client] # ours\n{line}\n"));
            assert_eq!(password.unwrap().reveal(), want, "{line}");
        }
        let server = "[client]\nuser=a\n[mysqld] # the server\nuser=b\n[mariadb]\nuser=c\n[client-server]\n";
        assert_eq!(my_cnf(server).0.as_deref(), Some("a"));
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
