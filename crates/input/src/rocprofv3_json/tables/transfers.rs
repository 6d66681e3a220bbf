//! `memory_copies`, `memory_allocations`, `graph_launches` and `hip_events`.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::IntoColumn;

use crate::common::{
    ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, allocation_words, direction_column, or_else, put_copy_gpus, zeros,
};
use crate::rocprofv3_json::integers::Integers;
use crate::rocprofv3_json::layout::Selected;
use crate::rocprofv3_json::layouts::{Activity, COPY_AGENTS};
use crate::rocprofv3_json::reading::{Reading, ordinals, zero_as_null};
use crate::rocprofv3_json::structure::gathered::Keep;
use crate::rocprofv3_json::structure::roles::{ALLOCATIONS, COPIES, GRAPH_LAUNCHES, HIP_EVENTS};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::dictionary_column;

/// Reads the sections in order and adds the columns that are copied unchanged.
fn rows(reading: &mut Reading<'_>, names: &[&str]) -> Result<Integers> {
    Ok(rows_of_two(reading, names)?.0)
}

/// Works like [`rows`], and also returns the number of rows in the sections with the first name.
fn rows_of_two(reading: &mut Reading<'_>, names: &[&str]) -> Result<(Integers, usize)> {
    let mut all = Integers::default();
    let mut of_first = 0;
    let selected = Selected::new::<Activity>(Keep::Every, |columns| reading.builder.wants(columns));
    for name in names {
        for section in reading.capture.process.named(name) {
            let read = Integers::read::<Activity>(reading.capture, section, &selected, &mut reading.findings)?;
            all.append(read);
        }
        if Some(name) == names.first() {
            of_first = all.height;
        }
    }
    reading.builder.set_height(all.height);
    let copied = ["queue_id", "source_queue_id", "stream_id", "tid", "correlation_id", "graph_exec_id", "event_handle"];
    for name in copied.into_iter().chain(["kernels", "address", "flags"]) {
        reading.builder.put_with(name, || Ok(all.get(name).into_column()))?;
    }
    reading.put_times(&mut all);
    Ok((all, of_first))
}

/// Names of the operations of rows, as codes into a list.
fn operations(reading: &mut Reading<'_>, rows: &Integers) -> Result<(Vec<Option<String>>, Vec<usize>)> {
    let (kinds, findings) = reading.capture.kinds()?;
    reading.findings.extend(findings);
    let mut names: Vec<Option<String>> = Vec::new();
    let mut known: BTreeMap<(Option<i64>, Option<i64>), usize> = BTreeMap::new();
    let (kind, operation) = (rows.rows("kind"), rows.rows("operation"));
    let codes = kind.zip(operation).map(|key| {
        *known.entry(key).or_insert_with(|| {
            names.push(kinds.operation(key.0, key.1).map(str::to_uppercase));
            names.len() - 1
        })
    });
    let codes: Vec<usize> = codes.collect();
    let unknown = codes.iter().filter(|code| matches!(names.get(**code), Some(None))).count();
    reading.builder.note(
        "unknown_kind",
        Severity::Warning,
        unknown,
        None,
        "rows have a kind or operation that the file does not name",
    );
    Ok((names, codes))
}

/// Assembles the copies.
pub(crate) fn read_copies(reading: &mut Reading<'_>) -> Result<()> {
    let rows = rows(reading, &[COPIES])?;
    let ids = ordinals(rows.height);
    reading.put("bytes", rows.get("bytes"));
    if reading.builder.wants(COPY_AGENTS) {
        let source = reading.agents(&rows.get("src_agent_id"), &ids);
        let destination = reading.agents(&rows.get("dst_agent_id"), &ids);
        put_copy_gpus(&mut reading.builder, &source, &destination);
        if reading.builder.wants(&["direction"]) {
            let (names, codes) = operations(reading, &rows)?;
            let names = codes.iter().map(|code| names.get(*code).and_then(Option::as_deref));
            let process = reading.builder.context.process;
            let column = direction_column(process, names, &source, &destination)?;
            reading.builder.put("direction", column);
        }
        reading.put("src_agent_id", source);
        reading.put("dst_agent_id", destination);
    }
    reading.put("copy_id", ids);
    Ok(())
}

/// Assembles the allocations, frees and scratch operations.
pub(crate) fn read_allocations(reading: &mut Reading<'_>) -> Result<()> {
    let (rows, plain) = rows_of_two(reading, ALLOCATIONS)?;
    let ids = ordinals(rows.height);
    reading.put_agent(&rows.get("agent_id"), &ids);
    reading.put("bytes", or_else(&rows.get("bytes"), &zeros(rows.height)));
    if reading.builder.wants(&["operation", "level"]) {
        let (names, codes) = operations(reading, &rows)?;
        let words: Vec<(&str, &str)> = codes
            .iter()
            .enumerate()
            .map(|(row, code)| {
                allocation_words(names.get(*code).and_then(Option::as_deref).unwrap_or_default(), row >= plain)
            })
            .collect();
        for (name, dictionary, word) in [
            (
                "operation",
                ALLOCATION_OPERATIONS,
                (|words: &(&'static str, &'static str)| words.0) as fn(&_) -> &'static str,
            ),
            ("level", ALLOCATION_LEVELS, |words| words.1),
        ] {
            let codes = words.iter().map(|words| dictionary.iter().position(|known| *known == word(words)));
            let dictionary: Vec<Option<String>> = dictionary.iter().map(|word| Some((*word).to_owned())).collect();
            let column = dictionary_column(name, &dictionary, codes)?;
            reading.builder.put(name, column);
        }
    }
    reading.put("alloc_id", ids);
    Ok(())
}

/// Assembles the graph launches.
pub(crate) fn read_graph_launches(reading: &mut Reading<'_>) -> Result<()> {
    let rows = rows(reading, GRAPH_LAUNCHES)?;
    let ids = ordinals(rows.height);
    reading.put_agent(&rows.get("agent_id"), &ids);
    reading.put("graph_launch_id", ids);
    Ok(())
}

/// Assembles the HIP events.
pub(crate) fn read_hip_events(reading: &mut Reading<'_>) -> Result<()> {
    let rows = rows(reading, &[HIP_EVENTS])?;
    let ids = ordinals(rows.height);
    reading.put_agent(&rows.get("agent_id"), &ids);
    reading.put("source_queue_id", zero_as_null(&rows.get("source_queue_id")));
    if reading.builder.wants(&["operation"]) {
        let (mut names, codes) = operations(reading, &rows)?;
        for name in &mut names {
            name.get_or_insert_with(|| "UNKNOWN".to_owned());
        }
        let column = dictionary_column("operation", &names, codes.into_iter().map(Some))?;
        reading.builder.put("operation", column);
    }
    reading.put("hip_event_id", ids);
    Ok(())
}
