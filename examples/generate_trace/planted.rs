//! A training run whose causes of lost time are known: every step is the same seven kernels on every rank, the host is
//! ahead of the GPU, the collective hides behind compute, memory comes back. A plant changes one thing, and the run tells
//! in numbers what it has cost.

mod inference;
mod layers;
mod record;

use anyhow::{Context, Result};

use layers::{BACKWARD_LAYER, FORWARD_LAYER, LAYER, OTHER_LAYER};

use crate::arguments::Arguments;
use crate::catalogue::{COPY_NAMES, KERNELS};
use crate::model::{Allocation, Argument, Copy, Dispatch, Region, Setup, domain};
use crate::perfetto::{PREEMPTED, SLEEPS, Scheduled, WAITS_FOR_DISK};
use crate::plant::Plant;
use crate::platform::used_agents;
use crate::random::Random;

/// A kernel of every step.
#[derive(Debug, Clone, Copy)]
struct StepKernel {
    /// Position in the catalogue.
    position: usize,
    usual_ns: u64,
    drifts: bool,
    bursts: bool,
}

const fn usual(position: usize, usual_ns: u64) -> StepKernel {
    StepKernel { position, usual_ns, drifts: false, bursts: false }
}

/// Kernels of a step before its collective.
const BEFORE: [StepKernel; 4] = [
    StepKernel { drifts: true, ..usual(0, 200_000) },
    usual(9, 12_000),
    usual(5, 150_000),
    StepKernel { bursts: true, ..usual(7, 24_000) },
];
/// The collective, which runs on a stream of its own.
const COLLECTIVE: StepKernel = usual(4, 240_000);
/// Kernels alongside the collective.
const BESIDE: [StepKernel; 2] = [usual(1, 260_000), usual(3, 95_000)];
/// Short kernels at the end of a step, where it has any.
const SHORT: [StepKernel; 3] = [usual(13, 3_000), usual(19, 4_000), usual(10, 2_500)];
/// A kernel of [`BESIDE`] once more, with less data.
const AGAIN: [StepKernel; 1] = [usual(1, 60_000)];
const KERNELS_OF_A_STEP: usize = BEFORE.len() + 1 + BESIDE.len();
/// Steps of a run.
pub const STEPS: u64 = 60;
/// Positions in the catalogue of the kernels of the warm-up, in no order that repeats.
const WARM_UP: [usize; 23] = [10, 16, 2, 17, 2, 2, 18, 10, 19, 16, 16, 17, 10, 2, 8, 8, 19, 18, 18, 2, 16, 10, 17];

/// Length of a launching call, and time to the next one.
const LAUNCH_NS: u64 = 4_000;
const BETWEEN_LAUNCHES_NS: u64 = 2_000;
/// From the end of the call to the start on an idle GPU, and from one kernel to the next.
const LAUNCH_DELAY_NS: u64 = 2_000;
const BETWEEN_KERNELS_NS: u64 = 1_000;
/// Host work before each launch of the steps in which the host is slow.
const HOST_WORK_NS: u64 = 400_000;
/// Time from a call to the switch of threads, and from the waking of a thread to its start.
const SWITCH_NS: u64 = 700;
const WAKING_NS: u64 = 300;
/// A thread of another program.
const OTHER_PROGRAM: i64 = 77;
/// Time that `hipFree` takes after the GPU has done its work.
const FREE_NS: u64 = 300_000;
/// Time before a blocking copy starts on an idle GPU, of the copy, and from its end to the return of its call.
const COPY_PREPARED_NS: u64 = 800_000;
const COPY_NS: u64 = 50_000;
const COPY_RETURN_NS: u64 = 20_000;
const COPY_BYTES: i64 = 2 * MIB;
/// Time that the data loader takes for a batch, and its range as PyTorch names it.
const LOADING_NS: u64 = 1_200_000;
const LOADER: &str = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
/// Length of other calls for memory.
const MEMORY_CALL_NS: u64 = 3_000;
/// Delay of the late rank after the others.
const LATE_NS: u64 = 60_000;
const MIB: i64 = 1 << 20;
/// Memory that a process keeps for its whole lifetime.
const WEIGHTS_BYTES: i64 = 512 * MIB;

