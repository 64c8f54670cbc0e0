//! One statement at work: the transaction that it belongs to, and what it may touch.
//!
//! A statement is tried as a whole and in one go, since nothing else runs meanwhile. If it has to wait, what it wrote so
//! far is undone, the locks that it got stay, and it is tried again from its beginning when somebody in its way has gone. So it
//! always works on one state: the one in which it got its last lock.

use std::{borrow::Cow, rc::Rc};

use eval::Datum;
use model::{
    Level,
    sql::{Expr, FunctionArgs, InList, Literal, TableFactor, TableRef, VisitMut},
};

use crate::{
    database::{Database, Txn},
    error::{StatementResult, Stop, error, no_column, unsupported},
    expressions::ColumnScope,
    plants::Bug,
    prepared::{NameCollector, Prepared},
    resume_state::ResumeState,
    select::QueryPosition,
    server::PRODUCT,
    versions::{ReadView, Stamp},
};

/// A statement at work.
pub struct StatementRun<'a> {
    /// What all share.
    pub base: &'a mut Database,
    /// Whose statement it is.
    pub txn: &'a mut Txn,
    pub statement: &'a Prepared,
    /// Has it waited before?
    pub waited: bool,
    /// What it saw before it waited.
    pub memory: &'a mut ResumeState,
    /// Numbers that it drew from a counter in earlier attempts, and how many of them this one has used.
    pub drawn: &'a mut Vec<u64>,
    /// See `drawn`.
    pub used: usize,
    pub warnings: Vec<(u32, String)>,
}

/// A table as a statement names it.
pub struct NamedTable<'a> {
    /// Where it is in the list.
    pub at: usize,
    /// What its columns are called here; none if just as in the table itself.
    pub sheet: Option<Rc<ColumnScope>>,
    pub hints: &'a [model::sql::IndexHint],
}

