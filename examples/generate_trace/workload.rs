//! A rank's whole run: plans the steps, lets them happen, gives ids in the order of time and hands the records to a writer.

use anyhow::{Context, Result, ensure};

use crate::arguments::Arguments;
use crate::device::{Direction, Gpu};
use crate::flush::Ids;
use crate::model::{Role, Setup, Sink};
use crate::platform::{Pass, queues_per_gpu, used_agents};
use crate::random::Random;
use crate::step::{AllocationDraft, HostThread, Plan, Request, Step};

const ROLES: [Role; 4] = [Role::Forward, Role::Backward, Role::Optimizer, Role::Communication];

/// Kernel time of the slowest rank (rank 1), in percent of the usual.
const SLOWEST_PERCENT: u64 = 112;

/// The run of one process.
pub struct Workload<'a> {
    arguments: &'a Arguments,
    setup: &'a Setup,
    pass: Pass,
    random: Random,
    choice: Random,
    gpus: Vec<Gpu>,
    threads: Vec<HostThread>,
    pools: Vec<(usize, Role, Vec<usize>)>,
    ids: Ids,
    copies_done: u64,
    allocations_done: u64,
    next_address: i64,
    live: Vec<i64>,
}

impl<'a> Workload<'a> {
    /// A process about to start.
    pub fn new(arguments: &'a Arguments, setup: &'a Setup, pass: Pass) -> Self {
        let rank = setup.process.rank;
        let queues = queues_per_gpu(arguments);
        let agents = used_agents(arguments, rank);
        let gpus = agents.iter().zip(0_i64..).map(|(agent_id, index)| {
            let first_stream_id = index * arguments.streams as i64;
            Gpu::new(*agent_id, 1 + index * queues as i64, first_stream_id, queues)
        });
        // Framework start-up precedes the first activity.
        let now_ns = setup.process.start_ns + 1_500_000_000;
        let threads = setup.thread_ids.iter().map(|id| HostThread { id: *id, now_ns, open_calls: Vec::new() });
        Self {
            arguments,
            setup,
            pass,
            random: Random::new(arguments.seed, 3_000_000 + rank * 2 + pass as u64),
            choice: Random::new(arguments.seed, 4_000_000 + rank),
            gpus: gpus.collect(),
            threads: threads.collect(),
            pools: pools(setup, &agents),
            ids: Ids::default(),
            copies_done: 0,
            allocations_done: 0,
            next_address: 0x7E00_0000_0000,
            live: Vec::new(),
        }
    }

    /// Runs all steps and returns the time the process ends.
    pub fn run(&mut self, sink: &mut dyn Sink) -> Result<u64> {
        let iterations = self.arguments.iterations();
        for iteration in 0..iterations {
            let plan = self.plan(iteration, iterations)?;
            self.step(iteration, plan, sink)?;
        }
        let last_ns = self.threads.iter().map(|thread| thread.now_ns).max();
        Ok(last_ns.unwrap_or(0) + 300_000_000)
    }

    /// Divides the totals over the steps so that they add up exactly.
    fn plan(&self, iteration: u64, iterations: u64) -> Result<Plan> {
        let share = |total: u64| {
            let until = |step: u64| (u128::from(total) * u128::from(step) / u128::from(iterations)) as u64;
            until(iteration + 1) - until(iteration)
        };
        let dispatches = share(self.arguments.dispatches);
        let main = self.pass == Pass::Main;
        let traced = main && self.arguments.regions > 0;
        let layers = (dispatches / 12).clamp(2, 24);
        let collectives = if self.arguments.ranks > 1 || dispatches > 8 { (dispatches / 10).min(layers) } else { 0 };
        let compute = dispatches - collectives;
        let mut plan = Plan {
            layers,
            compute,
            collectives,
            compute_launches: compute,
            extra_calls: 0,
            copies: if main { share(self.arguments.copies()) } else { 0 },
            allocations: if main { share(self.arguments.allocations()) } else { 0 },
            traced,
            serialised: !self.setup.counters.is_empty(),
        };
        if traced {
            let (first, count) = (self.allocations_done, plan.allocations);
            let real = (first..first + count).filter(|number| !is_scratch(*number));
            // Ranges, synchronisation, two calls per collective besides its launch, per copy and per allocation.
            let needed = 7 + 2 * layers + collectives * 2 + plan.copies * 2 + 2 * real.count() as u64;
            let available = share(self.arguments.regions);
            let least = needed + compute.min(1);
            ensure!(
                available >= least,
                "--regions is too small: step {iteration} needs at least {least} calls and ranges but gets {available}; \
                 use --regions 0, more regions or fewer --iterations"
            );
            plan.compute_launches = compute.min(available - needed);
            plan.extra_calls = available - needed - plan.compute_launches;
        }
        Ok(plan)
    }

