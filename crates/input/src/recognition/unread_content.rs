//! Content that is not read, and why.

/// Why content is not read, whatever file it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkipReason {
    /// It has to do with traces but holds none that can be read.
    Other,
    /// It was to be a trace, but is without content or in a form that is not known.
    Lost,
    /// JSON of another program, which can be read.
    OtherJson,
    /// It has nothing to do with traces, or is a trace whose first bytes are damaged.
    Foreign,
    /// Statistics that rocprofv3 derived from a trace.
    Summary,
    /// A report that another program derived from a trace.
    Report,
    /// A link that leads nowhere, with no name of a trace.
    DeadLink,
    /// A trace whose begin cannot be read.
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
