//! A format of traces: the content that belongs to it, and how that is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;

use super::content::Content;
use super::unread_content::UnreadContent;
use crate::analysis::categories::Categories;
use crate::columns::requests::Request;
use crate::input::common::csv::CsvFile;
use crate::input::common::sqlite::Reader;
use crate::input::json::Spool;
use crate::input::rocpd::EventCache;
use crate::schema::anomaly::{Anomaly, Damage};
use crate::schema::facts::ProcessFacts;
use crate::trace::source::ProcessReader;

/// A format of traces.
pub(crate) trait Format: Sync {
    /// Recognizes content in this format; `None` if it is of another.
    fn recognize(&self, content: &mut Content) -> Option<Recognized>;

    /// The captures that [`Recognized::Part`]s of this format make up.
    fn grouped(&self, _parts: Vec<CsvFile>) -> Vec<Arc<dyn Group>> {
        Vec::new()
    }
}

/// Opens a capture.
type Open = Box<dyn FnOnce(&Opening<'_>) -> Result<Opened>>;

/// The role of content in a format.
pub(crate) enum Recognized {
    /// A capture by itself, which this opens.
    Capture(Open),
    /// A file of a capture.
    Part,
    /// A file that is read with parts in its directory; without one it is not read.
    Unread(UnreadContent),
    /// Nothing that can be read.
    UnreadContent(UnreadContent),
}

impl Recognized {
    /// A capture that is opened by a function.
    pub(crate) fn capture(open: impl FnOnce(&Opening<'_>) -> Result<Opened> + 'static) -> Self {
        Self::Capture(Box::new(open))
    }
}

impl From<UnreadContent> for Recognized {
    fn from(unread: UnreadContent) -> Self {
        Self::UnreadContent(unread)
    }
}

/// The inputs for opening a capture.
pub(crate) struct Opening<'a> {
    /// The file or directory.
    pub path: &'a Path,
    /// Its path as given or found.
    pub shown: &'a str,
    /// The last part of that.
    pub name: &'a str,
    /// The reader of databases.
    pub reader: Reader,
    /// Category rules.
    pub categories: &'a Categories,
    /// Columns that will be read soon.
    pub ahead: &'a Request,
    /// Resources that it shares with other captures.
    pub shared: &'a Shared,
}

/// Resources shared by captures that are opened together.
#[derive(Default)]
pub(crate) struct Shared {
    /// Files of decompressed text, one for each thread that opens files.
    pub spools: Mutex<Vec<Spool>>,
    /// Events of databases.
    pub events: Arc<EventCache>,
}

/// Files that are read together.
pub(crate) trait Group: Send + Sync {
    /// Path of the only file, otherwise a pattern that matches all.
    fn shown(&self) -> &str;

    fn files(&self) -> Vec<PathBuf>;

    /// Files that are not read, as others hold the same.
    fn repeated(&self) -> &[String];

    /// Opens the capture.
    fn open(&self) -> Result<Opened>;
}

/// The content of a capture.
pub struct Opened {
    pub processes: Vec<ProcessInput>,
    /// Anomalies of the capture as a whole.
    pub notes: Vec<Anomaly>,
    /// Parts of it that cannot be read.
    pub damage: Vec<Damage>,
}

/// A process found in an input.
pub struct ProcessInput {
    /// Facts about it from the input.
    pub facts: ProcessFacts,
    /// Reads its tables.
    pub source: Arc<dyn ProcessReader>,
}
