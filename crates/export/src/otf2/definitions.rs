//! The definitions of an archive, which its events refer to by dense numbers.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::chunks::Chunks;
use super::records::{DOUBLE, INT64, Record, STRING, UNDEFINED, framed};

/// Bytes of a chunk of definitions.
pub(super) const CHUNK: usize = 4 << 20;
/// Bytes of the longest text; longer ones are cut, because a definition must fit into a chunk.
const LONGEST_TEXT: usize = 1 << 20;
/// Paradigms of regions: HIP, and code of the user.
const HIP: u8 = 23;
const USER: u8 = 1;

/// Kind of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocationKind {
    Thread = 1,
    Stream = 2,
    Metric = 3,
}

/// A place where events happen.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub name: u64,
    pub kind: LocationKind,
    pub events: u64,
    pub group: u64,
}

/// A process, or one of its GPUs.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub name: u64,
    pub node: u64,
    /// The process that uses the GPU.
    pub creator: Option<u64>,
    pub properties: Vec<(u64, u64)>,
}

/// A node of the system tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub name: u64,
    pub class: u64,
    pub parent: Option<u64>,
    /// 1 for shared memory, 7 for an accelerator.
    pub domain: Option<u8>,
}

/// A function, kernel, copy or range.
#[derive(Clone, Debug)]
struct Region {
    name: u64,
    category: u64,
    role: u8,
    paradigm: u8,
}

/// A counter: its name and unit, and the location and group that it belongs to.
#[derive(Clone, Debug)]
pub(super) struct Metric {
    pub name: u64,
    pub unit: u64,
    pub location: u64,
    pub group: u64,
}

/// All definitions.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    strings: BTreeMap<String, u64>,
    texts: Vec<String>,
    regions: Vec<Region>,
    by_region: BTreeMap<(u64, u64), u64>,
    attributes: Vec<(u64, u8)>,
    by_attribute: BTreeMap<(u64, u8), u64>,
    pub nodes: Vec<Node>,
    pub groups: Vec<Group>,
    pub locations: Vec<Location>,
    pub metrics: Vec<Metric>,
    pub first_ns: Option<i64>,
    pub last_ns: i64,
}

impl Definitions {
    /// Creates definitions with the empty text as number 0.
    pub(super) fn new() -> Self {
        let mut definitions = Self::default();
        definitions.text("");
        definitions
    }

