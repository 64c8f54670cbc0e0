//! Draws a schema: its swarm, its tables, and what ties them together.

use dialect::Capabilities;
use model::{
    Rng, SqlType,
    sql::{Action, BinaryOp, Expr},
};

use super::{
    Column, Formula, Generated, Parent, Schema, StatementForm, Table,
    columns::{self, Types},
    indexes,
    pool::{self, Bounds},
};
use crate::{
    profile::{Profile, weighted},
    rows,
};

/// Names of tables.
const NAMES: [&str; 3] = ["t", "u", "v"];
/// The column that refers to another table.
const REFERS: usize = 6;
/// The generated column.
const GENERATED: usize = 7;
/// The column that refers to another table, too.
const SECOND_REFERS: usize = 9;
/// The long column.
const LONG_AT: usize = 8;
pub(super) const LONG: &str = "i";

/// Draws schema number `number`.
pub fn draw(rng: &mut Rng, number: u64, caps: &Capabilities, profile: &Profile) -> Schema {
    let types = Types::draw(rng, caps, profile);
    let kinds = kinds(rng, profile);
    let count = weighted(rng, &profile.schema.tables).unwrap_or(0) + 1;
    let form = SchemaForm {
        triangle: caps.foreign_keys && profile.schema.triangle.later(rng),
        late_indexes: profile.schema.late_indexes.later(rng),
    };
    let count = if form.triangle { NAMES.len() } else { count };
    let mut schema = Schema { number, tables: Vec::new(), kinds };
    for name in NAMES.iter().take(count) {
        let table = table(rng, name, form, &schema, &types, caps, profile);
        schema.tables.push(table);
    }
    if form.late_indexes {
        indexes::put_off(rng, &mut schema);
    }
    rows::fill(rng, &mut schema, profile);
    schema
}

/// What is special about all tables of a schema.
#[derive(Clone, Copy)]
struct SchemaForm {
    /// They refer to each other in a triangle.
    triangle: bool,
    /// Indexes are made after the rows.
    late_indexes: bool,
}

/// The swarm of statements: the plain ones always, of the others a subset.
fn kinds(rng: &mut Rng, profile: &Profile) -> Vec<StatementForm> {
    let kept = StatementForm::ALL.iter().copied().filter(|kind| {
        let always = matches!(
            kind,
            StatementForm::Select
                | StatementForm::LockingSelect
                | StatementForm::Update
                | StatementForm::Insert
        );
        kind.weight(profile) > 0 && (always || rng.ratio(2, 3))
    });
    kept.collect()
}

fn table(
    rng: &mut Rng,
    name: &str,
    form: SchemaForm,
    before: &Schema,
    types: &Types,
    caps: &Capabilities,
    profile: &Profile,
) -> Table {
    let odds = &profile.schema;
    let count = weighted(rng, &odds.columns).unwrap_or(0) + 1;
    // Room for a primary key and two UNIQUE ones.
    let count = if form.late_indexes { count.max(3) } else { count };
    let mut columns: Vec<Column> = (0..count).map(|at| columns::plain(at, types.pick(rng, caps))).collect();
    // Most tables begin with a number, as tables do.
    if rng.ratio(3, 4) {
        columns[0].ty = SqlType::Int { bits: 32, unsigned: false };
    }
    let mut table = Table {
        name: name.to_string(),
        columns,
        indexes: Vec::new(),
        parents: Vec::new(),
        checks: Vec::new(),
        partitioned: caps.partitions && odds.partitions.draw(rng),
        without_rowid: false,
        rows: Vec::new(),
    };
    indexes::primary(rng, &mut table, profile);
    if form.triangle {
        table.partitioned = false;
        indexes::one_column_primary(&mut table);
    }
    table.without_rowid = caps.clauses.indexed_by && table.primary().is_some() && rng.ratio(1, 4);
    // A unique key of a partitioned table would have to hold the column that it is partitioned by.
    table.partitioned &= table.primary().is_some_and(|key| columns::whole(&table, key.parts[0].column));
    if !table.partitioned {
        indexes::unique(rng, &mut table, profile);
        if form.late_indexes {
            indexes::unique_with_and_without_null(rng, &mut table);
        }
        match form.triangle {
            true => refer_in_triangle(rng, &mut table, before),
            false => refer(rng, &mut table, before, caps, profile),
        }
    }
    for at in 0..count {
        if !table.in_unique(at) {
            table.columns[at].nullable = !odds.not_null.draw(rng);
        }
    }
    generate(rng, &mut table, caps, profile);
    if odds.long_rows.draw(rng) {
        let ty = rng.pick(&[SqlType::Varchar(4000), SqlType::Text, SqlType::Blob]).clone();
        table.columns.push(columns::plain(LONG_AT, ty));
    }
    indexes::plain(rng, &mut table, caps, profile);
    pools(rng, &mut table, before, caps, profile);
    defaults(rng, &mut table, profile);
    check(rng, &mut table, caps, profile);
    table
}

