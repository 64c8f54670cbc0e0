//! A statement's changes while they are worked out: row by row, each seen by the checks of the next.

use eval::{Datum, Fault};
use model::{ErrorClass, Reason, sql::Action};

use super::{
    allowed_outcome::Effect,
    hypothesis::{Lock, Now, TxnId},
    schema::Values,
    statement_context::StatementContext,
};

/// A row that is there, or one that the statement itself has inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRef {
    /// It was there before.
    Old(usize),
    /// The n-th that the statement has inserted.
    New(usize),
}

/// The changes of a statement.
pub struct RowChanges<'s, 'a> {
    context: &'s StatementContext<'a>,
    inserted: Vec<(usize, Option<Values>)>,
    /// What was done, in order.
    pub effects: Vec<Effect>,
    /// Others that it should have waited for.
    pub due: Vec<TxnId>,
    /// Rows of parents that it keeps from going away.
    pub locks: Vec<Lock>,
    /// Has it looked at other rows? If not, it does not matter in which order it came to its own.
    pub looked: bool,
    /// The unique key that is tried before the others.
    pub first_key: usize,
}

impl<'s, 'a> RowChanges<'s, 'a> {
    pub fn new(context: &'s StatementContext<'a>) -> RowChanges<'s, 'a> {
        RowChanges {
            context,
            inserted: Vec::new(),
            effects: Vec::new(),
            due: Vec::new(),
            locks: Vec::new(),
            looked: false,
            first_key: 0,
        }
    }

    /// What the statement has made of a row of the hypothesis.
    fn changed(&self, table: usize, row: usize) -> Option<Option<&Values>> {
        self.effects.iter().rev().find_map(|effect| match effect {
            Effect::Put { table: of, row: at, data, .. } if (*of, *at) == (table, row) => Some(data.as_ref()),
            Effect::Put { .. } | Effect::Insert { .. } => None,
        })
    }

    /// What a row holds by now.
    pub fn get(&self, table: usize, row: RowRef) -> Option<Values> {
        match row {
            RowRef::New(at) => self.inserted[at].1.clone(),
            RowRef::Old(row) => match self.changed(table, row) {
                Some(values) => values.cloned(),
                None => match self.context.hypothesis.tables[table][row].now(self.context.me) {
                    Now::Settled(values) => values.cloned(),
                    Now::Contested { committed, .. } => committed.cloned(),
                },
            },
        }
    }

    /// The rows for which the test holds; those that others are changing are waited for if it matters what becomes of them,
    /// or if they are to be changed.
    fn find(
        &mut self,
        table: usize,
        changes: bool,
        mut test: impl FnMut(&[Datum]) -> Result<bool, Fault>,
    ) -> Result<Vec<RowRef>, Fault> {
        self.looked = true;
        let mut found = Vec::new();
        for (row, chain) in self.context.hypothesis.tables[table].iter().enumerate() {
            if let Some(values) = self.changed(table, row) {
                if values.map_or(Ok(false), |values| test(values))? {
                    found.push(RowRef::Old(row));
                }
                continue;
            }
            match chain.now(self.context.me) {
                Now::Settled(Some(values)) => {
                    if test(values)? {
                        found.push(RowRef::Old(row));
                    }
                }
                Now::Settled(None) => {}
                Now::Contested { committed, newest, by } => {
                    let mut holds = |values: Option<&Values>| values.map_or(Ok(false), |values| test(values));
                    match (holds(committed)?, holds(newest)?) {
                        (false, false) => {}
                        (true, true) if !changes => found.push(RowRef::Old(row)),
                        (true, _) | (_, true) => self.due.push(by),
                    }
                }
            }
        }
        for at in 0..self.inserted.len() {
            let (of, values) = &self.inserted[at];
            if *of == table && values.as_ref().map_or(Ok(false), |values| test(values))? {
                found.push(RowRef::New(at));
            }
        }
        Ok(found)
    }

    /// The rows that have a unique value of this one, other than the row itself.
    pub fn hits(
        &mut self,
        table: usize,
        values: &[Datum],
        itself: Option<RowRef>,
        changes: bool,
        among: Option<&[usize]>,
        every: bool,
    ) -> Result<Vec<RowRef>, Fault> {
        let of = &self.context.schema.tables[table];
        let evaluator = self.context.evaluator;
        let mut hits: Vec<RowRef> = Vec::new();
        let wanted = |key: &&Vec<usize>| among.is_none_or(|among| same_columns(among, key));
        let (later, earlier) = of.uniques.split_at(self.first_key.min(of.uniques.len()));
        for key in earlier.iter().chain(later).filter(wanted) {
            let found =
                self.find(table, changes, |other| evaluator.same_key(&of.columns, key, values, other))?;
            for row in found {
                if Some(row) != itself && !hits.contains(&row) {
                    hits.push(row);
                }
            }
            // The keys are tried one after the other; the first that is taken decides.
            if !hits.is_empty() && !every {
                break;
            }
        }
        Ok(hits)
    }

    /// Inserts a row, if no other has its unique values.
    pub fn insert(&mut self, table: usize, values: Values) -> Result<(), Fault> {
        if !self.hits(table, &values, None, false, None, false)?.is_empty() {
            return Err(Fault::Error(ErrorClass::DuplicateKey));
        }
        self.has_parent(table, &values, None)?;
        self.put_new(table, values);
        Ok(())
    }

    fn put_new(&mut self, table: usize, values: Values) {
        self.inserted.push((table, Some(values.clone())));
        self.effects.push(Effect::Insert { table, data: values });
    }

