//! Writes synthetic GPU traces: `cargo run --release --example generate_trace -- --help`.

mod arguments;
mod catalogue;
mod compute;
mod dataset;
mod device;
mod flush;
mod json;
mod json_kinds;
mod json_lists;
mod json_output;
mod json_records;
mod json_setup;
mod json_spool;
mod kineto;
mod model;
mod perfetto;
mod plant;
mod planted;
mod platform;
mod profile;
mod random;
mod recorded;
mod recorder;
mod rocpd;
mod rocpd_setup;
mod step;
mod thread_trace;
mod workload;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;

use crate::arguments::{Arguments, Flavour, Format};
use crate::json::JsonFile;
use crate::kineto::KinetoFile;
use crate::model::Setup;
use crate::perfetto::PerfettoWriter;
use crate::plant::{Plant, TELEMETRY};
use crate::platform::Pass;
use crate::rocpd::RocpdFile;
use crate::workload::Workload;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    arguments.check()?;
    let begin = Instant::now();
    let mut rows = 0;
    // Each format has a run of its own: runs are cheap, and equal because they depend on the arguments only.
    if let Some(plant) = arguments.plant {
        rows += write_planted(&arguments, plant)?;
    }
    for format in arguments.format.iter().filter(|_| arguments.plant.is_none()) {
        rows += match (format, arguments.flavour) {
            (Format::Dataset, _) => dataset::write(&arguments)?,
            (Format::Compute, _) => compute::write(&arguments, compute::Layout::Wide)?,
            (Format::ComputeLong, _) => compute::write(&arguments, compute::Layout::Long)?,
            (Format::Profile, _) => profile::write(&arguments)?,
            (Format::ThreadTrace, _) => thread_trace::write(&arguments)?,
            (_, Flavour::Merged) => write_merged(&arguments, *format)?,
            (_, Flavour::Plain | Flavour::Hostile) => write_separate(&arguments, *format)?,
        };
    }
    let seconds = begin.elapsed().as_secs_f64();
    let rate = rows as f64 / seconds.max(1e-9);
    eprintln!("{rows} rows in {seconds:.2} s, {rate:.0} rows/s");
    Ok(())
}

/// All ranks in one file: a database as `rocpd merge` makes it, or several elements in the list of JSON.
fn write_merged(arguments: &Arguments, format: Format) -> Result<u64> {
    let stem = if format == Format::Rocpd { "merged" } else { "merged_results" };
    let path = arguments.output.join(format!("{stem}.{}", format.extension()));
    let mut file = TraceFile::create(arguments, format, &path)?;
    let mut rows = 0;
    for (rank, pass) in passes(arguments) {
        let setup = platform::setup(arguments, rank, pass);
        rows += file.write_process(arguments, &setup, pass)?;
    }
    file.close(arguments)?;
    Ok(rows)
}

/// One file per process.
fn write_separate(arguments: &Arguments, format: Format) -> Result<u64> {
    let mut rows = 0;
    for (rank, pass) in passes(arguments) {
        let setup = platform::setup(arguments, rank, pass);
        let stem = if format.is_kineto() { "" } else { "_results" };
        let file_name = format!("{}{stem}.{}", setup.process.pid, format.extension());
        let path = arguments.output.join(&setup.node.hostname).join(file_name);
        let mut file = TraceFile::create(arguments, format, &path)?;
        let written = file.write_process(arguments, &setup, pass);
        rows += written.with_context(|| format!("cannot write {}", path.display()))?;
        file.close(arguments)?;
    }
    Ok(rows)
}

