//! The limits of each architecture, from `share/occupancy.toml`.

use serde::Deserialize;

use crate::analysis::hardware::devices::target;

/// Organization of vector registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registers {
    /// There are no accumulation registers.
    Plain,
    /// Both kinds share a file.
    Unified,
    /// Each kind has its own file, and a kernel takes equally much of both.
    Separate,
}

/// Registers of a SIMD unit for each work-item, or wavefront.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterFile {
    pub file: i64,
    /// Registers that are allocated at a time.
    pub granule: i64,
}

/// Hardware that the wavefronts of a workgroup share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// A CU or a WGP.
    pub name: String,
    pub simds: i64,
    pub lds_bytes: i64,
    /// Maximum LDS of one workgroup.
    pub workgroup_lds_bytes: i64,
    /// Number of workgroups with more than one wavefront that have a barrier.
    pub barriers: i64,
}

/// How rocprofiler-sdk misread register counts before it knew an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// Granule of the code object.
    pub granule: i64,
    /// The granule that was wrongly assumed.
    pub read_as: i64,
}

/// Limits on the wavefronts of an architecture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    names: Vec<String>,
    /// Hardware that a workgroup runs on.
    pub unit: Unit,
    /// Wavefront slots of a SIMD unit.
    pub max_waves: i64,
    /// Organization of vector registers.
    pub registers: Registers,
    vgpr_wave64: Option<RegisterFile>,
    vgpr_wave32: Option<RegisterFile>,
    /// Scalar registers; `None` if there are enough for all wavefronts.
    pub sgpr: Option<RegisterFile>,
    /// Bytes of LDS that are allocated at a time.
    pub lds_granule: i64,
    /// How register counts may have been misread.
    pub encoding: Option<Encoding>,
    #[serde(rename = "sources")]
    _sources: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsFile {
    architecture: Vec<Limits>,
}

/// The limits of an LLVM target, with or without features.
pub fn limits(name: &str) -> Option<&'static Limits> {
    let name = target(name);
    shared!(LimitsFile, "share/occupancy.toml")
        .architecture
        .iter()
        .find(|known| known.names.iter().any(|other| other == name))
}

impl Limits {
    /// Vector registers for wavefronts with this many work-items.
    pub fn vgpr(&self, wave_size: i64) -> Option<RegisterFile> {
        match wave_size {
            32 => self.vgpr_wave32,
            64 => self.vgpr_wave64,
            _ => None,
        }
    }

    /// The work-items of a wavefront. If both sizes exist, the agent's size if it is one of them, otherwise 32.
    pub fn wave_size(&self, of_agent: Option<i64>) -> i64 {
        match (self.vgpr_wave32.is_some(), self.vgpr_wave64.is_some()) {
            (true, true) => of_agent.filter(|size| *size == 64).unwrap_or(32),
            (true, false) => 32,
            _ => 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::analysis::hardware::devices::constants;
    use crate::schema::facts::AgentFacts;

    #[test]
    fn the_file_is_whole() {
        let file: LimitsFile = toml::from_str(data!("share/occupancy.toml")).unwrap();
        let mut names = BTreeSet::new();
        for known in &file.architecture {
            assert!(known.names.iter().all(|name| names.insert(name.clone())), "{:?}", known.names);
            assert!(!known._sources.is_empty());
            let files = [known.vgpr_wave32, known.vgpr_wave64, known.sgpr];
            assert!(known.vgpr_wave32.is_some() || known.vgpr_wave64.is_some());
            assert!(files.iter().flatten().all(|file| file.granule > 0 && file.file >= file.granule));
            let unit = &known.unit;
            assert!(unit.simds > 0 && unit.barriers > 0 && known.max_waves > 0 && known.lds_granule > 0);
            assert!(unit.lds_bytes >= unit.workgroup_lds_bytes && unit.lds_bytes % known.lds_granule == 0);
        }
    }

    #[test]
    fn it_agrees_with_the_figures_of_gpus() {
        for name in ["gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"] {
            let limits = limits(name).unwrap();
            let listed = constants(&AgentFacts { name: name.to_owned(), ..AgentFacts::default() });
            for (figure, own) in [
                ("simd_per_cu", limits.unit.simds),
                ("max_waves_per_simd", limits.max_waves),
                ("lds_bytes", limits.unit.lds_bytes),
                ("wave_size", limits.wave_size(None)),
            ] {
                assert_eq!(listed[figure].value, Some(own as f64), "{name}: {figure}");
            }
        }
    }

    #[test]
    fn wavefronts_of_both_sizes() {
        let rdna = limits("gfx1100").unwrap();
        assert_eq!((rdna.wave_size(None), rdna.wave_size(Some(64)), rdna.wave_size(Some(7))), (32, 64, 32));
        assert_eq!(limits("gfx942:sramecc+:xnack-").unwrap().wave_size(Some(32)), 64);
        assert!(limits("gfx803").is_none());
    }
}
