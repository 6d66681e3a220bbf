//! Finds the fastest values of a program's parameters in few runs.

mod chart;
mod constraint;
mod document;
mod error;
mod features;
mod halving;
mod history;
mod linear;
mod objective;
mod prune;
mod random;
mod range;
mod regression;
mod sampling;
mod score;
mod search;
mod space;
mod space_file;
mod state;
mod table;
mod template;
mod tree;
mod tuning;
mod value;

#[cfg(test)]
mod tests;

pub use chart::chart;
pub use document::{Document, Parts};
pub use error::AutotuneError;
pub use history::{History, Outcome};
pub use objective::{Objective, Program};
pub use search::{Search, Settings};
pub use space::Space;
pub use space_file::{read_space, space_of_parameters};
pub use state::{State, Subject};
pub use table::{short, text, write_csv};
pub use template::Template;
pub use tuning::{Stopped, tune};
