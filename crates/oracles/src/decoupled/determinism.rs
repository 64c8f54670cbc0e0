//! Which statements give the same answer whenever they run on the same rows. Of the others nothing is said.

use dialect::sql::Schema;
use history::StepInfo;
use model::{
    Product, Reason,
    sql::{
        Expr, InsertVerb, LockWait, OrderItem, Query, QueryPart, Resolution, SelectItem, Statement,
        TableFactor, TableRef, UpdateModifier, Visit,
    },
};

use crate::assignments::in_some_order;

/// Functions that look at more than their arguments, or at the order of rows.
const FICKLE: &[&str] = &[
    "rand",
    "random",
    "uuid",
    "uuid_short",
    "now",
    "sysdate",
    "curdate",
    "curtime",
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "unix_timestamp",
    "last_insert_id",
    "connection_id",
    "found_rows",
    "row_count",
    "sleep",
    "benchmark",
    "get_lock",
    "release_lock",
    "database",
    "schema",
    "group_concat",
    "any_value",
    "json_arrayagg",
    "json_objectagg",
    "changes",
    "total_changes",
    "last_insert_rowid",
    "row_number",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
    "ntile",
];

/// Why the answer of a statement does not follow from its rows, if it does not. `rows`: so many came.
pub fn fickle(
    step: &StepInfo<'_>,
    text: &str,
    schema: Option<&Schema>,
    rows: Option<usize>,
) -> Option<Reason> {
    let Some(statement) = step.statement() else { return by_words(text) };
    let mut look = DeterminismCheck { schema, fickle: false, limits: 0 };
    statement.visit(&mut look);
    if look.fickle {
        return Some(Reason::FickleFunction);
    }
    if matches!(statement, Statement::Update(update) if in_some_order(update)) {
        return Some(Reason::AssignedInSomeOrder);
    }
    if skips_locked(step) && !row_by_row(statement) {
        return Some(Reason::SkipLocked);
    }
    let (outer, cut) = match statement {
        Statement::Query(query) => {
            let cut = query.limit.is_some() && !ordered_query(query, schema);
            let limit = query.limit.as_ref().and_then(|limit| match (&limit.count, &limit.offset) {
                (Expr::Literal(model::sql::Literal::Number(text)), None) => text.parse::<usize>().ok(),
                _ => None,
            });
            // Where fewer rows came than were asked for, nothing was cut off.
            let all_came = matches!((rows, limit), (Some(rows), Some(limit)) if rows < limit);
            (usize::from(cut), cut && !all_came)
        }
        Statement::Update(update) => {
            (0, update.limit.is_some() && !ordered(&update.order_by, &update.tables, schema))
        }
        Statement::Delete(delete) => {
            let alone = [TableRef { first: delete.table.clone(), joins: Vec::new() }];
            (0, delete.limit.is_some() && !ordered(&delete.order_by, &alone, schema))
        }
        _ => (0, false),
    };
    // Limits of inner queries, without the outermost one.
    (cut || look.limits > outer).then_some(Reason::LimitWithoutOrder)
}

/// Is it an UPDATE that goes on after errors?
pub fn updates_ignoring(step: &StepInfo<'_>) -> bool {
    let ignore = [UpdateModifier::Ignore, UpdateModifier::Or(Resolution::Ignore)];
    match step.statement() {
        Some(Statement::Update(update)) => {
            update.modifier.as_ref().is_some_and(|modifier| ignore.contains(modifier))
        }
        Some(_) | None => false,
    }
}

/// Would the statement meet a column that was added at the end of each table?
pub fn meets_added_column(step: &StepInfo<'_>) -> bool {
    let Some(statement) = step.statement() else { return true };
    let mut stars = false;
    statement.for_each_query(|query| stars |= query.selects().any(|select| select.items.iter().any(star)));
    let written = match statement {
        Statement::Insert(insert) => insert.columns.is_none() || insert.returning.iter().any(star),
        Statement::Update(update) => update.returning.iter().any(star),
        Statement::Delete(delete) => delete.returning.iter().any(star),
        _ => false,
    };
    stars || written
}

fn star(item: &SelectItem) -> bool {
    match item {
        SelectItem::Star | SelectItem::TableStar(_) => true,
        SelectItem::Expr { .. } => false,
    }
}

/// Does it add rows and leave all others as they are?
pub fn only_adds(step: &StepInfo<'_>) -> bool {
    match step.statement() {
        Some(Statement::Insert(insert)) => {
            insert.verb == InsertVerb::Insert
                && insert.on_duplicate.is_empty()
                && insert.on_conflict.is_empty()
                && match insert.modifier {
                    None | Some(model::sql::InsertModifier::Ignore) => true,
                    Some(model::sql::InsertModifier::Or(how)) => how != model::sql::Resolution::Replace,
                }
        }
        Some(_) | None => false,
    }
}

/// Is it told to take only what nobody has locked, or not to wait?
pub fn told_not_to_wait(step: &StepInfo<'_>) -> bool {
    match step.statement() {
        Some(Statement::Query(query)) => query.locks.iter().any(|lock| match lock.wait {
            Some(LockWait::Nowait | LockWait::SkipLocked) => true,
            Some(LockWait::Seconds(_)) | None => false,
        }),
        Some(_) | None => false,
    }
}

/// Is it told to pass by what others have locked?
pub fn skips_locked(step: &StepInfo<'_>) -> bool {
    match step.statement() {
        Some(Statement::Query(query)) => {
            query.locks.iter().any(|lock| lock.wait == Some(LockWait::SkipLocked))
        }
        Some(_) | None => false,
    }
}