/// The activities of one process, and the cost of its plant.
#[derive(Debug, Default)]
pub struct Planted {
    regions: Vec<Region>,
    dispatches: Vec<Dispatch>,
    allocations: Vec<Allocation>,
    copies: Vec<Copy>,
    scheduled: Vec<(u64, Scheduled)>,
    samples: Vec<Sample>,
    end_ns: u64,
    truth: Truth,
}

/// The value of a sensor at a time.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub time_ns: u64,
    /// Place in `SENSORS` of the catalogue.
    pub sensor: usize,
    pub value: f64,
}

/// Sums over the steps, without the warm-up.
#[derive(Debug, Default)]
struct Truth {
    /// Time the GPU stood idle before the launching call of the next kernel had returned.
    host_bound_ns: u64,
    /// The part of it in calls that free memory or copy.
    blocked_ns: u64,
    /// Collectives while no kernel computes.
    exposed_ns: u64,
    /// From the first kernel of the first step to the first kernel of the last.
    steps_ns: u64,
    /// Durations of what computes.
    compute_ns: u64,
    /// Durations of collectives, and what they exceed the shortest of their step by.
    collective_ns: u64,
    waiting_ns: u64,
    /// By how much slow dispatches exceed what is usual.
    excess_ns: u64,
    leaked_bytes: i64,
}

/// Where the run is.
struct Run {
    plant: Plant,
    step: u64,
    steps: u64,
}

impl Run {
    /// Elements of the message of the step, and how long it takes.
    fn message(&self) -> (u64, u64) {
        match (self.plant, self.step % 12, self.step % 2) {
            (Plant::CollectiveSizes, 5, _) => (52_428_800, 350_000),
            (Plant::CollectiveSizes, _, 0) => (8_912_896, 60_000),
            (Plant::CollectiveSizes, ..) => (9_699_328, 65_000),
            _ => (33_554_432, COLLECTIVE.usual_ns),
        }
    }
}

/// One rank while the run goes on.
struct Rank<'a> {
    setup: &'a Setup,
    agent_id: i64,
    random: Random,
    host_ns: u64,
    compute_free_ns: u64,
    collective_free_ns: u64,
    copies_done_ns: u64,
    /// When the step before the last one was done, and the last one.
    done_ns: [u64; 2],
    next_address: i64,
    /// The collective of this step: its place among the dispatches.
    collective: usize,
    /// When the host began this step.
    begin_ns: u64,
    done: Planted,
}

/// Kernels at the end of a step.
fn last_kernels(plant: Plant) -> Vec<StepKernel> {
    match plant {
        Plant::Several => SHORT.to_vec(),
        Plant::Positions => AGAIN.to_vec(),
        Plant::Passes => [FORWARD_LAYER.repeat(6), BACKWARD_LAYER.repeat(6)].concat(),
        Plant::Layers => [LAYER.as_slice(), &OTHER_LAYER].concat().repeat(6),
        _ => Vec::new(),
    }
}

/// Runs all ranks together, since a collective ends on all of them at the same time.
pub fn run(arguments: &Arguments, plant: Plant, setups: &[Setup]) -> Result<Vec<Planted>> {
    if plant.is_inference() {
        return inference::run(arguments, plant, setups);
    }
    let steps = arguments.iterations.unwrap_or(STEPS);
    // Whoever starts first waits for the others.
    let begin_ns = setups.iter().map(|setup| setup.process.start_ns).max().unwrap_or(0) + 1_500_000_000;
    let mut ranks: Vec<Rank<'_>> = setups.iter().map(|setup| Rank::new(arguments, setup, begin_ns)).collect();
    for rank in &mut ranks {
        rank.warm_up()?;
    }
    for step in 0..steps {
        let run = Run { plant, step, steps };
        for rank in &mut ranks {
            rank.before_collective(&run)?;
        }
        let begin_ns = ranks.iter().map(Rank::collective_start_ns).max().unwrap_or(0);
        let longer_ns = if plant == Plant::ExposedCollective && (30..35).contains(&step) { 1_115_000 } else { 0 };
        let end_ns = begin_ns + run.message().1 + longer_ns;
        for rank in &mut ranks {
            rank.end_collective(begin_ns, end_ns);
            rank.after_collective(&run, end_ns)?;
        }
    }
    Ok(ranks.into_iter().map(|rank| rank.finish(plant)).collect())
}

