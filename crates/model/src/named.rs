//! What has a name in files, in counts and on the command line, and is written there as that name.

/// Declares an enum whose variants have names.
#[macro_export]
macro_rules! named {
    ($(#[$doc:meta])* pub enum $enum:ident { $($(#[$of:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum $enum { $($(#[$of])* #[serde(rename = $text)] $name,)* }

        impl $enum {
            pub const ALL: &'static [$enum] = &[$($enum::$name,)*];

            pub fn name(self) -> &'static str {
                match self { $($enum::$name => $text,)* }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                $enum::ALL.iter().copied().find(|one| one.name() == text).ok_or(())
            }
        }
    };
}

/// In files it is the text that it prints as, and is parsed from.
macro_rules! stored_as_text {
    ($($type:ty),+) => { $(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+ };
}
pub(crate) use stored_as_text;
