//! Asks the server many expressions at once, and those alone that spoil it for the others.

use std::collections::BTreeMap;

use eval::{Datum, Evaluator, Fault, same};
use execute::{ConnectError, RawReply, Session, ask};
use generate::expressions::{ExprColumn, Expressions, family::family};
use model::{ErrorClass, Rng, Value, sql::Expr};
use serde::Serialize;

use super::{census::operator, world::World};

/// An expression, where it is asked, and what should come.
pub struct Question {
    pub expr: Expr,
    pub expected: Result<Expected, Fault>,
    /// What is asked: one item of a SELECT.
    item: String,
    row: usize,
}

/// What should come.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    Value(Datum),
    /// How many rows it holds for.
    Rows(i64),
}

impl Question {
    /// Draws a question about this row, or about every row.
    pub fn new(
        rng: &mut Rng,
        expressions: &Expressions,
        world: &World,
        of: &Evaluator,
        row: usize,
    ) -> Question {
        let depth = rng.below(4);
        match rng.below(4) {
            0 | 1 => {
                let column: &ExprColumn = rng.pick(expressions.columns);
                let expr = expressions.any_value(rng, &column.ty, depth);
                value_question(of, world, expr, row)
            }
            2 => value_question(of, world, expressions.condition(rng, depth), row),
            _ => where_question(of, world, expressions.condition(rng, depth), row),
        }
    }

    /// Does the expression have to be asked alone, or not at all?
    fn batched(&self) -> bool {
        self.expected.is_ok()
    }
}

fn value_question(of: &Evaluator, world: &World, expr: Expr, row: usize) -> Question {
    let expected = of.value(&expr, &world.rows[row]).map(Expected::Value);
    Question { item: dialect::sql::print_expr(of.product, &expr), expr, expected, row }
}

fn where_question(of: &Evaluator, world: &World, expr: Expr, row: usize) -> Question {
    let mut count = 0;
    let mut fault = None;
    for cells in &world.rows {
        match of.truth(&expr, cells) {
            Ok(truth) => count += i64::from(truth == Some(true)),
            Err(Fault::Unsure(reason)) => fault = Some(Fault::Unsure(reason)),
            // What we are not sure of in another row may be an error of another class.
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    let text = dialect::sql::print_expr(of.product, &expr);
    Question {
        item: format!("(SELECT COUNT(*) FROM t WHERE {text})"),
        expr,
        expected: fault.map_or(Ok(Expected::Rows(count)), Err),
        row,
    }
}

/// A sort of differences.
#[derive(Serialize)]
pub struct Difference {
    /// The smallest expression in which it showed.
    pub sql: String,
    pub expected: String,
    pub actual: String,
    pub times: u64,
}

/// What the server said to one question.
enum ServerAnswer<'a> {
    Cell(Value<'a>),
    Error(ErrorClass, String),
}

impl ServerAnswer<'_> {
    fn fits(&self, expected: &Result<Expected, Fault>) -> bool {
        match (expected, self) {
            (Ok(Expected::Value(datum)), ServerAnswer::Cell(cell)) => same(cell, datum),
            (Ok(Expected::Rows(count)), ServerAnswer::Cell(cell)) => same(cell, &Datum::Int(*count)),
            (Err(Fault::Error(expected)), ServerAnswer::Error(class, _)) => expected == class,
            (Err(Fault::Unsure(_)), _) => true,
            (Ok(_), ServerAnswer::Error(..)) | (Err(Fault::Error(_)), ServerAnswer::Cell(_)) => false,
        }
    }

    fn text(&self) -> String {
        match self {
            ServerAnswer::Cell(value) => value.to_string(),
            ServerAnswer::Error(class, text) => format!("error {}: {text}", class.name()),
        }
    }
}

/// So many differences are made small; that takes statements of their own.
const SMALL: u64 = 400;

pub struct Checker<'a> {
    /// What we believe.
    pub of: Evaluator<'a>,
    /// What is asked about.
    pub world: &'a World,
    pub found: &'a mut Differences,
}

/// What differs.
#[derive(Default)]
pub struct Differences {
    /// How many expressions.
    pub different: u64,
    /// One of each sort.
    pub differences: BTreeMap<String, Difference>,
}

