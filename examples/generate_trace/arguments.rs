//! The command line.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};

use crate::plant::Plant;

/// Writes rocpd databases, rocprofv3 JSON or a dataset that look like a training run. The same arguments give the same bytes.
#[derive(Debug, Clone, Parser)]
pub struct Arguments {
    /// Ranks; one file each
    #[arg(long, default_value_t = 1)]
    pub ranks: u64,
    /// Kernel dispatches per rank
    #[arg(long, default_value_t = 1_000)]
    pub dispatches: u64,
    /// API calls and marker ranges per rank; 0 writes a trace without them
    #[arg(long, default_value_t = 2_000)]
    pub regions: u64,
    /// GPUs each rank uses
    #[arg(long, default_value_t = 1)]
    pub gpus_per_rank: u64,
    /// GPUs each node has (and each file lists)
    #[arg(long, default_value_t = 8)]
    pub gpus_per_node: u64,
    /// Streams per GPU; the last one carries the collectives
    #[arg(long, default_value_t = 4)]
    pub streams: u64,
    /// Host threads per rank: main, backward, loaders
    #[arg(long, default_value_t = 3)]
    pub threads: usize,
    /// Distinct kernels (5 to 20), those of further GPUs not counted
    #[arg(long, default_value_t = 20)]
    pub kernels: usize,
    /// Memory copies per rank [default: dispatches / 20]
    #[arg(long)]
    pub copies: Option<u64>,
    /// Allocations and releases per rank [default: dispatches / 50]
    #[arg(long)]
    pub allocations: Option<u64>,
    /// Distinct hardware counters per dispatch (at most 10); collection serialises the kernels
    #[arg(long, default_value_t = 0)]
    pub counters: usize,
    /// Instances of most counters, one per XCC
    #[arg(long, default_value_t = 8)]
    pub counter_instances: u64,
    /// Put the counters into a second file per rank (other pid and guid) instead
    #[arg(long)]
    pub counter_pass: bool,
    /// Training steps; one step at a time is held in memory [default: dispatches / 1000, at least 4]
    #[arg(long)]
    pub iterations: Option<u64>,
    /// Machines the ranks are spread over in blocks
    #[arg(long, default_value_t = 1)]
    pub nodes: u64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Kind of files to write
    #[arg(long, value_enum, default_value_t = Flavour::Plain)]
    pub flavour: Flavour,
    /// Instead of a run as they are, one without chance in which this is wrong, with `truth.json` beside the databases, which
    /// tells what it cost each rank; takes --ranks, --iterations [default: 60] and --seed
    #[arg(long, value_enum)]
    pub plant: Option<Plant>,
    /// SQLite page size in bytes
    #[arg(long, default_value_t = 4_096)]
    pub page_size: u32,
    /// Formats to write the same content in, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Format::Rocpd])]
    pub format: Vec<Format>,
    /// White space of JSON
    #[arg(long, value_enum, default_value_t = JsonLayout::Lines)]
    pub json_layout: JsonLayout,
    /// Rewrite each database at the end: smallest file, tables in one piece
    #[arg(long)]
    pub vacuum: bool,
    /// Directory to write to
    #[arg(short, long)]
    pub output: PathBuf,
}

/// A kind of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Flavour {
    /// One clean file per rank
    Plain,
    /// Clean databases damaged by hostile.sql afterwards; rocpd only
    Hostile,
    /// All ranks in one file: each with its own table suffix or list element
    Merged,
}

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// SQLite databases
    Rocpd,
    /// rocprofv3 JSON
    Json,
    /// rocprofv3 JSON, compressed
    #[value(name = "json.gz")]
    JsonGz,
    /// Traces of the PyTorch profiler
    Kineto,
    /// Traces of the PyTorch profiler, compressed
    #[value(name = "kineto.gz")]
    KinetoGz,
    /// The dataset that `convert` makes of the databases, in the folder `dataset` of the output, without counters
    Dataset,
    /// Folders of rocprofiler-compute for the processes with counters: a column for each counter
    Compute,
    /// The same with a row for each value
    ComputeLong,
    /// A folder of rocprofiler-compute with all counters that tell what holds kernels back; always the same kernels
    Profile,
    /// Instruction statistics of a thread trace and program counter samples, as CSV; always the same kernels
    ThreadTrace,
}

