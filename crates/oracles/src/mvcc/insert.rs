//! INSERT, REPLACE and their ways to meet a row that is there already.

use dialect::{AffectedRows, Assignments, ReplaceMethod, Semantics};
use eval::{Column, Datum, Fault};
use model::{
    ErrorClass, Reason,
    sql::{ConflictAction, Expr, FunctionArgs, Insert, InsertModifier, InsertSource, InsertVerb, Resolution},
};
use smallvec::{SmallVec, smallvec};

use super::{
    allowed_outcome::{AllowedOutcome, Expected},
    hypothesis::Lock,
    row_changes::{RowChanges, RowRef},
    schema::Values,
    statement_context::StatementContext,
    subqueries::SubqueryValues,
};

/// What the manual leaves to the server.
#[derive(Clone, Copy, Default)]
struct Way {
    /// REPLACE makes a new row, as the manual says, though it may write over the old one.
    anew: bool,
    /// The unique key that is tried first. Where the keys of a row are those of two others, ON DUPLICATE KEY UPDATE changes one of them, and
    /// the manual does not say which ("If a=1 OR b=2 matches several rows, only one row is updated").
    first_key: usize,
}

/// What to do with a row that is there already.
enum Meets<'i> {
    Refuse,
    Skip,
    Replace,
    Update(&'i [model::sql::Assignment], Option<&'i Expr>),
    /// As SKIP or UPDATE, but only for the key of these columns.
    On(&'i [model::sql::Ident], Box<Meets<'i>>),
}

