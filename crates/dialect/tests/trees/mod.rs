//! Random syntax trees without parentheses, of a dialect's own operators and clauses.

use dialect::SqlFamily;
use model::{Product, sql::*};
use proptest::{option, prelude::*, sample::select};

fn is_sqlite(product: Product) -> bool {
    product == Product::Sqlite
}

fn is_postgres(product: Product) -> bool {
    product == Product::Postgres
}

fn is_mysql(product: Product) -> bool {
    matches!(product, Product::Mysql | Product::Mariadb | Product::Reference)
}

fn ident(product: Product) -> impl Strategy<Value = Ident> {
    let quote = if is_mysql(product) { Quote::Backtick } else { Quote::Double };
    let quoted = select(vec!["select", "my col", "a`b", "q\"q", "ü.x", "Order"]);
    prop_oneof![
        8 => select(vec!["a", "b", "c1", "T_x", "value", "größe"]).prop_map(Ident::new),
        1 => quoted.prop_map(move |name| Ident { name: name.to_string(), quote }),
    ]
}

fn object(product: Product) -> impl Strategy<Value = ObjectName> {
    (option::weighted(0.2, ident(product)), ident(product))
        .prop_map(|(schema, name)| ObjectName { schema, name })
}

fn column(product: Product) -> impl Strategy<Value = ColumnRef> {
    (option::weighted(0.3, object(product)), ident(product))
        .prop_map(|(table, name)| ColumnRef { table, name })
}

fn literal(product: Product) -> impl Strategy<Value = Literal> {
    let mut numbers = vec!["0", "1", "42", "1.5", "2e-3", ".5"];
    let mut strings = vec!["''", "'x'", "'it''s'", "'--'", "'/*'"];
    if is_postgres(product) {
        strings.extend([r"'\'", r"E'\''"]);
    } else {
        numbers.push("0x1F");
    }
    prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        select(numbers).prop_map(|n| Literal::Number(n.to_string())),
        select(strings).prop_map(|s| Literal::Text(s.to_string())),
        Just(Literal::Bytes("x'00ff'".to_string())),
    ]
}

fn binary_ops(product: Product) -> Vec<BinaryOp> {
    use BinaryOp::*;
    let mut ops =
        vec![Or, And, Eq, Ne, NeBang, Lt, Le, Gt, Ge, BitOr, BitAnd, Shl, Shr, Add, Sub, Mul, Div, Rem];
    let more: &[BinaryOp] = match dialect::of(product).family {
        SqlFamily::Sqlite => &[EqEq, Is, IsNot, Concat],
        SqlFamily::Mysql => &[OrBars, Xor, AndAmps, NullSafeEq, IntDiv, Mod, BitXor],
        SqlFamily::Postgres => {
            &[IsDistinct, IsNotDistinct, Concat, BitXor, Power, Match, NotMatch, MatchNoCase, NotMatchNoCase]
        }
    };
    ops.extend(more);
    ops
}

fn unary_ops(product: Product) -> Vec<UnaryOp> {
    use UnaryOp::*;
    if is_mysql(product) { vec![Not, Neg, Plus, BitNot, Bang] } else { vec![Not, Neg, Plus, BitNot] }
}

fn type_name(product: Product) -> impl Strategy<Value = TypeName> {
    let words = match dialect::of(product).family {
        SqlFamily::Mysql => vec!["SIGNED", "char", "DECIMAL"],
        SqlFamily::Postgres => vec!["numeric", "VARCHAR"],
        SqlFamily::Sqlite => vec!["INTEGER", "text"],
    };
    (select(words), option::of(1u64..20)).prop_map(|(word, arg)| TypeName {
        args: if word == "SIGNED" { Vec::new() } else { arg.map(Literal::number).into_iter().collect() },
        ..TypeName::new(word)
    })
}

