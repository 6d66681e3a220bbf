//! Settings from the environment. `wavesieve lab capture` sets these variables.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;
use wavesieve_captures::captures::{BlobOptions, Encoding};
use wavesieve_captures::recording::{Indices, VARIABLE_PREFIX};

/// The dispatches to capture, and how.
pub(crate) struct Settings {
    /// Searched in the demangled name and in the symbol.
    pub kernel: Regex,
    /// The dispatches of each kernel to capture.
    pub indices: Indices,
    pub limit: u64,
    pub output: PathBuf,
    pub reachable_only: bool,
    pub blobs: BlobOptions,
    /// How long a queue may take to become idle.
    pub patience: Duration,
}

impl Settings {
    /// Reads settings from the environment. The error names the wrong variable.
    pub(crate) fn of_environment() -> Result<Self, String> {
        Self::of(&|name| std::env::var(format!("{VARIABLE_PREFIX}{name}")).ok().filter(|value| !value.is_empty()))
    }

    pub(crate) fn of(value: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let needed = |name: &str| {
            value(name).ok_or_else(|| format!("WAVESIEVE_CAPTURE_{name} is not set; use `wavesieve lab capture`"))
        };
        let number = |name: &str, default: u64| match value(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("WAVESIEVE_CAPTURE_{name} `{text}` is not a number")),
        };
        let pattern = needed("KERNEL")?;
        let encoding = match value("COMPRESS").as_deref() {
            None | Some("none") => Encoding::Plain,
            Some("zstd") => Encoding::Zstd,
            Some(other) => return Err(format!("WAVESIEVE_CAPTURE_COMPRESS `{other}` is neither zstd nor none")),
        };
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get().min(8) as u64);
        let threads = usize::try_from(number("THREADS", processors)?.clamp(1, 64)).unwrap_or(1);
        Ok(Self {
            kernel: Regex::new(&pattern).map_err(|error| format!("WAVESIEVE_CAPTURE_KERNEL `{pattern}`: {error}"))?,
            indices: value("DISPATCH").as_deref().map_or(Ok(Indices::default()), str::parse)?,
            limit: number("LIMIT", 16)?,
            output: needed("OUTPUT")?.into(),
            reachable_only: value("REACHABLE").is_some_and(|text| text == "1"),
            blobs: BlobOptions { encoding, threads },
            patience: Duration::from_secs(number("WAIT", 60)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(values: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::of(&|name| values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn what_is_wrong_is_named() {
        let (kernel, output) = (("KERNEL", "a"), ("OUTPUT", "/x"));
        for (values, part) in [
            (vec![output], "WAVESIEVE_CAPTURE_KERNEL is not set"),
            (vec![kernel], "WAVESIEVE_CAPTURE_OUTPUT is not set"),
            (vec![("KERNEL", "("), output], "WAVESIEVE_CAPTURE_KERNEL `(`"),
            (vec![kernel, output, ("COMPRESS", "lz4")], "neither zstd nor none"),
            (vec![kernel, output, ("LIMIT", "many")], "is not a number"),
            (vec![kernel, output, ("DISPATCH", "x")], "is not a list of dispatches"),
        ] {
            assert!(settings(&values).is_err_and(|reason| reason.contains(part)), "{values:?}");
        }
        let settings = settings(&[kernel, output, ("REACHABLE", "1"), ("COMPRESS", "zstd"), ("THREADS", "0")]);
        let settings = settings.ok().filter(|settings| settings.reachable_only);
        assert!(settings.is_some_and(|settings| settings.blobs.threads == 1 && settings.indices.contains(0)));
    }
}
