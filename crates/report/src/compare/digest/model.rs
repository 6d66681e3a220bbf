//! Digest of a run for comparisons: sums, places, blocks and facts. Its memory does not grow with the dispatches.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Version of the files; readers refuse newer ones.
pub const VERSION: u32 = 2;

/// One run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Digest {
    pub facts: RunFacts,
    /// Parts of the critical path of each process, in the order of (process, kind, name).
    pub paths: Vec<PathDigest>,
    /// Kernel time launched in the ROCTx ranges of each process by path, in the order of (process, path); `kind` is empty.
    pub ranges: Vec<PathDigest>,
    /// Counters, in the order of (kernel, counter).
    pub counters: Vec<CounterDigest>,
    /// The GPUs that did something, in the order of (process, GPU).
    pub gpus: Vec<GpuDigest>,
    /// Ranges that may mark steps, in the order of (process, name). Not saved: a saved run cannot be divided by them.
    pub steps: Vec<StepDigest>,
    /// Whether the file has no sum, because an older version saved it. Damage to it may then go unnoticed.
    pub lacks_sum: bool,
}

impl Digest {
    /// Whether both are digests of the same run, whatever the names of its files.
    pub fn is_same_run(&self, other: &Self) -> bool {
        let facts = |run: &Self| RunFacts { inputs: Vec::new(), ..run.facts.clone() };
        (&self.gpus, &self.counters, &self.ranges, &self.paths)
            == (&other.gpus, &other.counters, &other.ranges, &other.paths)
            && facts(self) == facts(other)
    }

    /// A warning about a file whose bytes cannot be checked.
    pub fn warning(&self) -> Option<String> {
        let warning = |name: &String| {
            format!(
                "warning: {name} was saved by an older version without a sum, so damage to it goes unnoticed and the result counts as partial; save it again with --save"
            )
        };
        self.facts.inputs.first().filter(|_| self.lacks_sum).map(warning)
    }
}

/// Facts that decide whether two runs can be compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The inputs as they were named. A trace and its digest differ only here.
    #[serde(skip)]
    pub inputs: Vec<String>,
    /// Architectures of the GPUs, such as `gfx942`.
    pub architectures: BTreeSet<String>,
    /// Physical GPUs: node and id.
    pub devices: BTreeSet<String>,
    pub ranks: usize,
    /// Domains of recorded API calls.
    pub domains: BTreeSet<String>,
    /// Formats with their schema versions.
    pub formats: BTreeSet<String>,
    /// Whether counter collection serialized the dispatches.
    pub is_serialized: bool,
    /// Parts that could not be read.
    pub damage: Vec<String>,
    /// Name of the ranges that replace iterations.
    pub range: Option<String>,
    /// Words for the units of work, such as `step`; digests of older versions lack them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub units: BTreeSet<String>,
    /// Filters in effect, as on the command line.
    pub filters: Vec<String>,
}

/// Activity of one GPU of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuDigest {
    pub process: i64,
    pub rank: i64,
    pub gpu: i64,
    /// Over the whole run, as filtered.
    pub run: Times,
    /// Time that communication kernels waited for other ranks, in the run and in its steady iterations, if kernels have
    /// their transfer times.
    #[serde(skip)]
    pub waits_ns: (i64, i64),
    /// In each steady iteration, in order.
    #[serde(skip)]
    pub iterations: Vec<Times>,
    /// Kernels in each steady iteration.
    #[serde(skip)]
    pub kernels_per_iteration: Vec<i64>,
    #[serde(skip)]
    pub kernels: Vec<KernelDigest>,
    /// Communication kernels again, with their transfer times. Only kernels all of whose dispatches have partners on
    /// every rank are here.
    #[serde(skip)]
    pub transfers: Vec<KernelDigest>,
    #[serde(skip)]
    pub copies: Vec<CopyDigest>,
    /// The kernels of a typical iteration one after the other, by their places in `kernels`; empty if it is not known
    /// or is long.
    #[serde(skip)]
    pub typical: Vec<u32>,
}

/// Time on the critical path of a process that one kernel, copy, call or wait takes, or that ranges with one path take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathDigest {
    pub process: i64,
    /// As in the table `critical_path`.
    pub kind: String,
    pub name: String,
    pub run_ns: i64,
    pub steady_ns: i64,
}

/// Ranges of one name with GPU work in a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepDigest {
    pub process: i64,
    /// The message, with `*` in place of a number at its end.
    pub name: String,
    pub count: i64,
    /// Time of the kernels launched in them.
    pub kernel_ns: i64,
}

