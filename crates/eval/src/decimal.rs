//! Exact numbers: a whole number of up to 38 digits and where its point is.

/// `unscaled / 10^scale`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// All digits as one whole number.
    pub unscaled: i128,
    /// How many of them stand behind the point.
    pub scale: u8,
}
