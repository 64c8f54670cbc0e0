//! Simplifies the types of columns: INT for all, or for one, with the constants that go with it.

use std::collections::BTreeSet;

use model::{
    Case,
    sql::{Expr, InList, InsertSource, Literal, Statement, TableItem, TypeName, VisitMut},
};

use super::constants::change;
use crate::view::{Candidate, View};

/// With plainer types.
pub fn list(view: View<'_>) -> Vec<Candidate> {
    let columns = columns(view);
    let odd: Vec<&Column> = columns.iter().filter(|column| column.odd).collect();
    let mut found = Vec::new();
    if odd.len() > 1 {
        let mut case = view.case.clone();
        retype(view, &mut case, |_, _| true);
        number_all(view, &mut case);
        found.push(Candidate { operation: "plain types", case });
    }
    for column in odd {
        let mut case = view.case.clone();
        retype(view, &mut case, |table, name| table == column.table && name == column.name);
        found.push(Candidate { operation: "plain type", case: case.clone() });
        number_column(view, &mut case, column);
        found.push(Candidate { operation: "plain type", case });
    }
    found
}

struct Column {
    table: String,
    name: String,
    /// Among those of its table.
    at: usize,
    /// Is it something else than INT?
    odd: bool,
}

fn columns(view: View<'_>) -> Vec<Column> {
    let mut found = Vec::new();
    for (_, tree) in view.setup_trees() {
        let Statement::CreateTable(create) = &*tree else { continue };
        let mut place = 0;
        for item in &create.items {
            let TableItem::Column(column) = item else { continue };
            let odd = column.ty.as_ref().is_some_and(|ty| *ty != TypeName::new("INT"));
            let table = create.name.name.name.clone();
            found.push(Column { table, name: column.name.name.clone(), at: place, odd });
            place += 1;
        }
    }
    found
}

/// Makes columns INT.
fn retype(view: View<'_>, case: &mut Case, which: impl Fn(&str, &str) -> bool) {
    for text in &mut case.setup.statements {
        let Some(tree) = view.tree(text) else { continue };
        let mut tree = (*tree).clone();
        let Statement::CreateTable(create) = &mut tree else { continue };
        for item in &mut create.items {
            if let TableItem::Column(column) = item
                && which(&create.name.name.name, &column.name.name)
                && column.ty.is_some()
            {
                column.ty = Some(TypeName::new("INT"));
                // What belongs to strings only.
                column.options.retain(|option| {
                    !matches!(
                        option,
                        model::sql::ColumnOption::Collate(_) | model::sql::ColumnOption::CharacterSet(_)
                    )
                });
            }
        }
        *text = view.print(&tree);
    }
}

/// Numbers for all constants that are none, in the order that they have.
fn number_all(view: View<'_>, case: &mut Case) {
    let mut ranks = Ranks::default();
    let texts = || case.steps.iter().map(|step| &step.sql).chain(&case.setup.statements);
    for text in texts() {
        let Some(tree) = view.tree(text) else { continue };
        change(&mut (*tree).clone(), &mut |literal| {
            ranks.note(literal);
            None
        });
    }
    for text in case.steps.iter_mut().map(|step| &mut step.sql).chain(&mut case.setup.statements) {
        let Some(tree) = view.tree(text) else { continue };
        let mut tree = (*tree).clone();
        if change(&mut tree, &mut |literal| ranks.number(literal)) {
            *text = view.print(&tree);
        }
    }
}

/// The same for constants that belong to one column: those that are inserted there, set there, or compared with it.
fn number_column(view: View<'_>, case: &mut Case, column: &Column) {
    let mut ranks = Ranks::default();
    for number in [false, true] {
        for text in case.steps.iter_mut().map(|step| &mut step.sql).chain(&mut case.setup.statements) {
            let Some(tree) = view.tree(text) else { continue };
            let mut tree = (*tree).clone();
            let before = tree.clone();
            let mut visit = |expr: &mut Expr| match expr {
                Expr::Literal(literal) if number => {
                    if let Some(other) = ranks.number(literal) {
                        *literal = other;
                    }
                }
                Expr::Literal(literal) => ranks.note(literal),
                _ => {}
            };
            if let Statement::Insert(insert) = &mut tree
                && insert.table.name.name.eq_ignore_ascii_case(&column.table)
            {
                let listed = |names: &Vec<model::sql::Ident>| {
                    names.iter().position(|name| name.name.eq_ignore_ascii_case(&column.name))
                };
                let place = insert.columns.as_ref().map_or(Some(column.at), listed);
                if let (InsertSource::Values { rows, .. }, Some(place)) = (&mut insert.source, place) {
                    rows.iter_mut().filter_map(|row| row.get_mut(place)).for_each(&mut visit);
                }
            }
            if let Statement::Update(update) = &mut tree {
                let of = |name: &str| name.eq_ignore_ascii_case(&column.name);
                let set = update.assignments.iter_mut().filter(|set| of(&set.column.name.name));
                set.for_each(|set| visit(&mut set.value));
            }
            tree.visit_mut(&mut Compared { column: &column.name, visit: &mut visit });
            if tree != before {
                *text = view.print(&tree);
            }
        }
    }
}

/// Shows constants that stand beside a column.
struct Compared<'a> {
    column: &'a str,
    visit: &'a mut dyn FnMut(&mut Expr),
}

impl VisitMut for Compared<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        let name = self.column;
        let is =
            |expr: &Expr| matches!(expr, Expr::Column(column) if column.name.name.eq_ignore_ascii_case(name));
        match expr {
            Expr::Binary { left, right, .. } if is(left) => (self.visit)(right),
            Expr::Binary { left, right, .. } if is(right) => (self.visit)(left),
            Expr::In { expr, list: InList::Exprs(list), .. } if is(expr) => {
                list.iter_mut().for_each(&mut self.visit);
            }
            Expr::Between { expr, low, high, .. } if is(expr) => {
                (self.visit)(low);
                (self.visit)(high);
            }
            Expr::Like { expr, pattern, .. } if is(expr) => (self.visit)(pattern),
            _ => {}
        }
    }
}

/// Constants that are no whole numbers, in their order.
#[derive(Default)]
struct Ranks(BTreeSet<String>);

impl Ranks {
    fn note(&mut self, literal: &Literal) {
        if let Some(text) = odd(literal) {
            self.0.insert(text.to_string());
        }
    }

    fn number(&self, literal: &Literal) -> Option<Literal> {
        let text = odd(literal)?;
        self.0.iter().position(|known| known == text).map(|at| Literal::number(at as u64 + 1))
    }
}

/// The text of what is neither NULL nor a whole number.
fn odd(literal: &Literal) -> Option<&str> {
    match literal {
        Literal::Null | Literal::Bool(_) => None,
        Literal::Number(text) => text.parse::<i128>().is_err().then_some(text),
        Literal::Text(text) | Literal::Bytes(text) => Some(text),
    }
}
