//! Reads the records of a section part by part, in parallel, straight into what the caller collects.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use anyhow::Result;
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, SeqAccess, Visitor};

use super::file::InputFile;
use super::parsing::bare_words::quiet;
use super::parsing::surrogates::mend;
use super::structure::index::{Part, Section};
use super::structure::scanner::{ROOT_KEY, Scanner};
use wavesieve_model::text::bytes::text_of_bytes;

/// A part longer than this holds one record that is longer than any a profiler writes; it is not read.
const LONGEST_PART: u64 = 64 << 20;

/// Collects records of one part.
pub trait Sink: Send {
    /// A record as the file spells it.
    type Record<'de>: Deserialize<'de>;
    /// The result from the records of a part.
    type Output: Send;

    /// Takes a record.
    fn push(&mut self, record: Self::Record<'_>);

    /// The end of the part.
    fn finish(self) -> Self::Output;
}

/// Data collected from a section, and its anomalies.
pub struct Collected<T> {
    /// One for each part, in order.
    pub parts: Vec<T>,
    /// Places that are not UTF-8.
    pub lossy: usize,
    /// Records that could not be understood.
    pub bad: usize,
    /// Why the first of them could not.
    pub first_cause: Option<String>,
}

struct OfPart<T> {
    output: T,
    lossy: usize,
    bad: usize,
    first_cause: Option<String>,
}

/// Gives what was read before of the first of some parts and those behind it, and of how many.
pub(crate) type TakeGathered<'a, T> = &'a (dyn Fn(&[Part]) -> Option<(T, usize)> + Sync);

/// Reads the records in the given number of bytes of a text, which zeros or what follows them stand behind.
pub(crate) type ByTemplate<'a, T> = &'a (dyn Fn(&[u8], usize) -> Option<T> + Sync);

/// Quicker ways to a part, which give the same as the general parser or nothing.
pub(crate) struct Shortcuts<'a, T> {
    pub gathered: TakeGathered<'a, T>,
    /// The way by templates.
    pub template: ByTemplate<'a, T>,
}

/// Reads a section.
///
/// # Errors
/// When the file cannot be read. Records that cannot be understood are counted instead.
pub(crate) fn read_section<S: Sink>(
    file: &InputFile,
    section: &Section,
    sink: impl Fn() -> S + Sync,
    shortcuts: Option<&Shortcuts<'_, S::Output>>,
) -> Result<Collected<S::Output>> {
    let whole = |output| OfPart { output, lossy: 0, bad: 0, first_cause: None };
    let read = |piece: Piece<S::Output>| match piece {
        Piece::Gathered(output) => Ok(whole(output)),
        Piece::UnreadContent(part) => {
            match shortcuts.map(|shortcuts| by_template(file, &part, shortcuts)).transpose()?.flatten() {
                Some(output) => Ok(whole(output)),
                None => read_part(file, part, &sink),
            }
        }
    };
    let pieces = pieces(&section.parts(), shortcuts);
    let parts: Vec<OfPart<S::Output>> = pieces.into_par_iter().map(read).collect::<Result<_>>()?;
    let mut collected = Collected { parts: Vec::with_capacity(parts.len()), lossy: 0, bad: 0, first_cause: None };
    for part in parts {
        collected.parts.push(part.output);
        collected.lossy += part.lossy;
        collected.bad += part.bad;
        collected.first_cause = collected.first_cause.or(part.first_cause);
    }
    Ok(collected)
}

enum Piece<T> {
    Gathered(T),
    UnreadContent(Part),
}