impl StatementContext<'_> {
    /// What an INSERT may answer.
    pub fn insert(&self, insert: &Insert) -> Result<Vec<AllowedOutcome>, Fault> {
        if !insert.returning.is_empty() {
            return Err(Fault::Unsure(Reason::Returning));
        }
        let read = meets(insert)?;
        let (target, meets) = match &read {
            Meets::On(target, meets) => (Some(*target), meets.as_ref()),
            meets => (None, meets),
        };
        let table = self.schema.find(&insert.table.name.name).ok_or(Fault::Unsure(Reason::NoSuchTable))?;
        if let Some(class) = self.one_writer() {
            return Ok(vec![AllowedOutcome::error(class)]);
        }
        let mut answers = SubqueryValues::default();
        let rows = match self.new_rows(insert, table, &mut answers) {
            Ok(rows) => rows,
            Err(Fault::Error(class)) if matches!(meets, Meets::Refuse) || insert.modifier.is_none() => {
                return Ok(vec![AllowedOutcome { due: answers.due, ..AllowedOutcome::error(class) }]);
            }
            Err(Fault::Error(_)) => return Err(Fault::Unsure(Reason::IgnoredError)),
            Err(unsure) => return Err(unsure),
        };
        let mut all = Vec::new();
        if let Some(class) = self.stale_insert() {
            all.push(AllowedOutcome::error(class));
        }
        let mut ways: SmallVec<[Way; 2]> = match meets {
            Meets::Replace if self.replace_may_reinsert => {
                smallvec![Way::default(), Way { anew: true, ..Way::default() }]
            }
            Meets::Update(..) => {
                let keys = self.schema.tables[table].uniques.len().max(1);
                (0..keys).map(|first_key| Way { first_key, ..Way::default() }).collect()
            }
            _ => smallvec![Way::default()],
        };
        let mut at = 0;
        while let Some(way) = ways.get(at).copied() {
            let allowed = self.inserted(insert, table, &rows, (meets, target), &answers, way)?;
            // Who waits at one key may have been refused by another before: in which order they come depends on when each was made.
            if at == 0 && !allowed.due.is_empty() && matches!(meets, Meets::Skip | Meets::Refuse) {
                let keys = self.schema.tables[table].uniques.len();
                ways.extend((1..keys).map(|first_key| Way { first_key, ..Way::default() }));
            }
            at += 1;
            let same = |other: &AllowedOutcome| {
                (&other.reply, &other.effects, &other.due) == (&allowed.reply, &allowed.effects, &allowed.due)
            };
            if !all.iter().any(same) {
                all.push(allowed);
            }
        }
        self.inner_trouble(&mut all, &answers);
        Ok(self.with_other_outcomes(all, &[table]))
    }

    /// What it answers and does in one of the ways that are left to the server.
    fn inserted(
        &self,
        insert: &Insert,
        table: usize,
        rows: &[Values],
        (meets, target): (&Meets<'_>, Option<&[model::sql::Ident]>),
        answers: &SubqueryValues,
        way: Way,
    ) -> Result<AllowedOutcome, Fault> {
        let mut pending = RowChanges::new(self);
        pending.first_key = way.first_key;
        let mut counts = vec![0];
        let mut failed = None;
        let mut locks = Vec::new();
        for row in rows {
            match self.one(&mut pending, table, row.clone(), (meets, target), answers, (&mut locks, way.anew))
            {
                Ok(more) => {
                    counts = counts.iter().flat_map(|count| more.iter().map(move |n| count + n)).collect();
                    counts.sort_unstable();
                    counts.dedup();
                }
                Err(Fault::Error(class)) => {
                    failed = Some(class);
                    break;
                }
                Err(unsure) => return Err(unsure),
            }
        }
        let due: Vec<_> = pending.due.iter().chain(&answers.due).copied().collect();
        match failed {
            Some(_) if insert.modifier.is_some() && matches!(meets, Meets::Skip) => {
                Err(Fault::Unsure(Reason::IgnoredError))
            }
            Some(class) => Ok(AllowedOutcome { due, locks, ..AllowedOutcome::error(class) }),
            None => {
                locks.extend(pending.locks);
                let reply = Expected::Done(counts, None);
                Ok(AllowedOutcome { effects: pending.effects, locks, due, ..AllowedOutcome::only(reply) })
            }
        }
    }

    /// Where stale rows are refused: an INSERT may come upon one that its own key once had.
    fn stale_insert(&self) -> Option<ErrorClass> {
        let all: Vec<usize> = (0..self.schema.tables.len()).collect();
        self.perhaps_stale(&all)
    }

    fn new_rows(
        &self,
        insert: &Insert,
        table: usize,
        answers: &mut SubqueryValues,
    ) -> Result<Vec<Values>, Fault> {
        let of = &self.schema.tables[table];
        match &insert.source {
            InsertSource::Values { rows, .. } => {
                let mut new = Vec::new();
                for row in rows {
                    if !row.iter().any(Expr::has_query) {
                        let make = || of.new_row(&self.evaluator, insert.columns.as_deref(), row, &[], &[]);
                        new.push(self.evaluator.known_of(|known| &mut known.made, row, make)?);
                        continue;
                    }
                    let mut exprs = Vec::new();
                    for expr in row {
                        exprs.push(self.answered(expr, self.rules.inner_read.is, answers)?.into_owned());
                    }
                    let (columns, values) = answers.values();
                    new.push(of.new_row(
                        &self.evaluator,
                        insert.columns.as_deref(),
                        &exprs,
                        columns,
                        values,
                    )?);
                }
                Ok(new)
            }
            InsertSource::Query(query) => {
                let (rows, more) = self.inner_rows(query, self.rules.source_read.is)?;
                answers.due.extend(more.due);
                answers.locks.extend(more.locks);
                answers.error = answers.error.or(more.error);
                let positions: Option<Vec<usize>> = match &insert.columns {
                    Some(names) => names.iter().map(|name| of.position(&name.name)).collect(),
                    None => Some((0..of.columns.len()).collect()),
                };
                let positions = positions.ok_or(Fault::Unsure(Reason::NoSuchColumn))?;
                let mut new = Vec::new();
                for row in rows {
                    let mut given: Vec<Option<Datum>> = vec![None; of.columns.len()];
                    for (&at, value) in positions.iter().zip(row.iter()) {
                        given[at] = Some(value.clone());
                    }
                    new.push(of.complete(&self.evaluator, given)?);
                }
                Ok(new)
            }
            InsertSource::Set(list) => {
                let names: Vec<_> = list.iter().map(|one| one.column.name.clone()).collect();
                let exprs: Vec<Expr> = list.iter().map(|one| one.value.clone()).collect();
                Ok(vec![of.new_row(&self.evaluator, Some(&names), &exprs, &[], &[])?])
            }
            InsertSource::DefaultValues => Ok(vec![of.new_row(&self.evaluator, Some(&[]), &[], &[], &[])?]),
        }
    }

    /// One row; gives the counts that it may add.
    fn one(
        &self,
        pending: &mut RowChanges<'_, '_>,
        table: usize,
        row: Values,
        (meets, target): (&Meets<'_>, Option<&[model::sql::Ident]>),
        answers: &SubqueryValues,
        (locks, anew): (&mut Vec<Lock>, bool),
    ) -> Result<Vec<u64>, Fault> {
        let changes = matches!(meets, Meets::Replace | Meets::Update(..));
        let of = &self.schema.tables[table];
        let among: Option<Vec<usize>> = match target {
            None => None,
            Some(names) => {
                let found: Option<Vec<usize>> = names.iter().map(|name| of.position(&name.name)).collect();
                Some(found.ok_or(Fault::Unsure(Reason::NoSuchColumn))?)
            }
        };
        let hits =
            pending.hits(table, &row, None, changes, among.as_deref(), matches!(meets, Meets::Replace))?;
        if hits.is_empty() {
            pending.insert(table, row)?;
            return Ok(vec![1]);
        }
        match meets {
            Meets::Refuse | Meets::On(..) => Err(Fault::Error(ErrorClass::DuplicateKey)),
            Meets::Skip => Ok(vec![0]),
            Meets::Replace => self.replaced(pending, table, row, &hits, anew),
            Meets::Update(assignments, filter) => {
                let [hit] = hits[..] else { return Err(Fault::Unsure(Reason::MeetsSeveralRows)) };
                let Some(old) = pending.get(table, hit) else {
                    return Err(Fault::Unsure(Reason::MeetsAGoneRow));
                };
                if let RowRef::Old(row) = hit {
                    locks.push(Lock { table, row, columns: None, step: self.step });
                }
                if filter.is_some() {
                    return Err(Fault::Unsure(Reason::ConflictFilter));
                }
                if self.may_look_for_parents(table, &old, &row)?
                    && RowChanges::new(self).has_parent(table, &row, None).is_err()
                {
                    return Err(Fault::Unsure(Reason::UpsertWithoutAParent));
                }
                let new = self.upserted(table, &old, &row, assignments, answers)?;
                // A NULL set again may be taken for a change, and counts one, where the default is not NULL: measured on
                // MySQL and MariaDB with one session.
                let null_again = |one: &model::sql::Assignment| {
                    let at = of.position(&one.column.name.name);
                    at.is_some_and(|at| new[at].is_null() && of.traits[at].default.is_some())
                };
                let again = assignments.iter().any(null_again);
                let changes = pending.update(table, hit, new)?;
                Ok(match self.semantics().counts {
                    AffectedRows::Matched => vec![1],
                    AffectedRows::Changed => match (changes, again) {
                        (true, _) => vec![2],
                        (false, true) => vec![0, 1],
                        (false, false) => vec![0],
                    },
                })
            }
        }
    }

    /// May the server look for the parent of a row that it then does not insert, because one with its key is there? MySQL from 9.6 on,
    /// where foreign keys are not the engine's affair any more, was measured both ways. Elsewhere it looks index by index: at the key
    /// that rows are stored by before all others, at the rest in the order in which they were made.
    fn may_look_for_parents(&self, table: usize, old: &[Datum], new: &[Datum]) -> Result<bool, Fault> {
        let semantics = self.semantics();
        if semantics.foreign_keys_in_sql.is_some_and(|since| self.evaluator.version.0[..] >= *since) {
            return Ok(true);
        }
        let of = &self.schema.tables[table];
        let Some(key) = of.clustered.as_ref().filter(|_| semantics.checks_by_index) else {
            return Ok(semantics.checks_by_index);
        };
        Ok(!self.evaluator.same_key(&of.columns, key, new, old)?)
    }

    fn semantics(&self) -> &'static Semantics {
        &dialect::of(self.evaluator.product).semantics
    }

    fn replaced(
        &self,
        pending: &mut RowChanges<'_, '_>,
        table: usize,
        row: Values,
        hits: &[RowRef],
        anew: bool,
    ) -> Result<Vec<u64>, Fault> {
        let of = &self.schema.tables[table];
        let same = |key: &Vec<usize>, other: &Values| self.evaluator.same_key(&of.columns, key, &row, other);
        let counts = match self.semantics().counts {
            AffectedRows::Matched => vec![1],
            AffectedRows::Changed => vec![1 + hits.len() as u64],
        };
        // A row that others may refer to is deleted and made anew, or not: measured both ways. SQLite looks for parents at the end of the
        // statement, when the new row may be one.
        let mut references = self.schema.tables.iter().flat_map(|table| &table.parents);
        if self.enforces_foreign_keys() && references.any(|foreign| foreign.parent == table) {
            return Err(Fault::Unsure(Reason::ReplaceOfAParent));
        }
        if let [hit] = hits
            && let Some(old) = pending.get(table, *hit)
        {
            let identical = *old == *row;
            let key_kept = of.clustered.as_ref().map_or(Ok(false), |key| same(key, &old))?;
            let replaces = self.semantics().replaces;
            // Without a key of its own a row may stay where it is, or be made anew: measured both ways.
            if replaces == ReplaceMethod::InPlaceByKey && of.clustered.is_none() && !identical {
                return Err(Fault::Unsure(Reason::ReplaceWithoutAKey));
            }
            if replaces != ReplaceMethod::Anew && (key_kept && !anew || identical) {
                pending.update(table, *hit, row)?;
                let mut counts = counts;
                if identical {
                    counts.push(1);
                }
                return Ok(counts);
            }
        }
        for &hit in hits {
            pending.delete(table, hit)?;
        }
        pending.insert(table, row)?;
        Ok(counts)
    }

    /// The row that is there with its assignments carried out.
    fn upserted(
        &self,
        table: usize,
        old: &Values,
        new: &Values,
        assignments: &[model::sql::Assignment],
        answers: &SubqueryValues,
    ) -> Result<Values, Fault> {
        let of = &self.schema.tables[table];
        let mut columns: Vec<Column> = of.columns.clone();
        let (more, extra) = answers.values();
        columns.extend(of.columns.iter().map(|column| Column {
            table: Some("new row".into()),
            name: format!("new {}", column.name),
            ..column.clone()
        }));
        columns.extend(
            of.columns.iter().map(|column| Column { table: Some("excluded".into()), ..column.clone() }),
        );
        columns.extend(more.iter().cloned());
        let mut row: Vec<Datum> =
            old.iter().chain(new.iter()).chain(new.iter()).chain(extra).cloned().collect();
        let before = row.clone();
        let sequential = self.semantics().assignments != Assignments::AtOnce;
        for assignment in assignments {
            let at = of.position(&assignment.column.name.name).ok_or(Fault::Unsure(Reason::NoSuchColumn))?;
            let expr = offered(&assignment.value)?;
            let value = self.evaluator.value(&columns, &expr, if sequential { &row } else { &before })?;
            if value.is_null() && of.traits[at].not_null {
                return Err(Fault::Error(ErrorClass::Constraint));
            }
            row[at] = self.evaluator.store(&value, &of.columns[at].ty)?;
        }
        of.finish(&self.evaluator, row[..of.columns.len()].to_vec())
    }
}

