//! Reads the records of a section part by part, in parallel, directly into the collections of the caller.

use std::borrow::Cow;

use anyhow::Result;
use rayon::prelude::*;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::file::InputFile;
use super::parsing::bare_words::quiet;
use super::parsing::surrogates::mend;
use super::structure::index::{Part, Section};
use super::structure::scanner::{ROOT_KEY, Scanner};
use wavesieve_model::text::bytes::text_of_bytes;

/// Maximum bytes of a part. A longer part has one record that is longer than any record of a profiler; it is not read.
const LONGEST_PART: u64 = 64 << 20;

/// Collects the records of each part into a value of its own.
pub(crate) struct Collector<'a, R, T> {
    /// Creates the value of a part.
    pub new: &'a (dyn Fn() -> T + Sync),
    /// Adds a record.
    pub push: &'a (dyn Fn(&mut T, R) + Sync),
    /// Shortcuts, if there are any.
    pub shortcuts: Option<Shortcuts<'a, T>>,
}

/// The collected values, and the anomalies of the records.
pub struct Collected<T> {
    pub output: T,
    /// Places that are not UTF-8.
    pub lossy: usize,
    /// Records that could not be parsed.
    pub bad: usize,
    /// The reason for the first of them.
    pub first_cause: Option<String>,
}

impl<T> Collected<T> {
    fn whole(output: T, lossy: usize) -> Self {
        Self { output, lossy, bad: 0, first_cause: None }
    }
}

/// Returns the values that were gathered before for the first parts of a list, and the number of these parts.
pub(crate) type TakeGathered<'a, T> = &'a (dyn Fn(&[Part]) -> Option<(T, usize)> + Sync);

/// Reads the records in the given number of bytes of a text. Zeros or the next bytes of the text follow them.
pub(crate) type ByTemplate<'a, T> = &'a (dyn Fn(&[u8], usize) -> Option<T> + Sync);

/// Shortcuts to a part. They return the same as the general parser, or nothing.
pub(crate) struct Shortcuts<'a, T> {
    pub gathered: TakeGathered<'a, T>,
    /// Reads with templates.
    pub template: ByTemplate<'a, T>,
}

