//! From the syntax tree to a tree whose types are settled, as PostgreSQL's parser does it: which operator is meant, what
//! is converted, what type a constant in quotes takes from its surroundings. Constants are read here, so a text that is no
//! number is an error before any row is looked at.

use model::{
    ErrorClass,
    sql::{BinaryOp, BoolTest, Expr, InList, LikeOp, Literal, UnaryOp, When},
};

use super::{
    bind_function, cast,
    node::{Arith, Bits, Call, Comparison, Node},
    numeric,
    types::{Ty, TypeModifier, common},
};
use crate::{Datum, Evaluator, Fault};

/// No operator or function takes these types, or they have none in common.
pub(super) const ILL_TYPED: Fault = Fault::Error(ErrorClass::Syntax);
pub(super) const NOT_HERE: Fault = Fault::unsure("an expression that we do not compute");

/// A bound expression, its type, and whether it names a column.
#[derive(Clone, Debug)]
pub(super) struct BoundExpr {
    pub node: Node,
    pub ty: Ty,
    pub columns: bool,
}

type Result<T> = std::result::Result<T, Fault>;

impl BoundExpr {
    pub fn constant(datum: Datum, ty: Ty) -> BoundExpr {
        BoundExpr { node: Node::Const(datum), ty, columns: false }
    }

    /// In the type that its surroundings want, if it goes there by itself.
    pub fn coerced(self, to: Ty) -> Result<BoundExpr> {
        if self.ty.implicit(to) { self.converted(to) } else { Err(ILL_TYPED) }
    }

    /// In another type. Nothing stands in the tree where the value stays as it is.
    pub fn converted(self, to: Ty) -> Result<BoundExpr> {
        let BoundExpr { node, ty, columns } = self;
        let stays = ty == to
            || ty == Ty::Float4 && to == Ty::Float8
            || matches!((ty, to), (Ty::Int2, Ty::Int4 | Ty::Int8) | (Ty::Int4, Ty::Int8))
            || ty.is_string() && to.is_string() && ty != Ty::Bpchar;
        let node = match node {
            Node::Const(Datum::Null) => Node::Const(Datum::Null),
            node if stays => node,
            Node::Const(text @ Datum::Text(_)) if ty == Ty::Unknown => {
                Node::Const(cast::cast(ty, to, &text)?)
            }
            node => Node::Call(Call::Cast(ty, to), vec![node]),
        };
        Ok(BoundExpr { node, ty: to, columns })
    }

    fn condition(self) -> Result<BoundExpr> {
        match self.ty {
            Ty::Bool | Ty::Unknown => self.converted(Ty::Bool),
            _ => Err(ILL_TYPED),
        }
    }
}

pub(super) fn call(call: Call, args: Vec<BoundExpr>, ty: Ty) -> BoundExpr {
    let columns = args.iter().any(|arg| arg.columns);
    BoundExpr { node: Node::Call(call, args.into_iter().map(|arg| arg.node).collect()), ty, columns }
}

