//! BEGIN, COMMIT and ROLLBACK in their plainest words.

use model::sql::{Begin, Commit, Rollback, RollbackVerb, Statement};

use super::Simpler;

pub fn simpler(statement: &Statement) -> Vec<Simpler> {
    let plain = match statement {
        Statement::Begin(begin) => {
            let mut found = vec![Statement::Begin(Begin::plain())];
            for at in 0..begin.modes.len() {
                let mut other = begin.clone();
                other.modes.remove(at);
                found.push(Statement::Begin(other));
            }
            found
        }
        Statement::Commit(_) => vec![Statement::Commit(Commit::plain())],
        Statement::Rollback(rollback) => {
            let plain = Rollback { verb: RollbackVerb::Rollback, word: None, to: rollback.to.clone() };
            vec![Statement::Rollback(plain)]
        }
        _ => Vec::new(),
    };
    plain.into_iter().filter(|other| other != statement).map(|other| ("plain words", other)).collect()
}
