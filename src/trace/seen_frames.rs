//! Tables of a trace that are looked at while they are read.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::{Expr, IntoLazy, LazyFrame, col};

use super::frames::is_identity;
use super::logical::{Member, Trace};
use super::requests::{ProcessTables, Request, columns_of, known_table};

impl Trace {
    /// As [`Trace::frames`], but of every process `more` tables and columns are read, which `see` gets with the others, and
    /// which are then let go of.
    ///
    /// # Errors
    /// As [`Trace::frames`], and when `see` fails.
    pub fn frames_seen(
        &self,
        request: &Request,
        more: impl Fn(&Member) -> Request + Sync + Send,
        see: impl Fn(&Member, &ProcessTables) -> Result<()> + Sync + Send,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        self.frames_of(request, |member| {
            let mut wider = request.clone();
            for (name, columns) in more(member) {
                wider.entry(name).or_default().extend(columns);
            }
            let mut tables = self.process_frames(member, &wider)?;
            see(member, &tables)?;
            tables.retain(|name, _| request.contains_key(name));
            for (name, frame) in &mut tables {
                let (Some(columns), Some(read)) = (request.get(name), wider.get(name)) else { continue };
                if columns != read {
                    let kept = columns_of(known_table(name)?, columns).filter(|name| !is_identity(name));
                    *frame = frame.clone().select(kept.map(col).collect::<Vec<Expr>>()).collect()?.lazy();
                }
            }
            Ok(tables)
        })
    }
}
