//! What a case uses, by name. The list is in one place, so that statistics can also say what never occurred.
//!
//! Features are read off the schema and the statements, whoever built them: nobody can forget to mention one.

use std::collections::BTreeSet;

use model::{
    SqlType,
    schema::KeyKind,
    sql::{
        Action, BeginVerb, BinaryOp, ConflictAction, Expr, FunctionArgs, InList, IndexHint, Insert,
        InsertModifier, InsertSource, InsertVerb, LockStrength, LockTiming, LockWait, OperatorClass, Query,
        QueryPart, SelectItem, Statement, TableFactor, TransactionMode,
    },
};

use crate::{
    schema::{Column, Schema, Table},
    set::Set,
};

/// All names, sorted. `type:`, `key:`, `table:` speak of the schema, `order:` of the submitted order (see
/// [`crate::orders::OrderKind`]), `expr:` of expressions; the rest of statements and transactions.
pub const ALL: [&str; 120] = [
    "aggregate",
    "autocommit",
    "autocommit-off",
    "begin",
    "begin-immediate",
    "begin-read-only",
    "begin-snapshot",
    "commit",
    "delete",
    "delete-all",
    "delete-limit",
    "delete-ordered",
    "delete-second-table",
    "expr:and",
    "expr:arithmetic",
    "expr:between",
    "expr:bits",
    "expr:case",
    "expr:cast",
    "expr:compare",
    "expr:function",
    "expr:in",
    "expr:is-null",
    "expr:is-truth",
    "expr:like",
    "expr:not",
    "expr:null-safe",
    "expr:or",
    "expr:xor",
    "hint",
    "insert",
    "insert-ignore",
    "insert-many",
    "insert-select",
    "insert-upsert",
    "insert-upsert-nothing",
    "key:composite",
    "key:descending",
    "key:none",
    "key:plain",
    "key:prefix",
    "key:primary",
    "key:primary-composite",
    "key:unique",
    "key:unique-composite",
    "key:unique-nullable",
    "levels-mixed",
    "lock-key-share",
    "lock-no-key-update",
    "lock-nowait",
    "lock-share",
    "lock-skip-locked",
    "lock-update",
    "new-transaction",
    "observer",
    "order:few-switches",
    "order:late-reader",
    "order:sandwich",
    "order:uniform",
    "order:waiter",
    "pair:01",
    "pair:02",
    "pair:03",
    "pair:04",
    "pair:05",
    "pair:06",
    "pair:07",
    "pair:08",
    "pair:09",
    "pair:10",
    "pair:11",
    "pair:12",
    "pair:13",
    "replace",
    "rollback",
    "savepoint",
    "savepoint-back",
    "savepoint-release",
    "select",
    "select-all",
    "select-index-only",
    "select-limit",
    "select-ordered",
    "select-ordered-down",
    "sessions:2",
    "sessions:3",
    "sessions:4-6",
    "subquery-in",
    "subquery-scalar",
    "table:all-indexed",
    "table:check",
    "table:default",
    "table:empty",
    "table:foreign-key",
    "table:foreign-key-action",
    "table:generated",
    "table:late-index",
    "table:long-rows",
    "table:one-row",
    "table:partitions",
    "table:two-foreign-keys",
    "type:blob",
    "type:boolean",
    "type:char",
    "type:date",
    "type:datetime",
    "type:decimal",
    "type:double",
    "type:float",
    "type:int",
    "type:text",
    "type:unsigned",
    "type:varchar",
    "update",
    "update-all",
    "update-ignore",
    "update-key",
    "update-ordered",
    "update-second-table",
    "update-second-table-ordered",
];

/// The features of a set on its schema, each once and sorted.
pub fn of(schema: &Schema, set: &Set) -> Vec<&'static str> {
    let mut found = FeatureSet { names: BTreeSet::new(), schema };
    schema.tables.iter().for_each(|table| found.table(table));
    for script in &set.scripts {
        if !script.autocommit {
            found.add("autocommit-off");
        } else if !script.statements.iter().any(|one| matches!(one, Statement::Begin(_))) {
            found.add("autocommit");
        }
        let begins = script.statements.iter().filter(|one| matches!(one, Statement::Begin(_))).count();
        found.add_if(begins > 1, "new-transaction");
        script.statements.iter().for_each(|statement| found.statement(statement));
    }
    // Which pair of Fucci's Table 2 was made to meet.
    set.features.iter().for_each(|name| found.add(name));
    if set.scripts.iter().any(|script| script.level != set.scripts[0].level) {
        found.add("levels-mixed");
    }
    found.add(match set.scripts.len() {
        0..=2 => "sessions:2",
        3 => "sessions:3",
        _ => "sessions:4-6",
    });
    found.names.into_iter().collect()
}