impl<'a> Rank<'a> {
    fn new(arguments: &Arguments, setup: &'a Setup, begin_ns: u64) -> Self {
        Self {
            setup,
            agent_id: used_agents(arguments, setup.process.rank).first().copied().unwrap_or(1),
            random: Random::new(arguments.seed, 5_000_000 + setup.process.rank),
            host_ns: begin_ns,
            compute_free_ns: 0,
            collective_free_ns: 0,
            copies_done_ns: 0,
            done_ns: [0; 2],
            next_address: 0x7E00_0000_0000,
            collective: 0,
            begin_ns,
            done: Planted::default(),
        }
    }

    fn is(&self, rank: u64) -> bool {
        self.setup.process.rank == rank
    }

    fn thread_id(&self) -> i64 {
        self.setup.thread_ids.first().copied().unwrap_or(0)
    }

    /// A call that begins now and lasts so long; returns its id.
    fn call(&mut self, domain: &'static str, name: &'static str, duration_ns: u64) -> i64 {
        let id = self.done.regions.len() as i64 + 1;
        let start_ns = self.host_ns;
        self.host_ns += duration_ns;
        let thread_id = self.thread_id();
        self.done.regions.push(Region {
            id,
            parent_id: 0,
            thread_id,
            domain,
            name,
            message: None,
            start_ns,
            end_ns: self.host_ns,
            arguments: Vec::new(),
        });
        id
    }

    /// A call or range that began then and ends now.
    fn around(
        &mut self,
        (domain, name): (&'static str, &'static str),
        message: Option<&str>,
        start_ns: u64,
        arguments: Vec<Argument>,
    ) {
        self.done.regions.push(Region {
            id: self.done.regions.len() as i64 + 1,
            parent_id: 0,
            thread_id: self.thread_id(),
            domain,
            name,
            message: message.map(ToOwned::to_owned),
            start_ns,
            end_ns: self.host_ns,
            arguments,
        });
    }

    fn allocate(&mut self, bytes: i64) -> i64 {
        let address = self.next_address;
        self.next_address += bytes;
        self.memory(("hipMalloc", "ALLOC"), address, bytes, MEMORY_CALL_NS);
        address
    }

    fn memory(&mut self, call: (&'static str, &'static str), address: i64, bytes: i64, duration_ns: u64) {
        let (name, operation) = call;
        let start_ns = self.host_ns;
        let correlation_id = self.call(domain::HIP, name, duration_ns);
        let allocation = Allocation {
            id: self.done.allocations.len() as i64 + 1,
            correlation_id,
            thread_id: self.thread_id(),
            agent_id: (operation == "ALLOC").then_some(self.agent_id),
            operation,
            level: "REAL",
            address,
            bytes: if operation == "ALLOC" { bytes } else { 0 },
            queue_id: None,
            flags: None,
            start_ns: start_ns + 500,
            end_ns: start_ns + duration_ns - 500,
        };
        self.done.allocations.push(allocation);
        self.host_ns += 1_000;
    }

    /// When all work that was launched is done.
    fn all_done_ns(&self) -> u64 {
        self.compute_free_ns.max(self.collective_free_ns).max(self.copies_done_ns)
    }

    /// Frees a buffer as programs without a caching allocator do.
    fn free_after_work(&mut self) {
        let buffer = self.allocate(MIB);
        let waiting_ns = self.all_done_ns().saturating_sub(self.host_ns);
        self.memory(("hipFree", "FREE"), buffer, MIB, waiting_ns + FREE_NS);
        self.done.truth.blocked_ns += FREE_NS;
    }

