//! Logic with three values: true, false and unknown (`None`).

pub fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

/// `a AND b`: false wins over unknown.
pub fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        (None, _) | (_, None) => None,
    }
}

/// `a OR b`: true wins over unknown.
pub fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    not(and(not(a), not(b)))
}

/// `a XOR b`: unknown if either is.
pub fn xor(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    Some(a? != b?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certain_wins_over_what_is_unknown() {
        assert_eq!(and(Some(false), None), Some(false));
        assert_eq!(and(Some(true), None), None);
        assert_eq!(or(Some(true), None), Some(true));
        assert_eq!(or(Some(false), None), None);
        assert_eq!(xor(Some(true), None), None);
        assert_eq!(xor(Some(true), Some(false)), Some(true));
    }
}
