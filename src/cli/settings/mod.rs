//! Settings next to the command line: `wavesieve.toml` of a project, a user's file, the environment, in rising order.
//!
//! Every long option of every command can be set. What is set becomes the default of that option before the command line
//! is understood, so that a flag overrides it and nothing else needs to know about files.

#[cfg(feature = "tables")]
mod apply;
#[cfg(feature = "tables")]
mod check;
#[cfg(feature = "tables")]
mod files;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod sources;
mod text;
#[cfg(feature = "tables")]
mod value;

#[cfg(feature = "tables")]
pub use apply::{Effective, effective, selected};
#[cfg(feature = "tables")]
pub use sources::{Origin, Settings, is_setting};
