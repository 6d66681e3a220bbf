//! Scans a file for its sections. Templates skip long runs of similar records on all threads, and gather their requested columns.
//!
//! A thread that starts in the middle of a section guesses the start of a record. Its result only counts if the previous chunk ends exactly
//! there and itself started at a proven position; otherwise it is dropped. Therefore wrong guesses never change the result: it is the
//! result of the [`Scanner`] alone.

use anyhow::Result;
use rayon::prelude::*;

use super::gathered::{Keep, RecordBatch};
use super::index::FileIndex;
use super::scanner::Scanner;
use crate::rocprofv3_json::file::InputFile;
use crate::rocprofv3_json::layout::Selected;
use crate::rocprofv3_json::layouts::Unread;
use crate::rocprofv3_json::template::{Packed, Run, Runner, Stop};
use wavesieve_tables::ablation::{Optimization, is_on};

/// Distances in bytes, and the number of chunks that are read at a time.
#[derive(Clone, Copy, Debug)]
struct ChunkSizes {
    /// Distance between the splits of a section.
    part: u64,
    /// Bytes that the scanner gets at a time.
    block: u64,
    /// Bytes that one thread reads at a time.
    chunk: u64,
    /// Bytes after a chunk in which its last record is likely to end.
    short_overlap: u64,
    /// Bytes after a chunk in which its last record has to end.
    overlap: u64,
    /// Bytes before a chunk in which the comma before its first record has to be.
    before: u64,
    /// Maximum number of chunks in a round; the threads wait for each other after each round.
    most_chunks: u64,
    /// Minimum bytes of a section before a template is learned for it.
    worthwhile: u64,
    /// Bytes that the scanner reads alone after a failed attempt. The distance doubles after each further failure, up to the second value.
    penalty: (u64, u64),
}

const PACE: ChunkSizes = ChunkSizes {
    part: 4 << 20,
    block: 1 << 18,
    // Small enough that the bytes stay in the cache of a core until they are parsed.
    chunk: 1 << 18,
    short_overlap: 1 << 11,
    overlap: 1 << 16,
    before: 1 << 8,
    most_chunks: 256,
    worthwhile: 1 << 14,
    penalty: (1 << 16, 1 << 26),
};

/// The data to gather from the records of some sections.
pub(crate) struct Gather<'a> {
    /// Names of the sections.
    pub sections: Vec<String>,
    /// The requested fields.
    pub selected: &'a Selected,
}