/// Any expression.
pub fn expr(product: Product) -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        3 => literal(product).prop_map(Expr::Literal),
        4 => column(product).prop_map(Expr::Column),
        1 => Just(Expr::BareFunction("CURRENT_TIMESTAMP".into())),
        1 => Just(if is_mysql(product) { Expr::Variable("@@session.x".to_string()) } else { Expr::column("v") }),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let boxed = inner.clone().prop_map(Box::new).boxed();
        let list = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            4 => (boxed.clone(), select(unary_ops(product))).prop_map(|(expr, op)| Expr::Unary { op, expr }),
            10 => (boxed.clone(), select(binary_ops(product)), boxed.clone()).prop_map(binary),
            2 => (boxed.clone(), any::<bool>(), 0..3u8).prop_map(move |(expr, negated, how)| {
                let spelling = match how {
                    1 if !is_mysql(product) => NullSpelling::OneWord,
                    2 if is_sqlite(product) && negated => NullSpelling::NotNull,
                    _ => NullSpelling::Is,
                };
                Expr::IsNull { expr, negated, spelling }
            }),
            2 => (boxed.clone(), any::<bool>(), any::<bool>()).prop_map(|(expr, negated, t)| {
                Expr::IsBool { expr, negated, test: if t { BoolTest::True } else { BoolTest::False } }
            }),
            2 => (boxed.clone(), any::<bool>(), in_list(product, inner.clone()))
                .prop_map(|(expr, negated, list)| Expr::In { expr, negated, list }),
            2 => (boxed.clone(), any::<bool>(), boxed.clone(), boxed.clone())
                .prop_map(|(expr, negated, low, high)| Expr::Between { expr, negated, low, high }),
            2 => (boxed.clone(), any::<bool>(), boxed.clone(), option::of(boxed.clone())).prop_map(
                |(expr, negated, pattern, escape)| Expr::Like { expr, negated, op: LikeOp::Like, pattern, escape }
            ),
            1 => (boxed.clone(), any::<bool>(), boxed.clone()).prop_map(
                move |(expr, negated, pattern)| {
                    let op = if is_postgres(product) { LikeOp::Ilike } else { LikeOp::Regexp };
                    Expr::Like { expr, negated, op, pattern, escape: None }
                }
            ),
            1 => boxed.clone().prop_map(|expr| Expr::Collate { expr, collation: "nocase".into() }),
            1 => (option::of(boxed.clone()), inner.clone(), inner.clone(), option::of(boxed.clone())).prop_map(
                |(operand, when, then, otherwise)| Expr::Case { operand, whens: vec![When { when, then }], otherwise }
            ),
            2 => (boxed.clone(), type_name(product), any::<bool>()).prop_map(move |(expr, ty, colons)| {
                let colons = colons && is_postgres(product);
                let spelling = if colons { CastSpelling::Colons } else { CastSpelling::Call };
                Expr::Cast { expr, ty, spelling }
            }),
            2 => (select(vec!["f", "COUNT", "Max"]), any::<bool>(), list.clone()).prop_map(|(name, distinct, list)| {
                let quantifier = distinct.then_some(Quantifier::Distinct);
                Expr::Function { name: name.into(), quantifier, args: FunctionArgs::List(list) }
            }),
            1 => (boxed.clone(), list).prop_map(|(first, mut list)| {
                list.push(*first);
                Expr::Row(list)
            }),
            1 => query_of(product, inner.clone()).prop_map(|q| Expr::Subquery(Box::new(q))),
            1 => query_of(product, inner).prop_map(|q| Expr::Exists(Box::new(q))),
        ]
    })
    .boxed()
}

/// `IS NULL` and `IS TRUE` have nodes of their own, so IS gets no such right side.
fn binary((left, op, right): (Box<Expr>, BinaryOp, Box<Expr>)) -> Expr {
    let is = matches!(op, BinaryOp::Is | BinaryOp::IsNot);
    let own_node = is && matches!(*right, Expr::Literal(Literal::Null | Literal::Bool(_)));
    Expr::Binary { left, op, right: if own_node { Box::new(Expr::column("a")) } else { right } }
}

/// One subquery alone in a list would be read as the query to look into.
fn in_list(
    product: Product,
    inner: impl Strategy<Value = Expr> + Clone + 'static,
) -> impl Strategy<Value = InList> {
    prop_oneof![
        prop::collection::vec(inner.clone(), 1..4).prop_map(|mut list| {
            if matches!(list[..], [Expr::Subquery(_)]) {
                list.push(Expr::int(1));
            }
            InList::Exprs(list)
        }),
        query_of(product, inner).prop_map(|q| InList::Query(Box::new(q))),
    ]
}

fn alias(product: Product) -> impl Strategy<Value = Option<Alias>> {
    option::of((any::<bool>(), ident(product)).prop_map(|(as_word, name)| Alias { as_word, name }))
}