pub(super) fn bind(of: &Evaluator, expr: &Expr) -> Result<BoundExpr> {
    match expr {
        Expr::Literal(literal) => constant(of, literal),
        Expr::Column(name) => column(of, name),
        Expr::Paren(inner) => bind(of, inner),
        Expr::Unary { op, expr } => unary(of, *op, expr),
        Expr::Binary { left, op, right } => binary(bind(of, left)?, *op, bind(of, right)?),
        Expr::IsNull { expr, negated, .. } => {
            let arg = bind(of, expr)?;
            Ok(truth(arg.columns, Node::IsNull(Box::new(arg.node), *negated)))
        }
        Expr::IsBool { expr, negated, test } => {
            let arg = bind(of, expr)?.condition()?;
            let wanted = match test {
                BoolTest::True => Some(true),
                BoolTest::False => Some(false),
                BoolTest::Unknown => None,
            };
            Ok(truth(arg.columns, Node::IsBool(Box::new(arg.node), wanted, *negated)))
        }
        Expr::In { expr, negated, list: InList::Exprs(list) } => in_list(of, expr, *negated, list),
        Expr::Between { expr, negated, low, high } => {
            let (item, low, high) = (bind(of, expr)?, bind(of, low)?, bind(of, high)?);
            let ops = if *negated { (BinaryOp::Lt, BinaryOp::Gt) } else { (BinaryOp::Ge, BinaryOp::Le) };
            let (first, second) = (binary(item.clone(), ops.0, low)?, binary(item, ops.1, high)?);
            binary(first, if *negated { BinaryOp::Or } else { BinaryOp::And }, second)
        }
        Expr::Like { expr, negated, op, pattern, escape } => {
            let escape = escape.as_ref().map(|escape| bind(of, escape)).transpose()?;
            like(bind(of, expr)?, *negated, *op, bind(of, pattern)?, escape)
        }
        Expr::Case { operand, whens, otherwise } => case(of, operand.as_deref(), whens, otherwise.as_deref()),
        Expr::Cast { expr, ty, .. } => {
            let (ty, fit) = Ty::named(ty).ok_or(NOT_HERE)?;
            explicit(bind(of, expr)?, ty, fit)
        }
        Expr::Function { name, quantifier: None, args: model::sql::FunctionArgs::List(args) } => {
            let args = args.iter().map(|arg| bind(of, arg)).collect::<Result<Vec<_>>>()?;
            bind_function::bind(of, &name.name, args)
        }
        _ => Err(NOT_HERE),
    }
}

pub(super) fn truth(columns: bool, node: Node) -> BoundExpr {
    BoundExpr { node, ty: Ty::Bool, columns }
}

fn column(of: &Evaluator, name: &model::sql::ColumnRef) -> Result<BoundExpr> {
    let table = name.table.as_ref().map(|table| table.name.name.as_str());
    let is = |column: &crate::Column| {
        column.name == name.name.name && (table.is_none() || column.table.as_deref() == table)
    };
    let at = of.columns.iter().position(is).ok_or(Fault::unsure("a column that is not in the row"))?;
    let column = &of.columns[at];
    if column.collation.as_deref().is_some_and(|name| name != "C") {
        return Err(Fault::unsure("a collation of its own"));
    }
    let padded = match column.ty {
        model::SqlType::Char(length) => Some(usize::from(length)),
        _ => None,
    };
    Ok(BoundExpr { node: Node::Column(at, padded), ty: Ty::of_column(&column.ty), columns: true })
}

fn constant(of: &Evaluator, literal: &Literal) -> Result<BoundExpr> {
    Ok(match literal {
        Literal::Null => BoundExpr::constant(Datum::Null, Ty::Unknown),
        Literal::Bool(b) => BoundExpr::constant(Datum::Bool(*b), Ty::Bool),
        Literal::Number(digits) => number(digits, false)?,
        Literal::Text(written) => {
            let text = dialect::sql::text_value(of.product, written).ok_or(NOT_HERE)?;
            BoundExpr::constant(Datum::Text(text), Ty::Unknown)
        }
        Literal::Bytes(_) => return Err(Fault::unsure("a string of bits")),
    })
}

/// A number has the narrowest type that holds it, with its sign: `-2147483648` is an integer.
fn number(digits: &str, negative: bool) -> Result<BoundExpr> {
    let exact = numeric::parse(digits).ok_or(Fault::unsure("digits of another base"))??;
    let exact = if negative { exact.negated() } else { exact };
    let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    let (datum, ty) = match i64::try_from(exact.unscaled) {
        Ok(n) if whole => (Datum::Int(n), if i32::try_from(n).is_ok() { Ty::Int4 } else { Ty::Int8 }),
        _ => (Datum::Decimal(exact), Ty::Numeric),
    };
    Ok(BoundExpr::constant(datum, ty))
}

