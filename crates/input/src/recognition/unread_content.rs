//! Content that is not read, and the reason.

/// Reason why content is not read, in any kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkipReason {
    /// It is related to traces, but holds none that can be read.
    Other,
    /// It was meant to be a trace, but has no content or an unknown form.
    Lost,
    /// JSON of another program, which can be read.
    OtherJson,
    /// It has nothing to do with traces, or is a trace whose first bytes are damaged.
    Foreign,
    /// Statistics that rocprofv3 derived from a trace.
    Summary,
    /// A report that another program derived from a trace.
    Report,
    /// A link that leads nowhere and does not have the name of a trace.
    DeadLink,
    /// A trace whose start cannot be read.
    Damaged,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnreadContent {
    pub why: SkipReason,
    pub reason: String,
}

impl UnreadContent {
    pub fn new(why: SkipReason, reason: impl Into<String>) -> Self {
        Self { why, reason: reason.into() }
    }
}
