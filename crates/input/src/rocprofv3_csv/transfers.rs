//! `memory_copies`, `memory_allocations`, `graph_launches` and `hip_events`.

use anyhow::Result;

use super::census::is_scratch;
use super::columns::Col;
use super::fields::{Fields, Plan};
use super::kinds::RecordKind;
use super::reading::Reading;
use crate::common::{
    ALLOCATION_LEVELS, ALLOCATION_OPERATIONS, Rule, Source, allocation_words, direction_column, ordinals, put_copy_gpus,
};
use wavesieve_tables::columns::frames::dictionary_column;

const TIMES: &[&str] = &["start_ns", "end_ns", "duration_ns", "valid"];
const COPY_AGENTS: &[&str] = &["src_agent_id", "dst_agent_id", "direction", "gpu", "peer_gpu", "device"];

const LAYOUT: &[Source<Col>] = &[
    (Col::SourceAgent, COPY_AGENTS, Rule::Used),
    (Col::DestinationAgent, COPY_AGENTS, Rule::Used),
    (Col::Agent, &["agent_id", "gpu", "device"], Rule::Used),
    (Col::Bytes, &["bytes"], Rule::Copied),
    (Col::Address, &["address"], Rule::NotZero),
    (Col::Flags, &["flags"], Rule::Copied),
    (Col::Queue, &["queue_id"], Rule::Copied),
    (Col::SourceQueue, &["source_queue_id"], Rule::NotZero),
    (Col::Stream, &["stream_id"], Rule::Copied),
    (Col::ThreadId, &["tid"], Rule::Copied),
    (Col::Correlation, &["correlation_id"], Rule::NotZero),
    (Col::GraphExec, &["graph_exec_id"], Rule::NotZero),
    (Col::GraphKernels, &["kernels"], Rule::Copied),
    (Col::EventHandle, &["event_handle"], Rule::Copied),
    (Col::Start, TIMES, Rule::Used),
    (Col::End, TIMES, Rule::Used),
    (Col::Direction, &["direction"], Rule::UsedText),
    (Col::Operation, &["operation", "level"], Rule::UsedText),
];

fn rows(reading: &mut Reading<'_>, kind: RecordKind) -> Result<Fields> {
    reading.rows(&Plan { mark: is_scratch, ..Plan::new(kind, LAYOUT, &[]) })
}

/// Assembles the copies.
pub(crate) fn read_copies(reading: &mut Reading<'_>) -> Result<()> {
    let rows = rows(reading, RecordKind::Copies)?;
    reading.put("copy_id", ordinals(rows.height));
    if reading.builder.wants(COPY_AGENTS) {
        let source = reading.agents(&rows.get(Col::SourceAgent));
        let destination = reading.agents(&rows.get(Col::DestinationAgent));
        put_copy_gpus(&mut reading.builder, &source, &destination);
        if reading.builder.wants(&["direction"]) {
            let words = rows.words(Col::Direction);
            let list = words.list();
            let names = words.codes.iter().map(|code| list.get((*code)?).and_then(Option::as_deref));
            let process = reading.builder.context.process;
            let column = direction_column(process, names, &source, &destination)?;
            reading.builder.put("direction", column);
        }
        reading.put("src_agent_id", source);
        reading.put("dst_agent_id", destination);
    }
    Ok(())
}

/// Assembles the allocations, frees and scratch operations.
pub(crate) fn read_allocations(reading: &mut Reading<'_>) -> Result<()> {
    let rows = rows(reading, RecordKind::Allocations)?;
    let ids = ordinals(rows.height);
    reading.put_agent(&rows.get(Col::Agent), &ids);
    reading.put("alloc_id", ids);
    if !reading.builder.wants(&["operation", "level"]) {
        return Ok(());
    }
    let words = rows.words(Col::Operation);
    let list = words.list();
    let pairs: Vec<(&str, &str)> = words
        .codes
        .iter()
        .zip(&rows.marks)
        .map(|(code, is_scratch)| {
            let name = code.and_then(|code| list.get(code).and_then(Option::as_deref)).unwrap_or_default();
            allocation_words(&name.to_ascii_uppercase(), *is_scratch)
        })
        .collect();
    let firsts: Vec<&str> = pairs.iter().map(|pair| pair.0).collect();
    let seconds: Vec<&str> = pairs.iter().map(|pair| pair.1).collect();
    for (name, dictionary, words) in
        [("operation", ALLOCATION_OPERATIONS, firsts), ("level", ALLOCATION_LEVELS, seconds)]
    {
        let codes = words.iter().map(|word| dictionary.iter().position(|known| known == word));
        let dictionary: Vec<Option<String>> = dictionary.iter().map(|word| Some((*word).to_owned())).collect();
        let column = dictionary_column(name, &dictionary, codes)?;
        reading.builder.put(name, column);
    }
    Ok(())
}

/// Assembles the graph launches.
pub(crate) fn read_graph_launches(reading: &mut Reading<'_>) -> Result<()> {
    let rows = rows(reading, RecordKind::GraphLaunches)?;
    let ids = ordinals(rows.height);
    reading.put_agent(&rows.get(Col::Agent), &ids);
    reading.put("graph_launch_id", ids);
    Ok(())
}

/// Assembles the HIP events.
pub(crate) fn read_hip_events(reading: &mut Reading<'_>) -> Result<()> {
    let rows = rows(reading, RecordKind::Events)?;
    let ids = ordinals(rows.height);
    reading.put_agent(&rows.get(Col::Agent), &ids);
    reading.put("hip_event_id", ids);
    let words = rows.words(Col::Operation);
    let mut list = words.list();
    let unknown = list.len();
    list.push(Some("UNKNOWN".to_owned()));
    let codes = words.codes.iter().map(|code| Some(code.unwrap_or(unknown)));
    let column = dictionary_column("operation", &list, codes)?;
    reading.builder.put("operation", column);
    Ok(())
}