/// The number under signs and parentheses, and whether it is negative in the end: the grammar takes them together.
fn signed(expr: &Expr) -> Option<(&str, bool)> {
    match expr {
        Expr::Literal(Literal::Number(digits)) => Some((digits, false)),
        Expr::Paren(inner) => signed(inner),
        Expr::Unary { op: UnaryOp::Neg, expr } => signed(expr).map(|(digits, negative)| (digits, !negative)),
        _ => None,
    }
}

fn unary(of: &Evaluator, op: UnaryOp, expr: &Expr) -> Result<BoundExpr> {
    if let (UnaryOp::Neg, Some((digits, negative))) = (op, signed(expr)) {
        return number(digits, !negative);
    }
    let arg = bind(of, expr)?;
    let ty = arg.ty;
    match op {
        UnaryOp::Not | UnaryOp::Bang => {
            let arg = arg.condition()?;
            Ok(truth(arg.columns, Node::Not(Box::new(arg.node))))
        }
        UnaryOp::Neg | UnaryOp::Plus | UnaryOp::BitNot if ty == Ty::Unknown => {
            Err(Fault::unsure("an operator that has to guess the type of its operand"))
        }
        UnaryOp::Neg if ty.is_number() => Ok(call(Call::Neg(ty), vec![arg], ty)),
        UnaryOp::Plus if ty.is_number() => Ok(arg),
        UnaryOp::BitNot if ty.is_int() => Ok(call(Call::BitNot(ty), vec![arg], ty)),
        UnaryOp::Neg | UnaryOp::Plus | UnaryOp::BitNot => Err(ILL_TYPED),
    }
}

pub(super) fn binary(left: BoundExpr, op: BinaryOp, right: BoundExpr) -> Result<BoundExpr> {
    let columns = left.columns || right.columns;
    match op {
        BinaryOp::And | BinaryOp::Or => {
            let args = vec![left.condition()?.node, right.condition()?.node];
            Ok(truth(columns, if op == BinaryOp::And { Node::And(args) } else { Node::Or(args) }))
        }
        BinaryOp::Eq => comparison(Comparison::Eq, left, right),
        BinaryOp::Ne | BinaryOp::NeBang => comparison(Comparison::Ne, left, right),
        BinaryOp::Lt => comparison(Comparison::Lt, left, right),
        BinaryOp::Le => comparison(Comparison::Le, left, right),
        BinaryOp::Gt => comparison(Comparison::Gt, left, right),
        BinaryOp::Ge => comparison(Comparison::Ge, left, right),
        BinaryOp::IsDistinct | BinaryOp::IsNotDistinct => {
            let (left, right, blanks) = comparable(left, right)?;
            let negated = op == BinaryOp::IsNotDistinct;
            Ok(truth(columns, Node::Distinct(Box::new([left.node, right.node]), negated, blanks)))
        }
        BinaryOp::Add => arithmetic(Arith::Add, left, right),
        BinaryOp::Sub => arithmetic(Arith::Sub, left, right),
        BinaryOp::Mul => arithmetic(Arith::Mul, left, right),
        BinaryOp::Div => arithmetic(Arith::Div, left, right),
        BinaryOp::Rem => arithmetic(Arith::Rem, left, right),
        BinaryOp::BitAnd => bits(Bits::And, left, right),
        BinaryOp::BitOr => bits(Bits::Or, left, right),
        BinaryOp::BitXor => bits(Bits::Xor, left, right),
        BinaryOp::Shl => bits(Bits::Shl, left, right),
        BinaryOp::Shr => bits(Bits::Shr, left, right),
        BinaryOp::Concat => concat(left, right),
        _ => Err(NOT_HERE),
    }
}

fn comparison(op: Comparison, left: BoundExpr, right: BoundExpr) -> Result<BoundExpr> {
    let (left, right, blanks) = comparable(left, right)?;
    Ok(call(Call::Compare(op, blanks), vec![left, right], Ty::Bool))
}

