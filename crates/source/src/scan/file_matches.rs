//! Findings in one file.

/// A match of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Index of the pattern.
    pub pattern: usize,
    /// Line, from 1.
    pub line: u32,
    /// Whether it is in a loop.
    pub in_loop: bool,
}

/// The kind of a kernel mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mention {
    /// It is defined here.
    Definition,
    /// It is declared or instantiated here.
    Declaration,
    /// It is launched, or named as a launch argument.
    Launch,
    /// A launch that counts only if a kernel with this name is defined.
    MaybeLaunch,
}

/// A place that names a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelSite {
    /// Name without namespace and template arguments.
    pub name: String,
    /// Line, from 1.
    pub line: u32,
    /// The matching pattern.
    pub pattern: usize,
    /// How the place mentions the kernel.
    pub mention: Mention,
    /// Whether it is in a loop.
    pub in_loop: bool,
    /// Names assigned to a launched variable in this file.
    pub substitutes: Vec<String>,
}

/// The findings in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileMatches {
    /// Matches of patterns, in file order.
    pub hits: Vec<Hit>,
    /// Places that name kernels.
    pub kernels: Vec<KernelSite>,
    /// Number of names in the spelling of HIP.
    pub hip_names: usize,
    /// Number of names in the spelling of CUDA.
    pub cuda_names: usize,
}

impl FileMatches {
    /// Adds a match.
    pub fn hit(&mut self, pattern: usize, line: u32, in_loop: bool) {
        self.hits.push(Hit { pattern, line, in_loop });
    }

    /// Counts the spelling of an interface name.
    pub(crate) fn count_spelling(&mut self, name: &[u8]) {
        let goes_on = |begin: &[u8]| {
            name.strip_prefix(begin).and_then(<[u8]>::first).is_some_and(|byte| byte.is_ascii_uppercase())
        };
        self.hip_names += usize::from(goes_on(b"hip"));
        self.cuda_names += usize::from(goes_on(b"cuda") || goes_on(b"cu"));
    }
}
