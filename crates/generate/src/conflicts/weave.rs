//! Puts what a strategy wants into two scripts: in its order, among what is there already, so that no two cases look alike.

use model::{
    Rng,
    sql::{Commit, Rollback, Statement, TransactionMode},
};

use super::ground::Ground;
use crate::{
    orders::{Pair, Place, Role, role},
    set::{Script, Set},
};

/// How a transaction is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As it is.
    Any,
    /// By COMMIT.
    Commit,
    /// By ROLLBACK.
    Rollback,
}

/// What a strategy wants two sessions to do.
pub struct Plan {
    /// The statements of the one that acts first, in order.
    pub first: Vec<Statement>,
    /// The statements of the other.
    pub second: Vec<Statement>,
    /// Which of each collide.
    pub meet: (usize, usize),
    /// How the first one ends.
    pub end: End,
}

/// Statements of a script that do not belong to the plan are kept so often.
const KEPT: (usize, usize) = (1, 2);

/// Puts a plan into a set.
pub fn weave(rng: &mut Rng, ground: &Ground, set: &mut Set, plan: Plan) -> Option<Pair> {
    let (one, two) = sessions(rng, set)?;
    let mut put = |rng: &mut Rng, session: usize, spine: Vec<Statement>, meet: usize| {
        let script = &mut set.scripts[session];
        writable(script);
        let index = thread(rng, ground, script, spine, meet);
        Place { session, index }
    };
    let first = put(rng, one, plan.first, plan.meet.0);
    let second = put(rng, two, plan.second, plan.meet.1);
    // Most of the time: the other end is a case too.
    if rng.ratio(9, 10) {
        ends(&mut set.scripts[one], first.index, plan.end);
    }
    Some(Pair { first, second })
}

/// Two sessions, the first of them with a transaction.
pub fn sessions(rng: &mut Rng, set: &Set) -> Option<(usize, usize)> {
    let mut all: Vec<usize> = (0..set.scripts.len()).collect();
    rng.shuffle(&mut all);
    let inside = |session: &usize| !set.scripts[*session].autocommit || begins(&set.scripts[*session]);
    // Those without a transaction go last, and so are the first choice for nobody.
    all.sort_by_key(|session| !inside(session));
    let [one, two] = *all.get(..2)? else { return None };
    if rng.ratio(1, 2) && inside(&two) { Some((two, one)) } else { Some((one, two)) }
}

fn begins(script: &Script) -> bool {
    script.statements.iter().any(|statement| role(statement) == Role::Begin)
}

/// Takes READ ONLY away from a transaction that is about to write.
pub fn writable(script: &mut Script) {
    for statement in &mut script.statements {
        if let Statement::Begin(begin) = statement {
            begin.modes.retain(|mode| *mode != TransactionMode::ReadOnly);
        }
    }
}

/// The part of a script between its first BEGIN and the end of that transaction.
pub fn body(script: &Script) -> std::ops::Range<usize> {
    let roles: Vec<Role> = script.statements.iter().map(role).collect();
    let from = roles.iter().position(|r| *r == Role::Begin).map_or(0, |at| at + 1);
    let to = roles[from..].iter().position(|r| *r == Role::End).map_or(roles.len(), |at| from + at);
    from..to
}

/// Weaves statements into a script; gives the place of the one that is to meet another.
fn thread(rng: &mut Rng, ground: &Ground, script: &mut Script, spine: Vec<Statement>, meet: usize) -> usize {
    let body = body(script);
    let rest: Vec<Statement> = script.statements.drain(body.clone()).collect();
    let kept: Vec<Statement> =
        rest.into_iter().filter(|s| role(s) == Role::Other || rng.ratio(KEPT.0, KEPT.1)).collect();
    let mut mixed: Vec<Statement> = Vec::new();
    let mut place = 0;
    let (mut kept, total) = (kept.into_iter(), spine.len());
    for (number, statement) in spine.into_iter().enumerate() {
        while kept.len() > 0 && !rng.ratio(total - number, total - number + kept.len()) {
            mixed.extend(kept.next());
        }
        if number == meet {
            place = mixed.len();
        }
        let observed = observer(rng, ground, &statement);
        mixed.push(statement);
        mixed.extend(observed);
    }
    mixed.extend(kept);
    let at = body.start;
    script.statements.splice(at..at, mixed);
    at + place
}

/// A plain read of what was written, as often as the profile has it.
fn observer(rng: &mut Rng, ground: &Ground, statement: &Statement) -> Option<Statement> {
    let name = match statement {
        Statement::Insert(insert) => &insert.table.name.name,
        Statement::Update(_) | Statement::Delete(_) => super::filtered::table_of(statement)?,
        _ => return None,
    };
    let table = ground.schema.tables.iter().find(|table| table.name == *name)?;
    ground.profile.observers.after_write.draw(rng).then(|| ground.select(table, None))
}

/// Makes the transaction around a place end this way.
fn ends(script: &mut Script, place: usize, end: End) {
    let wanted = match end {
        End::Any => return,
        End::Commit => Statement::Commit(Commit::plain()),
        End::Rollback => Statement::Rollback(Rollback::default()),
    };
    let after = script.statements[place..].iter_mut().find(|statement| role(statement) == Role::End);
    if let Some(statement) = after {
        *statement = wanted;
    }
}
