//! Properties that the parsers of rocprofv3 JSON guarantee for any bytes. Each function panics if one is violated.

use std::io::{Seek, Write as _};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess};

pub use super::template::properties::*;

use super::file::InputFile;
use super::layouts::{Activity, CountedDispatch, Dispatch, Surveyed};
use super::parsing::args::Args;
use super::parsing::bare_words::quiet;
use super::parsing::lenient::{Lenient, leniently};
use super::parsing::records::{CounterRecord, KernelSymbol, PcSample};
use super::parsing::row::Row;
use super::parsing::surrogates::mend;
use super::parsing::values::{Int, Real, Text, deserialize_leniently};
use super::parts::{Collector, read_section};
use super::structure::index::{FileIndex, Section};
use super::structure::scanner::{ROOT_KEY, Scanner};
use crate::json::Spool;

/// The scanner finds the same sections for blocks of any size, the sections lie in the text, and for valid JSON they are the sections that
/// a parser finds. The first byte is the distance of splits.
pub fn json_scan(bytes: &[u8]) {
    let Some((split_every, bytes)) = bytes.split_first() else { return };
    let split_every = u64::from(*split_every);
    let index = scan(bytes, split_every, bytes.len());
    let shown = format!("{index:?}");
    for block in [1, 65, 200] {
        assert_eq!(shown, format!("{:?}", scan(bytes, split_every, block)), "blocks of {block}");
    }
    for section in index.processes.iter().flat_map(|process| &process.sections) {
        assert!(section.start <= section.end && section.end <= index.length, "{section:?}");
        let (mut row, mut at) = (0, section.start);
        for part in section.parts() {
            assert!(part.row == row && at <= part.start && part.start <= part.end, "{section:?}");
            assert!(part.rows > 0, "{section:?}");
            (row, at) = (row + part.rows, part.end);
        }
        assert_eq!(row, section.rows, "{section:?}");
    }
    let is_plain = !bytes.contains(&b'\\');
    if let Ok(document) = serde_json::from_slice::<Node>(bytes)
        && is_plain
    {
        assert!(!index.truncated, "{index:?}");
        let found: Vec<Vec<(&str, bool, u64)>> = index
            .processes
            .iter()
            .map(|process| {
                process.sections.iter().map(|section| (section.name.as_str(), section.is_array, section.rows)).collect()
            })
            .collect();
        let expected = document.processes();
        let same = found.len() == expected.len()
            && found.iter().zip(&expected).all(|(found, expected)| {
                found.len() == expected.len()
                    && found.iter().zip(expected).all(|(found, (name, is_array, rows))| {
                        *found == (name.as_str(), *is_array, *rows) || name.len() > LONG_KEY
                    })
            });
        assert!(same, "found {found:?}, expected {expected:?}");
    }
}

/// Keys longer than this are not kept whole.
const LONG_KEY: usize = 200;

/// Every record of a section is either read or counted as bad. If none is bad, the records do not depend on the parts in which the section
/// is read.
pub fn json_parts(bytes: &[u8]) {
    let text = [format!("{{\"{ROOT_KEY}\":[{{\"buffer_records\":{{\"hip_api\":[").as_bytes(), bytes, b"]}}]}"].concat();
    let Ok(mut stored) = tempfile::NamedTempFile::new() else { return };
    if stored.write_all(&text).and_then(|()| stored.rewind()).is_err() {
        return;
    }
    let Ok(file) = InputFile::open(stored.path(), &mut Spool::default()) else { return };
    let index = scan(&text, u64::MAX, text.len());
    let whole = read_all(&file, &index);
    for split_every in [0, 50] {
        let parts = read_all(&file, &scan(&text, split_every, text.len()));
        let is_sound = index.flaw.is_none() && whole.iter().all(|(_, _, bad)| *bad == 0);
        assert!(!is_sound || whole == parts, "parts of {split_every}: {whole:?} {parts:?}");
    }
}

/// Every record as text, and the numbers of bad and all records, of every section of records.
fn read_all(file: &InputFile, index: &FileIndex) -> Vec<(String, Vec<String>, usize)> {
    let sections = index.processes.iter().flat_map(|process| &process.sections);
    let read = |section: &Section| {
        let push = |shown: &mut Vec<String>, record: Row<Activity>| shown.push(format!("{record:?}"));
        let collector = Collector { new: &Vec::new, push: &push, shortcuts: None };
        let collected = read_section(file, section, &collector).ok()?;
        let records: Vec<String> = collected.output.concat();
        // Records that run together are separated, so there may be more than the scanner found.
        assert!(records.len() + collected.bad >= section.rows as usize, "{section:?}: {records:?}");
        Some((section.name.clone(), records, collected.bad))
    };
    sections.filter(|section| section.is_array).filter_map(read).collect()
}

