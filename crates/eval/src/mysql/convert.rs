//! A value as what an operator asks for: a whole number, a binary number, an exact number, text, a truth value.

use model::sql::Expr;

use super::{DIGITS, Row, types::Class};
use crate::{Datum, Decimal, Fault, dates};

/// The number at the beginning of a text, as far as it goes; nothing of it is 0.
fn prefix(text: &str, point: bool) -> &str {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let start = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut end = digits(start);
    let mut any = end > start;
    if point && bytes.get(end) == Some(&b'.') {
        let part = digits(end + 1);
        any |= part > end + 1;
        end = part;
    }
    if !any {
        return "0";
    }
    if point && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let power = digits(end + 1 + sign);
        if power > end + 1 + sign {
            end = power;
        }
    }
    &text[..end]
}

/// A day as a number: 20200229.
fn day_number(year: i32, month: u8, day: u8) -> i64 {
    i64::from(year) * 10_000 + i64::from(month) * 100 + i64::from(day)
}

/// A moment as a number: 20200229235958.
fn moment_number(year: i32, month: u8, day: u8, seconds: u32) -> i64 {
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    day_number(year, month, day) * 1_000_000 + i64::from(hour * 10_000 + minute * 100 + second)
}

fn bytes_text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::unsure("bytes that are no text, as text"))
}

/// As a whole number of 64 bits, whatever its sign means.
pub(super) fn int(datum: &Datum) -> Result<Option<u64>, Fault> {
    Ok(Some(match datum {
        Datum::Null => return Ok(None),
        Datum::Bool(b) => u64::from(*b),
        Datum::Int(n) => *n as u64,
        Datum::UInt(n) => *n,
        Datum::Decimal(d) => {
            let whole = d.rescale(0).ok_or(DIGITS)?.unscaled;
            i64::try_from(whole).map_err(|_| Fault::unsure("a whole number from a large exact one"))? as u64
        }
        Datum::Double(d) => {
            let whole = d.round_ties_even();
            if whole.abs() >= 9.0e18 {
                return Err(Fault::unsure("a whole number from a large binary one"));
            }
            whole as i64 as u64
        }
        Datum::Text(text) => from_text(text)?,
        Datum::Bytes(bytes) => from_text(bytes_text(bytes)?)?,
        Datum::Date(y, m, d) => day_number(*y, *m, *d) as u64,
        Datum::DateTime(y, m, d, s) => moment_number(*y, *m, *d, *s) as u64,
    }))
}

fn from_text(text: &str) -> Result<u64, Fault> {
    let n = prefix(text, false).parse::<i64>();
    n.map(|n| n as u64).map_err(|_| Fault::unsure("a whole number from a long string"))
}

pub(super) fn real(datum: &Datum) -> Result<Option<f64>, Fault> {
    let text = |text: &str| prefix(text, true).parse::<f64>().unwrap_or(0.0);
    Ok(Some(match datum {
        Datum::Null => return Ok(None),
        Datum::Bool(b) => f64::from(u8::from(*b)),
        Datum::Int(n) => *n as f64,
        Datum::UInt(n) => *n as f64,
        Datum::Decimal(d) => d.to_f64(),
        Datum::Double(d) => *d,
        Datum::Text(value) => text(value),
        Datum::Bytes(bytes) => text(bytes_text(bytes)?),
        Datum::Date(..) | Datum::DateTime(..) => int(datum)?.unwrap_or(0) as f64,
    }))
}

pub(super) fn decimal(datum: &Datum) -> Result<Option<Decimal>, Fault> {
    Ok(Some(match datum {
        Datum::Null => return Ok(None),
        Datum::Bool(b) => Decimal::whole(i64::from(*b)),
        Datum::Int(n) => Decimal::whole(*n),
        Datum::UInt(n) => Decimal::whole(*n),
        Datum::Decimal(d) => *d,
        Datum::Double(d) => Decimal::parse(&plain_text(*d)?).ok_or(DIGITS)?,
        Datum::Text(text) => text_decimal(text)?,
        Datum::Bytes(bytes) => text_decimal(bytes_text(bytes)?)?,
        Datum::Date(..) | Datum::DateTime(..) => Decimal::whole(int(datum)?.unwrap_or(0) as i64),
    }))
}

fn text_decimal(text: &str) -> Result<Decimal, Fault> {
    Decimal::parse(prefix(text, true)).ok_or(Fault::unsure("an exact number from an odd string"))
}

/// How a binary number is written. What is longer than this is written with a power of ten by some versions.
fn double_text(d: f64) -> Result<String, Fault> {
    const LONGEST: usize = 22;
    let text = plain_text(d)?;
    if text.len() > LONGEST {
        return Err(LONG);
    }
    if halfway(d, &text) {
        return Err(Fault::unsure("a binary number halfway between two texts"));
    }
    Ok(text)
}

