//! Dirty reads beside a statement that waits half-way: what it may have done by now.
//!
//! A read that shows what is newest shows half of a statement's work, too. How far that has come is not known, but what it can
//! have done to each row is: a row that it selects is as it was or as it will be, every other row is as it was.
//!
//! ```text
//! T1: UPDATE t SET b = 5 WHERE a <= 2     waits at some row
//! T2: SELECT b FROM t                     (10) or (5), (20) or (5), and certainly (30)
//! ```
//!
//! All states that follow are tried. Where the statement is one whose work cannot be told, or where there are too many states,
//! any answer is taken and counted as unchecked.

use std::borrow::Cow;

use eval::Fault;
use model::sql::{
    Action, Delete, Expr, Insert, InsertSource, InsertVerb, Query, Select, SelectItem, Statement, Update,
};

use super::{
    allowed_outcome::{AllowedOutcome, Expected},
    from_clause::FromClause,
    hypothesis::{Chain, TxnId},
    query_analysis::aggregate,
    schema::{Schema, Values},
    statement_context::{Condition, StatementContext},
    subqueries::SubqueryValues,
};

/// More states of a table than this are not tried.
const STATES: usize = 128;

/// The rows of a table in one state, with their numbers.
type State = Vec<(usize, Values)>;

/// What each row may be; none if it is not there.
type Choices = Vec<Vec<Option<Values>>>;

