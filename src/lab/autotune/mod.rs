//! The fastest values of a program's parameters, with few runs.

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

pub(crate) use chart::chart;
pub(crate) use document::{Document, Parts};
pub(crate) use error::AutotuneError;
pub(crate) use history::{History, Outcome};
pub(crate) use objective::{Objective, Program};
pub(crate) use search::{Search, Settings};
pub(crate) use space::Space;
pub(crate) use space_file::{read_space, space_of_parameters};
pub(crate) use state::{State, Subject};
pub(crate) use table::{short, text, write_csv};
pub(crate) use template::Template;
pub(crate) use tuning::{Stopped, tune};