struct FeatureSet<'a> {
    names: BTreeSet<&'static str>,
    schema: &'a Schema,
}

impl FeatureSet<'_> {
    fn add(&mut self, name: &'static str) {
        self.names.insert(name);
    }

    fn add_if(&mut self, holds: bool, name: &'static str) {
        if holds {
            self.add(name);
        }
    }

    fn table(&mut self, table: &Table) {
        table.columns.iter().for_each(|column| self.column(column));
        self.add_if(table.primary().is_none(), "key:none");
        self.add_if((0..table.columns.len()).all(|at| table.indexed(at)), "table:all-indexed");
        self.add_if(!table.checks.is_empty(), "table:check");
        self.add_if(table.rows.is_empty(), "table:empty");
        self.add_if(table.rows.len() == 1, "table:one-row");
        self.add_if(table.partitioned, "table:partitions");
        self.add_if(table.parents.len() > 1, "table:two-foreign-keys");
        self.add_if(table.indexes.iter().any(|index| index.late), "table:late-index");
        for parent in &table.parents {
            self.add("table:foreign-key");
            let acts = |action: Option<Action>| matches!(action, Some(Action::Cascade | Action::SetNull));
            self.add_if(acts(parent.on_delete) || acts(parent.on_update), "table:foreign-key-action");
        }
        for index in &table.indexes {
            let several = index.parts.len() > 1;
            let nullable = index.parts.iter().any(|part| table.columns[part.column].nullable);
            match index.kind {
                KeyKind::Primary => {
                    self.add("key:primary");
                    self.add_if(several, "key:primary-composite");
                }
                KeyKind::Unique => {
                    self.add("key:unique");
                    self.add_if(several, "key:unique-composite");
                    self.add_if(nullable, "key:unique-nullable");
                }
                KeyKind::Plain => {
                    self.add("key:plain");
                    self.add_if(several, "key:composite");
                }
            }
            self.add_if(index.parts.iter().any(|part| part.descending), "key:descending");
            self.add_if(index.parts.iter().any(|part| part.prefix.is_some()), "key:prefix");
        }
    }

    fn column(&mut self, column: &Column) {
        self.add(match &column.ty {
            SqlType::Int { unsigned: true, .. } => "type:unsigned",
            SqlType::Int { .. } => "type:int",
            SqlType::Decimal { .. } => "type:decimal",
            SqlType::Float => "type:float",
            SqlType::Double => "type:double",
            SqlType::Char(_) => "type:char",
            SqlType::Varchar(_) => "type:varchar",
            SqlType::Text => "type:text",
            SqlType::Blob => "type:blob",
            SqlType::Bool => "type:boolean",
            SqlType::Date => "type:date",
            SqlType::DateTime => "type:datetime",
        });
        self.add_if(column.default.is_some(), "table:default");
        self.add_if(column.generated.is_some(), "table:generated");
        self.add_if(column.is_long(), "table:long-rows");
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => {
                self.add("update");
                self.add_if(update.filter.is_none(), "update-all");
                self.add_if(update.modifier.is_some(), "update-ignore");
                self.add_if(!update.order_by.is_empty(), "update-ordered");
                let joins = update.tables.iter().any(|table| !table.joins.is_empty());
                self.add_if(joins || !update.from.is_empty(), "update-second-table");
                self.add_if(joins && !update.order_by.is_empty(), "update-second-table-ordered");
                let name = update.tables.first().and_then(|table| table.first.table_name());
                let table = self.schema.tables.iter().find(|table| Some(table.name.as_str()) == name);
                let key = |column: &str| {
                    table.is_some_and(|table| {
                        let at = table.columns.iter().position(|known| known.name == column);
                        at.is_some_and(|at| table.in_unique(at))
                    })
                };
                let moves = update.assignments.iter().any(|one| key(&one.column.name.name));
                self.add_if(moves, "update-key");
                update.tables.iter().for_each(|table| self.hints(&table.first));
            }
            Statement::Delete(delete) => {
                self.add("delete");
                self.add_if(delete.filter.is_none(), "delete-all");
                self.add_if(!delete.order_by.is_empty(), "delete-ordered");
                self.add_if(delete.limit.is_some(), "delete-limit");
                self.add_if(!delete.using.is_empty(), "delete-second-table");
                self.hints(&delete.table);
            }
            Statement::Begin(begin) => {
                let mode = |mode| begin.modes.contains(&mode);
                self.add_if(begin.verb == BeginVerb::Begin && begin.timing.is_none(), "begin");
                self.add_if(begin.timing == Some(LockTiming::Immediate), "begin-immediate");
                self.add_if(mode(TransactionMode::ConsistentSnapshot), "begin-snapshot");
                self.add_if(mode(TransactionMode::ReadOnly), "begin-read-only");
            }
            Statement::Commit(_) => self.add("commit"),
            Statement::Rollback(rollback) => {
                self.add(if rollback.to.is_some() { "savepoint-back" } else { "rollback" });
            }
            Statement::Savepoint(_) => self.add("savepoint"),
            Statement::Release(_) => self.add("savepoint-release"),
            _ => {}
        }
        statement.for_each_expr(|expr| self.expr(expr));
    }

    fn query(&mut self, query: &Query) {
        self.add("select");
        self.add_if(!query.order_by.is_empty(), "select-ordered");
        let down = query.order_by.iter().any(|item| item.direction == Some(model::sql::Direction::Desc));
        self.add_if(down, "select-ordered-down");
        self.add_if(query.limit.is_some(), "select-limit");
        for lock in &query.locks {
            self.add(match lock.strength {
                LockStrength::Update => "lock-update",
                LockStrength::NoKeyUpdate => "lock-no-key-update",
                LockStrength::Share | LockStrength::InShareMode => "lock-share",
                LockStrength::KeyShare => "lock-key-share",
            });
            match lock.wait {
                Some(LockWait::Nowait) => self.add("lock-nowait"),
                Some(LockWait::SkipLocked) => self.add("lock-skip-locked"),
                Some(LockWait::Seconds(_)) | None => {}
            }
        }
        let QueryPart::Select(select) = &query.first else { return };
        self.add_if(select.filter.is_none(), "select-all");
        select.from.iter().for_each(|table| self.hints(&table.first));
        let mut names = Vec::new();
        for item in &select.items {
            match item {
                SelectItem::Expr { expr: Expr::Column(column), .. } => names.push(column.name.name.as_str()),
                SelectItem::Expr { expr: Expr::Function { .. }, .. } => self.add("aggregate"),
                SelectItem::Expr { .. } | SelectItem::Star | SelectItem::TableStar(_) => {}
            }
        }
        let name = select.from.first().and_then(|table| table.first.table_name());
        let Some(table) = self.schema.tables.iter().find(|table| Some(table.name.as_str()) == name) else {
            return;
        };
        let whole = names.len() == table.columns.len();
        let exact = table.indexes.iter().any(|index| {
            index.parts.iter().map(|part| table.columns[part.column].name.as_str()).eq(names.iter().copied())
        });
        self.add_if(exact && !whole, "select-index-only");
        self.add_if(whole && select.filter.is_none() && query.order_by.is_empty(), "observer");
    }

    fn insert(&mut self, insert: &Insert) {
        self.add(match insert.verb {
            InsertVerb::Insert => "insert",
            InsertVerb::Replace => "replace",
        });
        match &insert.source {
            InsertSource::Values { rows, .. } => self.add_if(rows.len() > 1, "insert-many"),
            InsertSource::Query(_) => self.add("insert-select"),
            InsertSource::Set(_) | InsertSource::DefaultValues => {}
        }
        self.add_if(!insert.on_duplicate.is_empty(), "insert-upsert");
        let ignores = matches!(insert.modifier, Some(InsertModifier::Ignore | InsertModifier::Or(_)));
        self.add_if(ignores, "insert-ignore");
        for conflict in &insert.on_conflict {
            match &conflict.action {
                ConflictAction::Nothing if conflict.target.is_empty() => self.add("insert-ignore"),
                ConflictAction::Nothing => self.add("insert-upsert-nothing"),
                ConflictAction::Update { .. } => self.add("insert-upsert"),
            }
        }
    }

    fn hints(&mut self, factor: &TableFactor) {
        if let TableFactor::Table { hints, .. } = factor {
            let names = |hint: &IndexHint| match hint {
                IndexHint::Names { .. } | IndexHint::IndexedBy(_) => true,
                IndexHint::NotIndexed => false,
            };
            self.add_if(hints.iter().any(names), "hint");
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let name = match expr {
            Expr::Binary { op, .. } => match binary(*op) {
                Some(name) => name,
                None => return,
            },
            Expr::Unary { op: model::sql::UnaryOp::Not | model::sql::UnaryOp::Bang, .. } => "expr:not",
            Expr::Unary { op: model::sql::UnaryOp::BitNot, .. } => "expr:bits",
            Expr::IsNull { .. } => "expr:is-null",
            Expr::IsBool { .. } => "expr:is-truth",
            Expr::In { list: InList::Exprs(_), .. } => "expr:in",
            Expr::In { list: InList::Query(_), .. } => "subquery-in",
            Expr::Between { .. } => "expr:between",
            Expr::Like { .. } => "expr:like",
            Expr::Case { .. } => "expr:case",
            Expr::Cast { .. } => "expr:cast",
            Expr::Function { args: FunctionArgs::List(_), .. } => "expr:function",
            Expr::Subquery(_) => "subquery-scalar",
            _ => return,
        };
        self.add(name);
    }
}

