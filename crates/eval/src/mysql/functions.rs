//! The functions, by name.

use std::cmp::Ordering;

use model::sql::Expr;

use super::{
    DIGITS, OVERFLOW, Row,
    arithmetic::wide,
    collation, convert,
    types::{Class, SYNTAX, Ty},
};
use crate::{Datum, Fault};

impl Row<'_> {
    pub fn function(&self, expr: &Expr, name: &str, args: &[Expr]) -> Result<Datum, Fault> {
        match (name.to_ascii_uppercase().as_str(), args) {
            ("COALESCE" | "IFNULL" | "IF" | "NULLIF", _) => self.chosen_raw(expr),
            ("LEAST", args) => self.extreme(expr, args, Ordering::Less),
            ("GREATEST", args) => self.extreme(expr, args, Ordering::Greater),
            ("ABS", [arg]) => self.abs(expr, arg),
            ("MOD", [left, right]) => self.arithmetic(left, model::sql::BinaryOp::Mod, right),
            ("SIGN", [arg]) => Ok(self
                .real(arg)?
                .map_or(Datum::Null, |d| Datum::Int(i64::from(d > 0.0) - i64::from(d < 0.0)))),
            ("ROUND", [arg, ..]) => self.rounded(expr, arg),
            ("FLOOR", [arg]) => self.whole(expr, arg, false),
            ("CEIL" | "CEILING", [arg]) => self.whole(expr, arg, true),
            ("YEAR", [arg]) => self.part(arg, |(y, _, _)| i64::from(y)),
            ("MONTH", [arg]) => self.part(arg, |(_, m, _)| i64::from(m)),
            ("DAY", [arg]) => self.part(arg, |(_, _, d)| i64::from(d)),
            ("LENGTH", [arg]) => match self.shown(arg)? {
                Datum::Bytes(bytes) => Ok(Datum::Int(bytes.len() as i64)),
                _ => Ok(self.text(arg)?.map_or(Datum::Null, |text| Datum::Int(text.len() as i64))),
            },
            ("CHAR_LENGTH", [arg]) => {
                Ok(self.text(arg)?.map_or(Datum::Null, |text| Datum::Int(text.chars().count() as i64)))
            }
            (name, args) => self.text_function(expr, name, args),
        }
    }

    fn text_function(&self, expr: &Expr, name: &str, args: &[Expr]) -> Result<Datum, Fault> {
        let ty = self.ty(expr)?;
        if ty.coll.strength == collation::Coercibility::None {
            return Err(collation::MIX);
        }
        if ty.class == Class::Bytes {
            return Err(Fault::unsure("a function of bytes"));
        }
        if name == "REPLACE" && self.rules.late_replace {
            return self.late_replace(args);
        }
        let mut texts = Vec::new();
        let strings = match name {
            "CONCAT" | "REPLACE" => args.len(),
            _ => 1,
        };
        let (strings, numbers) = args.split_at(strings.min(args.len()));
        for arg in strings {
            match self.text(arg)? {
                Some(text) => texts.push(text),
                None => {
                    // MariaDB and old MySQL ask for the numbers all the same.
                    if self.rules.negative_zero {
                        numbers.iter().try_for_each(|arg| self.int(arg).map(drop))?;
                    }
                    return Ok(Datum::Null);
                }
            }
        }
        let mut counts = Vec::new();
        for arg in numbers {
            match self.int(arg)? {
                Some(n) => counts.push(n as i64),
                None => return Ok(Datum::Null),
            }
        }
        let result = match (name, &texts[..], &counts[..]) {
            ("CONCAT", texts, _) => texts.concat(),
            ("UPPER", [text], []) => text.to_ascii_uppercase(),
            ("LOWER", [text], []) => text.to_ascii_lowercase(),
            ("TRIM", [text], []) => text.trim_matches(' ').to_string(),
            ("LTRIM", [text], []) => text.trim_start_matches(' ').to_string(),
            ("RTRIM", [text], []) => text.trim_end_matches(' ').to_string(),
            ("REPLACE", [text, from, to], []) if from.is_empty() => {
                let _ = to;
                text.clone()
            }
            ("REPLACE", [text, from, to], []) => text.replace(from.as_str(), to),
            ("LEFT", [text], [n]) => text.chars().take((*n).max(0) as usize).collect(),
            ("RIGHT", [text], [n]) => {
                let skipped = text.chars().count().saturating_sub((*n).max(0) as usize);
                text.chars().skip(skipped).collect()
            }
            ("SUBSTR", [text], [from, rest @ ..]) => {
                let many = rest.first().map_or(usize::MAX, |n| (*n).max(0) as usize);
                if *from < 1 {
                    return Err(Fault::unsure("SUBSTR from the end"));
                }
                text.chars().skip(*from as usize - 1).take(many).collect()
            }
            _ => return Err(SYNTAX),
        };
        Ok(Datum::Text(result))
    }

    /// REPLACE that does not care whether the new text is NULL if there is nothing to replace.
    fn late_replace(&self, args: &[Expr]) -> Result<Datum, Fault> {
        let [text, from, to] = args else { return Err(SYNTAX) };
        let Some(text) = self.text(text)? else { return Ok(Datum::Null) };
        let Some(from) = self.text(from)? else { return Ok(Datum::Null) };
        let to = self.text(to)?;
        if from.is_empty() || !text.contains(&from) {
            return Ok(Datum::Text(text));
        }
        Ok(to.map_or(Datum::Null, |to| Datum::Text(text.replace(&from, &to))))
    }

    fn extreme(&self, expr: &Expr, args: &[Expr], wanted: Ordering) -> Result<Datum, Fault> {
        let ty = self.ty(expr)?;
        if ty.class == Class::Bytes {
            return Err(Fault::unsure("a function of bytes"));
        }
        let mut best: Option<Datum> = None;
        let signs: Vec<bool> =
            args.iter().map(|arg| Ok(self.ty(arg)?.unsigned)).collect::<Result<_, Fault>>()?;
        let mixed = ty.class == Class::Int && !self.rules.mixed_signs && signs.contains(&true);
        for arg in args {
            let value = match ty.class {
                Class::Text => self.text(arg)?.map_or(Datum::Null, Datum::Text),
                Class::Int => self.raw(arg)?,
                _ => self.kept(&self.raw(arg)?, ty)?,
            };
            if value.is_null() {
                return Ok(Datum::Null);
            }
            if mixed && matches!(value, Datum::UInt(n) if n > i64::MAX as u64) {
                return Err(Fault::unsure("signed and unsigned numbers in one result"));
            }
            best = match best {
                None => Some(value),
                Some(best) => {
                    let order = self.order_in(ty, &value, &best)?;
                    let last = self.rules.last_greatest && wanted == Ordering::Greater;
                    Some(if order == wanted || order.is_eq() && last { value } else { best })
                }
            };
        }
        best.ok_or(SYNTAX)
    }

    /// In the type's class, but with all the digits that it has.
    fn kept(&self, raw: &Datum, ty: Ty) -> Result<Datum, Fault> {
        match ty.class {
            Class::Decimal => Ok(convert::decimal(raw)?.map_or(Datum::Null, Datum::Decimal)),
            _ => self.typed(raw, ty),
        }
    }

    fn order_in(&self, ty: Ty, a: &Datum, b: &Datum) -> Result<Ordering, Fault> {
        let odd = Fault::unsure("the least of values of several types");
        match (a, b) {
            (Datum::Text(a), Datum::Text(b)) => collation::compare(&self.rules, ty.coll, a, b),
            (Datum::Decimal(a), Datum::Decimal(b)) => Ok(a.compare(*b)),
            (Datum::Double(a), Datum::Double(b)) => a.partial_cmp(b).ok_or(odd),
            (Datum::Int(_) | Datum::UInt(_), Datum::Int(_) | Datum::UInt(_)) => Ok(wide(a)?.cmp(&wide(b)?)),
            (Datum::Date(y, m, d), Datum::Date(y2, m2, d2)) => Ok((y, m, d).cmp(&(y2, m2, d2))),
            (Datum::DateTime(y, m, d, s), Datum::DateTime(y2, m2, d2, s2)) => {
                Ok((y, m, d, s).cmp(&(y2, m2, d2, s2)))
            }
            _ => Err(odd),
        }
    }

    fn abs(&self, expr: &Expr, arg: &Expr) -> Result<Datum, Fault> {
        let ty = self.ty(expr)?;
        self.no_split(arg)?;
        let raw = self.raw(arg)?;
        if raw.is_null() {
            return Ok(Datum::Null);
        }
        Ok(match ty.class {
            Class::Int if ty.unsigned => raw,
            Class::Int => Datum::Int(i64::try_from(wide(&raw)?.abs()).map_err(|_| OVERFLOW)?),
            Class::Decimal => {
                let exact = convert::decimal(&raw)?.ok_or(DIGITS)?;
                Datum::Decimal(if exact.unscaled < 0 { exact.negated() } else { exact })
            }
            _ => Datum::Double(convert::real(&raw)?.unwrap_or(0.0).abs()),
        })
    }

    fn rounded(&self, expr: &Expr, arg: &Expr) -> Result<Datum, Fault> {
        let ty = self.ty(expr)?;
        match (ty.class, self.raw(arg)?) {
            (_, Datum::Null) => Ok(Datum::Null),
            (Class::Decimal, raw) => {
                let exact = convert::decimal(&raw)?.ok_or(DIGITS)?;
                Ok(Datum::Decimal(exact.rescale(ty.scale).ok_or(DIGITS)?))
            }
            (_, raw) => Ok(raw),
        }
    }

    fn whole(&self, expr: &Expr, arg: &Expr, up: bool) -> Result<Datum, Fault> {
        self.ty(expr)?;
        match self.raw(arg)? {
            Datum::Decimal(d) => {
                let unit = crate::decimal::power(d.scale).ok_or(DIGITS)?;
                let down = d.unscaled.div_euclid(unit);
                let whole = down + i128::from(up && d.unscaled.rem_euclid(unit) != 0);
                i64::try_from(whole).map(Datum::Int).map_err(|_| Fault::unsure("FLOOR of a large number"))
            }
            other => Ok(other),
        }
    }

    fn part(&self, arg: &Expr, part: impl Fn((i32, u8, u8)) -> i64) -> Result<Datum, Fault> {
        match self.raw(arg)? {
            Datum::Null => Ok(Datum::Null),
            Datum::Date(y, m, d) | Datum::DateTime(y, m, d, _) => Ok(Datum::Int(part((y, m, d)))),
            _ => Err(Fault::unsure("a part of something that is no date")),
        }
    }
}
