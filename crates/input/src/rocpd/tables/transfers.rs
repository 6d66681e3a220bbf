//! `memory_copies` from rocpd_memory_copy and `memory_allocations` from rocpd_memory_allocate.

use anyhow::Result;

use super::event_columns::put_correlation;
use crate::common::sqlite::{Columns, Condition};
use crate::common::{Rule, Source, count_first, direction_column, put_copy_gpus};
use crate::rocpd::assembly::Assembly;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::{categorical, text_column_from_dictionary};

const COPIES: &[Source<&'static str>] = &[
    ("id", &["copy_id"], Rule::Copied),
    ("name_id", &["direction"], Rule::Used),
    ("src_agent_id", &["src_agent_id", "direction", "gpu", "peer_gpu", "device"], Rule::Copied),
    ("dst_agent_id", &["dst_agent_id", "direction", "gpu", "peer_gpu", "device"], Rule::Copied),
    ("size", &["bytes"], Rule::Copied),
    ("graph_exec_id", &["graph_exec_id"], Rule::NotZero),
];

/// Assembles the copies.
pub(crate) fn read_copies(assembly: &mut Assembly<'_>) -> Result<()> {
    let columns = assembly.activity("memory_copy", COPIES, Condition::all())?;
    let (source, destination) = (columns.integers("src_agent_id"), columns.integers("dst_agent_id"));
    put_copy_gpus(assembly, &source, &destination);
    if assembly.wants(&["direction"]) {
        let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
        let names = columns.integers("name_id");
        let names = names.iter().map(|name| strings.get(name));
        let column = direction_column(assembly.context.process, names, &source, &destination)?;
        assembly.put("direction", column);
    }
    put_correlation(assembly, &columns, &columns.integers("id"))?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    Ok(())
}

const ALLOCATIONS: &[Source<&'static str>] = &[
    ("id", &["alloc_id"], Rule::Copied),
    ("agent_id", &["agent_id", "gpu", "device"], Rule::Copied),
    ("address", &["address"], Rule::Copied),
    ("size", &["bytes"], Rule::Copied),
    ("type", &["operation"], Rule::UsedText),
    ("level", &["level"], Rule::UsedText),
    ("extdata", &["flags"], Rule::UsedText),
];

/// Assembles the allocations, frees and scratch operations.
pub(crate) fn read_allocations(assembly: &mut Assembly<'_>) -> Result<()> {
    let columns = assembly.activity("memory_allocate", ALLOCATIONS, Condition::all())?;
    let ids = columns.integers("id");
    put_words(assembly, "operation", &columns, "type")?;
    put_words(assembly, "level", &columns, "level")?;
    assembly.put_gpu(&columns.integers("agent_id"), &ids);
    assembly.put_integers("flags", columns.texts("extdata").iter().map(flags));
    put_correlation(assembly, &columns, &ids)?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    if assembly.wants(&["bytes"]) {
        let (count, first) = count_first(columns.integers("size").iter().map(|size| size.is_none()), &ids);
        assembly.note("missing_size", Severity::Info, count, first, "allocations without a size count as 0 bytes");
    }
    Ok(())
}

fn put_words(assembly: &mut Assembly<'_>, name: &'static str, columns: &Columns, source: &str) -> Result<()> {
    assembly.put_with(name, || {
        let words = columns.texts(source);
        let words: Vec<Option<String>> = words.iter().map(|word| Some(word.unwrap_or("UNKNOWN").to_owned())).collect();
        let column = text_column_from_dictionary(name, &words, (0..words.len()).map(Some))?;
        Ok(column.cast(&categorical())?)
    })
}

fn flags(details: Option<&str>) -> Option<i64> {
    let details = details.filter(|text| text.contains("flags"))?;
    let details: serde_json::Value = serde_json::from_str(details).ok()?;
    let flags = details.get("flags")?;
    flags.as_i64().or_else(|| flags.as_str()?.trim().parse().ok())
}
