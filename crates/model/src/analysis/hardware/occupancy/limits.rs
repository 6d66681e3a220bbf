//! The limits of each architecture, of `share/occupancy.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::analysis::hardware::devices::target;

const OCCUPANCY: &str = data!("share/occupancy.toml");

/// How vector registers are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registers {
    /// There are no accumulation registers.
    Plain,
    /// Both kinds share a file.
    Unified,
    /// Each kind has a file, of which a kernel takes as much.
    Separate,
}

/// Registers of a SIMD unit for each work-item, or wavefront.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterFile {
    pub file: i64,
    /// How many are given out at a time.
    pub granule: i64,
}

/// Hardware that the wavefronts of a workgroup share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unit {
    name: String,
    simds: i64,
    lds_bytes: i64,
    workgroup_lds_bytes: i64,
    barriers: i64,
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Architecture {
    names: Vec<String>,
    unit: Unit,
    max_waves: i64,
    registers: Registers,
    vgpr_wave64: Option<RegisterFile>,
    vgpr_wave32: Option<RegisterFile>,
    sgpr: Option<RegisterFile>,
    lds_granule: i64,
    encoding: Option<Encoding>,
    #[serde(rename = "sources")]
    _sources: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    architecture: Vec<Architecture>,
}

/// Limits on the wavefronts of an architecture.
#[derive(Debug)]
pub struct Limits(&'static Architecture);

fn known() -> &'static [Architecture] {
    static KNOWN: OnceLock<File> = OnceLock::new();
    &KNOWN.get_or_init(|| toml::from_str(OCCUPANCY).unwrap_or_default()).architecture
}

/// The limits of an LLVM target, with or without features.
pub fn limits(name: &str) -> Option<Limits> {
    let name = target(name);
    known().iter().find(|known| known.names.iter().any(|other| other == name)).map(Limits)
}

impl Limits {
    /// SIMD units of what a workgroup lives on, a CU or a WGP.
    pub fn simds(&self) -> i64 {
        self.0.unit.simds
    }

    pub fn lds_bytes(&self) -> i64 {
        self.0.unit.lds_bytes
    }

    /// The most LDS that one workgroup can have, in bytes.
    pub fn workgroup_lds_bytes(&self) -> i64 {
        self.0.unit.workgroup_lds_bytes
    }

    /// Bytes of LDS that are given out at a time.
    pub(crate) fn lds_granule(&self) -> i64 {
        self.0.lds_granule
    }

    /// Workgroups of more than one wavefront that there are barriers for.
    pub fn barriers(&self) -> i64 {
        self.0.unit.barriers
    }

    /// Wavefront slots of a SIMD unit.
    pub fn max_waves(&self) -> i64 {
        self.0.max_waves
    }

    /// How vector registers are kept.
    pub fn registers(&self) -> Registers {
        self.0.registers
    }

    /// Vector registers for wavefronts of so many work-items.
    pub fn vgpr(&self, wave_size: i64) -> Option<RegisterFile> {
        match wave_size {
            32 => self.0.vgpr_wave32,
            64 => self.0.vgpr_wave64,
            _ => None,
        }
    }

    /// Scalar registers; none where there are enough for all wavefronts.
    pub fn sgpr(&self) -> Option<RegisterFile> {
        self.0.sgpr
    }

    /// How register counts may have been misread.
    pub fn encoding(&self) -> Option<Encoding> {
        self.0.encoding
    }

    /// The work-items of a wavefront: where both sizes exist, that of the agent, if it is one of them, otherwise 32.
    pub fn wave_size(&self, of_agent: Option<i64>) -> i64 {
        match (self.0.vgpr_wave32.is_some(), self.0.vgpr_wave64.is_some()) {
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
        let file: File = toml::from_str(OCCUPANCY).unwrap();
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
                ("simd_per_cu", limits.simds()),
                ("max_waves_per_simd", limits.max_waves()),
                ("lds_bytes", limits.lds_bytes()),
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
