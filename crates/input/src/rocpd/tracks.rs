//! Tracks: what rows that lie on one have in common.

use std::sync::OnceLock;

use anyhow::Result;
use polars::prelude::*;

use super::database::Database;
use crate::common::IdIndex;
use crate::common::index_of;
use crate::common::sqlite::{Columns, Values, integer};

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
    /// Values of a column of the tracks for a column of track ids.
    pub fn join(&self, name: &str, track_ids: &Int64Chunked) -> Int64Chunked {
        let values = self.columns.integers(name);
        let value = |id: i64| self.index.position(id).and_then(|at| values.get(at));
        track_ids.iter().map(|id| id.and_then(value)).collect_ca(name.into())
    }
}

/// The tracks, read when first needed.
#[derive(Debug, Default)]
pub(crate) struct TrackCache(OnceLock<Tracks>);

impl TrackCache {
    /// The tracks of a partition.
    pub fn get(&self, database: &Database) -> Result<&Tracks> {
        if let Some(tracks) = self.0.get() {
            return Ok(tracks);
        }
        let wanted =
            [integer("name_id"), integer("tid"), integer("agent_id"), integer("queue_id"), integer("stream_id")];
        let columns = database.read(TRACKS, &wanted, 1)?;
        let tracks = Tracks { index: index_of(&columns.integers("id")), columns };
        Ok(self.0.get_or_init(|| tracks))
    }

    /// The damage to the tracks that were read.
    pub fn damage(&self) -> Option<&str> {
        self.0.get()?.columns.damage.as_deref()
    }
}

/// Adds the named columns of the tracks to rows that have a column `track_id`.
pub fn add(columns: &mut Columns, tracks: &Tracks, names: &[&'static str]) {
    let track_ids = columns.integers("track_id");
    for name in names {
        columns.values.push((name, Values::Integer(tracks.join(name, &track_ids))));
    }
}
