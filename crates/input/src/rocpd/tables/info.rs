//! The tables that describe a process: queues, streams, threads, code objects, kernel symbols.

use anyhow::Result;

use crate::common::{Rule, Source};
use crate::rocpd::assembly::Assembly;

/// `queues`.
pub(crate) const QUEUES: &[Source<&'static str>] =
    &[("id", &["queue_id"], Rule::Copied), ("name", &["name"], Rule::Text)];

/// `streams`.
pub(crate) const STREAMS: &[Source<&'static str>] =
    &[("id", &["stream_id"], Rule::Copied), ("name", &["name"], Rule::Text)];

/// `threads`; the key is the thread id of the operating system.
pub(crate) const THREADS: &[Source<&'static str>] = &[
    ("tid", &["tid"], Rule::OrKey),
    ("name", &["name"], Rule::Text),
    ("start", &["start_ns"], Rule::Copied),
    ("end", &["end_ns"], Rule::Copied),
];

/// `code_objects`.
pub(crate) const CODE_OBJECTS: &[Source<&'static str>] = &[
    ("id", &["code_object_id"], Rule::Copied),
    ("uri", &["uri"], Rule::Text),
    ("agent_id", &["agent_id"], Rule::Copied),
    ("load_base", &["load_base"], Rule::Copied),
    ("load_size", &["load_size"], Rule::Copied),
];

/// Assembles `kernel_symbols`.
pub(crate) fn read_kernel_symbols(assembly: &mut Assembly<'_>) -> Result<()> {
    let symbols = assembly.lookups.symbols(assembly.database)?;
    let columns = &symbols.columns;
    assembly.absorb("info_kernel_symbol", columns);
    assembly.set_height(columns.height);
    assembly.put("kernel_id", columns.integers("id"));
    assembly.put_symbol_names(&symbols.names)?;
    for (name, source) in [
        ("vgpr", "arch_vgpr_count"),
        ("accum_vgpr", "accum_vgpr_count"),
        ("sgpr", "sgpr_count"),
        ("lds_static_bytes", "group_segment_size"),
        ("scratch_static_bytes", "private_segment_size"),
        ("code_object_id", "code_object_id"),
    ] {
        assembly.put(name, columns.integers(source));
    }
    Ok(())
}