/// The parts, those that were gathered before by what they gave.
fn pieces<T>(parts: &[Part], shortcuts: Option<&Shortcuts<'_, T>>) -> Vec<Piece<T>> {
    let mut pieces = Vec::new();
    let mut rest = parts;
    while let Some((first, others)) = rest.split_first() {
        let gathered = shortcuts.and_then(|shortcuts| (shortcuts.gathered)(rest));
        let (piece, behind) = match gathered {
            Some((output, count)) => (Piece::Gathered(output), rest.get(count.max(1)..).unwrap_or_default()),
            None => (Piece::UnreadContent(*first), others),
        };
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

fn by_template<T>(file: &InputFile, part: &Part, shortcuts: &Shortcuts<'_, T>) -> Result<Option<T>> {
    if part.end.saturating_sub(part.start) > LONGEST_PART {
        return Ok(None);
    }
    file.with_text(part.start, part.end, |text, length| {
        let length = text.get(..length).unwrap_or_default().trim_ascii_end().len();
        (shortcuts.template)(text, length)
    })
}

fn read_part<S: Sink>(file: &InputFile, part: Part, sink: &impl Fn() -> S) -> Result<OfPart<S::Output>> {
    let length = part.end.saturating_sub(part.start);
    if length > LONGEST_PART {
        let cause = format!("record {} is {length} bytes long", part.row);
        let bad = usize::try_from(part.rows).unwrap_or(usize::MAX);
        return Ok(OfPart { output: sink().finish(), lossy: 0, bad, first_cause: Some(cause) });
    }
    if let Some(output) = file.with_text(part.start, part.end, |text, length| parse_in_place(text, length, sink))? {
        return Ok(OfPart { output, lossy: 0, bad: 0, first_cause: None });
    }
    let mut bytes = vec![b'['];
    file.read(part.start, part.end, &mut bytes)?;
    while bytes.pop_if(|byte| byte.is_ascii_whitespace() || *byte == b',').is_some() {}
    // A line end closes a string that was not.
    bytes.extend(b"\n]");
    let (mut text, mut lossy) = match std::str::from_utf8(&bytes) {
        Ok(text) => (Cow::Borrowed(text), 0),
        Err(_) => {
            let text = text_of_bytes(&bytes).into_owned();
            let count = text.matches(char::REPLACEMENT_CHARACTER).count();
            (Cow::Owned(text), count)
        }
    };
    if let Some(output) = parse(&text, sink) {
        return Ok(OfPart { output, lossy, bad: 0, first_cause: None });
    }
    if let Some(quieted) = quiet(&text) {
        text = Cow::Owned(quieted);
        if let Some(output) = parse(&text, sink) {
            return Ok(OfPart { output, lossy, bad: 0, first_cause: None });
        }
    }
    if let Some((mended, count)) = mend(&text) {
        text = Cow::Owned(mended);
        lossy += count;
        if let Some(output) = parse(&text, sink) {
            return Ok(OfPart { output, lossy, bad: 0, first_cause: None });
        }
    }
    Ok(one_by_one(&text, &part, lossy, sink))
}

/// Reads the records in so many bytes of a text where they lie, if nothing is wrong with them.
fn parse_in_place<S: Sink>(text: &[u8], length: usize, sink: &impl Fn() -> S) -> Option<S::Output> {
    let text = text.get(..length)?.trim_ascii_end();
    let mut rest = std::str::from_utf8(text.strip_suffix(b",").unwrap_or(text)).ok()?;
    let mut sink = sink();
    loop {
        let mut records = serde_json::Deserializer::from_str(rest).into_iter::<S::Record<'_>>();
        sink.push(records.next()?.ok()?);
        rest = rest.get(records.byte_offset()..)?.trim_ascii_start();
        if rest.is_empty() {
            return Some(sink.finish());
        }
        rest = rest.strip_prefix(',')?;
    }
}

fn parse<S: Sink>(text: &str, sink: &impl Fn() -> S) -> Option<S::Output> {
    let mut sink = sink();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_seq(Push(&mut sink, PhantomData)).ok()?;
    deserializer.end().ok()?;
    Some(sink.finish())
}

struct Push<'s, 'de, S>(&'s mut S, PhantomData<&'de ()>);

impl<'de, S: Sink> Visitor<'de> for Push<'_, 'de, S> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<(), A::Error> {
        while let Some(record) = records.next_element::<S::Record<'de>>()? {
            self.0.push(record);
        }
        Ok(())
    }
}