/// Finds the sections, and gathers columns of some of them.
pub fn scan(file: &InputFile, gathers: &[Gather<'_>]) -> Result<FileIndex> {
    scan_at(file, gathers, &PACE)
}

fn scan_at(file: &InputFile, gathers: &[Gather<'_>], pace: &ChunkSizes) -> Result<FileIndex> {
    let mut scanner = Scanner::new(pace.part);
    let (first_penalty, max_penalty) = pace.penalty;
    let first_attempt = if is_on(Optimization::Templates) { pace.worthwhile } else { u64::MAX };
    let (mut next_attempt, mut penalty) = (first_attempt, first_penalty);
    let mut section_start = None;
    loop {
        let start = scanner.at();
        let is_end = file.with_text(start, start.saturating_add(pace.block), |text, length| {
            let mut block = text.get(..length).unwrap_or_default();
            let is_end = block.is_empty();
            while !block.is_empty() {
                let taken = scanner.feed_until_record(block, next_attempt);
                block = block.get(taken..).unwrap_or_default();
                let Some(section) = scanner.section().filter(|_| scanner.at() >= next_attempt) else { continue };
                if section_start != Some(section.start) {
                    section_start = Some(section.start);
                    penalty = first_penalty;
                    next_attempt = next_attempt.max(section.start.saturating_add(pace.worthwhile));
                }
                if scanner.at() >= next_attempt {
                    break;
                }
            }
            is_end
        })?;
        if is_end {
            return Ok(scanner.finish());
        }
        let (Some(section), true) = (scanner.section(), scanner.at() >= next_attempt) else { continue };
        let name = section.name.clone();
        let gather = gathers.iter().find(|gather| gather.sections.contains(&name));
        let begun = scanner.at();
        sweep(file, &mut scanner, &name, gather, pace)?;
        let passed = scanner.at().saturating_sub(begun);
        penalty = if passed > penalty { first_penalty } else { penalty.saturating_mul(2).min(max_penalty) };
        next_attempt = scanner.at().saturating_add(if passed > penalty { 0 } else { penalty });
    }
}

/// Skips records from the position of the scanner while templates match.
fn sweep(
    file: &InputFile,
    scanner: &mut Scanner,
    section: &str,
    gather: Option<&Gather<'_>>,
    pace: &ChunkSizes,
) -> Result<()> {
    let length = file.length()?;
    let only_passed = Selected::new::<Unread>(Keep::Every, |_| false);
    let selected = gather.map_or(&only_passed, |gather| gather.selected);
    let begun = scanner.at();
    let learnt = file.with_text(begun, begun.saturating_add(pace.overlap), |text, _| {
        let blanks = text.len().saturating_sub(text.trim_ascii_start().len());
        Some((blanks as u64, Runner::new(selected, text.trim_ascii_start())?))
    })?;
    let Some((blanks, mut runner)) = learnt else { return Ok(()) };
    let mut at = begun.saturating_add(blanks);
    let first = at;
    let mut records = 0;
    let mut columns = vec![Packed::default(); selected.fields.len()];
    let mut chunks = 1;
    let mut first_round = true;
    while at < length {
        let before = at;
        let read: Vec<(Option<Chunk>, Runner<'_>)> = (0..chunks)
            .into_par_iter()
            .map(|number| Chunk::read(file, at.saturating_add(number * pace.chunk), number > 0, runner.clone(), pace))
            .collect::<Result<_>>()?;
        let mut stop = Stop::Limit;
        let mut all = true;
        for (chunk, with_more) in read {
            let Some(chunk) = chunk.filter(|chunk| chunk.start == at && stop == Stop::Limit) else {
                all = false;
                break;
            };
            runner = with_more;
            at = chunk.end;
            stop = chunk.run.stop;
            scanner.pass(chunk.start, chunk.run.records, chunk.behind_comma, gather.is_some());
            records += chunk.run.records;
            columns.iter_mut().zip(chunk.columns).for_each(|(column, read)| column.append(read));
        }
        // A file that is cut while it is read ends before its stated length.
        if stop != Stop::Limit || at == before && all {
            break;
        }
        if first_round && gather.is_some() {
            let likely = records.saturating_mul(length.saturating_sub(at)) / at.saturating_sub(first).max(1);
            columns.iter_mut().for_each(|column| column.reserve(usize::try_from(likely).unwrap_or_default()));
        }
        first_round = false;
        chunks = if all { (chunks * 2).min(pace.most_chunks) } else { 1 };
    }
    if gather.is_some() && records > 0 {
        let (section, names, keep) = (section.to_owned(), selected.names(), selected.keep);
        file.gathered.add(first, RecordBatch { section, names, keep, records, columns });
    }
    Ok(())
}

/// The result of reading a chunk, with offsets in the file.
struct Chunk {
    start: u64,
    end: u64,
    behind_comma: u64,
    run: Run,
    columns: Vec<Packed>,
}

impl Chunk {
    /// Reads the records that start in the chunk at `from`. A record starts exactly there, unless the start must be `guessed`.
    fn read<'a>(
        file: &InputFile,
        from: u64,
        guessed: bool,
        mut runner: Runner<'a>,
        pace: &ChunkSizes,
    ) -> Result<(Option<Self>, Runner<'a>)> {
        let before = if guessed { pace.before.min(from) } else { 0 };
        let base = from.saturating_sub(before);
        let mut chunk = None;
        for overlap in [pace.short_overlap, pace.overlap] {
            let end = from.saturating_add(pace.chunk).saturating_add(overlap);
            chunk = file.with_text(base, end, |text, length| {
                let from = before as usize;
                let start = if guessed { runner.guess(text, from)? } else { from };
                let limit = from.saturating_add(pace.chunk as usize).min(length);
                let mut run = runner.run(text, start, limit);
                let columns = std::mem::take(&mut run.columns).into_iter().map(Packed::from).collect();
                let place = |at: usize| base.saturating_add(at as u64);
                Some(Self {
                    start: place(start),
                    end: place(run.end),
                    behind_comma: place(run.behind_comma),
                    run,
                    columns,
                })
            })?;
            if chunk.as_ref().is_some_and(|chunk| chunk.run.stop == Stop::Limit) {
                break;
            }
        }
        Ok((chunk, runner))
    }
}

#[cfg(test)]
mod tests;
