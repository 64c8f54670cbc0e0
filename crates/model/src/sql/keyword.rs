//! Enums whose variants are fixed words of SQL. The words stand once, beside the variant: the parser looks for them and the
//! printer writes them.

/// A choice between fixed words.
pub trait Keyword: Copy + 'static {
    const ALL: &'static [Self];

    /// Its words, in capitals.
    fn sql(self) -> &'static str;
}

/// Declares such enums: each variant with its words.
macro_rules! keywords {
    ($($(#[$doc:meta])* pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $words:literal,)+ })+) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$of])* $variant,)+ }

        impl $crate::sql::Keyword for $name {
            const ALL: &'static [$name] = &[$($name::$variant,)+];

            fn sql(self) -> &'static str {
                match self { $($name::$variant => $words,)+ }
            }
        }
    )+ };
}
pub(super) use keywords;