/// Takes the part apart once more, record by record, and leaves out those that cannot be understood.
fn one_by_one<S: Sink>(text: &str, whole: &Part, lossy: usize, sink: &impl Fn() -> S) -> OfPart<S::Output> {
    let head = format!("{{\"{ROOT_KEY}\":[{{\"records\":");
    let mut scanner = Scanner::new(0);
    scanner.feed(head.as_bytes());
    scanner.feed(text.as_bytes());
    let index = scanner.finish();
    let sections = index.processes.iter().flat_map(|process| &process.sections);
    let mut sink = sink();
    let (mut bad, mut first_cause) = (0, None);
    let mut seen = 0_u64;
    for part in sections.flat_map(Section::parts) {
        seen = seen.saturating_add(part.rows);
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).saturating_sub(head.len());
        let record = text.get(place(part.start)..place(part.end)).unwrap_or_default();
        let record = record.trim_end_matches(|byte: char| byte.is_ascii_whitespace() || byte == ',');
        let mut take = |record: &str| serde_json::from_str(whole_record(record)).map(|record| sink.push(record));
        let Err(error) = take(record) else { continue };
        first_cause.get_or_insert_with(|| format!("record {}: {error}", whole.row.saturating_add(part.row)));
        let pieces = run_together(record);
        if pieces.len() > 1 {
            bad += pieces.into_iter().filter(|piece| take(piece).is_err()).count();
        } else {
            bad += 1;
        }
    }
    let lost = usize::try_from(whole.rows.saturating_sub(seen)).unwrap_or(usize::MAX);
    if lost > 0 {
        bad += lost;
        first_cause.get_or_insert_with(|| format!("record {} has no end", whole.row.saturating_add(seen)));
    }
    OfPart { output: sink.finish(), lossy, bad, first_cause }
}

/// The record without what stands behind its end, such as brackets that nothing opened, unless that is another record.
fn whole_record(text: &str) -> &str {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let is_value = matches!(values.next(), Some(Ok(_)));
    let (record, behind) = text.split_at_checked(values.byte_offset()).unwrap_or((text, ""));
    let is_more = |byte: u8| matches!(byte, b'{' | b'[' | b'"');
    if is_value && !behind.bytes().any(is_more) { record } else { text }
}

/// Records that look like one because a bracket was lost: each starts as the first does, behind the end of another.
fn run_together(text: &str) -> Vec<&str> {
    let Some(quoted) = text.strip_prefix('{').map(str::trim_start).filter(|rest| rest.starts_with('"')) else {
        return vec![text];
    };
    let Some(key) = quoted.find(':').and_then(|end| quoted.get(..end)) else { return vec![text] };
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(key).skip(1) {
        let before = text.get(start..at).unwrap_or_default().trim_end();
        let Some(before) = before.strip_suffix('{').map(str::trim_end) else { continue };
        let Some(piece) = before.strip_suffix(',').map(str::trim_end).filter(|piece| piece.ends_with('}')) else {
            continue;
        };
        pieces.push(piece);
        start = start.saturating_add(before.len());
        start = text.get(start..).and_then(|rest| rest.find('{')).map_or(start, |skipped| start + skipped);
    }
    pieces.push(text.get(start..).unwrap_or_default());
    pieces
}

/// Reads an object as one value; `None` if it cannot be understood. The flag is true if it is not UTF-8.
pub(crate) fn read_object<T: for<'de> Deserialize<'de>>(
    file: &InputFile,
    section: &Section,
) -> Result<(Option<T>, bool)> {
    if section.end.saturating_sub(section.start) > LONGEST_PART {
        return Ok((None, false));
    }
    let mut bytes = Vec::new();
    file.read(section.start, section.end, &mut bytes)?;
    let text = text_of_bytes(&bytes);
    let lossy = matches!(text, Cow::Owned(_));
    if let Ok(value) = serde_json::from_str(&text) {
        return Ok((Some(value), lossy));
    }
    let text = quiet(&text).unwrap_or_else(|| text.into_owned());
    let (text, lossy) = mend(&text).map_or((text, lossy), |(mended, _)| (mended, true));
    Ok((serde_json::from_str(&text).ok(), lossy))
}

#[cfg(test)]
mod tests {
    use super::{run_together, whole_record};

    #[test]
    fn records_are_told_apart_by_their_first_key() {
        let text = r#"{"size": 1, "info": {"size": 2, "x": {"y": 3}}, { "size": 4, "a": [{"b": 1}, {"b": 2}]},
            {"size": 5}"#;
        assert_eq!(
            run_together(text),
            [
                r#"{"size": 1, "info": {"size": 2, "x": {"y": 3}}"#,
                r#"{ "size": 4, "a": [{"b": 1}, {"b": 2}]}"#,
                r#"{"size": 5}"#
            ]
        );
        assert_eq!(run_together("[1, 2"), ["[1, 2"]);
        assert_eq!(whole_record(r#"{"a": [1]}}! }"#), r#"{"a": [1]}"#);
        for text in [r#"{"a": 1} {"a": 2}"#, r#"{"a": 1"#, "}", ""] {
            assert_eq!(whole_record(text), text);
        }
        assert_eq!(run_together("{\"\u{e9}"), ["{\"\u{e9}"]);
    }
}
