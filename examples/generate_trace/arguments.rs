//! The command line.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};

/// Writes rocpd databases that look like a training run. The same arguments give byte-identical files.
#[derive(Debug, Clone, Parser)]
pub struct Arguments {
    /// Ranks; one database each
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
    /// GPUs each node has (and each database lists)
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
    /// Put the counters into a second database per rank (other pid and guid) instead
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
    /// What kind of files to write
    #[arg(long, value_enum, default_value_t = Flavour::Plain)]
    pub flavour: Flavour,
    /// SQLite page size in bytes
    #[arg(long, default_value_t = 4_096)]
    pub page_size: u32,
    /// Rewrite each database at the end: smallest file, tables in one piece
    #[arg(long)]
    pub vacuum: bool,
    /// Directory to write to
    #[arg(short, long)]
    pub output: PathBuf,
}

/// What kind of files to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Flavour {
    /// One clean database per rank
    Plain,
    /// Clean ones damaged by hostile.sql afterwards
    Hostile,
    /// All ranks in one database, each with its own table suffix
    Merged,
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
