//! A file as a source of canonical tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use xxhash_rust::xxh3::xxh3_128;

use super::listing::{InstructionRow, Kernel, Listing};
use crate::common::{SymbolNames, TableBuilder, no_rows};
use crate::recognition::format::{Opened, Opening, ProcessInput};
use wavesieve_model::analysis::instructions::{InstructionRules, innermost, mnemonic, outermost};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_tables::columns::frames::constant_cat;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

/// The only table with rows of its own.
const INSTRUCTIONS: &str = "att_instructions";

/// A canonical column, and the number of a row in it.
type Numbered = (&'static str, fn(&InstructionRow) -> Option<i64>);
/// Like [`Numbered`], but for words.
type Worded = (&'static str, fn(&InstructionRow) -> Option<&str>);

struct AttSource {
    path: PathBuf,
    shown: String,
    capture: String,
    dispatch_id: Option<i64>,
    rows: u64,
    kernels: u64,
    damage: Vec<Damage>,
}

/// The thread trace of a file.
///
/// # Errors
/// When the file cannot be read, or none of its rows can be parsed.
pub fn open(opening: &Opening<'_>) -> Result<Opened> {
    let Opening { path, shown, name, .. } = *opening;
    let listing = Listing::read(path, shown)?;
    if let (true, Some(cause)) = (listing.rows.is_empty() && listing.bad > 0, listing.damage.first()) {
        bail!("no row can be parsed: {cause}");
    }
    let capture = name.strip_suffix(".gz").unwrap_or(name);
    let capture = capture.strip_suffix(".csv").unwrap_or(capture);
    let capture = capture.strip_prefix("stats_").unwrap_or(capture).to_owned();
    let damage =
        |cause: &String| Damage { path: shown.to_owned(), part: INSTRUCTIONS.to_owned(), cause: cause.clone() };
    let facts = ProcessFacts {
        content_hash: content_hash(&listing),
        pid: -1,
        path: shown.to_owned(),
        source: name.to_owned(),
        format: super::FORMAT.to_owned(),
        is_thread_trace: true,
        ..ProcessFacts::default()
    };
    let source = AttSource {
        path: path.to_owned(),
        shown: shown.to_owned(),
        dispatch_id: dispatch_in(&capture),
        capture,
        rows: listing.rows.len() as u64,
        kernels: listing.kernels.len() as u64,
        damage: listing.damage.iter().map(damage).collect(),
    };
    let notes = notes(&listing, shown);
    let processes = vec![ProcessInput { facts, source: std::sync::Arc::new(source) }];
    Ok(Opened { processes, notes, damage: Vec::new() })
}

/// The number behind `dispatch_` in the name of a file.
fn dispatch_in(name: &str) -> Option<i64> {
    let (_, rest) = name.rsplit_once("dispatch_")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A hash of all parsed rows: files of the same code differ only in their counts. The hashed texts are the same as in earlier versions, so
/// that captures keep their ids.
fn content_hash(listing: &Listing) -> String {
    let rows = listing.rows.iter().map(|row| {
        let InstructionRow { ordinal, kernel, code_object, address, instruction, hits, latency, stall, idle, source } =
            row;
        format!(
            "Row {{ ordinal: {ordinal}, kernel: {kernel:?}, code_object: {code_object:?}, address: {address:?}, \
             instruction: {instruction:?}, hits: {hits}, latency: {latency}, stall: {stall:?}, idle: {idle:?}, \
             source: {source:?} }}\n"
        )
    });
    let kernels = listing
        .kernels
        .iter()
        .map(|Kernel { name, mangled }| format!("Kernel {{ name: {name:?}, mangled: {mangled:?} }}\n"));
    format!("{:032x}", xxh3_128(rows.chain(kernels).collect::<String>().as_bytes()))
}

fn notes(listing: &Listing, shown: &str) -> Vec<Anomaly> {
    let note = |check_id, severity, count: usize, detail: String| {
        Anomaly::new(check_id, severity, INSTRUCTIONS, count, detail).first(Some(shown))
    };
    let mut notes = Vec::new();
    if listing.rows.iter().all(|row| row.hits == 0) {
        let detail = "no wavefront of the dispatch ran on the traced compute unit; choose another with \
                      --att-target-cu, or pin all wavefronts to it with HSA_CU_MASK";
        notes.push(note("no_waves_traced", Severity::Warning, listing.rows.len(), detail.to_owned()));
    }
    if !listing.unknown.is_empty() {
        let detail = format!("unknown columns were ignored: {}", listing.unknown.join(", "));
        notes.push(note("unknown_column", Severity::Info, listing.unknown.len(), detail));
    }
    if listing.lossy > 0 {
        let detail = "texts contain invalid UTF-8, shown as U+FFFD".to_owned();
        notes.push(note("invalid_utf8", Severity::Info, usize::try_from(listing.lossy).unwrap_or(usize::MAX), detail));
    }
    notes
}

impl ProcessReader for AttSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Declaration]) -> Result<Rows> {
        if !matches!(table.name, INSTRUCTIONS | "kernel_symbols") {
            return Ok(no_rows(columns));
        }
        let listing = Listing::read(&self.path, &self.shown)?;
        let mut builder = TableBuilder::new(context, table, columns);
        if table.name == INSTRUCTIONS {
            builder.report_damage(self.damage.clone());
            self.put_instructions(&listing, &mut builder)?;
        } else {
            put_kernels(&listing, &mut builder)?;
        }
        builder.finish()
    }

    fn count_rows(&self, _context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        Ok(match table.name {
            INSTRUCTIONS => RowCount { rows: self.rows, damage: self.damage.clone() },
            "kernel_symbols" => RowCount::whole(self.kernels),
            _ => RowCount::default(),
        })
    }
}

