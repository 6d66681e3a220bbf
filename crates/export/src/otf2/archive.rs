//! An archive: a file of events for each location, the definitions, and last the anchor, without which it is not an
//! archive.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::chunks::Chunks;
use super::definitions::{CHUNK, Definitions, Group, Location, LocationKind, Metric, Node};
use super::records::{DOUBLE, INT64, Record, STRING, framed};
use crate::timeline::{Counts, Event, ProcessFacts, Sink, Texts, TrackContent, TrackFacts, Value};

/// Bytes of a chunk of events.
const EVENT_CHUNK: usize = 1 << 20;
const TIMESTAMP: u8 = 5;
const ATTRIBUTES: u8 = 6;
const ENTER: u8 = 12;
const LEAVE: u8 = 13;
const METRIC: u8 = 31;

/// A location that is written.
pub struct Track {
    location: u64,
    chunks: Chunks,
    last_ns: Option<i64>,
    /// Regions that were entered and not left.
    open: Vec<u64>,
    /// Metric of a counter.
    metric: Option<u64>,
}

/// The archive.
pub struct Archive {
    name: String,
    directory: PathBuf,
    definitions: Definitions,
    /// Whether queues are threads, for readers that know only threads.
    gpu_as_threads: bool,
    hosts: BTreeMap<String, u64>,
    /// Nodes of physical GPUs by their numbers.
    gpu_nodes: BTreeMap<i64, u64>,
    /// Physical GPUs of the process by their index in it.
    devices: BTreeMap<i64, i64>,
    process: u64,
    /// Groups of the GPUs of the process.
    gpus: BTreeMap<i64, u64>,
    /// Regions and attributes by the numbers of their texts in the process.
    regions: BTreeMap<(u32, u32), u64>,
    attributes: BTreeMap<u32, u64>,
    texts: BTreeMap<u32, u64>,
    record: Record,
    content: Record,
    counts: Counts,
}

impl Archive {
    /// Starts an archive in an existing directory.
    ///
    /// # Errors
    /// When a directory cannot be created.
    pub fn create(directory: &Path, name: &str, gpu_as_threads: bool) -> Result<Self> {
        let events = directory.join(name);
        fs::create_dir_all(&events).with_context(|| format!("cannot create {}", events.display()))?;
        let mut definitions = Definitions::new();
        let (machine, class) = (definitions.text("machine"), definitions.text("machine"));
        definitions.nodes.push(Node { name: machine, class, parent: None, domain: None });
        Ok(Self {
            name: name.to_owned(),
            directory: directory.to_owned(),
            definitions,
            gpu_as_threads,
            hosts: BTreeMap::new(),
            gpu_nodes: BTreeMap::new(),
            devices: BTreeMap::new(),
            process: 0,
            gpus: BTreeMap::new(),
            regions: BTreeMap::new(),
            attributes: BTreeMap::new(),
            texts: BTreeMap::new(),
            record: Record::default(),
            content: Record::default(),
            counts: Counts::default(),
        })
    }

    /// Writes the definitions, and then the anchor.
    ///
    /// # Errors
    /// When writing fails.
    pub fn close(mut self, id: u64) -> Result<u64> {
        let (count, bytes) = self.definitions.write(&self.directory.join(format!("{}.def", self.name)))?;
        let mut anchor = Record::default();
        anchor.raw(&[3, 0x42]).raw(b"OTF2\0").raw(&[3, 2, 3, 0, 2]);
        anchor.full(EVENT_CHUNK as u64).full(CHUNK as u64).raw(&[1, 1]);
        anchor.full(self.definitions.locations.len() as u64).full(count);
        anchor.text("machine").text(concat!("wavesieve ", env!("CARGO_PKG_VERSION"))).text("");
        // No properties, the id, no snapshots and no thumbnails.
        anchor.raw(&0_u32.to_le_bytes()).full(id).raw(&0_u32.to_le_bytes()).raw(&0_u32.to_le_bytes()).raw(&[2, 1, 0]);
        let path = self.directory.join(format!("{}.otf2", self.name));
        fs::write(&path, anchor.bytes()).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(self.counts.bytes + bytes + anchor.bytes().len() as u64)
    }