/// Two operands as `=` takes them, and whether blanks at their ends do not matter: where both are CHAR, or one is and the
/// other VARCHAR, which has no operators of its own. Text, the preferred type, wins over CHAR and takes its padding away.
pub(super) fn comparable(left: BoundExpr, right: BoundExpr) -> Result<(BoundExpr, BoundExpr, bool)> {
    let (l, r) = match (left.ty, right.ty) {
        (Ty::Unknown, Ty::Unknown) => (Ty::Text, Ty::Text),
        (Ty::Varchar, Ty::Unknown) | (Ty::Unknown, Ty::Varchar) => (Ty::Text, Ty::Text),
        (Ty::Unknown, ty) | (ty, Ty::Unknown) => (ty, ty),
        (Ty::Bpchar, Ty::Bpchar | Ty::Varchar) | (Ty::Varchar, Ty::Bpchar) => (Ty::Bpchar, Ty::Bpchar),
        (l, r) if l.is_string() && r.is_string() => (Ty::Text, Ty::Text),
        (l, r) if l.is_int() && r.is_int() => (l, r),
        (l, r) if l.is_float() && r.is_float() => (l, r),
        // A whole or an exact number becomes a long binary one even beside a short one.
        (l, r) if l.is_float() && r.is_number() => (l, Ty::Float8),
        (l, r) if l.is_number() && r.is_float() => (Ty::Float8, r),
        (l, r) if l.is_number() && r.is_number() => (Ty::Numeric, Ty::Numeric),
        (Ty::Date | Ty::Timestamp, Ty::Date | Ty::Timestamp) => (left.ty, right.ty),
        (l, r) if l == r => (l, r),
        _ => return Err(ILL_TYPED),
    };
    Ok((left.converted(l)?, right.converted(r)?, l == Ty::Bpchar))
}

fn arithmetic(op: Arith, left: BoundExpr, right: BoundExpr) -> Result<BoundExpr> {
    let ty = match (left.ty, right.ty) {
        (Ty::Unknown, Ty::Unknown) => return Err(ILL_TYPED),
        (Ty::Date, Ty::Int2 | Ty::Int4) if op == Arith::Add => {
            return Ok(call(Call::DayPlus, vec![left, right], Ty::Date));
        }
        (Ty::Int2 | Ty::Int4, Ty::Date) if op == Arith::Add => {
            // The server turns the operands around, by a function that it expands: the order of errors is the same.
            return Ok(call(Call::DayPlus, vec![right, left], Ty::Date));
        }
        (Ty::Date, Ty::Int2 | Ty::Int4) if op == Arith::Sub => {
            return Ok(call(Call::DayMinus, vec![left, right], Ty::Date));
        }
        (Ty::Date, Ty::Date) if op == Arith::Sub => {
            return Ok(call(Call::DaysBetween, vec![left, right], Ty::Int4));
        }
        (Ty::Date | Ty::Timestamp, _) | (_, Ty::Date | Ty::Timestamp) => {
            return Err(Fault::unsure("arithmetic with times"));
        }
        (Ty::Unknown, ty) | (ty, Ty::Unknown) => ty,
        (l, r) if l.is_int() && r.is_int() => l.wider(r),
        (Ty::Float4, Ty::Float4) => Ty::Float4,
        (l, r) if (l.is_float() || r.is_float()) && l.is_number() && r.is_number() => Ty::Float8,
        (l, r) if l.is_number() && r.is_number() => Ty::Numeric,
        _ => return Err(ILL_TYPED),
    };
    if !ty.is_number() || op == Arith::Rem && ty.is_float() {
        return Err(ILL_TYPED);
    }
    Ok(call(Call::Arith(op, ty), vec![left.converted(ty)?, right.converted(ty)?], ty))
}

