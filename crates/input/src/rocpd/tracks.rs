//! Tracks: values that all rows of a track share.

use anyhow::Result;
use polars::prelude::*;

use super::database::Database;
use crate::common::sqlite::{Columns, Values, integer};
use crate::common::{IdIndex, index_of};

/// The table of tracks.
pub const TRACKS: &str = "track";

/// Columns that a row may take from its track.
pub(crate) const OF_TRACK: &[&str] = &["tid", "agent_id", "queue_id", "stream_id"];

/// The track table of a partition.
#[derive(Debug)]
pub struct Tracks {
    index: IdIndex,
    columns: Columns,
}

impl Tracks {
    pub fn read(database: &Database) -> Result<Self> {
        let wanted = ["name_id", "tid", "agent_id", "queue_id", "stream_id"].map(integer);
        let columns = database.read(TRACKS, &wanted, 1)?;
        Ok(Self { index: index_of(&columns.integers("id")), columns })
    }

    /// The damage to the table of tracks.
    pub fn damage(&self) -> Option<&str> {
        self.columns.damage.as_deref()
    }

    /// Adds the named columns of the tracks to rows that have a column `track_id`.
    pub fn add(&self, columns: &mut Columns, names: &[&'static str]) {
        let track_ids = columns.integers("track_id");
        for name in names {
            columns.values.push((name, Values::Integer(self.join(name, &track_ids))));
        }
    }

    /// Values of a column of the tracks for a column of track ids.
    pub fn join(&self, name: &str, track_ids: &Int64Chunked) -> Int64Chunked {
        let values = self.columns.integers(name);
        let value = |id: i64| self.index.position(id).and_then(|at| values.get(at));
        track_ids.iter().map(|id| id.and_then(value)).collect_ca(name.into())
    }
}
