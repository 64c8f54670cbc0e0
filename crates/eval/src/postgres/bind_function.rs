//! Which function a name and the types of its arguments mean.

use model::sql::BinaryOp;

use super::{
    bind::{BoundExpr, ILL_TYPED, NOT_HERE, binary, call, comparable, written},
    node::{Call, Function, Node},
    types::{Ty, common},
};
use crate::{Datum, Evaluator, Fault};

type Result<T> = std::result::Result<T, Fault>;

pub(super) fn bind(of: &Evaluator, name: &str, args: Vec<BoundExpr>) -> Result<BoundExpr> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "coalesce" => {
            let (ty, columns, args) = alike(args)?;
            Ok(BoundExpr { node: Node::Coalesce(args), ty, columns })
        }
        "greatest" | "least" => {
            let (ty, columns, args) = alike(args)?;
            let node = Node::Extreme { greatest: name == "greatest", blanks: ty == Ty::Bpchar, args };
            Ok(BoundExpr { node, ty, columns })
        }
        "nullif" => {
            let [left, right] = exactly(args)?;
            let columns = left.columns || right.columns;
            // Its type is that of the first operand as `=` takes it.
            let (left, right, blanks) = comparable(left, right)?;
            let ty = left.ty;
            // Version 13 never computes it ahead.
            let ahead = of.version.0.first().is_none_or(|major| *major >= 14);
            let args = Box::new([left.node, right.node]);
            Ok(BoundExpr { node: Node::NullIf { args, blanks, ahead }, ty, columns })
        }
        "concat" | "concat_ws" => {
            let columns = args.iter().any(|arg| arg.columns);
            let args = args.into_iter().map(|arg| shown(arg).map(|arg| arg.node)).collect::<Result<_>>()?;
            Ok(BoundExpr {
                node: Node::Concat { separated: name == "concat_ws", args },
                ty: Ty::Text,
                columns,
            })
        }
        "abs" | "sign" | "round" | "trunc" | "floor" | "ceil" | "ceiling" => number(&name, args),
        "mod" => {
            let [left, right] = exactly(args)?;
            binary(left, BinaryOp::Rem, right)
        }
        _ => text(&name, args),
    }
}

fn exactly<const N: usize>(args: Vec<BoundExpr>) -> Result<[BoundExpr; N]> {
    args.try_into().map_err(|_| ILL_TYPED)
}

/// All in the type that they have in common.
fn alike(args: Vec<BoundExpr>) -> Result<(Ty, bool, Vec<Node>)> {
    let ty = common(args.iter().map(|arg| arg.ty)).ok_or(ILL_TYPED)?;
    let columns = args.iter().any(|arg| arg.columns);
    let args = args.into_iter().map(|arg| arg.coerced(ty).map(|arg| arg.node)).collect::<Result<_>>()?;
    Ok((ty, columns, args))
}

/// `concat` writes a value as a result shows it: a truth value as `t`, a CHAR with its padding.
fn shown(arg: BoundExpr) -> Result<BoundExpr> {
    match arg.ty {
        Ty::Bpchar => Ok(BoundExpr { ty: Ty::Text, ..arg }),
        Ty::Bool => {
            let columns = arg.columns;
            let letter = |text: &str| Node::Const(Datum::Text(text.to_string()));
            let test = |wanted| Node::IsBool(Box::new(arg.node.clone()), Some(wanted), false);
            let whens = vec![(test(true), letter("t")), (test(false), letter("f"))];
            let otherwise = Box::new(Node::Const(Datum::Null));
            Ok(BoundExpr { node: Node::Case { whens, otherwise }, ty: Ty::Text, columns })
        }
        _ => written(arg),
    }
}

