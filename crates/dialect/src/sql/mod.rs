//! SQL as a tree and back: one lexer, parser and printer, steered by each dialect's `rules`.
//!
//! A step of a case is text, and that text is what is sent. [`parse`] gives a tree beside it only if printing
//! that tree gives the same tokens: keywords compared without regard to case, everything else exactly, comments
//! and blanks ignored. So whoever reasons about the tree reasons about what was sent. All other texts are
//! [`Parsed::Opaque`], with the reason; that is no error, the text runs all the same.
//!
//! ```text
//! SELECT a FROM t WHERE a != 1      a tree, which remembers `!=`
//! SELECT /*+ NO_ICP(t) */ a FROM t  opaque: the server reads that comment
//! ALTER TABLE t ADD b INT           opaque: not in the grammar
//! ```
//!
//! [`print`] writes any tree, also one that was never text, and adds the parentheses that it needs.

mod facts;
mod parse;
mod parse_change;
mod parse_control;
mod parse_ddl;
mod parse_expr;
mod parse_query;
mod print;
mod print_change;
mod print_control;
mod print_ddl;
mod print_expr;
mod print_query;
mod reach;
mod rules;
pub(crate) mod rules_mysql;
pub(crate) mod rules_postgres;
pub(crate) mod rules_sqlite;
pub mod schema;
mod setup;
mod shape;
mod stored_type;
mod text;
mod token;
mod types;
mod words;

use std::borrow::Cow;

use model::{
    Product,
    sql::{Expr, Statement},
};

use parse::Parser;
use print::{Out, PrintedToken};
pub use rules::Clauses;
pub(crate) use rules::Rules;
use token::{Token, TokenKind};

pub use facts::{StatementFacts, facts};
pub use reach::{Reach, reach};
pub use schema::Schema;
pub(crate) use setup::read as read_setup;
pub use setup::setup;
pub use stored_type::StoredType;
pub use text::{text_literal, text_value};
pub use types::column_type;

/// Why a text has no tree, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (at byte {at})")]
pub struct Opaque {
    /// The reason, for people.
    pub reason: String,
    /// The offset in the text, in bytes.
    pub at: usize,
}

/// A text that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // nearly always a tree
pub enum Parsed {
    /// A tree that prints to the same tokens.
    Tree(Statement),
    /// No tree.
    Opaque(Opaque),
}

impl Parsed {
    /// The tree, if there is one.
    pub fn tree(self) -> Option<Statement> {
        match self {
            Parsed::Tree(statement) => Some(statement),
            Parsed::Opaque(_) => None,
        }
    }
}

/// Looks at one statement, without its closing semicolon.
pub fn parse(product: Product, text: &str) -> Parsed {
    match try_parse(Rules::of(product), text) {
        Ok(statement) => Parsed::Tree(statement),
        Err(opaque) => Parsed::Opaque(opaque),
    }
}

/// Writes a statement in a product's dialect.
pub fn print(product: Product, statement: &Statement) -> String {
    let mut out = Out::new(Rules::of(product));
    out.statement(statement);
    out.text()
}

/// Writes an expression in a product's dialect.
pub fn print_expr(product: Product, expr: &Expr) -> String {
    let mut out = Out::new(Rules::of(product));
    out.expr(expr);
    out.text()
}

/// The tokens of a text as written, without comments and blanks: what a reducer works on where there is no tree.
pub fn split_tokens(product: Product, text: &str) -> Result<Vec<String>, Opaque> {
    let tokens = token::tokens(Rules::of(product), text)?;
    Ok(tokens.into_iter().map(|t| t.text.to_string()).collect())
}

/// Where a comment ends, in bytes, given what follows its `/*`; none if it does not.
pub fn comment_end(product: Product, comment: &str) -> Option<usize> {
    token::comment_end(comment, Rules::of(product).nested_comments)
}

fn try_parse(rules: &'static Rules, text: &str) -> Result<Statement, Opaque> {
    let tokens = token::tokens(rules, text)?;
    let statement = Parser::new(rules, text, &tokens).whole_statement()?;
    let mut out = Out::new(rules);
    out.statement(&statement);
    let printed = out.text();
    // What was printed in the first place prints as it was.
    let again =
        if printed == text { Cow::Borrowed(&tokens) } else { Cow::Owned(token::tokens(rules, &printed)?) };
    if again.len() != tokens.len() || again.len() != out.pieces.len() {
        return Err(Opaque { reason: "it prints to another number of tokens".to_string(), at: 0 });
    }
    for ((token, again), piece) in tokens.iter().zip(again.iter()).zip(&out.pieces) {
        if !same(token, again, piece) {
            let reason = format!("`{}` prints as `{}`", token.text, again.text);
            return Err(Opaque { reason, at: token.at });
        }
    }
    Ok(statement)
}

/// Is the token of the text what was printed, and the printed text read as it was meant?
fn same(token: &Token, again: &Token, piece: &PrintedToken) -> bool {
    let read_back = again.text == piece.text && token.kind == again.kind;
    let keyword = piece.keyword && token.kind == TokenKind::Word;
    read_back && if keyword { token.text.eq_ignore_ascii_case(again.text) } else { token.text == again.text }
}
