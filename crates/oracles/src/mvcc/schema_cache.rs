//! What lies ready for the cases of one schema: its tables, the statements that were read with the tables that they reach, and
//! what their expressions came to.
//!
//! Hundreds of cases share a schema, and the orders of a set share their statements. It is only a memory: with or without it the
//! same is said.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex, PoisonError},
};

use dialect::contract::{Contract, contract};
use model::{Case, Product, Reason, ServerInfo, sql::Statement};

use super::{
    deviations::{self, KnownDeviation},
    evaluation_cache::{EvaluationCache, Known},
    schema::Schema,
    table_footprint::{TableFootprint, footprint},
};

/// So many texts are remembered before it begins anew. A tree takes some kilobytes.
const TEXTS: usize = 2_000;

/// So many schemas: one for each worker at work, and some.
const SETUPS: usize = 8;

/// The desks of the schemas at work.
#[derive(Debug, Default)]
pub struct Shelf {
    known: Mutex<Vec<Arc<Setup>>>,
}

/// A setup that was read.
#[derive(Debug)]
pub struct Setup {
    server: ServerInfo,
    statements: Vec<String>,
    /// What its server owes.
    pub contract: Option<Contract>,
    /// How it is known to leave that.
    pub deviations: Vec<&'static KnownDeviation>,
    /// Its tables.
    pub schema: Result<Schema, Reason>,
    /// What lies ready for its cases.
    pub desk: Mutex<Desk>,
}

impl Shelf {
    /// Reads a setup, or remembers it.
    pub fn setup(&self, server: &ServerInfo, statements: &[String]) -> Arc<Setup> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // What it was started with, and how it words its version, changes nothing that is kept here.
        let same = |known: &&Arc<Setup>| {
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
        let read = Arc::new(Setup {
            server: server.clone(),
            statements: statements.to_vec(),
            contract,
            deviations,
            schema: Schema::read(server.product, &server.version, statements),
            desk: Mutex::default(),
        });
        if known.len() >= SETUPS {
            known.remove(0);
        }
        known.push(read.clone());
        read
    }
}

/// Statements, and what their expressions came to.
#[derive(Debug, Default)]
pub struct Desk {
    texts: Known<String, (Option<Arc<Statement>>, TableFootprint)>,
    /// What their expressions came to. It knows them by their addresses, so it ends when they do.
    pub computed: RefCell<EvaluationCache>,
}

impl Desk {
    /// The trees of the steps of a case, none for a text that cannot be read; and which tables they reach.
    pub fn read(
        &mut self,
        product: Product,
        schema: &Schema,
        case: &Case,
    ) -> (Vec<Option<Arc<Statement>>>, Vec<TableFootprint>) {
        if self.texts.len() >= TEXTS {
            *self = Desk::default();
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