    /// Copies a result to the host, in a call that returns after the copy.
    fn copy_to_host(&mut self) {
        let copy_start_ns = self.host_ns.max(self.all_done_ns()) + COPY_PREPARED_NS;
        let copy_end_ns = copy_start_ns + COPY_NS;
        let correlation_id = self.call(domain::HIP, "hipMemcpy", copy_end_ns + COPY_RETURN_NS - self.host_ns);
        self.copies_done_ns = copy_end_ns;
        self.done.truth.blocked_ns += COPY_PREPARED_NS + COPY_RETURN_NS;
        let [_, to_host, _] = COPY_NAMES;
        self.done.copies.push(Copy {
            id: self.done.copies.len() as i64 + 1,
            correlation_id,
            thread_id: self.thread_id(),
            name: to_host,
            source_agent_id: self.agent_id,
            target_agent_id: 0,
            source_address: self.next_address,
            target_address: 0x7D00_0000_0000,
            bytes: COPY_BYTES,
            stream_id: 0,
            start_ns: copy_start_ns,
            end_ns: copy_end_ns,
        });
    }

    /// Launches a kernel that may start at `ready_ns`; returns its place among the dispatches.
    fn launch(&mut self, position: usize, duration_ns: u64, ready_ns: u64) -> Result<usize> {
        let is_collective = position == COLLECTIVE.position;
        let correlation_id = self.call(domain::HIP, "hipLaunchKernel", LAUNCH_NS);
        let issued_ns = self.host_ns;
        self.host_ns += BETWEEN_LAUNCHES_NS;
        let template = KERNELS.get(position).context("no such kernel")?;
        let symbol = self.setup.symbols.iter().find(|symbol| std::ptr::eq(symbol.template, template));
        let free_ns = if is_collective { self.collective_free_ns } else { self.compute_free_ns };
        let start_ns = (issued_ns + LAUNCH_DELAY_NS).max(ready_ns).max(free_ns + BETWEEN_KERNELS_NS);
        let end_ns = start_ns + duration_ns;
        self.done.truth.host_bound_ns += issued_ns.saturating_sub(self.all_done_ns());
        if is_collective {
            self.collective_free_ns = end_ns;
        } else {
            self.done.truth.compute_ns += duration_ns;
            self.compute_free_ns = end_ns;
        }
        self.done.dispatches.push(Dispatch {
            id: self.done.dispatches.len() as i64 + 1,
            correlation_id,
            thread_id: self.thread_id(),
            agent_id: self.agent_id,
            kernel_id: symbol.context("a kernel is not among those of the process; use --kernels 20")?.id,
            queue_id: if is_collective { 2 } else { 1 },
            stream_id: i64::from(is_collective),
            start_ns,
            end_ns,
            scratch_bytes: template.scratch_bytes,
            lds_bytes: template.lds_bytes,
            workgroup: template.workgroup,
            grid: template.grid(),
            counters: Vec::new(),
        });
        Ok(self.done.dispatches.len() - 1)
    }

    fn warm_up(&mut self) -> Result<()> {
        self.allocate(WEIGHTS_BYTES);
        for position in WARM_UP {
            self.launch(position, 20_000, 0)?;
        }
        self.wait_until(self.compute_free_ns);
        self.done_ns = [self.host_ns; 2];
        self.done.truth = Truth::default();
        Ok(())
    }

    /// The host thread leaves its CPU, for the idle thread or another program, and comes back.
    fn leave_cpu(&mut self, state: u64, from_ns: u64, until_ns: u64) {
        let tid = self.thread_id();
        let other = if state == PREEMPTED { OTHER_PROGRAM } else { 0 };
        self.done.scheduled.push((from_ns, Scheduled::Switch(tid, state, other)));
        if state != PREEMPTED {
            self.done.scheduled.push((until_ns - WAKING_NS, Scheduled::Waking(tid)));
        }
        self.done.scheduled.push((until_ns, Scheduled::Switch(other, PREEMPTED, tid)));
    }

