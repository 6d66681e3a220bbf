//! Digests as files. A Parquet file has a row for each GPU and for each kernel on it, for each counter of a kernel and
//! for each part of critical paths. Its metadata has the facts of the run.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use polars::io::mmap::MmapBytesReader;
use polars::prelude::*;
use serde::{Deserialize, Serialize};

use super::model::{
    Calls, Clock, CopyDigest, CounterDigest, Digest, GpuDigest, KernelDigest, PathDigest, RunFacts, Shape, Times,
    VERSION,
};
use super::sum;
use wavesieve_files::regular;
use wavesieve_input::InputError;
use wavesieve_model::text::causes::with_causes;

/// Keys of the metadata: of the facts, and of the sum over the file.
const KEY: &str = "wavesieve.digest";
const SUM_KEY: &str = "wavesieve.digest.sum";
/// Maximum size of a file. Digests are far smaller, whatever the run.
const MAX_BYTES: u64 = 1 << 30;
/// Extension of the file names of digests.
pub(crate) const EXTENSION: &str = "wsd";
/// Bytes at the start of Parquet files.
const MAGIC: &[u8] = b"PAR1";
/// Integers of a shape: sizes, inputs (not in version 1), calls and total of the run and steady iterations, levels of both.
const SHAPE: usize = 13;
/// Exclusive limit of every time and every count of a run: two years in nanoseconds. Sums of valid values cannot
/// overflow.
const LIMIT: i64 = 1 << 56;

/// The metadata.
#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    facts: RunFacts,
    gpus: Vec<GpuDigest>,
    /// Causes of idle time, in the order of the columns of `iterations`.
    causes: Vec<String>,
    /// By GPU.
    copies: Vec<Vec<CopyDigest>>,
    /// Rows of kernels and steady iterations of each GPU.
    rows: Vec<(usize, usize)>,
    /// Rows of counters, of paths and of ranges.
    other_rows: (usize, usize, usize),
    /// Whether the file has a sum over its bytes. Files of older versions have none.
    #[serde(default)]
    has_sum: bool,
}

/// Replaces the number of a GPU in rows that belong to no GPU.
const COUNTER: i64 = -1;
const PATH: i64 = -2;
const RANGE: i64 = -3;

/// Whether a file is a digest, by its metadata or by its name.
pub fn is_digest(path: &Path) -> bool {
    // Opening a pipe would block.
    if !path.is_file() {
        return false;
    }
    if path.extension().is_some_and(|extension| extension == EXTENSION) {
        return true;
    }
    let starts = regular::head(path, MAGIC.len() as u64).is_ok_and(|head| head == MAGIC);
    let head = || regular::open(path).map_err(anyhow::Error::from).and_then(head_text);
    starts && head().is_ok_and(|text| text.is_some())
}

fn head_text(file: impl MmapBytesReader) -> Result<Option<String>> {
    let mut reader = ParquetReader::new(file);
    let metadata = reader.get_metadata()?.key_value_metadata().clone();
    Ok(metadata.into_iter().flatten().find(|entry| entry.key == KEY).and_then(|entry| entry.value))
}

/// Lists of integers or floats, row by row.
type Lists<T> = Vec<Vec<T>>;

/// Columns of the file.
#[derive(Default)]
struct Columns {
    gpu: Vec<i64>,
    name: Vec<Option<String>>,
    category: Vec<Option<String>>,
    /// For a kernel: calls, total, twice the median, p95, p99 and time with a known clock, for the run and its steady
    /// iterations, then whether it is transfer time. For a counter: the dispatches. For a part of a path: the process,
    /// and its time in both.
    sums: Lists<i64>,
    /// For a kernel: the level and the cycles, for the run and its steady iterations. For a counter: the sum.
    levels: Lists<f64>,
    run_blocks: Lists<f64>,
    steady_blocks: Lists<f64>,
    iteration_blocks: Lists<f64>,
    /// For a GPU: the sequence of a typical iteration.
    places: Lists<i64>,
    shapes: Lists<i64>,
    /// Levels of the shapes one after the other, of the run and of steady iterations.
    shape_levels: Lists<f64>,
    /// For a GPU: the times of each steady iteration: span, compute, communication, copies, exposed communication and
    /// copies, kernels, idle by cause.
    iterations: Lists<i64>,
}

