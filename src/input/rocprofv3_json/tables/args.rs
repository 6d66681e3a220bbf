//! `args` from the arguments of calls.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categorical, constant_cat};
use crate::input::rocprofv3_json::parsing::records::CallWithArgs;
use crate::input::rocprofv3_json::parts::Sink;
use crate::input::rocprofv3_json::reading::Reading;
use crate::schema::anomaly::Severity;

#[derive(Default)]
struct Args {
    /// Calls with a length so far in the part.
    regions: i64,
    /// Arguments of calls without length.
    orphans: usize,
    owners: Vec<i64>,
    positions: Vec<i64>,
    types: Vec<Option<String>>,
    names: Vec<Option<String>>,
    values: Vec<Option<String>>,
}

impl Sink for Args {
    type Output = Self;
    type Record<'de> = CallWithArgs<'de>;

    fn push(&mut self, record: CallWithArgs<'_>) {
        let args = record.args.0;
        if !record.call.has_length() {
            self.orphans += args.len();
            return;
        }
        self.regions += 1;
        for (position, arg) in (0..).zip(args) {
            self.owners.push(self.regions);
            self.positions.push(position);
            self.types.push(arg.type_name.0.map(Into::into));
            self.names.push(Some(arg.name.0.map(Into::into).unwrap_or_default()));
            self.values.push(arg.value.0.map(Into::into));
        }
    }

    fn finish(self) -> Self {
        self
    }
}

/// Assembles the arguments of calls that have a length.
pub(crate) fn read(reading: &mut Reading<'_>) -> Result<()> {
    let capture = reading.capture;
    let mut all = Args::default();
    for name in &capture.roles.calls {
        for section in capture.process.named(name) {
            for part in capture.records(section, &mut reading.findings, Args::default)? {
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
