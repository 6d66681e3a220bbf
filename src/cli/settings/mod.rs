//! Settings besides the command line: `wavesieve.toml` of a project, a user's file, and the environment, in rising
//! order.
//!
//! Every long option of every command can be set. A setting becomes the default of its option before the command line
//! is parsed. A flag therefore overrides it, and no other code needs to know about settings files.

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
