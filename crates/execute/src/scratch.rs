//! Runs probes: one statement on tables that hold given rows, in a schema of its own beside that of the cases.
//!
//! Tables are made once and filled again and again; a table that still holds what a probe wants is left as it is. One session
//! makes and fills them and does not look at foreign keys, since rows come in any order; another one, as fresh as those of a
//! case, runs the statement.

use std::collections::{BTreeMap, btree_map::Entry};

use dialect::Dialect;
use model::{DbError, Outcome, Probe, ProbeResult, Reason, Reply, RowSet, TableFixture, Warning};

use crate::{
    ask::{LIMIT, ask, must, text},
    executor::Executor,
    executor::Guard,
    prepare::drop_all,
    seams::{ConnectError, RawError, RawReply, Server, Session},
};

/// All scratch schemas of a server, by number.
#[derive(Default)]
pub(crate) struct ScratchSchemas(BTreeMap<usize, ScratchSchema>);

struct ScratchSchema {
    /// Makes and fills the tables.
    filler: Box<dyn Session>,
    /// Runs the statements.
    prober: Box<dyn Session>,
    /// What made the tables that are there, and what the prober said first.
    built: Option<(Vec<String>, Vec<String>)>,
    /// How each table was filled, as far as it still holds that.
    filled: BTreeMap<String, Vec<String>>,
}

impl Executor {
    pub fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, ConnectError> {
        // It comes from a case that was looked at before it ran; the rest of the probe is our own.
        if let (Guard::Schema, Some(sql)) = (self.options.guard, &probe.sql)
            && let Some(why) = dialect::guard::objection(self.dialect.product, sql)
        {
            return Err(ConnectError::Untrusted(format!("{sql}: {why}")));
        }
        match self.scratch.probe(self.server.as_mut(), self.dialect, probe) {
            Err(ConnectError::NoScratchSchema) => Ok(ProbeResult::NotRun(Reason::NoScratchSchema)),
            Err(error) => {
                // Nobody knows what is there now.
                self.scratch.0.remove(&probe.schema);
                Err(error)
            }
            done => done,
        }
    }
}

impl ScratchSchemas {
    fn probe(
        &mut self,
        server: &mut dyn Server,
        dialect: &Dialect,
        probe: &Probe,
    ) -> Result<ProbeResult, ConnectError> {
        let schema = match self.0.entry(probe.schema) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(empty) => {
                let (filler, prober) =
                    (server.connect_scratch(probe.schema)?, server.connect_scratch(probe.schema)?);
                empty.insert(ScratchSchema { filler, prober, built: None, filled: BTreeMap::new() })
            }
        };
        let there = |(build, prelude): &(Vec<String>, Vec<String>)| {
            *build == probe.build && *prelude == probe.prelude
        };
        if !schema.built.as_ref().is_some_and(there) {
            schema.build(dialect, probe)?;
            // A session that is idle may still know the tables that were there before.
            schema.prober = server.connect_scratch(probe.schema)?;
            for statement in &probe.prelude {
                must(schema.prober.as_mut(), statement)?;
            }
            schema.built = Some((probe.build.clone(), probe.prelude.clone()));
        }
        for fixture in &probe.tables {
            if let Some(error) = schema.fill(dialect, fixture)? {
                return Ok(ProbeResult::FixtureRefused { table: fixture.name.clone(), error });
            }
        }
        schema.run(dialect, probe)
    }
}

impl ScratchSchema {
    fn build(&mut self, dialect: &Dialect, probe: &Probe) -> Result<(), ConnectError> {
        self.built = None;
        self.filled.clear();
        drop_all(self.filler.as_mut(), dialect, false)?;
        for statement in &probe.build {
            must(self.filler.as_mut(), statement)?;
        }
        if let Some(relax) = dialect.tables.before_drop {
            must(self.filler.as_mut(), relax)?;
        }
        Ok(())
    }

    /// Makes a table hold its rows; the server's error if it does not take them.
    fn fill(&mut self, dialect: &Dialect, fixture: &TableFixture) -> Result<Option<DbError>, ConnectError> {
        if self.filled.get(&fixture.name) == Some(&fixture.fill) {
            return Ok(None);
        }
        self.filled.remove(&fixture.name);
        let name = dialect.quoted(&fixture.name);
        must(self.filler.as_mut(), &dialect.tables.empty_fast.replace("{}", &name))?;
        for statement in &fixture.fill {
            let answer = ask(self.filler.as_mut(), statement, LIMIT)?;
            if let RawReply::Error(error) = answer.reply {
                return Ok(Some(meaning(dialect, error)));
            }
        }
        self.filled.insert(fixture.name.clone(), fixture.fill.clone());
        Ok(None)
    }

    fn run(&mut self, dialect: &Dialect, probe: &Probe) -> Result<ProbeResult, ConnectError> {
        let prober = self.prober.as_mut();
        let first_query = match &probe.first_query {
            Some(query) => match ask(prober, query, LIMIT)?.reply {
                RawReply::Rows(rows) => Some(rows),
                RawReply::Done { .. }
                | RawReply::RolledBack
                | RawReply::Error(_)
                | RawReply::Unreadable(_)
                | RawReply::Lost => {
                    return Ok(ProbeResult::NotRun(Reason::FirstQueryRefused));
                }
            },
            None => None,
        };
        let mut outcome = None;
        if let Some(sql) = &probe.sql {
            if probe.changes {
                self.filled.clear();
            }
            outcome = Some(run_statement(prober, dialect, sql)?);
        }
        let mut tables = Vec::new();
        if probe.changes {
            let read = |fixture: &TableFixture| must(prober, &fixture.read);
            tables = probe.tables.iter().map(read).collect::<Result<Vec<RowSet>, _>>()?;
        }
        Ok(ProbeResult::Ran { first_query, outcome, tables })
    }
}

/// Runs the statement, and says what came of it in the words of a trace.
fn run_statement(prober: &mut dyn Session, dialect: &Dialect, sql: &str) -> Result<Outcome, ConnectError> {
    let answer = ask(prober, sql, LIMIT)?;
    let mut warnings = Vec::new();
    let reply = match answer.reply {
        RawReply::Rows(rows) => Reply::Rows(rows),
        RawReply::Done { affected, matched } => Reply::Done { affected, matched },
        RawReply::RolledBack => Reply::RolledBack,
        RawReply::Error(error) => Reply::Error(meaning(dialect, error)),
        RawReply::Unreadable(_) | RawReply::Lost => return Err(ConnectError::Gone),
    };
    if let (true, Some(show), false) =
        (answer.warnings > 0, dialect.show_warnings, matches!(reply, Reply::Error(_)))
    {
        let rows = must(prober, show)?;
        warnings = (0..rows.len())
            .map(|row| Warning {
                code: text(&rows, row, 1).parse().unwrap_or(0),
                message: text(&rows, row, 2),
            })
            .collect();
    }
    Ok(Outcome { reply, warnings, transaction: answer.transaction })
}

fn meaning(dialect: &Dialect, error: RawError) -> DbError {
    let (class, ends) = (dialect.classify)(error.code, &error.sqlstate);
    DbError { code: error.code, sqlstate: error.sqlstate, class, ends, message: error.message }
}
