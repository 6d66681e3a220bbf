//! The kernel to change, in a text and in traces.

use wavesieve_source::kernels::{SourceKernel, kernels, named};

use super::error::OptimizeError;

/// The kernel to change, as found in a text.
#[derive(Clone, Debug)]
pub struct Target {
    pub kernel: SourceKernel,
    /// All kernels of the text.
    pub all: Vec<SourceKernel>,
}

impl Target {
    /// Finds the kernel of this name, with or without its scopes, or the only one.
    ///
    /// # Errors
    /// When no kernel fits, or more than one does.
    pub fn find(text: &str, name: Option<&str>) -> Result<Self, OptimizeError> {
        let all = kernels(text);
        let fitting: Vec<&SourceKernel> = all
            .iter()
            .filter(|kernel| name.is_none_or(|name| name == kernel.name || name == full_name(kernel)))
            .collect();
        let known = || all.iter().map(full_name).collect::<Vec<_>>().join(", ");
        match (fitting.as_slice(), name) {
            ([kernel], _) => Ok(Self { kernel: (*kernel).clone(), all: all.clone() }),
            ([], _) if all.is_empty() => {
                Err(OptimizeError::Usage("no kernel in the source; name the file that defines it".to_owned()))
            }
            ([], name) => {
                let text = format!("no kernel {} in the source; it has {}", name.unwrap_or_default(), known());
                Err(OptimizeError::Usage(text))
            }
            ([first, rest @ ..], None) if rest.iter().any(|kernel| full_name(kernel) != full_name(first)) => {
                Err(OptimizeError::Usage(format!("the source has several kernels; choose with --kernel: {}", known())))
            }
            (several, name) => {
                let lines: Vec<String> = several.iter().map(|kernel| kernel.line.to_string()).collect();
                let text = format!(
                    "{} is defined at lines {}; give the definition that matters a file of its own",
                    name.map_or_else(
                        || several.first().map(|kernel| full_name(kernel)).unwrap_or_default(),
                        str::to_owned
                    ),
                    lines.join(", ")
                );
                Err(OptimizeError::Usage(text))
            }
        }
    }

    /// The same kernel in a changed text; `None` if it is gone.
    pub(super) fn again(&self, text: &str) -> Option<Self> {
        let all = kernels(text);
        let is_same = |kernel: &&SourceKernel| kernel.name == self.kernel.name && kernel.scopes == self.kernel.scopes;
        let mut same = all.iter().filter(is_same);
        let kernel = same.next()?.clone();
        Some(Self { kernel, all })
    }

    /// Returns whether a name in a trace or code object belongs to the kernel.
    pub(super) fn is(&self, traced: &str) -> bool {
        let found = named(&self.all, traced);
        found.iter().any(|kernel| **kernel == self.kernel)
    }
}

pub(super) fn full_name(kernel: &SourceKernel) -> String {
    let scopes = kernel.scopes.iter().filter(|scope| !scope.starts_with('('));
    scopes.chain([&kernel.name]).map(String::as_str).collect::<Vec<_>>().join("::")
}