/// Reads a section part by part, in order.
///
/// # Errors
/// When the file cannot be read. Records that cannot be parsed are only counted.
pub(crate) fn read_section<R: DeserializeOwned, T: Send>(
    file: &InputFile,
    section: &Section,
    collector: &Collector<'_, R, T>,
) -> Result<Collected<Vec<T>>> {
    let shortcuts = collector.shortcuts.as_ref();
    let read = |piece: Piece<T>| match piece {
        Piece::Gathered(output) => Ok(Collected::whole(output, 0)),
        Piece::UnreadContent(part) => {
            match shortcuts.map(|shortcuts| by_template(file, &part, shortcuts)).transpose()?.flatten() {
                Some(output) => Ok(Collected::whole(output, 0)),
                None => read_part(file, part, collector),
            }
        }
    };
    let pieces = pieces(&section.parts(), shortcuts);
    let parts: Vec<Collected<T>> = pieces.into_par_iter().map(read).collect::<Result<_>>()?;
    let mut collected = Collected::whole(Vec::with_capacity(parts.len()), 0);
    for part in parts {
        collected.output.push(part.output);
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

/// The parts; parts that were gathered before are replaced by their values.
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

fn read_part<R: DeserializeOwned, T>(
    file: &InputFile,
    part: Part,
    collector: &Collector<'_, R, T>,
) -> Result<Collected<T>> {
    let length = part.end.saturating_sub(part.start);
    if length > LONGEST_PART {
        let cause = format!("record {} is {length} bytes long", part.row);
        let bad = usize::try_from(part.rows).unwrap_or(usize::MAX);
        return Ok(Collected { output: (collector.new)(), lossy: 0, bad, first_cause: Some(cause) });
    }
    let in_place = file.with_text(part.start, part.end, |text, length| {
        let text = text.get(..length).unwrap_or_default();
        std::str::from_utf8(text).ok().and_then(|text| parse(text, collector))
    })?;
    if let Some(output) = in_place {
        return Ok(Collected::whole(output, 0));
    }
    let mut bytes = Vec::new();
    file.read(part.start, part.end, &mut bytes)?;
    let text = text_of_bytes(&bytes);
    let lossy = if matches!(text, Cow::Owned(_)) { text.matches(char::REPLACEMENT_CHARACTER).count() } else { 0 };
    Ok(match mended(text, |text| parse(text, collector)) {
        Ok((output, halves)) => Collected::whole(output, lossy + halves),
        Err((text, halves)) => one_by_one(&text, &part, lossy + halves, collector),
    })
}

/// Replaces text that no parser accepts, and returns the number of replaced halves of characters.
type Remedy = fn(&str) -> Option<(String, usize)>;

/// The value that `parse` returns for a text, either unchanged or with unacceptable text replaced, and the number of replaced halves of
/// characters. If there is no value, the error is the text with all replacements.
fn mended<T>(mut text: Cow<'_, str>, parse: impl Fn(&str) -> Option<T>) -> Result<(T, usize), (Cow<'_, str>, usize)> {
    let remedies: [Remedy; 2] = [|text| Some((quiet(text)?, 0)), mend];
    let mut remedies = remedies.into_iter();
    let mut halves = 0;
    loop {
        if let Some(value) = parse(&text) {
            return Ok((value, halves));
        }
        let Some((replaced, count)) = remedies.find_map(|remedy| remedy(&text)) else { return Err((text, halves)) };
        (text, halves) = (Cow::Owned(replaced), halves + count);
    }
}

/// Reads the records in a text; `None` if any of them is bad.
fn parse<R: DeserializeOwned, T>(text: &str, collector: &Collector<'_, R, T>) -> Option<T> {
    let text = text.trim_ascii_end();
    let mut rest = text.strip_suffix(',').unwrap_or(text);
    let mut output = (collector.new)();
    loop {
        let mut records = serde_json::Deserializer::from_str(rest).into_iter::<R>();
        (collector.push)(&mut output, records.next()?.ok()?);
        rest = rest.get(records.byte_offset()..)?.trim_ascii_start();
        if rest.is_empty() {
            return Some(output);
        }
        rest = rest.strip_prefix(',')?;
    }
}

/// Splits the part again into records, and leaves out the records that cannot be parsed.
fn one_by_one<R: DeserializeOwned, T>(
    text: &str,
    whole: &Part,
    lossy: usize,
    collector: &Collector<'_, R, T>,
) -> Collected<T> {
    let head = format!("{{\"{ROOT_KEY}\":[{{\"records\":[");
    let text = text.trim_end_matches(|byte: char| byte.is_ascii_whitespace() || byte == ',');
    // A line end closes an unclosed string.
    let text = [text, "\n]"].concat();
    let mut scanner = Scanner::new(0);
    scanner.feed(head.as_bytes());
    scanner.feed(text.as_bytes());
    let index = scanner.finish();
    let sections = index.processes.iter().flat_map(|process| &process.sections);
    let mut output = (collector.new)();
    let (mut bad, mut first_cause) = (0, None);
    let mut seen = 0_u64;
    for part in sections.flat_map(Section::parts) {
        seen = seen.saturating_add(part.rows);
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).saturating_sub(head.len());
        let record = text.get(place(part.start)..place(part.end)).unwrap_or_default();
        let record = record.trim_end_matches(|byte: char| byte.is_ascii_whitespace() || byte == ',');
        let mut take =
            |text: &str| serde_json::from_str(whole_record(text)).map(|one| (collector.push)(&mut output, one));
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
    Collected { output, lossy, bad, first_cause }
}

/// The record without text after its end, such as unmatched closing brackets, unless that text is another record.
fn whole_record(text: &str) -> &str {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let is_value = matches!(values.next(), Some(Ok(_)));
    let (record, behind) = text.split_at_checked(values.byte_offset()).unwrap_or((text, ""));
    let is_more = |byte: u8| matches!(byte, b'{' | b'[' | b'"');
    if is_value && !behind.bytes().any(is_more) { record } else { text }
}

/// Records that look like one because a bracket was lost. Each starts with the key of the first, after the end of another.
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

/// Reads an object as one value; `None` if it cannot be parsed. The flag is true if it is not UTF-8.
pub(crate) fn read_object<T: DeserializeOwned>(file: &InputFile, section: &Section) -> Result<(Option<T>, bool)> {
    if section.end.saturating_sub(section.start) > LONGEST_PART {
        return Ok((None, false));
    }
    let mut bytes = Vec::new();
    file.read(section.start, section.end, &mut bytes)?;
    let text = text_of_bytes(&bytes);
    let lossy = matches!(text, Cow::Owned(_));
    let (value, halves) = match mended(text, |text| serde_json::from_str(text).ok()) {
        Ok((value, halves)) => (Some(value), halves),
        Err((_, halves)) => (None, halves),
    };
    Ok((value, lossy || halves > 0))
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