fn binary(op: BinaryOp) -> Option<&'static str> {
    Some(match op.class() {
        OperatorClass::Or => "expr:or",
        OperatorClass::And => "expr:and",
        OperatorClass::Xor => "expr:xor",
        OperatorClass::Comparison => "expr:compare",
        OperatorClass::NullSafeComparison => "expr:null-safe",
        OperatorClass::Bits => "expr:bits",
        OperatorClass::Arithmetic => "expr:arithmetic",
        OperatorClass::Pattern | OperatorClass::Concatenation => return None,
    })
}

/// The features that a server of these capabilities can have at all.
pub fn possible(caps: &dialect::Capabilities) -> Vec<&'static str> {
    let lacks = |name: &str| match name {
        "autocommit-off" => !caps.autocommit_off,
        "begin-immediate" => !caps.clauses.sqlite_control,
        "begin-read-only" => !caps.read_only,
        "begin-snapshot" => !caps.snapshot,
        "delete-limit" | "delete-ordered" | "update-ordered" => !caps.ordered_changes,
        "delete-second-table" => !caps.delete_using,
        "expr:xor" => !caps.clauses.mysql_changes,
        "hint" => !(caps.clauses.index_hints || caps.clauses.indexed_by),
        "insert-upsert-nothing" => !caps.clauses.on_conflict,
        "insert-upsert" => !(caps.clauses.on_conflict || caps.clauses.mysql_changes),
        "insert-ignore" => {
            !(caps.clauses.mysql_changes || caps.clauses.sqlite_changes || caps.clauses.on_conflict)
        }
        "key:descending" => !caps.descending,
        "key:prefix" => !caps.prefixes,
        "lock-key-share" | "lock-no-key-update" => !caps.clauses.key_locks,
        "lock-nowait" => !caps.nowait,
        "lock-share" => caps.share.is_none(),
        "lock-skip-locked" => !caps.skip_locked,
        "lock-update" => !caps.clauses.locking_reads,
        "replace" => !caps.clauses.replace,
        "table:check" => !caps.checks,
        "table:foreign-key" | "table:foreign-key-action" | "table:two-foreign-keys" => !caps.foreign_keys,
        "table:generated" => caps.generated.is_empty(),
        // A matter of the profile `pages`.
        "table:long-rows" => true,
        "table:partitions" => !caps.partitions,
        "type:unsigned" => !caps.unsigned,
        "update-ignore" => !(caps.clauses.mysql_changes || caps.clauses.sqlite_changes),
        "update-second-table" => !(caps.multi_tables || caps.clauses.update_from),
        "update-second-table-ordered" => !caps.ordered_multi_update,
        // One level, nothing to mix.
        "levels-mixed" => dialect::of(caps.product).levels.len() < 2,
        _ => false,
    };
    ALL.into_iter().filter(|name| !lacks(name)).collect()
}