    fn path(&self, location: u64, extension: &str) -> PathBuf {
        self.directory.join(&self.name).join(format!("{location}.{extension}"))
    }

    /// Appends the prepared record to a location, after its time if that has changed.
    fn add(&mut self, track: &mut Track, at_ns: i64, events: u64) -> Result<()> {
        let at_ns = at_ns.max(track.last_ns.unwrap_or(0));
        let is_new = track.chunks.makes_room(9 + self.record.bytes().len())?;
        if is_new || track.last_ns != Some(at_ns) {
            let mut time = [TIMESTAMP; 9];
            time.iter_mut().skip(1).zip(at_ns.to_le_bytes()).for_each(|(to, from)| *to = from);
            track.chunks.add(&time, 0);
            track.last_ns = Some(at_ns);
        }
        track.chunks.add(self.record.bytes(), events);
        self.record.clear();
        self.definitions.first_ns = Some(self.definitions.first_ns.map_or(at_ns, |first_ns| first_ns.min(at_ns)));
        self.definitions.last_ns = self.definitions.last_ns.max(at_ns);
        Ok(())
    }

    fn enter(&mut self, track: &mut Track, at_ns: i64, event: &Event<'_>, texts: &Texts) -> Result<()> {
        let key = (event.name, event.category);
        let region = match self.regions.get(&key) {
            Some(region) => *region,
            None => {
                let region = self.definitions.region(texts.text(event.name), texts.text(event.category));
                self.regions.insert(key, region);
                region
            }
        };
        let count = event.all_arguments().count();
        if count > 0 {
            self.content.clear();
            self.content.number(count as u64);
            for (name, value) in event.all_arguments() {
                let is_text = matches!(value, Value::Text(_));
                let definitions = &mut self.definitions;
                let attribute =
                    *self.attributes.entry(*name).or_insert_with(|| definitions.attribute(texts.text(*name), is_text));
                self.content.number(attribute);
                match value {
                    Value::Integer(value) => self.content.byte(INT64).long(*value as u64),
                    Value::Text(text) => {
                        let number = *self.texts.entry(*text).or_insert_with(|| definitions.text(texts.text(*text)));
                        self.content.byte(STRING).number(number)
                    }
                };
            }
            framed(ATTRIBUTES, &self.content, &mut self.record);
        }
        self.record.byte(ENTER).number(region);
        track.open.push(region);
        self.add(track, at_ns, 1)
    }

    fn leave(&mut self, track: &mut Track, at_ns: i64) -> Result<()> {
        let Some(region) = track.open.pop() else { return Ok(()) };
        self.record.byte(LEAVE).number(region);
        self.add(track, at_ns, 1)
    }

    /// The group of a GPU, or of the process.
    fn group_of(&self, gpu: Option<i64>) -> u64 {
        gpu.and_then(|gpu| self.gpus.get(&gpu)).copied().unwrap_or(self.process)
    }
}

impl Sink for Archive {
    type Track = Track;

    fn process(&mut self, facts: &ProcessFacts<'_>) -> Result<()> {
        let of_process = &facts.process.facts;
        let host = of_process.hostname.clone().unwrap_or_else(|| "host".to_owned());
        let definitions = &mut self.definitions;
        let node = *self.hosts.entry(host.clone()).or_insert_with(|| {
            let (name, class) = (definitions.text(&host), definitions.text("node"));
            definitions.nodes.push(Node { name, class, parent: Some(0), domain: Some(1) });
            definitions.nodes.len() as u64 - 1
        });
        let properties = [
            ("PID", of_process.pid.to_string()),
            ("HOST", host),
            ("RANK", facts.process.rank.to_string()),
            ("GUID", of_process.guid.clone().unwrap_or_default()),
        ]
        .map(|(name, value)| (definitions.text(name), definitions.text(&value)));
        let name = definitions.text(&facts.name);
        definitions.groups.push(Group { name, node, creator: None, properties: properties.to_vec() });
        self.process = definitions.groups.len() as u64 - 1;
        self.gpus.clear();
        self.devices = facts.process.gpus.values().map(|gpu| (gpu.gpu, gpu.device)).collect();
        self.regions.clear();
        self.attributes.clear();
        self.texts.clear();
        Ok(())
    }

