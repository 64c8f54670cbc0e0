//! Where a user's name and password come from.
//!
//! In this order: the address, the environment (`ISOPOD_PASSWORD`, then the client's own variable), a file
//! (`password_file=` or `ISOPOD_PASSWORD_FILE`), the client's own configuration (`~/.my.cnf`, `~/.pgpass`). Whoever
//! starts Isopod may read its environment in /proc and so may what Isopod starts; so the command takes the secrets
//! out of it first ([`ClientEnvironment::remember`]) and overwrites them there.

use std::{
    collections::BTreeMap,
    env, fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use dialect::SqlFamily;
use model::{Product, Secret};

use super::{
    AttachError,
    clients::{my_cnf, pgpass},
};

/// The variables that hold a password.
pub const SECRET_VARIABLES: [&str; 3] = ["ISOPOD_PASSWORD", "MYSQL_PWD", "PGPASSWORD"];

/// The variables that only say where and who.
const VARIABLES: [&str; 6] = ["ISOPOD_PASSWORD_FILE", "PGPASSFILE", "PGUSER", "PGPORT", "PGDATABASE", "HOME"];

/// What the process was started with, as far as it matters here.
#[derive(Clone, Default)]
pub struct ClientEnvironment {
    secrets: BTreeMap<&'static str, Secret>,
    variables: BTreeMap<&'static str, String>,
    user: String,
}

static REMEMBERED: OnceLock<ClientEnvironment> = OnceLock::new();

impl ClientEnvironment {
    fn read() -> ClientEnvironment {
        let named = |name: &'static str| Some((name, env::var(name).ok().filter(|value| !value.is_empty())?));
        ClientEnvironment {
            secrets: SECRET_VARIABLES
                .into_iter()
                .filter_map(named)
                .map(|(n, v)| (n, Secret::new(v)))
                .collect(),
            variables: VARIABLES.into_iter().filter_map(named).collect(),
            user: system_user(),
        }
    }

    /// Reads them once and for all: what changes afterwards is not seen.
    pub fn remember() -> &'static ClientEnvironment {
        REMEMBERED.get_or_init(ClientEnvironment::read)
    }

    /// One of the variables that are no secret.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The passwords that stand in the environment.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.secrets.values()
    }

    fn home(&self, file: &str) -> Option<PathBuf> {
        Some(Path::new(self.variable("HOME")?).join(file))
    }
}

/// The name of the user who runs us.
fn system_user() -> String {
    let uid = fs::metadata("/proc/self").map(|about| about.uid().to_string()).unwrap_or_default();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_string())
    });
    name.or_else(|| env::var("USER").ok()).unwrap_or_else(|| "root".to_string())
}

/// Where we want to log in.
pub struct LoginRequest<'a> {
    pub product: Product,
    /// The user that the address names.
    pub user: Option<&'a str>,
    /// The password that the address holds.
    pub password: Option<&'a Secret>,
    /// The file that the address names.
    pub password_file: Option<&'a Path>,
    /// The host, as `~/.pgpass` writes it.
    pub host: &'a str,
    pub port: u16,
    pub database: Option<&'a str>,
}

/// A name and a password, and where the password was found.
pub struct Credentials {
    pub user: String,
    /// The password, or empty.
    pub password: Secret,
    /// For people: `ISOPOD_PASSWORD`, `~/.my.cnf`.
    pub from: String,
    /// What was passed over, and why.
    pub notes: Vec<String>,
}

pub fn find(wanted: &LoginRequest, around: &ClientEnvironment) -> Result<Credentials, AttachError> {
    let mut notes = Vec::new();
    let mut configured = (None, None);
    if dialect::of(wanted.product).family == SqlFamily::Mysql
        && let Some(path) = around.home(".my.cnf")
    {
        configured = my_cnf_file(&path, &mut notes);
    }
    let by_variable = match dialect::of(wanted.product).family {
        SqlFamily::Postgres => around.variable("PGUSER").map(str::to_string),
        SqlFamily::Mysql | SqlFamily::Sqlite => configured.0,
    };
    let user = wanted.user.map(str::to_string).or(by_variable).unwrap_or_else(|| around.user.clone());
    let own = match dialect::of(wanted.product).family {
        SqlFamily::Postgres => "PGPASSWORD",
        SqlFamily::Mysql | SqlFamily::Sqlite => "MYSQL_PWD",
    };
    let found = |password: Secret, from: &str, notes| {
        Ok(Credentials { user: user.clone(), password, from: from.to_string(), notes })
    };
    if let Some(password) = wanted.password {
        return found(password.clone(), "the address", notes);
    }
    for name in ["ISOPOD_PASSWORD", own] {
        if let Some(password) = around.secrets.get(name) {
            return found(password.clone(), name, notes);
        }
    }
    let file = wanted.password_file.or(around.variable("ISOPOD_PASSWORD_FILE").map(Path::new));
    if let Some(file) = file {
        let text = fs::read_to_string(file).map_err(|error| {
            AttachError::bare(format!("the password file {} cannot be read: {error}", file.display()))
        })?;
        return found(Secret::new(text.lines().next().unwrap_or("")), &file.display().to_string(), notes);
    }
    if dialect::of(wanted.product).family == SqlFamily::Postgres {
        let path = around.variable("PGPASSFILE").map(PathBuf::from).or_else(|| around.home(".pgpass"));
        if let Some(path) = path
            && let Some(password) = pgpass_file(&path, wanted, &user, &mut notes)
        {
            return found(password, &path.display().to_string(), notes);
        }
    }
    if let Some(password) = configured.1 {
        return found(password, "~/.my.cnf", notes);
    }
    found(Secret::new(""), "", notes)
}