/// Does each row of a table give a row of the result or none, whatever the other rows are?
fn row_by_row(statement: &Statement) -> bool {
    let Statement::Query(query) = statement else { return false };
    let QueryPart::Select(select) = &query.first else { return false };
    let [table] = select.from.as_slice() else { return false };
    query.rest.is_empty()
        && query.limit.is_none()
        && select.quantifier.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && table.joins.is_empty()
        && !sums(statement)
}

/// Does it sum rows up, or hold another query?
pub fn sums(statement: &Statement) -> bool {
    let mut sums = false;
    statement.for_each_expr(|expr| {
        sums |= match expr {
            Expr::Function { name, .. } => {
                let name = name.name.to_ascii_lowercase();
                SUMS.contains(&name.as_str()) || name.starts_with("std") || name.starts_with("var")
            }
            _ => expr.subquery().is_some(),
        };
    });
    sums
}

const SUMS: &[&str] = &["count", "sum", "min", "max", "avg", "bit_and", "bit_or", "bit_xor", "total"];

/// Does it put rows in the place of others?
pub fn replaces(step: &StepInfo<'_>) -> bool {
    match step.statement() {
        Some(Statement::Insert(insert)) => insert.verb == InsertVerb::Replace,
        Some(_) | None => false,
    }
}

/// Does it change a row that is there in the place of the one that it brings?
pub fn upserts(step: &StepInfo<'_>) -> bool {
    matches!(step.statement(), Some(Statement::Insert(insert)) if !insert.on_duplicate.is_empty())
}

/// Does a query look at its table whatever its constants are? Only one without any condition does so for certain.
pub fn unconditional(step: &StepInfo<'_>) -> bool {
    let Some(Statement::Query(query)) = step.statement() else { return false };
    let QueryPart::Select(select) = &query.first else { return false };
    query.rest.is_empty()
        && query.limit.is_none()
        && !select.from.is_empty()
        && select.filter.is_none()
        && select.having.is_none()
        && select.from.iter().all(|table| table.joins.is_empty())
}

/// Does a row in its result mean that a table was looked at? Not so for sums over nothing and for unions with constants.
pub fn rows_from_tables(step: &StepInfo<'_>) -> bool {
    let Some(Statement::Query(query)) = step.statement() else { return false };
    let QueryPart::Select(select) = &query.first else { return false };
    let summed = select.group_by.is_empty() && step.statement().is_some_and(sums);
    query.rest.is_empty() && !select.from.is_empty() && !summed
}

/// The query that gives the marks of the rows that an UPDATE of one table matches.
pub fn matching(product: Product, step: &StepInfo<'_>, mark: &str) -> Option<String> {
    let Some(Statement::Update(update)) = step.statement() else { return None };
    let [table] = update.tables.as_slice() else { return None };
    if !table.joins.is_empty() || !update.from.is_empty() || !matches!(table.first, TableFactor::Table { .. })
    {
        return None;
    }
    let item = SelectItem::Expr { expr: Expr::Column(mark.into()), alias: None };
    let select = model::sql::Select {
        items: vec![item],
        from: vec![table.clone()],
        filter: update.filter.clone(),
        ..model::sql::Select::default()
    };
    let mut query = Query::of(select);
    query.order_by.clone_from(&update.order_by);
    query.limit.clone_from(&update.limit);
    Some(dialect::sql::print(product, &Statement::Query(query)))
}

struct DeterminismCheck<'a> {
    schema: Option<&'a Schema>,
    fickle: bool,
    /// Limits whose order leaves a choice.
    limits: usize,
}

impl Visit<'_> for DeterminismCheck<'_> {
    fn expr(&mut self, expr: &Expr) {
        self.fickle |= match expr {
            Expr::Variable(_) => true,
            Expr::Function { name, .. } | Expr::BareFunction(name) => {
                FICKLE.iter().any(|fickle| name.name.eq_ignore_ascii_case(fickle))
            }
            _ => false,
        };
    }

    fn query(&mut self, query: &Query) {
        let loose = query.limit.is_some() && !ordered_query(query, self.schema);
        self.limits += usize::from(loose);
    }
}

fn ordered_query(query: &Query, schema: Option<&Schema>) -> bool {
    match (&query.first, query.rest.as_slice()) {
        (QueryPart::Select(select), []) => ordered(&query.order_by, &select.from, schema),
        _ => false,
    }
}

/// Does the order leave no choice: does it name all columns of a key without NULL of the only table?
fn ordered(order: &[OrderItem], from: &[TableRef], schema: Option<&Schema>) -> bool {
    let ([table], Some(schema)) = (from, schema) else { return false };
    let TableFactor::Table { name, .. } = &table.first else { return false };
    if !table.joins.is_empty() {
        return false;
    }
    let Some(table) = schema.tables.iter().find(|one| one.name.eq_ignore_ascii_case(&name.name.name)) else {
        return false;
    };
    let named = |column: &usize| {
        order.iter().any(|item| match &item.expr {
            Expr::Column(by) => table.column(&by.name.name) == Some(*column),
            _ => false,
        })
    };
    table.uniques().any(|key| {
        key.columns.iter().all(|column| !table.columns[*column].nullable) && key.columns.iter().all(named)
    })
}

/// Of a text without a tree only the words are known.
fn by_words(text: &str) -> Option<Reason> {
    let lower = text.to_ascii_lowercase();
    let mut words =
        lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    if lower.contains('@') || words.clone().any(|word| FICKLE.contains(&word)) {
        return Some(Reason::FickleFunction);
    }
    if lower.contains("skip locked") {
        return Some(Reason::SkipLocked);
    }
    words.any(|word| word == "limit").then_some(Reason::LimitWithoutOrder)
}
