//! Counters that are known to be wrong in some releases or settings: `share/counter_faults.toml`.

use serde::Deserialize;

use super::devices::target;
use super::metrics::recorded_counter;
use crate::analysis::counter_plan::RocmVersion;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CounterFaultsFile {
    fault: Vec<CounterFault>,
}

/// A known fault of counters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterFault {
    architectures: Vec<String>,
    counters: Vec<String>,
    /// Whether they are wrong only if they are 0 in every dispatch.
    #[serde(default)]
    pub is_zero: bool,
    until: Option<RocmVersion>,
    /// The fault, and its remedy.
    pub says: String,
    #[serde(rename = "source")]
    _source: String,
}

impl CounterFault {
    /// Whether it is about a counter, whose name may include the combination of its instances.
    pub fn is_of(&self, counter: &str) -> bool {
        self.counters.iter().any(|start| recorded_counter(counter).starts_with(start.as_str()))
    }
}

/// The faults that counters of a GPU may have, with this release of ROCm or an unknown one.
pub fn counter_faults(architecture: &str, rocm: Option<RocmVersion>) -> impl Iterator<Item = &'static CounterFault> {
    shared!(CounterFaultsFile, "share/counter_faults.toml").fault.iter().filter(move |fault| {
        let is_mended = rocm.zip(fault.until).is_some_and(|(rocm, until)| rocm >= until);
        !is_mended && fault.architectures.iter().any(|name| name == target(architecture))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_of_architectures_and_releases() {
        let file: CounterFaultsFile = toml::from_str(data!("share/counter_faults.toml")).unwrap();
        assert!(file.fault.iter().all(|fault| !fault.says.is_empty() && !fault._source.is_empty()));
        let count = |architecture: &str, rocm: Option<&str>| {
            counter_faults(architecture, rocm.map(|rocm| rocm.parse().unwrap())).count()
        };
        assert_eq!((count("gfx1100", None), count("gfx1151", Some("7.2")), count("gfx942", None)), (1, 2, 0));
        assert_eq!((count("gfx1100", Some("10.0")), count("gfx1151", Some("10.2"))), (0, 1));
        let fault = counter_faults("gfx1151", Some("10.2".parse().unwrap())).next().unwrap();
        assert!(fault.is_of("TCP_REQ_READ_sum") && fault.is_of("max_inst(TCP_REQ)") && !fault.is_of("TCP_TAGRAM0_REQ"));
    }
}