    pub fn update(&mut self, table: usize, row: RowRef, new: Values) -> Result<bool, Fault> {
        let Some(old) = self.get(table, row) else { return Err(Fault::Unsure(Reason::UpdatedTwice)) };
        let changes = *old != *new;
        if changes {
            let of = &self.context.schema.tables[table];
            let key_changes = of.uniques.iter().flatten().any(|&at| old[at] != new[at]);
            if key_changes && !self.hits(table, &new, Some(row), false, None, false)?.is_empty() {
                return Err(Fault::Error(ErrorClass::DuplicateKey));
            }
            self.has_parent(table, &new, Some(&old))?;
        }
        self.put(table, row, Some(new.clone()), !changes)?;
        if changes {
            self.children(table, &old, Some(&new))?;
        }
        Ok(changes)
    }

    pub fn delete(&mut self, table: usize, row: RowRef) -> Result<(), Fault> {
        let Some(old) = self.get(table, row) else { return Ok(()) };
        self.put(table, row, None, false)?;
        self.children(table, &old, None)
    }

    fn put(&mut self, table: usize, row: RowRef, data: Option<Values>, noop: bool) -> Result<(), Fault> {
        match row {
            RowRef::Old(row) => {
                self.effects.push(Effect::Put { table, row, data, noop });
            }
            RowRef::New(at) => {
                // The statement has inserted it itself: what is inserted is what it holds in the end.
                let mut inserts =
                    self.effects.iter_mut().filter(|effect| matches!(effect, Effect::Insert { .. }));
                let Some(Effect::Insert { data: of, .. }) = inserts.nth(at) else {
                    return Err(Fault::Unsure(Reason::InsertedAndChanged));
                };
                match data {
                    Some(data) => {
                        *of = data.clone();
                        self.inserted[at].1 = Some(data);
                    }
                    None => return Err(Fault::Unsure(Reason::InsertedAndDeleted)),
                }
            }
        }
        Ok(())
    }

    /// Does what the foreign keys of a row refer to exist?
    pub fn has_parent(&mut self, table: usize, new: &[Datum], old: Option<&[Datum]>) -> Result<(), Fault> {
        let of = &self.context.schema.tables[table];
        if !self.context.enforces_foreign_keys() {
            return Ok(());
        }
        for foreign in &of.parents {
            if foreign.columns.iter().any(|&at| new[at].is_null()) {
                continue;
            }
            if old.is_some_and(|old| foreign.columns.iter().all(|&at| old[at] == new[at])) {
                continue;
            }
            let ignored = self.context.change(|change| change.ignores_foreign_key);
            if ignored.is_some_and(|ignored| ignored(of, foreign, new)) {
                continue;
            }
            let evaluator = self.context.evaluator;
            let before = self.due.len();
            let found = self.find(foreign.parent, false, |parent| {
                evaluator.same_keys(&of.columns, &foreign.columns, new, &foreign.keys, parent)
            })?;
            let columns = Some(foreign.keys.iter().fold(0, |bits, at| bits | 1 << at));
            self.locks.extend(found.iter().filter_map(|row| match row {
                RowRef::Old(row) => {
                    Some(Lock { table: foreign.parent, row: *row, columns, step: self.context.step })
                }
                RowRef::New(_) => None,
            }));
            // A row that refers to itself is its own parent.
            let own = foreign.parent == table
                && evaluator.same_keys(&of.columns, &foreign.columns, new, &foreign.keys, new)?;
            if found.is_empty() && !own && self.due.len() == before {
                return Err(Fault::Error(ErrorClass::Constraint));
            }
        }
        Ok(())
    }

    /// What a change of a row means for those that refer to it.
    fn children(&mut self, table: usize, old: &[Datum], new: Option<&[Datum]>) -> Result<(), Fault> {
        let schema = self.context.schema;
        if !self.context.enforces_foreign_keys() {
            return Ok(());
        }
        for (child, of) in schema.tables.iter().enumerate() {
            for foreign in of.parents.iter().filter(|foreign| foreign.parent == table) {
                let kept = new.is_some_and(|new| foreign.keys.iter().all(|&at| old[at] == new[at]));
                if kept || foreign.keys.iter().any(|&at| old[at].is_null()) {
                    continue;
                }
                let evaluator = self.context.evaluator;
                let action = if new.is_some() { foreign.on_update } else { foreign.on_delete };
                let changes = !matches!(action, Action::Restrict | Action::NoAction);
                let found = self.find(child, changes, |row| {
                    evaluator.same_keys(&of.columns, &foreign.columns, row, &foreign.keys, old)
                })?;
                // Whether its subqueries see what its own cascade has done is a matter of the plan; no manual says.
                if changes && !found.is_empty() && self.context.read_inside & 1 << child.min(63) != 0 {
                    return Err(Fault::Unsure(Reason::CascadeIntoItsSubquery));
                }
                for row in found {
                    match action {
                        Action::Restrict | Action::NoAction => {
                            return Err(Fault::Error(ErrorClass::Constraint));
                        }
                        Action::SetDefault => return Err(Fault::Unsure(Reason::SetDefault)),
                        Action::Cascade if new.is_none() => self.delete(child, row)?,
                        Action::Cascade | Action::SetNull => {
                            let Some(values) = self.get(child, row) else { continue };
                            let mut values = values.to_vec();
                            for (&at, &key) in foreign.columns.iter().zip(&foreign.keys) {
                                values[at] = match (action, new) {
                                    (Action::Cascade, Some(new)) => {
                                        evaluator.store(&new[key], &of.columns[at].ty)?
                                    }
                                    _ => Datum::Null,
                                };
                            }
                            let values = of.finish(&evaluator, values)?;
                            self.update(child, row, values)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The same columns, in any order?
fn same_columns(left: &[usize], right: &[usize]) -> bool {
    left.len() == right.len() && left.iter().all(|column| right.contains(column))
}