impl StatementRun<'_> {
    /// Does this transaction keep what it reads from changing?
    pub fn strict(&self) -> bool {
        self.txn.level >= Level::RepeatableRead
    }

    /// What a plain read sees now.
    pub fn view(&mut self) -> ReadView {
        match self.txn.level {
            Level::ReadUncommitted => ReadView::Newest,
            Level::RepeatableRead => ReadView::At(self.snapshot()),
            Level::ReadCommitted | Level::Serializable => ReadView::At(self.base.clock),
        }
    }

    /// The snapshot of its transaction, which the first plain read takes.
    fn snapshot(&mut self) -> Stamp {
        let (began, now) = (self.txn.began, self.base.clock);
        // The planted bug: it was taken when the transaction began.
        let too_early =
            || began < now && self.base.plants.hits(Bug::SnapshotTooEarly, || self.statement.text.clone());
        *self.txn.view.get_or_insert_with(|| if too_early() { began } else { now })
    }

    /// The one table of a statement.
    pub fn one_table<'b>(&mut self, tables: &'b [TableRef]) -> StatementResult<NamedTable<'b>> {
        match tables {
            [TableRef { first, joins }] if joins.is_empty() => self.named(first),
            _ => unsupported("several tables in one statement"),
        }
    }

    /// A table by its name here.
    pub fn named<'b>(&mut self, table: &'b TableFactor) -> StatementResult<NamedTable<'b>> {
        match table {
            TableFactor::Table { name, alias, hints } => {
                if name.schema.is_some() {
                    return unsupported("names of schemas");
                }
                let at = self.base.find(&name.name.name)?;
                self.txn.used.insert(self.base.tables[at].id);
                let columns = &self.base.tables[at].columns;
                let sheet =
                    alias.as_ref().map(|alias| Rc::new(ColumnScope::new(columns, Some(&alias.name.name))));
                Ok(NamedTable { at, sheet, hints })
            }
            TableFactor::Paren(inner) => match inner.as_ref() {
                TableRef { first, joins } if joins.is_empty() => self.named(first),
                TableRef { .. } => unsupported("joins"),
            },
            TableFactor::Derived { .. } => unsupported("queries in FROM"),
        }
    }

    /// What the columns of a table are called.
    pub fn sheet<'b>(&'b self, named: &'b NamedTable<'_>) -> &'b Rc<ColumnScope> {
        named.sheet.as_ref().unwrap_or(&self.base.tables[named.at].sheet)
    }

    /// The expression with all queries inside replaced by what they give.
    pub fn resolved<'b>(&mut self, expr: &'b Expr, role: QueryPosition) -> StatementResult<Cow<'b, Expr>> {
        if !self.statement.nested {
            return Ok(Cow::Borrowed(expr));
        }
        struct Resolve<'c, 'd> {
            work: &'c mut StatementRun<'d>,
            role: QueryPosition,
            failed: Option<Stop>,
        }
        impl VisitMut for Resolve<'_, '_> {
            fn expr(&mut self, expr: &mut Expr) {
                if self.failed.is_none()
                    && let Err(stop) = self.work.replace(expr, self.role)
                {
                    self.failed = Some(stop);
                }
            }
        }
        // The walk goes from the inside out, so a query meets its own inner ones replaced already.
        let mut resolved = expr.clone();
        let mut walk = Resolve { work: self, role, failed: None };
        resolved.visit_mut(&mut walk);
        walk.failed.map_or(Ok(Cow::Owned(resolved)), Err)
    }

    fn replace(&mut self, expr: &mut Expr, role: QueryPosition) -> StatementResult<()> {
        let new = match expr {
            Expr::Subquery(query) => {
                let found = self.query(query, role)?;
                if found.columns.len() != 1 {
                    return error(1241, "21000", "Operand should contain 1 column(s)");
                }
                match found.rows.as_slice() {
                    [] => Expr::Literal(Literal::Null),
                    [row] => literal(&row[0]),
                    _ => return error(1242, "21000", "Subquery returns more than 1 row"),
                }
            }
            Expr::Exists(query) => {
                let found = !self.query(query, role)?.rows.is_empty();
                Expr::Literal(Literal::Bool(found))
            }
            Expr::In { expr: inner, negated, list: InList::Query(query) } => {
                let found = self.query(query, role)?;
                if found.columns.len() != 1 {
                    return error(1241, "21000", "Operand should contain 1 column(s)");
                }
                let list: Vec<Expr> = found.rows.iter().map(|row| literal(&row[0])).collect();
                match list.is_empty() {
                    true => Expr::Literal(Literal::Bool(*negated)),
                    false => Expr::In { expr: inner.clone(), negated: *negated, list: InList::Exprs(list) },
                }
            }
            _ => return Ok(()),
        };
        *expr = new;
        Ok(())
    }

    /// Does every name in these expressions mean something? `more` are names that do beside the columns.
    pub fn check_names(&self, sheet: &ColumnScope, exprs: &[&Expr], more: &[&str]) -> StatementResult<()> {
        let check = |names: &[(Option<String>, String)]| {
            let known = |(table, name): &&(Option<String>, String)| {
                sheet.has(table.as_deref(), name) || more.iter().any(|more| more.eq_ignore_ascii_case(name))
            };
            names.iter().find(|name| !known(name)).map_or(Ok(()), |(_, name)| no_column(name))
        };
        if !self.statement.nested {
            return check(&self.statement.names);
        }
        let mut names = NameCollector::default();
        for expr in exprs {
            expr.for_each_expr(|expr| names.note(expr));
        }
        check(&names.names)
    }
}

/// A value as a constant in an expression.
pub fn literal(value: &Datum) -> Expr {
    value.literal(PRODUCT)
}

/// A whole number that an expression must be, as in LIMIT.
pub fn count(expr: &Expr) -> StatementResult<usize> {
    match expr {
        Expr::Literal(Literal::Number(text)) => match text.parse() {
            Ok(n) => Ok(n),
            Err(_) => unsupported("this LIMIT"),
        },
        _ => unsupported("this LIMIT"),
    }
}

/// `VALUES(column)` in ON DUPLICATE KEY UPDATE: the column's name.
pub fn values_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Function { name, args: FunctionArgs::List(list), .. }
            if name.name.eq_ignore_ascii_case("VALUES") =>
        {
            match list.as_slice() {
                [Expr::Column(column)] => Some(&column.name.name),
                _ => None,
            }
        }
        _ => None,
    }
}
