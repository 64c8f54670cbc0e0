//! Makes a statement name another column instead of one. What makes tables and indexes is left alone.

use model::sql::{Assignment, ConflictAction, Expr, Insert, InsertSource, Literal, Statement, VisitMut};

use super::super::constants;

/// A column, and the one that does its work.
pub struct MergeColumns<'a> {
    pub column: &'a str,
    pub other: &'a str,
    /// What it is set to where it was set to a constant: two values of two columns may have to be alike now, or not.
    pub value: Option<u64>,
}

impl MergeColumns<'_> {
    pub fn in_statement(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Query(_) | Statement::Delete(_) => {}
            Statement::Update(update) => self.assignments(&mut update.assignments),
            Statement::Insert(insert) => self.in_insert(insert),
            _ => return,
        }
        statement.visit_mut(self);
    }

    fn in_insert(&self, insert: &mut Insert) {
        match &mut insert.source {
            InsertSource::Set(list) => self.assignments(list),
            InsertSource::Values { .. } | InsertSource::Query(_) | InsertSource::DefaultValues => {}
        }
        self.assignments(&mut insert.on_duplicate);
        for conflict in &mut insert.on_conflict {
            match &mut conflict.action {
                ConflictAction::Nothing => {}
                ConflictAction::Update { assignments, .. } => self.assignments(assignments),
            }
        }
    }

    /// A column that is set already is not set twice.
    fn assignments(&self, list: &mut Vec<Assignment>) {
        let same = |one: &str, two: &str| one.eq_ignore_ascii_case(two);
        let set = list.iter().any(|assignment| same(&assignment.column.name.name, self.other));
        if set {
            list.retain(|assignment| !same(&assignment.column.name.name, self.column));
        }
        for assignment in list.iter_mut().filter(|one| same(&one.column.name.name, self.column)) {
            assignment.column.name = self.other.into();
            if let (Some(value), Some(_)) = (self.value, constants::value(&assignment.value)) {
                assignment.value = Expr::Literal(Literal::number(value));
            }
        }
    }
}

impl VisitMut for MergeColumns<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr
            && column.name.name.eq_ignore_ascii_case(self.column)
        {
            column.name = self.other.into();
        }
    }
}
