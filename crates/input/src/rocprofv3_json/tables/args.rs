//! `args` from the arguments of calls, and from the details of the driver's events.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::rocprofv3_json::driver_events;
use crate::rocprofv3_json::layouts::Activity;
use crate::rocprofv3_json::parsing::row::Row;
use crate::rocprofv3_json::reading::Reading;
use crate::rocprofv3_json::structure::gathered::Keep;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::{categorical, constant_cat};

#[derive(Default)]
struct Args {
    /// Calls with a length so far in the part.
    regions: i64,
    /// Arguments of calls without a length.
    orphans: usize,
    owners: Vec<i64>,
    positions: Vec<i64>,
    types: Vec<Option<String>>,
    names: Vec<Option<String>>,
    values: Vec<Option<String>>,
}

impl Args {
    /// Adds a call. `agents` has agent ids by handle, for sections whose records have details.
    fn push(&mut self, call: Row<Activity>, agents: Option<&BTreeMap<i64, i64>>) {
        if Keep::WithoutLength.accepts(call.get("start"), call.get("end")) {
            self.orphans += call.args.len();
            return;
        }
        self.regions += 1;
        let details = agents.map(|agents| driver_events::details(&call, agents)).unwrap_or_default();
        let recorded = call.args.len() as i64;
        for (position, arg) in (0..).zip(call.args) {
            self.push_arg(position, arg.type_name.0, arg.name.0.unwrap_or_default(), arg.value.0);
        }
        for (position, (name, value)) in (recorded..).zip(details) {
            self.push_arg(position, None, name.to_owned(), Some(value));
        }
    }

    fn push_arg(&mut self, position: i64, type_name: Option<String>, name: String, value: Option<String>) {
        self.owners.push(self.regions);
        self.positions.push(position);
        self.types.push(type_name);
        self.names.push(Some(name));
        self.values.push(value);
    }
}

/// Assembles the arguments of calls that have a length.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let capture = reading.capture;
    let mut all = Args::default();
    for name in &capture.roles.calls {
        for section in capture.process.named(name) {
            let agents = driver_events::are_in(name).then_some(&capture.agents);
            let push = |args: &mut Args, call| args.push(call, agents);
            for part in capture.records(section, &mut reading.findings, Args::default, push)? {
                let before = all.regions;
                all.owners.extend(part.owners.into_iter().map(|owner| owner.saturating_add(before)));
                all.regions += part.regions;
                all.orphans += part.orphans;
                all.positions.extend(part.positions);
                all.types.extend(part.types);
                all.names.extend(part.names);
                all.values.extend(part.values);
            }
        }
    }
    let height = all.owners.len();
    let builder = &mut reading.builder;
    builder.set_height(height);
    builder.put("owner", constant_cat("owner", Some("region"), height)?);
    builder.put("owner_id", Int64Chunked::from_vec("".into(), all.owners).into_series());
    builder.put("position", Int64Chunked::from_vec("".into(), all.positions).into_series());
    let texts = |values: Vec<Option<String>>| StringChunked::from_iter_options("".into(), values.into_iter());
    builder.put("type", texts(all.types).into_series());
    builder.put("name", texts(all.names).into_series().cast(&categorical())?);
    builder.put("value", texts(all.values).into_series());
    builder.note(
        "missing_owner",
        Severity::Info,
        all.orphans,
        None,
        "arguments belong to no region, kernel or copy; excluded",
    );
    Ok(())
}