    fn step(&mut self, iteration: u64, plan: Plan, sink: &mut dyn Sink) -> Result<()> {
        let begin_ns = self.threads.iter().map(|thread| thread.now_ns).max().unwrap_or(0);
        for thread in &mut self.threads {
            thread.now_ns = begin_ns;
        }
        let rank = self.setup.process.rank;
        let own_percent = if rank == 1 { SLOWEST_PERCENT } else { 100 + rank % 3 };
        let traced = plan.traced;
        let mut step = Step {
            plan,
            random: &mut self.random,
            choice: &mut self.choice,
            gpus: &mut self.gpus,
            threads: &mut self.threads,
            symbols: &self.setup.symbols,
            pools: &self.pools,
            streams: self.arguments.streams,
            speed_percent: (own_percent, SLOWEST_PERCENT),
            calls: Vec::new(),
            dispatches: Vec::new(),
            copies: Vec::new(),
            allocations: Vec::new(),
            marks: Vec::new(),
            launches_done: 0,
            compute_done: 0,
            launch: None,
            compute_ns: 0,
        };
        let last_thread = step.threads.len() - 1;
        let backward_thread = last_thread.min(1);
        let directions: Vec<(usize, Direction)> = (self.copies_done..)
            .take(step.plan.copies as usize)
            .map(|number| copy_kind(number, step.gpus.len()))
            .collect();

        let step_range = step.begin_range(0, "roctxThreadRangeA", "step".to_owned())?;
        let loader = if last_thread >= 2 { last_thread } else { 0 };
        let prefetch = step.begin_range(loader, "roctxProcessRangeA", "prefetch".to_owned())?;
        let loaders = loader.saturating_sub(1).max(1);
        for (number, (gpu, direction)) in directions.iter().enumerate() {
            if *direction == Direction::ToDevice {
                step.copy(loader - (number % loaders).min(loader), *direction, *gpu)?;
            }
        }
        step.end_range(loader, prefetch)?;

        let compute = step.plan.compute;
        let (forward, backward) = (compute * 2 / 5, compute * 9 / 20);
        self.allocations_done = memory(&mut step, self.allocations_done, &mut self.next_address, &mut self.live)?;
        pass(&mut step, 0, "forward", Role::Forward, forward)?;
        for (gpu, direction) in &directions {
            if matches!(*direction, Direction::BetweenDevices | Direction::Within) {
                step.copy(0, *direction, *gpu)?;
            }
        }
        let forward_ns = step.now_ns(0)?;
        step.wait_until(backward_thread, forward_ns + 4_000)?;
        pass(&mut step, backward_thread, "backward", Role::Backward, backward)?;
        let backward_ns = step.now_ns(backward_thread)?;
        step.wait_until(0, backward_ns + 6_000)?;

        let optimizer = step.begin_range(0, "roctxThreadRangeA", "optimizer".to_owned())?;
        for number in 0..compute - forward - backward {
            let gpu = number as usize % step.gpus.len().max(1);
            step.launch_compute(0, gpu, Role::Optimizer)?;
        }
        for (gpu, direction) in &directions {
            if *direction == Direction::ToHost {
                step.copy(0, *direction, *gpu)?;
            }
        }
        step.end_range(0, optimizer)?;
        let done_ns =
            if traced { step.synchronise(0)? } else { step.gpus.iter().map(Gpu::all_done_ns).max().unwrap_or(0) };
        step.wait_until(0, done_ns)?;
        step.mark(0, format!("loss {iteration}"))?;
        step.end_range(0, step_range)?;
        // The data for the next step is late now and then: the GPUs idle.
        let pause_ns = step.random.between(60_000, 400_000);
        let resume_ns = step.now_ns(0)? + pause_ns;
        step.wait_until(0, resume_ns)?;
        self.copies_done += step.plan.copies;
        crate::flush::flush(step, &mut self.ids, self.setup, sink)
    }
}

