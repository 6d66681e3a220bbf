//! The timeline of a process: calls, kernels one after the other, a copy before them.

use anyhow::{Context, Result};

use crate::command::{Command, Records};
use crate::kernels::Kernel;
use crate::model::{Activity, Copy, CounterValues, Dispatch, Region, Setup, Sink, domain};
use crate::random::Random;

/// From the start of the process to the first call.
const START_UP_NS: u64 = 400_000_000;
const CALL_NS: u64 = 4_000;
const BETWEEN_CALLS_NS: u64 = 1_000;
const LAUNCH_DELAY_NS: u64 = 2_000;
const BETWEEN_KERNELS_NS: u64 = 1_000;
const COPY_BYTES: i64 = 16 << 20;
const COPY_NS: u64 = 400_000;
const BLOCKS: u32 = 1024;

/// Runs the kernels in turns; returns when the process ended.
pub fn run(
    setup: &Setup,
    agent_id: i64,
    kernels: &[Kernel],
    command: &Command,
    random: &mut Random,
    sink: &mut dyn Sink,
) -> Result<u64> {
    let has = |records| command.records.contains(&records);
    let begin_ns = setup.process.start_ns + START_UP_NS;
    let thread_id = setup.thread_ids.first().copied().unwrap_or(setup.process.pid);
    let mut host = Host { is_recorded: has(Records::Calls), thread_id, calls: 0, now_ns: begin_ns };
    let cpu_id = 0;
    let id = host.call("hipMemcpyAsync", CALL_NS, sink)?;
    let mut free_ns = host.now_ns + LAUNCH_DELAY_NS;
    if has(Records::Copies) {
        sink.record(&Activity::Copy(Copy {
            id: 1,
            correlation_id: id,
            thread_id,
            name: "MEMORY_COPY_HOST_TO_DEVICE",
            source_agent_id: cpu_id,
            target_agent_id: agent_id,
            source_address: 0x7000_0000_0000,
            target_address: 0x7E00_0000_0000,
            bytes: COPY_BYTES,
            stream_id: 1,
            start_ns: free_ns,
            end_ns: free_ns + COPY_NS,
        }))?;
    }
    free_ns += COPY_NS;
    // Each run is a little faster or slower as a whole.
    let shifts: Vec<f64> = kernels.iter().map(|kernel| factor(random, kernel.noise_percent / 2.0)).collect();
    let mut dispatches = 0;
    for turn in 0..kernels.iter().map(|kernel| kernel.calls).max().unwrap_or(0) {
        for ((kernel, shift), symbol) in kernels.iter().zip(&shifts).zip(&setup.symbols) {
            if turn >= kernel.calls {
                continue;
            }
            let factor = shift * factor(random, kernel.noise_percent);
            let duration_ns = ((kernel.duration_ns as f64 * factor).round() as u64).max(1);
            let correlation_id = host.call("hipLaunchKernel", CALL_NS, sink)?;
            let start_ns = (host.now_ns + LAUNCH_DELAY_NS).max(free_ns + BETWEEN_KERNELS_NS);
            free_ns = start_ns + duration_ns;
            dispatches += 1;
            if has(Records::Kernels) {
                sink.record(&Activity::Dispatch(Dispatch {
                    id: dispatches,
                    correlation_id,
                    thread_id,
                    agent_id,
                    kernel_id: symbol.id,
                    queue_id: 1,
                    stream_id: 1,
                    start_ns,
                    end_ns: free_ns,
                    scratch_bytes: 0,
                    lds_bytes: kernel.resources.lds_bytes.into(),
                    workgroup: [kernel.resources.threads, 1, 1],
                    grid: [kernel.resources.threads * BLOCKS, 1, 1],
                    counters: counters(setup, kernel, duration_ns),
                }))?;
            }
        }
    }
    let waiting_ns = free_ns.saturating_sub(host.now_ns) + CALL_NS;
    host.call("hipStreamSynchronize", waiting_ns, sink).context("the last call")?;
    Ok(host.now_ns + START_UP_NS / 4)
}

/// The thread that launches.
struct Host {
    is_recorded: bool,
    thread_id: i64,
    calls: i64,
    now_ns: u64,
}

impl Host {
    /// Makes a call; returns its id.
    fn call(&mut self, name: &'static str, duration_ns: u64, sink: &mut dyn Sink) -> Result<i64> {
        self.calls += 1;
        let start_ns = self.now_ns;
        let end_ns = start_ns + duration_ns;
        self.now_ns = end_ns + BETWEEN_CALLS_NS;
        if self.is_recorded {
            sink.record(&Activity::Region(Region {
                id: self.calls,
                parent_id: 0,
                thread_id: self.thread_id,
                domain: domain::HIP,
                name,
                message: None,
                start_ns,
                end_ns,
                arguments: Vec::new(),
            }))?;
        }
        Ok(self.calls)
    }
}

/// A factor that is off by so many per cent at most.
fn factor(random: &mut Random, percent: f64) -> f64 {
    const STEPS: u64 = 2_000_001;
    let share = random.between(0, STEPS) as f64 / 1_000_000.0 - 1.0;
    1.0 + share * percent / 100.0
}

fn counters(setup: &Setup, kernel: &Kernel, duration_ns: u64) -> Vec<CounterValues> {
    let value = |counter: &crate::model::Counter| match kernel.counters.get(counter.template.name) {
        Some(value) => value / counter.instances as f64,
        None => (duration_ns * counter.template.rate_per_us / 1_000) as f64,
    };
    let of = |counter: &crate::model::Counter| CounterValues {
        counter_id: counter.id,
        instances: vec![value(counter); usize::try_from(counter.instances).unwrap_or(1)],
    };
    setup.counters.iter().map(of).collect()
}
