//! Processors by ELF flags, for code objects whose metadata has no target.

use std::sync::OnceLock;

use serde::Deserialize;

const MACHINES: &str = data!("share/elf_machines.toml");
/// The bits of the processor.
const MACHINE: u32 = 0xff;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MachinesFile {
    machine: Vec<Machine>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    number: u32,
    name: String,
}

/// The processor in a file's flags, without features.
pub(super) fn target(flags: u32) -> String {
    static KNOWN: OnceLock<MachinesFile> = OnceLock::new();
    let known = KNOWN.get_or_init(|| toml::from_str(MACHINES).unwrap_or_default());
    let number = flags & MACHINE;
    let name = known.machine.iter().find(|machine| machine.number == number).map(|machine| machine.name.clone());
    name.unwrap_or_else(|| format!("machine {number:#x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_whole() {
        let file: MachinesFile = toml::from_str(MACHINES).unwrap();
        assert!(file.machine.is_sorted_by_key(|machine| machine.number));
        assert_eq!(target(0xe4c), "gfx942");
        assert_eq!(target(0), "machine 0x0");
    }
}
