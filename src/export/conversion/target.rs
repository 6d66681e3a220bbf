//! Where a conversion may write.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::record::Conversion;
use super::run::Refused;
use crate::input::is_dataset;

/// Refuses an output that cannot be written or brought up to date.
///
/// # Errors
/// [`Refused`], or when the directory cannot be read.
pub(crate) fn check_output(output: &Path, overwrite: bool) -> Result<()> {
    let shown = || output.display().to_string();
    if output.is_file() {
        return Err(Refused::File(shown()).into());
    }
    if output.exists() && !output.is_dir() {
        return Err(Refused::NoDirectory(shown()).into());
    }
    let occupied = output.is_dir() && fs::read_dir(output)?.next().is_some();
    let converted = || Conversion::read(output).is_some();
    if !occupied || converted() || overwrite && is_dataset(output) {
        return Ok(());
    }
    Err(if is_dataset(output) { Refused::NoConversion(shown()) } else { Refused::NotEmpty(shown()) }.into())
}
