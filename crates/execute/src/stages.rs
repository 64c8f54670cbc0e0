//! Plays scenes: one statement on tables that hold given rows, in a schema of its own beside that of the cases.
//!
//! Tables are made once and filled again and again; a table that still holds what a scene wants is left as it is. One session
//! makes and fills them and does not look at foreign keys, since rows come in any order; another one, as fresh as those of a
//! case, runs the statement.

use std::collections::{BTreeMap, btree_map::Entry};

use dialect::Dialect;
use model::{DbError, Outcome, Prop, Reason, Reply, RowSet, Scene, Shown, Warning};

use crate::{
    ask::{LIMIT, ask, must, text},
    executor::Executor,
    prepare::drop_all,
    seams::{ConnectError, RawError, RawReply, Server, Session},
};

/// All stages of a server, by number.
#[derive(Default)]
pub(crate) struct Stages(BTreeMap<usize, Stage>);

struct Stage {
    /// Makes and fills the tables.
    filler: Box<dyn Session>,
    /// Runs the statements.
    player: Box<dyn Session>,
    /// What made the tables that are there, and what the player said first.
    built: Option<(Vec<String>, Vec<String>)>,
    /// How each table was filled, as far as it still holds that.
    filled: BTreeMap<String, Vec<String>>,
}

impl Executor {
    /// Plays a scene.
    pub fn play(&mut self, scene: &Scene) -> Result<Shown, ConnectError> {
        let played = self.stages.play(self.server.as_mut(), self.dialect, scene);
        match played {
            Err(ConnectError::NoStage) => Ok(Shown::Not(Reason::NoStage)),
            Err(error) => {
                // Nobody knows what is there now.
                self.stages.0.remove(&scene.stage);
                Err(error)
            }
            shown => shown,
        }
    }
}

impl Stages {
    fn play(
        &mut self,
        server: &mut dyn Server,
        dialect: &Dialect,
        scene: &Scene,
    ) -> Result<Shown, ConnectError> {
        let stage = match self.0.entry(scene.stage) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(empty) => {
                let (filler, player) = (server.aside(scene.stage)?, server.aside(scene.stage)?);
                empty.insert(Stage { filler, player, built: None, filled: BTreeMap::new() })
            }
        };
        let there = |(build, prelude): &(Vec<String>, Vec<String>)| {
            *build == scene.build && *prelude == scene.prelude
        };
        if !stage.built.as_ref().is_some_and(there) {
            stage.build(dialect, scene)?;
            // A session that is idle may still know the tables that were there before.
            stage.player = server.aside(scene.stage)?;
            for statement in &scene.prelude {
                must(stage.player.as_mut(), statement)?;
            }
            stage.built = Some((scene.build.clone(), scene.prelude.clone()));
        }
        for prop in &scene.tables {
            if let Some(error) = stage.fill(dialect, prop)? {
                return Ok(Shown::Unfilled { table: prop.name.clone(), error });
            }
        }
        stage.run(dialect, scene)
    }
}

impl Stage {
    fn build(&mut self, dialect: &Dialect, scene: &Scene) -> Result<(), ConnectError> {
        self.built = None;
        self.filled.clear();
        drop_all(self.filler.as_mut(), dialect, false)?;
        for statement in &scene.build {
            must(self.filler.as_mut(), statement)?;
        }
        if let Some(relax) = dialect.tables.before_drop {
            must(self.filler.as_mut(), relax)?;
        }
        Ok(())
    }

    /// Makes a table hold its rows; the server's error if it does not take them.
    fn fill(&mut self, dialect: &Dialect, prop: &Prop) -> Result<Option<DbError>, ConnectError> {
        if self.filled.get(&prop.name) == Some(&prop.fill) {
            return Ok(None);
        }
        self.filled.remove(&prop.name);
        let name = dialect.quoted(&prop.name);
        must(self.filler.as_mut(), &dialect.tables.empty_fast.replace("{}", &name))?;
        for statement in &prop.fill {
            let answer = ask(self.filler.as_mut(), statement, LIMIT)?;
            if let RawReply::Error(error) = answer.reply {
                return Ok(Some(meaning(dialect, error)));
            }
        }
        self.filled.insert(prop.name.clone(), prop.fill.clone());
        Ok(None)
    }

    fn run(&mut self, dialect: &Dialect, scene: &Scene) -> Result<Shown, ConnectError> {
        let player = self.player.as_mut();
        let probe = match &scene.probe {
            Some(query) => match ask(player, query, LIMIT)?.reply {
                RawReply::Rows(rows) => Some(rows),
                RawReply::Done { .. } | RawReply::RolledBack | RawReply::Error(_) | RawReply::Lost => {
                    return Ok(Shown::Not(Reason::ProbeRefused));
                }
            },
            None => None,
        };
        let mut outcome = None;
        if let Some(sql) = &scene.sql {
            if scene.changes {
                self.filled.clear();
            }
            outcome = Some(play(player, dialect, sql)?);
        }
        let mut tables = Vec::new();
        if scene.changes {
            let read = |prop: &Prop| must(player, &prop.read);
            tables = scene.tables.iter().map(read).collect::<Result<Vec<RowSet>, _>>()?;
        }
        Ok(Shown::Played { probe, outcome, tables })
    }
}

/// Runs the statement, and says what came of it in the words of a trace.
fn play(player: &mut dyn Session, dialect: &Dialect, sql: &str) -> Result<Outcome, ConnectError> {
    let answer = ask(player, sql, LIMIT)?;
    let mut warnings = Vec::new();
    let reply = match answer.reply {
        RawReply::Rows(rows) => Reply::Rows(rows),
        RawReply::Done { affected, matched } => Reply::Done { affected, matched },
        RawReply::RolledBack => Reply::RolledBack,
        RawReply::Error(error) => Reply::Error(meaning(dialect, error)),
        RawReply::Lost => return Err(ConnectError::Gone),
    };
    if let (true, Some(show), false) =
        (answer.warnings > 0, dialect.show_warnings, matches!(reply, Reply::Error(_)))
    {
        let rows = must(player, show)?;
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
