//! GPU operations of a process, the calls that launched them, and columns of other tables at their rows.

use anyhow::Result;
use polars::prelude::*;

use super::kinds::OpKind;
use super::reading::Reading;
use crate::common::sqlite::{Columns, Condition, LISTED_KERNELS, RowTest, Wanted, integer, listed};
use crate::common::{IdIndex, count_first, index_of};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::trace::source::RowCount;

pub(crate) struct Ops {
    pub columns: Columns,
    /// Id of the call that launched each operation, if it was requested and is known.
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
        let (count, first) = count_first(orphans, &ids);
        let detail = "no API call recorded for these operations; they have no thread and no correlation id";
        reading.note("missing_call", Severity::Warning, count, first, detail);
    }
}

pub fn count(reading: &mut Reading<'_>, kind: OpKind) -> Result<RowCount> {
    if reading.owner.others.is_empty() {
        return reading.count("op", &of_kind(reading, kind));
    }
    let rows = Ops::read(reading, kind, &[], false)?.columns.height as u64;
    Ok(RowCount { rows, damage: reading.reported() })
}

/// Condition for operations of a kind. Operations of an unknown type are dispatches.
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

/// Columns of a table by an id.
pub struct Joined {
    index: IdIndex,
    columns: Columns,
}

impl Joined {
    /// Reads the `wanted` columns of a table and indexes its rows by the column `key`.
    pub fn read(
        reading: &mut Reading<'_>,
        base: &str,
        key: &'static str,
        wanted: &[Wanted],
        condition: &Condition,
    ) -> Result<Self> {
        let own = [integer(key)];
        let all: Vec<Wanted> = own.iter().filter(|own| own.name != "id").chain(wanted).copied().collect();
        let mut columns = reading.read(base, &all, condition)?;
        let keys = columns.integers(key);
        if keys.null_count() > 0 {
            columns = columns.filter(&keys.is_not_null())?;
        }
        Ok(Self { index: index_of(&columns.integers(key)), columns })
    }

    pub fn has(&self, id: Option<i64>) -> bool {
        self.position(id).is_some()
    }

    pub fn position(&self, id: Option<i64>) -> Option<usize> {
        id.and_then(|id| self.index.position(id))
    }

    /// Values of an integer column for every id; null if the id or the value is missing.
    pub fn integers(&self, name: &'static str, ids: &Int64Chunked) -> Int64Chunked {
        let values = self.columns.integers(name);
        ids.iter().map(|id| self.position(id).and_then(|at| values.get(at))).collect_ca(name.into())
    }

    pub fn texts(&self, name: &'static str) -> StringChunked {
        self.columns.texts(name)
    }
}

pub fn calls(reading: &mut Reading<'_>, wanted: &[Wanted]) -> Result<Joined> {
    Joined::read(reading, "api", "id", wanted, &Condition::all())
}
