//! Going back to a savepoint that was set before the transaction touched any table: InnoDB then ends the whole transaction, with its
//! locks and its snapshot. No manual promises that, and the model knows it as such; here nothing is said of such a case.

use model::{Case, Product, sql::Statement};

/// Does a session do that?
pub fn goes_back_early(product: Product, case: &Case) -> bool {
    if !dialect::of(product).semantics.early_savepoint_ends_all {
        return false;
    }
    let mut sessions: Vec<(bool, Vec<(String, bool)>)> = vec![Default::default(); case.sessions.len()];
    case.steps.iter().any(|step| {
        let (touched, savepoints) = &mut sessions[step.session];
        match dialect::sql::parse(product, &step.sql).tree() {
            Some(Statement::Savepoint(name)) => savepoints.push((name.name, !*touched)),
            Some(Statement::Rollback(rollback)) => match rollback.to {
                Some(to) => {
                    let known =
                        savepoints.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(&to.name.name));
                    return known.is_some_and(|(_, early)| *early);
                }
                None => (*touched, *savepoints) = Default::default(),
            },
            Some(Statement::Begin(_) | Statement::Commit(_)) => (*touched, *savepoints) = Default::default(),
            Some(_) | None => *touched = true,
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_set_before_any_table_was_touched_is_early() {
        let early = |product: Product, middle: &str| {
            let text = format!(
                "title x\nsetup\n  CREATE TABLE t(a INT);\nsteps\n  T1: BEGIN;\n{middle}  T1: ROLLBACK TO SAVEPOINT s;\n"
            );
            goes_back_early(product, &model::casefile::parse(&text).expect("a case").into_case())
        };
        let (set, read) = ("  T1: SAVEPOINT s;\n", "  T1: SELECT a FROM t;\n");
        assert!(early(Product::Mysql, &format!("{set}{read}")));
        assert!(!early(Product::Mysql, &format!("{read}{set}")));
        assert!(!early(Product::Sqlite, &format!("{set}{read}")));
    }
}