/// Values of a counter over the dispatches of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterDigest {
    pub kernel: String,
    pub counter: String,
    pub dispatches: i64,
    pub sum: f64,
    /// Trimmed means of up to ten consecutive blocks.
    pub blocks: Vec<f64>,
}

/// Time with a known clock, and the cycles in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    pub time_ns: i64,
    pub cycles: f64,
}

/// Parts of the span of a GPU in nanoseconds: `span = busy + idle`, `busy = compute + exposed communication + exposed
/// copies`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub span_ns: i64,
    pub compute_ns: i64,
    /// Time with a communication kernel.
    pub comm_ns: i64,
    /// Time with a copy.
    pub copy_ns: i64,
    pub exposed_comm_ns: i64,
    pub exposed_copy_ns: i64,
    /// Idle time by cause; the causes add up to the idle time.
    pub idle_ns: BTreeMap<String, i64>,
}

impl Times {
    /// Time with anything running.
    pub fn busy_ns(&self) -> i64 {
        self.compute_ns.saturating_add(self.exposed_comm_ns).saturating_add(self.exposed_copy_ns)
    }

    /// Adds the times of another interval.
    pub fn add(&mut self, other: &Self) {
        self.span_ns = self.span_ns.saturating_add(other.span_ns);
        self.compute_ns = self.compute_ns.saturating_add(other.compute_ns);
        self.comm_ns = self.comm_ns.saturating_add(other.comm_ns);
        self.copy_ns = self.copy_ns.saturating_add(other.copy_ns);
        self.exposed_comm_ns = self.exposed_comm_ns.saturating_add(other.exposed_comm_ns);
        self.exposed_copy_ns = self.exposed_copy_ns.saturating_add(other.exposed_copy_ns);
        for (cause, idle_ns) in &other.idle_ns {
            let sum_ns = self.idle_ns.entry(cause.clone()).or_default();
            *sum_ns = sum_ns.saturating_add(*idle_ns);
        }
    }
}

/// Dispatches of one kernel on one GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelDigest {
    /// Full name.
    pub name: String,
    pub category: String,
    /// Whether the durations of a collective are its transfer times: the minimum durations over all ranks. Otherwise
    /// they include the waits for other ranks.
    pub is_transfer: bool,
    pub run: Calls,
    /// Calls that start in steady iterations.
    pub steady: Calls,
    /// Twice the median duration at each place of the iteration, over the steady iterations. Empty unless all of these
    /// have the kernel equally often.
    pub places: Vec<i64>,
    /// Blocks of the steady iterations: means of the 10 % trimmed mean of the logarithms of the durations in each.
    pub iteration_blocks: Vec<f64>,
    /// By grid and workgroup, in their order.
    pub shapes: Vec<Shape>,
}

/// Durations of some dispatches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    pub calls: i64,
    pub total_ns: i64,
    /// Twice the median.
    pub median_x2_ns: i64,
    pub p95_ns: i64,
    pub p99_ns: i64,
    /// 10 % trimmed mean of the logarithms of the durations in nanoseconds.
    pub log_mean: f64,
    /// The same of up to ten consecutive blocks.
    pub blocks: Vec<f64>,
    /// Calls during which the clock was sampled.
    pub clock: Clock,
}

/// Grid and workgroup, each x, y, z, and a number for the recorded inputs, 0 without.
pub type ShapeKey = [i64; 7];

/// Whether the inputs of a shape are known.
pub fn has_inputs(shape: &ShapeKey) -> bool {
    shape.last().is_some_and(|inputs| *inputs != 0)
}

/// A shape without its inputs.
pub fn without_inputs(mut shape: ShapeKey) -> ShapeKey {
    shape.last_mut().into_iter().for_each(|inputs| *inputs = 0);
    shape
}

/// Dispatches of a kernel with the same grid, workgroup and recorded inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    pub sizes: ShapeKey,
    pub run: (i64, i64),
    /// Calls and total in steady iterations.
    pub steady: (i64, i64),
    /// The level of the durations, then the levels of up to ten blocks, as in [`Calls`]; empty for kernels with one
    /// shape and for rare shapes.
    pub run_logs: Vec<f64>,
    pub steady_logs: Vec<f64>,
}

/// Copies in one direction from or to one GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyDigest {
    pub direction: String,
    /// Calls and total.
    pub run: (i64, i64),
    pub steady: (i64, i64),
}
