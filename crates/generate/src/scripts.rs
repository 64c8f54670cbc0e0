//! Makes a transaction of what a session is to do: how it begins and ends, savepoints, and observers that look at what it
//! did.
//!
//! The position of the first read is drawn on purpose: it opens the snapshot, and many bugs show only before or only after
//! that.

use model::{
    Level, Rng,
    sql::{
        Begin, BeginVerb, Commit, Expr, Ident, InsertSource, InsertVerb, LockTiming, LockWait, Pragma,
        PragmaValue, Rollback, SavepointTarget, Statement, TransactionMode,
    },
};

use crate::{
    conflicts::{Body, Ending},
    orders::{Role, role},
    profile::weighted,
    set::Script,
    statements::Statements,
};

/// A script, and where the statements of its body are in it.
#[derive(Clone, Debug)]
pub struct Framed {
    pub script: Script,
    /// For each statement of the body its position in the script.
    pub places: Vec<usize>,
}

/// How a session opens its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Begin,
    Snapshot,
    ReadOnly,
    Immediate,
    AutocommitOff,
    Autocommit,
}

/// Makes a transaction of a body.
pub fn frame(rng: &mut Rng, statements: &Statements, level: Level, body: Body) -> Framed {
    let opening = opening(rng, statements, &body);
    let mut out = Lines { lines: Vec::new(), places: Vec::new(), savepoints: 0 };
    if let Some(name) = statements.caps.foreign_keys_on.filter(|_| has_foreign_keys(statements)) {
        out.lines.push(Statement::Pragma(Pragma {
            schema: None,
            name: name.into(),
            value: Some(PragmaValue::number(1)),
        }));
    }
    out.lines.extend(begin(opening));
    let scripts = &statements.profile.scripts;
    if opening == Opening::Autocommit {
        for statement in body.statements {
            out.body(statement);
        }
        return out.framed(level, true);
    }
    let observers = &statements.profile.observers;
    let first_read = weighted(rng, &observers.first_read).unwrap_or(2);
    let mut read = false;
    let table = body.statements.iter().find_map(|statement| table_of(statements, statement)).unwrap_or(0);
    if first_read == 0 {
        out.lines.push(statements.look(table));
        read = true;
    }
    for statement in body.statements {
        if scripts.savepoint.draw(rng) {
            out.savepoint();
        }
        let (own, writes) = (table_of(statements, &statement), statement.kind().writes());
        let risky = risky(statements, own, &statement);
        read |= role(&statement) == Role::Read;
        out.body(statement);
        let forced = first_read == 1 && !read && writes;
        if let Some(own) = own.filter(|_| writes && (forced || observers.after_write.draw(rng))) {
            out.lines.push(statements.look(own));
            read = true;
        }
        if risky && opening == Opening::Begin && body.ending.is_none() && scripts.give_up.draw(rng) {
            // As an application does after an error: all over again.
            out.lines.push(Statement::Rollback(Rollback::default()));
            out.lines.push(Statement::Begin(Begin::plain()));
            out.savepoints = 0;
            continue;
        }
        if out.savepoints > 0 && scripts.savepoint.draw(rng) {
            let (back, release) = (scripts.rollback_to.draw(rng), scripts.release.draw(rng));
            out.back_or_release(rng, back, release);
        }
    }
    if observers.before_end.draw(rng) {
        out.lines.push(statements.look(table));
        if opening != Opening::ReadOnly {
            out.lines.push(statements.locking_look(rng, table));
        }
    }
    let rollback = match body.ending {
        Some(Ending::Commit) => false,
        Some(Ending::Rollback) => true,
        None => scripts.rollback.draw(rng),
    };
    out.lines.push(if rollback {
        Statement::Rollback(Rollback::default())
    } else {
        Statement::Commit(Commit::plain())
    });
    out.framed(level, opening != Opening::AutocommitOff)
}

fn has_foreign_keys(statements: &Statements) -> bool {
    statements.schema.tables.iter().any(|table| !table.parents.is_empty())
}

/// The script as it grows.
struct Lines {
    lines: Vec<Statement>,
    places: Vec<usize>,
    savepoints: usize,
}

impl Lines {
    fn body(&mut self, statement: Statement) {
        self.places.push(self.lines.len());
        self.lines.push(statement);
    }

    fn savepoint(&mut self) {
        self.savepoints += 1;
        self.lines.push(Statement::Savepoint(Ident::new(format!("s{}", self.savepoints))));
    }

