//! The reference engine: InnoDB's promises, without its irregularities.

use model::{Level, Product, ServerInfo, Version};

use super::{Contract, Engine, innodb};

pub fn contract() -> Contract {
    let promises = ServerInfo::bare(Product::Mysql, Version(vec![9, 7]));
    let levels: Vec<_> = innodb::contract(&promises)
        .levels
        .into_iter()
        .filter(|(level, _)| Level::ALL.contains(level))
        .collect();
    Contract {
        engine: Engine::Reference,
        levels,
        waits: true,
        busy: None,
        savepoint_begins: false,
        savepoint_names_stack: false,
    }
}
