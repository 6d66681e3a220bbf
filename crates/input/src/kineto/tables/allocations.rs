//! `memory_allocations`: events of the allocators of PyTorch, of which each has an address and a size that is negative if it is freed.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::{TIMES, fields};
use crate::common::TableBuilder;
use crate::kineto::capture::Capture;
use crate::kineto::gathered::{Field, Gathered, Keep, Wanted};
use crate::kineto::kinds::{HOST, Role};
use wavesieve_tables::columns::frames::{constant_cat, dictionary_column};
use wavesieve_tables::columns::values::integers;

const PLACES: &[Field] = &[Field::DeviceType, Field::DeviceId];
const COLUMNS: &[(&[&str], &[Field])] = &[
    (&["alloc_id", "gpu"], &[Field::Number]),
    (&["operation", "bytes"], &[Field::Bytes]),
    (&["agent_id", "gpu"], PLACES),
    (&["address"], &[Field::Address]),
    (&["live_bytes"], &[Field::Bytes, Field::Allocated, Field::Address, Field::DeviceType, Field::DeviceId]),
    (&["tid"], &[Field::Tid]),
    // Events of a moment end when they start.
    (TIMES.0, &[Field::Start]),
];

/// Assembles the events of allocators.
pub(crate) fn read_allocations(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let fields = fields(builder, COLUMNS);
    let rows = capture.gather(&Wanted { role: Role::Allocation, keep: Keep::All, fields: &fields, names: false })?;
    builder.set_height(rows.height);
    let (numbers, sizes) = (rows.get(Field::Number), rows.get(Field::Bytes));
    let words = ["ALLOC", "FREE"].map(|word| Some(word.to_owned()));
    let is_free = sizes.iter().map(|bytes| Some(usize::from(bytes.is_some_and(|bytes| bytes < 0))));
    builder.put_with("operation", || Ok(dictionary_column("operation", &words, is_free)?))?;
    builder.put_with("level", || Ok(constant_cat("level", Some("REAL"), rows.height)?))?;
    builder.put("bytes", integers("bytes", sizes.iter().map(|bytes| Some(bytes.unwrap_or(0).max(0)))).into_series());
    let agents = agents(&rows, &capture.memory_devices());
    builder.put_gpu(&agents, &numbers);
    builder.put("agent_id", agents.into_series());
    builder.put("address", rows.get(Field::Address).into_series());
    builder.put_with("live_bytes", || Ok(live_bytes(&rows).into_series().into_column()))?;
    builder.put("tid", rows.get(Field::Tid).into_series());
    builder.put("alloc_id", numbers.into_series());
    let times = rows.get(Field::Start);
    builder.put_times(&times, &times);
    Ok(())
}

/// The GPU of each event; none for the memory of the host.
fn agents(rows: &Gathered, devices: &BTreeMap<i64, i64>) -> Int64Chunked {
    let (types, ids) = (rows.get(Field::DeviceType), rows.get(Field::DeviceId));
    let places = types.iter().zip(ids.iter());
    places.map(|(of_type, id)| devices.get(&id.filter(|_| of_type != Some(HOST))?).copied()).collect_ca("".into())
}

/// Bytes that each event leaves allocated on its device. Versions before 2022 state neither these nor addresses, so that sizes are added
/// up from a start at which nothing was below zero later.
fn live_bytes(rows: &Gathered) -> Int64Chunked {
    let stated = rows.get(Field::Allocated);
    if stated.null_count() < rows.height || rows.get(Field::Address).null_count() < rows.height {
        return stated;
    }
    let [sizes, types, ids] = [Field::Bytes, Field::DeviceType, Field::DeviceId].map(|field| rows.get(field));
    let each = || types.iter().zip(ids.iter()).zip(sizes.iter().map(|bytes| bytes.unwrap_or(0)));
    let mut lowest: BTreeMap<(Option<i64>, Option<i64>), (i64, i64)> = BTreeMap::new();
    for (place, bytes) in each() {
        let (sum, least) = lowest.entry(place).or_default();
        *sum = sum.saturating_add(bytes);
        *least = (*least).min(*sum);
    }
    let mut sums: BTreeMap<_, i64> =
        lowest.into_iter().map(|(place, (_, least))| (place, least.saturating_neg())).collect();
    let after = each().map(|(place, bytes)| {
        let sum = sums.entry(place).or_default();
        *sum = sum.saturating_add(bytes);
        Some(*sum)
    });
    after.collect_ca("".into())
}
