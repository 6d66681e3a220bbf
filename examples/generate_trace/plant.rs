//! The faults that can be planted in a run.

use clap::ValueEnum;

/// Category of samples of clock and power.
pub const TELEMETRY: &str = "GPU_TELEMETRY";

/// A planted fault of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Plant {
    /// Nothing
    None,
    /// Rank 2 takes 20 % longer for every kernel that computes
    Straggler,
    /// The host of rank 1 works for 400 µs before every launch of ten steps
    HostBound,
    /// The collective of five steps takes 1115 µs longer than it can hide
    ExposedCollective,
    /// Rank 0 keeps a MiB of every step from the tenth on
    Leak,
    /// A kernel of rank 3 takes ten times as long in five steps
    Outliers,
    /// A kernel of rank 1 takes up to 30 % longer towards the end
    Drift,
    /// A kernel of rank 1 that takes little of a step takes up to 36 % longer towards the end
    SmallDrift,
    /// Rank 3 comes 60 µs late to every collective, while the others compute
    LateRank,
    /// Every rank frees memory before each launch up to the collective: `hipFree` waits for the GPU and 300 µs more
    Allocator,
    /// Every rank ends a step with a `hipMemcpy` to the host that leaves the GPU idle for 820 µs
    BlockingCopy,
    /// Kernels that compute take 50 % longer on every rank from the middle of the run on
    StepJump,
    /// Nothing is wrong: a kernel runs twice in a step with the same shape, 260 µs first and 60 µs at the end
    Positions,
    /// Nothing is wrong: each step has twelve layers of two kinds that take turns
    Layers,
    /// Nothing is wrong: each step has six layers, forward and back
    Passes,
    /// Kernels before the collective take up to 10 % longer towards the end, in the range `forward` of each step
    RangeDrift,
    /// Each step begins with 1.2 ms in a range of PyTorch's data loader, which is longer than its work on the GPU
    DataLoader,
    /// The host thread of rank 1 waits for a CPU for 400 µs before every launch of ten steps; Perfetto traces with scheduler events
    CpuContention,
    /// The same in uninterruptible sleep, as for a page fault
    DiskWait,
    /// The clock of rank 1's GPU falls from 2100 to 1400 MHz in the middle of the run, and what computes takes 50 % longer; with samples of
    /// clock and power
    ClockDrop,
    /// Nothing is wrong: one forward pass of 24 layers on every rank, in one range
    OnePass,
    /// The same without the range, so that nothing marks the pass
    BarePass,
    /// Nothing is wrong: a server of a language model makes two prefills and 40 decode steps, in ranges as vLLM writes them
    PrefillDecode,
    /// Nothing is wrong: messages of two sizes alternate, and each twelfth step has a third one, in recorded arguments of RCCL calls
    CollectiveSizes,
    /// Rank 2 takes 20 % longer, each step ends with short kernels, and ranges and arguments of RCCL calls are recorded
    Several,
}

impl Plant {
    /// Whether the scheduler is recorded too.
    pub const fn is_scheduled(self) -> bool {
        matches!(self, Self::CpuContention | Self::DiskWait)
    }

    /// Whether it is a run of a model that only answers, without the steps of a training.
    pub const fn is_inference(self) -> bool {
        matches!(self, Self::OnePass | Self::BarePass | Self::PrefillDecode)
    }

    /// Whether RCCL calls are recorded with their arguments.
    pub const fn has_messages(self) -> bool {
        matches!(self, Self::CollectiveSizes | Self::Several)
    }

    /// Names of calls that no other run makes.
    pub const fn call_names(self) -> &'static [&'static str] {
        match self {
            Self::ClockDrop => &["hipEventSynchronize", TELEMETRY],
            Self::BlockingCopy => &["hipEventSynchronize", "hipMemcpy"],
            _ => &["hipEventSynchronize"],
        }
    }
}
