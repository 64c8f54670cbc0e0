//! FROM: the tables that a statement names, what they are called there, and how they are joined.

use model::Reason;
use std::borrow::Cow;

use eval::{Column, Fault};
use model::sql::{Expr, Join, JoinCondition, TableFactor, TableRef};
use smallvec::SmallVec;

use super::{evaluation_cache::address, statement_context::StatementContext};

/// A table as a statement names it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'t> {
    pub table: usize,
    pub alias: &'t str,
}

/// The tables of FROM. What is borrowed is a part of the statement's tree, or of the schema.
#[derive(Clone, Debug)]
pub struct FromClause<'t> {
    pub place: usize,
    pub tables: SmallVec<[Named<'t>; 2]>,
    pub on: Vec<&'t Expr>,
    /// Their columns, one after the other.
    pub columns: Cow<'t, [Column]>,
}

impl<'a> StatementContext<'a> {
    pub fn from<'t>(&self, tables: &'t [TableRef]) -> Result<FromClause<'t>, Fault>
    where
        'a: 't,
    {
        let mut from = FromClause::at(tables);
        self.join(tables, &mut from)?;
        Ok(from)
    }

    /// What one table means, with others joined to it.
    pub fn one_and<'t>(
        &self,
        factor: &'t TableFactor,
        others: &'t [TableRef],
    ) -> Result<FromClause<'t>, Fault>
    where
        'a: 't,
    {
        let mut from = FromClause::at(factor);
        self.factor(factor, &mut from)?;
        self.join(others, &mut from)?;
        Ok(from)
    }

    fn join<'t>(&self, tables: &'t [TableRef], from: &mut FromClause<'t>) -> Result<(), Fault>
    where
        'a: 't,
    {
        for reference in tables {
            self.factor(&reference.first, from)?;
            for Join { kind, table, condition } in &reference.joins {
                if kind.is_outer() || kind.is_natural() {
                    return Err(Fault::Unsure(Reason::OuterJoin));
                }
                self.factor(table, from)?;
                match condition {
                    Some(JoinCondition::On(expr)) => from.on.push(expr),
                    Some(JoinCondition::Using(_)) => return Err(Fault::Unsure(Reason::JoinUsing)),
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn factor<'t>(&self, factor: &'t TableFactor, from: &mut FromClause<'t>) -> Result<(), Fault>
    where
        'a: 't,
    {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let table = self.schema.find(&name.name.name).ok_or(Fault::Unsure(Reason::NoSuchTable))?;
                let alias = alias.as_ref().map_or(&name.name.name, |alias| &alias.name.name);
                let of = &self.schema.tables[table];
                if from.tables.is_empty() && of.name == *alias {
                    from.columns = Cow::Borrowed(&of.columns);
                } else {
                    let renamed = |column: &Column| Column { table: Some(alias.clone()), ..column.clone() };
                    from.columns.to_mut().extend(of.columns.iter().map(renamed));
                }
                from.tables.push(Named { table, alias });
                Ok(())
            }
            TableFactor::Paren(inner) if inner.joins.is_empty() => self.factor(&inner.first, from),
            TableFactor::Paren(_) => Err(Fault::Unsure(Reason::JoinsInParentheses)),
            TableFactor::Derived { .. } => Err(Fault::Unsure(Reason::DerivedTable)),
        }
    }
}

impl FromClause<'_> {
    fn at<T: ?Sized>(place: &T) -> Self {
        FromClause { place: address(place), tables: SmallVec::new(), on: Vec::new(), columns: Cow::default() }
    }
}