/// Records of every type are read or refused. The values are the values of a plain JSON parser.
pub fn json_record(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let call: Result<Row<Activity>, _> = serde_json::from_str(&text);
    let _: Result<Row<Dispatch>, _> = serde_json::from_str(&text);
    let _: Result<Row<CountedDispatch>, _> = serde_json::from_str(&text);
    let _: Result<Row<Surveyed>, _> = serde_json::from_str(&text);
    let _: Result<CounterRecord, _> = serde_json::from_str(&text);
    let _: Result<PcSample, _> = serde_json::from_str(&text);
    let _: Result<KernelSymbol, _> = serde_json::from_str(&text);
    let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) else { return };
    // A parser that keeps a value accepts everything that a parser that drops it accepts.
    let read = |what: bool| assert!(what, "{text}");
    read(serde_json::from_str::<Int>(&text).is_ok_and(|int| value.as_i64().is_none_or(|value| int.0 == Some(value))));
    read(serde_json::from_str::<Real>(&text).is_ok_and(|real| !value.is_number() || real.0 == value.as_f64()));
    read(
        serde_json::from_str::<Text>(&text)
            .is_ok_and(|own| value.as_str().is_none_or(|value| own.0.as_deref() == Some(value))),
    );
    read(
        serde_json::from_str::<Args>(&text)
            .is_ok_and(|own| value.as_array().is_none_or(|list| own.0.len() == list.len())),
    );
    if let Ok(call) = call {
        let member = |key: &str| value.get(key).and_then(serde_json::Value::as_i64);
        read(member("thread_id").is_none_or(|thread| call.get("tid") == Some(thread)));
        read(member("start_timestamp").or(member("timestamp")).is_none_or(|start| call.get("start") == Some(start)));
        read(value.get("args").and_then(|args| args.as_array()).is_none_or(|args| call.args.len() == args.len()));
    }
    // Valid JSON has nothing to mend.
    assert_eq!(mend(&text), None);
    assert_eq!(quiet(&text), None);
}

/// Mended texts need no further mending, and keep their length.
pub fn json_mending(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some((mended, count)) = mend(&text) {
        assert!(count > 0 && mended.len() == text.len(), "{mended}");
        assert_eq!(mend(&mended), None);
    }
    if let Some(quieted) = quiet(&text) {
        assert_eq!(quieted.len(), text.len(), "{quieted}");
        assert_eq!(quiet(&quieted), None);
    }
}

fn scan(bytes: &[u8], split_every: u64, block: usize) -> FileIndex {
    let mut scanner = Scanner::new(split_every);
    bytes.chunks(block.max(1)).for_each(|block| scanner.feed(block));
    scanner.finish()
}

/// JSON whose objects keep the order and the repetitions of their keys.
#[derive(Default)]
enum Node {
    #[default]
    Scalar,
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

deserialize_leniently!(Node);

impl<'de> Lenient<'de> for Node {
    fn of_list<A: SeqAccess<'de>>(mut elements: A) -> Result<Self, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Self::List(list))
    }

    fn of_object<A: MapAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Self::Object(object))
    }
}

/// Name of a section, whether it is a list, and the number of its records.
type Expected = (String, bool, u64);

impl Node {
    fn processes(&self) -> Vec<Vec<Expected>> {
        let Self::Object(root) = self else { return Vec::new() };
        let mut processes = Vec::new();
        for (key, value) in root {
            match value {
                Self::Object(_) if key == ROOT_KEY => processes.push(value.sections()),
                Self::List(list) if key == ROOT_KEY => {
                    let objects = list.iter().filter(|own| matches!(own, Self::Object(_)));
                    processes.extend(objects.map(Self::sections));
                }
                _ => {}
            }
        }
        processes
    }

    fn sections(&self) -> Vec<Expected> {
        const GROUPS: &[&str] =
            &["callback_records", "buffer_records", "strings", "strings.correlation_id", "strings.counters"];
        let mut sections = Vec::new();
        let mut pending: Vec<(String, &Self)> = Vec::new();
        push_members(&mut pending, "", self);
        while let Some((name, own)) = pending.pop() {
            match own {
                Self::Scalar => {}
                Self::List(records) => sections.push((name, true, records.len() as u64)),
                Self::Object(_) if GROUPS.contains(&name.as_str()) => {
                    push_members(&mut pending, &format!("{name}."), own);
                }
                Self::Object(_) => sections.push((name, false, 0)),
            }
        }
        sections
    }
}

/// Puts the members of an object on a stack, the first on top.
fn push_members<'a>(pending: &mut Vec<(String, &'a Node)>, prefix: &str, object: &'a Node) {
    if let Node::Object(members) = object {
        pending.extend(members.iter().rev().map(|(key, value)| (format!("{prefix}{key}"), value)));
    }
}
