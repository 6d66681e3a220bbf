//! GPU operations of a process, and the calls that launched them.

use anyhow::Result;
use polars::prelude::*;

use super::joins::{Joined, calls};
use super::kinds::OpKind;
use super::reading::Reading;
use crate::common::sqlite::{Columns, Condition, RowTest, Wanted, integer, listed};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::trace::source::RowCount;

/// Kernel ids that are listed in a statement; with more of them the rows are chosen after reading alone.
const LISTED_KERNELS: usize = 2_000;

/// Operations of one kind.
pub(crate) struct Ops {
    pub columns: Columns,
    /// Id of the call behind each, where it was requested and is known.
    pub calls: Int64Chunked,
}

impl Ops {
    /// Reads the `wanted` columns of the operations of a kind, with the calls behind them if `with_calls`.
    pub fn read(reading: &mut Reading<'_>, kind: OpKind, wanted: &[Wanted], with_calls: bool) -> Result<Self> {
        let hinted = reading.hinted().and_sql(hinted_kernels(reading, kind));
        let condition = of_kind(reading, kind).and_all(hinted);
        let columns = reading.read("op", wanted, &condition)?;
        let is_shared = !reading.owner.others.is_empty();
        if !with_calls && !is_shared {
            let calls = Int64Chunked::full_null("".into(), columns.height);
            return Ok(Self { columns, calls });
        }
        let links = Joined::read(reading, "api_ops", "op_id", &[integer("api_id")], &Condition::all())?;
        let ids = columns.integers("id");
        let of_ops = links.integers("api_id", &ids);
        if !is_shared {
            return Ok(Self { columns, calls: of_ops });
        }
        let processes = calls(reading, &[integer("pid")])?.integers("pid", &of_ops);
        let sessions = &reading.capture.census.sessions;
        let own: BooleanChunked = ids
            .iter()
            .zip(processes.iter())
            .map(|(id, pid)| {
                // An operation whose call was not recorded still has the session of its process in its id.
                let pid = pid.or_else(|| id.and_then(|id| sessions.get(&(id >> 32)).copied()));
                Some(reading.owner.owns(pid))
            })
            .collect_ca("".into());
        Ok(Self { columns: columns.filter(&own)?, calls: of_ops.filter(&own)? })
    }

    /// Notes operations without an API call that launched them.
    pub(crate) fn note_orphans(&self, reading: &mut Reading<'_>) {
        let ids = self.columns.integers("id");
        let orphans = self.calls.iter().map(|call| call.is_none());
        let (count, first) = crate::common::count_first(orphans, &ids);
        let detail = "no API call recorded for these operations; they have no thread and no correlation id";
        reading.note("missing_call", Severity::Warning, count, first, detail);
    }
}

/// Number of operations of a kind.
pub fn count(reading: &mut Reading<'_>, kind: OpKind) -> Result<RowCount> {
    if reading.owner.others.is_empty() {
        return reading.count("op", &of_kind(reading, kind));
    }
    let rows = Ops::read(reading, kind, &[], false)?.columns.height as u64;
    Ok(RowCount { rows, damage: reading.reported() })
}

/// Condition for operations of a kind. Those of a type that is not a known string are dispatches.
fn of_kind(reading: &Reading<'_>, kind: OpKind) -> Condition {
    let census = &reading.capture.census;
    if kind == OpKind::Kernel {
        let apart: Vec<i64> = [census.types_of(OpKind::Copy), census.types_of(OpKind::Other)].concat();
        let all = Condition::all();
        return if apart.is_empty() { all } else { all.and(RowTest::NoneOf("opType_id", apart)) };
    }
    Condition::all().and(RowTest::OneOf("opType_id", census.types_of(kind)))
}

fn hinted_kernels(reading: &Reading<'_>, kind: OpKind) -> String {
    let ids = reading.context.hint.and_then(|hint| hint.kernel_ids.as_ref());
    let ids = ids.filter(|ids| kind == OpKind::Kernel && ids.len() <= LISTED_KERNELS);
    let condition = ids.map(|ids| format!(include_str!("sql/kernels_named.sql"), ids = listed(ids)));
    condition.map(|condition| condition.trim_end().to_owned()).unwrap_or_default()
}
