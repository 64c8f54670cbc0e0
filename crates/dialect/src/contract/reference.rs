//! The reference engine: InnoDB's promises, without its irregularities.

use model::{Level, Product, ServerInfo, Version};

use super::{Contract, Engine, innodb};

/// The contract.
pub fn contract() -> Contract {
    let promises = ServerInfo {
        product: Product::Mysql,
        version: Version(vec![9, 7]),
        version_text: String::new(),
        settings: Default::default(),
        flags: Vec::new(),
    };
    let levels: Vec<_> = innodb::contract(&promises)
        .levels
        .into_iter()
        .filter(|(level, _)| Level::ALL.contains(level))
        .collect();
    Contract { engine: Engine::Reference, levels, waits: true, busy: None, savepoint_begins: false }
}
