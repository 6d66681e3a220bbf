//! Values of events as columns, read on all threads.

use std::collections::BTreeMap;

use anyhow::Result;
use fnv::FnvHashMap;
use polars::prelude::*;
use rayon::prelude::*;

use super::capture::Capture;
use super::cursor::{elements, is_bare_word, members};
use super::decimal::nanoseconds;
use super::event::{Event, identity, integer, number_of};
use super::kinds::{EventKind, KINDS, Role};
use super::scan::{Chunk, Found};
use wavesieve_tables::columns::values::I64Values;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Number of the event among the events of its role.
    Number,
    Start,
    End,
    Pid,
    Tid,
    Device,
    FromDevice,
    ToDevice,
    Stream,
    Queue,
    Correlation,
    External,
    GridX,
    GridY,
    GridZ,
    BlockX,
    BlockY,
    BlockZ,
    SharedMemory,
    Bytes,
    Address,
    /// Allocated bytes after an allocator event.
    Allocated,
    DeviceType,
    DeviceId,
}

/// Fields of grid sizes in blocks, and of block sizes.
pub(crate) const GRID: [Field; 3] = [Field::GridX, Field::GridY, Field::GridZ];
pub const BLOCK: [Field; 3] = [Field::BlockX, Field::BlockY, Field::BlockZ];

impl Field {
    fn is_argument(self) -> bool {
        self >= Self::Device
    }
}

/// Distinct texts, and the text of each row.
#[derive(Default)]
pub struct Dictionary {
    pub texts: Vec<Option<String>>,
    pub codes: Vec<u32>,
}

impl Dictionary {
    pub fn places(&self) -> impl Iterator<Item = Option<usize>> + Clone {
        self.codes.iter().map(|code| Some(*code as usize))
    }
}

/// Counts of forms that JSON parsers reject or read differently. They lose no data here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Oddities {
    /// Arguments that are words such as `NaN` or `N/A`.
    pub bare_words: u64,
    /// Events whose times are texts.
    pub text_times: u64,
    /// Events that have a time or duration twice.
    pub repeated_times: u64,
    /// Names with half of a surrogate pair.
    pub lone_surrogates: u64,
}

impl Oddities {
    fn add_event(&mut self, event: &Event<'_>, with_name: bool) {
        let is_text = |value: &[u8]| value.first() == Some(&b'"');
        self.text_times += u64::from(is_text(event.start) || is_text(event.duration));
        self.repeated_times += u64::from(event.has_repeated);
        self.lone_surrogates += u64::from(with_name && event.name.has_lone_surrogate());
    }

    fn join(&mut self, other: Self) {
        self.bare_words += other.bare_words;
        self.text_times += other.text_times;
        self.repeated_times += other.repeated_times;
        self.lone_surrogates += other.lone_surrogates;
    }
}

#[derive(Default)]
pub struct Gathered {
    pub height: usize,
    /// Names of the events, if they were wanted.
    pub names: Dictionary,
    /// Kinds distinguished by category, as places in [`KINDS`].
    pub kinds: Vec<u8>,
    pub oddities: Oddities,
    columns: BTreeMap<Field, Int64Chunked>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    All,
    WithLength,
    WithoutLength,
    /// Events of a domain, of any length.
    OfDomain(&'static str),
}

impl Keep {
    pub fn keeps(self, found: Found, kind: &EventKind) -> bool {
        match self {
            Self::All => true,
            Self::WithLength => !found.has_no_length,
            Self::WithoutLength => found.has_no_length,
            Self::OfDomain(domain) => kind.domain == domain,
        }
    }
}

pub struct Wanted<'a> {
    pub role: Role,
    pub keep: Keep,
    pub fields: &'a [Field],
    pub names: bool,
}

impl Gathered {
    /// The values of some fields, row by row.
    pub fn rows<const N: usize>(&self, fields: [Field; N]) -> impl Iterator<Item = [Option<i64>; N]> + use<N> {
        let columns = fields.map(|field| I64Values::new(&self.get(field)));
        (0..self.height).map(move |row| columns.each_ref().map(|column| column.get(row)))
    }

    /// The values of a field; all are null if it was not wanted.
    pub fn get(&self, field: Field) -> Int64Chunked {
        self.columns.get(&field).cloned().unwrap_or_else(|| Int64Chunked::full_null("".into(), self.height))
    }
}

#[derive(Default)]
struct ChunkEvents {
    kinds: Vec<u8>,
    columns: Vec<Vec<Option<i64>>>,
    texts: Vec<String>,
    codes: Vec<u32>,
    oddities: Oddities,
}

impl Capture {
    pub fn gather(&self, wanted: &Wanted<'_>) -> Result<Gathered> {
        let parts: Vec<ChunkEvents> = self
            .chunks()
            .par_iter()
            .zip(self.numbers(wanted.role))
            .map(|(chunk, first)| self.gather_part(chunk, *first, wanted))
            .collect::<Result<_>>()?;
        let mut gathered = Gathered::default();
        let mut known: FnvHashMap<String, u32> = FnvHashMap::default();
        for part in parts {
            gathered.height += part.kinds.len();
            gathered.oddities.join(part.oddities);
            gathered.kinds.extend(part.kinds);
            for (field, values) in wanted.fields.iter().zip(part.columns) {
                let values: Int64Chunked = values.into_iter().collect_ca("".into());
                match gathered.columns.get_mut(field) {
                    Some(column) => drop(column.append(&values)?),
                    None => drop(gathered.columns.insert(*field, values)),
                }
            }
            let texts: Vec<u32> = part
                .texts
                .into_iter()
                .map(|text| {
                    *known.entry(text).or_insert_with_key(|text| {
                        gathered.names.texts.push(Some(text.clone()));
                        (gathered.names.texts.len() - 1) as u32
                    })
                })
                .collect();
            gathered.names.codes.extend(part.codes.iter().filter_map(|code| texts.get(*code as usize)));
        }
        Ok(gathered)
    }