fn table_ref(
    product: Product,
    inner: impl Strategy<Value = Expr> + 'static,
) -> impl Strategy<Value = TableRef> {
    use JoinKind::*;
    let hint = match dialect::of(product).family {
        SqlFamily::Sqlite => vec![IndexHint::IndexedBy("i".into())],
        SqlFamily::Postgres => Vec::new(),
        SqlFamily::Mysql => {
            let names = vec!["i".into(), "PRIMARY".into()];
            vec![IndexHint::Names { action: HintAction::Force, word: IndexWord::Index, scope: None, names }]
        }
    };
    let factor = move || {
        let hint = hint.clone();
        (object(product), alias(product), any::<bool>()).prop_map(move |(name, alias, hinted)| {
            TableFactor::Table { name, alias, hints: if hinted { hint.clone() } else { Vec::new() } }
        })
    };
    let kinds = select(vec![Plain, Inner, Cross, Left, LeftOuter, Right, RightOuter]);
    let join = (kinds, factor(), inner).prop_map(|(kind, table, on)| {
        let condition = if kind == Cross { None } else { Some(JoinCondition::On(on)) };
        Join { kind, table, condition }
    });
    (factor(), prop::collection::vec(join, 0..2)).prop_map(|(first, joins)| TableRef { first, joins })
}

fn order_by(inner: impl Strategy<Value = Expr>) -> impl Strategy<Value = Vec<OrderItem>> {
    let direction = option::of(select(vec![Direction::Asc, Direction::Desc]));
    prop::collection::vec(
        (inner, direction).prop_map(|(expr, direction)| OrderItem { expr, direction, nulls: None }),
        0..2,
    )
}

fn limit(product: Product) -> impl Strategy<Value = Option<Limit>> {
    let ways = if is_postgres(product) { 2 } else { 3u8 };
    option::of((0..9i64, 0..ways).prop_map(|(n, how)| Limit {
        count: Expr::int(n),
        offset: match how {
            0 => None,
            1 => Some(Offset::After(Expr::int(1))),
            _ => Some(Offset::Before(Expr::int(2))),
        },
    }))
}

fn locks(product: Product) -> impl Strategy<Value = Vec<Lock>> {
    let lock = |strength, wait| vec![Lock { strength, of: Vec::new(), wait }];
    let mut choices = vec![Vec::new()];
    if !is_sqlite(product) {
        choices.push(lock(LockStrength::Update, None));
        choices.push(lock(LockStrength::Update, Some(LockWait::SkipLocked)));
    }
    if is_mysql(product) {
        choices.push(lock(LockStrength::InShareMode, None));
    }
    if matches!(product, Product::Mysql | Product::Postgres | Product::Reference) {
        choices.push(lock(LockStrength::Share, Some(LockWait::Nowait)));
    }
    if is_postgres(product) {
        choices.push(lock(LockStrength::NoKeyUpdate, None));
        choices.push(lock(LockStrength::KeyShare, Some(LockWait::SkipLocked)));
    }
    select(choices)
}

fn select_of(
    product: Product,
    inner: impl Strategy<Value = Expr> + Clone + 'static,
) -> impl Strategy<Value = Select> {
    let item = prop_oneof![
        Just(SelectItem::Star),
        object(product).prop_map(SelectItem::TableStar),
        (inner.clone(), alias(product)).prop_map(|(expr, alias)| SelectItem::Expr { expr, alias }),
    ];
    let from = prop::collection::vec(table_ref(product, inner.clone()), 1..3);
    let group = prop::collection::vec(inner.clone(), 0..2);
    (prop::collection::vec(item, 1..3), from, option::of(inner.clone()), group, option::of(inner)).prop_map(
        |(items, from, filter, group_by, having)| {
            let having = having.filter(|_| !group_by.is_empty());
            Select { hint: None, quantifier: None, no_cache: false, items, from, filter, group_by, having }
        },
    )
}

fn query_of(
    product: Product,
    inner: impl Strategy<Value = Expr> + Clone + 'static,
) -> impl Strategy<Value = Query> {
    let select = select_of(product, inner.clone());
    let more = (select_of(product, inner.clone()), any::<bool>());
    (select, option::weighted(0.2, more), order_by(inner), limit(product), locks(product)).prop_map(
        |(first, more, order_by, limit, locks)| {
            let rest = more.map(|(s, all)| {
                (SetOp::Union, all.then_some(Quantifier::All), QueryPart::Select(Box::new(s)))
            });
            Query { rest: rest.into_iter().collect(), order_by, limit, locks, ..Query::of(first) }
        },
    )
}