/// Symbols by GPU and role; `Both` belongs to forward and backward.
fn pools(setup: &Setup, agents: &[i64]) -> Vec<(usize, Role, Vec<usize>)> {
    let mut pools = Vec::new();
    for (gpu, agent_id) in agents.iter().enumerate() {
        for role in ROLES {
            let suits =
                |own: Role| own == role || (own == Role::Both && matches!(role, Role::Forward | Role::Backward));
            let here = |id: i64| {
                let mut objects = setup.code_objects.iter();
                objects.any(|object| object.id == id && object.agent_id == *agent_id)
            };
            let symbols = setup.symbols.iter().enumerate();
            let pool = symbols
                .filter(|(_, symbol)| suits(symbol.template.role) && here(symbol.code_object_id))
                .map(|(index, _)| index);
            pools.push((gpu, role, pool.collect()));
        }
    }
    pools
}

/// Forward or backward: layers of kernels alternating between the GPUs; backward reduces gradients layer by layer.
fn pass(step: &mut Step, thread: usize, message: &str, role: Role, kernels: u64) -> Result<()> {
    let range = step.begin_range(thread, "roctxThreadRangeA", message.to_owned())?;
    let layers = step.plan.layers;
    for number in 0..layers {
        let layer = if role == Role::Forward { number } else { layers - 1 - number };
        let gpu = layer as usize % step.gpus.len().max(1);
        let inner = step.begin_range(thread, "roctxThreadRangeA", format!("layer {layer}"))?;
        for _ in kernels * number / layers..kernels * (number + 1) / layers {
            step.launch_compute(thread, gpu, role)?;
        }
        if role == Role::Backward {
            let collectives = step.plan.collectives;
            for _ in collectives * number / layers..collectives * (number + 1) / layers {
                step.launch_collective(thread, gpu)?;
            }
        }
        step.end_range(thread, inner)?;
    }
    step.end_range(thread, range)
}

/// Which GPU and direction the n-th copy has: of five, two to the device, then to the neighbour, within, to the host.
fn copy_kind(number: u64, gpus: usize) -> (usize, Direction) {
    let direction = match number % 5 {
        0 | 1 => Direction::ToDevice,
        2 => Direction::BetweenDevices,
        3 => Direction::Within,
        _ => Direction::ToHost,
    };
    ((number / 5) as usize % gpus.max(1), direction)
}

/// Two in eight allocation rows are scratch.
fn is_scratch(number: u64) -> bool {
    matches!(number % 8, 1 | 4)
}

/// The allocations of a step; returns the number done so far. Of each eight, three are allocated and released again.
fn memory(step: &mut Step, first: u64, next_address: &mut i64, live: &mut Vec<i64>) -> Result<u64> {
    let until = first + step.plan.allocations;
    for number in first..until {
        let gpu_index = (number / 8) as usize % step.gpus.len().max(1);
        if is_scratch(number) {
            scratch(step, gpu_index, number % 8 == 1)?;
            continue;
        }
        let releases = matches!(number % 8, 3 | 6 | 7);
        let request = if releases && !live.is_empty() {
            Request { operation: "FREE", address: live.remove(0), bytes: 0 }
        } else {
            let bytes = 1_i64 << step.random.between(20, 29);
            *next_address += bytes.max(0x20_0000);
            live.push(*next_address);
            Request { operation: "ALLOC", address: *next_address, bytes }
        };
        step.allocate(0, gpu_index, request)?;
    }
    Ok(until)
}

/// Scratch is handed out by the runtime, not by a call.
fn scratch(step: &mut Step, gpu_index: usize, takes: bool) -> Result<()> {
    let start_ns = step.now_ns(0)? + 100;
    let gpu = step.gpus.get(gpu_index).context("no such GPU")?;
    let thread_id = step.threads.first().context("no thread")?.id;
    let (operation, bytes) = if takes { ("ALLOC", 67_108_864) } else { ("FREE", 0) };
    step.allocations.push(AllocationDraft {
        call: None,
        thread_id,
        agent_id: Some(gpu.agent_id),
        operation,
        level: "SCRATCH",
        address: 0,
        bytes,
        queue_id: Some(gpu.first_queue_id),
        start_ns,
        end_ns: start_ns + 12_000,
    });
    step.wait_until(0, start_ns + 13_000)
}
