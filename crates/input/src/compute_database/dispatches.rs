//! `kernels`, `kernel_symbols` and `code_objects`.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::owner::OwnedBy;
use super::reading::Reading;
use crate::common::sqlite::integer;
use crate::common::{count_rows, or, zeros};
use wavesieve_model::schema::anomaly::Severity;

const NAMES: &[&str] = &["kernel_name", "short_name", "category"];
/// Sizes, which an analysis does not keep.
const SIZES: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];

/// Assembles the dispatches.
pub(crate) fn read_kernels(reading: &mut Reading<'_>) -> Result<()> {
    let wanted = ["dispatch_id", "gpu_id", "start_timestamp", "end_timestamp"].map(integer);
    let rows = reading.read_own("dispatch", OwnedBy::Kernel, &wanted)?;
    reading.set_height(rows.height);
    let (ids, renumbered) = numbered(&rows.integers("dispatch_id"));
    let detail =
        "dispatches without an id, or with the id of another kernel's dispatch, were numbered after the highest id";
    let (count, first) = count_rows(&renumbered, &ids);
    reading.note("renumbered_dispatches", Severity::Info, count, first, detail);
    reading.put("dispatch_id", ids.clone());

    let kernels = or(&rows.integers("kernel_uuid"), -1);
    reading.put("kernel_id", kernels.clone());
    if reading.wants(NAMES) {
        let symbols = reading.symbols();
        let detail = "dispatches refer to a missing kernel, shown as kernel_<id>";
        reading.put_kernel_names_by_id(&symbols.names, &symbols.index, (&kernels, &ids), detail)?;
    }
    let gpus = rows.integers("gpu_id");
    reading.put_gpu(&gpus, &ids);
    reading.put("agent_id", gpus);
    for name in SIZES {
        reading.put(name, zeros(rows.height));
    }
    reading.put_times(&rows.integers("start_timestamp"), &rows.integers("end_timestamp"));
    Ok(())
}

/// Distinct ids, and the rows that got a new id: in schema 2, ids are unique only within a kernel.
fn numbered(recorded: &Int64Chunked) -> (Int64Chunked, Vec<usize>) {
    let mut next = recorded.max().unwrap_or(-1).max(-1);
    let mut seen: BTreeSet<i64> = BTreeSet::new();
    let mut renumbered = Vec::new();
    let mut number = |(row, id): (usize, Option<i64>)| match id.filter(|id| seen.insert(*id)) {
        Some(id) => id,
        None => {
            renumbered.push(row);
            // After the largest integer, numbers wrap around to any free number.
            loop {
                next = next.wrapping_add(1);
                if seen.insert(next) {
                    break next;
                }
            }
        }
    };
    let ids: Vec<i64> = recorded.iter().enumerate().map(&mut number).collect();
    (Int64Chunked::from_vec("".into(), ids), renumbered)
}

/// Assembles the kernels, with or without dispatches.
pub(crate) fn read_symbols(reading: &mut Reading<'_>) -> Result<()> {
    let symbols = reading.symbols();
    reading.set_height(symbols.ids.len());
    reading.put("kernel_id", Int64Chunked::from_slice("".into(), &symbols.ids));
    reading.put_symbol_names(&symbols.names)?;
    let detail = "kernels without a name, shown as kernel_<id>";
    reading.note("missing_name", Severity::Warning, symbols.unnamed, None, detail);
    Ok(())
}

/// Assembles the code objects that PC samples fell into.
pub(crate) fn read_code_objects(reading: &mut Reading<'_>) -> Result<()> {
    let wanted = [integer("code_object_id"), integer("load_base")];
    let rows = reading.read_own("code_object_store", OwnedBy::Workload, &wanted)?;
    let mut seen: BTreeSet<i64> = BTreeSet::new();
    let ids = rows.integers("code_object_id");
    let first: BooleanChunked = ids.iter().map(|id| Some(id.is_some_and(|id| seen.insert(id)))).collect_ca("".into());
    let count = rows.height.saturating_sub(first.sum().unwrap_or(0) as usize);
    let detail = "code objects without an id, or with the id of another process's code object, were ignored";
    reading.note("repeated_id", Severity::Warning, count, None, detail);
    let rows = rows.filter(&first)?;
    reading.set_height(rows.height);
    reading.put("code_object_id", rows.integers("code_object_id"));
    reading.put("load_base", rows.integers("load_base"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::numbered;
    use polars::prelude::*;
    use proptest::prelude::*;

    #[test]
    fn ids_of_several_kernels_are_numbered() {
        let (ids, renumbered) = numbered(&[Some(3), None, Some(3), Some(7)].into_iter().collect_ca("".into()));
        assert_eq!(ids.into_no_null_iter().collect::<Vec<i64>>(), [3, 8, 9, 7]);
        assert_eq!(renumbered, [1, 2]);
    }

    proptest! {
        #[test]
        fn ids_differ_whatever_they_are(
            recorded in prop::collection::vec(prop::option::of(prop_oneof![-3_i64..5, Just(i64::MAX), Just(i64::MIN)]), 0..30)
        ) {
            let column: Int64Chunked = recorded.iter().copied().collect_ca("".into());
            let (ids, renumbered) = numbered(&column);
            let distinct: std::collections::BTreeSet<i64> = ids.iter().flatten().collect();
            prop_assert_eq!(distinct.len(), recorded.len());
            for (row, (found, given)) in ids.iter().zip(&recorded).enumerate() {
                prop_assert!(renumbered.contains(&row) || found == *given);
            }
        }
    }
}
