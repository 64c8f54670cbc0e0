//! What a statement and its tables are made of: see [`Feature`].

use std::collections::BTreeSet;

use dialect::{AccessSet, sql::Schema};
use model::{
    sql::{
        BinaryOp, Expr, InList, InsertModifier, InsertSource, Join, Literal, OperatorClass, Query, QueryPart,
        Resolution, Statement, TableFactor, TableRef, UnaryOp, Visit,
    },
    verdict::Feature,
};

/// Of a statement, which touches these tables.
pub fn of(statement: &Statement, schema: Option<&Schema>) -> BTreeSet<Feature> {
    let mut found = Found(BTreeSet::new());
    statement.visit(&mut found);
    found.clauses(statement);
    if let Some(schema) = schema {
        found.tables(&AccessSet::of(statement), schema);
    }
    found.0
}

struct Found(BTreeSet<Feature>);

impl Found {
    fn note(&mut self, when: bool, feature: Feature) {
        if when {
            self.0.insert(feature);
        }
    }

    fn clauses(&mut self, statement: &Statement) {
        match statement {
            Statement::Insert(insert) => {
                let query = matches!(insert.source, InsertSource::Query(_));
                let upsert = !insert.on_duplicate.is_empty() || !insert.on_conflict.is_empty();
                self.note(query, Feature::InsertedQuery);
                self.note(upsert, Feature::Upsert);
                self.note(ignores(insert.modifier), Feature::Ignore);
            }
            Statement::Update(update) => {
                update.tables.iter().chain(&update.from).for_each(|table| self.table(table));
                let joined = update.tables.len() > 1 || update.tables.iter().any(|of| !of.joins.is_empty());
                self.note(joined, Feature::SeveralTables);
                self.note(ignores(update.modifier), Feature::Ignore);
                self.note(!update.order_by.is_empty(), Feature::Sorting);
                self.note(update.limit.is_some(), Feature::Limit);
            }
            Statement::Delete(delete) => {
                self.factor(&delete.table);
                delete.using.iter().for_each(|table| self.table(table));
                self.note(!delete.using.is_empty(), Feature::SeveralTables);
                self.note(delete.ignore, Feature::Ignore);
                self.note(!delete.order_by.is_empty(), Feature::Sorting);
                self.note(delete.limit.is_some(), Feature::Limit);
            }
            _ => {}
        }
    }

    fn table(&mut self, table: &TableRef) {
        self.factor(&table.first);
        for Join { kind, table, .. } in &table.joins {
            self.note(kind.is_outer(), Feature::OuterJoin);
            self.note(!kind.is_outer(), Feature::Join);
            self.factor(table);
        }
    }

    fn factor(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Table { hints, .. } => self.note(!hints.is_empty(), Feature::IndexHint),
            TableFactor::Derived { .. } => self.note(true, Feature::DerivedTable),
            TableFactor::Paren(table) => self.table(table),
        }
    }

    fn tables(&mut self, access: &AccessSet, schema: &Schema) {
        for table in &schema.tables {
            if !access.reads(&table.name) && !access.writes(&table.name) {
                continue;
            }
            self.note(table.partitioning.is_some(), Feature::Partitions);
            let generated = table.columns.iter().any(|column| column.generated.is_some());
            self.note(generated, Feature::GeneratedColumn);
            for key in &table.keys {
                let first = key.columns.first().and_then(|first| table.columns.get(*first));
                let named = |column: &String| {
                    first.is_some_and(|first| first.name.eq_ignore_ascii_case(column.as_str()))
                };
                if access.filter_columns.iter().any(named) {
                    let primary = key.kind == model::schema::KeyKind::Primary;
                    self.note(true, if primary { Feature::ByPrimaryKey } else { Feature::ByIndex });
                }
            }
        }
    }
}