fn number(name: &str, mut args: Vec<BoundExpr>) -> Result<BoundExpr> {
    let digits = match (name, args.len()) {
        (_, 1) => None,
        ("round" | "trunc", 2) => args.pop(),
        _ => return Err(ILL_TYPED),
    };
    let arg = args.pop().ok_or(ILL_TYPED)?;
    let ty = match arg.ty {
        // With digits there is only the exact one.
        ty if digits.is_some() => match ty {
            Ty::Float4 | Ty::Float8 => return Err(ILL_TYPED),
            _ => Ty::Numeric,
        },
        Ty::Unknown => Ty::Float8,
        ty if ty.is_int() && name == "abs" => ty,
        Ty::Float4 if name == "abs" => Ty::Float4,
        Ty::Numeric => Ty::Numeric,
        // The others have none of their own for whole numbers, and prefer the binary ones.
        _ => Ty::Float8,
    };
    let function = match name {
        "abs" => Function::Abs(ty),
        "sign" => Function::Sign(ty),
        "round" => Function::Round(ty),
        "trunc" => Function::Trunc(ty),
        "floor" => Function::Floor(ty),
        _ => Function::Ceil(ty),
    };
    let mut args = vec![arg.coerced(ty)?];
    args.extend(digits.map(|digits| digits.coerced(Ty::Int4)).transpose()?);
    Ok(call(Call::Function(function), args, ty))
}

fn text(name: &str, mut args: Vec<BoundExpr>) -> Result<BoundExpr> {
    let first = args.first().map(|arg| arg.ty);
    // What the arguments are, and what comes out.
    let (function, takes, gives): (_, &[Ty], _) = match (name, args.len()) {
        ("length" | "char_length" | "character_length", 1) => match first {
            Some(Ty::Bytea) if name == "length" => (Function::Length, &[Ty::Bytea], Ty::Int4),
            _ => (Function::Length, &[Ty::Text], Ty::Int4),
        },
        ("octet_length", 1) => match first {
            Some(ty @ (Ty::Bytea | Ty::Bpchar)) => {
                let takes: &[Ty] = if ty == Ty::Bytea { &[Ty::Bytea] } else { &[Ty::Bpchar] };
                (Function::OctetLength, takes, Ty::Int4)
            }
            _ => (Function::OctetLength, &[Ty::Text], Ty::Int4),
        },
        ("upper", 1) => (Function::Upper, &[Ty::Text], Ty::Text),
        ("lower", 1) => (Function::Lower, &[Ty::Text], Ty::Text),
        ("substr" | "substring", 2 | 3) => match first {
            Some(Ty::Bytea) => (Function::Substr, &[Ty::Bytea, Ty::Int4, Ty::Int4], Ty::Bytea),
            _ => (Function::Substr, &[Ty::Text, Ty::Int4, Ty::Int4], Ty::Text),
        },
        ("left", 2) => (Function::Left, &[Ty::Text, Ty::Int4], Ty::Text),
        ("right", 2) => (Function::Right, &[Ty::Text, Ty::Int4], Ty::Text),
        ("trim" | "btrim", 1 | 2) => (Function::Trim(true, true), &[Ty::Text, Ty::Text], Ty::Text),
        ("ltrim", 1 | 2) => (Function::Trim(true, false), &[Ty::Text, Ty::Text], Ty::Text),
        ("rtrim", 1 | 2) => (Function::Trim(false, true), &[Ty::Text, Ty::Text], Ty::Text),
        ("replace", 3) => (Function::Replace, &[Ty::Text; 3], Ty::Text),
        ("reverse", 1) => (Function::Reverse, &[Ty::Text], Ty::Text),
        ("strpos", 2) => (Function::Strpos, &[Ty::Text, Ty::Text], Ty::Int4),
        ("repeat", 2) => (Function::Repeat, &[Ty::Text, Ty::Int4], Ty::Text),
        ("lpad", 2 | 3) => (Function::Pad { left: true }, &[Ty::Text, Ty::Int4, Ty::Text], Ty::Text),
        ("rpad", 2 | 3) => (Function::Pad { left: false }, &[Ty::Text, Ty::Int4, Ty::Text], Ty::Text),
        ("ascii", 1) => (Function::Ascii, &[Ty::Text], Ty::Int4),
        _ => return Err(NOT_HERE),
    };
    if first == Some(Ty::Bytea) && takes[0] != Ty::Bytea {
        return Err(NOT_HERE);
    }
    // What is left out of these is a blank.
    let blank = matches!(function, Function::Trim(..) | Function::Pad { .. });
    if blank && args.len() < takes.len() {
        args.push(BoundExpr::constant(Datum::Text(" ".to_string()), Ty::Text));
    }
    let args = args.into_iter().zip(takes).map(|(arg, ty)| arg.coerced(*ty)).collect::<Result<Vec<_>>>()?;
    Ok(call(Call::Function(function), args, gives))
}