    /// Waits in a call for what ends then.
    fn wait_until(&mut self, end_ns: u64) {
        let waiting_ns = end_ns.saturating_sub(self.host_ns) + 3_000;
        // It sleeps soon after it calls, and wakes up just before the call returns.
        if waiting_ns > 4 * SWITCH_NS {
            self.leave_cpu(SLEEPS, self.host_ns + SWITCH_NS, self.host_ns + waiting_ns - SWITCH_NS);
        }
        self.call(domain::HIP, "hipEventSynchronize", waiting_ns);
        self.host_ns += 1_000;
    }

    /// A kernel of a step: ±0.4 % by chance, and what the plant does to it.
    fn step_kernel(&mut self, kernel: &StepKernel, run: &Run, ready_ns: u64) -> Result<usize> {
        if run.plant == Plant::HostBound && self.is(1) && (20..30).contains(&run.step) {
            self.host_ns += HOST_WORK_NS;
        }
        if run.plant.is_scheduled() && self.is(1) && (20..30).contains(&run.step) {
            let state = if run.plant == Plant::DiskWait { WAITS_FOR_DISK } else { PREEMPTED };
            self.host_ns += HOST_WORK_NS;
            self.leave_cpu(state, self.host_ns + SWITCH_NS - HOST_WORK_NS, self.host_ns - SWITCH_NS);
        }
        let usual_ns = kernel.usual_ns;
        let mut duration_ns = usual_ns * self.random.between(996, 1_005) / 1_000;
        if matches!(run.plant, Plant::Straggler | Plant::Several) && self.is(2) {
            duration_ns = duration_ns * 6 / 5;
        }
        if run.plant == Plant::ClockDrop && self.is(1) && run.step >= run.steps / 2 {
            duration_ns = duration_ns * 3 / 2;
        }
        if run.plant == Plant::StepJump && run.step >= run.steps / 2 {
            duration_ns = duration_ns * 3 / 2;
        }
        if run.plant == Plant::Outliers && self.is(3) && kernel.bursts && (40..45).contains(&run.step) {
            self.done.truth.excess_ns += 9 * usual_ns;
            duration_ns += 9 * usual_ns;
        }
        if run.plant == Plant::Drift && self.is(1) && kernel.drifts {
            duration_ns += usual_ns * 3 * run.step / (run.steps - 1).max(1) / 10;
        }
        if run.plant == Plant::RangeDrift && BEFORE.iter().any(|one| one.position == kernel.position) {
            duration_ns += usual_ns * run.step / (run.steps - 1).max(1) / 10;
        }
        if run.plant == Plant::SmallDrift && self.is(1) && kernel.bursts {
            duration_ns += usual_ns * 36 * run.step / (run.steps - 1).max(1) / 100;
        }
        self.launch(kernel.position, duration_ns, ready_ns)
    }

