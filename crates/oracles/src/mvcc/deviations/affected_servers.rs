//! Where a deviation exists, as data. Elsewhere it explains nothing.
//!
//! The bounds are versions that were run: MySQL 5.6.24, 8.0.33 and 9.7.4; MariaDB 10.1.23, 10.2.11, 10.5.23, 10.5.29, 10.11.5,
//! 10.11.19, 11.4.5 and 11.8.6. Where a release note names the version that repaired a bug, that is the bound between them.

use dialect::contract::{Contract, OnStaleWrite};
use model::{Level, ServerInfo};

/// Which servers of an engine have a deviation.
pub struct AffectedServers {
    /// Only this product, by its name in targets.
    pub product: Option<&'static str>,
    /// From this version on.
    pub since: &'static [u32],
    /// The releases that repaired it, one in each series, oldest first. Series after the last of them never had it.
    pub repaired: &'static [[u32; 3]],
    /// Only where a write to a row newer than the snapshot is refused at REPEATABLE READ (MariaDB's innodb_snapshot_isolation), or
    /// only where it is not.
    pub refuses_stale_writes: Option<bool>,
}

impl AffectedServers {
    /// On all servers of the engine.
    pub const ALL: AffectedServers =
        AffectedServers { product: None, since: &[], repaired: &[], refuses_stale_writes: None };

    /// Is this one of the servers?
    pub fn on(&self, server: &ServerInfo, contract: &Contract) -> bool {
        let version = server.version.0.as_slice();
        self.product.is_none_or(|product| server.product.name() == product)
            && version >= self.since
            && !self.is_repaired(version)
            && self.refuses_stale_writes.is_none_or(|wanted| wanted == refuses_stale_writes(contract))
    }

    fn is_repaired(&self, version: &[u32]) -> bool {
        let series = |release: &&[u32; 3]| version.starts_with(&release[..2]);
        match (self.repaired.iter().find(series), self.repaired.last()) {
            (Some(release), _) => version >= release.as_slice(),
            (None, Some(last)) => version > last.as_slice(),
            (None, None) => false,
        }
    }
}

fn refuses_stale_writes(contract: &Contract) -> bool {
    let rules = contract.at(Level::RepeatableRead);
    rules.is_some_and(|rules| rules.stale.is != OnStaleWrite::NewestWins)
}
