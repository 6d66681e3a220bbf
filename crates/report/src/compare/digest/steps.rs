//! The ranges of a process by name. Any of them may mark the steps of its program.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use super::model::StepDigest;
use wavesieve_model::analysis::ranges::names::numbered;
use wavesieve_tables::columns::values::I64Values;

/// Counts the ranges with GPU work for each name, with the time of the kernels launched in them.
pub(super) fn steps(frame: &DataFrame, process: i64) -> Result<Vec<StepDigest>> {
    let (starts, kernels) =
        (I64Values::new(frame.column("gpu_start_ns")?.i64()?), I64Values::new(frame.column("kernel_ns")?.i64()?));
    let messages = frame.column("message")?.cast(&DataType::String)?;
    let mut sums: BTreeMap<(&str, bool), (i64, i64)> = BTreeMap::new();
    for (start, kernel_ns, message) in izip!(starts.iter(), kernels.iter(), messages.str()?.iter()) {
        let (Some(_), Some(kernel_ns), Some(message)) = (start, kernel_ns, message) else { continue };
        let (count, sum_ns) = sums.entry(numbered(message)).or_default();
        *count = count.saturating_add(1);
        *sum_ns = sum_ns.saturating_add(kernel_ns);
    }
    let digest = |((text, is_numbered), (count, kernel_ns)): ((&str, bool), (i64, i64))| StepDigest {
        process,
        name: if is_numbered { format!("{text}*") } else { text.to_owned() },
        count,
        kernel_ns,
    };
    Ok(sums.into_iter().map(digest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_ends_of_names_do_not_count() {
        let frame = df!(
            "message" => [Some("step 1"), Some("step 2"), Some("step"), None, Some("7"), Some("idle 3")],
            "gpu_start_ns" => [Some(0_i64), Some(5), Some(9), Some(9), Some(11), None],
            "kernel_ns" => [10_i64, 20, 3, 4, 5, 0],
        );
        let found = steps(&frame.unwrap(), 2).unwrap();
        let rows: Vec<(i64, &str, i64, i64)> =
            found.iter().map(|step| (step.process, step.name.as_str(), step.count, step.kernel_ns)).collect();
        assert_eq!(rows, [(2, "*", 1, 5), (2, "step", 1, 3), (2, "step *", 2, 30)]);
    }
}
