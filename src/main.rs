//! The `wavesieve` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    wavesieve::cli_main()
}
