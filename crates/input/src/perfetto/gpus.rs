//! Agents: from the arguments of work, and from the names of tracks.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::{Role, Writer};
use super::processes::{Process, UsedTrack, track_at};
use super::rows::Field;

/// The facts that a track's name states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrackName {
    pub agent: Option<i64>,
    pub is_gpu: Option<bool>,
    /// Index among the GPUs.
    pub gpu: Option<i64>,
    pub architecture: Option<String>,
    pub queue: Option<i64>,
    pub stream: Option<i64>,
}

impl TrackName {
    /// Reads names such as `COMPUTE AGENT [4] QUEUE [0] (GPU)`, `STREAM [1]`, `GPU Kernel Dispatch [0] Queue 2`, and
    /// `GPU 0 · gfx942 (agent 4)` of wavesieve.
    pub fn read(name: &str, writer: Writer) -> Self {
        let lower = name.to_lowercase();
        let words =
            ["compute", "copy to", "copy bytes", "gpu ", "rocm gpu", "hip activity", "stream", "queue", "allocat"];
        if !words.iter().any(|word| lower.starts_with(word)) {
            return Self::default();
        }
        let agent = number_behind(&lower, "agent");
        let mut read = Self { agent, stream: number_behind(&lower, "stream"), ..Self::default() };
        match writer {
            Writer::Wavesieve => {
                read.gpu = agent.and(number_behind(&lower, "gpu"));
                read.is_gpu = read.gpu.map(|_| true);
                let (_, behind) = name.split_once(" · ").unwrap_or_default();
                read.architecture = behind.split_once(" (agent").map(|(name, _)| name.to_owned());
                // Queues are arguments of each kernel; an unknown queue has a track too.
                read.stream = None;
            }
            Writer::Rocprofv3 => {
                let first = || name.split_once('[').and_then(|(_, behind)| leading(behind));
                read.agent = agent.or_else(|| first().filter(|_| lower.starts_with("compute")));
                read.is_gpu = [("(gpu)", true), ("(cpu)", false)]
                    .into_iter()
                    .find_map(|(word, is_gpu)| lower.contains(word).then_some(is_gpu));
            }
            Writer::Systems => {
                // Names of this writer count only the GPUs.
                let of_device = || ["gpu [", "device"].into_iter().find_map(|word| number_behind(&lower, word));
                read.gpu = number_behind(&lower, "dispatch").or_else(of_device);
                read.queue = number_behind(&lower, "queue");
            }
        }
        read
    }

    /// The facts stated here, with gaps filled from `other`.
    pub fn or(self, other: Self) -> Self {
        Self {
            agent: self.agent.or(other.agent),
            is_gpu: self.is_gpu.or(other.is_gpu),
            gpu: self.gpu.or(other.gpu),
            architecture: self.architecture.or(other.architecture),
            queue: self.queue.or(other.queue),
            stream: self.stream.or(other.stream),
        }
    }
}

/// The number behind a word, in brackets or not.
fn number_behind(text: &str, word: &str) -> Option<i64> {
    text.match_indices(word).find_map(|(at, _)| {
        let behind = text.get(at + word.len()..)?;
        leading(behind.trim_start_matches([' ', '[']))
    })
}

fn leading(text: &str) -> Option<i64> {
    let digits = text.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    pub is_gpu: bool,
    /// Index among the GPUs, if it is stated.
    pub gpu: Option<i64>,
    pub architecture: Option<String>,
}

/// The agents of a process by id, and the agent ids of GPUs that are only numbered among themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agents {
    pub known: BTreeMap<i64, Agent>,
    of_index: BTreeMap<i64, i64>,
}

/// Whether the source and the destination of a copy are GPUs, by the name of the operation.
pub fn ends(name: &str) -> (Option<bool>, Option<bool>) {
    let name = name.to_uppercase();
    let place = |from: Option<&str>| {
        from.and_then(|text| {
            [("HOST", false), ("DEVICE", true)].into_iter().find(|(word, _)| text.contains(word)).map(|(_, is)| is)
        })
    };
    match name.split_once("_TO_") {
        Some((from, to)) => (place(Some(from)), place(Some(to))),
        None => (None, None),
    }
}

