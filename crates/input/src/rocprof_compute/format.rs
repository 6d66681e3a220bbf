//! Recognizes files of rocprofiler-compute workloads.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::counter_file::CounterFile;
use super::source::find;
use super::workload::{Workload, grouped};
use crate::common::csv::CsvFile;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Group, Opened, Recognized};
use crate::recognition::head::Head;

/// Counters of rocprofiler-compute, plain or compressed, and its machine description.
pub(crate) struct ComputeCounters;

impl Format for ComputeCounters {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        match content {
            Content::Head(Head::ComputeCounters) => Some(Recognized::Part),
            Content::Head(Head::ComputeSystem(unread)) => Some(Recognized::Unread(unread.clone())),
            _ => None,
        }
    }

    fn grouped(&self, parts: Vec<CsvFile>) -> Vec<Arc<dyn Group>> {
        grouped(parts).into_iter().map(|workload| Arc::new(workload) as Arc<dyn Group>).collect()
    }
}

impl Group for Workload {
    fn shown(&self) -> &str {
        &self.shown
    }

    fn files(&self) -> Vec<PathBuf> {
        let system = self.system.iter().map(|file| file.path.clone());
        self.files.iter().flat_map(CounterFile::paths).chain(system).collect()
    }

    fn repeated(&self) -> &[String] {
        &self.repeated
    }

    fn open(&self) -> Result<Opened> {
        find(self)
    }
}
