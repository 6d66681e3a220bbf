//! `pc_samples` from rows of rocpd_sample whose details describe a PC sample.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;
use serde_json::Value;

use super::event_columns::{EventDetails, sought};
use crate::common::sqlite::{Columns, Condition, Wanted, integer, quoted, text};
use crate::rocpd::assembly::Assembly;
use crate::rocpd::database::Database;
use wavesieve_tables::columns::frames::categorical;

/// The key that only PC samples have.
const METHOD: &str = "\"sampling_method\"";

/// Numbers of the hardware unit, in the details of the sample.
const UNITS: &[(&str, &str)] = &[
    ("xcc", "chiplet"),
    ("shader_engine", "shader_engine_id"),
    ("cu", "cu_or_wgp_id"),
    ("simd", "simd_id"),
    ("wave", "wave_id"),
];

/// Condition for rows that may be PC samples; with compressed details, only reading them decides.
fn condition(database: &Database) -> Option<&'static str> {
    let table = database.partition().table("sample")?;
    let is_compressed = database.partition().compression.is_some();
    let condition = if is_compressed {
        include_str!("../sql/compressed_details.sql")
    } else {
        include_str!("../sql/pc_samples.sql")
    };
    table.has("extdata").then(|| condition.trim_end())
}

/// Columns of the rows that may be PC samples. In a small table, all rows are read without SQLite.
fn candidates(assembly: &mut Assembly<'_>, wanted: &[Wanted], condition: &str) -> Result<Columns> {
    let is_small = assembly.database.is_small("sample");
    let chosen = if is_small { Condition::all() } else { Condition::all().and_sql(condition) };
    let mut columns = assembly.database.read_where("sample", wanted, chosen, assembly.context.threads)?;
    if is_small {
        // Other rows may have other details, which are valid.
        columns.type_mismatches.clear();
    }
    assembly.absorb("sample", &columns);
    Ok(columns)
}

/// Whether a sample with these details is a PC sample.
fn is_pc_sample(details: Option<&str>) -> bool {
    details.is_some_and(|details| details.contains(METHOD))
}

/// Row ids of the PC samples.
pub fn rows(assembly: &mut Assembly<'_>) -> Result<BTreeSet<i64>> {
    let Some(condition) = condition(assembly.database) else { return Ok(BTreeSet::new()) };
    let columns = candidates(assembly, &[text("extdata")], condition)?;
    let details = columns.texts("extdata");
    let ids = columns.integers("id");
    let found = ids.iter().zip(details.iter()).filter(|(_, details)| is_pc_sample(*details));
    Ok(found.filter_map(|(id, _)| id).collect())
}

/// A sample as recorded: its own details, the details of its event, and the position of the program.
struct Recorded {
    time: Option<i64>,
    own: Value,
    event: Value,
    line: Value,
}

impl Recorded {
    fn number(&self, name: &str) -> Option<i64> {
        integer_of(self.event.get(name).or_else(|| self.own.get(name))?)
    }

    fn word(&self, name: &str) -> Option<String> {
        let value = self.own.get(name).or_else(|| self.event.get(name))?;
        value.as_str().filter(|word| !word.is_empty()).map(str::to_owned)
    }

    fn unit(&self, name: &str) -> Option<i64> {
        integer_of(self.own.get("hw_id").or_else(|| self.event.get("hw_id"))?.get(name)?)
    }

    fn pc(&self, names: &[&str]) -> Option<i64> {
        let pc = self.line.get("pc")?;
        names.iter().find_map(|name| integer_of(pc.get(name)?))
    }

    fn stall(&self) -> Option<String> {
        let reason = self.event.get("snapshot").or_else(|| self.own.get("snapshot"))?.get("stall_reason")?;
        reason.as_str().filter(|word| !word.is_empty()).map(str::to_owned)
    }

    fn exec_mask(&self) -> Option<String> {
        let mask = self.own.get("exec_mask").or_else(|| self.event.get("exec_mask"))?;
        let mask = match mask.as_str() {
            Some(text) => match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok()?,
                None => text.parse().ok()?,
            },
            None => mask.as_u64()?,
        };
        Some(format!("0x{mask:016x}"))
    }
}