fn bits(op: Bits, left: BoundExpr, right: BoundExpr) -> Result<BoundExpr> {
    if left.ty == Ty::Unknown || right.ty == Ty::Unknown && !left.ty.is_int() {
        // Strings of bits have these operators too.
        return match (left.ty, right.ty) {
            (Ty::Unknown, ty) if ty.is_int() && !matches!(op, Bits::Shl | Bits::Shr) => {
                Ok(call(Call::Bits(op, ty), vec![left.converted(ty)?, right], ty))
            }
            _ => Err(Fault::unsure("an operator that has to guess the type of its operand")),
        };
    }
    let whole = |ty: Ty| ty.is_int() || ty == Ty::Unknown;
    if !whole(left.ty) || !whole(right.ty) {
        return Err(ILL_TYPED);
    }
    if matches!(op, Bits::Shl | Bits::Shr) {
        let ty = left.ty;
        return Ok(call(Call::Bits(op, ty), vec![left, right.coerced(Ty::Int4)?], ty));
    }
    let ty = if right.ty == Ty::Unknown { left.ty } else { left.ty.wider(right.ty) };
    Ok(call(Call::Bits(op, ty), vec![left.converted(ty)?, right.converted(ty)?], ty))
}

/// `||`: one side must be a string; the other is written as text.
fn concat(left: BoundExpr, right: BoundExpr) -> Result<BoundExpr> {
    let string = |ty: Ty| ty.is_string() || ty == Ty::Unknown;
    match (left.ty, right.ty) {
        (Ty::Bytea, Ty::Bytea | Ty::Unknown) | (Ty::Unknown, Ty::Bytea) => {
            let args = vec![left.converted(Ty::Bytea)?, right.converted(Ty::Bytea)?];
            Ok(call(Call::Concat, args, Ty::Bytea))
        }
        (l, r) if string(l) || string(r) => {
            let args = vec![written(left)?, written(right)?];
            Ok(call(Call::Concat, args, Ty::Text))
        }
        _ => Err(ILL_TYPED),
    }
}

/// As text, by whatever cast there is.
pub(super) fn written(arg: BoundExpr) -> Result<BoundExpr> {
    arg.converted(Ty::Text)
}

/// The part of the list that names no column is looked through as one array, of the type that it and the item have in
/// common; the rest is compared one by one, after it.
fn in_list(of: &Evaluator, expr: &Expr, negated: bool, list: &[Expr]) -> Result<BoundExpr> {
    let item = bind(of, expr)?;
    let list = list.iter().map(|part| bind(of, part)).collect::<Result<Vec<_>>>()?;
    let op = if negated { BinaryOp::Ne } else { BinaryOp::Eq };
    let mut tests = Vec::new();
    let mut rest = Vec::new();
    let mut columns = item.columns;
    let fixed = list.iter().filter(|part| !part.columns).count();
    let types = list.iter().filter(|part| !part.columns).map(|part| part.ty);
    let shared = if fixed > 1 { common(std::iter::once(item.ty).chain(types)) } else { None };
    match shared {
        Some(ty) if list.iter().all(|part| part.columns || part.ty.implicit(ty)) && item.ty.implicit(ty) => {
            let (parts, others): (Vec<_>, Vec<_>) = list.into_iter().partition(|part| !part.columns);
            let mut array = Vec::with_capacity(parts.len());
            let mut side = None;
            let mut same = false;
            for part in parts {
                let (left, right, blanks) = comparable(item.clone(), part.coerced(ty)?)?;
                (side, same) = (Some(left.node), blanks);
                array.push(right.node);
            }
            let item = Box::new(side.ok_or(NOT_HERE)?);
            tests.push(Node::InArray { negated, blanks: same, item, list: array });
            rest = others;
        }
        _ => rest.extend(list),
    }
    for part in rest {
        columns |= part.columns;
        tests.push(binary(item.clone(), op, part)?.node);
    }
    let node = match tests.len() {
        1 => tests.remove(0),
        _ if negated => Node::And(tests),
        _ => Node::Or(tests),
    };
    Ok(truth(columns, node))
}

