//! The command-line clients of MySQL and MariaDB.

use crate::{Client, Terminal, own_commands};

/// A client of this name.
pub(crate) const fn client(program: &'static str, package: &'static str) -> Client {
    Client {
        program,
        package,
        // First, or it is none.
        no_defaults: &["--no-defaults"],
        socket: "-S",
        wants_folder: false,
        user: "-u",
        database: &[],
        // MySQL 9's client takes `\!` only if it is told so twice; others do not know these options.
        options: "-n -f -t -vv --default-character-set=utf8mb4 --loose-commands=ON --loose-system-command=ON",
        plain: "-N -B",
        in_schema: "in_schema() { ${run:-} \"$client\" \"$@\" $options {schema}; }",
        create_schema: "CREATE DATABASE {schema};",
        drop_schema: "SET SESSION lock_wait_timeout = 20; DROP DATABASE {schema};",
        end_sessions: Some(
            "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist WHERE db = '{schema}';",
        ),
        waiting: "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
        rows: "grep '^|' | sed -e '1d' -e 's/  */ /g'",
        boxes: true,
        done: |affected, matched| match matched {
            Some(matched) => format!("^Rows matched: {matched}  Changed: {affected} "),
            None => format!("^Query OK, {affected} rows\\{{0,1\\}} affected"),
        },
        error: |code, _| format!("^ERROR {code} "),
    }
}

pub(crate) const fn terminal(name: &'static str) -> Terminal {
    Terminal {
        name,
        commands: own_commands::mysql(name),
        create_schema: Some("CREATE DATABASE {schema}"),
        enter_schema: Some("USE {schema}"),
    }
}