/// Writes a digest.
///
/// # Errors
/// When it cannot be written.
pub fn write(digest: &Digest, out: &mut dyn Write) -> Result<()> {
    let mut causes: Vec<String> =
        digest.gpus.iter().flat_map(|gpu| &gpu.iterations).flat_map(|times| times.idle_ns.keys().cloned()).collect();
    causes.sort_unstable();
    causes.dedup();
    let mut columns = Columns::default();
    for (place, gpu) in (0..).zip(&digest.gpus) {
        columns.push_gpu(place, gpu, &causes);
        gpu.kernels.iter().chain(&gpu.transfers).for_each(|kernel| columns.push_kernel(place, kernel));
    }
    for counter in &digest.counters {
        columns.push(COUNTER, Some((&counter.kernel, &counter.counter)), vec![counter.dispatches], vec![counter.sum]);
        columns.set_blocks(&counter.blocks, &[]);
    }
    for (place, paths) in [(PATH, &digest.paths), (RANGE, &digest.ranges)] {
        for path in paths {
            let sums = vec![path.process, path.run_ns, path.steady_ns];
            columns.push(place, Some((&path.name, &path.kind)), sums, Vec::new());
        }
    }
    let head = Head {
        version: VERSION,
        facts: digest.facts.clone(),
        copies: digest.gpus.iter().map(|gpu| gpu.copies.clone()).collect(),
        gpus: digest.gpus.clone(),
        causes,
        rows: digest.gpus.iter().map(rows_of).collect(),
        other_rows: (digest.counters.len(), digest.paths.len(), digest.ranges.len()),
        has_sum: true,
    };
    let texts = vec![(KEY.to_owned(), serde_json::to_string(&head)?), (SUM_KEY.to_owned(), sum::unknown())];
    let metadata = KeyValueMetadata::from_static(texts);
    let mut frame = columns.into_frame()?;
    let mut content = Vec::new();
    ParquetWriter::new(&mut content)
        .with_compression(ParquetCompression::Zstd(None))
        .with_key_value_metadata(Some(metadata))
        .set_parallel(false)
        .finish(&mut frame)?;
    sum::set(&mut content)?;
    out.write_all(&content)?;
    Ok(())
}

/// Reads a digest.
///
/// # Errors
/// When the file is not a digest, is of a newer version, or is damaged.
pub fn read(path: &Path) -> Result<Digest, InputError> {
    let shown = path.display();
    let damaged = |error: anyhow::Error| {
        let cause = format!("a damaged digest: {}; save it again with --save", with_causes(&error));
        InputError::Damaged { reasons: vec![(shown.to_string(), cause)] }
    };
    let content = bytes(path)?;
    sum::check(&content, false).map_err(damaged)?;
    let text = head_text(Cursor::new(&content)).map_err(damaged)?;
    let Some(text) = text else { return Err(anyhow!("{shown} is not a digest; save one with --save").into()) };
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version } = serde_json::from_str(&text).map_err(|error| damaged(error.into()))?;
    if version > VERSION {
        let reads = format!("has version {version}, this program reads up to {VERSION}");
        return Err(anyhow!("the digest {shown} {reads}; update the program or save the digest again").into());
    }
    parsed(version, &text, &content, path).map_err(damaged)
}

/// The content of a digest, up to a maximum size.
fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut content)?;
    ensure!(content.len() as u64 <= MAX_BYTES, "{} is too large for a digest (limit 1 GiB)", path.display());
    Ok(content)
}

/// Parses the digest in a file with this content.
fn parsed(version: u32, text: &str, content: &[u8], path: &Path) -> Result<Digest> {
    ensure!(version > 0, "it has no version");
    let head: Head = serde_json::from_str(text)?;
    sum::check(content, head.has_sum)?;
    let frame = ParquetReader::new(Cursor::new(content)).finish()?;
    let (rows, other_rows) = (head.rows.clone(), head.other_rows);
    let digest = assembled(head, &frame, path)?;
    let found: Vec<(usize, usize)> = digest.gpus.iter().map(rows_of).collect();
    let others = (digest.counters.len(), digest.paths.len(), digest.ranges.len());
    ensure!(found == rows && others == other_rows, "rows are missing");
    digest.gpus.iter().try_for_each(check_times)?;
    let is_known = |gpu: &GpuDigest| gpu.typical.iter().all(|kernel| (*kernel as usize) < gpu.kernels.len());
    ensure!(digest.gpus.iter().all(is_known), "a typical iteration has an unknown kernel");
    Ok(digest)
}