impl Agents {
    pub fn find<'a>(
        process: &Process,
        tracks: &[UsedTrack],
        groups: impl Iterator<Item = &'a str>,
        writer: Writer,
        name_of: impl Fn(i64) -> String,
    ) -> Self {
        let mut agents = Self::default();
        // wavesieve describes all GPUs that it knows. Another GPU that kernels name was unknown when they were recorded.
        let may_be_gpu = writer != Writer::Wavesieve;
        let mut see = |agent: Option<i64>, is_gpu: Option<bool>| {
            if let (Some(agent), Some(is_gpu)) = (agent, is_gpu.filter(|is_gpu| may_be_gpu || !is_gpu)) {
                agents.known.entry(agent).or_default().is_gpu |= is_gpu;
            }
        };
        let kernels = process.rows(Role::Kernel);
        for agent in kernels.into_iter().flat_map(|rows| rows.column(Field::Agent)) {
            see(agent, Some(true));
        }
        if let Some(copies) = process.rows(Role::Copy) {
            let both = copies.column(Field::FromAgent).zip(copies.column(Field::ToAgent));
            let mut known: BTreeMap<i64, (Option<bool>, Option<bool>)> = BTreeMap::new();
            for (name, (from, to)) in copies.column(Field::Name).zip(both) {
                let name = name.unwrap_or(-1);
                let (from_gpu, to_gpu) = *known.entry(name).or_insert_with(|| ends(&name_of(name)));
                see(from, from_gpu);
                see(to, to_gpu);
            }
        }
        let used = process.rows.iter().chain([&process.values]).flat_map(|rows| rows.column(Field::Track));
        let used: BTreeSet<i64> = used.flatten().collect();
        let used = used.into_iter().filter_map(|track| track_at(tracks, Some(track)));
        let mut indices = BTreeSet::new();
        for stated in used.map(|track| &track.stated) {
            see(stated.agent, stated.is_gpu);
            indices.extend(stated.gpu.filter(|_| writer == Writer::Systems));
        }
        for name in groups {
            let TrackName { agent, is_gpu, gpu, architecture, .. } = TrackName::read(name, writer);
            if let (Some(agent), Some(true)) = (agent, is_gpu) {
                agents.known.insert(agent, Agent { is_gpu: true, gpu, architecture });
            }
        }
        agents.number(&indices);
        agents
    }

    /// Finds the agents of GPUs that are only numbered: the known GPUs in order if there are as many, otherwise new agents behind the CPUs.
    fn number(&mut self, indices: &BTreeSet<i64>) {
        let gpus: Vec<i64> = self.gpus().collect();
        let behind =
            self.known.iter().filter(|(_, agent)| !agent.is_gpu).map(|(id, _)| id.saturating_add(1)).max().unwrap_or(0);
        for (place, index) in indices.iter().enumerate() {
            let known = gpus.get(place).copied().filter(|_| gpus.len() == indices.len());
            let agent = known.unwrap_or_else(|| behind.saturating_add(*index));
            self.known.insert(agent, Agent { is_gpu: true, gpu: Some(*index), architecture: None });
            self.of_index.insert(*index, agent);
        }
    }

    fn gpus(&self) -> impl Iterator<Item = i64> {
        self.known.iter().filter(|(_, agent)| agent.is_gpu).map(|(id, _)| *id)
    }

    pub fn of_track(&self, track: &UsedTrack) -> Option<i64> {
        track.stated.agent.or_else(|| self.of_index.get(&track.stated.gpu?).copied())
    }

    /// Gives work the agent of its track, otherwise the only GPU. If no kernel names a GPU, all run on one. Returns the number of kernels
    /// without an agent.
    pub fn assign(process: &mut Process, tracks: &[UsedTrack], writer: Writer) -> u64 {
        let Process { rows, agents, .. } = process;
        let mut left = 0;
        for (role, rows) in rows.iter_mut().enumerate() {
            let is_kernel = role == Role::Kernel as usize;
            if role == Role::Call as usize || rows.height() == 0 {
                continue;
            }
            if is_kernel && agents.gpus().next().is_none() && rows.column(Field::Agent).all(|agent| agent.is_none()) {
                agents.known.insert(0, Agent { is_gpu: true, ..Agent::default() });
            }
            // wavesieve leaves out only agents that it does not know. Allocations may be on the host.
            let is_on_gpu = role != Role::Allocation as usize && writer != Writer::Wavesieve;
            let only = agents.gpus().next().filter(|_| is_on_gpu && agents.gpus().count() == 1);
            let of_track = |track| track_at(tracks, Some(track)).and_then(|track| agents.of_track(track));
            rows.fill(Field::Agent, Field::Track, |track| of_track(track).or(only));
            left += rows.column(Field::Agent).filter(|agent| is_kernel && agent.is_none()).count() as u64;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tracks() {
        let of = |name: &str, writer| {
            let read = TrackName::read(name, writer);
            (read.agent, read.is_gpu, read.gpu, read.queue, read.stream)
        };
        for (name, writer, expected) in [
            ("COMPUTE AGENT [4] QUEUE [0] (GPU)", Writer::Rocprofv3, (Some(4), Some(true), None, None, None)),
            ("COPY to AGENT [1] THREAD [0] (CPU)", Writer::Rocprofv3, (Some(1), Some(false), None, None, None)),
            ("COMPUTE GPU [4] QUEUE [0] GPU", Writer::Rocprofv3, (Some(4), None, None, None, None)),
            ("STREAM [2]", Writer::Rocprofv3, (None, None, None, None, Some(2))),
            ("GPU Kernel Dispatch [1] Queue 3", Writer::Systems, (None, None, Some(1), Some(3), None)),
            ("GPU Memory Copy to Agent [2] Thread 0", Writer::Systems, (Some(2), None, None, None, None)),
            ("HIP Activity Device 0, Queue 1", Writer::Systems, (None, None, Some(0), Some(1), None)),
            ("GPU 0 · gfx942 (agent 4)", Writer::Wavesieve, (Some(4), Some(true), Some(0), None, None)),
            ("a function of agent 3", Writer::Systems, (None, None, None, None, None)),
        ] {
            assert_eq!(of(name, writer), expected, "{name}");
        }
        assert_eq!(ends("MEMORY_COPY_HOST_TO_DEVICE"), (Some(false), Some(true)));
    }

    #[test]
    fn gpus_that_are_only_numbered_follow_the_cpus() {
        let gpu = Agent { is_gpu: true, ..Agent::default() };
        let mut agents =
            Agents { known: [(0, Agent::default()), (1, Agent::default()), (3, gpu)].into(), ..Agents::default() };
        agents.number(&[0].into());
        assert_eq!(agents.of_index.get(&0), Some(&3), "the only one is known");
        agents.number(&[0, 1].into());
        assert_eq!(agents.of_index, [(0, 2), (1, 3)].into());
        agents.known.insert(i64::MAX, Agent::default());
        agents.number(&[0, 1, 2].into());
        assert_eq!(agents.of_index.get(&2), Some(&i64::MAX), "there is no larger id");
    }
}
