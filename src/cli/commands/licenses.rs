//! `licenses`: the licenses of the program and of everything in it.

use clap::Args;

use crate::cli::exit::{DONE, Failure};
use crate::cli::output::messages::print;

/// Print the licenses of wavesieve and of everything in it
#[derive(Args, Clone, Debug)]
#[command(after_help = "Prints the crates in the program with their licenses, then the license texts.

Examples:
  wavesieve licenses
  wavesieve licenses | less")]
pub(crate) struct LicensesArguments {}

/// Parts of the program, and the texts of their licenses.
const PARTS: [(&str, &str); 4] = [
    ("wavesieve, at your choice under MIT", include_str!("../../../LICENSE-MIT")),
    ("or under Apache 2.0", include_str!("../../../LICENSE-APACHE")),
    ("the font of charts, a subset of DejaVu Sans", include_str!("../../../share/fonts/LICENSE")),
    ("crates", include_str!("../../../share/licenses/crates.txt")),
];

pub(crate) fn run(_: &LicensesArguments) -> Result<u8, Failure> {
    let texts: Vec<String> = PARTS.iter().map(|(title, text)| format!("# {title}\n\n{}\n", text.trim_end())).collect();
    print(texts.join("\n").as_bytes())?;
    Ok(DONE)
}
