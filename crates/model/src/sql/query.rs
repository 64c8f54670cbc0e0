//! SELECT: what is read, from where, in which order, and what it locks.

use super::{Alias, Expr, Ident, ObjectName, Quantifier, keyword::keywords};

/// One or more SELECTs, with what stands at the end of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The first SELECT.
    pub first: QueryPart,
    /// More of them, with what joins each to those before it, in written order.
    pub rest: Vec<(SetOp, Option<Quantifier>, QueryPart)>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    /// FOR UPDATE and its kin.
    pub locks: Vec<Lock>,
}

impl Query {
    /// A query of one SELECT.
    pub fn of(select: Select) -> Query {
        let first = QueryPart::Select(Box::new(select));
        Query { first, rest: Vec::new(), order_by: Vec::new(), limit: None, locks: Vec::new() }
    }

    /// Its sides: one, except in unions.
    pub fn parts(&self) -> impl Iterator<Item = &QueryPart> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, _, part)| part))
    }

    /// Its own SELECTs, without those in parentheses.
    pub fn selects(&self) -> impl Iterator<Item = &Select> {
        self.parts().filter_map(|part| match part {
            QueryPart::Select(select) => Some(&**select),
            QueryPart::Paren(_) => None,
        })
    }
}

/// One side of a UNION.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryPart {
    Select(Box<Select>),
    /// `(SELECT ...)`
    Paren(Box<Query>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// `/*+ ... */` after SELECT, whole and as written.
    pub hint: Option<String>,
    /// DISTINCT or ALL.
    pub quantifier: Option<Quantifier>,
    /// `SQL_NO_CACHE`: not from the query cache of old servers; the others read it and do nothing.
    pub no_cache: bool,
    pub items: Vec<SelectItem>,
    /// After FROM, separated by commas.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    pub group_by: Vec<Expr>,
    pub having: Option<Expr>,
}

/// One column of the result, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectItem {
    /// `*`
    Star,
    /// `t.*`
    TableStar(ObjectName),
    /// `x AS name`
    Expr {
        /// The value.
        expr: Expr,
        alias: Option<Alias>,
    },
}

/// A table and what is joined to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRef {
    pub first: TableFactor,
    /// What is joined to it, in order.
    pub joins: Vec<Join>,
}

impl TableRef {
    /// One table, with nothing said about it.
    pub fn table(name: &str) -> TableRef {
        let first = TableFactor::Table { name: name.into(), alias: None, hints: Vec::new() };
        TableRef { first, joins: Vec::new() }
    }
}

/// What rows come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableFactor {
    /// `t AS x FORCE INDEX (i)`
    Table {
        name: ObjectName,
        /// Its name here.
        alias: Option<Alias>,
        /// Which indexes to use.
        hints: Vec<IndexHint>,
    },
    /// `(SELECT ...) AS x`
    Derived {
        query: Box<Query>,
        /// Its name here.
        alias: Option<Alias>,
    },
    /// `(t JOIN u)`
    Paren(Box<TableRef>),
}

impl TableFactor {
    /// The table's own name, if it is one.
    pub fn table_name(&self) -> Option<&str> {
        match self {
            TableFactor::Table { name, .. } => Some(&name.name.name),
            TableFactor::Derived { .. } | TableFactor::Paren(_) => None,
        }
    }
}

/// Which indexes to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexHint {
    /// `FORCE INDEX FOR JOIN (i)`
    Names {
        /// USE, FORCE or IGNORE.
        action: HintAction,
        /// INDEX or KEY.
        word: super::IndexWord,
        /// After FOR.
        scope: Option<HintScope>,
        /// The indexes; `PRIMARY` is one too.
        names: Vec<Ident>,
    },
    /// `INDEXED BY i`
    IndexedBy(Ident),
    NotIndexed,
}

/// One more table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// How it is joined.
    pub kind: JoinKind,
    pub table: TableFactor,
    /// ON or USING.
    pub condition: Option<JoinCondition>,
}

/// Which rows of two tables belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinCondition {
    /// `ON x`
    On(Expr),
    /// `USING (a, b)`
    Using(Vec<Ident>),
}

/// One key of ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// The key.
    pub expr: Expr,
    /// ASC or DESC.
    pub direction: Option<Direction>,
    /// NULLS FIRST or LAST.
    pub nulls: Option<Nulls>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How many rows.
    pub count: Expr,
    /// How many to skip.
    pub offset: Option<Offset>,
}

/// How many rows to skip, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offset {
    /// `LIMIT count OFFSET n`
    After(Expr),
    /// `LIMIT n, count`
    Before(Expr),
}

/// What a SELECT locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// How strongly, as written.
    pub strength: LockStrength,
    /// Only these tables.
    pub of: Vec<Ident>,
    /// What to do where a row is locked already.
    pub wait: Option<LockWait>,
}

/// What to do where a row is locked already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockWait {
    Nowait,
    SkipLocked,
    /// `WAIT seconds`
    Seconds(String),
}

keywords! {
    /// What joins two SELECTs.
    pub enum SetOp {
        Union = "UNION",
        Except = "EXCEPT",
        Intersect = "INTERSECT",
    }

    /// What a hint says about its indexes.
    pub enum HintAction {
        Use = "USE",
        Force = "FORCE",
        Ignore = "IGNORE",
    }

    /// What a hint is for.
    pub enum HintScope {
        Join = "FOR JOIN",
        OrderBy = "FOR ORDER BY",
        GroupBy = "FOR GROUP BY",
    }

    /// How a table is joined, as written.
    pub enum JoinKind {
        Plain = "JOIN",
        Inner = "INNER JOIN",
        Cross = "CROSS JOIN",
        Left = "LEFT JOIN",
        LeftOuter = "LEFT OUTER JOIN",
        Right = "RIGHT JOIN",
        RightOuter = "RIGHT OUTER JOIN",
        Full = "FULL JOIN",
        FullOuter = "FULL OUTER JOIN",
        Straight = "STRAIGHT_JOIN",
        Natural = "NATURAL JOIN",
        NaturalLeft = "NATURAL LEFT JOIN",
    }

    /// ASC or DESC.
    pub enum Direction {
        Asc = "ASC",
        Desc = "DESC",
    }

    /// Where NULLs go.
    pub enum Nulls {
        First = "NULLS FIRST",
        Last = "NULLS LAST",
    }

    /// How strong a lock is, as written.
    pub enum LockStrength {
        Update = "FOR UPDATE",
        NoKeyUpdate = "FOR NO KEY UPDATE",
        Share = "FOR SHARE",
        KeyShare = "FOR KEY SHARE",
        InShareMode = "LOCK IN SHARE MODE",
    }
}

impl JoinKind {
    /// Does a row stay in it that has no partner?
    pub fn is_outer(self) -> bool {
        use JoinKind::{Full, FullOuter, Left, LeftOuter, NaturalLeft, Right, RightOuter};
        matches!(self, Left | LeftOuter | Right | RightOuter | Full | FullOuter | NaturalLeft)
    }

    /// Is it on the columns that both sides have?
    pub fn is_natural(self) -> bool {
        matches!(self, JoinKind::Natural | JoinKind::NaturalLeft)
    }
}
