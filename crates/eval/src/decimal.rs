//! Exact numbers: a whole number of up to 38 digits and where its point is. What needs more digits gives nothing.

use std::{cmp::Ordering, fmt};

/// `unscaled / 10^scale`, exactly. Two numbers with another scale are other numbers to `==`; see [`Decimal::compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// All digits as one whole number.
    pub unscaled: i128,
    /// How many of them stand behind the point.
    pub scale: u8,
}

/// `10^n`, as far as it fits.
pub fn power(n: u8) -> Option<i128> {
    10i128.checked_pow(u32::from(n))
}

impl Decimal {
    pub fn whole(n: impl Into<i128>) -> Decimal {
        Decimal { unscaled: n.into(), scale: 0 }
    }

    /// Reads `-12.50`: digits with at most one point among them.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let all = || whole.bytes().chain(part.bytes());
        if all().next().is_none() || !all().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut unscaled: i128 = 0;
        for digit in all() {
            unscaled = unscaled.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        let scale = u8::try_from(part.len()).ok()?;
        Some(Decimal { unscaled: if negative { -unscaled } else { unscaled }, scale })
    }

    /// The same value with another number of digits behind the point. What is lost is rounded half away from zero.
    pub fn rescale(self, scale: u8) -> Option<Decimal> {
        if scale >= self.scale {
            let unscaled = self.unscaled.checked_mul(power(scale - self.scale)?)?;
            return Some(Decimal { unscaled, scale });
        }
        let unit = match power(self.scale - scale) {
            Some(unit) => unit,
            // All digits are far behind the new last one.
            None => return Some(Decimal { unscaled: 0, scale }),
        };
        let (whole, rest) = (self.unscaled / unit, self.unscaled % unit);
        let up = i128::from(rest.unsigned_abs() >= (unit / 2) as u128) * self.unscaled.signum();
        Some(Decimal { unscaled: whole + up, scale })
    }

    /// Cuts off digits behind the point.
    pub fn truncate(self, scale: u8) -> Option<Decimal> {
        match self.scale.checked_sub(scale) {
            None | Some(0) => self.rescale(scale),
            Some(less) => {
                Some(Decimal { unscaled: power(less).map_or(0, |unit| self.unscaled / unit), scale })
            }
        }
    }

    /// Both with the larger scale of the two.
    fn aligned(self, other: Decimal) -> Option<(i128, i128, u8)> {
        let scale = self.scale.max(other.scale);
        Some((self.rescale(scale)?.unscaled, other.rescale(scale)?.unscaled, scale))
    }

    /// `self + other`, with the larger scale.
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: a.checked_add(b)?, scale })
    }

    /// `self - other`, with the larger scale.
    pub fn minus(self, other: Decimal) -> Option<Decimal> {
        self.plus(other.negated())
    }

    pub fn negated(self) -> Decimal {
        Decimal { unscaled: -self.unscaled, scale: self.scale }
    }

    /// `self * other`, with the sum of the scales.
    pub fn times(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.checked_add(other.scale)?;
        Some(Decimal { unscaled: self.unscaled.checked_mul(other.unscaled)?, scale })
    }

    /// The rest of a division that rounds towards zero; nothing if `other` is zero.
    pub fn rest(self, other: Decimal) -> Option<Decimal> {
        let (a, b, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: a.checked_rem(b)?, scale })
    }

    pub fn compare(self, other: Decimal) -> Ordering {
        match self.aligned(other) {
            Some((a, b, _)) => a.cmp(&b),
            // Too many digits for one number: first what stands before the point, then what stands behind it.
            None => {
                let unit = |d: Decimal| power(d.scale);
                let whole = |d: Decimal| unit(d).map_or(0, |unit| d.unscaled / unit);
                let rest =
                    |d: Decimal| Decimal { unscaled: d.unscaled - whole(d) * unit(d).unwrap_or(0), ..d };
                let behind = match rest(self).aligned(rest(other)) {
                    Some((a, b, _)) => a.cmp(&b),
                    // Behind more than 38 digits; they are not that close to each other.
                    None => self.to_f64().total_cmp(&other.to_f64()),
                };
                whole(self).cmp(&whole(other)).then(behind)
            }
        }
    }

    pub fn is_zero(self) -> bool {
        self.unscaled == 0
    }

    /// The nearest binary number, by way of its text, as servers do it.
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        let (whole, part) = digits.split_at(digits.len() - scale);
        if scale == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{part}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn it_reads_what_it_writes() {
        for text in ["0", "-0.05", "12.50", "99999999999999999999999999999999999999", "0.000"] {
            assert_eq!(d(text).to_string(), text);
        }
        assert_eq!(d(".5").to_string(), "0.5");
        assert!(["", ".", "1e3", "--1", "1.2.3"].iter().all(|text| Decimal::parse(text).is_none()));
    }

    #[test]
    fn arithmetic_is_exact_and_keeps_the_scale() {
        assert_eq!(d("0.1").plus(d("0.20")).unwrap().to_string(), "0.30");
        assert_eq!(d("1.5").times(d("-0.25")).unwrap().to_string(), "-0.375");
        assert_eq!(d("-7.5").rest(d("2")).unwrap().to_string(), "-1.5");
        assert_eq!(d("1").rest(d("0.0")), None);
        assert_eq!(d("1.0").compare(d("1")), Ordering::Equal);
        let tiny = Decimal { unscaled: 108, scale: 37 };
        assert_eq!(tiny.compare(d("0.01")), Ordering::Less);
        assert_eq!(tiny.compare(d("100.01")), Ordering::Less);
        assert_eq!(d("-12.5").compare(Decimal { unscaled: -108, scale: 38 }), Ordering::Less);
        assert_eq!(d("99999999999999999999999999999999999999").times(d("10")), None);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(d("2.5").rescale(0).unwrap().to_string(), "3");
        assert_eq!(d("-2.45").rescale(1).unwrap().to_string(), "-2.5");
        assert_eq!(d("2.44").rescale(1).unwrap().to_string(), "2.4");
        assert_eq!(d("-2.99").truncate(0).unwrap().to_string(), "-2");
    }
}
