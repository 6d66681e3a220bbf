//! Settings next to the command line: `wavesieve.toml` of a project, a user's file, the environment, in rising order.
//!
//! Every long option of every command can be set. What is set becomes the default of that option before the command line
//! is understood, so that a flag overrides it and nothing else needs to know about files.

pub(crate) mod properties;
mod text;

mod apply;
mod check;
mod files;
mod sources;
mod trust;
mod value;

pub(crate) use apply::{Effective, effective, selected};
pub(crate) use sources::{Origin, Settings, is_setting};
