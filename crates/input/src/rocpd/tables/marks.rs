//! `marks` from rocpd_sample and the regions without length.

use anyhow::Result;
use polars::prelude::*;

use super::event_columns::put_event_columns;
use super::regions::without_length;
use super::{pc_samples, samples};
use crate::common::sqlite::{Columns, Condition, integer};
use crate::common::{or, or_else, ordinals};
use crate::rocpd::assembly::Assembly;
use wavesieve_tables::columns::frames::dictionary_column;

/// Assembles the records without length: samples on tracks that hold no value and no program counter, then regions that
/// end when they start. They are numbered from 1 in this order.
pub(crate) fn read_marks(assembly: &mut Assembly<'_>) -> Result<()> {
    let threads = assembly.context.threads;
    let strings = assembly.lookups.strings(assembly.database, threads)?;
    let wanted = ["track_id", "name_id", "tid", "timestamp", "event_id"].map(integer);
    let samples = assembly.read("sample", &wanted, Condition::all())?;
    let instants = read_instants(assembly)?;

    let chosen = marked(assembly, &samples)?;
    let of_samples = |name: &str| -> Int64Chunked {
        let values = samples.integers(name);
        chosen.iter().map(|at| values.get(*at)).collect_ca("".into())
    };
    let joined = |first: Int64Chunked, second: Int64Chunked| -> Int64Chunked {
        first.iter().chain(second.iter()).collect_ca("".into())
    };
    let height = chosen.len() + instants.height;
    assembly.set_height(height);
    let ids = ordinals(height);
    assembly.put("mark_id", ids.clone());
    let of_tracks = assembly.database.tracks()?.join("name_id", &of_samples("track_id"));
    // Schema 3 names only the track, which rocprofv3 names by the category.
    let name_ids = joined(or_else(&of_samples("name_id"), &of_tracks), instants.integers("name_id"));
    assembly.put_with("name", || {
        Ok(dictionary_column("name", strings.values(), name_ids.iter().map(|id| strings.position(id)))?)
    })?;
    let tids = joined(of_samples("tid"), instants.integers("tid"));
    let tids = assembly.lookups.thread_ids(assembly.database, &tids)?;
    assembly.put("tid", tids);
    let event_ids = joined(of_samples("event_id"), instants.integers("event_id"));
    put_event_columns(assembly, &event_ids, &ids)?;
    let times = joined(of_samples("timestamp"), instants.integers("start"));
    assembly.put("time_ns", or(&times, 0));
    Ok(())
}

/// Reads regions that end when they start. Nothing is read if all regions are known to have a length.
fn read_instants(assembly: &mut Assembly<'_>) -> Result<Columns> {
    if assembly.lookups.have_no_instants() {
        return Ok(Columns::default());
    }
    assembly.read("region", &["name_id", "tid", "start", "event_id"].map(integer), without_length())
}

/// Positions of the samples that are marks.
fn marked(assembly: &mut Assembly<'_>, rows: &Columns) -> Result<Vec<usize>> {
    let measured = samples::measured(assembly, rows)?;
    let counted = pc_samples::rows(assembly)?;
    let is_counted = |id: Option<i64>| id.is_some_and(|id| counted.contains(&id));
    let ids = rows.integers("id");
    let marks = measured.iter().zip(ids.iter()).enumerate();
    Ok(marks.filter(|(_, (measured, id))| !**measured && !is_counted(*id)).map(|(at, _)| at).collect())
}