    /// The number of a text.
    pub(super) fn text(&mut self, text: &str) -> u64 {
        if let Some(number) = self.strings.get(text) {
            return *number;
        }
        let number = self.texts.len() as u64;
        self.strings.insert(text.to_owned(), number);
        let end = (0..=text.len().min(LONGEST_TEXT)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        self.texts.push(text.get(..end).unwrap_or_default().to_owned());
        number
    }

    /// The number of a region.
    pub(super) fn region(&mut self, name: &str, category: &str) -> u64 {
        let (role, paradigm) = role(name, category);
        let (name, category) = (self.text(name), self.text(category));
        let regions = &mut self.regions;
        *self.by_region.entry((name, category)).or_insert_with(|| {
            regions.push(Region { name, category, role, paradigm });
            regions.len() as u64 - 1
        })
    }

    /// The number of an attribute of integers or texts.
    pub(super) fn attribute(&mut self, name: &str, is_text: bool) -> u64 {
        let (name, kind) = (self.text(name), if is_text { STRING } else { INT64 });
        let attributes = &mut self.attributes;
        *self.by_attribute.entry((name, kind)).or_insert_with(|| {
            attributes.push((name, kind));
            attributes.len() as u64 - 1
        })
    }

    /// The number of a metric in events, which is that of its instance. Classes and instances are numbered together, in
    /// order.
    pub(super) fn instance_of(metric: u64) -> u64 {
        metric * 2 + 1
    }

    /// Writes all definitions. Returns their number and their bytes.
    pub(super) fn write(&mut self, path: &Path) -> Result<(u64, u64)> {
        let (hip, empty) = (self.text("HIP"), self.text(""));
        let mut writer = Writer { chunks: Chunks::create(path, CHUNK, false)?, count: 0, record: Record::default() };
        let first_ns = self.first_ns.unwrap_or_default();
        writer.add(5, |record| {
            record
                .long(1_000_000_000)
                .long(first_ns as u64)
                .long(self.last_ns.saturating_sub(first_ns).max(1) as u64)
                .long(u64::MAX);
        })?;
        for (number, text) in (0..).zip(&self.texts) {
            writer.add(10, |record| {
                record.number(number).text(text);
            })?;
        }
        writer.add(6, |record| {
            record.byte(HIP).number(hip).byte(3);
        })?;
        for (number, (name, kind)) in (0..).zip(&self.attributes) {
            writer.add(11, |record| {
                record.number(number).number(*name).byte(*kind).number(empty);
            })?;
        }
        for (number, node) in (0..).zip(&self.nodes) {
            writer.add(12, |record| {
                record.number(number).number(node.name).number(node.class).number(node.parent.unwrap_or(UNDEFINED));
            })?;
            if let Some(domain) = node.domain {
                writer.add(27, |record| {
                    record.number(number).byte(domain);
                })?;
            }
        }
        for (number, group) in (0..).zip(&self.groups) {
            writer.add(13, |record| {
                let kind = if group.creator.is_some() { 2 } else { 1 };
                record.number(number).number(group.name).byte(kind).number(group.node);
                record.number(group.creator.unwrap_or(UNDEFINED));
            })?;
            for (name, value) in &group.properties {
                writer.add(28, |record| {
                    record.number(number).number(*name).number(empty).byte(STRING).number(*value);
                })?;
            }
        }
        for (number, region) in (0..).zip(&self.regions) {
            writer.add(15, |record| {
                record.number(number).number(region.name).number(region.category).byte(0);
                record.number(UNDEFINED).number(0).number(0).number(region.name);
                record.byte(region.role).byte(region.paradigm).number(0);
            })?;
        }
        for (number, location) in (0..).zip(&self.locations) {
            writer.add(14, |record| {
                record.long(number).number(location.name).byte(location.kind as u8);
                record.long(location.events).number(location.group);
            })?;
        }
        for (number, metric) in (0_u64..).zip(&self.metrics) {
            writer.add(19, |record| {
                record.number(number).number(metric.name).number(empty).byte(3).byte(0x11).byte(DOUBLE);
                record.byte(1).long(0).number(metric.unit);
            })?;
            writer.add(20, |record| {
                record.number(number * 2).byte(1).number(number).byte(2).byte(3);
            })?;
            writer.add(21, |record| {
                record.number(Self::instance_of(number)).number(number * 2).long(metric.location).byte(1);
                record.long(metric.group);
            })?;
        }
        let Writer { chunks, count, .. } = writer;
        Ok((count, chunks.close()?))
    }
}

struct Writer {
    chunks: Chunks,
    count: u64,
    record: Record,
}

impl Writer {
    fn add(&mut self, id: u8, fill: impl FnOnce(&mut Record)) -> Result<()> {
        let mut content = Record::default();
        fill(&mut content);
        self.record.clear();
        framed(id, &content, &mut self.record);
        self.chunks.makes_room(self.record.bytes().len())?;
        self.chunks.add(self.record.bytes(), 0);
        self.count += 1;
        Ok(())
    }
}

/// Role and paradigm of a region.
fn role(name: &str, category: &str) -> (u8, u8) {
    const FUNCTION: u8 = 1;
    const CODE: u8 = 4;
    const DATA_TRANSFER: u8 = 30;
    const ALLOCATE: u8 = 35;
    const DEALLOCATE: u8 = 36;
    const ALL_TO_ALL: u8 = 25;
    const POINT_TO_POINT: u8 = 28;
    match category {
        "marker_api" | "iterations" | "critical_path" | "idle" | "exposed communication" | "finding" => (CODE, USER),
        "memory_copy" => (DATA_TRANSFER, HIP),
        "memory_allocation" | "scratch_memory" if name.contains("FREE") => (DEALLOCATE, HIP),
        "memory_allocation" | "scratch_memory" => (ALLOCATE, HIP),
        "rccl_api" if name.contains("Send") || name.contains("Recv") => (POINT_TO_POINT, HIP),
        "rccl_api" => (ALL_TO_ALL, HIP),
        _ => (FUNCTION, HIP),
    }
}