/// Is there another text of as many digits that is as near to the number?
fn halfway(d: f64, text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    let all = format!("{:.30e}", d.abs());
    let mut rest = all.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).skip(digits);
    rest.next() == Some(b'5') && rest.all(|byte| byte == b'0')
}

const LONG: Fault = Fault::unsure("the text of a very large or small binary number");

fn plain_text(d: f64) -> Result<String, Fault> {
    if d == 0.0 && d.is_sign_negative() {
        // Releases of one branch differ: MariaDB 10.11.5 writes -0, 10.11.19 writes 0.
        return Err(Fault::unsure("a negative zero as text"));
    }
    if d == 0.0 {
        return Ok("0".to_string());
    }
    if !(1e-5..1e15).contains(&d.abs()) {
        return Err(LONG);
    }
    Ok(format!("{d}"))
}

pub(super) fn text(datum: &Datum) -> Result<Option<String>, Fault> {
    Ok(Some(match datum {
        Datum::Null => return Ok(None),
        Datum::Bool(b) => u8::from(*b).to_string(),
        Datum::Int(n) => n.to_string(),
        Datum::UInt(n) => n.to_string(),
        Datum::Decimal(d) => d.to_string(),
        Datum::Double(d) => double_text(*d)?,
        Datum::Text(text) => text.clone(),
        Datum::Bytes(bytes) => bytes_text(bytes)?.to_string(),
        Datum::Date(y, m, d) => dates::day_text(*y, *m, *d),
        Datum::DateTime(y, m, d, s) => dates::moment_text(*y, *m, *d, *s),
    }))
}

/// As a truth value: not zero.
pub(super) fn truth(datum: &Datum) -> Result<Option<bool>, Fault> {
    Ok(match datum {
        Datum::Decimal(d) => Some(!d.is_zero()),
        Datum::Int(n) => Some(*n != 0),
        Datum::UInt(n) => Some(*n != 0),
        _ => real(datum)?.map(|d| d != 0.0),
    })
}