/// One database or Perfetto trace per process of a run whose costs are known, and what is known.
fn write_planted(arguments: &Arguments, plant: Plant) -> Result<u64> {
    let mut setups: Vec<Setup> =
        (0..arguments.ranks).map(|rank| platform::setup(arguments, rank, Pass::Main)).collect();
    for setup in &mut setups {
        setup.names.extend(plant.call_names());
        if plant == Plant::ClockDrop {
            platform::add_sensors(arguments, setup);
        }
    }
    let mut rows = 0;
    let mut truths = Vec::new();
    for (setup, planted) in setups.iter().zip(planted::run(arguments, plant, &setups)?) {
        let path = arguments.output.join(&setup.node.hostname).join(format!("{}_results.db", setup.process.pid));
        truths.push(planted.truth());
        if plant.is_scheduled() {
            let mut writer = PerfettoWriter::new(setup);
            planted.write(&mut writer)?;
            writer.schedule(planted.scheduled());
            rows += writer.finish(&path.with_extension("pftrace"))?;
            continue;
        }
        let mut file = RocpdFile::create(&path, arguments.page_size)?;
        let mut writer = file.add_process(setup)?;
        let end_ns = planted.write(&mut writer)?;
        for sample in planted.samples() {
            let counter = setup.counters.get(sample.sensor).context("no such sensor")?;
            writer.sample(TELEMETRY, sample.time_ns, counter.id, sample.value)?;
        }
        rows += writer.finish(end_ns)?;
        file.add_views()?;
        file.close(arguments.vacuum)?;
    }
    let truths = serde_json::to_string_pretty(&truths)?;
    let path = arguments.output.join("truth.json");
    std::fs::write(&path, truths + "\n").with_context(|| format!("cannot write {}", path.display()))?;
    Ok(rows)
}

/// A file of either format.
enum TraceFile {
    Rocpd(RocpdFile),
    Json(Box<JsonFile>),
    Kineto(Box<KinetoFile>),
}

impl TraceFile {
    fn create(arguments: &Arguments, format: Format, path: &Path) -> Result<Self> {
        Ok(match format {
            Format::Rocpd => Self::Rocpd(RocpdFile::create(path, arguments.page_size)?),
            Format::Json | Format::JsonGz => {
                let gzip = format == Format::JsonGz;
                Self::Json(Box::new(JsonFile::create(path, gzip, arguments.json_layout)?))
            }
            Format::Kineto | Format::KinetoGz => {
                let gzip = format == Format::KinetoGz;
                Self::Kineto(Box::new(KinetoFile::create(path, gzip, arguments.json_layout)?))
            }
            Format::Dataset | Format::Compute | Format::ComputeLong | Format::Profile | Format::ThreadTrace => {
                bail!("these are several files")
            }
        })
    }

    /// Runs a process and writes what it did; returns the rows written.
    fn write_process(&mut self, arguments: &Arguments, setup: &Setup, pass: Pass) -> Result<u64> {
        let mut workload = Workload::new(arguments, setup, pass);
        match self {
            Self::Rocpd(file) => {
                let mut writer = file.add_process(setup)?;
                let end_ns = workload.run(&mut writer)?;
                writer.finish(end_ns)
            }
            Self::Json(file) => {
                let mut writer = file.add_process(setup, pass);
                let end_ns = workload.run(&mut writer)?;
                writer.finish(end_ns)
            }
            Self::Kineto(file) => {
                let mut writer = file.add_process(setup, arguments.ranks)?;
                let end_ns = workload.run(&mut writer)?;
                writer.finish(end_ns)
            }
        }
    }

    fn close(self, arguments: &Arguments) -> Result<()> {
        match self {
            Self::Rocpd(file) => {
                if arguments.flavour == Flavour::Hostile {
                    file.make_hostile()?;
                } else {
                    file.add_views()?;
                }
                file.close(arguments.vacuum)
            }
            Self::Json(file) => file.close(),
            Self::Kineto(file) => file.close(),
        }
    }
}

/// Every process of the run.
fn passes(arguments: &Arguments) -> Vec<(u64, Pass)> {
    let passes = if arguments.counter_pass { vec![Pass::Main, Pass::Counters] } else { vec![Pass::Main] };
    let ranks = 0..arguments.ranks;
    ranks.flat_map(|rank| passes.iter().map(move |pass| (rank, *pass))).collect()
}