fn like(
    text: BoundExpr,
    negated: bool,
    op: LikeOp,
    pattern: BoundExpr,
    escape: Option<BoundExpr>,
) -> Result<BoundExpr> {
    let ignores_case = match op {
        LikeOp::Like => false,
        LikeOp::Ilike => true,
        LikeOp::Glob | LikeOp::Regexp | LikeOp::Rlike => return Err(NOT_HERE),
    };
    let string = |ty: Ty| ty.is_string() || ty == Ty::Unknown;
    if !string(text.ty) || !string(pattern.ty) {
        return Err(if text.ty == Ty::Bytea { NOT_HERE } else { ILL_TYPED });
    }
    // There is an operator for CHAR as it is, padding and all; its pattern is text.
    let text = if text.ty == Ty::Bpchar { text } else { text.converted(Ty::Text)? };
    let mut pattern = pattern.converted(Ty::Text)?;
    if let Some(escape) = escape {
        if !string(escape.ty) {
            return Err(ILL_TYPED);
        }
        pattern = call(Call::LikeEscape, vec![pattern, escape.converted(Ty::Text)?], Ty::Text);
    }
    let found = call(Call::Like { ignores_case }, vec![text, pattern], Ty::Bool);
    Ok(if negated { truth(found.columns, Node::Not(Box::new(found.node))) } else { found })
}

fn case(
    of: &Evaluator,
    operand: Option<&Expr>,
    whens: &[When],
    otherwise: Option<&Expr>,
) -> Result<BoundExpr> {
    let operand = match operand.map(|operand| bind(of, operand)).transpose()? {
        Some(bound) if bound.ty == Ty::Unknown => Some(bound.converted(Ty::Text)?),
        other => other,
    };
    let (mut tests, mut results) = (Vec::with_capacity(whens.len()), Vec::with_capacity(whens.len()));
    for when in whens {
        let test = bind(of, &when.when)?;
        tests.push(match &operand {
            Some(operand) => binary(operand.clone(), BinaryOp::Eq, test)?,
            None => test.condition()?,
        });
        results.push(bind(of, &when.then)?);
    }
    let otherwise = match otherwise {
        Some(otherwise) => bind(of, otherwise)?,
        None => BoundExpr::constant(Datum::Null, Ty::Unknown),
    };
    // What ELSE gives counts first.
    let types = std::iter::once(otherwise.ty).chain(results.iter().map(|result| result.ty));
    let ty = common(types).ok_or(ILL_TYPED)?;
    let columns = tests.iter().chain(&results).any(|bound| bound.columns) || otherwise.columns;
    let mut made = Vec::with_capacity(tests.len());
    for (test, result) in tests.into_iter().zip(results) {
        made.push((test.node, result.coerced(ty)?.node));
    }
    let otherwise = Box::new(otherwise.coerced(ty)?.node);
    Ok(BoundExpr { node: Node::Case { whens: made, otherwise }, ty, columns })
}

fn explicit(arg: BoundExpr, to: Ty, fit: Option<TypeModifier>) -> Result<BoundExpr> {
    let from = arg.ty;
    let allowed = from == Ty::Unknown
        || from == to
        || from.is_string()
        || to.is_string()
        || from.is_number() && to.is_number()
        || matches!((from, to), (Ty::Bool, Ty::Int4) | (Ty::Int4, Ty::Bool))
        || matches!((from, to), (Ty::Date | Ty::Timestamp, Ty::Date | Ty::Timestamp));
    if !allowed {
        // Version 18 turns whole numbers into bytes and back.
        let bytes = from.is_int() && to == Ty::Bytea || from == Ty::Bytea && to.is_int();
        return Err(if bytes { NOT_HERE } else { ILL_TYPED });
    }
    let made = arg.converted(to)?;
    Ok(match fit {
        Some(fit) => call(Call::Fit(fit), vec![made], to),
        None => made,
    })
}
