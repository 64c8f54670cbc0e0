//! What the scripts need to know about the command-line clients of each product.

use model::{Level, Product};

use crate::finding::Finding;

/// A client.
pub struct Client {
    /// Its name.
    pub program: &'static str,
    /// How many statements wait for others now.
    pub waiting: &'static str,
}

/// The client of a product; none where there is no server.
pub fn of(product: Product) -> Option<Client> {
    const INNODB: &str = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
    const POSTGRES: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    match product {
        Product::Mysql => Some(Client { program: "mysql", waiting: INNODB }),
        Product::Mariadb => Some(Client { program: "mariadb", waiting: INNODB }),
        Product::Postgres => Some(Client { program: "psql", waiting: POSTGRES }),
        Product::Sqlite | Product::Reference => None,
    }
}

/// What each session says first.
pub fn greeting(finding: &Finding, session: usize) -> Vec<String> {
    let dialect = dialect::of(finding.product());
    let level = |level: Level| dialect.set_level.as_ref().map(|how| (how.set)(level));
    let mut first: Vec<String> = level(finding.level_of(session)).into_iter().collect();
    if !finding.case.sessions[session].autocommit {
        first.extend(dialect.autocommit_off.map(str::to_string));
    }
    first
}

/// A statement with its end.
pub fn ended(sql: &str) -> String {
    format!("{};", sql.trim().trim_end_matches(';'))
}

/// The name of the schema that a script makes for itself: nothing in it is needed for the effect.
pub fn schema(finding: &Finding) -> String {
    format!("test_{}", finding.id)
}

/// A comment that stays one line.
pub fn comment(text: &str) -> String {
    crate::text::clean(text)
}
