//! `--plot`: answers as pictures of characters.

use anyhow::{Context, Result};
use polars::prelude::{DataFrame, DataType};

use crate::report::{Point, Roofs, text_roofline};

/// Width where that of the terminal is not known.
const WIDTH: usize = 100;

/// The answer of the query `roofline` as a picture.
///
/// # Errors
/// When the answer lacks a column, which is a defect.
pub fn roofline(frame: &DataFrame) -> Result<String> {
    let numbers = |name: &str| -> Result<Vec<Option<f64>>> {
        let column = frame.column(name).with_context(|| format!("internal: the roofline has no {name}"))?;
        Ok(column.cast(&DataType::Float64)?.f64()?.iter().collect())
    };
    let (intensities, rates) = (numbers("intensity_hbm")?, numbers("gflops")?);
    let highest = |name: &str| -> Result<Option<f64>> { Ok(numbers(name)?.into_iter().flatten().reduce(f64::max)) };
    let names = names(frame)?;
    let points: Vec<Point> = names
        .into_iter()
        .zip(intensities.into_iter().zip(rates))
        .map(|(name, (intensity, gflops))| Point { name, intensity, gflops, weight: None })
        .collect();
    let peaks = [("vector FP32", "peak_valu_gflops"), ("matrix FP16", "peak_mfma_gflops")];
    let mut gflops = Vec::new();
    for (name, column) in peaks {
        gflops.extend(highest(column)?.map(|rate| (name.to_owned(), rate)));
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = columns.or_else(terminal).unwrap_or(WIDTH);
    Ok(text_roofline(&points, &Roofs { gbps: highest("peak_hbm_gbps")?, gflops }, width))
}

/// What every row is about: all columns before the number of dispatches.
fn names(frame: &DataFrame) -> Result<Vec<String>> {
    let keys: Vec<_> = frame.columns().iter().take_while(|column| column.name() != "dispatches").collect();
    let mut names = vec![String::new(); frame.height()];
    for key in keys {
        let texts = key.cast(&DataType::String)?;
        for (name, text) in names.iter_mut().zip(texts.str()?.iter()) {
            if !name.is_empty() {
                name.push_str(", ");
            }
            name.push_str(text.unwrap_or("-"));
        }
    }
    Ok(names)
}