    /// The part of a step up to the start of the collective.
    fn before_collective(&mut self, run: &Run) -> Result<()> {
        self.begin_ns = self.host_ns;
        if run.plant == Plant::ClockDrop {
            let is_low = self.is(1) && run.step >= run.steps / 2;
            for (sensor, value) in
                [if is_low { 1_400.0 } else { 2_100.0 }, if is_low { 748.0 } else { 690.0 }].into_iter().enumerate()
            {
                // The work of the step starts when that of the last one is done.
                let time_ns = self.compute_free_ns.max(self.host_ns);
                self.done.samples.push(Sample { time_ns, sensor, value });
            }
        }
        if run.plant == Plant::DataLoader {
            self.host_ns += LOADING_NS;
            self.around((domain::MARKER, "roctxThreadRangeA"), Some(LOADER), self.begin_ns, Vec::new());
        }
        // The host is two steps ahead at most.
        let [before_last_ns, last_ns] = self.done_ns;
        self.wait_until(before_last_ns);
        let scratch = self.allocate(4 * MIB);
        if run.plant == Plant::Leak && self.is(0) && run.step >= 10 {
            self.allocate(MIB);
            self.done.truth.leaked_bytes += MIB;
        }
        let forward_ns = self.host_ns;
        for kernel in &BEFORE {
            if run.plant == Plant::Allocator {
                self.free_after_work();
            }
            self.step_kernel(kernel, run, last_ns + BETWEEN_KERNELS_NS)?;
        }
        if run.plant == Plant::RangeDrift {
            self.around((domain::MARKER, "roctxThreadRangeA"), Some("forward"), forward_ns, Vec::new());
        }
        self.memory(("hipFree", "FREE"), scratch, 4 * MIB, MEMORY_CALL_NS);
        // How long it takes is not known before all ranks have come.
        let late_ns = if run.plant == Plant::LateRank && self.is(3) { LATE_NS } else { 0 };
        let ready_ns = self.compute_free_ns + BETWEEN_KERNELS_NS + late_ns;
        let call_ns = self.host_ns;
        if run.plant.has_messages() {
            self.host_ns += 500;
        }
        self.collective = self.launch(COLLECTIVE.position, 0, ready_ns)?;
        if run.plant.has_messages() {
            let argument = |type_name, name, value: &str| Argument { type_name, name, value: value.to_owned() };
            let arguments = vec![
                argument("size_t", "count", &run.message().0.to_string()),
                argument("ncclDataType_t", "datatype", "9"),
                argument("ncclComm_t", "comm", "0x5581c0de0000"),
            ];
            self.around((domain::RCCL, "ncclAllReduce"), None, call_ns, arguments);
        }
        Ok(())
    }

    fn collective_start_ns(&self) -> u64 {
        self.done.dispatches.get(self.collective).map_or(0, |dispatch| dispatch.start_ns)
    }

    fn end_collective(&mut self, last_start_ns: u64, end_ns: u64) {
        self.collective_free_ns = end_ns;
        if let Some(dispatch) = self.done.dispatches.get_mut(self.collective) {
            dispatch.end_ns = end_ns;
            self.done.truth.collective_ns += end_ns - dispatch.start_ns;
            self.done.truth.waiting_ns += last_start_ns - dispatch.start_ns;
        }
    }

    /// The kernels next to the collective, and the end of the step.
    fn after_collective(&mut self, run: &Run, end_ns: u64) -> Result<()> {
        let begin_ns = self.collective_start_ns();
        let mut hidden_ns = 0;
        for kernel in &BESIDE {
            let at = self.step_kernel(kernel, run, 0)?;
            if let Some(dispatch) = self.done.dispatches.get(at) {
                hidden_ns += dispatch.end_ns.min(end_ns).saturating_sub(dispatch.start_ns.max(begin_ns));
            }
        }
        for kernel in last_kernels(run.plant) {
            self.step_kernel(&kernel, run, 0)?;
        }
        if run.plant == Plant::BlockingCopy {
            self.copy_to_host();
        }
        if matches!(run.plant, Plant::Several | Plant::RangeDrift) {
            self.around((domain::MARKER, "roctxThreadRangeA"), Some("step"), self.begin_ns, Vec::new());
        }
        self.done.truth.exposed_ns += (end_ns - begin_ns).saturating_sub(hidden_ns);
        let [_, last_ns] = self.done_ns;
        self.done_ns = [last_ns, self.compute_free_ns.max(end_ns)];
        Ok(())
    }

    fn finish(mut self, plant: Plant) -> Planted {
        let [_, last_ns] = self.done_ns;
        self.wait_until(last_ns);
        self.done.end_ns = self.host_ns;
        let of_a_step = KERNELS_OF_A_STEP + last_kernels(plant).len();
        let mut first_kernels = self.done.dispatches.iter().skip(WARM_UP.len()).step_by(of_a_step);
        let first_ns = first_kernels.next().map_or(0, |dispatch| dispatch.start_ns);
        self.done.truth.steps_ns = first_kernels.next_back().map_or(0, |dispatch| dispatch.start_ns - first_ns);
        self.done
    }
}
