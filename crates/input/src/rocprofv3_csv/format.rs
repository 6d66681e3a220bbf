//! Recognizes rocprofv3 CSV.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::group::grouped;
use super::source::find;
use crate::common::csv::CsvFile;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Group, Opened, Recognized};
use crate::recognition::head::Head;

/// rocprofv3 CSV, plain or compressed.
pub(crate) struct RocprofCsv;

impl Format for RocprofCsv {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        matches!(content, Content::Head(Head::RocprofCsv)).then_some(Recognized::Part)
    }

    fn grouped(&self, parts: Vec<CsvFile>) -> Vec<Arc<dyn Group>> {
        grouped(parts).into_iter().map(|group| Arc::new(group) as Arc<dyn Group>).collect()
    }
}

impl Group for super::Group {
    fn shown(&self) -> &str {
        &self.shown
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    fn repeated(&self) -> &[String] {
        &self.repeated
    }

    fn open(&self) -> Result<Opened> {
        find(self)
    }
}
