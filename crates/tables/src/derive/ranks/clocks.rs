//! The table `clocks`: clocks, which show which times of different processes can be compared.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::constant_cat;
use crate::derive::{Build, DerivedTable, Rows, column};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Descriptions,
    ..DerivedTable::new(&tables::ranks::CLOCKS, Vec::new, Build::Facts(build))
};

fn build(process: &Process) -> Result<DataFrame> {
    Ok(DataFrame::new_infer_height(vec![
        column("node", vec![process.node]),
        column("clock", vec![process.clock.number]),
        column("offset_ns", vec![process.clock.offset_ns]),
        constant_cat("basis", Some(process.clock.basis.word()), 1)?,
    ])?)
}
