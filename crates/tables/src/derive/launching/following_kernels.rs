//! The table `following_kernels`: the next kernels on the queue of each kernel.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use polars::prelude::*;
use polars_arrow::bitmap::Bitmap;

use crate::columns::frames::integers;
use crate::columns::values::FrameValues;
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, WantedColumns, needed};
use wavesieve_model::analysis::queues::followers::{FOLLOWERS, NO_ROW, followers};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    needs_of: Some(needs_of),
    owners: &[Owner::KERNEL],
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    ..DerivedTable::new(&tables::queueing::FOLLOWING_KERNELS, needs, Build::Alone(build))
};

/// Columns of `kernels` that are copied, in the order of the table.
const TAKEN: [&str; 11] = [
    "dispatch_id",
    "kernel_id",
    "kernel_name",
    "short_name",
    "category",
    "gpu",
    "device",
    "queue_id",
    "stream_id",
    "start_ns",
    "end_ns",
];
/// Copied columns that no other column depends on.
const PASSTHROUGH: [&str; 3] = ["category", "device", "stream_id"];
/// Columns of `kernels` that identify a kernel.
const IDENTIFYING: [&str; 3] = ["kernel_id", "kernel_name", "short_name"];
/// Source and name of these columns for each follower, with its times.
const OF_FOLLOWERS: [[(&str, &str); 5]; FOLLOWERS] = [
    [
        ("kernel_id", "kernel_id_2"),
        ("kernel_name", "kernel_name_2"),
        ("short_name", "short_name_2"),
        ("start_ns", "start_2_ns"),
        ("end_ns", "end_2_ns"),
    ],
    [
        ("kernel_id", "kernel_id_3"),
        ("kernel_name", "kernel_name_3"),
        ("short_name", "short_name_3"),
        ("start_ns", "start_3_ns"),
        ("end_ns", "end_3_ns"),
    ],
    [
        ("kernel_id", "kernel_id_4"),
        ("kernel_name", "kernel_name_4"),
        ("short_name", "short_name_4"),
        ("start_ns", "start_4_ns"),
        ("end_ns", "end_4_ns"),
    ],
];

fn needs() -> Needs {
    vec![("kernels", [&TAKEN[..], &["valid"]].concat())]
}

/// Like [`needs`], if only some columns of the table are requested: a name is read only if it is requested for one of the kernels.
fn needs_of(wanted: &BTreeSet<&'static str>) -> Needs {
    let of_followers = |name: &str| {
        let mut columns = OF_FOLLOWERS.iter().flatten().filter(|(source, _)| *source == name);
        columns.any(|(_, column)| wanted.contains(column))
    };
    let is_needed = |name: &&str| {
        let is_only_shown = PASSTHROUGH.contains(name) || IDENTIFYING.contains(name);
        !is_only_shown || wanted.contains(*name) || of_followers(name)
    };
    let mut needs = needs();
    needs.iter_mut().for_each(|(_, columns)| columns.retain(is_needed));
    needs
}

/// Looks up the next dispatches on the queue of every valid one.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    of_tables(tables)
}

fn of_tables(tables: &Frames) -> Result<DataFrame> {
    let kernels = needed(tables, "kernels")?;
    let (kernels, order) = tables.kernel_order()?.of_valid(kernels)?;
    u32::try_from(order.count()).ok().filter(|rows| *rows < NO_ROW).context("more dispatches than can be counted")?;
    let [starts, ends] = kernels.integers(["start_ns", "end_ns"])?;
    let lanes: Vec<u32> = {
        let [gpus, queues] = kernels.integers(["gpu", "queue_id"])?;
        gpus.kinds().and(&queues.kinds()).of_rows
    };
    let following = followers(&lanes, order.moved());

    let mut columns = WantedColumns::new(tables, DECLARATION.table.name);
    for name in TAKEN {
        columns.add(name, |name| Ok(kernels.column(name)?.clone()))?;
    }
    columns.add("kernel_ns", |name| {
        let times = starts.iter().zip(ends.iter());
        let lengths = times.map(|(start, end)| start.zip(end).map(|(start, end)| end.saturating_sub(start)));
        Ok(integers(name, lengths))
    })?;
    for (place, of_follower) in OF_FOLLOWERS.iter().enumerate() {
        let next = || following.iter().filter_map(|rows| rows.get(place).copied());
        let follows: Bitmap = next().map(|row| row != NO_ROW).collect();
        let rows = next().map(|row| if row == NO_ROW { 0 } else { row }).collect();
        let next = IdxCa::from_vec_validity("".into(), rows, (follows.unset_bits() > 0).then_some(follows));
        for (source, name) in of_follower {
            columns.add(name, |name| Ok(kernels.column(source)?.take(&next)?.with_name(name.into())))?;
        }
    }
    columns.into_frame()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::columns::frames::categorical;
    use crate::columns::requests::Request;
    use crate::derive::registry;

    fn kernels() -> DataFrame {
        let frame = df!(
            "dispatch_id" => [4_i64, 1, 2, 3, 5],
            "short_name" => ["d", "a", "b", "c", "e"],
            "gpu" => [0_i64; 5],
            "queue_id" => [None, Some(7_i64), None, Some(7), None],
            "start_ns" => [30_i64, 10, 10, 20, 25],
            "end_ns" => [35_i64, 15, 15, 20, 24],
            "valid" => [true, true, true, true, false],
        );
        let mut frame = frame.unwrap();
        let names = frame.column("short_name").unwrap().cast(&categorical()).unwrap();
        frame.with_column(names).unwrap();
        frame
    }

    #[test]
    fn only_what_is_wanted_is_read_and_made() {
        let wanted = BTreeSet::from(["short_name_2", "kernel_ns", "end_3_ns"]);
        let read = registry::needs_of(DECLARATION.table.name, &wanted);
        let columns = vec!["dispatch_id", "short_name", "gpu", "queue_id", "start_ns", "end_ns", "valid"];
        assert_eq!(read, [("kernels", columns)]);
        let request: Arc<Request> = Arc::new(Request::from([(DECLARATION.table.name, wanted)]));
        let tables = Frames::from_iter([("kernels", kernels())]).wanting(&request);
        let frame = of_tables(&tables).unwrap();
        // Dispatches of the unknown queue follow one another like on a known queue; an invalid dispatch is skipped.
        let expected = df!(
            "dispatch_id" => [4_i64, 1, 2, 3],
            "kernel_ns" => [5_i64, 5, 5, 0],
            "short_name_2" => [None, Some("c"), Some("d"), None],
            "end_3_ns" => [None::<i64>; 4],
        );
        let texts = frame.column("short_name_2").unwrap().cast(&DataType::String).unwrap();
        assert_eq!(frame.column("short_name_2").unwrap().dtype(), &categorical());
        assert!(frame.clone().with_column(texts).unwrap().equals_missing(&expected.unwrap()));
    }
}
