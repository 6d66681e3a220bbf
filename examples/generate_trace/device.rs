//! The GPU side: when queued work really runs.

use crate::random::Random;

/// Directions a copy engine serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToDevice,
    ToHost,
    BetweenDevices,
    Within,
}

/// One GPU with its queues and copy engines, each of which does one thing after another.
#[derive(Debug)]
pub struct Gpu {
    pub agent_id: i64,
    /// Id of the first queue and of the first stream.
    pub first_queue_id: i64,
    pub first_stream_id: i64,
    queue_free_ns: Vec<u64>,
    engine_free_ns: [u64; 4],
}

impl Gpu {
    /// An idle GPU.
    pub fn new(agent_id: i64, first_queue_id: i64, first_stream_id: i64, queues: u64) -> Self {
        Self {
            agent_id,
            first_queue_id,
            first_stream_id,
            queue_free_ns: vec![0; queues as usize],
            engine_free_ns: [0; 4],
        }
    }

    /// Index of the hardware queue a stream uses.
    pub fn queue_of(&self, stream: u64) -> u64 {
        stream % (self.queue_free_ns.len() as u64).max(1)
    }

    /// Start and end of a kernel that may run from `ready_ns` on.
    pub fn run_kernel(&mut self, random: &mut Random, stream: u64, ready_ns: u64, duration_ns: u64) -> (u64, u64) {
        let queue = self.queue_of(stream) as usize;
        let gap_ns = random.between(300, 1_800);
        let Some(free_ns) = self.queue_free_ns.get_mut(queue) else {
            return (ready_ns, ready_ns + duration_ns);
        };
        let start_ns = ready_ns.max(*free_ns + gap_ns);
        *free_ns = start_ns + duration_ns;
        (start_ns, *free_ns)
    }

    /// Start and end of a copy that may run from `ready_ns` on.
    pub fn run_copy(&mut self, direction: Direction, ready_ns: u64, bytes: u64) -> (u64, u64) {
        let bytes_per_us = match direction {
            Direction::ToDevice => 50_000,
            Direction::ToHost => 45_000,
            Direction::BetweenDevices => 64_000,
            Direction::Within => 1_400_000,
        };
        let duration_ns = 4_000 + bytes * 1_000 / bytes_per_us;
        let Some(free_ns) = self.engine_free_ns.get_mut(direction as usize) else {
            return (ready_ns, ready_ns + duration_ns);
        };
        let start_ns = ready_ns.max(*free_ns + 500);
        *free_ns = start_ns + duration_ns;
        (start_ns, *free_ns)
    }

    /// When the work queued on a stream is done.
    pub fn stream_done_ns(&self, stream: u64) -> u64 {
        let queue = self.queue_of(stream) as usize;
        self.queue_free_ns.get(queue).copied().unwrap_or(0)
    }

    /// When everything queued is done.
    pub fn all_done_ns(&self) -> u64 {
        let busy = self.queue_free_ns.iter().chain(&self.engine_free_ns);
        busy.copied().max().unwrap_or(0)
    }
}