    /// Back to one of the savepoints, or the last one released; those after it are gone then.
    fn back_or_release(&mut self, rng: &mut Rng, back: bool, release: bool) {
        let number = rng.between(1, self.savepoints);
        let target = SavepointTarget { savepoint_word: true, name: Ident::new(format!("s{number}")) };
        if back {
            self.lines.push(Statement::Rollback(Rollback { to: Some(target), ..Rollback::default() }));
            self.savepoints = number;
        } else if release {
            self.lines.push(Statement::Release(target));
            self.savepoints = number - 1;
        }
    }

    fn framed(self, level: Level, autocommit: bool) -> Framed {
        Framed { script: Script { level, autocommit, statements: self.lines }, places: self.places }
    }
}

fn opening(rng: &mut Rng, statements: &Statements, body: &Body) -> Opening {
    let (caps, odds) = (statements.caps, &statements.profile.scripts);
    let reads = body.statements.iter().all(|statement| role(statement) == Role::Read);
    let only_reads = if reads { odds.read_only } else { odds.read_only_writer };
    let drawn = |rng: &mut Rng, has: bool, odds: crate::profile::Odds| has && odds.draw(rng);
    if drawn(rng, body.ending.is_none(), odds.autocommit) {
        Opening::Autocommit
    } else if drawn(rng, caps.autocommit_off, odds.autocommit_off) {
        Opening::AutocommitOff
    } else if drawn(rng, caps.snapshot, odds.snapshot) {
        Opening::Snapshot
    // What writes would fail.
    } else if drawn(rng, caps.read_only && (reads || !only_reads.is_never()), only_reads) {
        Opening::ReadOnly
    } else if drawn(rng, caps.clauses.sqlite_control, odds.immediate) {
        Opening::Immediate
    } else {
        Opening::Begin
    }
}

fn begin(opening: Opening) -> Option<Statement> {
    let start = |mode| Begin { verb: BeginVerb::StartTransaction, modes: vec![mode], ..Begin::plain() };
    let begin = match opening {
        Opening::Begin => Begin::plain(),
        Opening::Snapshot => start(TransactionMode::ConsistentSnapshot),
        Opening::ReadOnly => start(TransactionMode::ReadOnly),
        Opening::Immediate => Begin { timing: Some(LockTiming::Immediate), ..Begin::plain() },
        Opening::AutocommitOff | Opening::Autocommit => return None,
    };
    Some(Statement::Begin(begin))
}

/// Is it likely to fail, because of a row that is there already or of a lock that it will not wait for?
fn risky(statements: &Statements, table: Option<usize>, statement: &Statement) -> bool {
    let Some(table) = table.map(|table| statements.table(table)) else { return false };
    let taken = |values: &[(usize, &Expr)]| {
        table.unique().any(|index| {
            table.rows.iter().any(|row| {
                index.parts.iter().all(|part| {
                    let new = values.iter().find(|(at, _)| *at == part.column);
                    new.is_some_and(|(at, new)| !row[*at].is_null() && **new == statements.literal(&row[*at]))
                })
            })
        })
    };
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    match statement {
        Statement::Query(query) => query.locks.iter().any(|lock| lock.wait == Some(LockWait::Nowait)),
        Statement::Insert(insert) => {
            let plain = insert.verb == InsertVerb::Insert
                && insert.modifier.is_none()
                && insert.on_duplicate.is_empty()
                && insert.on_conflict.is_empty();
            let columns: Vec<usize> =
                insert.columns.iter().flatten().filter_map(|column| place(&column.name)).collect();
            let InsertSource::Values { rows, .. } = &insert.source else { return false };
            let hits = |row: &Vec<Expr>| taken(&columns.iter().copied().zip(row).collect::<Vec<_>>());
            plain && rows.iter().any(hits)
        }
        Statement::Update(update) => {
            let given =
                update.assignments.iter().filter_map(|one| Some((place(&one.column.name.name)?, &one.value)));
            update.modifier.is_none() && taken(&given.collect::<Vec<_>>())
        }
        _ => false,
    }
}

/// The table that a statement is about.
pub fn table_of(statements: &Statements, statement: &Statement) -> Option<usize> {
    let name = match statement {
        Statement::Insert(insert) => &insert.table.name.name,
        Statement::Update(update) => update.tables.first()?.first.table_name()?,
        Statement::Delete(delete) => delete.table.table_name()?,
        Statement::Query(query) => match &query.first {
            model::sql::QueryPart::Select(select) => select.from.first()?.first.table_name()?,
            model::sql::QueryPart::Paren(_) => return None,
        },
        _ => return None,
    };
    statements.schema.tables.iter().position(|table| table.name == name)
}
