//! What the real clients run by themselves: whatever they do run, Isopod must know beforehand, since it writes no script for that.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use dialect::{
    OwnCommands,
    own_commands::{self, MYSQLTEST, PSQL, SQLITE3},
};
use provision::StartOptions;
use report::scripts::ended;

use crate::{
    common::{EXE, installed, target, whole},
    tested::{mysqltest, program},
    tools::{Folder, servers},
};

/// What stands around a way to make a client touch a file; `{}` is the way.
const AROUND: [&str; 22] = [
    "{}",
    "  {}",
    "SELECT 1 {}",
    "SELECT 1; {}",
    "SELECT 1;\n{}",
    "SELECT 1;\n {}\n;",
    "SELECT 1\n{}\n",
    "SELECT 'a\n{}\n'",
    "SELECT 'it''s' {}",
    "SELECT '{}'",
    "SELECT \"{}\"",
    "SELECT `{}`",
    "SELECT 'a\\' {} -- '",
    "SELECT 'a\\\\' {} -- '",
    "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SELECT 'a\\' {} -- '",
    "/* ' */ {} -- '",
    "/* a */\n{}",
    "-- '\n{} -- '",
    "SELECT 1 # '\n{} # '",
    "SELECT $$'$$ {} -- '",
    "SELECT E'\\'', '\\' {} -- '",
    "delimiter //\nSELECT 1//\n{}\n//",
];

/// Feeds every text to a client (`{}` of a way is the command of the shell), as a script has a setup and as it has a step, and looks what it did.
fn held(commands: &OwnCommands, folder: &Folder, ways: &[&str], feed: impl Fn(&str)) {
    let mark = folder.0.join("touched");
    let mut ran = Vec::new();
    for (around, way) in AROUND.iter().flat_map(|around| ways.iter().map(move |way| (around, way))) {
        let sql = around.replace("{}", &way.replace("{}", &format!("touch {}", mark.display())));
        for text in BTreeSet::from([sql.clone(), sql.replace('\n', " ")]) {
            feed(&ended(&text));
            let touched = fs::remove_file(&mark).is_ok();
            assert!(
                !touched || commands.first_in(&sql).is_some(),
                "{} ran this, and Isopod does not know it:\n{text}",
                commands.tool
            );
            ran.extend(touched.then_some(text));
        }
    }
    assert!(!ran.is_empty(), "{} ran nothing, so this test shows nothing", commands.tool);
}

fn fed(command: &mut Command, text: &str) {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // It may have ended before.
    let _ = child.stdin.take().unwrap().write_all(format!("{text}\n").as_bytes());
    child.wait().unwrap();
}

fn started(name: &str) -> Option<provision::Instance> {
    let started = installed(name)?.start(Path::new(EXE), &target(name), &StartOptions::default());
    Some(started.unwrap_or_else(|error| panic!("{name}: {}", whole(&error))))
}

#[test]
fn all_that_mariadb_and_mysqltest_run_is_known() {
    let Some(_alone) = servers(&["mariadb@10.11"]) else { return };
    let Some(client) = program(&["mariadb"], "mariadb-client-core") else { return };
    let Some(server) = started("mariadb@10.11") else { return };
    let (folder, socket) = (Folder::new(), server.socket().display().to_string());
    let options = dialect::mariadb::DIALECT.client.as_ref().unwrap().options;
    for more in ["--skip-named-commands", "--named-commands"] {
        held(&own_commands::mysql("mariadb"), &folder, &["\\! {}", "system {}"], |text| {
            let mut command = Command::new(&client);
            command.args(["--no-defaults", "-S", &socket, "-u", "root", more]).args(options.split(' '));
            fed(&mut command, text);
        });
    }
    if mysqltest().is_none() {
        return;
    }
    held(&MYSQLTEST, &folder, &["exec {}", "--exec {}", "perl;\nsystem('{}');\nEOF"], |text| {
        let mut command = mysqltest().unwrap();
        command.args(["--no-defaults", "--socket", &socket, "-u", "root"]).current_dir(&folder.0);
        fed(&mut command, text);
    });
}

#[test]
fn all_that_psql_runs_is_known() {
    let Some(_alone) = servers(&["postgres@15"]) else { return };
    let Some(client) = program(&["psql"], "postgresql-client") else { return };
    let Some(server) = started("postgres@15") else { return };
    let (folder, at) = (Folder::new(), server.socket().parent().unwrap().display().to_string());
    held(&PSQL, &folder, &["\\! {}", "\\o |{}", "\\set x `{}`"], |text| {
        let mut command = Command::new(&client);
        command.args(["-X", "-h", &at, "-U", server.superuser(), "-d", "postgres"]);
        fed(&mut command, text);
    });
}

#[test]
fn all_that_sqlite3_runs_is_known() {
    let Some(client): Option<PathBuf> = program(&["sqlite3"], "sqlite3") else { return };
    let folder = Folder::new();
    held(&SQLITE3, &folder, &[".shell {}", ".system {}", "\\! {}"], |text| {
        fed(&mut Command::new(&client), text)
    });
}
