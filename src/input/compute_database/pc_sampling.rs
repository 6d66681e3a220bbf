//! Counts of PC samples by instruction and kernel. The file has sums and no samples: which stall reason came with which type
//! of instruction, and when, is lost. So they are recorded values here, not rows of `pc_samples`.

use std::collections::BTreeMap;

use anyhow::Result;

use super::owner::OwnedBy;
use super::reading::Reading;
use super::recorded::{Metric, Recorded};
use crate::input::common::IdIndex;
use crate::input::common::sqlite::{Wanted, integer, text};
use crate::schema::anomaly::Severity;

const TABLE: &str = "PC sampling";
/// Columns of counts, and what they are called.
const COUNTS: [(&str, &str); 3] = [("total_count", "samples"), ("issue_count", "issued"), ("stall_count", "stalled")];

/// Counts by reason or type: their table, their lookup table and its key, and what their names begin with.
const DETAILS: [(&str, &str, &str, &str); 2] = [
    ("pc_sample_stall_reason", "pc_sample_stall_reason_type", "pc_sample_stall_reason_type_uuid", "stall_reason"),
    ("instruction_sample", "instruction_sample_type", "instruction_sample_type_uuid", "instruction_type"),
];

/// An instruction of a kernel of this workload.
#[derive(Clone, Copy)]
struct Line {
    metric: usize,
    kernel: Option<i64>,
}

/// Instructions by the id of something; `None` for those of other workloads.
type Lines = BTreeMap<i64, Option<Line>>;

/// Adds the counts of all instructions: a metric for each.
///
/// # Errors
/// When nothing of a table can be read.
pub(crate) fn read(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    read_by_kernel(reading, recorded)?;
    let lines = read_lines(reading, recorded)?;
    let (states, mut lost) = read_states(reading, recorded, &lines)?;
    for details in DETAILS {
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
            add(&format!("{} {reason}", DETAILS[0].3), count);
        }
    }
    Ok(())
}

fn read_lines(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<Lines> {
    let objects = reading.read_shared("code_object_store", &[integer("workload_id"), integer("code_object_id")])?;
    let ids: Vec<i64> = objects.integers("id").iter().map(|id| id.unwrap_or(-1)).collect();
    let index = IdIndex::new(&ids);
    let (workloads, object_ids) = (objects.integers("workload_id"), objects.integers("code_object_id"));
    let wanted = [
        integer("code_object_uuid"),
        integer("kernel_uuid"),
        integer("code_object_offset"),
        text("comment"),
        text("instruction"),
    ];
    let rows = reading.read_shared("instruction_line", &wanted)?;
    let (stores, kernels) = (rows.integers("code_object_uuid"), rows.integers("kernel_uuid"));
    let (offsets, comments) = (rows.integers("code_object_offset"), rows.texts("comment"));
    let instructions = rows.texts("instruction");
    let mut lines = Lines::new();
    for (row, id) in rows.integers("id").iter().enumerate() {
        let Some(id) = id else { continue };
        let store = stores.get(row).and_then(|store| index.position(store));
        let workload = store.and_then(|store| workloads.get(store));
        let line = reading.owner.owns(OwnedBy::Workload, workload).then(|| {
            let object = store.and_then(|store| object_ids.get(store));
            let word = |number: Option<String>| number.unwrap_or_else(|| "unknown".to_owned());
            let object = word(object.map(|id| id.to_string()));
            let offset = word(offsets.get(row).map(|offset| format!("{offset:#x}")));
            let metric = recorded.add_metric(Metric {
                id: Some(format!("pc.{object}.{offset}")),
                name: instructions.get(row).map(str::to_owned),
                table: Some(TABLE.to_owned()),
                sub_table: comments.get(row).map(str::to_owned),
                description: None,
                unit: Some("samples".to_owned()),
            });
            Line { metric, kernel: kernels.get(row) }
        });
        lines.insert(id, line);
    }
    Ok(lines)
}

/// Adds the counts of states; returns the instruction of each state, and how many states are of none.
fn read_states(reading: &mut Reading<'_>, recorded: &mut Recorded, lines: &Lines) -> Result<(Lines, usize)> {
    let wanted = [integer("instruction_uuid"), integer("total_count"), integer("issue_count"), integer("stall_count")];
    let rows = reading.read_shared("pc_sample_state", &wanted)?;
    let columns = COUNTS.map(|(column, name)| (rows.integers(column), name));
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
    }
    Ok((states, lost))
}

/// Adds the counts of a table of reasons or types; returns how many are of no known state.
fn read_details(
    reading: &mut Reading<'_>,
    recorded: &mut Recorded,
    states: &Lines,
    (base, types, key, prefix): (&str, &str, &'static str, &str),
) -> Result<usize> {
    let words = reading.read_shared(types, &[text("text")])?;
    let ids: Vec<i64> = words.integers("id").iter().map(|id| id.unwrap_or(-1)).collect();
    let (index, words) = (IdIndex::new(&ids), words.texts("text"));
    let rows = reading.read_shared(base, &[integer("pc_sample_state_uuid"), integer(key), integer("count")])?;
    let mut lost = 0;
    let kinds = rows.integers(key);
    let counts = rows.integers("count");
    for ((state, kind), count) in rows.integers("pc_sample_state_uuid").iter().zip(kinds.iter()).zip(counts.iter()) {
        let Some(line) = state.and_then(|state| states.get(&state)) else {
            lost += 1;
            continue;
        };
        let (Some(line), Some(count)) = (line, count) else { continue };
        let word = kind.and_then(|kind| words.get(index.position(kind)?)).unwrap_or("unknown");
        recorded.add(line.kernel, Some(line.metric), Some(&format!("{prefix} {word}")), Some(count as f64));
    }
    Ok(lost)
}
