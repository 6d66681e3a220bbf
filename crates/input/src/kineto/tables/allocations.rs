//! `memory_allocations`: events of PyTorch allocators. Each has an address and a size, which is negative if memory is freed.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::gather;
use crate::common::TableBuilder;
use crate::kineto::capture::Capture;
use crate::kineto::gathered::{Field, Gathered, Keep};
use crate::kineto::kinds::{HOST, Role};
use wavesieve_tables::columns::frames::constant_cat;

pub(crate) fn read_allocations(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let rows = gather(builder, capture, Role::Allocation, Keep::All, false)?;
    let (numbers, sizes) = (rows.get(Field::Number), rows.get(Field::Bytes));
    let operation = |bytes: Option<i64>| if bytes.is_some_and(|bytes| bytes < 0) { "FREE" } else { "ALLOC" };
    builder.put_texts("operation", sizes.iter().map(|bytes| Some(operation(bytes))))?;
    builder.put_with("level", || Ok(constant_cat("level", Some("REAL"), rows.height)?))?;
    builder.put_integers("bytes", sizes.iter().map(|bytes| Some(bytes.unwrap_or(0).max(0))));
    let agents = agents(&rows, &capture.memory_devices());
    builder.put_gpu(&agents, &numbers);
    builder.put("agent_id", agents.into_series());
    builder.put_with("live_bytes", || Ok(live_bytes(&rows).into_series().into_column()))?;
    for (name, field) in [("address", Field::Address), ("tid", Field::Tid)] {
        builder.put(name, rows.get(field).into_series());
    }
    builder.put("alloc_id", numbers.into_series());
    // Instant events end when they start.
    let times = rows.get(Field::Start);
    builder.put_times(&times, &times);
    Ok(())
}

/// The GPU of each event; null for host memory.
fn agents(rows: &Gathered, devices: &BTreeMap<i64, i64>) -> Int64Chunked {
    let (types, ids) = (rows.get(Field::DeviceType), rows.get(Field::DeviceId));
    let places = types.iter().zip(ids.iter());
    places.map(|(of_type, id)| devices.get(&id.filter(|_| of_type != Some(HOST))?).copied()).collect_ca("".into())
}

/// Allocated bytes on the device after each event. Versions before 2022 record neither these nor addresses. For them, sizes are added up
/// from a start value with which no sum is negative.
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