/// Rows of kernels and steady iterations of a GPU.
fn rows_of(gpu: &GpuDigest) -> (usize, usize) {
    (gpu.kernels.len() + gpu.transfers.len(), gpu.iterations.len())
}

/// Refuses impossible times. The times of kernels are checked when they are read.
fn check_times(gpu: &GpuDigest) -> Result<()> {
    for times in gpu.iterations.iter().chain([&gpu.run]) {
        let of_times = [times.span_ns, times.compute_ns, times.comm_ns, times.copy_ns];
        let exposed = [times.exposed_comm_ns, times.exposed_copy_ns];
        let all = of_times.into_iter().chain(exposed).chain(times.idle_ns.values().copied());
        all.map(in_limits).collect::<Result<Vec<i64>>>()?;
    }
    for copy in &gpu.copies {
        let sums = [copy.run.0, copy.run.1, copy.steady.0, copy.steady.1];
        sums.into_iter().map(in_limits).collect::<Result<Vec<i64>>>()?;
    }
    Ok(())
}

fn in_limits(value: i64) -> Result<i64> {
    ensure!((0..=LIMIT).contains(&value), "{value} is not a valid time or count");
    Ok(value)
}

impl Columns {
    fn push_gpu(&mut self, place: i64, gpu: &GpuDigest, causes: &[String]) {
        let per_iteration = |(times, kernels): (&Times, &i64)| {
            let mut values = vec![
                times.span_ns,
                times.compute_ns,
                times.comm_ns,
                times.copy_ns,
                times.exposed_comm_ns,
                times.exposed_copy_ns,
                *kernels,
            ];
            values.extend(causes.iter().map(|cause| times.idle_ns.get(cause).copied().unwrap_or_default()));
            values
        };
        self.push(place, None, Vec::new(), Vec::new());
        if let Some(typical) = self.places.last_mut() {
            *typical = gpu.typical.iter().map(|kernel| i64::from(*kernel)).collect();
        }
        if let Some(iterations) = self.iterations.last_mut() {
            *iterations = gpu.iterations.iter().zip(&gpu.kernels_per_iteration).flat_map(per_iteration).collect();
        }
    }

    fn push_kernel(&mut self, place: i64, kernel: &KernelDigest) {
        let of = |calls: &Calls| {
            [calls.calls, calls.total_ns, calls.median_x2_ns, calls.p95_ns, calls.p99_ns, calls.clock.time_ns]
        };
        let mut sums = [of(&kernel.run), of(&kernel.steady)].concat();
        sums.push(i64::from(kernel.is_transfer));
        let level = |calls: &Calls| [calls.log_mean, calls.clock.cycles];
        let levels = [level(&kernel.run), level(&kernel.steady)].concat();
        self.push(place, Some((&kernel.name, &kernel.category)), sums, levels);
        self.set_blocks(&kernel.run.blocks, &kernel.steady.blocks);
        let shape = |shape: &Shape| {
            let (run, steady) = (shape.run_logs.len() as i64, shape.steady_logs.len() as i64);
            let sums = [shape.run.0, shape.run.1, shape.steady.0, shape.steady.1, run, steady];
            shape.sizes.into_iter().chain(sums)
        };
        let set = |lists: &mut Lists<i64>, values: Vec<i64>| {
            lists.last_mut().into_iter().for_each(|last| last.clone_from(&values))
        };
        set(&mut self.places, kernel.places.clone());
        set(&mut self.shapes, kernel.shapes.iter().flat_map(shape).collect());
        if let Some(last) = self.iteration_blocks.last_mut() {
            last.clone_from(&kernel.iteration_blocks);
        }
        if let Some(last) = self.shape_levels.last_mut() {
            *last = kernel
                .shapes
                .iter()
                .flat_map(|shape| shape.run_logs.iter().chain(&shape.steady_logs))
                .copied()
                .collect();
        }
    }

    fn set_blocks(&mut self, run: &[f64], steady: &[f64]) {
        for (lists, blocks) in [(&mut self.run_blocks, run), (&mut self.steady_blocks, steady)] {
            if let Some(last) = lists.last_mut() {
                last.extend_from_slice(blocks);
            }
        }
    }

    /// Adds a row, whose other lists are empty.
    fn push(&mut self, place: i64, name: Option<(&str, &str)>, sums: Vec<i64>, levels: Vec<f64>) {
        self.gpu.push(place);
        self.name.push(name.map(|(name, _)| name.to_owned()));
        self.category.push(name.map(|(_, category)| category.to_owned()));
        self.sums.push(sums);
        self.levels.push(levels);
        self.run_blocks.push(Vec::new());
        self.steady_blocks.push(Vec::new());
        self.iteration_blocks.push(Vec::new());
        self.places.push(Vec::new());
        self.shapes.push(Vec::new());
        self.shape_levels.push(Vec::new());
        self.iterations.push(Vec::new());
    }

