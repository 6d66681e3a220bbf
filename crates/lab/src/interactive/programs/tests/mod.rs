//! Tests.

mod applications;
mod profilings;
mod runs;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(ToOwned::to_owned).collect()
}
