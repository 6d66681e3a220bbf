//! Tests.

mod applications;
mod profilings;
mod runs;

/// The words of a plain line.
fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(ToOwned::to_owned).collect()
}