    fn into_frame(self) -> PolarsResult<DataFrame> {
        let integers =
            |name: &str, rows: &Lists<i64>| list_column(name, rows, DataType::Int64, |row| Series::new("".into(), row));
        let floats = |name: &str, rows: &Lists<f64>| {
            list_column(name, rows, DataType::Float64, |row| Series::new("".into(), row))
        };
        DataFrame::new_infer_height(vec![
            Column::new("gpu".into(), self.gpu),
            Column::new("name".into(), self.name),
            Column::new("category".into(), self.category),
            integers("sums", &self.sums),
            floats("levels", &self.levels),
            floats("run_blocks", &self.run_blocks),
            floats("steady_blocks", &self.steady_blocks),
            floats("iteration_blocks", &self.iteration_blocks),
            integers("places", &self.places),
            integers("shapes", &self.shapes),
            floats("shape_levels", &self.shape_levels),
            integers("iterations", &self.iterations),
        ])
    }
}

fn list_column<T>(name: &str, rows: &Lists<T>, data_type: DataType, series: impl Fn(&[T]) -> Series) -> Column {
    let rows: Vec<Series> = rows.iter().map(|row| series(row)).collect();
    let column = ListChunked::from_iter(rows.iter()).with_name(name.into()).into_series();
    let typed = column.cast(&DataType::List(Box::new(data_type)));
    typed.unwrap_or(column).into_column()
}

