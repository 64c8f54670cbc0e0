//! Does our grammar group operators as the servers do? Every two of them, one behind the other, are sent as they are and
//! with the parentheses that our tree has: both must come to the same.

mod common;

use common::{
    SERVERS,
    table::{self, Own, run},
};
use dbms::{
    mysql::MysqlSession,
    net::Login,
    postgres::{PgSession, locks::wait_notices::WaitNotices, session::PgConnectOptions},
};
use dialect::sql::{parse, print};
use execute::{RawReply, Session};
use model::{
    Product,
    sql::{CastSpelling, Expr, Statement, VisitMut},
};

/// What may stand between two operands, or behind the first; `?` is where the second goes.
const COMMON: [&str; 21] = [
    "OR ?",
    "AND ?",
    "= ?",
    "<> ?",
    "!= ?",
    "< ?",
    "<= ?",
    "> ?",
    ">= ?",
    "| ?",
    "& ?",
    "<< ?",
    ">> ?",
    "+ ?",
    "- ?",
    "* ?",
    "/ ?",
    "% ?",
    "IS NULL",
    "BETWEEN 1 AND ?",
    "IN (1, ?)",
];
const POSTGRES: [&str; 14] = [
    "|| ?",
    "# ?",
    "^ ?",
    "~ ?",
    "!~ ?",
    "~* ?",
    "IS DISTINCT FROM ?",
    "IS TRUE",
    "ISNULL",
    "LIKE ?",
    "NOT ILIKE ?",
    "::text",
    "COLLATE \"C\"",
    "BETWEEN ? AND 3",
];
const MYSQL: [&str; 11] = [
    "|| ?",
    "^ ?",
    "XOR ?",
    "&& ?",
    "DIV ?",
    "MOD ?",
    "<=> ?",
    "IS TRUE",
    "LIKE ?",
    "REGEXP ?",
    "NOT BETWEEN ? AND 3",
];
const BEFORE: [&str; 5] = ["", "NOT ", "-", "+", "~"];

/// Numbers, texts and truths: what an operator does not take is an error, which must be the same in both.
const OPERANDS: [[&str; 3]; 4] =
    [["7", "2", "3"], ["1", "0", "2"], ["'a'", "'b'", "'a'"], ["TRUE", "FALSE", "NULL"]];

/// Writes the parentheses that nobody needs.
struct Everywhere;

impl VisitMut for Everywhere {
    fn expr(&mut self, expr: &mut Expr) {
        let operator = matches!(
            expr,
            Expr::Unary { .. }
                | Expr::Binary { .. }
                | Expr::IsNull { .. }
                | Expr::IsBool { .. }
                | Expr::In { .. }
                | Expr::Between { .. }
                | Expr::Like { .. }
                | Expr::Collate { .. }
                | Expr::Cast { spelling: CastSpelling::Colons, .. }
        );
        if operator {
            *expr = Expr::Paren(Box::new(std::mem::replace(expr, Expr::Default)));
        }
    }
}

/// What a statement comes to: its rows, or its error by number and state.
fn came(session: &mut dyn Session, sql: &str) -> String {
    match run(session, sql).reply {
        RawReply::Rows(rows) => rows.texts().join(" "),
        RawReply::Error(error) => format!("error {} {}", error.code, error.sqlstate),
        other => panic!("{sql}: {other:?}"),
    }
}

/// Compares all of them; gives how many had a tree.
fn compare(session: &mut dyn Session, product: Product, operators: &[&str]) -> usize {
    let mut trees = 0;
    for (first, second) in
        operators.iter().flat_map(|first| operators.iter().map(move |second| (first, second)))
    {
        for before in BEFORE {
            let mut groupings = Vec::new();
            for [a, b, c] in OPERANDS {
                let text = format!("SELECT {before}{a} {} {}", first.replace('?', b), second.replace('?', c));
                let Some(mut tree) = parse(product, &text).tree() else { continue };
                tree.visit_mut(&mut Everywhere);
                let grouped = print(product, &tree);
                let (plain, meant) = (came(session, &text), came(session, &grouped));
                if plain != meant {
                    groupings.push(format!("{text} is {plain}\n{grouped} is {meant}"));
                }
                assert!(matches!(tree, Statement::Query(_)));
                trees += 1;
            }
            assert!(groupings.is_empty(), "on {product}:\n{}", groupings.join("\n"));
        }
    }
    trees
}

fn on_postgres(own: &Own) {
    let login = Login { user: "postgres".to_string(), ..Login::default() };
    let (address, database) = (own.address.clone(), "postgres".to_string());
    let connect = PgConnectOptions { address, login, database, settings: Vec::new() };
    let mut session = PgSession::connect(&connect, &WaitNotices::default()).unwrap();
    let trees = compare(&mut session, Product::Postgres, &[&COMMON[..], &POSTGRES].concat());
    assert!(trees > 5_000, "{trees}");
}

fn on_mysql(own: &Own) {
    let mut session = MysqlSession::connect(&own.address, &Login::default(), None).unwrap();
    let info = dbms::mysql::server::describe(&mut session).unwrap();
    let trees = compare(&mut session, info.product, &[&COMMON[..], &MYSQL].concat());
    assert!(trees > 5_000, "{trees}");
}

#[test]
fn operators_bind_as_they_do_in_postgres() {
    table::on_each(&["postgres@18"], on_postgres);
}

#[test]
fn operators_bind_as_they_do_in_the_mysql_family() {
    table::on_each(&SERVERS, on_mysql);
}