impl Checker<'_> {
    /// Sends the questions that have a value. The answer is taken by [`Checker::receive`].
    pub fn send(&self, session: &mut dyn Session, batch: &[Question]) {
        let items = batch.iter().filter(|question| question.batched()).map(|question| question.item.as_str());
        let items: Vec<&str> = std::iter::once("0").chain(items).collect();
        let row = batch.first().map_or(0, |question| question.row);
        session.send(&format!("SELECT {} FROM t WHERE id = {row}", items.join(", ")));
    }

    /// Takes the answer to what was sent last, and asks for the rest.
    pub fn receive(&mut self, session: &mut dyn Session, batch: &[Question]) -> Result<(), ConnectError> {
        let answer = ask::await_answer(session, "SELECT of many expressions", ask::LIMIT)?;
        let batched = batch.iter().filter(|question| question.batched());
        match answer.reply {
            RawReply::Rows(rows) if rows.len() == 1 => {
                for (at, question) in batched.enumerate() {
                    let said = ServerAnswer::Cell(rows.value(0, at + 1));
                    if !said.fits(&question.expected) {
                        self.differs(session, question, &said.text())?;
                    }
                }
            }
            RawReply::Rows(_)
            | RawReply::Done { .. }
            | RawReply::RolledBack
            | RawReply::Unreadable(_)
            | RawReply::Lost => {
                return Err(ConnectError::Gone);
            }
            // One of them is an error that we did not expect.
            RawReply::Error(_) => {
                for question in batched {
                    self.alone(session, question)?;
                }
            }
        }
        for question in batch.iter().filter(|q| matches!(q.expected, Err(Fault::Error(_)))) {
            self.alone(session, question)?;
        }
        Ok(())
    }

    fn alone(&mut self, session: &mut dyn Session, question: &Question) -> Result<(), ConnectError> {
        match self.wrong(session, question)? {
            Some(actual) => self.differs(session, question, &actual),
            None => Ok(()),
        }
    }

    /// Asks one question alone: what the server says, if that is not what was expected.
    fn wrong(&self, session: &mut dyn Session, question: &Question) -> Result<Option<String>, ConnectError> {
        let sql = format!("SELECT {} FROM t WHERE id = {}", question.item, question.row);
        let answer = ask::ask(session, &sql, ask::LIMIT)?;
        let said = match &answer.reply {
            RawReply::Rows(rows) if rows.len() == 1 => ServerAnswer::Cell(rows.value(0, 0)),
            RawReply::Error(error) => {
                let (class, _) = (dialect::of(self.of.product).classify)(error.code, &error.sqlstate);
                ServerAnswer::Error(class, format!("{} ({} {})", error.message, error.code, error.sqlstate))
            }
            RawReply::Rows(_)
            | RawReply::Done { .. }
            | RawReply::RolledBack
            | RawReply::Unreadable(_)
            | RawReply::Lost => {
                return Err(ConnectError::Gone);
            }
        };
        Ok((!said.fits(&question.expected)).then(|| said.text()))
    }

    /// Files a difference, made as small as its parts allow.
    fn differs(
        &mut self,
        session: &mut dyn Session,
        question: &Question,
        actual: &str,
    ) -> Result<(), ConnectError> {
        self.found.different += 1;
        let smaller = if self.found.different <= SMALL { self.smaller(session, question)? } else { None };
        let (question, actual) = match &smaller {
            Some((question, actual)) => (question, actual.as_str()),
            None => (question, actual),
        };
        let product = self.of.product;
        let row = (!question.item.starts_with("(SELECT")).then_some(question.row);
        let expected = match &question.expected {
            Ok(Expected::Value(datum)) => dialect::sql::print_expr(product, &datum.literal(product)),
            Ok(Expected::Rows(count)) => format!("{count} rows"),
            Err(Fault::Error(class)) => format!("error {}", class.name()),
            Err(Fault::Unsure(reason)) => reason.to_string(),
        };
        let sql = format!("SELECT {}  -- {}", question.item, self.world.about(&question.item, row));
        let named = self.world.named();
        let families =
            question.expr.children().into_iter().map(|child| family(product, &named, child).name());
        let families: Vec<&str> = families.collect();
        let sort = format!(
            "{} {}{}",
            operator(&question.expr).unwrap_or_default(),
            families.join(" "),
            if row.is_some() { "" } else { " in WHERE" }
        );
        let known = self.found.differences.entry(sort).or_insert_with(|| Difference {
            sql: sql.clone(),
            expected: expected.clone(),
            actual: actual.to_string(),
            times: 0,
        });
        known.times += 1;
        // The shortest one tells most.
        if sql.len() < known.sql.len() {
            (known.sql, known.expected, known.actual) = (sql, expected, actual.to_string());
        }
        Ok(())
    }

    /// A smaller question that differs too: the condition of a WHERE on one row, or a part of the expression.
    fn smaller(
        &self,
        session: &mut dyn Session,
        question: &Question,
    ) -> Result<Option<(Question, String)>, ConnectError> {
        let mut smallest: Option<(Question, String)> = None;
        if question.item.starts_with("(SELECT") {
            for row in 0..self.world.rows.len() {
                let on_row = value_question(&self.of, self.world, question.expr.clone(), row);
                if let Some(actual) = self.wrong(session, &on_row)? {
                    smallest = Some((on_row, actual));
                    break;
                }
            }
            if smallest.is_none() {
                return Ok(None);
            }
        }
        loop {
            let (expr, row) =
                smallest.as_ref().map_or((&question.expr, question.row), |(q, _)| (&q.expr, q.row));
            let mut next = None;
            for child in expr.children() {
                let part = value_question(&self.of, self.world, child.clone(), row);
                if let Some(actual) = self.wrong(session, &part)? {
                    next = Some((part, actual));
                    break;
                }
            }
            match next {
                Some(next) => smallest = Some(next),
                None => return Ok(smallest),
            }
        }
    }
}