/// The client passes over a file that everybody may write, and so do we.
fn my_cnf_file(path: &Path, notes: &mut Vec<String>) -> (Option<String>, Option<Secret>) {
    let Ok(about) = fs::metadata(path) else { return (None, None) };
    if about.permissions().mode() & 0o002 != 0 {
        notes.push(format!("{} is ignored, because everybody may write it", path.display()));
        return (None, None);
    }
    my_cnf(&fs::read_to_string(path).unwrap_or_default())
}

/// libpq passes over a file that others may read, and so do we.
fn pgpass_file(path: &Path, wanted: &LoginRequest, user: &str, notes: &mut Vec<String>) -> Option<Secret> {
    let about = fs::metadata(path).ok()?;
    if about.permissions().mode() & 0o077 != 0 {
        notes.push(format!("{0} is ignored, because others may read it: chmod 600 {0}", path.display()));
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    pgpass(&text, wanted.host, wanted.port, wanted.database.unwrap_or(user), user)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(secrets: &[(&'static str, &str)], variables: &[(&'static str, &str)]) -> ClientEnvironment {
        ClientEnvironment {
            secrets: secrets.iter().map(|(name, value)| (*name, Secret::new(*value))).collect(),
            variables: variables.iter().map(|(name, value)| (*name, value.to_string())).collect(),
            user: "me".to_string(),
        }
    }

    #[test]
    fn the_nearest_password_wins() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let file = folder.join("secret");
        fs::write(&file, "from-file\n").unwrap();
        fs::write(folder.join(".my.cnf"), "[client]\nuser=cnf\npassword=from-cnf\n").unwrap();
        let home = folder.display().to_string();
        let secret = Secret::new("from-url");
        let base = LoginRequest {
            product: Product::Mysql,
            user: None,
            password: None,
            password_file: None,
            host: "h",
            port: 1,
            database: None,
        };
        let both = around(&[("ISOPOD_PASSWORD", "ours"), ("MYSQL_PWD", "theirs")], &[("HOME", &home)]);
        let theirs = around(&[("MYSQL_PWD", "theirs"), ("PGPASSWORD", "no")], &[("HOME", &home)]);
        let none = around(&[], &[("HOME", &home)]);
        let get = |wanted: &LoginRequest, around: &ClientEnvironment| {
            let found = find(wanted, around).unwrap();
            (found.user, found.password.reveal().to_string())
        };
        let is = |user: &str, password: &str| (user.to_string(), password.to_string());
        assert_eq!(get(&LoginRequest { password: Some(&secret), ..base }, &both), is("cnf", "from-url"));
        assert_eq!(get(&base, &both), is("cnf", "ours"));
        assert_eq!(get(&base, &theirs), is("cnf", "theirs"));
        assert_eq!(get(&LoginRequest { password_file: Some(&file), ..base }, &none), is("cnf", "from-file"));
        assert_eq!(get(&base, &none), is("cnf", "from-cnf"));
        assert_eq!(get(&LoginRequest { user: Some("u"), ..base }, &none), is("u", "from-cnf"));
        assert_eq!(get(&base, &around(&[], &[])), is("me", ""));
        let postgres = LoginRequest { product: Product::Postgres, ..base };
        assert_eq!(get(&postgres, &theirs), is("me", "no"));
        let pass = folder.join(".pgpass");
        fs::write(&pass, "h:1:*:me:from-pgpass\n").unwrap();
        fs::set_permissions(&pass, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(find(&postgres, &none).unwrap().notes[0].contains("chmod 600"));
        fs::set_permissions(&pass, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(get(&postgres, &none), is("me", "from-pgpass"));
    }
}
