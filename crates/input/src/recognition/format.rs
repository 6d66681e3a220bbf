//! The interface of trace formats: each recognizes its content and opens it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;

use super::content::Content;
use super::unread_content::UnreadContent;
use crate::common::csv::CsvFile;
use crate::common::sqlite::Reader;
use crate::json::Spool;
use crate::rocpd::EventCache;
use wavesieve_model::analysis::categories::Categories;
use wavesieve_model::schema::anomaly::{Anomaly, Damage};
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::source::ProcessReader;

pub trait Format: Sync {
    /// Recognizes content in this format; `None` if it has another format.
    fn recognize(&self, content: &mut Content) -> Option<Recognized>;

    /// The captures that [`Recognized::Part`]s of this format make up.
    fn grouped(&self, _parts: Vec<CsvFile>) -> Vec<Arc<dyn Group>> {
        Vec::new()
    }
}

type Open = Box<dyn FnOnce(&Opening<'_>) -> Result<Opened>>;

/// The role of content in a format.
pub enum Recognized {
    /// A complete capture, with the function that opens it.
    Capture(Open),
    /// A file of a capture.
    Part,
    /// A file that is read only if its directory has parts.
    Unread(UnreadContent),
    UnreadContent(UnreadContent),
}

impl Recognized {
    pub fn capture(open: impl FnOnce(&Opening<'_>) -> Result<Opened> + 'static) -> Self {
        Self::Capture(Box::new(open))
    }
}

impl From<UnreadContent> for Recognized {
    fn from(unread: UnreadContent) -> Self {
        Self::UnreadContent(unread)
    }
}

pub struct Opening<'a> {
    pub path: &'a Path,
    pub shown: &'a str,
    /// The last part of `shown`.
    pub name: &'a str,
    /// The reader of databases.
    pub reader: Reader,
    pub categories: &'a Categories,
    /// Columns that will be read soon.
    pub ahead: &'a Request,
    /// Resources that it shares with other captures.
    pub shared: &'a Shared,
}

/// Resources shared by captures that are opened together.
#[derive(Default)]
pub struct Shared {
    /// Files of decompressed text, one for each thread that opens files.
    spools: Mutex<Vec<Spool>>,
    /// Events of databases.
    pub events: Arc<EventCache>,
}

impl Shared {
    /// Opens a capture with a file for decompressed text that no other thread uses.
    pub(crate) fn with_spool<T>(&self, open: impl FnOnce(&mut Spool) -> T) -> T {
        let mut spool = self.spools.lock().pop().unwrap_or_default();
        let opened = open(&mut spool);
        self.spools.lock().push(spool);
        opened
    }
}

pub trait Group: Send + Sync {
    /// Path of the only file, or a pattern that matches all files.
    fn shown(&self) -> &str;

    fn files(&self) -> Vec<PathBuf>;

    /// Files that are not read, because other files hold the same rows.
    fn repeated(&self) -> &[String];

    /// Opens the capture.
    fn open(&self) -> Result<Opened>;
}

pub struct Opened {
    pub processes: Vec<ProcessInput>,
    /// Anomalies of the capture as a whole.
    pub notes: Vec<Anomaly>,
    /// Parts of it that cannot be read.
    pub damage: Vec<Damage>,
}

pub struct ProcessInput {
    pub facts: ProcessFacts,
    pub source: Arc<dyn ProcessReader>,
}