    fn group(&mut self, facts: &TrackFacts<'_>) -> Result<()> {
        let TrackContent::Gpu { gpu } = facts.place else { return Ok(()) };
        let definitions = &mut self.definitions;
        let parent = definitions.groups.get(self.process as usize).map(|group| group.node);
        let (name, class) = (definitions.text(facts.name), definitions.text("GPU"));
        let mut node = || {
            definitions.nodes.push(Node { name, class, parent, domain: Some(7) });
            definitions.nodes.len() as u64 - 1
        };
        let node = match self.devices.get(&gpu) {
            Some(device) => *self.gpu_nodes.entry(*device).or_insert_with(node),
            None => node(),
        };
        let creator = Some(self.process);
        definitions.groups.push(Group { name, node, creator, properties: Vec::new() });
        self.gpus.insert(gpu, definitions.groups.len() as u64 - 1);
        Ok(())
    }

    fn track(&mut self, facts: &TrackFacts<'_>) -> Result<Track> {
        self.counts.tracks += 1;
        let (gpu, kind) = match facts.place {
            TrackContent::Work { gpu, .. } if self.gpu_as_threads => (gpu, LocationKind::Thread),
            TrackContent::Work { gpu, .. } => (gpu, LocationKind::Stream),
            TrackContent::Notes { gpu: Some(gpu) } => (Some(gpu), LocationKind::Stream),
            TrackContent::Counter { gpu, .. } => (gpu, LocationKind::Metric),
            _ => (None, LocationKind::Thread),
        };
        // Threads are in processes.
        let group = if kind == LocationKind::Thread { self.process } else { self.group_of(gpu) };
        let location = self.definitions.locations.len() as u64;
        let shown = match facts.place {
            TrackContent::Work { lane, .. } if lane > 0 => format!("{} lane {lane}", facts.name),
            _ => facts.name.to_owned(),
        };
        let shown = match gpu.filter(|_| kind == LocationKind::Thread) {
            Some(gpu) => format!("GPU {gpu} {shown}"),
            None => shown,
        };
        let name = self.definitions.text(&shown);
        self.definitions.locations.push(Location { name, kind, events: 0, group });
        let metric = match facts.place {
            TrackContent::Counter { unit, .. } => {
                let unit = self.definitions.text(if unit.is_empty() { "#" } else { unit });
                self.definitions.metrics.push(Metric { name, unit, location, group });
                Some(self.definitions.metrics.len() as u64 - 1)
            }
            _ => None,
        };
        // Readers expect a file of definitions for each location; here it is empty.
        self.counts.bytes += Chunks::create(&self.path(location, "def"), CHUNK, false)?.close()?;
        let chunks = Chunks::create(&self.path(location, "evt"), EVENT_CHUNK, true)?;
        Ok(Track { location, chunks, last_ns: None, open: Vec::new(), metric })
    }

    fn begin(&mut self, track: &mut Track, start_ns: i64, _: i64, event: &Event<'_>, texts: &Texts) -> Result<()> {
        self.counts.slices += 1;
        self.enter(track, start_ns, event, texts)
    }

    fn end(&mut self, track: &mut Track, at_ns: i64) -> Result<()> {
        self.leave(track, at_ns)
    }

    fn instant(&mut self, track: &mut Track, at_ns: i64, event: &Event<'_>, texts: &Texts) -> Result<()> {
        self.counts.instants += 1;
        self.enter(track, at_ns, event, texts)?;
        self.leave(track, at_ns)
    }

    fn value(&mut self, track: &mut Track, at_ns: i64, value: f64) -> Result<()> {
        let Some(metric) = track.metric else { return Ok(()) };
        self.counts.counter_values += 1;
        self.content.clear();
        self.content.number(Definitions::instance_of(metric)).byte(1).byte(DOUBLE).long(value.to_bits());
        framed(METRIC, &self.content, &mut self.record);
        self.add(track, at_ns, 1)
    }

    fn finish(&mut self, track: Track) -> Result<()> {
        if let Some(location) = self.definitions.locations.get_mut(track.location as usize) {
            location.events = track.chunks.events();
        }
        self.counts.bytes += track.chunks.close()?;
        Ok(())
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