impl AttSource {
    fn put_instructions(&self, listing: &Listing, builder: &mut TableBuilder<'_>) -> Result<()> {
        let rows = &listing.rows;
        builder.set_height(rows.len());
        let numbers: [Numbered; 10] = [
            ("ordinal", |row| Some(row.ordinal)),
            ("kernel_id", |row| row.kernel.and_then(|kernel| i64::try_from(kernel).ok()).map(|kernel| kernel + 1)),
            ("code_object_id", |row| row.code_object),
            ("vaddr", |row| row.address),
            ("hitcount", |row| Some(row.hits)),
            ("latency_cycles", |row| Some(row.latency)),
            ("stall_cycles", |row| row.stall),
            ("idle_cycles", |row| row.idle),
            ("source_line", |row| innermost(row.source.as_deref()?)?.line),
            ("outer_line", |row| outermost(row.source.as_deref()?)?.line),
        ];
        for (name, value) in numbers {
            builder.put_integers(name, rows.iter().map(value));
        }
        builder.put_integers("dispatch_id", std::iter::repeat_n(self.dispatch_id, rows.len()));
        builder.put_with("capture", || Ok(constant_cat("capture", Some(&self.capture), rows.len())?))?;
        let words: [Worded; 5] = [
            ("instruction", |row| Some(&row.instruction)),
            ("source", |row| row.source.as_deref()),
            ("mnemonic", |row| Some(mnemonic(&row.instruction))),
            ("source_file", |row| Some(innermost(row.source.as_deref()?)?.file)),
            ("outer_file", |row| Some(outermost(row.source.as_deref()?)?.file)),
        ];
        for (name, word) in words {
            builder.put_texts(name, rows.iter().map(word))?;
        }
        let rules = InstructionRules::builtin();
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        let mut class = |row| *known.entry(mnemonic(row)).or_insert_with(|| rules.class(row));
        builder.put_texts("class", rows.iter().map(|row| Some(class(row.instruction.as_str()))))?;
        if builder.wants(&["kernel_name", "short_name"]) {
            builder.put_kernel_names(&symbols(listing), rows.iter().map(|row| row.kernel))?;
        }
        Ok(())
    }
}

fn symbols(listing: &Listing) -> SymbolNames {
    let mut symbols = SymbolNames::default();
    for kernel in &listing.kernels {
        symbols.push(kernel.name.clone(), None, kernel.mangled.clone());
    }
    symbols
}

fn put_kernels(listing: &Listing, builder: &mut TableBuilder<'_>) -> Result<()> {
    let numbers: Vec<i64> = (1..).take(listing.kernels.len()).collect();
    // The first row of each kernel counts: later entries of a map replace earlier ones.
    let rows = listing.rows.iter().rev();
    let objects: BTreeMap<usize, Option<i64>> = rows.filter_map(|row| Some((row.kernel?, row.code_object))).collect();
    let object = |kernel: usize| objects.get(&kernel).copied().flatten();
    builder.put_integers("code_object_id", (0..listing.kernels.len()).map(object));
    builder.put_symbols(numbers.into_iter(), &symbols(listing))
}

#[cfg(test)]
mod tests {
    use super::dispatch_in;

    #[test]
    fn dispatches_are_in_names() {
        assert_eq!(dispatch_in("ui_output_agent_2_dispatch_17"), Some(17));
        assert_eq!(dispatch_in("mi355x_dispatch_7_nowaves"), Some(7));
        assert_eq!((dispatch_in("att_output_2025-05"), dispatch_in("dispatch_x")), (None, None));
    }
}