impl Row<'_> {
    pub fn int(&self, expr: &Expr) -> Result<Option<u64>, Fault> {
        self.no_split(expr)?;
        if self.rules.null_safe_null && extreme(expr) && self.ty(expr)?.class == Class::Double {
            return Err(Fault::unsure("LEAST of binary numbers as a whole one"));
        }
        let raw = self.raw(expr)?;
        let whole = int(&raw)?;
        let class = self.ty(expr)?.class;
        if class == Class::Decimal && matches!(raw, Datum::UInt(n) if n > i64::MAX as u64) {
            return Err(Fault::unsure("a whole number from a large exact one"));
        }
        // A choice that is a binary number in all: versions differ in whether the branch is asked or the whole.
        if class == Class::Double
            && !matches!(raw, Datum::Double(_))
            && int(&real(&raw)?.map_or(Datum::Null, Datum::Double))? != whole
        {
            return Err(Fault::unsure("a whole number from a choice of binary numbers"));
        }
        Ok(whole)
    }

    pub fn real(&self, expr: &Expr) -> Result<Option<f64>, Fault> {
        self.no_split(expr)?;
        real(&self.raw(expr)?)
    }

    pub fn decimal(&self, expr: &Expr) -> Result<Option<Decimal>, Fault> {
        self.no_split(expr)?;
        let raw = self.raw(expr)?;
        let large = matches!(raw, Datum::Int(n) if n.unsigned_abs() > 1 << 53)
            || matches!(raw, Datum::UInt(n) if n > 1 << 53);
        if large && self.ty(expr)?.class == Class::Double {
            return Err(Fault::unsure("an exact number from a choice of binary numbers"));
        }
        decimal(&raw)
    }

    pub fn text(&self, expr: &Expr) -> Result<Option<String>, Fault> {
        if self.rules.bare_branches && bare(expr) {
            return self.chosen(expr)?.map_or(Ok(None), |chosen| self.text(chosen));
        }
        text(&self.shown(expr)?)
    }

    pub fn truth(&self, expr: &Expr) -> Result<Option<bool>, Fault> {
        self.no_split(expr)?;
        if self.rules.null_safe_null && extreme(expr) {
            return Err(Fault::unsure("LEAST as a condition"));
        }
        truth(&self.raw(expr)?)
    }

    /// Refuses LEAST and GREATEST of strings as a number where they compare the numbers then, not the strings.
    pub fn no_split(&self, expr: &Expr) -> Result<(), Fault> {
        if !self.rules.split_extremes && !self.rules.mariadb {
            return Ok(());
        }
        match expr {
            Expr::Paren(inner) => self.no_split(inner),
            // MariaDB takes the digits behind the point away: 3 = CAST(3.01 AS CHAR).
            Expr::Cast { expr: inner, .. } if self.rules.mariadb && self.ty(expr)?.class == Class::Text => {
                match self.ty(inner)?.class {
                    Class::Int | Class::Date | Class::DateTime | Class::Null => Ok(()),
                    // And it shows no more digits than those beside it have.
                    _ => Err(Fault::unsure("the number of a CAST to CHAR")),
                }
            }
            _ if self.rules.split_extremes && extreme(expr) => match self.ty(expr)?.class {
                Class::Text => Err(Fault::unsure("the least of strings as a number")),
                _ => Ok(()),
            },
            _ => self.chosen(expr)?.map_or(Ok(()), |chosen| self.no_split(chosen)),
        }
    }

    /// As what a SELECT shows: in its own type.
    pub fn shown(&self, expr: &Expr) -> Result<Datum, Fault> {
        if let Expr::Paren(inner) = expr {
            return self.shown(inner);
        }
        let ty = self.ty(expr)?;
        let chosen = self.chosen(expr)?;
        if ty.class.is_string() {
            // A text is that of the chosen one, and if that is a choice, too, perhaps of its branch.
            if let Some(chosen) = chosen {
                return Ok(match (ty.class, self.shown(chosen)?) {
                    (Class::Bytes, shown @ Datum::Bytes(_)) => shown,
                    (Class::Bytes, _) => {
                        self.text(chosen)?.map_or(Datum::Null, |text| Datum::Bytes(text.into_bytes()))
                    }
                    _ => self.text(chosen)?.map_or(Datum::Null, Datum::Text),
                });
            }
            return self.raw(expr);
        }
        // An exact number is sent as text, and that is the branch's own.
        if self.rules.bare_branches && ty.class == Class::Decimal && (bare(expr) || nullif(expr)) {
            self.raw(expr)?;
            return chosen.map_or(Ok(Datum::Null), |chosen| self.shown(chosen));
        }
        self.typed(&self.raw(expr)?, ty)
    }

    /// The value in a type.
    pub(super) fn typed(&self, raw: &Datum, ty: super::types::Ty) -> Result<Datum, Fault> {
        if raw.is_null() {
            return Ok(Datum::Null);
        }
        Ok(match ty.class {
            Class::Null => Datum::Null,
            Class::Int => whole(int(raw)?.unwrap_or(0), ty.unsigned, raw)?,
            Class::Decimal => {
                let exact = decimal(raw)?.unwrap_or(Decimal::whole(0));
                Datum::Decimal(exact.rescale(ty.scale).ok_or(DIGITS)?)
            }
            Class::Double => {
                let d = real(raw)?.unwrap_or(0.0);
                if ty.narrow && !fits_float(d) {
                    return Err(Fault::unsure("more digits than a FLOAT holds"));
                }
                Datum::Double(d)
            }
            Class::Text | Class::Bytes => text(raw)?.map_or(Datum::Null, Datum::Text),
            Class::Date => match raw {
                Datum::DateTime(y, m, d, _) | Datum::Date(y, m, d) => Datum::Date(*y, *m, *d),
                _ => return Err(Fault::unsure("a date from something else")),
            },
            Class::DateTime => match raw {
                Datum::Date(y, m, d) => Datum::DateTime(*y, *m, *d, 0),
                Datum::DateTime(..) => raw.clone(),
                _ => return Err(Fault::unsure("a date from something else")),
            },
        })
    }
}

/// Does a FLOAT hold it, and show it with its six digits?
fn fits_float(d: f64) -> bool {
    f64::from(d as f32) == d && format!("{d:.5e}").parse() == Ok(d)
}

/// LEAST and GREATEST.
pub(super) fn extreme(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => extreme(inner),
        Expr::Function { name, .. } => {
            ["LEAST", "GREATEST"].iter().any(|known| name.name.eq_ignore_ascii_case(known))
        }
        _ => false,
    }
}

fn nullif(expr: &Expr) -> bool {
    matches!(expr, Expr::Function { name, .. } if name.name.eq_ignore_ascii_case("NULLIF"))
}

/// CASE and IF.
fn bare(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => bare(inner),
        Expr::Case { .. } => true,
        Expr::Function { name, .. } => name.name.eq_ignore_ascii_case("IF"),
        _ => false,
    }
}

fn whole(bits: u64, unsigned: bool, raw: &Datum) -> Result<Datum, Fault> {
    let negative = match raw {
        Datum::UInt(_) => false,
        _ => (bits as i64) < 0,
    };
    match (unsigned, negative, bits > i64::MAX as u64) {
        (true, true, _) | (false, false, true) => {
            Err(Fault::unsure("signed and unsigned numbers in one result"))
        }
        (true, false, _) => Ok(Datum::UInt(bits)),
        (false, _, _) => Ok(Datum::Int(bits as i64)),
    }
}
