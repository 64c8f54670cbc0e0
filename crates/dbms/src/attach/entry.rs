//! Why we were not let in, with advice: the same for both families.

use dialect::SqlFamily;
use execute::ConnectError;

use super::{AttachError, Connector};
use crate::net::{Refusal, TlsMode};

/// What a server's refusal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It takes no connection in the clear.
    WantsTls,
    /// It does not know us, or the password is wrong.
    Login,
    /// This machine may not connect.
    Host,
    Other,
}

pub fn refused(connector: &Connector, refusal: &Refusal, denial: Denial) -> AttachError {
    let AttachError { title, help } = explained(connector, refusal, denial);
    AttachError { title: connector.login.hidden(&title), help }
}

fn explained(connector: &Connector, refusal: &Refusal, denial: Denial) -> AttachError {
    let name = &connector.name;
    match refusal {
        Refusal::Server(_) => match denial {
            Denial::WantsTls => AttachError::new(
                format!("{name} takes encrypted connections only: {refusal}"),
                ["add ?sslmode=require to the address"],
            ),
            Denial::Login => {
                AttachError::new(format!("cannot log in to {name}: {refusal}"), about_passwords(connector))
            }
            Denial::Host => AttachError::new(
                format!("{name} does not let us in like this: {refusal}"),
                about_hosts(connector),
            ),
            Denial::Other => AttachError::bare(format!("cannot connect to {name}: {refusal}")),
        },
        Refusal::Other(_) => {
            AttachError::new(format!("cannot connect to {name}: {refusal}"), about_protocols(connector))
        }
        Refusal::Unreachable(reason) => AttachError::new(
            format!("{name} cannot be reached: {reason}"),
            [format!("is a server running there, and does it listen on {}?", connector.address)],
        ),
        Refusal::Silent(_) => AttachError::new(
            format!("{name} does not answer as a server of this kind does: {refusal}"),
            about_protocols(connector)
                .into_iter()
                .chain(["connect_timeout=SECONDS waits longer".to_string()]),
        ),
        Refusal::Tls(reason) => AttachError::new(
            format!("the connection to {name} cannot be encrypted: {reason}"),
            match (connector.login.tls.mode, connector.options.tls_mode) {
                (TlsMode::VerifyCa | TlsMode::VerifyFull, _) => vec![
                    "sslmode=verify-ca checks who signed the certificate, verify-full the host too, require neither",
                ],
                (TlsMode::Disable | TlsMode::Prefer | TlsMode::Require, Some(_)) => {
                    vec!["without encryption: sslmode=disable (or prefer) in the address"]
                }
                (TlsMode::Disable | TlsMode::Prefer | TlsMode::Require, None) => vec![
                    "to another machine Isopod insists on encryption unless the address says otherwise",
                    "without encryption, for whoever is on the way to read: sslmode=disable (or prefer) in the address",
                ],
            },
        ),
        Refusal::NeedsTls => AttachError::new(
            format!("cannot log in to {name}: the password may only be sent over an encrypted connection"),
            [
                "add ?sslmode=require to the address (the server must offer TLS)",
                "or use the server's Unix socket",
            ],
        ),
    }
}

fn about_protocols(connector: &Connector) -> Vec<String> {
    let other = match dialect::of(connector.product).family {
        SqlFamily::Postgres => "mysql://",
        SqlFamily::Mysql | SqlFamily::Sqlite => "postgres://",
    };
    vec![
        format!("is {} the right address, and of a server of this kind?", connector.address),
        format!("if it is of the other kind, the address begins with {other}"),
    ]
}

fn about_hosts(connector: &Connector) -> Vec<String> {
    let line = match dialect::of(connector.product).family {
        SqlFamily::Postgres => "a line for this machine, user and database is needed there in pg_hba.conf",
        SqlFamily::Mysql | SqlFamily::Sqlite => {
            "an account for this machine is needed there: CREATE USER 'user'@'host' IDENTIFIED BY ..."
        }
    };
    let encrypted = match connector.login.tls.mode {
        TlsMode::Disable => Some("it may let in encrypted connections only: sslmode=require"),
        TlsMode::Prefer | TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => None,
    };
    [Some(line), encrypted].into_iter().flatten().map(str::to_string).collect()
}

fn about_passwords(connector: &Connector) -> Vec<String> {
    let (variable, file) = match dialect::of(connector.product).family {
        SqlFamily::Postgres => ("PGPASSWORD", "~/.pgpass"),
        SqlFamily::Mysql | SqlFamily::Sqlite => ("MYSQL_PWD", "~/.my.cnf"),
    };
    let from = match connector.password_from.as_str() {
        "" => "no password was found".to_string(),
        from => format!("the password came from {from}"),
    };
    vec![
        from,
        "it is taken from, in this order: the address (://user:password@host), ISOPOD_PASSWORD,".to_string(),
        format!("{variable}, password_file=FILE or ISOPOD_PASSWORD_FILE, {file}"),
    ]
}

/// A statement of our own failed.
pub fn failed(connector: &Connector, error: &ConnectError) -> AttachError {
    AttachError::bare(match error {
        ConnectError::Gone => format!("{} went away", connector.name),
        _ => connector.login.hidden(&format!("{}: {error}", connector.name)),
    })
}