impl Format {
    /// Whether it is that of the PyTorch profiler.
    pub fn is_kineto(self) -> bool {
        matches!(self, Self::Kineto | Self::KinetoGz)
    }

    /// How files of this format end.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Rocpd => "db",
            Self::Json => "json",
            Self::JsonGz => "json.gz",
            Self::Kineto => "pt.trace.json",
            Self::KinetoGz => "pt.trace.json.gz",
            Self::Dataset => "parquet",
            Self::Compute | Self::ComputeLong | Self::Profile | Self::ThreadTrace => "csv",
        }
    }
}

/// White space of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum JsonLayout {
    /// One value per line, not indented, as rocprofv3 writes it
    Lines,
    /// None at all, as most tools write JSON again
    Compact,
}

impl Arguments {
    /// Refuses what cannot be generated.
    pub fn check(&self) -> Result<()> {
        ensure!(self.ranks > 0 && self.nodes > 0, "need a rank and a node");
        ensure!(self.dispatches > 0, "--dispatches must be at least 1");
        ensure!(self.threads > 0, "--threads must be at least 1");
        ensure!(self.streams > 0, "--streams must be at least 1");
        ensure!(
            (1..=self.gpus_per_node).contains(&self.gpus_per_rank),
            "--gpus-per-rank must be between 1 and --gpus-per-node"
        );
        ensure!(self.counters <= 10, "--counters: there are 10 counters");
        ensure!((5..=20).contains(&self.kernels), "--kernels: 5 to 20");
        ensure!(!self.counter_pass || self.counters > 0, "--counter-pass needs --counters");
        ensure!(
            self.flavour != Flavour::Hostile || self.format.iter().all(|format| *format == Format::Rocpd),
            "--flavour hostile damages databases: only with --format rocpd"
        );
        ensure!(
            (self.flavour == Flavour::Plain && self.counters == 0)
                || !self.format.iter().any(|format| format.is_kineto()),
            "--format kineto has one rank in a file, and no counters"
        );
        let compute = [Format::Compute, Format::ComputeLong];
        ensure!(
            self.counters > 0 || !self.format.iter().any(|format| compute.contains(format)),
            "--format compute needs --counters"
        );
        ensure!(
            self.plant.is_none()
                || (self.format == [Format::Rocpd] && self.flavour == Flavour::Plain && self.counters == 0),
            "--plant: only plain databases without counters are made so"
        );
        ensure!(
            self.plant.is_none() || (self.kernels == 20 && self.streams > 1 && self.ranks <= self.gpus_per_node),
            "--plant needs all 20 kernels, two streams and a GPU for every rank"
        );
        ensure!(
            self.counters == 0 || !self.format.contains(&Format::Dataset),
            "--counters cannot be written to a dataset; convert the databases"
        );
        Ok(())
    }

    /// Memory copies per rank.
    pub fn copies(&self) -> u64 {
        self.copies.unwrap_or(self.dispatches / 20)
    }

    /// Allocations and releases per rank.
    pub fn allocations(&self) -> u64 {
        self.allocations.unwrap_or(self.dispatches / 50)
    }

    /// Training steps.
    pub fn iterations(&self) -> u64 {
        let usual = (self.dispatches / 1_000).max(4);
        self.iterations.unwrap_or(usual).clamp(1, self.dispatches.max(1))
    }

    /// Ranks on each node but the last.
    pub fn ranks_per_node(&self) -> u64 {
        self.ranks.div_ceil(self.nodes).max(1)
    }
}