fn integer_of(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(flag) => Some(i64::from(*flag)),
        Value::String(text) => text.trim().parse().ok(),
        number => number.as_i64(),
    }
}

/// A canonical column and the number that a sample has there.
type Numbered = (&'static str, fn(&Recorded) -> Option<i64>);

/// Assembles the samples.
pub fn read(assembly: &mut Assembly<'_>) -> Result<()> {
    let recorded = recorded(assembly)?;
    assembly.set_height(recorded.len());
    let numbers: [Numbered; 4] = [
        ("time_ns", |sample| sample.time.or(Some(0))),
        // The source writes 0 if there is no dispatch.
        ("dispatch_id", |sample| sample.number("dispatch_id").filter(|id| *id != 0)),
        ("code_object_id", |sample| sample.pc(&["code_object_id"]).filter(|id| *id != 0)),
        ("code_object_offset", |sample| sample.pc(&["code_object_offset", "offset"])),
    ];
    for (name, value) in numbers {
        assembly.put_integers(name, recorded.iter().map(value));
    }
    for (name, unit) in UNITS {
        assembly.put_integers(name, recorded.iter().map(|sample| sample.unit(unit)));
    }
    let issued = recorded.iter().map(|sample| sample.number("wave_issued").map(|issued| issued != 0));
    assembly.put("wave_issued", BooleanChunked::from_iter_options("".into(), issued));
    let words = |value: &dyn Fn(&Recorded) -> Option<String>| -> Series {
        StringChunked::from_iter_options("".into(), recorded.iter().map(value)).into_series()
    };
    assembly.put("instruction", words(&|sample| sample.word("instruction")));
    assembly.put("comment", words(&|sample| sample.word("instruction_comment")));
    assembly.put("exec_mask", words(&Recorded::exec_mask));
    assembly.put("stall_reason", words(&Recorded::stall).cast(&categorical())?);
    assembly.put("instruction_type", words(&|sample| sample.word("inst_type")).cast(&categorical())?);
    Ok(())
}

fn recorded(assembly: &mut Assembly<'_>) -> Result<Vec<Recorded>> {
    let (Some(condition), Some(table)) = (condition(assembly.database), assembly.database.partition().table("sample"))
    else {
        return Ok(Vec::new());
    };
    let wanted = [integer("timestamp"), integer("event_id"), text("extdata")];
    let columns = candidates(assembly, &wanted, condition)?;
    let is_counted: BooleanChunked =
        columns.texts("extdata").iter().map(|details| Some(is_pc_sample(details))).collect_ca("".into());
    let columns = columns.filter(&is_counted)?;
    if columns.height == 0 {
        return Ok(Vec::new());
    }
    let events = sought(&columns.integers("event_id")).unwrap_or_else(|| {
        let events = format!(include_str!("../sql/events_of.sql"), table = quoted(&table.name), condition = condition);
        Condition::all().and_sql(events.trim_end())
    });
    let of_events = EventDetails::read(assembly, &["extdata", "line_info"], events)?;
    let (event_texts, lines) = (of_events.texts("extdata"), of_events.texts("line_info"));
    let (details, event_ids, times) =
        (columns.texts("extdata"), columns.integers("event_id"), columns.integers("timestamp"));
    let parsed = |text: Option<&str>| text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let rows = details.iter().zip(event_ids.iter()).zip(times.iter());
    Ok(rows
        .map(|((details, event), time)| Recorded {
            time,
            own: parsed(details),
            event: parsed(of_events.position(event).and_then(|at| event_texts.get(at))),
            line: parsed(of_events.position(event).and_then(|at| lines.get(at))),
        })
        .collect())
}

/// Condition for exactly the PC samples; `None` if SQL alone cannot identify them.
pub(crate) fn countable(database: &Database) -> Option<&'static str> {
    match database.partition().compression {
        Some(_) => None,
        None => Some(condition(database).unwrap_or("0")),
    }
}
