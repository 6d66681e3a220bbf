//! Documents as workbooks for spreadsheets: a sheet for each table.

mod appearance;
mod charts;
mod names;
mod overview;
mod provenance;
mod sheet;
mod text;
mod workbook;

pub use workbook::{WorkbookOptions, write, write_tables};
