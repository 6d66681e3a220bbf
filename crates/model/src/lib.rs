//! The tables of a trace and the arithmetic of the field.
//!
//! [`schema`] declares the canonical tables once; readers, writers, documents and tests use that declaration.
//! [`analysis`] computes over plain values: intervals, iterations, metrics, counter plans. [`text`] has shared parts of
//! messages.
//!
//! This crate does not use polars, files or the other crates.

#![forbid(unsafe_code)]

/// The text of a file at the top of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

/// A table at the top of the repository, which is read once. A test reads each table, so that none is ever empty.
macro_rules! shared {
    ($form:ty, $path:literal) => {{
        static READ: std::sync::LazyLock<$form> = std::sync::LazyLock::new(|| {
            let read: Result<$form, toml::de::Error> = toml::from_str(data!($path));
            debug_assert!(read.is_ok(), "{} cannot be read", $path);
            read.unwrap_or_default()
        });
        &*READ
    }};
}

/// Declares an enum whose variants have spellings, as in `Order = "order"`: the list of all variants in order, and a
/// method that returns the spelling.
macro_rules! spelled {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident by $method:ident {
        $($(#[$own:meta])* $variant:ident = $spelling:literal,)+
    }) => {
        $(#[$meta])*
        $visibility enum $name {
            $($(#[$own])* $variant,)+
        }

        impl $name {
            /// All of them in their order.
            pub const ALL: [Self; [$($spelling),+].len()] = [$(Self::$variant),+];

            /// The spelling in tables and documents.
            pub const fn $method(self) -> &'static str {
                match self {
                    $(Self::$variant => $spelling,)+
                }
            }
        }
    };
}

pub mod analysis;
mod build_name;
pub mod schema;
pub mod text;

pub use build_name::{build_name, set_build_name};
