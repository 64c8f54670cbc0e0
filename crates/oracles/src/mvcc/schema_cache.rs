//! A cache of schemas: for each its tables, which of them its statements reach, and their evaluated expressions.
//!
//! Hundreds of cases share a schema, and the orders of a set share their statements. With or without the cache the verdict is the same.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use dialect::{
    ParsedCase, ParsedSetup, ParsedStatement,
    contract::{Contract, contract},
};
use model::{Reason, ServerInfo, sync::lock};

use super::{
    deviations::{self, KnownDeviation},
    evaluation_cache::{EvaluationCache, Places, address},
    schema::Schema,
    table_footprint::{TableFootprint, footprint},
};

/// At most this many statements of a schema; then their cache is emptied. A tree takes some kilobytes.
const STATEMENTS: usize = 2_000;

/// At most this many schemas: one for each worker, and some.
const SCHEMAS: usize = 8;

#[derive(Debug, Default)]
pub struct SchemaCache {
    schemas: Mutex<Vec<Arc<CachedSchema>>>,
}

#[derive(Debug)]
pub struct CachedSchema {
    server: ServerInfo,
    setup: Arc<ParsedSetup>,
    /// What its server owes.
    pub contract: Option<Contract>,
    /// How it is known to leave that.
    pub deviations: Vec<&'static KnownDeviation>,
    pub schema: Result<Schema, Reason>,
    /// The statements of its cases.
    pub statement_cache: Mutex<StatementCache>,
}

impl SchemaCache {
    /// Reads a setup, if it is not known already.
    pub fn get(&self, server: &ServerInfo, setup: &Arc<ParsedSetup>) -> Arc<CachedSchema> {
        let mut known = lock(&self.schemas);
        // What it was started with, and how it words its version, changes nothing that is kept here.
        let same = |known: &&Arc<CachedSchema>| {
            (Arc::ptr_eq(&known.setup, setup) || known.setup == *setup)
                && known.server.version == server.version
                && known.server.settings == server.settings
        };
        if let Some(found) = known.iter().find(same) {
            return found.clone();
        }
        let contract = contract(server);
        let deviations =
            contract.as_ref().map_or_else(Vec::new, |contract| deviations::existing(server, contract));
        let read = Arc::new(CachedSchema {
            server: server.clone(),
            setup: setup.clone(),
            contract,
            deviations,
            schema: Schema::read(&server.version, setup),
            statement_cache: Mutex::default(),
        });
        if known.len() >= SCHEMAS {
            known.remove(0);
        }
        known.push(read.clone());
        read
    }
}

/// What was worked out about the statements of a schema.
#[derive(Debug, Default)]
pub struct StatementCache {
    /// By the address of the tree, which is held so that it stays the same.
    footprints: Places<(Arc<ParsedStatement>, TableFootprint)>,
    /// By the addresses of expressions, so it ends when the statements do.
    pub evaluated: RefCell<EvaluationCache>,
}

impl StatementCache {
    /// Which tables the steps of a case reach.
    pub fn footprints(&mut self, schema: &Schema, case: &ParsedCase) -> Vec<TableFootprint> {
        if self.footprints.len() >= STATEMENTS {
            *self = StatementCache::default();
        }
        let mut of = |statement: &Option<Arc<ParsedStatement>>| match statement {
            Some(statement) => {
                let new = || (statement.clone(), footprint(schema, statement));
                self.footprints.entry(address(&**statement)).or_insert_with(new).1
            }
            None => TableFootprint::default(),
        };
        case.statements.iter().map(&mut of).collect()
    }
}