impl<'t> Visit<'t> for Found {
    fn expr(&mut self, expr: &'t Expr) {
        let feature = match expr {
            Expr::Literal(Literal::Null) => Feature::Null,
            Expr::Literal(Literal::Number(text)) if is_fraction(text) => Feature::Fraction,
            Expr::Literal(Literal::Text(_) | Literal::Bytes(_)) => Feature::Text,
            Expr::Variable(_) => Feature::Variable,
            Expr::Unary { op: UnaryOp::Not | UnaryOp::Bang, .. } => Feature::Not,
            Expr::Unary { op: UnaryOp::BitNot, .. } => Feature::Bits,
            Expr::Binary { op, .. } => match of_operator(*op) {
                Some(feature) => feature,
                None => return,
            },
            Expr::IsNull { .. } => Feature::NullTest,
            Expr::IsBool { .. } => Feature::TruthTest,
            Expr::In { negated: false, list: InList::Exprs(_), .. } => Feature::InList,
            Expr::In { negated: true, list: InList::Exprs(_), .. } => Feature::NotInList,
            Expr::In { negated: false, list: InList::Query(_), .. } => Feature::InQuery,
            Expr::In { negated: true, list: InList::Query(_), .. } => Feature::NotInQuery,
            Expr::Between { .. } => Feature::Between,
            Expr::Like { .. } => Feature::Pattern,
            Expr::Collate { .. } => Feature::Collation,
            Expr::Case { .. } => Feature::Conditional,
            Expr::Cast { .. } => Feature::Cast,
            Expr::Function { name, .. } if is_aggregate(&name.name) => Feature::Aggregate,
            Expr::Function { .. } | Expr::BareFunction(_) => Feature::Function,
            Expr::Row(_) => Feature::RowValue,
            Expr::Subquery(_) => Feature::Subquery,
            Expr::Exists(_) => Feature::Exists,
            // What every statement has.
            Expr::Literal(Literal::Number(_) | Literal::Bool(_))
            | Expr::Column(_)
            | Expr::Default
            | Expr::Unary { op: UnaryOp::Neg | UnaryOp::Plus, .. }
            | Expr::Paren(_) => return,
        };
        self.0.insert(feature);
    }

    fn query(&mut self, query: &'t Query) {
        self.note(!query.rest.is_empty(), Feature::Union);
        self.note(!query.order_by.is_empty(), Feature::Sorting);
        self.note(query.limit.is_some(), Feature::Limit);
        for part in query.parts() {
            let QueryPart::Select(select) = part else { continue };
            self.note(select.quantifier == Some(model::sql::Quantifier::Distinct), Feature::Distinct);
            self.note(!select.group_by.is_empty() || select.having.is_some(), Feature::Grouping);
            self.note(select.from.len() > 1, Feature::Join);
            select.from.iter().for_each(|table| self.table(table));
        }
    }
}

/// AND says nothing: a reduced condition has it where both sides are needed, and those are noted.
fn of_operator(op: BinaryOp) -> Option<Feature> {
    match op.class() {
        OperatorClass::And => None,
        OperatorClass::Or | OperatorClass::Xor => Some(Feature::Or),
        OperatorClass::Comparison => Some(Feature::Comparison),
        OperatorClass::NullSafeComparison => Some(Feature::NullSafeComparison),
        OperatorClass::Bits => Some(Feature::Bits),
        OperatorClass::Arithmetic => Some(Feature::Arithmetic),
        OperatorClass::Pattern => Some(Feature::Pattern),
        OperatorClass::Concatenation => Some(Feature::Concatenation),
    }
}

fn ignores(modifier: Option<InsertModifier>) -> bool {
    match modifier {
        Some(InsertModifier::Ignore | InsertModifier::Or(Resolution::Ignore)) => true,
        Some(InsertModifier::Or(_)) | None => false,
    }
}

fn is_fraction(number: &str) -> bool {
    !number.starts_with("0x") && number.contains(['.', 'e', 'E'])
}

fn is_aggregate(name: &str) -> bool {
    ["COUNT", "SUM", "MIN", "MAX", "AVG", "GROUP_CONCAT"].iter().any(|one| one.eq_ignore_ascii_case(name))
}
