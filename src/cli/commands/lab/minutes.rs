//! Times on the command line.

use std::time::Duration;

/// Maximum minutes of an option: two years.
const MOST_MINUTES: u32 = 1_000_000;

/// Parses a number of minutes.
pub(super) fn minutes(text: &str) -> Result<Duration, String> {
    let number: f64 = text.trim().parse().map_err(|_| "give a number of minutes, such as 10".to_owned())?;
    if number > f64::from(MOST_MINUTES) {
        return Err(format!("give at most {MOST_MINUTES} minutes"));
    }
    // A time too short for nanoseconds rounds to zero.
    let time = Duration::try_from_secs_f64(60.0 * number).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| "give minutes above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{Args as _, Command};

    use super::*;
    use crate::cli::commands::lab::LabArguments;

    /// Any number for an option of `lab` that takes a time is accepted, or rejected with a reason.
    #[test]
    fn times_of_any_size_are_taken_or_refused() {
        let lab = LabArguments::augment_args(Command::new("lab"));
        let mut options = Vec::new();
        for verb in lab.get_subcommands() {
            for argument in verb.get_arguments() {
                let names: Vec<&str> =
                    argument.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
                if let Some(long) = argument.get_long()
                    && names.iter().any(|name| ["MIN", "MINUTES", "SECONDS"].contains(name))
                {
                    options.push((verb.get_name().to_owned(), long.to_owned(), names.contains(&"SECONDS")));
                }
            }
        }
        assert!(options.len() >= 7, "{options:?}");
        for (verb, long, is_seconds) in &options {
            for text in ["-1", "1e17", "1e18", "1e300", "1e400", "inf", "-inf", "nan", "", "x", "18446744073709551616"]
            {
                let found = lab.clone().try_get_matches_from(["lab", verb, &format!("--{long}={text}")]);
                let error = found.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::ValueValidation, "{verb} --{long}={text}: {error}");
                let is_large = ["1e17", "1e18", "1e300", "1e400", "inf", "18446744073709551616"].contains(&text);
                let names_limit = error.to_string().contains("at most 1000000 minutes");
                assert_eq!(names_limit, is_large && !is_seconds, "{verb} --{long}={text}: {error}");
            }
        }
        assert_eq!(minutes("0.5"), Ok(Duration::from_secs(30)));
        assert_eq!(minutes("1e6"), Ok(Duration::from_secs(60_000_000)));
        for text in ["0", "-0.0", "-1", "nan", "1e-300"] {
            assert!(minutes(text).unwrap_err().contains("above 0"), "{text}");
        }
    }
}
