//! Keeps what a process did in rows as small as they can be, until the process has ended.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use crate::model::{Activity, Allocation, Copy, Dispatch, Mark, Region, Sink};

/// A dispatch; what depends on its kernel alone is left out.
#[derive(Debug, Clone, Copy)]
pub struct DispatchRow {
    pub correlation_id: i64,
    pub start_ns: i64,
    pub end_ns: i64,
    pub thread_id: i64,
    pub kernel_id: u32,
    pub agent_id: u32,
    pub queue_id: u32,
    pub stream_id: u32,
}

/// A region; its words are positions in [`Recorder::words`].
#[derive(Debug, Clone, Copy)]
pub struct RegionRow {
    pub id: i64,
    pub parent_id: i64,
    pub thread_id: i64,
    pub start_ns: i64,
    pub end_ns: i64,
    pub category: u32,
    pub name: u32,
    pub message: Option<u32>,
}

/// An argument of a region; its words are positions in [`Recorder::words`].
#[derive(Debug, Clone, Copy)]
pub struct ArgumentRow {
    pub region_id: i64,
    pub position: u32,
    pub type_name: u32,
    pub name: u32,
    pub value: u32,
}

/// Everything one process did.
#[derive(Debug, Default)]
pub struct Recorder {
    pub dispatches: Vec<DispatchRow>,
    pub regions: Vec<RegionRow>,
    pub arguments: Vec<ArgumentRow>,
    pub copies: Vec<Copy>,
    pub allocations: Vec<Allocation>,
    pub marks: Vec<Mark>,
    /// The texts of regions and arguments, each once.
    pub words: Vec<Option<String>>,
    positions: BTreeMap<String, u32>,
}

impl Recorder {
    fn word(&mut self, text: &str) -> Result<u32> {
        if let Some(position) = self.positions.get(text) {
            return Ok(*position);
        }
        let position = u32::try_from(self.words.len())?;
        self.words.push(Some(text.to_owned()));
        self.positions.insert(text.to_owned(), position);
        Ok(position)
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        ensure!(dispatch.counters.is_empty(), "counters are not written to a dataset");
        self.dispatches.push(DispatchRow {
            correlation_id: dispatch.correlation_id,
            start_ns: dispatch.start_ns as i64,
            end_ns: dispatch.end_ns as i64,
            thread_id: dispatch.thread_id,
            kernel_id: u32::try_from(dispatch.kernel_id)?,
            agent_id: u32::try_from(dispatch.agent_id)?,
            queue_id: u32::try_from(dispatch.queue_id)?,
            stream_id: u32::try_from(dispatch.stream_id)?,
        });
        Ok(())
    }

    fn region(&mut self, region: &Region) -> Result<()> {
        for (argument, position) in region.arguments.iter().zip(0..) {
            let row = ArgumentRow {
                region_id: region.id,
                position,
                type_name: self.word(argument.type_name)?,
                name: self.word(argument.name)?,
                value: self.word(&argument.value)?,
            };
            self.arguments.push(row);
        }
        let row = RegionRow {
            id: region.id,
            parent_id: region.parent_id,
            thread_id: region.thread_id,
            start_ns: region.start_ns as i64,
            end_ns: region.end_ns as i64,
            category: self.word(region.domain)?,
            name: self.word(region.name)?,
            message: region.message.as_deref().map(|message| self.word(message)).transpose()?,
        };
        self.regions.push(row);
        Ok(())
    }
}

impl Sink for Recorder {
    fn record(&mut self, activity: &Activity) -> Result<()> {
        match activity {
            Activity::Region(region) => self.region(region)?,
            Activity::Dispatch(dispatch) => self.dispatch(dispatch)?,
            Activity::Copy(copy) => self.copies.push(copy.clone()),
            Activity::Allocation(allocation) => self.allocations.push(allocation.clone()),
            Activity::Mark(mark) => self.marks.push(mark.clone()),
        }
        Ok(())
    }
}
