//! psql.

use crate::{Client, Terminal, own_commands};

pub(super) const CLIENT: Client = Client {
    program: "psql",
    package: "postgresql-client",
    no_defaults: &[],
    socket: "-h",
    wants_folder: true,
    user: "-U",
    database: &["-d", "postgres"],
    options: "-X -A -n -P null=NULL -P pager=off -v VERBOSITY=verbose",
    plain: "-X -A -t",
    in_schema: "export PGOPTIONS=\"${PGOPTIONS:-} -c search_path={schema}\"\n\
                in_schema() { ${run:-} \"$client\" \"$@\" $options; }",
    create_schema: "CREATE SCHEMA {schema};",
    drop_schema: "SET lock_timeout = '20s'; DROP SCHEMA {schema} CASCADE;",
    end_sessions: None,
    waiting: "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    // Without the names of the columns, and without what the client says of a statement.
    rows: "sed -e '1d' -e '/^([0-9]* rows\\{0,1\\})$/d'",
    boxes: false,
    done: |affected, _| format!("^[A-Z][A-Z 0]* {affected}$"),
    error: |_, sqlstate| format!("^ERROR:  {sqlstate}:"),
};

pub(super) const TERMINAL: Terminal = Terminal {
    name: "psql",
    commands: own_commands::PSQL,
    create_schema: Some("CREATE SCHEMA {schema}"),
    enter_schema: Some("SET search_path = {schema}"),
};
