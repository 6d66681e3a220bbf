//! The tables that describe a process: queues, streams, threads, code objects, kernel symbols.

use anyhow::Result;
use polars::prelude::*;

use crate::common::or_else;
use crate::common::sqlite::{Columns, integer, text};
use crate::rocpd::assembly::Assembly;
use wavesieve_tables::columns::frames::dictionary_column;

/// Assembles `queues` or `streams`.
pub(crate) fn read_named(assembly: &mut Assembly<'_>, base: &str, key: &'static str) -> Result<()> {
    let columns = read(assembly, base, &[text("name")])?;
    assembly.put(key, columns.integers("id").into_series());
    assembly.put("name", columns.texts("name").into_series());
    Ok(())
}

/// Assembles `threads`; the key is the thread id of the operating system.
pub(crate) fn read_threads(assembly: &mut Assembly<'_>) -> Result<()> {
    let columns = read(assembly, "info_thread", &[integer("tid"), text("name"), integer("start"), integer("end")])?;
    let tids = or_else(&columns.integers("tid"), &columns.integers("id"));
    assembly.put("tid", tids.into_series());
    assembly.put("name", columns.texts("name").into_series());
    assembly.put("start_ns", columns.integers("start").into_series());
    assembly.put("end_ns", columns.integers("end").into_series());
    Ok(())
}

/// Assembles `code_objects`.
pub(crate) fn read_code_objects(assembly: &mut Assembly<'_>) -> Result<()> {
    let wanted = [integer("agent_id"), text("uri"), integer("load_base"), integer("load_size")];
    let columns = read(assembly, "info_code_object", &wanted)?;
    assembly.put("code_object_id", columns.integers("id").into_series());
    assembly.put("uri", columns.texts("uri").into_series());
    for name in ["agent_id", "load_base", "load_size"] {
        assembly.put(name, columns.integers(name).into_series());
    }
    Ok(())
}

fn read(assembly: &mut Assembly<'_>, base: &str, wanted: &[crate::common::sqlite::Wanted]) -> Result<Columns> {
    let columns = assembly.database.read(base, wanted, 1)?;
    assembly.absorb(base, &columns);
    assembly.set_height(columns.height);
    Ok(columns)
}

/// Assembles `kernel_symbols`.
pub(crate) fn read_kernel_symbols(assembly: &mut Assembly<'_>) -> Result<()> {
    let symbols = assembly.symbols.get(assembly.database)?;
    let columns = &symbols.columns;
    assembly.absorb("info_kernel_symbol", columns);
    assembly.set_height(columns.height);
    assembly.put("kernel_id", columns.integers("id").into_series());
    if assembly.wants(&["kernel_name", "short_name", "base_name", "mangled_name", "category"]) {
        let wanted = assembly.wanted();
        let names = symbols.names.forms(assembly.context.categories, &|name| wanted.contains(name));
        for (name, values) in names.columns() {
            assembly.put_with(name, || Ok(dictionary_column(name, values, (0..values.len()).map(Some))?))?;
        }
    }
    for (name, source) in [
        ("vgpr", "arch_vgpr_count"),
        ("accum_vgpr", "accum_vgpr_count"),
        ("sgpr", "sgpr_count"),
        ("lds_static_bytes", "group_segment_size"),
        ("scratch_static_bytes", "private_segment_size"),
        ("code_object_id", "code_object_id"),
    ] {
        assembly.put(name, columns.integers(source).into_series());
    }
    Ok(())
}
