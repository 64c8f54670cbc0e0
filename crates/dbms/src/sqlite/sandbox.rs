//! The child runs statements of others inside its own process: it shall reach no files but its own. Two walls: SQLite is asked to
//! attach no other database, and the kernel, where it has Landlock, to open nothing outside of our folder.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError,
};
use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
};

/// What this child needs to read beside its folder: random numbers, and the time of the place.
const READ: [&str; 4] = ["/dev/urandom", "/dev/null", "/etc/localtime", "/usr/share/zoneinfo"];

/// From now on this thread and those that it starts reach nothing but the folder around this one, in which it was made and is removed.
/// A kernel without Landlock changes nothing.
pub fn close(folder: &Path) -> Result<(), RulesetError> {
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
    rules.restrict_self()?;
    Ok(())
}

/// No other file becomes a database of this connection. VACUUM attaches one without a name, which is its own.
pub fn attach_nothing(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Attach { filename } if !filename.is_empty() => Authorization::Deny,
        _ => Authorization::Allow,
    }))
}
