//! The machines, processes, agents, code objects and counters of a run.

use std::collections::BTreeSet;

use crate::arguments::Arguments;
use crate::catalogue::{COPY_NAMES, COUNTERS, KERNELS, LIGHT_CALLS, NESTED_CALLS, OTHER_NAMES, SENSORS};
use crate::model::{Agent, CodeObject, Counter, KernelSymbol, Lane, Module, Node, Process, Role, Setup, domain};
use crate::random::{Random, splitmix64};

/// The records of a process of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Everything (with counters, if asked for without a pass of their own).
    Main,
    /// Serialised dispatches with counters, nothing else.
    Counters,
}

/// A hardware queue is shared by streams when there are more streams than this.
const QUEUES_PER_GPU: u64 = 4;

/// Queues per GPU.
pub fn queues_per_gpu(arguments: &Arguments) -> u64 {
    arguments.streams.min(QUEUES_PER_GPU)
}

/// Agent ids of the GPUs a rank uses. Agent 0 is the CPU.
pub fn used_agents(arguments: &Arguments, rank: u64) -> Vec<i64> {
    let first = (rank % arguments.ranks_per_node()) * arguments.gpus_per_rank;
    (first..first + arguments.gpus_per_rank).map(|index| 1 + (index % arguments.gpus_per_node) as i64).collect()
}

/// All that is known before the first activity.
pub fn setup(arguments: &Arguments, rank: u64, pass: Pass) -> Setup {
    let node_index = rank / arguments.ranks_per_node();
    let local_rank = rank % arguments.ranks_per_node();
    let node = node(arguments, node_index);
    let process = process(arguments, rank, local_rank, pass, &node);
    let gpus = used_agents(arguments, rank);
    let (code_objects, symbols) = code(arguments, &gpus, process.pid);
    let with_counters = arguments.counters > 0 && (pass == Pass::Counters) == arguments.counter_pass;
    let counters = if with_counters { counters(arguments, &gpus) } else { Vec::new() };
    let thread_count = if pass == Pass::Counters { 1 } else { arguments.threads as i64 };
    Setup {
        thread_ids: (process.pid..process.pid + thread_count).collect(),
        agents: agents(arguments, node_index),
        queues: lanes("Queue", 1 + queues_per_gpu(arguments) * gpus.len() as u64),
        streams: lanes("Stream", arguments.streams * gpus.len() as u64),
        code_objects,
        symbols,
        counters,
        names: names(),
        node,
        process,
    }
}

fn node(arguments: &Arguments, index: u64) -> Node {
    let mut random = Random::new(arguments.seed, 1_000 + index);
    let machine_id = format!("{:016x}{:016x}", random.bits(), random.bits());
    let hash = (random.bits() >> 1) as i64;
    Node {
        id: hash % 4_294_967_295,
        hash,
        machine_id,
        hostname: format!("node{index}"),
        // Nodes were booted on different days, so that their clocks cannot be compared.
        clock_offset_ns: (index + 1) * 700_000_000_000_000 + random.between(0, 300_000_000_000_000),
    }
}

fn process(arguments: &Arguments, rank: u64, local_rank: u64, pass: Pass, node: &Node) -> Process {
    let mut random = Random::new(arguments.seed, 2_000_000 + rank * 2 + pass as u64);
    // The same pids on every node, as containers have them: pid alone must not be a key.
    let (first_pid, delay_ns) = match pass {
        Pass::Main => (4_100, 0),
        Pass::Counters => (9_100, 600_000_000_000),
    };
    let pid = first_pid + 40 * local_rank as i64;
    let start_ns = node.clock_offset_ns + delay_ns + random.between(0, 20_000_000);
    let environment = [
        ("OMPI_COMM_WORLD_RANK", rank.to_string()),
        ("OMPI_COMM_WORLD_SIZE", arguments.ranks.to_string()),
        ("OMPI_COMM_WORLD_LOCAL_RANK", local_rank.to_string()),
        ("API_TOKEN", format!("fake-secret-token-of-rank-{rank}")),
        ("ROCM_PATH", "/opt/rocm".to_owned()),
    ];
    Process {
        rank,
        pid,
        parent_pid: first_pid - 1,
        guid: guid(&mut random, start_ns),
        command: format!("python3 train.py --ranks {}", arguments.ranks),
        environment: environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        start_ns,
    }
}