/// A column that refers to the key of a table before this one.
fn refer(rng: &mut Rng, table: &mut Table, before: &Schema, caps: &Capabilities, profile: &Profile) {
    if !caps.foreign_keys || before.tables.is_empty() || !profile.schema.foreign_key.draw(rng) {
        return;
    }
    let parent = rng.below(before.tables.len());
    let other = &before.tables[parent];
    let keys: Vec<usize> =
        other.unique().filter(|key| key.parts.len() == 1).map(|key| key.parts[0].column).collect();
    if keys.is_empty() || other.partitioned {
        return;
    }
    let referred = *rng.pick(&keys);
    let mut column = columns::plain(REFERS, other.columns[referred].ty.clone());
    column.nullable = rng.ratio(1, 2);
    let nullable = column.nullable;
    let mut action = || {
        let actions = [Action::Cascade, Action::SetNull, Action::Restrict, Action::NoAction];
        let action = profile.schema.foreign_key_action.draw(rng).then(|| *rng.pick(&actions));
        action.filter(|action| nullable || *action != Action::SetNull)
    };
    let (on_delete, on_update) = (action(), action());
    // A key that may become NULL cannot be handed on to a column that may not: newer MariaDB refuses such a table.
    let on_update = on_update
        .filter(|action| nullable || !other.columns[referred].nullable || *action != Action::Cascade);
    let columns = vec![table.columns.len()];
    table.columns.push(column);
    table.parents.push(Parent { table: parent, columns, referred: vec![referred], on_delete, on_update });
}

/// One corner of a triangle of references: the second table refers to the first, the third to both, and what happens to a row
/// of the first reaches those of the third in two ways.
fn refer_in_triangle(rng: &mut Rng, table: &mut Table, before: &Schema) {
    for parent in (0..before.tables.len()).rev() {
        let key = before.tables[parent].primary().map_or(0, |key| key.parts[0].column);
        // The name of the usual column that refers, and one that no other column has.
        let at = if table.parents.is_empty() { REFERS } else { SECOND_REFERS };
        let mut column = columns::plain(at, before.tables[parent].columns[key].ty.clone());
        // Sharpest where the way through the second table sets NULL and the direct one deletes the same row.
        let middle = parent > 0;
        let set_null = rng.ratio(if middle { 3 } else { 1 }, 4);
        column.nullable = set_null || rng.ratio(1, 2);
        let on_delete = if set_null { Action::SetNull } else { Action::Cascade };
        let (on_delete, on_update) = (Some(on_delete), Some(Action::Cascade));
        let columns = vec![table.columns.len()];
        table.columns.push(column);
        table.parents.push(Parent { table: parent, columns, referred: vec![key], on_delete, on_update });
    }
}

/// A column that is computed from another.
fn generate(rng: &mut Rng, table: &mut Table, caps: &Capabilities, profile: &Profile) {
    let plain = |i: &usize| columns::whole(table, *i) && !table.refers(*i);
    let from: Vec<usize> = (0..table.columns.len()).filter(plain).collect();
    if caps.generated.is_empty() || from.is_empty() || !profile.schema.generated.draw(rng) {
        return;
    }
    let n = rng.between(1, 5) as i64;
    let formula = if rng.ratio(1, 2) { Formula::Plus(n) } else { Formula::Times(n) };
    let storage = *rng.pick(caps.generated);
    let bits = caps.int_bits.last().copied().unwrap_or(32);
    let mut column = columns::plain(GENERATED, SqlType::Int { bits, unsigned: false });
    column.generated = Some(Generated { from: *rng.pick(&from), formula, storage });
    table.columns.push(column);
}

fn pools(rng: &mut Rng, table: &mut Table, before: &Schema, caps: &Capabilities, profile: &Profile) {
    for at in 0..table.columns.len() {
        if let Some(parent) = table.referring(at) {
            table.columns[at].pool = before.tables[parent.table].columns[parent.referred[0]].pool.clone();
            continue;
        }
        let long = table.columns[at].is_long();
        let size = match (long, table.in_unique(at)) {
            (true, _) => 3,
            (false, true) => 12,
            (false, false) => 5,
        };
        let source = |column: &Column| column.generated.as_ref().is_some_and(|g| g.from == at);
        let small = table.columns.iter().any(source);
        let bounds = Bounds { size, boundary: profile.rows.boundary, small, long };
        let pool = match table.columns[at].generated.clone() {
            // The column that it is computed from stands before it.
            Some(generated) => {
                table.columns[generated.from].pool.iter().map(|v| generated.formula.of(v)).collect()
            }
            None => pool::draw(rng, &table.columns[at].ty, caps, bounds),
        };
        table.columns[at].pool = pool;
    }
}

fn defaults(rng: &mut Rng, table: &mut Table, profile: &Profile) {
    for at in 0..table.columns.len() {
        let column = &table.columns[at];
        let fit = !columns::needs_prefix(&column.ty) && column.generated.is_none() && !column.is_long();
        if fit && !table.in_unique(at) && !table.refers(at) && profile.schema.default.draw(rng) {
            let value = rng.pick(&column.pool).clone();
            table.columns[at].default = Some(value);
        }
    }
}

/// A CHECK that every value of the pool passes: it is broken by what statements compute.
fn check(rng: &mut Rng, table: &mut Table, caps: &Capabilities, profile: &Profile) {
    let plain = |i: &usize| columns::whole(table, *i) && !table.refers(*i);
    let whole: Vec<usize> = table.writable().filter(plain).collect();
    if !caps.checks || whole.is_empty() || !profile.schema.check.draw(rng) {
        return;
    }
    let at = *rng.pick(&whole);
    let column = Expr::column(&table.columns[at].name);
    let pool = &table.columns[at].pool;
    // A value that nothing has, or the greatest one.
    let (op, bound) = if rng.ratio(1, 2) {
        (BinaryOp::Ne, Expr::int(77))
    } else {
        let most = pool.iter().max_by_key(|datum| size(datum)).cloned();
        (BinaryOp::Le, most.map_or(Expr::int(77), |datum| datum.literal(caps.product)))
    };
    table.checks.push(Expr::binary(column, op, bound));
}

fn size(datum: &eval::Datum) -> i128 {
    match datum {
        eval::Datum::Int(n) => i128::from(*n),
        eval::Datum::UInt(n) => i128::from(*n),
        _ => i128::MIN,
    }
}
