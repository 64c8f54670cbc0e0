//! A cache of schemas: for each its tables, the statements that were parsed with the tables that they reach, and their evaluated
//! expressions.
//!
//! Hundreds of cases share a schema, and the orders of a set share their statements. With or without the cache the verdict is the same.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use dialect::contract::{Contract, contract};
use model::{Case, Product, Reason, ServerInfo, sql::Statement, sync::lock};

use super::{
    deviations::{self, KnownDeviation},
    evaluation_cache::{EvaluationCache, Known},
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
    statements: Vec<String>,
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
    pub fn get(&self, server: &ServerInfo, statements: &[String]) -> Arc<CachedSchema> {
        let mut known = lock(&self.schemas);
        // What it was started with, and how it words its version, changes nothing that is kept here.
        let same = |known: &&Arc<CachedSchema>| {
            known.statements == statements
                && known.server.product == server.product
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
            statements: statements.to_vec(),
            contract,
            deviations,
            schema: Schema::read(server.product, &server.version, statements),
            statement_cache: Mutex::default(),
        });
        if known.len() >= SCHEMAS {
            known.remove(0);
        }
        known.push(read.clone());
        read
    }
}

/// Parsed statements and their evaluated expressions.
#[derive(Debug, Default)]
pub struct StatementCache {
    texts: Known<String, (Option<Arc<Statement>>, TableFootprint)>,
    /// By the addresses of expressions, so it ends when the statements do.
    pub evaluated: RefCell<EvaluationCache>,
}

impl StatementCache {
    /// The trees of the steps of a case, none for a text that cannot be read; and which tables they reach.
    pub fn read(
        &mut self,
        product: Product,
        schema: &Schema,
        case: &Case,
    ) -> (Vec<Option<Arc<Statement>>>, Vec<TableFootprint>) {
        if self.texts.len() >= STATEMENTS {
            *self = StatementCache::default();
        }
        let mut read = |text: &String| {
            if let Some(known) = self.texts.get(text) {
                return known.clone();
            }
            let tree = dialect::sql::parse(product, text).tree().map(Arc::new);
            let reached = footprint(schema, tree.as_deref());
            self.texts.insert(text.clone(), (tree.clone(), reached));
            (tree, reached)
        };
        case.steps.iter().map(|step| read(&step.sql)).unzip()
    }
}