/// The expression with `VALUES(column)` replaced by the name of the offered value.
fn offered(expr: &Expr) -> Result<Expr, Fault> {
    struct Offered;
    impl model::sql::VisitMut for Offered {
        fn expr(&mut self, expr: &mut Expr) {
            if let Expr::Function { name, args: FunctionArgs::List(list), .. } = expr
                && name.name.eq_ignore_ascii_case("VALUES")
                && let [Expr::Column(column)] = &list[..]
            {
                *expr = Expr::column(&format!("new {}", column.name.name));
            }
        }
    }
    if expr.has_query() {
        return Err(Fault::Unsure(Reason::QueryInUpsert));
    }
    let mut expr = expr.clone();
    expr.visit_mut(&mut Offered);
    Ok(expr)
}

fn meets(insert: &Insert) -> Result<Meets<'_>, Fault> {
    let by_modifier = match (insert.verb, insert.modifier) {
        (InsertVerb::Replace, None) | (_, Some(InsertModifier::Or(Resolution::Replace))) => Meets::Replace,
        (InsertVerb::Insert, Some(InsertModifier::Ignore | InsertModifier::Or(Resolution::Ignore))) => {
            Meets::Skip
        }
        (InsertVerb::Insert, None) => Meets::Refuse,
        (_, Some(_)) => return Err(Fault::Unsure(Reason::InsertModifier)),
    };
    match (&insert.on_duplicate[..], &insert.on_conflict[..], by_modifier) {
        ([], [], by_modifier) => Ok(by_modifier),
        ([_, ..], [], Meets::Refuse) => Ok(Meets::Update(&insert.on_duplicate, None)),
        ([], [conflict], Meets::Refuse) => {
            let meets = match &conflict.action {
                ConflictAction::Nothing => Meets::Skip,
                ConflictAction::Update { assignments, filter } => Meets::Update(assignments, filter.as_ref()),
            };
            match conflict.target.is_empty() {
                true => Ok(meets),
                false => Ok(Meets::On(&conflict.target, Box::new(meets))),
            }
        }
        _ => Err(Fault::Unsure(Reason::OnConflict)),
    }
}
