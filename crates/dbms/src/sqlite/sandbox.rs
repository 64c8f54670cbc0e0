//! The child runs statements of others inside its own process: it shall reach no files but its own. Two walls: SQLite is asked to
//! attach no other database, and the kernel, where it has Landlock, to open nothing outside of our folder.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus,
};
use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};

/// What this child needs to read beside its folder: random numbers, and the time of the place.
const READ: [&str; 4] = ["/dev/urandom", "/dev/null", "/etc/localtime", "/usr/share/zoneinfo"];

/// From now on this thread and those that it starts reach nothing but the folder around this one, in which it was made and is removed.
/// A kernel without Landlock changes nothing; says whether this one has it.
pub fn close(folder: &Path) -> Result<bool, RulesetError> {
    let all = AccessFs::from_all(ABI::V3);
    let around = folder.parent().unwrap_or(folder);
    let mut rules =
        Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?.create()?;
    for (path, access) in std::iter::once((around, all))
        .chain(READ.iter().map(|path| (Path::new(*path), AccessFs::ReadFile | AccessFs::ReadDir)))
    {
        if let Ok(file) = PathFd::new(path) {
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V3) };
            rules = rules.add_rule(PathBeneath::new(file, access))?;
        }
    }
    Ok(rules.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

/// No other file becomes a database of this connection. VACUUM attaches one without a name, which is its own.
pub fn attach_nothing(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Attach { filename } if !filename.is_empty() => Authorization::Deny,
        _ => Authorization::Allow,
    }))
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    #[test]
    fn sqlite_attaches_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        let mut connection = Connection::open_in_memory().unwrap();
        attach_nothing(&mut connection).unwrap();
        for sql in [
            format!("ATTACH '{}' AS x", other.display()),
            format!("VACUUM INTO '{}'", other.display()),
            "ATTACH ':memory:' AS x".to_string(),
        ] {
            assert!(connection.execute_batch(&sql).is_err(), "{sql}");
        }
        connection.execute_batch("VACUUM").unwrap();
        assert!(!other.exists());
    }

    #[test]
    fn a_closed_thread_reaches_its_folder_alone() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (own, other) = (inside.path().join("child"), outside.path().join("file"));
        fs::create_dir(&own).unwrap();
        fs::write(&other, "x").unwrap();
        let in_thread = move || {
            let closed = close(&own).unwrap();
            fs::write(own.join("file"), "x").unwrap();
            (closed, fs::read(&other).is_err(), fs::write(&other, "y").is_err())
        };
        let (closed, unread, unwritten) = thread::spawn(in_thread).join().unwrap();
        assert_eq!((unread, unwritten), (closed, closed));
        assert_eq!(fs::read(outside.path().join("file")).unwrap(), if closed { b"x" } else { b"y" });
    }
}