impl StatementContext<'_> {
    /// Does another session wait with a statement that may have done half of its work on this table?
    pub fn half_done(&self, table: usize) -> bool {
        self.half_done_by(table).next().is_some()
    }

    /// The transactions and statements that may have.
    fn half_done_by(&self, table: usize) -> impl Iterator<Item = (TxnId, Option<&Statement>)> {
        let sessions = self.hypothesis.sessions.iter().enumerate().filter(|(of, _)| *of != self.session);
        sessions.filter_map(move |(_, state)| {
            let (waiting, txn) = (state.waiting.as_ref()?, state.txn.as_ref()?);
            let statement = self.case.tree(waiting.step);
            (txn.touched & (1 << table.min(63)) != 0 && writes(self.schema, statement, table))
                .then_some((txn.id, statement))
        })
    }

    /// What a read of what is newest may show there.
    pub fn dirty_read(
        &self,
        query: &Query,
        select: &Select,
        from: &FromClause,
        condition: &Condition,
    ) -> Result<Vec<AllowedOutcome>, Fault> {
        // Each of several aggregates may be answered by an index of its own, and these are not changed at once.
        let aggregates =
            |item: &&SelectItem| matches!(item, SelectItem::Expr { expr, .. } if aggregate(expr).is_some());
        if select.items.iter().filter(aggregates).count() > 1 {
            return Ok(vec![AllowedOutcome::only(Expected::Anything)]);
        }
        let mut states: Vec<Vec<State>> = vec![Vec::new()];
        for (at, named) in from.tables.iter().enumerate() {
            // A table that is named twice is read in one state.
            let same = from.tables[..at].iter().position(|before| before.table == named.table);
            let own = match same {
                Some(_) => Vec::new(),
                None => match self.states(named.table) {
                    Some(own) if own.len() * states.len() <= STATES => own,
                    Some(_) | None => return Ok(vec![AllowedOutcome::only(Expected::Anything)]),
                },
            };
            if at == 0 {
                states = own.into_iter().map(|state| vec![state]).collect();
                continue;
            }
            let longer = |state: &Vec<State>| -> Vec<Vec<State>> {
                let with = |more: &State| state.iter().chain([more]).cloned().collect();
                match same {
                    Some(before) => vec![with(&state[before])],
                    None => own.iter().map(with).collect(),
                }
            };
            states = states.iter().flat_map(longer).collect();
        }
        let mut all: Vec<AllowedOutcome> = Vec::new();
        for tables in states {
            let scan = self.select(from, condition, &tables).map_err(Fault::Unsure)?;
            let mut some: Vec<Expected> = scan.error.map(Expected::Error).into_iter().collect();
            some.push(Expected::Rows(self.project(query, select, from, scan)?));
            for reply in some {
                if !all.iter().any(|known| known.reply.same(&reply)) {
                    all.push(AllowedOutcome::only(reply));
                }
            }
        }
        Ok(all)
    }

    /// The states in which a table may be found; none if that cannot be told.
    fn states(&self, table: usize) -> Option<Vec<State>> {
        // What a table hands on to itself is not followed.
        if self.schema.tables[table].parents.iter().any(|foreign| foreign.parent == table) {
            return None;
        }
        let rows = &self.hypothesis.tables[table];
        let mut choices: Choices = rows.iter().map(|chain| vec![chain.newest().cloned()]).collect();
        for (by, statement) in self.half_done_by(table) {
            match statement? {
                Statement::Update(update) => self.updating(table, update, by, &mut choices)?,
                Statement::Delete(delete) => self.deleting(table, delete, by, &mut choices)?,
                Statement::Insert(insert) => self.inserting(table, insert, by, &mut choices)?,
                _ => return None,
            }
        }
        let count = choices.iter().try_fold(1_usize, |count, of| count.checked_mul(of.len()));
        if count.is_none_or(|count| count > STATES) {
            return None;
        }
        let mut states: Vec<State> = vec![Vec::new()];
        for (row, of) in choices.iter().enumerate() {
            // Most rows are in one state only.
            if let [only] = &of[..] {
                if let Some(values) = only {
                    states.iter_mut().for_each(|state| state.push((row, values.clone())));
                }
                continue;
            }
            let longer = |state: &State| -> Vec<State> {
                let with = |values: &Option<Values>| {
                    state.iter().cloned().chain(values.clone().map(|values| (row, values))).collect()
                };
                of.iter().map(with).collect()
            };
            states = states.iter().flat_map(longer).collect();
        }
        Some(states)
    }

    fn updating(&self, table: usize, update: &Update, by: TxnId, choices: &mut Choices) -> Option<()> {
        let from = self.from(&update.tables).ok()?;
        // Between two partitions a row is in both for a while.
        if from.tables.len() != 1
            || from.tables[0].table != table
            || self.schema.tables[table].partitions.is_some()
            || !update.from.is_empty()
            || update.filter.as_ref().is_some_and(Expr::has_query)
            || update.assignments.iter().any(|one| one.value.has_query())
        {
            return None;
        }
        let mut answers = SubqueryValues::default();
        let assigned = self.assigned(&from, &update.assignments, self.rules.change.is, &mut answers).ok()?;
        let condition = Condition { expr: update.filter.as_ref().map(Cow::Borrowed), ..Condition::default() };
        let of = &self.schema.tables[table];
        for (chain, choices) in self.hypothesis.tables[table].iter().zip(choices) {
            let Some(old) = free(chain, by) else { continue };
            match self.holds(&from, &condition, old) {
                Ok(false) | Err(Fault::Error(_)) => continue,
                Ok(true) => {}
                Err(Fault::Unsure(_)) => return None,
            }
            match self.assign(&from, 0, old, &assigned, &answers) {
                Ok(new) => {
                    let indexes = of.indexes.iter().map(|index| &index.columns);
                    // A foreign key has an index, written or not.
                    let foreign = of.parents.iter().map(|foreign| &foreign.columns);
                    let keys = indexes.chain(foreign).chain(&of.uniques).chain(&of.clustered).flatten();
                    // On its way from one place of an index to another it is at neither.
                    if keys.copied().any(|at| old[at] != new[at]) {
                        offer(choices, None);
                    }
                    offer(choices, Some(new));
                }
                Err(Fault::Error(_)) => {}
                Err(Fault::Unsure(_)) => return None,
            }
        }
        Some(())
    }

    fn deleting(&self, table: usize, delete: &Delete, by: TxnId, choices: &mut Choices) -> Option<()> {
        let from = self.one_and(&delete.table, &[]).ok()?;
        if from.tables[0].table != table
            || !delete.using.is_empty()
            || delete.filter.as_ref().is_some_and(Expr::has_query)
        {
            return None;
        }
        let condition = Condition { expr: delete.filter.as_ref().map(Cow::Borrowed), ..Condition::default() };
        for (chain, choices) in self.hypothesis.tables[table].iter().zip(choices) {
            let Some(old) = free(chain, by) else { continue };
            match self.holds(&from, &condition, old) {
                Ok(false) | Err(Fault::Error(_)) => {}
                Ok(true) => offer(choices, None),
                Err(Fault::Unsure(_)) => return None,
            }
        }
        Some(())
    }

    fn inserting(&self, table: usize, insert: &Insert, by: TxnId, choices: &mut Choices) -> Option<()> {
        if self.schema.find(&insert.table.name.name) != Some(table) {
            return None;
        }
        let of = &self.schema.tables[table];
        let InsertSource::Values { rows, .. } = &insert.source else { return None };
        for row in rows {
            if row.iter().any(Expr::has_query) {
                return None;
            }
            let new = of.new_row(&self.evaluator, insert.columns.as_deref(), row, &[], &[]).ok()?;
            let meets = |other: &Values| {
                let same = |key: &Vec<usize>| self.evaluator.same_key(&of.columns, key, &new, other);
                of.uniques.iter().map(same).any(|same| same.unwrap_or(true))
            };
            for (chain, choices) in self.hypothesis.tables[table].iter().zip(choices.iter_mut()) {
                if !free(chain, by).is_some_and(meets) {
                    continue;
                }
                match (insert.verb, insert.on_duplicate.is_empty()) {
                    (InsertVerb::Replace, _) => {
                        offer(choices, None);
                        offer(choices, Some(new.clone()));
                    }
                    (InsertVerb::Insert, true) => {}
                    (InsertVerb::Insert, false) => return None,
                }
            }
            choices.push(vec![None, Some(new)]);
        }
        Some(())
    }
}

