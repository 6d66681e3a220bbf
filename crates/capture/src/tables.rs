//! Checks the tables of the runtime, and puts functions into their slots.

use std::mem::offset_of;

use wavesieve_captures::hsa::*;

use crate::hooks;
use crate::originals::Originals;

#[derive(Clone, Copy)]
pub(crate) struct Tables {
    pub core: *mut CoreApiTable,
    pub amd_ext: *mut AmdExtTable,
}

/// Returns an error if a version is not the known one.
fn check(table: &str, version: &ApiTableVersion, known: u32) -> Result<(), String> {
    if version.major_id == known {
        return Ok(());
    }
    Err(format!("the {table} table of the HSA runtime has version {}; this library knows {known}", version.major_id))
}

impl Tables {
    /// Checks only versions and lengths.
    ///
    /// # Safety
    /// The table is one of a runtime, or null.
    pub(crate) unsafe fn of(table: *const HsaApiTable) -> Result<(Self, Originals), String> {
        if table.is_null() {
            return Err("the HSA runtime gave no table".to_owned());
        }
        // SAFETY: every table begins with its version.
        let version = unsafe { (*table).version };
        check("root", &version, API_TABLE_MAJOR)?;
        if (version.minor_id as usize) < offset_of!(HsaApiTable, finalizer_ext) {
            return Err("the root table of the HSA runtime has no extensions of AMD".to_owned());
        }
        // SAFETY: the root table is long enough for both.
        let (core, amd_ext) = unsafe { ((*table).core, (*table).amd_ext) };
        if core.is_null() || amd_ext.is_null() {
            return Err("the HSA runtime gave an empty table".to_owned());
        }
        // SAFETY: every table begins with its version.
        unsafe {
            check("core", &(*core).version, CORE_TABLE_MAJOR)?;
            check("amd_ext", &(*amd_ext).version, AMD_EXT_TABLE_MAJOR)?;
        }
        let tables = Self { core, amd_ext };
        // SAFETY: both tables are of a runtime, and their layout is known.
        let originals = unsafe { Originals::of(tables) };
        match originals.missing() {
            Some(name) => Err(format!("the HSA runtime has no {name}; it is too old")),
            None => Ok((tables, originals)),
        }
    }

    /// Replaces functions.
    ///
    /// # Safety
    /// No other thread uses the tables meanwhile.
    pub(crate) unsafe fn install(self, originals: &Originals) {
        macro_rules! put {
            ($table:ident.$slot:ident = $function:path as $type:ty) => {
                if originals.$slot.is_some() {
                    // SAFETY: the table has the slot, because its function was read from it.
                    unsafe { (*self.$table).$slot = $function as $type as Slot };
                }
            };
        }
        put!(core.hsa_queue_create = hooks::queue_create as QueueCreate);
        put!(core.hsa_queue_destroy = hooks::queue_destroy as QueueDestroy);
        put!(core.hsa_memory_allocate = hooks::memory_allocate as MemoryAllocate);
        put!(core.hsa_memory_free = hooks::memory_free as MemoryFree);
        put!(core.hsa_code_object_reader_create_from_file = hooks::reader_from_file as ReaderCreateFromFile);
        put!(core.hsa_code_object_reader_create_from_memory = hooks::reader_from_memory as ReaderCreateFromMemory);
        put!(core.hsa_code_object_reader_destroy = hooks::reader_destroy as ReaderDestroy);
        put!(core.hsa_executable_load_agent_code_object = hooks::load as ExecutableLoadAgentCodeObject);
        put!(core.hsa_executable_freeze = hooks::freeze as ExecutableFreeze);
        put!(core.hsa_executable_destroy = hooks::executable_destroy as ExecutableDestroy);
        put!(amd_ext.hsa_amd_memory_pool_allocate = hooks::pool_allocate as MemoryPoolAllocate);
        put!(amd_ext.hsa_amd_memory_pool_free = hooks::pool_free as MemoryFree);
        put!(amd_ext.hsa_amd_vmem_map = hooks::vmem_map as VmemMap);
        put!(amd_ext.hsa_amd_vmem_unmap = hooks::vmem_unmap as VmemUnmap);
        put!(amd_ext.hsa_amd_vmem_set_access = hooks::vmem_set_access as VmemSetAccess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(major_id: u32, minor_id: usize) -> ApiTableVersion {
        ApiTableVersion { major_id, minor_id: minor_id as u32, step_id: 0, reserved: 0 }
    }

    /// Reason why a root table of this version is refused, with empty tables of the other versions.
    fn refusal(root: ApiTableVersion, core: ApiTableVersion, amd_ext: ApiTableVersion) -> Option<String> {
        // SAFETY: tables are numbers and addresses, for which zero is a value.
        let (mut cores, mut extensions) =
            unsafe { (std::mem::zeroed::<CoreApiTable>(), std::mem::zeroed::<AmdExtTable>()) };
        (cores.version, extensions.version) = (core, amd_ext);
        let null = std::ptr::null_mut();
        let table = HsaApiTable {
            version: root,
            core: &raw mut cores,
            amd_ext: &raw mut extensions,
            finalizer_ext: null,
            image_ext: null,
            tools: null,
        };
        // SAFETY: the tables are whole.
        unsafe { Tables::of(&raw const table) }.err()
    }

    #[test]
    fn other_versions_are_refused() {
        let (root, core, amd_ext) = (version(3, 56), version(2, 1016), version(2, 560));
        for (refused, part) in [
            (refusal(version(4, 56), core, amd_ext), "root table of the HSA runtime has version 4"),
            (refusal(version(3, 16), core, amd_ext), "no extensions of AMD"),
            (refusal(root, version(1, 1016), amd_ext), "core table"),
            (refusal(root, core, version(3, 560)), "amd_ext table"),
            (refusal(root, core, amd_ext), "has no hsa_agent_get_info"),
            (refusal(root, version(2, 0), amd_ext), "has no hsa_agent_get_info"),
        ] {
            assert!(refused.as_ref().is_some_and(|reason| reason.contains(part)), "{refused:?}");
        }
        // SAFETY: null is allowed.
        assert!(unsafe { Tables::of(std::ptr::null()) }.is_err());
    }
}