fn assembled(head: Head, frame: &DataFrame, path: &Path) -> Result<Digest> {
    let Head { version, mut facts, mut gpus, causes, copies, has_sum, .. } = head;
    facts.inputs = vec![path.display().to_string()];
    let place = frame.column("gpu")?.i64()?.clone();
    let (names, categories) = (frame.column("name")?.str()?.clone(), frame.column("category")?.str()?.clone());
    let list = |name: &str| -> Result<ListChunked> { Ok(frame.column(name)?.list()?.clone()) };
    let (sums, levels, places) = (list("sums")?, list("levels")?, list("places")?);
    let (run_blocks, steady_blocks) = (list("run_blocks")?, list("steady_blocks")?);
    let (iteration_blocks, iterations) = (list("iteration_blocks")?, list("iterations")?);
    let (all_shapes, shape_levels) = (list("shapes")?, list("shape_levels")?);
    ensure!(copies.len() == gpus.len(), "copies are missing");
    for (gpu, copies) in gpus.iter_mut().zip(copies) {
        gpu.copies = copies;
    }
    let (mut counters, mut paths, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..frame.height() {
        let texts = || Some((names.get(row)?.to_owned(), categories.get(row)?.to_owned()));
        match place.get(row) {
            Some(COUNTER) => {
                let (kernel, counter) = texts().context("a counter has no name")?;
                let ([dispatches], [sum]) = (&*integers_at(&sums, row)?, &*floats_at(&levels, row)?) else {
                    bail!("counters are cut")
                };
                let blocks = floats_at(&run_blocks, row)?;
                counters.push(CounterDigest { kernel, counter, dispatches: *dispatches, sum: *sum, blocks });
                continue;
            }
            Some(of @ (PATH | RANGE)) => {
                let (name, kind) = texts().context("a part of a path has no name")?;
                let [process, run_ns, steady_ns] = *integers_at(&sums, row)? else { bail!("paths are cut") };
                let all = if of == PATH { &mut paths } else { &mut ranges };
                all.push(PathDigest { process, kind, name, run_ns, steady_ns });
                continue;
            }
            _ => {}
        }
        let gpu = place.get(row).and_then(|place| gpus.get_mut(usize::try_from(place).ok()?)).context("unknown GPU")?;
        let (Some(name), Some(category)) = (names.get(row), categories.get(row)) else {
            let width = 7 + causes.len();
            for of_one in integers_at(&iterations, row)?.chunks(width) {
                let [span_ns, compute_ns, comm_ns, copy_ns, exposed_comm_ns, exposed_copy_ns, kernels, idle @ ..] =
                    of_one
                else {
                    bail!("iterations are cut")
                };
                ensure!(idle.len() == causes.len(), "iterations are cut");
                let named = causes.iter().cloned().zip(idle.iter().copied());
                gpu.iterations.push(Times {
                    span_ns: *span_ns,
                    compute_ns: *compute_ns,
                    comm_ns: *comm_ns,
                    copy_ns: *copy_ns,
                    exposed_comm_ns: *exposed_comm_ns,
                    exposed_copy_ns: *exposed_copy_ns,
                    idle_ns: named.filter(|(_, idle_ns)| *idle_ns != 0).collect(),
                });
                gpu.kernels_per_iteration.push(*kernels);
            }
            gpu.typical = integers_at(&places, row)?.into_iter().map(u32::try_from).collect::<Result<_, _>>()?;
            continue;
        };
        let sums = integers_at(&sums, row)?;
        let levels = floats_at(&levels, row)?;
        let parts = sums.split_at_checked(6).and_then(|(run, rest)| Some((run, rest.split_last()?)));
        let (Some((run, (is_transfer, steady))), Some((run_levels, steady_levels))) =
            (parts, levels.split_at_checked(2))
        else {
            bail!("sums are cut")
        };
        let of_kind = if *is_transfer == 0 { &mut gpu.kernels } else { &mut gpu.transfers };
        of_kind.push(KernelDigest {
            name: name.to_owned(),
            category: category.to_owned(),
            is_transfer: *is_transfer != 0,
            run: calls(run, run_levels, floats_at(&run_blocks, row)?)?,
            steady: calls(steady, steady_levels, floats_at(&steady_blocks, row)?)?,
            places: integers_at(&places, row)?,
            iteration_blocks: floats_at(&iteration_blocks, row)?,
            shapes: shapes(version, &integers_at(&all_shapes, row)?, &floats_at(&shape_levels, row)?)?,
        });
    }
    Ok(Digest { facts, gpus, paths, ranges, counters, steps: Vec::new(), lacks_sum: !has_sum })
}

fn calls(sums: &[i64], levels: &[f64], blocks: Vec<f64>) -> Result<Calls> {
    let ([calls, total_ns, median_x2_ns, p95_ns, p99_ns, time_ns], [log_mean, cycles]) = (sums, levels) else {
        bail!("sums are cut")
    };
    let clock = Clock { time_ns: *time_ns, cycles: *cycles };
    Ok(Calls {
        calls: *calls,
        total_ns: *total_ns,
        median_x2_ns: *median_x2_ns,
        p95_ns: *p95_ns,
        p99_ns: *p99_ns,
        log_mean: *log_mean,
        blocks,
        clock,
    })
}

fn shapes(version: u32, values: &[i64], mut levels: &[f64]) -> Result<Vec<Shape>> {
    let mut take = |count: i64| -> Result<Vec<f64>> {
        let count = usize::try_from(count)?;
        let (taken, others) = levels.split_at_checked(count).context("shapes are cut")?;
        levels = others;
        Ok(taken.to_vec())
    };
    let mut shapes = Vec::new();
    let length = if version < 2 { SHAPE - 1 } else { SHAPE };
    ensure!(values.len().is_multiple_of(length), "shapes are cut");
    for one in values.chunks(length) {
        let [a, b, c, d, e, f, inputs @ .., run_calls, run_ns, steady_calls, steady_ns, run_levels, steady_levels] =
            one
        else {
            bail!("shapes are cut")
        };
        shapes.push(Shape {
            sizes: [*a, *b, *c, *d, *e, *f, inputs.first().copied().unwrap_or_default()],
            run: (*run_calls, *run_ns),
            steady: (*steady_calls, *steady_ns),
            run_logs: take(*run_levels)?,
            steady_logs: take(*steady_levels)?,
        });
    }
    ensure!(levels.is_empty(), "shapes are cut");
    Ok(shapes)
}

fn integers_at(lists: &ListChunked, row: usize) -> Result<Vec<i64>> {
    let list = lists.get_as_series(row).context("a list is missing")?;
    list.i64()?.iter().map(|value| in_limits(value.context("a number is missing")?)).collect()
}

fn floats_at(lists: &ListChunked, row: usize) -> Result<Vec<f64>> {
    let list = lists.get_as_series(row).context("a list is missing")?;
    let values: Vec<f64> = list.f64()?.iter().collect::<Option<_>>().context("a level is missing")?;
    ensure!(values.iter().all(|value| value.is_finite()), "a level is not a number");
    Ok(values)
}

#[cfg(test)]
mod tests;