/// The newest values of a row that a transaction may have got to: nobody else is changing it.
fn free(chain: &Chain, by: TxnId) -> Option<&Values> {
    let last = chain.versions.last()?;
    (last.at.is_some() || last.writer == by).then_some(last.data.as_ref()).flatten()
}

fn offer(choices: &mut Vec<Option<Values>>, one: Option<Values>) {
    if !choices.contains(&one) {
        choices.push(one);
    }
}

/// Does a statement write a table, itself or by what its foreign keys hand on?
fn writes(schema: &Schema, statement: Option<&Statement>, table: usize) -> bool {
    let mut written: Vec<bool> = (0..schema.tables.len())
        .map(|of| match statement {
            Some(Statement::Query(_)) => false,
            Some(Statement::Insert(insert)) => schema.find(&insert.table.name.name) == Some(of),
            Some(Statement::Delete(delete)) if delete.using.is_empty() => match &delete.table {
                model::sql::TableFactor::Table { name, .. } => schema.find(&name.name.name) == Some(of),
                model::sql::TableFactor::Derived { .. } | model::sql::TableFactor::Paren(_) => true,
            },
            Some(Statement::Update(update)) => match &update.tables[..] {
                [one] if one.joins.is_empty() => match &one.first {
                    model::sql::TableFactor::Table { name, .. } => schema.find(&name.name.name) == Some(of),
                    model::sql::TableFactor::Derived { .. } | model::sql::TableFactor::Paren(_) => true,
                },
                _ => true,
            },
            Some(_) | None => true,
        })
        .collect();
    let hands_on = |action: Action| !matches!(action, Action::Restrict | Action::NoAction);
    for _ in 0..schema.tables.len() {
        for (child, of) in schema.tables.iter().enumerate() {
            let passed = |foreign: &super::schema::Foreign| {
                written[foreign.parent] && (hands_on(foreign.on_update) || hands_on(foreign.on_delete))
            };
            if of.parents.iter().any(passed) {
                written[child] = true;
            }
        }
    }
    written[table]
}