/// A UUIDv7 whose time is the process start in boot time, as rocprofv3 makes it.
fn guid(random: &mut Random, start_ns: u64) -> String {
    let milliseconds = start_ns / 1_000_000;
    let (high, low) = (random.bits(), random.bits());
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        milliseconds >> 16,
        milliseconds & 0xFFFF,
        high & 0xFFF,
        0x8000 | (high >> 48 & 0x3FFF),
        low & 0xFFFF_FFFF_FFFF
    )
}

fn agents(arguments: &Arguments, node_index: u64) -> Vec<Agent> {
    let cpu = Agent {
        id: 0,
        kind: "CPU",
        kind_index: 0,
        name: "AMD EPYC 9654 96-Core Processor",
        product_name: "AMD EPYC 9654 96-Core Processor",
        pci_device_id: 0,
        location_id: 0,
        uuid_bytes: [0; 8],
    };
    let gpus = (0..arguments.gpus_per_node).map(|index| {
        let mut state = arguments.seed ^ (node_index << 32) ^ (index + 1);
        Agent {
            id: 1 + index as i64,
            kind: "GPU",
            kind_index: index as i64,
            name: "gfx942",
            product_name: "AMD Instinct MI300X",
            pci_device_id: 29_857,
            location_id: 1_280 + 8_192 * index as i64,
            uuid_bytes: splitmix64(&mut state).to_le_bytes(),
        }
    });
    std::iter::once(cpu).chain(gpus).collect()
}

fn lanes(kind: &str, count: u64) -> Vec<Lane> {
    (0..count as i64)
        .map(|id| Lane {
            id,
            name: match id {
                0 => format!("Default {kind}"),
                _ => format!("{kind} {}", id - 1),
            },
        })
        .collect()
}

/// The first GPU has every code object; further ones only what runs there, so that display names repeat.
fn code(arguments: &Arguments, gpus: &[i64], pid: i64) -> (Vec<CodeObject>, Vec<KernelSymbol>) {
    let modules = [Module::Runtime, Module::Blas, Module::Framework, Module::Attention, Module::Collectives];
    let mut code_objects = Vec::new();
    let mut symbols = Vec::new();
    for (gpu_index, agent_id) in gpus.iter().copied().enumerate() {
        for module in modules {
            let everywhere = matches!(module, Module::Blas | Module::Framework | Module::Collectives);
            if gpu_index > 0 && !everywhere {
                continue;
            }
            let id = code_objects.len() as i64 + 1;
            let load_base = 0x7EF0_0000_0000 + id * 0x100_0000;
            code_objects.push(CodeObject {
                id,
                agent_id,
                uri: format!("memory://{pid}#offset=0x{:x}&size=1637952", id << 24),
                load_base,
                load_size: 1_410_009,
            });
            for template in KERNELS.iter().take(arguments.kernels).filter(|template| template.module == module) {
                if gpu_index > 0 && template.role == Role::Unused {
                    continue;
                }
                let kernel_id = symbols.len() as i64 + 1;
                symbols.push(KernelSymbol {
                    id: kernel_id,
                    code_object_id: id,
                    template,
                    kernel_object: load_base + kernel_id * 64,
                });
            }
        }
    }
    (code_objects, symbols)
}

/// Lists the sensors of the first GPU that a process uses.
pub fn add_sensors(arguments: &Arguments, setup: &mut Setup) {
    let agent_id = used_agents(arguments, setup.process.rank).first().copied().unwrap_or(1);
    let sensor = |(template, id)| Counter { id, agent_id, instances: 1, collected: false, template };
    setup.counters = SENSORS.iter().zip(1..).map(sensor).collect();
}

/// The counters asked for and two more that are only listed, on every used GPU.
fn counters(arguments: &Arguments, gpus: &[i64]) -> Vec<Counter> {
    let listed = COUNTERS.iter().zip(0..).take(arguments.counters + 2);
    gpus.iter()
        .flat_map(|agent_id| listed.clone().map(move |(template, position)| (*agent_id, template, position)))
        .zip(1..)
        .map(|((agent_id, template, position), id)| Counter {
            id,
            agent_id,
            instances: if template.per_xcc { arguments.counter_instances } else { 1 },
            collected: position < arguments.counters,
            template,
        })
        .collect()
}

fn names() -> Vec<&'static str> {
    let calls = NESTED_CALLS.iter().chain(&LIGHT_CALLS).map(|(_, name)| *name);
    let sorted: BTreeSet<&'static str> = calls.chain(OTHER_NAMES).chain(COPY_NAMES).chain(domain::ALL).collect();
    sorted.into_iter().collect()
}
