//! Counts of PC samples by instruction and kernel. The file has sums and no samples: times are lost, and the stall reason that came with
//! each type of instruction. So they are recorded values here, not rows of `pc_samples`.

use std::collections::BTreeMap;

use anyhow::Result;

use super::owner::OwnedBy;
use super::reading::Reading;
use super::recorded::{Metric, Recorded};
use super::sampled_lines::{self, Lines, Words};
use crate::common::sqlite::{Wanted, integer, real, text};
use wavesieve_model::schema::anomaly::Severity;

const TABLE: &str = "PC sampling";
/// Columns of counts, and the names of their values.
const COUNTS: [(&str, &str); 3] = [("total_count", "samples"), ("issue_count", "issued"), ("stall_count", "stalled")];

/// Columns of percentages, which are also the names of their values; since schema 2.1.
const PERCENTS: [&str; 2] = ["active_thread_percent", "wave_occupancy_percent"];

/// Counts by reason or type: their table, the prefix of their names, and their lookup table with the column that refers to it, in newer and
/// in older schemas.
struct Details {
    table: &'static str,
    prefix: &'static str,
    lookups: [(&'static str, &'static str); 2],
}

const DETAILS: [Details; 2] = [
    Details {
        table: "pc_sample_stall_reason",
        prefix: "stall_reason",
        lookups: [
            ("pc_sample_stall_reason_lookup", "pc_sample_stall_reason_lookup_uuid"),
            ("pc_sample_stall_reason_type", "pc_sample_stall_reason_type_uuid"),
        ],
    },
    Details {
        table: "instruction_sample",
        prefix: "instruction_type",
        lookups: [
            ("instruction_sample_lookup", "instruction_sample_lookup_uuid"),
            ("instruction_sample_type", "instruction_sample_type_uuid"),
        ],
    },
];

/// Adds the counts of all instructions: a metric for each.
pub fn read(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    read_by_kernel(reading, recorded)?;
    let lines = sampled_lines::read(reading, recorded, TABLE)?;
    let (states, mut lost) = read_states(reading, recorded, &lines)?;
    for details in &DETAILS {
        lost += read_details(reading, recorded, &states, details)?;
    }
    // Once for the file.
    if reading.owner.is_main {
        let detail = "counts of PC samples refer to an instruction that is missing; they are left out";
        reading.note("missing_instruction", Severity::Warning, lost, None, detail);
    }
    Ok(())
}

/// Adds the counts of schema 1.3, which has one row for each instruction of a kernel.
fn read_by_kernel(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    let counts = [("count", COUNTS[0].1), ("count_issue", COUNTS[1].1), ("count_stall", COUNTS[2].1)];
    let wanted: Vec<Wanted> = ["source", "instruction", "stall_reason"]
        .map(text)
        .into_iter()
        .chain(counts.map(|(column, _)| integer(column)))
        .chain([integer("offset")])
        .collect();
    let rows = reading.read_own("pcsampling", OwnedBy::Kernel, &wanted)?;
    let (kernels, offsets) = (rows.integers("kernel_uuid"), rows.integers("offset"));
    let texts = ["source", "instruction", "stall_reason"].map(|name| rows.texts(name));
    let columns = counts.map(|(column, name)| (rows.integers(column), name));
    for row in 0..rows.height {
        let [source, instruction, reasons] = texts.each_ref().map(|column| column.get(row).map(str::to_owned));
        let offset = offsets.get(row).map_or_else(|| "unknown".to_owned(), |offset| format!("{offset:#x}"));
        let metric = recorded.add_metric(Metric {
            id: Some(format!("pc.unknown.{offset}")),
            name: instruction,
            table: Some(TABLE.to_owned()),
            sub_table: source,
            description: None,
            unit: Some("samples".to_owned()),
        });
        let mut add = |name: &str, count: f64| recorded.add(kernels.get(row), Some(metric), Some(name), Some(count));
        for (counts, name) in &columns {
            if let Some(count) = counts.get(row) {
                add(name, count as f64);
            }
        }
        let reasons = reasons.and_then(|text| serde_json::from_str::<BTreeMap<String, f64>>(&text).ok());
        for (reason, count) in reasons.into_iter().flatten() {
            add(&format!("{} {reason}", DETAILS[0].prefix), count);
        }
    }
    Ok(())
}

/// Adds the counts of states. Returns the instruction of each state, and how many states lack an instruction.
fn read_states(reading: &mut Reading<'_>, recorded: &mut Recorded, lines: &Lines) -> Result<(Lines, usize)> {
    let wanted: Vec<Wanted> = COUNTS
        .map(|(column, _)| integer(column))
        .into_iter()
        .chain(PERCENTS.map(real))
        .chain([integer("instruction_uuid")])
        .collect();
    let rows = reading.read_shared("pc_sample_state", &wanted)?;
    let columns = COUNTS.map(|(column, name)| (rows.integers(column), name));
    let percents = PERCENTS.map(|name| (rows.reals(name), name));
    let (mut states, mut lost) = (Lines::new(), 0);
    for (row, (state, line)) in rows.integers("id").iter().zip(rows.integers("instruction_uuid").iter()).enumerate() {
        let Some(line) = line.and_then(|line| lines.get(&line)) else {
            lost += 1;
            continue;
        };
        if let Some(state) = state {
            states.insert(state, *line);
        }
        for (counts, name) in &columns {
            if let (Some(line), Some(count)) = (line, counts.get(row)) {
                recorded.add(line.kernel, Some(line.metric), Some(name), Some(count as f64));
            }
        }
        for (values, name) in &percents {
            if let (Some(line), Some(value)) = (line, values.get(row)) {
                recorded.add(line.kernel, Some(line.metric), Some(name), Some(value));
            }
        }
    }
    Ok((states, lost))
}

/// Adds the counts of a table of reasons or types. Returns how many lack a known state.
fn read_details(
    reading: &mut Reading<'_>,
    recorded: &mut Recorded,
    states: &Lines,
    Details { table, prefix, lookups }: &Details,
) -> Result<usize> {
    let [(newer, newer_key), (older, older_key)] = lookups;
    let (newer, older) = (Words::read(reading, newer)?, Words::read(reading, older)?);
    let wanted = [integer("pc_sample_state_uuid"), integer(newer_key), integer(older_key), integer("count")];
    let rows = reading.read_shared(table, &wanted)?;
    let mut lost = 0;
    let [states_of_rows, newer_kinds, older_kinds, counts] = wanted.map(|wanted| rows.integers(wanted.name));
    for (row, state) in states_of_rows.iter().enumerate() {
        let Some(line) = state.and_then(|state| states.get(&state)) else {
            lost += 1;
            continue;
        };
        let (Some(line), Some(count)) = (line, counts.get(row)) else { continue };
        let word = newer_kinds.get(row).and_then(|kind| newer.get(kind));
        let word = word.or_else(|| older_kinds.get(row).and_then(|kind| older.get(kind))).unwrap_or("unknown");
        recorded.add(line.kernel, Some(line.metric), Some(&format!("{prefix} {word}")), Some(count as f64));
    }
    Ok(lost)
}
