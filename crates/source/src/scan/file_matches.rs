//! Findings in one file.

/// A place where a pattern fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its place in the order of patterns.
    pub pattern: usize,
    /// Line from 1.
    pub line: u32,
    /// Whether a loop is around it.
    pub in_loop: bool,
}

/// How a place mentions a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mention {
    /// It is defined here.
    Definition,
    /// It is declared or instantiated here.
    Declaration,
    /// It is launched, or named for a launch.
    Launch,
    /// Something is launched that counts only if a kernel of the name is defined.
    MaybeLaunch,
}

/// A place where a kernel is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelSite {
    /// Name without namespace and template arguments.
    pub name: String,
    /// Line from 1.
    pub line: u32,
    /// The pattern that fits there.
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
    /// Places where patterns fit, in the order of the file.
    pub hits: Vec<Hit>,
    /// Places where kernels are named.
    pub kernels: Vec<KernelSite>,
    /// Names as HIP spells them.
    pub hip_names: usize,
    /// Names as CUDA spells them.
    pub cuda_names: usize,
}

impl FileMatches {
    /// Notes a place.
    pub fn hit(&mut self, pattern: usize, line: u32, in_loop: bool) {
        self.hits.push(Hit { pattern, line, in_loop });
    }

    /// Counts how the interface's names are spelled.
    pub(crate) fn count_spelling(&mut self, name: &[u8]) {
        let goes_on = |begin: &[u8]| {
            name.strip_prefix(begin).and_then(<[u8]>::first).is_some_and(|byte| byte.is_ascii_uppercase())
        };
        self.hip_names += usize::from(goes_on(b"hip"));
        self.cuda_names += usize::from(goes_on(b"cuda") || goes_on(b"cu"));
    }
}
