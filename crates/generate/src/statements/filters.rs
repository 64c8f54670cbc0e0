//! Conditions: random ones, and those that hold for a given row, so that a statement surely meets it.

use eval::Datum;
use model::{
    Rng,
    sql::{BinaryOp, Expr, InList},
};

use super::{Filter, Statements};

impl Statements<'_> {
    /// A filter by chance, for a statement that only reads.
    pub fn filter(&self, rng: &mut Rng, table: usize) -> Filter {
        self.drawn_filter(rng, table, false)
    }

    /// A filter by chance, for a statement that changes what it finds.
    pub fn change_filter(&self, rng: &mut Rng, table: usize) -> Filter {
        self.drawn_filter(rng, table, true)
    }

    fn drawn_filter(&self, rng: &mut Rng, table: usize, changes: bool) -> Filter {
        let details = &self.profile.details;
        if details.no_filter.draw(rng) {
            return Filter::All;
        }
        let drawn = if details.subquery.draw(rng) {
            self.subquery_condition(rng, table, changes)
        } else if details.rich_filter.draw(rng) {
            self.rich_condition(rng, table, changes)
        } else {
            None
        };
        Filter::Where(drawn.unwrap_or_else(|| self.condition(rng, table)))
    }

    /// A condition by chance. Most often it holds for one of the rows that the table begins with.
    pub fn condition(&self, rng: &mut Rng, table: usize) -> Expr {
        match self.any_row(rng, table) {
            Some(row) if rng.ratio(3, 4) => self.filter_hitting(rng, table, row),
            _ => self.simple(rng, table),
        }
    }

    /// `column op constant`, with a constant of the column's pool.
    pub fn simple(&self, rng: &mut Rng, table: usize) -> Expr {
        let at = rng.below(self.table(table).columns.len());
        let column = &self.table(table).columns[at];
        let ops = [
            BinaryOp::Eq,
            BinaryOp::Eq,
            BinaryOp::Lt,
            BinaryOp::Le,
            BinaryOp::Gt,
            BinaryOp::Ge,
            BinaryOp::Ne,
        ];
        let op = *rng.pick(&ops);
        let value = rng.pick(&column.pool).clone();
        Expr::binary(Expr::column(&column.name), op, self.literal(&value))
    }

    /// A condition that holds for this row: on a column of a key where there is one, most often.
    pub fn filter_hitting(&self, rng: &mut Rng, table: usize, row: &[Datum]) -> Expr {
        let shape = self.table(table);
        let all: Vec<usize> = (0..shape.columns.len()).collect();
        let indexed: Vec<usize> = all.iter().copied().filter(|&at| shape.indexed(at)).collect();
        let any = indexed.is_empty() || rng.ratio(1, 3);
        let at = *rng.pick(if any { &all } else { &indexed });
        self.column_hitting(rng, table, at, &row[at])
    }

    /// A condition on this column that holds for this value.
    pub fn column_hitting(&self, rng: &mut Rng, table: usize, at: usize, value: &Datum) -> Expr {
        let column = &self.table(table).columns[at];
        let name = || Expr::column(&column.name);
        if value.is_null() {
            return Expr::is_null(name(), false);
        }
        let constant = self.literal(value);
        match rng.below(8) {
            0..=2 => Expr::binary(name(), BinaryOp::Eq, constant),
            3 => Expr::binary(name(), BinaryOp::Le, constant),
            4 => Expr::binary(name(), BinaryOp::Ge, constant),
            5 => {
                let other = self.literal(rng.pick(&column.pool));
                let list = if rng.ratio(1, 2) { vec![constant, other] } else { vec![other, constant] };
                Expr::In { expr: Box::new(name()), negated: false, list: InList::Exprs(list) }
            }
            6 => Expr::Between {
                expr: Box::new(name()),
                negated: false,
                low: Box::new(constant.clone()),
                high: Box::new(constant),
            },
            _ => {
                let other = self.simple(rng, table);
                Expr::binary(Expr::binary(name(), BinaryOp::Eq, constant), BinaryOp::Or, other)
            }
        }
    }

    /// The condition that names exactly this row: by its key, or by all its columns where it has none.
    pub fn key_filter(&self, table: usize, row: &[Datum]) -> Expr {
        let shape = self.table(table);
        let columns: Vec<usize> = match shape.identity() {
            Some(key) => key.parts.iter().map(|part| part.column).collect(),
            None => shape.writable().collect(),
        };
        let test = |&at: &usize| -> Expr {
            let name = Expr::column(&shape.columns[at].name);
            if row[at].is_null() {
                return Expr::is_null(name, false);
            }
            Expr::binary(name, BinaryOp::Eq, self.literal(&row[at]))
        };
        let tests: Vec<Expr> = columns.iter().map(test).collect();
        tests.into_iter().reduce(|a, b| Expr::binary(a, BinaryOp::And, b)).unwrap_or_else(|| Expr::int(1))
    }
}
