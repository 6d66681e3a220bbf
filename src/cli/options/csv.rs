//! The option for formulas of commands that write CSV or TSV.

use clap::Args;

use wavesieve_export::delimited::Formulas;

/// How texts are written that spreadsheets would run.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct CsvArguments {
    /// In CSV and TSV, put ' before texts that spreadsheets run as formulas: those that begin with =, +, -, @, a tab or a line
    /// break. Numbers stay as they are
    #[arg(long, help_heading = "Output")]
    csv_safe: bool,
}

impl CsvArguments {
    pub(crate) fn formulas(self) -> Formulas {
        if self.csv_safe { Formulas::Defused } else { Formulas::Kept }
    }
}