fn assignments(product: Product) -> impl Strategy<Value = Vec<Assignment>> {
    let value = prop_oneof![1 => Just(Expr::Default), 5 => expr(product)];
    prop::collection::vec(
        (column(product), value).prop_map(move |(mut column, value)| {
            column.table = column.table.filter(|_| !is_postgres(product));
            Assignment { column, value }
        }),
        1..3,
    )
}

fn insert(product: Product) -> impl Strategy<Value = Insert> {
    let rows = prop::collection::vec(prop::collection::vec(expr(product), 1..3), 1..3);
    let columns = option::of(prop::collection::vec(ident(product), 1..3));
    let verbs = if is_postgres(product) {
        vec![InsertVerb::Insert]
    } else {
        vec![InsertVerb::Insert, InsertVerb::Replace]
    };
    let verb = select(verbs);
    (verb, object(product), columns, rows, option::of(assignments(product))).prop_map(
        move |(verb, table, columns, rows, update)| {
            let update = update.unwrap_or_default();
            let (mut on_duplicate, mut on_conflict) = (Vec::new(), Vec::new());
            if !is_mysql(product) && !update.is_empty() {
                let action = ConflictAction::Update { assignments: update, filter: None };
                on_conflict.push(Conflict { target: vec!["a".into()], action });
            } else {
                on_duplicate = update;
            }
            Insert {
                verb,
                modifier: None,
                into: true,
                table,
                columns,
                source: InsertSource::Values { word: ValuesWord::Values, rows },
                on_duplicate,
                on_conflict,
                returning: Vec::new(),
            }
        },
    )
}

fn create_table(product: Product) -> impl Strategy<Value = CreateTable> {
    let option = prop_oneof![
        Just(ColumnOption::NotNull),
        Just(ColumnOption::PrimaryKey(None)),
        Just(ColumnOption::Unique { key: false }),
        expr(product).prop_map(ColumnOption::Check),
        expr(product).prop_map(ColumnOption::Default),
    ];
    let column = (ident(product), type_name(product), prop::collection::vec(option, 0..3))
        .prop_map(|(name, ty, options)| TableItem::Column(TableColumn { name, ty: Some(ty), options }));
    (object(product), prop::collection::vec(column, 1..3), expr(product)).prop_map(
        |(name, mut items, check)| {
            let kinds = [Constraint::PrimaryKey(vec!["a".into()]), Constraint::Check(check)];
            items.extend(kinds.map(|kind| TableItem::Constraint(TableConstraint { name: None, kind })));
            CreateTable {
                temporary: false,
                if_not_exists: false,
                name,
                items,
                options: Vec::new(),
                partition: None,
            }
        },
    )
}

/// Any statement.
pub fn statement(product: Product) -> impl Strategy<Value = Statement> {
    let tail = || {
        (option::of(expr(product)), order_by(expr(product)), limit(product)).prop_map(
            move |(filter, order, limit)| {
                if is_postgres(product) { (filter, Vec::new(), None) } else { (filter, order, limit) }
            },
        )
    };
    let others = || {
        let most = usize::from(is_postgres(product));
        prop::collection::vec(table_ref(product, Just(Expr::int(1))), 0..=most)
    };
    let update = (table_ref(product, Just(Expr::int(1))), assignments(product), others(), tail()).prop_map(
        move |(mut table, assignments, from, (filter, order_by, limit))| {
            if is_postgres(product) {
                table.joins.clear();
            }
            if is_sqlite(product) {
                table.joins.clear();
                if let TableFactor::Table { alias: Some(alias), .. } = &mut table.first {
                    alias.as_word = true;
                }
            }
            let (modifier, returning) = (None, Vec::new());
            Statement::Update(Update {
                modifier,
                tables: vec![table],
                assignments,
                from,
                filter,
                order_by,
                limit,
                returning,
            })
        },
    );
    let delete = (object(product), others(), tail()).prop_map(|(name, using, (filter, order_by, limit))| {
        let table = TableFactor::Table { name, alias: None, hints: Vec::new() };
        Statement::Delete(Delete {
            ignore: false,
            table,
            using,
            filter,
            order_by,
            limit,
            returning: Vec::new(),
        })
    });
    prop_oneof![
        4 => query_of(product, expr(product)).prop_map(Statement::Query),
        1 => insert(product).prop_map(Statement::Insert),
        1 => update,
        1 => delete,
        1 => create_table(product).prop_map(Statement::CreateTable),
    ]
}