    fn gather_part(&self, chunk: &Chunk, first: i64, wanted: &Wanted<'_>) -> Result<ChunkEvents> {
        let mut part = ChunkEvents { columns: vec![Vec::new(); wanted.fields.len()], ..ChunkEvents::default() };
        let with_arguments = wanted.fields.iter().any(|field| field.is_argument());
        let mut known: FnvHashMap<String, u32> = FnvHashMap::default();
        self.visit(chunk, first, wanted.role, wanted.keep, |number, kind, event| {
            part.oddities.add_event(event, wanted.names);
            let values = Values::of(event, number, self.base_ns, with_arguments, &mut part.oddities);
            for (field, column) in wanted.fields.iter().zip(&mut part.columns) {
                column.push(values.get(*field));
            }
            part.kinds.push(kind);
            if wanted.names {
                let name = event.name.text();
                let code = known.get(name.as_ref()).copied().unwrap_or_else(|| {
                    let code = part.texts.len() as u32;
                    part.texts.push(name.clone().into_owned());
                    known.insert(name.into_owned(), code);
                    code
                });
                part.codes.push(code);
            }
        })?;
        Ok(part)
    }

    /// Calls `show` for each event of a role in a chunk, with its number and kind. Numbers count from `first`.
    pub fn visit(
        &self,
        chunk: &Chunk,
        first: i64,
        role: Role,
        keep: Keep,
        mut show: impl FnMut(i64, u8, &Event<'_>),
    ) -> Result<()> {
        if !chunk.events().any(|found| KINDS.get(usize::from(found.kind)).is_some_and(|kind| kind.role == role)) {
            return Ok(());
        }
        self.file.with_text(chunk.start, chunk.end, |text, lent| {
            let text = text.get(..lent).unwrap_or_default();
            let mut number = first;
            for found in chunk.events() {
                let Some(kind) = KINDS.get(usize::from(found.kind)).filter(|kind| kind.role == role) else { continue };
                if keep.keeps(found, kind)
                    && let Ok(event) = Event::read_known(text, found.offset)
                {
                    show(number, found.kind, &event);
                }
                number += 1;
            }
        })
    }
}

const FIELDS: usize = Field::DeviceId as usize + 1;

struct Values([Option<i64>; FIELDS]);

impl Values {
    fn of(event: &Event<'_>, number: i64, base_ns: i64, with_arguments: bool, oddities: &mut Oddities) -> Self {
        let mut values = Self([None; FIELDS]);
        let start = nanoseconds(event.start).map(|start| start.saturating_add(base_ns));
        let duration = nanoseconds(event.duration).unwrap_or(0);
        values.put(Field::Number, Some(number));
        values.put(Field::Start, start);
        values.put(Field::End, start.map(|start| start.saturating_add(duration)));
        values.put(Field::Pid, identity(event.pid));
        values.put(Field::Tid, number_of(event.tid));
        if with_arguments {
            // Old versions write device and stream only as process and thread.
            values.put(Field::Device, number_of(event.pid));
            values.put(Field::Stream, number_of(event.tid));
            values.put_arguments(event.args, oddities);
        }
        values
    }

    fn put_arguments(&mut self, args: &[u8], oddities: &mut Oddities) {
        for (key, value) in members(args) {
            oddities.bare_words += u64::from(is_bare_word(value));
            let field = match key.raw {
                b"device" => Field::Device,
                b"fromDevice" | b"From Device" => Field::FromDevice,
                b"toDevice" | b"inDevice" | b"To Device" => Field::ToDevice,
                b"stream" => Field::Stream,
                b"hsa_queue" | b"queue" => Field::Queue,
                b"correlation" => Field::Correlation,
                b"External id" | b"external id" => Field::External,
                b"shared memory" => Field::SharedMemory,
                b"bytes" | b"size" | b"Bytes" => Field::Bytes,
                b"Addr" => Field::Address,
                b"Total Allocated" => Field::Allocated,
                b"Device Type" => Field::DeviceType,
                b"Device Id" => Field::DeviceId,
                b"grid" => {
                    self.put_each(GRID, value);
                    continue;
                }
                b"block" => {
                    self.put_each(BLOCK, value);
                    continue;
                }
                _ => continue,
            };
            self.put(field, integer(value));
        }
    }

    fn put_each(&mut self, fields: [Field; 3], list: &[u8]) {
        for (field, value) in fields.into_iter().zip(elements(list)) {
            self.put(field, integer(value));
        }
    }

    fn put(&mut self, field: Field, value: Option<i64>) {
        if let (Some(place), Some(value)) = (self.0.get_mut(field as usize), value) {
            *place = Some(value);
        }
    }

    fn get(&self, field: Field) -> Option<i64> {
        self.0.get(field as usize).copied().flatten()
    }
}
