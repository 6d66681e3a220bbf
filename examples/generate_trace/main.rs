//! Writes synthetic GPU traces: `cargo run --release --example generate_trace -- --help`.

mod arguments;
mod catalogue;
mod device;
mod flush;
mod model;
mod platform;
mod random;
mod rocpd;
mod rocpd_setup;
mod step;
mod workload;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;

use crate::arguments::{Arguments, Flavour};
use crate::model::Setup;
use crate::platform::Pass;
use crate::rocpd::RocpdFile;
use crate::workload::Workload;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    arguments.check()?;
    let begin = Instant::now();
    let rows = match arguments.flavour {
        Flavour::Merged => write_merged(&arguments)?,
        Flavour::Plain | Flavour::Hostile => write_separate(&arguments)?,
    };
    let seconds = begin.elapsed().as_secs_f64();
    let rate = rows as f64 / seconds.max(1e-9);
    eprintln!("{rows} rows in {seconds:.2} s, {rate:.0} rows/s");
    Ok(())
}

/// All ranks in one database, as `rocpd merge` makes it.
fn write_merged(arguments: &Arguments) -> Result<u64> {
    let path = arguments.output.join("merged.db");
    let mut file = RocpdFile::create(&path, arguments.page_size)?;
    let mut rows = 0;
    for (rank, pass) in passes(arguments) {
        let setup = platform::setup(arguments, rank, pass);
        rows += write_process(arguments, &setup, pass, &mut file)?;
    }
    file.add_views()?;
    file.close(arguments.vacuum)?;
    Ok(rows)
}

/// One database per process.
fn write_separate(arguments: &Arguments) -> Result<u64> {
    let mut rows = 0;
    for (rank, pass) in passes(arguments) {
        let setup = platform::setup(arguments, rank, pass);
        let path = path_of(arguments, &setup);
        let mut file = RocpdFile::create(&path, arguments.page_size)?;
        let written = write_process(arguments, &setup, pass, &mut file);
        rows += written.with_context(|| format!("cannot write {}", path.display()))?;
        if arguments.flavour == Flavour::Hostile {
            file.make_hostile()?;
        } else {
            file.add_views()?;
        }
        file.close(arguments.vacuum)?;
    }
    Ok(rows)
}

fn write_process(arguments: &Arguments, setup: &Setup, pass: Pass, file: &mut RocpdFile) -> Result<u64> {
    let mut writer = file.add_process(setup)?;
    let end_ns = Workload::new(arguments, setup, pass).run(&mut writer)?;
    writer.finish(end_ns)
}

fn path_of(arguments: &Arguments, setup: &Setup) -> PathBuf {
    let file_name = format!("{}_results.db", setup.process.pid);
    arguments.output.join(&setup.node.hostname).join(file_name)
}

/// Every process of the run.
fn passes(arguments: &Arguments) -> Vec<(u64, Pass)> {
    let passes = if arguments.counter_pass { vec![Pass::Main, Pass::Counters] } else { vec![Pass::Main] };
    let ranks = 0..arguments.ranks;
    ranks.flat_map(|rank| passes.iter().map(move |pass| (rank, *pass))).collect()
}
